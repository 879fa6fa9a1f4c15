/* Transactions: that they begin and end on every way, and what may stand in them. */
#include "isa/format.h"
#include "isa/liveness.h"
#include "isa/transaction.h"
#include "isa/verify_internal.h"

#include <stdlib.h>

struct places {
    struct verifier *v;
    const struct isa_insn *insns;
    const uint8_t *depth;
    uint32_t first, n;
};

static void check_way(const struct places *p, uint32_t i, uint32_t to, const char *what)
{
    uint8_t from = p->depth[i], there = p->depth[to - p->first];

    if (from != there && there != ISA_TX_UNREACHED)
        verify_add(p->v, ISA_CERTAIN, "verify-tx-branch", p->first + i,
                   "stay inside until tx.commit, and come in by tx.begin alone",
                   "%s of %s leads %s a transaction", what, isa_ops[p->insns[i].op].name,
                   from > there ? "out of" : "into");
}

static void check_ways(const struct places *p, uint32_t i)
{
    const struct isa_insn *in = &p->insns[i];
    unsigned extra = isa_formats[in->format].extra;
    int behind = p->depth[i] + (in->format == ISA_TXBEGIN) - (in->format == ISA_TXCOMMIT);

    if (extra & ISA_X_TARGET)
        check_way(p, i, in->target, "the target");
    if ((extra & ISA_X_JIP) && in->jip != ISA_NO_PC)
        check_way(p, i, in->jip, "the JIP");
    if (behind >= 0 && behind <= ISA_TX_DEPTH_MAX && isa_goes_on(in) && i + 1 < p->n &&
        p->depth[i + 1] != behind)
        verify_add(p->v, ISA_CERTAIN, "verify-tx-unbalanced", p->first + i,
                   "give each way the same tx.begin and tx.commit",
                   "%d transactions are open behind this %s, and %u on another way", behind,
                   isa_ops[in->op].name, p->depth[i + 1]);
}

static void check_balance(const struct places *p, uint32_t i)
{
    const struct isa_insn *in = &p->insns[i];

    if (in->format == ISA_TXCOMMIT && !p->depth[i])
        verify_add(p->v, ISA_CERTAIN, "verify-tx-unbalanced", in->pc, "write tx.begin in front",
                   "tx.commit without a tx.begin");
    if (in->format == ISA_TXBEGIN && p->depth[i] >= ISA_TX_DEPTH_MAX)
        verify_add(p->v, ISA_CERTAIN, "verify-tx-depth", in->pc,
                   "inner transactions are part of the outermost: leave them out",
                   "more than %d transactions in each other", ISA_TX_DEPTH_MAX);
}

static void refuse(const struct places *p, const struct isa_insn *in, const char *hint)
{
    verify_add(p->v, ISA_CERTAIN, "verify-tx-inside", in->pc, hint, "%s%s inside a transaction",
               isa_ops[in->op].name, in->flags & ISA_F_NOMASK ? ".nomask" : "");
}

static void check_inside(const struct places *p, const struct isa_insn *in)
{
    struct isa_finding *f;

    if (in->format == ISA_BARRIER)
        refuse(p, in, "wait in front of tx.begin or behind tx.commit: others may wait for this one");
    else if (in->format == ISA_END)
        refuse(p, in, "end behind tx.commit");
    else if (in->flags & ISA_F_NOMASK)
        refuse(p, in, "leave .nomask out: it would act on lanes that are done, once an attempt");
    if (in->format == ISA_PRINT || in->format == ISA_ASSERT)
        verify_add(p->v, ISA_POSSIBLE, "verify-tx-attempts", in->pc, "move it behind tx.commit",
                   "%s acts in each attempt, also in those that fail", isa_ops[in->op].name);
    if (in->format != ISA_GSTORE && in->format != ISA_GATOMIC)
        return;
    f = verify_add(p->v, ISA_UNKNOWN, "verify-tx-global", in->pc, "move it behind tx.commit",
                   "%s inside a transaction: tm.global_store says whether it may",
                   isa_ops[in->op].name);
    if (f)
        f->check = "tx-global-store";
}

/* Scalars that the instruction gives a value that depends on which lanes are active, or on one that does. */
static void add_uneven(const struct isa_insn *in, struct isa_scalars *uneven)
{
    struct isa_scalars written = isa_scalars_written(in);
    const struct isa_operand *from[] = {&in->a, &in->b, &in->c};
    bool of_lanes = in->format != ISA_SALU && in->format != ISA_CLOCK;

    for (size_t k = 0; k < sizeof from / sizeof *from; k++)
        for (unsigned w = 0; from[k]->kind == ISA_O_S && w < from[k]->words; w++)
            of_lanes |=
                from[k]->index + w < ISA_MAX_SREGS && isa_scalars_has(uneven, from[k]->index + w);
    if (of_lanes)
        isa_scalars_add(uneven, &written);
}

/* Behind a tx.commit a scalar or VCC tells of the lanes of the last attempt alone. */
static void check_scalars(const struct places *p, const struct isa_scalars *live)
{
    struct isa_scalars uneven = {{0}};

    for (uint32_t i = 0; i < p->n; i++) {
        const struct isa_insn *in = &p->insns[i];

        if (p->depth[i] == ISA_TX_UNREACHED)
            continue;
        if (p->depth[i])
            add_uneven(in, &uneven);
        else
            uneven = (struct isa_scalars){{0}};
        for (unsigned s = 0; in->format == ISA_TXCOMMIT && p->depth[i] == 1 && s < ISA_SCALARS; s++) {
            char name[8];

            if (i + 1 == p->n || !isa_scalars_has(&uneven, s) || !isa_scalars_has(&live[i + 1], s))
                continue;
            isa_scalar_name(s, name);
            verify_add(p->v, ISA_POSSIBLE, "verify-tx-scalar", in->pc,
                       "keep it in a mask m0-m14 or a vector register",
                       "%s, written in the transaction, tells of its last attempt's lanes alone",
                       name);
        }
    }
}

static void check_all(const struct places *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->depth[i] == ISA_TX_UNREACHED)
            continue;
        check_balance(p, i);
        check_ways(p, i);
        if (p->depth[i])
            check_inside(p, &p->insns[i]);
    }
}

void verify_transactions(struct verifier *v)
{
    uint32_t first = v->kernel->first, n = v->kernel->end - first;
    const struct isa_insn *insns = v->program->insns + first;
    uint8_t *depth;
    struct isa_scalars *live;

    if (!isa_has_tx(insns, n))
        return;
    depth = malloc(2 * (size_t)n);
    live = malloc(n * sizeof *live);
    if (depth && live) {
        struct places p = {v, insns, depth, first, n};

        isa_find_tx(insns, first, n, depth);
        isa_find_live(insns, n, live);
        check_all(&p);
        check_scalars(&p, live);
    } else {
        v->out->failed = true;
    }
    free(depth);
    free(live);
}
