/*
 * Scalars and VCC that a transaction leaves. Attempts differ in the lanes that they run with, so that a scalar which depends on these tells
 * of the last attempt alone: it was made from lanes, or from such a scalar, or where lanes decide whether and how often it is written.
 */
#include "isa/format.h"
#include "isa/verify_internal.h"

struct uneven {
    const struct isa_insn *insns;
    uint32_t from,
        to; /* code whose running depends on lanes: from <= i < to; all branches taken together */
    struct isa_scalars scalars; /* that depend on lanes */
};

static bool has_uneven(const struct uneven *u, const struct isa_scalars *set)
{
    return (set->w[0] & u->scalars.w[0]) || (set->w[1] & u->scalars.w[1]);
}

static bool depends(const struct uneven *u, uint32_t i)
{
    const struct isa_insn *in = &u->insns[i];
    struct isa_scalars reads = isa_scalars_read(in);

    if (has_uneven(u, &reads) || (u->from <= i && i < u->to))
        return true;
    return in->format != ISA_SALU && in->format != ISA_CLOCK && in->format != ISA_JUMP &&
           in->format != ISA_BRANCH_S;
}

/* From the branch to its target, or from the target to the branch. */
static void add_code(struct uneven *u, uint32_t i, uint32_t target)
{
    uint32_t from = i < target ? i : target, to = i < target ? target : i;

    u->from = from < u->from ? from : u->from;
    u->to = to > u->to ? to : u->to;
}

/* True if that was news. */
static bool sweep(struct uneven *u, uint32_t begin, uint32_t commit)
{
    struct uneven was = *u;

    for (uint32_t i = begin; i < commit; i++) {
        struct isa_scalars written = isa_scalars_written(&u->insns[i]);

        if (!depends(u, i))
            continue;
        if (isa_formats[u->insns[i].format].extra & ISA_X_TARGET)
            add_code(u, i, u->insns[i].target - u->insns[0].pc);
        isa_scalars_add(&u->scalars, &written);
    }
    return was.from != u->from || was.to != u->to || was.scalars.w[0] != u->scalars.w[0] ||
           was.scalars.w[1] != u->scalars.w[1];
}

void verify_tx_scalars(struct verifier *v, const struct isa_insn *insns, uint32_t begin,
                       uint32_t commit, const struct isa_scalars *live)
{
    struct uneven u = {.insns = insns, .from = commit, .to = begin};
    char name[8];

    while (sweep(&u, begin, commit))
        ;
    for (unsigned s = 0; s < ISA_SCALARS && insns[commit].pc + 1 < v->kernel->end; s++) {
        if (!isa_scalars_has(&u.scalars, s) || !isa_scalars_has(&live[commit + 1], s))
            continue;
        isa_scalar_name(s, name);
        verify_add(v, ISA_POSSIBLE, "verify-tx-scalar", insns[commit].pc,
                   "keep it in a mask m0-m14 or a vector register",
                   "%s, written in the transaction, tells of its last attempt's lanes alone", name);
    }
}
