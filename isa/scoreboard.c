/* The registers that an instruction waits for and sets, as scoreboard names. */
#include "isa/format.h"
#include "isa/load.h"

struct names {
    uint16_t *at;
    unsigned count;
};

static void add(struct names *names, unsigned name)
{
    for (unsigned i = 0; i < names->count; i++)
        if (names->at[i] == name)
            return;
    names->at[names->count++] = (uint16_t)name;
}

/* The scoreboard name of an operand's first register; *count of them follow each other. Read-only ones have none. */
static unsigned names_of(const struct isa_operand *o, unsigned *count)
{
    *count = o->words;
    switch (o->kind) {
    case ISA_O_V:
        return ISA_SB_V + o->index;
    case ISA_O_S:
        if (o->index >= ISA_MAX_SREGS)
            *count = 0;
        return ISA_SB_S + o->index;
    case ISA_O_M:
        return ISA_SB_M + o->index;
    case ISA_O_EXEC:
        return ISA_SB_EXEC;
    default:
        *count = 0;
        return 0;
    }
}

static void add_operand(struct names *names, const struct isa_operand *o)
{
    unsigned count, name = names_of(o, &count);

    for (unsigned i = 0; i < count; i++)
        add(names, name + i);
}

unsigned isa_sources(const struct isa_insn *in, uint16_t out[ISA_SB_MAX_WAIT])
{
    struct names names = {out, 0};

    add_operand(&names, &in->a);
    add_operand(&names, &in->b);
    add_operand(&names, &in->c);
    add_operand(&names, &in->addr.base);
    add_operand(&names, &in->addr.index);
    if (in->pred)
        add(&names, ISA_SB_M + in->pred - 1u);
    if (in->format == ISA_SAVE_EXEC)
        add(&names, ISA_SB_EXEC);
    return names.count;
}

void isa_fill_scoreboard(struct isa_insn *in, bool with_exec)
{
    struct names waits = {in->wait, isa_sources(in, in->wait)};
    unsigned count, name = names_of(&in->d, &count);

    if (with_exec && !(in->flags & ISA_F_NOMASK) && isa_takes_predicate(in))
        add(&waits, ISA_SB_EXEC);
    add_operand(&waits, &in->d);
    if (in->format == ISA_TXCOMMIT)
        add(&waits, ISA_SB_TX);
    in->nwait = (uint8_t)waits.count;
    in->nset = (uint8_t)count;
    for (unsigned i = 0; i < count; i++)
        in->set[i] = (uint16_t)(name + i);
    if (in->format == ISA_SAVE_EXEC)
        in->set[in->nset++] = ISA_SB_EXEC;
}
