/* The trace of a record: its kernels, transfers, regions and edges. */
#include "host/results/trace.h"

#include <stdlib.h>

struct collector {
    struct record *record;
    const struct trace_options *options;
    struct trace_slices slices;
    struct trace_cuts cuts;
};

static bool add_spans(struct collector *c)
{
    struct spool *spool = &c->record->spans;
    struct spool_reader in = spool_read(spool, 0, spool_tell(spool));
    struct span s;
    size_t len;

    while (spool_next(&in, &s, sizeof s, &len)) {
        bool kernel = s.kind == SPAN_KERNEL;
        struct trace_slice slice = {
            .name = s.name,
            .start_ps = s.start_ps,
            .end_ps = s.end_ps,
            .id = s.id,
            .bytes = kernel ? 0 : s.bytes,
            .track = kernel ? s.stream : s.kind == SPAN_D2H,
            .group = kernel ? TRACE_STREAMS : TRACE_COPIES,
            .move = s.move,
        };

        if (!trace_add(&c->slices, &slice, c->options, &c->cuts))
            return false;
    }
    return true;
}

static bool add_regions(struct collector *c)
{
    struct spool *spool = &c->record->iterations;
    struct spool_reader in = spool_read(spool, 0, spool_tell(spool));
    struct record_iteration it;
    size_t len;

    while (spool_next(&in, &it, sizeof it, &len)) {
        struct trace_slice slice = {
            .name = it.name,
            .start_ps = it.begin_ps,
            .end_ps = it.end_ps,
            .iteration = it.iteration,
            .group = TRACE_HOST,
        };

        if (!trace_add(&c->slices, &slice, c->options, &c->cuts))
            return false;
    }
    return true;
}

/* The edges, of which no more are read than there are slices to join. */
static struct span_edge *read_edges(struct record *r, size_t max, size_t *n)
{
    struct spool_reader in = spool_read(&r->span_edges, 0, spool_tell(&r->span_edges));
    struct span_edge *edges = calloc(max + 1, sizeof *edges);
    size_t len;

    *n = 0;
    while (edges && *n < max && spool_next(&in, &edges[*n], sizeof *edges, &len))
        ++*n;
    return edges;
}

bool trace_record(struct json_writer *w, struct record *r, const struct trace_options *options,
                  struct trace_cuts *cuts)
{
    struct collector c = {.record = r, .options = options};
    struct span_edge *edges = NULL;
    size_t nedges, max = (size_t)(options->cap_bytes / TRACE_SLICE_BYTES);
    bool ok = add_regions(&c) && add_spans(&c);

    if (ok)
        edges =
            read_edges(r, r->span_edges.count < max ? (size_t)r->span_edges.count : max, &nedges);
    ok = ok && edges && trace_write(w, &c.slices, edges, nedges, &c.cuts);
    *cuts = c.cuts;
    free(edges);
    vec_free(&c.slices);
    return ok;
}
