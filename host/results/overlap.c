#include "host/results/overlap.h"

#include <stdlib.h>
#include <string.h>

/* Sums of up to a million durations do not fit 64 bits. */
__extension__ typedef unsigned __int128 wide;

/* All starts and all ends, by kind and in order. */
struct borders {
    uint64_t *times[3][2]; /* [kind][0]: starts, [kind][1]: ends; in one allocation, of times[0][0] */
    size_t n[3], next[3][2];
};

/* What the rule behind Figure 11 needs of a span. */
struct interval {
    uint64_t start_ps, end_ps;
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
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* n[] says how many there will be of each kind. */
static bool borders_make(struct borders *b)
{
    size_t all = b->n[0] + b->n[1] + b->n[2];
    uint64_t *at = calloc(2 * all + 1, sizeof *at);

    if (!at)
        return false;
    for (unsigned k = 0; k < 3; k++) {
        b->times[k][0] = at;
        b->times[k][1] = at + b->n[k];
        at += 2 * b->n[k];
    }
    return true;
}

static void borders_add(struct borders *b, unsigned kind, uint64_t start_ps, uint64_t end_ps)
{
    b->times[kind][0][b->next[kind][0]++] = start_ps;
    b->times[kind][1][b->next[kind][1]++] = end_ps;
}

static void borders_sort(struct borders *b)
{
    for (unsigned k = 0; k < 3; k++)
        for (unsigned e = 0; e < 2; e++) {
            qsort(b->times[k][e], b->n[k], sizeof(uint64_t), by_time);
            b->next[k][e] = 0;
        }
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

/* The list whose next border is the first of all; false when there is none. */
static bool first_list(const struct borders *b, unsigned *kind, unsigned *end)
{
    uint64_t first_ps = 0;
    bool any = false;

    for (unsigned k = 0; k < 3; k++)
        for (unsigned e = 0; e < 2; e++) {
            size_t at = b->next[k][e];

            if (at == b->n[k] || (any && b->times[k][e][at] >= first_ps))
                continue;
            any = true;
            first_ps = b->times[k][e][at];
            *kind = k;
            *end = e;
        }
    return any;
}

/* Of borders that are all there; frees them. */
static void sweep(struct borders *b, struct sums *s)
{
    uint64_t open[3] = {0, 0, 0}, at_ps = 0;
    unsigned kind = 0, end = 0;

    memset(s, 0, sizeof *s);
    borders_sort(b);
    while (first_list(b, &kind, &end)) {
        uint64_t time_ps = b->times[kind][end][b->next[kind][end]++];

        add_stretch(s, open, time_ps - at_ps);
        open[kind] += end ? UINT64_MAX : 1; /* one less, or one more */
        at_ps = time_ps;
    }
    free(b->times[0][0]);
}

static double fraction(wide part, wide whole)
{
    return whole ? (double)part / (double)whole : 0.0;
}

bool overlap_measure(const struct span *spans, size_t n, struct overlap *out, struct busy *busy)
{
    struct borders b = {0};
    struct sums s;
    size_t i;

    for (i = 0; i < n; i++)
        b.n[spans[i].kind]++;
    if (!borders_make(&b))
        return false;
    for (i = 0; i < n; i++)
        borders_add(&b, spans[i].kind, spans[i].start_ps, spans[i].end_ps);
    sweep(&b, &s);
    out->ct = fraction(s.ct, s.kernels);
    out->tc = fraction(s.tc, s.transfers);
    out->cc = fraction(s.cc, s.kernels);
    out->tot = fraction(s.tot, s.kernels + s.transfers);
    *busy = s.busy;
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;

    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    if (x->end_ps != y->end_ps)
        return x->end_ps < y->end_ps ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Joins neighbours of one direction: the end becomes the start plus the sum of the durations. */
static size_t merge_chunks(struct interval *at, size_t n)
{
    size_t i, kept = 0;

    for (i = 0; i < n; i++) {
        struct interval *last = kept ? &at[kept - 1] : NULL;

        if (last && last->kind != SPAN_KERNEL && last->kind == at[i].kind)
            last->end_ps += at[i].end_ps - at[i].start_ps;
        else
            at[kept++] = at[i];
    }
    return kept;
}

/* In order of start, merged; *n becomes how many are left. NULL when memory is short. */
static struct interval *merged(const struct span *spans, size_t *n)
{
    struct interval *at = calloc(*n + 1, sizeof *at);
    size_t i;

    if (!at)
        return NULL;
    for (i = 0; i < *n; i++)
        at[i] = (struct interval){spans[i].start_ps, spans[i].end_ps, spans[i].kind};
    qsort(at, *n, sizeof *at, by_start);
    *n = merge_chunks(at, *n);
    return at;
}

bool overlap_fig11(const struct span *spans, size_t n, struct overlap *out)
{
    struct interval *at = merged(spans, &n);
    struct borders b = {0};
    struct sums s;
    size_t i;

    for (i = 0; at && i < n; i++)
        b.n[at[i].kind]++;
    if (!at || !borders_make(&b)) {
        free(at);
        return false;
    }
    for (i = 0; i < n; i++)
        borders_add(&b, at[i].kind, at[i].start_ps, at[i].end_ps);
    free(at);
    sweep(&b, &s);
    out->ct = fraction(s.ct, s.kernels);
    out->tc = fraction(s.tc, s.transfers);
    out->cc = fraction(s.cc_once, s.kernels);
    out->tot = fraction(s.tot_once, s.kernels + s.transfers);
    return true;
}
