/*
 * Gotos and joins: that they lead where they may, and that no lane is left asleep. Who may be asleep is known from
 * isa/asleep.h. Who surely is, is followed along the ways of the wavefront: a goto with a predicate may send all lanes to sleep
 * or none, so that it is known only on ways where no lane is awake.
 */
#include "isa/asleep.h"
#include "isa/format.h"
#include "isa/verify_internal.h"

#include <stdlib.h>

enum { MAX_SURE = 4, MAX_SWEEPS = 64 };

/* How the wavefront comes to an instruction, on every way there. */
struct arrival {
    bool seen, awake, empty; /* with lanes awake, without; on some way */
    uint8_t nsure; /* joins until which a lane sleeps on every way; forgetting some is safe */
    uint32_t sure[MAX_SURE];
};

struct way {
    uint32_t to;
    struct arrival with;
};

struct flow {
    struct verifier *v;
    const struct isa_insn *insns;
    uint32_t first, n;
    uint32_t *from, *next; /* of isa_find_asleep and isa_next_asleep */
    struct arrival *at;
};

/* ---- where gotos and joins lead --------------------------------------------------------------- */

static bool is_join(const struct verifier *v, uint32_t pc)
{
    return pc < v->kernel->end && v->program->insns[pc].format == ISA_JOIN;
}

static bool has_jip(const struct isa_insn *in)
{
    return isa_formats[in->format].extra & ISA_X_JIP;
}

/* False if the target is wrong: a JIP that follows from it is not worth a word then. */
static bool check_uip(struct verifier *v, const struct isa_insn *in)
{
    size_t before = v->out->len;

    if (in->format == ISA_GOTO && in->target <= in->pc)
        verify_add(v, ISA_CERTAIN, "verify-uip", in->pc, "goto leads down; goto.b leads back",
                   "the target of goto is not further down");
    else if (in->format == ISA_GOTO && !is_join(v, in->target))
        verify_add(v, ISA_CERTAIN, "verify-uip", in->pc, "write join behind the label",
                   "the target of goto is no join: nothing would wake its lanes");
    if (in->format == ISA_GOTO_BACK && in->target > in->pc)
        verify_add(v, ISA_CERTAIN, "verify-uip", in->pc, "goto leads down; goto.b leads back",
                   "the target of goto.b is further down");
    return v->out->len == before;
}

static void check_jip(struct verifier *v, const struct isa_insn *in)
{
    static const char hint[] = "leave it out: the assembler derives it";
    const char *name = isa_ops[in->op].name;

    if (in->format == ISA_GOTO_BACK && !is_join(v, in->pc + 1))
        verify_add(v, ISA_CERTAIN, "verify-jip", in->pc, "write join behind goto.b",
                   "no join is right behind goto.b: nothing would wake the lanes that leave");
    else if (in->format == ISA_GOTO_BACK && in->jip != in->pc + 1)
        verify_add(v, ISA_CERTAIN, "verify-jip", in->pc, hint,
                   "the JIP of goto.b is not the join right behind it");
    if (in->format == ISA_GOTO_BACK || (in->format == ISA_JOIN && in->jip == ISA_NO_PC))
        return;
    if (in->jip <= in->pc)
        verify_add(v, ISA_CERTAIN, "verify-jip", in->pc, hint, "the JIP of %s is not further down",
                   name);
    else if (!is_join(v, in->jip) && v->program->insns[in->jip].format != ISA_TXCOMMIT)
        verify_add(v, ISA_CERTAIN, "verify-jip", in->pc, hint, "the JIP of %s is no join", name);
    else if (in->format == ISA_GOTO && in->jip > in->target)
        verify_add(v, ISA_CERTAIN, "verify-jip", in->pc, hint,
                   "the JIP of goto is behind its target, where its lanes sleep");
}

/* True if the kernel has gotos or joins and these are well formed. */
static bool check_places(struct verifier *v)
{
    size_t before = v->out->len;
    bool any = false;

    for (uint32_t pc = v->kernel->first; pc < v->kernel->end; pc++) {
        const struct isa_insn *in = &v->program->insns[pc];

        if (!has_jip(in))
            continue;
        any = true;
        if (v->kernel->forms != ISA_FORM_GOTO)
            verify_add(v, ISA_CERTAIN, "verify-form", pc, "write .form goto, or leave .form out",
                       "%s in kernel `%s`, which is not of form goto", isa_ops[in->op].name,
                       v->kernel->name);
        if (check_uip(v, in))
            check_jip(v, in);
    }
    return any && v->out->len == before && !v->out->failed;
}

