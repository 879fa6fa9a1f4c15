#include "host/results/explain.h"

#include "host/results/result.h"
#include "sim/time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- what ran ----------------------------------------------------------------------------------------- */

static void measure_time(struct explain *e, const struct busy *b)
{
    e->time.transfers_ps = less(b->any_ps, b->kernel_ps);
    e->time.kernels_ps = less(b->any_ps, b->link_ps);
    e->time.both_ps = less(b->kernel_ps + b->link_ps, b->any_ps);
    e->time.neither_ps = less(e->time_ps, b->any_ps);
}

/* ---- how busy each part was ----------------------------------------------------------------------------- */

static void add_use(struct explain *e, const char *part, double busy_ps)
{
    e->uses[e->nuses++] = (struct explain_use){.part = part,
                                               .busy_ps = (uint64_t)llround(busy_ps),
                                               .share = ratio(busy_ps, (double)e->time_ps)};
}

static int by_busy(const void *a, const void *b)
{
    const struct explain_use *x = a, *y = b;

    if (x->busy_ps != y->busy_ps)
        return x->busy_ps > y->busy_ps ? -1 : 1;
    return strcmp(x->part, y->part);
}

/* The time for which all slots of wavefronts would have had to be full to hold as many for as long. */
static double slots_ps(const struct sim_config *c, const struct sim_counters *s)
{
    double slots = (double)c->compute_units * c->wave_slots;

    return (double)s->residency_cycles / slots / (double)c->core_hz * 1e12;
}

/* Stretches of time, whose union is asked for. */
struct stretch {
    uint64_t from_ps, to_ps;
};

struct stretches {
    struct stretch *at;
    size_t len, cap;
    bool failed;
};

static void add_stretch(struct stretches *s, uint64_t from_ps, uint64_t to_ps)
{
    if (!vec_push(s, ((struct stretch){from_ps, to_ps})))
        s->failed = true;
}

static int by_from(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;

    if (x->from_ps != y->from_ps)
        return x->from_ps < y->from_ps ? -1 : 1;
    return (x->to_ps > y->to_ps) - (x->to_ps < y->to_ps);
}

/* Length of the union, UINT64_MAX when memory was short; frees them. */
static uint64_t stretches_length(struct stretches *s)
{
    uint64_t sum_ps = 0, at_ps = 0;

    if (s->len)
        qsort(s->at, s->len, sizeof *s->at, by_from);
    for (size_t i = 0; i < s->len; i++) {
        sum_ps += less(s->at[i].to_ps, later(s->at[i].from_ps, at_ps));
        at_ps = later(at_ps, s->at[i].to_ps);
    }
    free(s->at);
    return s->failed ? UINT64_MAX : sum_ps;
}

/* From when the handler takes up a batch of faults until its last page has come. */
static uint64_t handler_ps(const struct timeline *t)
{
    struct stretches all = {0};

    for (size_t i = 0; i < t->nspans; i++) {
        const struct span *s = &t->spans[i];

        if (s->kind == SPAN_H2D && s->move == SIM_T_FAULT)
            add_stretch(&all, s->queued_ps, s->end_ps);
    }
    return stretches_length(&all);
}

/* Kernels in the front end, ahead of their starts. */
static uint64_t front_ps(const struct timeline *t, uint64_t latency_ps)
{
    struct stretches all = {0};

    for (size_t i = 0; i < t->nspans; i++) {
        const struct span *s = &t->spans[i];

        if (s->kind == SPAN_KERNEL)
            add_stretch(&all, later(less(s->start_ps, latency_ps), s->queued_ps), s->start_ps);
    }
    return stretches_length(&all);
}

static bool measure_uses(struct explain *e, const struct explain_source *from)
{
    const struct metrics *m = &from->iteration->metrics;
    uint64_t faults_ps = handler_ps(from->timeline);
    uint64_t launch_ps = front_ps(from->timeline, from->config->launch_latency * PS_PER_NS);
    double needs_ps[USAGE_PARTS];

    usage_needs(from->config, &m->sums, needs_ps);
    add_use(e, "link to device", (double)m->busy.h2d_ps);
    add_use(e, "link to host", (double)m->busy.d2h_ps);
    add_use(e, "fault handler", (double)faults_ps);
    add_use(e, "launch", (double)launch_ps);
    add_use(e, "host", (double)less(e->time_ps, from->iteration->waited_ps));
    for (size_t i = 0; i < USAGE_PARTS; i++)
        add_use(e, part_names[i], needs_ps[i]);
    add_use(e, "wavefront slots", slots_ps(from->config, &m->sums));
    qsort(e->uses, e->nuses, sizeof *e->uses, by_busy);
    return faults_ps != UINT64_MAX && launch_ps != UINT64_MAX;
}

/* ---- what the critical path waited for ------------------------------------------------------------------ */

static struct explain_wait *wait_of(struct explain *e, const char *name)
{
    for (size_t i = 0; i < e->nwaits; i++)
        if (strcmp(e->waits[i].bounded_by, name) == 0)
            return &e->waits[i];
    if (e->nwaits == EXPLAIN_WAITS_MAX)
        return NULL;
    e->waits[e->nwaits].bounded_by = name;
    return &e->waits[e->nwaits++];
}

