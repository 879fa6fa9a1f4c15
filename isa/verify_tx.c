/* Transactions: that they begin and end on every way, and what may stand in them. */
#include "isa/format.h"
#include "isa/transaction.h"
#include "isa/verify_internal.h"

#include <stdlib.h>

struct places {
    struct verifier *v;
    const struct isa_insn *insns;
    uint32_t *inside;
    struct isa_scalars *live;
    uint32_t first, n;
};

/* True if the transaction of the tx.begin `outer` is that of `inner` or around it; both are as in inside[], and 0 is around all. */
static bool is_around(const struct places *p, uint32_t outer, uint32_t inner)
{
    while (inner > outer)
        inner = p->inside[inner - 1];
    return inner == outer;
}

static const char *where_to(const struct places *p, uint32_t from, uint32_t to)
{
    if (is_around(p, from, to))
        return "into a transaction";
    return is_around(p, to, from) ? "out of a transaction" : "out of a transaction into another";
}

/* False if the way is refused. */
static bool check_way(const struct places *p, uint32_t i, uint32_t to, const char *what)
{
    uint32_t from = p->inside[i], there = p->inside[to - p->first];

    if (from != there)
        verify_add(p->v, ISA_CERTAIN, "verify-tx-branch", p->first + i,
                   "stay inside until tx.commit, and come in by tx.begin alone", "%s of %s leads %s",
                   what, isa_ops[p->insns[i].op].name, where_to(p, from, there));
    return from == there;
}

static void check_ways(const struct places *p, uint32_t i)
{
    const struct isa_insn *in = &p->insns[i];
    unsigned extra = isa_formats[in->format].extra;

    if ((extra & ISA_X_TARGET) && !check_way(p, i, in->target, "the target"))
        return;
    if ((extra & ISA_X_JIP) && in->jip != ISA_NO_PC)
        check_way(p, i, in->jip, "the JIP");
}

static bool is_too_deep(const struct places *p, uint32_t begin)
{
    uint32_t around = p->inside[begin];
    unsigned depth = 0;

    for (; around && depth < ISA_TX_DEPTH_MAX; depth++)
        around = p->inside[around - 1];
    return depth == ISA_TX_DEPTH_MAX;
}

static void check_begin(const struct places *p, uint32_t begin)
{
    const struct isa_insn *in = &p->insns[begin];
    uint32_t commit;

    if (is_too_deep(p, begin))
        verify_add(p->v, ISA_CERTAIN, "verify-tx-depth", in->pc,
                   "inner transactions are part of the outermost: leave them out",
                   "more than %d transactions in each other", ISA_TX_DEPTH_MAX);
    if (p->inside[begin])
        return;
    commit = begin + 1 < p->n ? isa_tx_commit(p->insns, p->n, p->inside, begin + 1) : p->n;
    if (commit < p->n)
        verify_tx_scalars(p->v, p->insns, begin, commit, p->live);
}

static void check_unclosed(const struct places *p, uint32_t open)
{
    for (; open; open = p->inside[open - 1])
        verify_add(p->v, ISA_CERTAIN, "verify-tx-unbalanced", p->first + open - 1,
                   "write tx.commit behind what belongs to it, further down in the text",
                   "tx.begin without a tx.commit");
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

static void check_all(const struct places *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        check_ways(p, i);
        if (p->insns[i].format == ISA_TXBEGIN)
            check_begin(p, i);
        if (p->inside[i])
            check_inside(p, &p->insns[i]);
        else if (p->insns[i].format == ISA_TXCOMMIT)
            verify_add(p->v, ISA_CERTAIN, "verify-tx-unbalanced", p->insns[i].pc,
                       "write tx.begin in front, further up in the text",
                       "tx.commit without a tx.begin");
    }
}

void verify_transactions(struct verifier *v)
{
    uint32_t first = v->kernel->first, n = v->kernel->end - first;
    struct places p = {.v = v, .insns = v->program->insns + first, .first = first, .n = n};

    if (!isa_has_tx(p.insns, n))
        return;
    p.inside = malloc(n * sizeof *p.inside);
    p.live = calloc(n, sizeof *p.live);
    if (p.inside && p.live) {
        isa_find_live(p.insns, n, p.live);
        check_unclosed(&p, isa_find_tx(p.insns, n, p.inside));
        check_all(&p);
    } else {
        v->out->failed = true;
    }
    free(p.inside);
    free(p.live);
}
