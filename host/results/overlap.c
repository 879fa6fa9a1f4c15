#include "host/results/overlap.h"

#include <stdlib.h>
#include <string.h>

/* Sums of up to a million durations do not fit 64 bits. */
__extension__ typedef unsigned __int128 wide;

/* A start (+1) or an end (-1) of an interval. */
struct border {
    uint64_t time_ps;
    int8_t step;
    uint8_t kind;
};

/* Sums over all moments, weighted by how many intervals of each sort are open. */
struct sums {
    wide kernels, transfers; /* durations */
    wide ct, tc, cc, tot;    /* beside the union of the others */
    wide cc_once, tot_once;  /* beside the union of the earlier ones */
    struct busy busy;
};

static int by_time(const void *a, const void *b)
{
    const struct border *x = a, *y = b;

    return (x->time_ps > y->time_ps) - (x->time_ps < y->time_ps);
}

static struct border *borders_of(const struct span *spans, size_t n)
{
    struct border *b = calloc(n ? 2 * n : 1, sizeof *b);
    size_t i;

    if (!b)
        return NULL;
    for (i = 0; i < n; i++) {
        b[2 * i] = (struct border){spans[i].start_ps, 1, spans[i].kind};
        b[2 * i + 1] = (struct border){spans[i].end_ps, -1, spans[i].kind};
    }
    qsort(b, 2 * n, sizeof *b, by_time);
    return b;
}

/* A stretch of len during which open[kind] intervals of each kind are open. */
static void add_stretch(struct sums *s, const uint64_t open[3], uint64_t len)
{
    uint64_t k = open[SPAN_KERNEL], t = open[SPAN_H2D] + open[SPAN_D2H];

    s->kernels += (wide)k * len;
    s->transfers += (wide)t * len;
    if (t > 0)
        s->ct += (wide)k * len;
    if (k > 0) {
        s->tc += (wide)t * len;
        s->cc_once += (wide)(k - 1) * len;
        s->busy.kernel_ps += len;
    }
    if (k > 1)
        s->cc += (wide)k * len;
    if (k + t > 1)
        s->tot += (wide)(k + t) * len;
    if (k + t > 0)
        s->tot_once += (wide)(k + t - 1) * len;
    s->busy.h2d_ps += open[SPAN_H2D] ? len : 0;
    s->busy.d2h_ps += open[SPAN_D2H] ? len : 0;
    s->busy.link_ps += t ? len : 0;
    s->busy.any_ps += k + t ? len : 0;
}

static bool sweep(const struct span *spans, size_t n, struct sums *s)
{
    struct border *b = borders_of(spans, n);
    uint64_t open[3] = {0, 0, 0};
    size_t i;

    memset(s, 0, sizeof *s);
    if (!b)
        return false;
    for (i = 0; i < 2 * n; i++) {
        if (i > 0)
            add_stretch(s, open, b[i].time_ps - b[i - 1].time_ps);
        open[b[i].kind] += (uint64_t)(int64_t)b[i].step;
    }
    free(b);
    return true;
}

static double fraction(wide part, wide whole)
{
    return whole ? (double)part / (double)whole : 0.0;
}

bool overlap_measure(const struct span *spans, size_t n, struct overlap *out, struct busy *busy)
{
    struct sums s;

    if (!sweep(spans, n, &s))
        return false;
    out->ct = fraction(s.ct, s.kernels);
    out->tc = fraction(s.tc, s.transfers);
    out->cc = fraction(s.cc, s.kernels);
    out->tot = fraction(s.tot, s.kernels + s.transfers);
    *busy = s.busy;
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    if (x->end_ps != y->end_ps)
        return x->end_ps < y->end_ps ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Joins neighbours of one direction: the end becomes the start plus the sum of the durations. */
static size_t merge_chunks(struct span *spans, size_t n)
{
    size_t i, kept = 0;

    for (i = 0; i < n; i++) {
        struct span *last = kept ? &spans[kept - 1] : NULL;

        if (last && last->kind != SPAN_KERNEL && last->kind == spans[i].kind)
            last->end_ps += spans[i].end_ps - spans[i].start_ps;
        else
            spans[kept++] = spans[i];
    }
    return kept;
}

bool overlap_fig11(const struct span *spans, size_t n, struct overlap *out)
{
    struct span *sorted = calloc(n ? n : 1, sizeof *sorted);
    struct sums s;
    bool ok;

    if (!sorted)
        return false;
    if (n)
        memcpy(sorted, spans, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_start);
    ok = sweep(sorted, merge_chunks(sorted, n), &s);
    free(sorted);
    if (!ok)
        return false;
    out->ct = fraction(s.ct, s.kernels);
    out->tc = fraction(s.tc, s.transfers);
    out->cc = fraction(s.cc_once, s.kernels);
    out->tot = fraction(s.tot_once, s.kernels + s.transfers);
    return true;
}
