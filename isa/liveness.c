#include "isa/liveness.h"

#include "isa/format.h"
#include "isa/load.h"

#include <stdio.h>
#include <string.h>

/* By its scoreboard name; vector registers, other masks and EXEC are left out. */
static void insert(struct isa_scalars *s, unsigned name)
{
    unsigned index = name == ISA_SB_M + ISA_VCC ? ISA_SCALAR_VCC : name - ISA_SB_S;

    if (index <= ISA_SCALAR_VCC)
        s->w[index / 64] |= UINT64_C(1) << (index % 64);
}

struct isa_scalars isa_scalars_written(const struct isa_insn *in)
{
    struct isa_scalars s = {{0}};

    for (unsigned i = 0; i < in->nset; i++)
        insert(&s, in->set[i]);
    return s;
}

struct isa_scalars isa_scalars_read(const struct isa_insn *in)
{
    uint16_t names[ISA_SB_MAX_WAIT];
    unsigned count = isa_sources(in, names);
    struct isa_scalars s = {{0}};

    for (unsigned i = 0; i < count; i++)
        insert(&s, names[i]);
    return s;
}

void isa_scalars_add(struct isa_scalars *to, const struct isa_scalars *from)
{
    to->w[0] |= from->w[0];
    to->w[1] |= from->w[1];
}

/* live[i] from what is live behind insns[i]; true if that is news. */
static bool step(const struct isa_insn *insns, uint32_t n, uint32_t i, struct isa_scalars *live)
{
    const struct isa_insn *in = &insns[i];
    struct isa_scalars at = {{0}}, written = isa_scalars_written(in), reads = isa_scalars_read(in);
    bool news;

    if (isa_formats[in->format].extra & ISA_X_TARGET)
        isa_scalars_add(&at, &live[in->target - insns[0].pc]);
    if (isa_goes_on(in) && i + 1 < n)
        isa_scalars_add(&at, &live[i + 1]);
    at.w[0] &= ~written.w[0];
    at.w[1] &= ~written.w[1];
    isa_scalars_add(&at, &reads);
    news = memcmp(&at, &live[i], sizeof at) != 0;
    live[i] = at;
    return news;
}

void isa_find_live(const struct isa_insn *insns, uint32_t n, struct isa_scalars *live)
{
    bool news;

    memset(live, 0, n * sizeof *live);
    do {
        news = false;
        for (uint32_t i = n; i-- > 0;)
            news |= step(insns, n, i, live);
    } while (news);
}

void isa_scalar_name(unsigned index, char out[8])
{
    if (index == ISA_SCALAR_VCC)
        snprintf(out, 8, "vcc");
    else
        snprintf(out, 8, "s%u", index % 1000);
}