/* ---- which lanes surely sleep ----------------------------------------------------------------- */

static bool sleeps(const struct arrival *a, uint32_t join)
{
    for (unsigned i = 0; i < a->nsure; i++)
        if (a->sure[i] == join)
            return true;
    return false;
}

static void put_to_sleep(struct arrival *a, uint32_t join)
{
    if (!sleeps(a, join) && a->nsure < MAX_SURE)
        a->sure[a->nsure++] = join;
}

static void wake(struct arrival *a, uint32_t join)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < a->nsure; i++)
        if (a->sure[i] != join)
            a->sure[kept++] = a->sure[i];
    a->nsure = (uint8_t)kept;
}

static bool merge(struct arrival *into, const struct arrival *a)
{
    struct arrival old = *into;
    unsigned kept = 0;

    if (!old.seen) {
        *into = *a;
        into->seen = true;
        return true;
    }
    into->awake |= a->awake;
    into->empty |= a->empty;
    for (unsigned i = 0; i < old.nsure; i++)
        if (sleeps(a, old.sure[i]))
            into->sure[kept++] = old.sure[i];
    into->nsure = (uint8_t)kept;
    return into->awake != old.awake || into->empty != old.empty || kept != old.nsure;
}

/* The way that is taken when no lane is awake; `join`: until which lanes sleep surely then, or the instruction itself for none. */
static struct way hop(const struct flow *f, uint32_t i, uint32_t join)
{
    struct way w = {f->insns[i].jip - f->first, f->at[i]};

    if (join != i)
        put_to_sleep(&w.with, join);
    w.with.awake = false;
    w.with.empty = true;
    return w;
}

static struct way go(const struct flow *f, uint32_t i, uint32_t to)
{
    struct way w = {to, f->at[i]};

    return w;
}

static struct way go_awake(const struct flow *f, uint32_t i, uint32_t to)
{
    struct way w = go(f, i, to);

    w.with.awake = true;
    w.with.empty = false;
    return w;
}

static unsigned ways_of_goto(const struct flow *f, uint32_t i, struct way out[2])
{
    const struct isa_insn *in = &f->insns[i];
    bool back = in->format == ISA_GOTO_BACK;
    uint32_t target = in->target - f->first;

    out[0] = back ? go_awake(f, i, target) : hop(f, i, target);
    if (in->pred)
        out[1] = back ? hop(f, i, i + 1) : go_awake(f, i, i + 1);
    return in->pred ? 2 : 1;
}

static bool wakes_nobody(const struct flow *f, uint32_t join)
{
    return f->from[join] == ISA_NO_PC;
}

static unsigned ways_of_join(const struct flow *f, uint32_t i, struct way out[2])
{
    const struct arrival *a = &f->at[i];
    bool dead_end = f->insns[i].jip == ISA_NO_PC;
    unsigned n = 0;

    if (a->awake || !wakes_nobody(f, i))
        out[n++] = go_awake(f, i, i + 1);
    else if (dead_end)
        out[n++] = go(f, i, i + 1);
    if (a->empty && !dead_end && !sleeps(a, i))
        out[n++] = hop(f, i, i);
    for (unsigned k = 0; k < n; k++)
        wake(&out[k].with, i);
    return n;
}

/* Where the wavefront may go from insns[i]; returns how many ways. */
static unsigned ways_of(const struct flow *f, uint32_t i, struct way out[2])
{
    const struct isa_insn *in = &f->insns[i];
    unsigned n = 0;

    if (in->format == ISA_GOTO || in->format == ISA_GOTO_BACK)
        return ways_of_goto(f, i, out);
    if (in->format == ISA_JOIN)
        return ways_of_join(f, i, out);
    if (isa_formats[in->format].extra & ISA_X_TARGET)
        out[n++] = go(f, i, in->target - f->first);
    if (isa_goes_on(in))
        out[n++] = go(f, i, i + 1);
    return n;
}

static bool sweep(struct flow *f)
{
    bool news = false;

    for (uint32_t i = 0; i < f->n; i++) {
        struct way ways[2];
        unsigned n = f->at[i].seen ? ways_of(f, i, ways) : 0;

        for (unsigned k = 0; k < n; k++)
            if (ways[k].to < f->n)
                news |= merge(&f->at[ways[k].to], &ways[k].with);
    }
    return news;
}

