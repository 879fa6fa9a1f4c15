#include "isa/asleep.h"

#include "isa/format.h"

#include <stdlib.h>
#include <string.h>

struct code {
    const struct isa_insn *insns;
    uint32_t first, n;
    bool *reached; /* from the start, by a lane */
    bool *counts;  /* a goto that is looked at */
    uint32_t *stack;
    uint32_t *back; /* back[n + i]: lowest place to which insns[i] leads, or i; a tree of minima below */
    uint32_t *from;
};

static unsigned format_of(const struct code *c, uint32_t i)
{
    return isa_ops[c->insns[i].op].format;
}

/* Index of the target; the instruction's own where it has none. */
static uint32_t target_of(const struct code *c, uint32_t i)
{
    bool has = isa_formats[format_of(c, i)].extra & ISA_X_TARGET;

    return has ? c->insns[i].target - c->first : i;
}

static bool is_join(const struct code *c, uint32_t i)
{
    return i < c->n && format_of(c, i) == ISA_JOIN;
}

static void find_reached(struct code *c)
{
    uint32_t depth = 0;

    c->stack[depth++] = 0;
    c->reached[0] = true;
    while (depth) {
        uint32_t i = c->stack[--depth];
        const uint32_t next[] = {target_of(c, i), isa_goes_on(&c->insns[i]) ? i + 1 : i};

        for (unsigned k = 0; k < 2; k++)
            if (next[k] < c->n && !c->reached[next[k]]) {
                c->reached[next[k]] = true;
                c->stack[depth++] = next[k];
            }
    }
}

bool isa_find_reached(const struct isa_insn *insns, uint32_t first, uint32_t n, bool *reached)
{
    struct code c = {.insns = insns, .first = first, .n = n, .reached = reached};

    c.stack = calloc(n, sizeof *c.stack);
    if (!c.stack)
        return false;
    find_reached(&c);
    free(c.stack);
    return true;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void find_back(struct code *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        c->back[c->n + i] = c->reached[i] ? least(i, target_of(c, i)) : i;
    for (uint32_t i = c->n - 1; i > 0; i--)
        c->back[i] = least(c->back[2 * i], c->back[2 * i + 1]);
}

/* The lowest place to which one of the instructions [low, end) leads. */
static uint32_t lowest(const struct code *c, uint32_t low, uint32_t end)
{
    uint32_t found = low;

    for (low += c->n, end += c->n; low < end; low /= 2, end /= 2) {
        if (low % 2)
            found = least(found, c->back[low++]);
        if (end % 2)
            found = least(found, c->back[--end]);
    }
    return found;
}

/* Goto i sends lanes to sleep until *join, asleep from instruction *from on. */
static bool sends(const struct code *c, uint32_t i, uint32_t *join, uint32_t *from)
{
    unsigned format = format_of(c, i);

    if (!c->counts[i] || (format == ISA_GOTO_BACK && !c->insns[i].pred))
        return false;
    *join = format == ISA_GOTO ? target_of(c, i) : i + 1;
    *from = format == ISA_GOTO ? i + 1 : least(i + 1, target_of(c, i));
    return *join > i && is_join(c, *join);
}

static void find_from(struct code *c)
{
    uint32_t join, from;

    memset(c->from, 0xff, c->n * sizeof *c->from);
    for (uint32_t i = 0; i < c->n; i++)
        if (sends(c, i, &join, &from))
            c->from[join] = least(c->from[join], from);
    for (uint32_t i = 0; i < c->n; i++) {
        while (c->from[i] < i && lowest(c, c->from[i], i) < c->from[i])
            c->from[i] = lowest(c, c->from[i], i);
    }
}

static bool is_goto(const struct code *c, uint32_t i)
{
    return format_of(c, i) == ISA_GOTO || format_of(c, i) == ISA_GOTO_BACK;
}

/* begins[i]: how many stretches begin at insns[i] less those that end there, so that sums tell how many one is in. */
static void count_stretches(const uint32_t *from, uint32_t n, uint32_t *begins)
{
    memset(begins, 0, n * sizeof *begins);
    for (uint32_t i = 0; i < n; i++)
        if (from[i] < i) {
            begins[from[i]]++;
            begins[i]--;
        }
}

/* Adds the gotos for all lanes that stand where lanes are apart; false if there is none. Leaves stack[] with rubbish. */
static bool add_apart(struct code *c)
{
    uint32_t depth = 0;
    bool added = false;

    count_stretches(c->from, c->n, c->stack);
    for (uint32_t i = 0; i < c->n; i++) {
        depth += c->stack[i];
        if (depth && is_goto(c, i) && c->reached[i] && !c->counts[i])
            added = c->counts[i] = true;
    }
    return added;
}

static void solve(struct code *c, enum isa_asleep_of which)
{
    find_reached(c);
    find_back(c);
    for (uint32_t i = 0; i < c->n; i++)
        c->counts[i] =
            is_goto(c, i) && c->reached[i] && (which == ISA_ASLEEP_ALL || c->insns[i].pred);
    do
        find_from(c);
    while (add_apart(c));
}

bool isa_find_asleep(const struct isa_insn *insns, uint32_t first, uint32_t n,
                     enum isa_asleep_of which, uint32_t *from)
{
    struct code c = {.insns = insns, .first = first, .n = n, .from = from};
    bool good;

    c.reached = calloc(n, sizeof *c.reached);
    c.counts = calloc(n, sizeof *c.counts);
    c.stack = calloc(n, sizeof *c.stack);
    c.back = calloc(2 * (size_t)n, sizeof *c.back);
    good = c.reached && c.counts && c.stack && c.back;
    if (good)
        solve(&c, which);
    free(c.reached);
    free(c.counts);
    free(c.stack);
    free(c.back);
    return good;
}

bool isa_next_asleep(const struct isa_insn *insns, uint32_t n, const uint32_t *from,
                     uint32_t *asleep)
{
    uint32_t *joins = calloc(n, sizeof *joins); /* behind i, nearest last */
    uint32_t depth = 0;

    if (!joins)
        return false;
    for (uint32_t i = n; i-- > 0;) {
        /* what begins behind i does so for all before it too */
        while (depth && from[joins[depth - 1]] > i)
            depth--;
        asleep[i] = depth ? joins[depth - 1] : ISA_NO_PC;
        if (isa_ops[insns[i].op].format == ISA_JOIN && from[i] < i)
            joins[depth++] = i;
    }
    free(joins);
    return true;
}

/* Behind an end where lanes are apart those that slept go on alone, apart from those that ended. */
static void fill_apart(const struct isa_insn *insns, const uint32_t *begins, uint32_t n, bool *apart)
{
    uint32_t depth = 0;
    bool ended = false;

    for (uint32_t i = 0; i < n; i++) {
        depth += begins[i];
        ended |= depth && insns[i].format == ISA_END;
        apart[i] = depth || ended;
    }
}

bool isa_find_apart(const struct isa_program *program, const struct isa_kernel *kernel, bool *apart)
{
    const struct isa_insn *insns = program->insns + kernel->first;
    uint32_t n = kernel->end - kernel->first;
    uint32_t *from, *begins;
    bool good;

    memset(apart, 0, n * sizeof *apart);
    if (kernel->forms != ISA_FORM_GOTO)
        return true;
    from = calloc(n, sizeof *from);
    begins = calloc(n, sizeof *begins);
    good = from && begins && isa_find_asleep(insns, kernel->first, n, ISA_ASLEEP_APART, from);
    if (good) {
        count_stretches(from, n, begins);
        fill_apart(insns, begins, n, apart);
    }
    free(from);
    free(begins);
    return good;
}
