/* What bounds each stretch of a kernel on the critical path. */
#include "host/results/critical.h"

#include "sim/base/vec.h"

/* Moves of pages that kernels touched, in order of the times at which the handler took them up. */
struct faults {
    VEC(const struct span *) list;
    size_t first; /* those before it have ended */
};

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

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
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

static void bound_kernel(struct faults *f, const struct critical_step *step, struct pieces *out)
{
    const struct span *s = step->span;
    unsigned own = usage_bound((enum usage_part)s->part, s->need_ps, s->end_ps - s->start_ps);
    uint64_t limit_ps;

    while (f->first < f->list.len && f->list.at[f->first]->end_ps <= step->start_ps)
        f->first++;
    limit_ps = faults_end(f, step);
    if (own != PART_NONE || limit_ps <= step->start_ps) {
        add(out, step, step->start_ps, step->end_ps, own);
        return;
    }
    own = usage_bound((enum usage_part)s->part, s->need_ps,
                      s->end_ps - s->start_ps - split(f, step, limit_ps, PART_NONE, NULL));
    split(f, step, limit_ps, own, out);
}

/* Without faults each step stays one. */
static void bound_in_place(struct critical_step *steps, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct span *s = steps[i].span;

        if (is_kernel(&steps[i]))
            steps[i].bound =
                (uint8_t)usage_bound((enum usage_part)s->part, s->need_ps, s->end_ps - s->start_ps);
    }
}

bool critical_bounds(const struct timeline *t, struct critical_step **steps, size_t *nsteps)
{
    struct faults faults = {0};
    struct pieces out = {0};
    bool ok = find_faults(t, &faults);

    if (ok && faults.list.len == 0) {
        bound_in_place(*steps, *nsteps);
        return true;
    }
    ok = ok && vec_reserve(&out, *nsteps + 1);
    for (size_t i = 0; ok && i < *nsteps; i++) {
        const struct critical_step *step = &(*steps)[i];

        if (is_kernel(step))
            bound_kernel(&faults, step, &out);
        else
            add(&out, step, step->start_ps, step->end_ps, PART_NONE);
    }
    vec_free(&faults.list);
    free(*steps);
    *steps = out.at;
    *nsteps = out.len;
    if (ok && !out.failed)
        return true;
    free(out.at);
    *steps = NULL;
    *nsteps = 0;
    return false;
}