/* Arrivals at all instructions; nothing is sure where that takes too long. */
static void follow(struct flow *f)
{
    unsigned sweeps = 0;

    f->at[0] = (struct arrival){.seen = true, .awake = true};
    while (sweep(f) && sweeps < MAX_SWEEPS)
        sweeps++;
    for (uint32_t i = 0; i < f->n && sweeps == MAX_SWEEPS; i++)
        f->at[i] = (struct arrival){.seen = true, .awake = true, .empty = true};
}

/* ---- lanes that nothing would wake ------------------------------------------------------------ */

/* The first join that a step from i to `to` passes while a lane sleeps there: surely, or else perhaps; f->n if none. */
static uint32_t passed(const struct flow *f, uint32_t i, const struct way *w, bool surely)
{
    uint32_t found = !surely && f->next[i] < w->to ? f->next[i] : f->n;

    for (unsigned k = 0; k < w->with.nsure && surely; k++)
        if (w->with.sure[k] > i && w->with.sure[k] < w->to && w->with.sure[k] < found)
            found = w->with.sure[k];
    return found;
}

static void check_way(const struct flow *f, uint32_t i, const struct way *w)
{
    const struct isa_insn *in = &f->insns[i];
    uint32_t surely = passed(f, i, w, true), perhaps = passed(f, i, w, false);
    const char *name = isa_ops[in->op].name;

    if (surely != f->n && has_jip(in))
        verify_add(f->v, ISA_CERTAIN, "verify-passes-sleepers", in->pc,
                   "leave the JIP out: the assembler derives it",
                   "%s passes over the join of line %u, where lanes sleep", name,
                   verify_line(f->v, f->first + surely));
    else if (perhaps != f->n)
        verify_add(f->v, ISA_POSSIBLE, "verify-passes-sleepers", in->pc,
                   has_jip(in) ? "leave the JIP out: the assembler derives it"
                               : "make it a goto, which stops at joins",
                   "%s may pass over the join of line %u while lanes sleep there", name,
                   verify_line(f->v, f->first + perhaps));
}

static void check_end(const struct flow *f, uint32_t i)
{
    if (f->next[i] != ISA_NO_PC)
        verify_add(f->v, ISA_POSSIBLE, "verify-ends-asleep", f->insns[i].pc,
                   "send the lanes to a join in front of the kernel's last s_end",
                   "the last awake lane may end here while others sleep until the join of line %u",
                   verify_line(f->v, f->first + f->next[i]));
}

static void check_dead_end(const struct flow *f, uint32_t i)
{
    const struct isa_insn *in = &f->insns[i];
    static const char hint[] = "leave `-` out: the assembler derives the JIP";

    if (in->jip != ISA_NO_PC)
        return;
    if (!f->at[i].awake && wakes_nobody(f, i))
        verify_add(f->v, ISA_CERTAIN, "verify-nobody-awake", in->pc, hint,
                   "no lane is awake behind this join, and it has no JIP");
    else if (f->next[i] != ISA_NO_PC)
        verify_add(f->v, ISA_POSSIBLE, "verify-nobody-awake", in->pc, hint,
                   "no lane may be awake behind this join, and others sleep until line %u",
                   verify_line(f->v, f->first + f->next[i]));
}

static void check_lanes(const struct flow *f)
{
    for (uint32_t i = 0; i < f->n; i++) {
        struct way ways[2];
        unsigned n = f->at[i].seen ? ways_of(f, i, ways) : 0;

        for (unsigned k = 0; k < n; k++)
            if (ways[k].to > i + 1)
                check_way(f, i, &ways[k]);
        if (f->at[i].seen && f->insns[i].format == ISA_END)
            check_end(f, i);
        if (f->at[i].seen && f->insns[i].format == ISA_JOIN)
            check_dead_end(f, i);
    }
}

void verify_gotos(struct verifier *v)
{
    uint32_t first = v->kernel->first, n = v->kernel->end - first;
    struct flow f = {.v = v, .insns = v->program->insns + first, .first = first, .n = n};
    bool good;

    if (!check_places(v))
        return;
    f.from = calloc(n, sizeof *f.from);
    f.next = calloc(n, sizeof *f.next);
    f.at = calloc(n, sizeof *f.at);
    good = f.from && f.next && f.at && isa_find_asleep(f.insns, first, n, ISA_ASLEEP_ALL, f.from) &&
           isa_next_asleep(f.insns, n, f.from, f.next);
    if (good) {
        follow(&f);
        check_lanes(&f);
    }
    good = good && verify_scalars(v);
    if (!good)
        v->out->failed = true;
    free(f.from);
    free(f.next);
    free(f.at);
}
