#include "isa/tx_facts.h"

#include "isa/format.h"
#include "isa/transaction.h"

#include <stdlib.h>

/* One transaction, from its outermost tx.begin up to the next one; `inside` as isa_find_tx() gives it. */
struct span {
    const struct isa_insn *insns;
    const uint32_t *inside;
    uint32_t first, end;
};

static bool is_inside(const struct span *s, uint32_t i)
{
    return s->inside[i] != 0;
}

static bool is_load(const struct span *s, uint32_t i)
{
    return is_inside(s, i) && s->insns[i].format == ISA_LLOAD;
}

static bool is_store(const struct span *s, uint32_t i)
{
    return is_inside(s, i) &&
           (s->insns[i].format == ISA_LSTORE || s->insns[i].format == ISA_LATOMIC);
}

static uint32_t words_of(const struct isa_insn *in)
{
    unsigned type = in->format == ISA_LLOAD ? in->d.words : in->a.words;

    return type > 1 ? 2 : 1;
}

static bool same_operand(const struct isa_operand *a, const struct isa_operand *b)
{
    return a->kind == b->kind && (a->kind == ISA_O_NONE || a->index == b->index);
}

static bool same_place(const struct isa_insn *a, const struct isa_insn *b)
{
    return same_operand(&a->addr.base, &b->addr.base) &&
           same_operand(&a->addr.index, &b->addr.index) && a->addr.scale == b->addr.scale &&
           a->addr.disp == b->addr.disp;
}

static bool same_lanes(const struct isa_insn *a, const struct isa_insn *b)
{
    return a->pred == b->pred && a->pred_not == b->pred_not;
}

/* Words of the accesses that `is` picks. */
static uint32_t count_words(const struct span *s, bool (*is)(const struct span *, uint32_t))
{
    uint32_t sum = 0;

    for (uint32_t i = s->first; i < s->end; i++)
        sum += is(s, i) ? words_of(&s->insns[i]) : 0;
    return sum;
}

/* The lanes that load a word store to it, too. */
static bool is_changed(const struct span *s, uint32_t load)
{
    for (uint32_t i = s->first; i < s->end; i++)
        if (is_store(s, i) && same_place(&s->insns[i], &s->insns[load]) &&
            same_lanes(&s->insns[i], &s->insns[load]))
            return true;
    return false;
}

static bool changes_all(const struct span *s)
{
    for (uint32_t i = s->first; i < s->end; i++)
        if (is_load(s, i) && !is_changed(s, i))
            return false;
    return true;
}

/* Lanes that load and never store: no store is by the lanes of a load. */
static bool may_only_read(const struct span *s)
{
    bool loads = false;

    for (uint32_t i = s->first; i < s->end; i++) {
        if (!is_load(s, i))
            continue;
        loads = true;
        for (uint32_t k = s->first; k < s->end; k++)
            if (is_store(s, k) && same_lanes(&s->insns[i], &s->insns[k]))
                return false;
    }
    return loads;
}

/* An access stands between a backward branch and its target. */
static bool has_loop(const struct span *s, uint32_t first)
{
    for (uint32_t i = s->first; i < s->end; i++) {
        const struct isa_insn *in = &s->insns[i];

        if (!is_inside(s, i) || !(isa_formats[isa_ops[in->op].format].extra & ISA_X_TARGET))
            continue;
        for (uint32_t k = in->target - first; k <= i; k++)
            if (is_load(s, k) || is_store(s, k))
                return true;
    }
    return false;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void add_span(const struct span *s, uint32_t first, struct isa_tx_facts *out)
{
    out->transactions++;
    out->reads = larger(out->reads, count_words(s, is_load));
    out->writes = larger(out->writes, count_words(s, is_store));
    out->unbounded |= has_loop(s, first);
    out->reads_only |= may_only_read(s);
    out->changes_all &= changes_all(s);
}

bool isa_find_tx_facts(const struct isa_insn *insns, uint32_t first, uint32_t n,
                       struct isa_tx_facts *out)
{
    uint32_t *inside = malloc(n * sizeof *inside);
    struct span s = {insns, inside, 0, 0};

    *out = (struct isa_tx_facts){.changes_all = true};
    if (!inside)
        return false;
    isa_find_tx(insns, n, inside);
    for (uint32_t i = 0; i < n; i = s.end) {
        s.first = i;
        for (s.end = i + 1; s.end < n; s.end++)
            if (insns[s.end].op == OP_tx_begin && !inside[s.end])
                break;
        if (insns[i].op == OP_tx_begin && !inside[i])
            add_span(&s, first, out);
    }
    free(inside);
    return true;
}
