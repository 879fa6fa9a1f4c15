/* What bounds each stretch of a kernel on the critical path. */
#include "host/results/critical.h"

#include "sim/base/vec.h"

/* Moves of pages that kernels touched, in order of the times at which the handler took them up. */
struct faults {
    VEC(const struct span *) list;
    size_t first; /* those before it have ended */
};

/* All kernels in order of their ends; those before `first` have ended. */
struct company {
    const struct span **at;
    size_t n, first;
};

enum { RESIDENT_LOOKS = 1024 }; /* kernels that can be on the device at once */

struct pieces {
    struct critical_step *at;
    size_t len, cap;
    bool failed;
};

static bool is_kernel(const struct critical_step *step)
{
    return step->what == STEP_SPAN && step->span->kind == SPAN_KERNEL;
}

static bool is_fault(const struct span *s)
{
    return s->kind == SPAN_H2D && s->move == SIM_T_FAULT;
}

static int by_queued(const void *a, const void *b)
{
    const struct span *x = *(const struct span *const *)a, *y = *(const struct span *const *)b;

    if (x->queued_ps != y->queued_ps)
        return x->queued_ps < y->queued_ps ? -1 : 1;
    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static bool find_faults(const struct timeline *t, struct faults *f)
{
    for (size_t i = 0; i < t->nspans; i++)
        if (is_fault(&t->spans[i]) && !vec_push(&f->list, &t->spans[i]))
            return false;
    if (f->list.len)
        qsort(f->list.at, f->list.len, sizeof *f->list.at, by_queued);
    return true;
}

static int by_end(const void *a, const void *b)
{
    const struct span *x = *(const struct span *const *)a, *y = *(const struct span *const *)b;

    if (x->end_ps != y->end_ps)
        return x->end_ps < y->end_ps ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static bool find_company(const struct timeline *t, struct company *c)
{
    c->at = malloc((t->nspans + 1) * sizeof(const struct span *));
    if (!c->at)
        return false;
    for (size_t i = 0; i < t->nspans; i++)
        if (t->spans[i].kind == SPAN_KERNEL)
            c->at[c->n++] = &t->spans[i];
    qsort(c->at, c->n, sizeof *c->at, by_end);
    return true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/*
 * How long the step's part is busy in it, with the work of all kernels that need that part most: each spread evenly over its own time. Steps come in
 * order of time.
 */
static uint64_t busy_ps(struct company *c, const struct critical_step *step)
{
    size_t past = 0;
    double sum_ps = 0;

    while (c->first < c->n && c->at[c->first]->end_ps <= step->start_ps)
        c->first++;
    for (size_t i = c->first; i < c->n && past < RESIDENT_LOOKS; i++) {
        const struct span *s = c->at[i];
        uint64_t from_ps = s->start_ps > step->start_ps ? s->start_ps : step->start_ps;
        uint64_t to_ps = least(s->end_ps, step->end_ps);

        past += s->end_ps > step->end_ps;
        if (s->part == step->span->part && to_ps > from_ps)
            sum_ps +=
                (double)s->need_ps * (double)(to_ps - from_ps) / (double)(s->end_ps - s->start_ps);
    }
    return (uint64_t)sum_ps;
}

/* One step more; neighbours of one bound are one. */
static void add(struct pieces *p, const struct critical_step *step, uint64_t from_ps,
                uint64_t to_ps, unsigned bound)
{
    struct critical_step *last = p->len ? &p->at[p->len - 1] : NULL;

    if (to_ps <= from_ps && step->end_ps > step->start_ps)
        return;
    if (last && last->what == step->what && last->span == step->span && last->bound == bound &&
        last->end_ps == from_ps) {
        last->end_ps = to_ps;
        return;
    }
    if (!vec_push(p, *step)) {
        p->failed = true;
        return;
    }
    last = &p->at[p->len - 1];
    last->start_ps = from_ps;
    last->end_ps = to_ps;
    last->bound = (uint8_t)bound;
}

/* When the last page that the kernel itself asked for has come, at the end of the step at the latest; its start if it asked for none. */
static uint64_t faults_end(const struct faults *f, const struct critical_step *step)
{
    uint64_t end_ps = step->start_ps;

    for (size_t i = f->first; i < f->list.len && f->list.at[i]->queued_ps < step->end_ps; i++)
        if (f->list.at[i]->node == step->span->node && f->list.at[i]->end_ps > end_ps)
            end_ps = f->list.at[i]->end_ps;
    return end_ps < step->end_ps ? end_ps : step->end_ps;
}

/*
 * Up to limit_ps the step waits for each move and for what the handler does ahead of it, also for other kernels, whose faults the one handler
 * serves in between. Between these the kernel is bounded by `own`. Without pieces it only counts. Returns the time of these stretches.
 */
static uint64_t split(const struct faults *f, const struct critical_step *step, uint64_t limit_ps,
                      unsigned own, struct pieces *out)
{
    uint64_t at_ps = step->start_ps, served_ps = 0;

    for (size_t i = f->first; i < f->list.len && f->list.at[i]->queued_ps < limit_ps; i++) {
        const struct span *s = f->list.at[i];
        uint64_t taken_ps = s->queued_ps > at_ps ? s->queued_ps : at_ps;
        uint64_t moved_ps = least(s->start_ps > taken_ps ? s->start_ps : taken_ps, limit_ps);
        uint64_t end_ps = least(s->end_ps, limit_ps);

        if (end_ps <= at_ps)
            continue;
        if (out) {
            add(out, step, at_ps, taken_ps, own);
            add(out, step, taken_ps, moved_ps, BOUND_HANDLER);
            add(out, step, moved_ps, end_ps, BOUND_LINK);
        }
        served_ps += end_ps - taken_ps;
        at_ps = end_ps;
    }
    if (out)
        add(out, step, at_ps, step->end_ps, own);
    return served_ps;
}

static void bound_kernel(struct faults *f, struct company *c, const struct critical_step *step,
                         struct pieces *out)
{
    const enum usage_part part = (enum usage_part)step->span->part;
    const uint64_t need_ps = busy_ps(c, step), length_ps = step->end_ps - step->start_ps;
    unsigned own = usage_bound(part, need_ps, length_ps);
    uint64_t limit_ps;

    while (f->first < f->list.len && f->list.at[f->first]->end_ps <= step->start_ps)
        f->first++;
    limit_ps = faults_end(f, step);
    if (own != PART_NONE || limit_ps <= step->start_ps) {
        add(out, step, step->start_ps, step->end_ps, own);
        return;
    }
    own = usage_bound(part, need_ps, length_ps - split(f, step, limit_ps, PART_NONE, NULL));
    split(f, step, limit_ps, own, out);
}

/* Without faults each step stays one. */
static void bound_in_place(struct company *c, struct critical_step *steps, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_kernel(&steps[i]))
            steps[i].bound =
                (uint8_t)usage_bound((enum usage_part)steps[i].span->part, busy_ps(c, &steps[i]),
                                     steps[i].end_ps - steps[i].start_ps);
}

static bool bound_by_pieces(struct faults *f, struct company *c, const struct critical_step *steps,
                            size_t n, struct pieces *out)
{
    if (!vec_reserve(out, n + 1))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (is_kernel(&steps[i]))
            bound_kernel(f, c, &steps[i], out);
        else
            add(out, &steps[i], steps[i].start_ps, steps[i].end_ps, PART_NONE);
    }
    return !out->failed;
}

bool critical_bounds(const struct timeline *t, struct critical_step **steps, size_t *nsteps)
{
    struct faults faults = {0};
    struct company company = {0};
    struct pieces out = {0};
    bool ok = find_faults(t, &faults) && find_company(t, &company);

    if (ok && faults.list.len == 0) {
        bound_in_place(&company, *steps, *nsteps);
    } else {
        ok = ok && bound_by_pieces(&faults, &company, *steps, *nsteps, &out);
        free(*steps);
        *steps = out.at;
        *nsteps = out.len;
    }
    vec_free(&faults.list);
    free(company.at);
    if (ok)
        return true;
    free(*steps);
    *steps = NULL;
    *nsteps = 0;
    return false;
}