static int by_time(const void *a, const void *b)
{
    const struct explain_wait *x = a, *y = b;

    if (x->time_ps != y->time_ps)
        return x->time_ps > y->time_ps ? -1 : 1;
    return strcmp(x->bounded_by, y->bounded_by);
}

static void measure_waits(struct explain *e, const struct critical_step *steps, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct explain_wait *w = wait_of(e, result_bounded_by(&steps[i]));
        uint64_t ps = steps[i].end_ps - steps[i].start_ps;

        if (!w)
            continue;
        w->steps++;
        w->time_ps += ps;
        if (ps <= w->longest_ps)
            continue;
        w->longest_ps = ps;
        w->longest = steps[i].span ? steps[i].span->name : NULL;
    }
    for (size_t i = 0; i < e->nwaits; i++)
        e->waits[i].share = ratio((double)e->waits[i].time_ps, (double)e->time_ps);
    qsort(e->waits, e->nwaits, sizeof *e->waits, by_time);
}

/* ---- bounds --------------------------------------------------------------------------------------------- */

static double transfer_ps(const struct metrics *m, const struct sim_config *c, bool one_engine)
{
    double in = (double)m->h2d_bytes / (double)c->link_h2d_rate * 1e12;
    double out = (double)m->d2h_bytes / (double)c->link_d2h_rate * 1e12;

    return one_engine ? in + out : fmax(in, out);
}

static void measure_bounds(struct explain *e, const struct explain_source *from)
{
    const struct metrics *m = &from->iteration->metrics;
    double needs_ps[USAGE_PARTS];
    enum usage_part most;

    usage_needs(from->config, &m->sums, needs_ps);
    most = usage_most(needs_ps);
    e->bounds.transfer_ps = (uint64_t)llround(transfer_ps(m, from->config, from->one_engine));
    e->bounds.work_ps = (uint64_t)llround(needs_ps[most]);
    e->bounds.work_part = needs_ps[most] > 0 ? part_names[most] : NULL;
}

bool explain_measure(struct explain *out, const struct explain_source *from)
{
    bool ok;

    memset(out, 0, sizeof *out);
    out->time_ps = from->iteration->time_ps;
    measure_time(out, &from->iteration->metrics.busy);
    ok = measure_uses(out, from);
    measure_waits(out, from->steps, from->nsteps);
    measure_bounds(out, from);
    explain_set_rows(out);
    return ok;
}

static uint64_t later_known(uint64_t a, uint64_t b)
{
    if (a == JSON_NO_TIME || b == JSON_NO_TIME)
        return a == JSON_NO_TIME ? b : a;
    return a > b ? a : b;
}

void explain_finish_bounds(struct explain_bounds *b)
{
    b->speedup = b->possible_speedup = b->gained = NAN;
    b->least_ps = later_known(later(b->transfer_ps, b->work_ps), b->dependency_ps);
    if (b->serial_ps == JSON_NO_TIME)
        return;
    b->possible_speedup = ratio((double)b->serial_ps, (double)b->least_ps);
    if (b->parallel_ps == JSON_NO_TIME)
        return;
    b->speedup = ratio((double)b->serial_ps, (double)b->parallel_ps);
    if (b->serial_ps > b->least_ps)
        b->gained = ((double)b->serial_ps - (double)b->parallel_ps) /
                    ((double)b->serial_ps - (double)b->least_ps);
}

/* ---- ideals --------------------------------------------------------------------------------------------- */

static void finish_run(struct explain_run *r, uint64_t time_ps)
{
    r->gain = r->ran ? ratio((double)time_ps, (double)r->time_ps) : NAN;
}

static double sort_key(const struct explain_ideal *i)
{
    if (!i->used)
        return -1;
    if (isfinite(i->infinite.gain))
        return i->infinite.gain;
    return isfinite(i->twice.gain) ? i->twice.gain : 0;
}

/* Stable, so that equal gains stay in the order of the table. */
static void sort_ideals(struct explain_ideal *at, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct explain_ideal moved = at[i];
        size_t to = i;

        for (; to > 0 && sort_key(&at[to - 1]) < sort_key(&moved); to--)
            at[to] = at[to - 1];
        at[to] = moved;
    }
}

/* Less than half a per cent is how events happen to fall. */
static bool clearly_less(double a, double b)
{
    return isfinite(a) && isfinite(b) && a < b * 0.995;
}

void explain_finish_ideals(struct explain *e)
{
    for (size_t i = 0; i < e->nideals; i++) {
        struct explain_ideal *ideal = &e->ideals[i];

        finish_run(&ideal->twice, e->time_ps);
        finish_run(&ideal->infinite, e->time_ps);
        ideal->anomaly = clearly_less(ideal->twice.gain, 1) ||
                         clearly_less(ideal->infinite.gain, 1) ||
                         clearly_less(ideal->infinite.gain, ideal->twice.gain);
    }
    sort_ideals(e->ideals, e->nideals);
    explain_set_rows(e);
}
