#include "host/results/record.h"

#include "host/results/json_writer.h"
#include "host/results/profile.h"
#include "host/results/usage.h"

#include <math.h>
#include <string.h>

const char *const record_detail_names[] = {"summary", "kernels", "full", NULL};

/* ---- bounds and names ---------------------------------------------------------------------- */

static uint64_t rows_max(const struct record *r)
{
    switch (r->detail) {
    case RECORD_SUMMARY:
        return 0;
    case RECORD_KERNELS:
        return RECORD_ROWS_MAX;
    case RECORD_FULL:
        break;
    }
    return UINT64_MAX;
}

static uint64_t list_max(const struct record *r)
{
    return r->detail == RECORD_FULL ? UINT64_MAX : RECORD_LIST_MAX;
}

/* Adds a row, or counts it as cut. */
static void keep(struct spool *s, const void *row, size_t len, uint64_t max, uint64_t *cut)
{
    if (s->count < max)
        spool_add(s, row, len);
    else
        ++*cut;
}

static void out_of_memory(struct record *r)
{
    if (r->error.status == HD_OK)
        hd_no_memory(&r->error, "the rows of the run");
}

static const char *kept_name(struct record *r, const char *name)
{
    const char *kept = names_keep(&r->names, name ? name : "");

    if (!kept)
        out_of_memory(r);
    return kept;
}

/* Grows a list of names so that index i exists. */
static const char **name_at(struct record *r, const char ***at, size_t *len, size_t *cap, size_t i)
{
    if (i >= *len) {
        if (!vec_reserve_bytes((void **)at, cap, i + 1, sizeof **at)) {
            out_of_memory(r);
            return NULL;
        }
        memset(*at + *len, 0, (i + 1 - *len) * sizeof **at);
        *len = i + 1;
    }
    return &(*at)[i];
}

static const char *array_name(struct record *r, uint32_t uid)
{
    const char **slot =
        name_at(r, &r->array_names.at, &r->array_names.len, &r->array_names.cap, uid);

    if (!slot)
        return NULL;
    if (!*slot)
        *slot = kept_name(r, hd_array_uid_name(r->rt, uid));
    return *slot;
}

/* ---- sums of the open iteration ------------------------------------------------------------ */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void iteration_reset(struct record_iteration *it)
{
    memset(it, 0, sizeof *it);
    it->region = it->iteration = HD_NO_REGION;
    it->first_queued_ps = UINT64_MAX;
}

static void count_span(struct record_iteration *it, const struct span *s,
                       const struct sim_counters *counters)
{
    it->first_queued_ps = earlier(it->first_queued_ps, s->queued_ps);
    if (s->end_ps > it->last_end_ps)
        it->last_end_ps = s->end_ps;
    if (counters) {
        it->metrics.kernels++;
        sim_counters_add(&it->metrics.sums, counters);
        return;
    }
    it->metrics.transfers++;
    it->moves[s->move]++;
    if (s->kind == SPAN_H2D)
        it->metrics.h2d_bytes += s->bytes;
    else
        it->metrics.d2h_bytes += s->bytes;
}

/* Rows between two regions belong to the script alone. */
static void add_span(struct record *r, const struct span *s, const struct sim_counters *counters)
{
    spool_add(&r->spans, s, sizeof *s);
    count_span(&r->script, s, counters);
    if (s->in_region)
        count_span(&r->current, s, counters);
}

/* ---- the runtime's rows -------------------------------------------------------------------- */

static double occupancy(const struct record *r, const struct sim_kernel_record *k)
{
    return (double)k->groups_per_cu * k->waves_per_group / r->config.wave_slots;
}

static void on_kernel(void *user, const struct hd_kernel_row *row)
{
    struct record *r = user;
    const struct sim_kernel_record *k = &row->r;
    double needs_ps[USAGE_PARTS];
    struct record_kernel out = {
        .id = row->node,
        .name = kept_name(r, k->kernel->name),
        .limit = kept_name(r, k->limit),
        .region = row->region,
        .iteration = row->iteration,
        .stream = row->stream,
        .device = row->device,
        .queued_ps = k->queued_ps,
        .start_ps = k->start_ps,
        .end_ps = k->end_ps,
        .occupancy = occupancy(r, k),
        .counters = k->counters,
        .dram_bytes = k->counters.dram_read_bytes + k->counters.dram_write_bytes,
    };
    struct span span = {
        .start_ps = k->start_ps,
        .end_ps = k->end_ps,
        .queued_ps = k->queued_ps,
        .node = row->node,
        .id = row->node,
        .name = out.name,
        .stream = row->stream,
        .in_region = row->region != HD_NO_REGION,
        .kind = SPAN_KERNEL,
    };

    memcpy(out.grid, k->grid, sizeof out.grid);
    memcpy(out.block, k->block, sizeof out.block);
    keep(&r->kernels, &out, sizeof out, rows_max(r), &r->cuts.kernels);
    usage_needs(&r->config, &k->counters, needs_ps);
    span.part = (uint8_t)usage_most(needs_ps);
    span.need_ps = (uint64_t)needs_ps[span.part];
    add_span(r, &span, &k->counters);
    if (r->profile)
        profile_launch(r->profile, k);
}

static void on_transfer(void *user, const struct hd_transfer_row *row)
{
    struct record *r = user;
    const struct sim_transfer_record *t = &row->r;
    struct record_transfer out = {
        .id = r->ntransfers++,
        .node = row->node,
        .bytes = t->bytes,
        .queued_ps = t->queued_ps,
        .start_ps = t->start_ps,
        .end_ps = t->end_ps,
        .array = array_name(r, row->array_uid),
        .region = row->region,
        .iteration = row->iteration,
        .stream = row->stream,
        .kind = (uint32_t)t->kind,
        .dir = t->to_device ? 0 : 1,
    };
    struct span span = {
        .start_ps = t->start_ps,
        .end_ps = t->end_ps,
        .queued_ps = t->queued_ps,
        .node = row->node,
        .id = out.id,
        .bytes = t->bytes,
        .name = out.array,
        .stream = row->stream,
        .in_region = row->region != HD_NO_REGION,
        .kind = t->to_device ? SPAN_H2D : SPAN_D2H,
        .move = (uint8_t)t->kind,
    };

    keep(&r->transfers, &out, sizeof out, rows_max(r), &r->cuts.transfers);
    add_span(r, &span, NULL);
}

static void on_node(void *user, const struct hd_node_row *row)
{
    struct record *r = user;
    struct record_node out = {
        .id = row->id,
        .name = kept_name(r, row->name),
        .kind = (uint32_t)row->kind,
        .region = row->region,
        .iteration = row->iteration,
        .stream = row->stream,
    };
    struct span_node node = {row->id, row->kind != HD_NODE_KERNEL, row->region != HD_NO_REGION};

    keep(&r->nodes, &out, sizeof out, rows_max(r), &r->cuts.nodes);
    spool_add(&r->span_nodes, &node, sizeof node);
}

static void on_edge(void *user, const struct hd_edge_row *row)
{
    struct record *r = user;
    struct record_edge out = {.from = row->from, .to = row->to, .kind = (uint32_t)row->kind};
    struct span_edge edge = {row->from, row->to};
    uint32_t i;

    for (i = 0; i < row->narrays && i < RECORD_EDGE_ARRAYS; i++)
        out.arrays[out.narrays++] = array_name(r, row->array_uids[i]);
    keep(&r->edges, &out, sizeof out, rows_max(r), &r->cuts.edges);
    spool_add(&r->span_edges, &edge, sizeof edge);
}

static void on_wait(void *user, uint64_t from_ps, uint64_t until_ps)
{
    struct record *r = user;

    spool_add(&r->span_waits, &until_ps, sizeof until_ps);
    r->script.waited_ps += until_ps - from_ps;
    r->current.waited_ps += until_ps - from_ps;
}

static void on_check(void *user, const struct hd_check *check)
{
    struct record *r = user;

    if (check->passed)
        r->checks_passed++;
    else
        r->checks_failed++;
    keep(&r->checks, check, sizeof *check, list_max(r), &r->cuts.checks);
}

static void on_print(void *user, const char *line)
{
    struct record *r = user;

    if (r->print)
        r->print(r->print_user, line);
}

/* ---- iterations ---------------------------------------------------------------------------- */

static void mark_starts(struct record *r)
{
    iteration_reset(&r->current);
    r->current.spans[0] = spool_tell(&r->spans);
    r->current.edges[0] = spool_tell(&r->span_edges);
    r->current.nodes[0] = spool_tell(&r->span_nodes);
    r->current.waits[0] = spool_tell(&r->span_waits);
}

static void mark_ends(struct record *r, struct record_iteration *it)
{
    it->spans[1] = spool_tell(&r->spans);
    it->edges[1] = spool_tell(&r->span_edges);
    it->nodes[1] = spool_tell(&r->span_nodes);
    it->waits[1] = spool_tell(&r->span_waits);
}

/* Overlap and rates; not finite where the iteration is too long to analyse. */
static void analyse(struct record *r, struct record_iteration *it)
{
    struct timeline t;

    it->time_ps = it->end_ps - it->begin_ps;
    if (it->last_end_ps > it->first_queued_ps)
        it->device_time_ps = it->last_end_ps - it->first_queued_ps;
    it->overlap = (struct overlap){NAN, NAN, NAN, NAN};
    if (!record_timeline(r, it, &t)) {
        r->cuts.analysed += it->metrics.kernels + it->metrics.transfers;
    } else {
        overlap_measure(t.spans, t.nspans, &it->overlap, &it->metrics.busy);
        timeline_free(&t);
    }
    metrics_rates(&it->metrics, &r->config);
}

static void on_region(void *user, const struct hd_region_row *row)
{
    struct record *r = user;
    struct record_iteration *it = &r->current;
    const char **slot =
        name_at(r, &r->region_names.at, &r->region_names.len, &r->region_names.cap, row->region);

    if (!slot)
        return;
    *slot = kept_name(r, row->name);
    it->name = *slot;
    it->region = row->region;
    it->iteration = row->iteration;
    it->begin_ps = row->host_start_ps;
    it->end_ps = row->host_end_ps;
    it->metrics.um = row->um;
    mark_ends(r, it);
    analyse(r, it);
    keep(&r->iterations, it, sizeof *it, list_max(r), &r->cuts.regions);
    mark_starts(r);
}

/* ---- the whole ----------------------------------------------------------------------------- */

struct record *record_new(enum record_detail detail, const struct sim_config *config)
{
    struct record *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->detail = detail;
    r->config = *config;
    iteration_reset(&r->script);
    mark_starts(r);
    return r;
}

void record_free(struct record *r)
{
    struct spool *const spools[] = {&r->kernels,    &r->transfers,  &r->nodes, &r->edges,
                                    &r->checks,     &r->iterations, &r->spans, &r->span_edges,
                                    &r->span_nodes, &r->span_waits};
    size_t i;

    for (i = 0; i < sizeof spools / sizeof *spools; i++)
        spool_free(spools[i]);
    names_free(&r->names);
    vec_free(&r->region_names);
    vec_free(&r->array_names);
    free(r);
}

void record_recorder(struct record *r, const hd_runtime *rt, struct hd_recorder *out)
{
    r->rt = rt;
    *out = (struct hd_recorder){
        .user = r,
        .kernel = on_kernel,
        .transfer = on_transfer,
        .node = on_node,
        .edge = on_edge,
        .region = on_region,
        .wait = on_wait,
        .check = on_check,
        .print = on_print,
    };
}

enum hd_status record_broken(const struct record *r, struct hd_error *err)
{
    const struct spool *const spools[] = {&r->kernels,    &r->transfers,  &r->nodes, &r->edges,
                                          &r->checks,     &r->iterations, &r->spans, &r->span_edges,
                                          &r->span_nodes, &r->span_waits};
    size_t i;

    for (i = 0; i < sizeof spools / sizeof *spools; i++)
        if (spool_check(spools[i], err) != HD_OK)
            return HD_BAD_INPUT;
    if (r->error.status != HD_OK && err)
        *err = r->error;
    return r->error.status;
}

enum hd_status record_close(struct record *r, uint64_t host_time_ps, struct hd_error *err)
{
    if (r->rt)
        hd_um_totals(r->rt, &r->script.metrics.um);
    r->rt = NULL;
    r->script.end_ps = host_time_ps;
    mark_ends(r, &r->script);
    return record_broken(r, err);
}

/* A time and where its iteration is in the spool. */
struct timed {
    uint64_t time_ps, at;
};

static int by_time(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;

    if (x->time_ps != y->time_ps)
        return x->time_ps < y->time_ps ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static uint32_t main_region(const struct record *r)
{
    size_t i;

    for (i = 0; i < r->region_names.len; i++)
        if (r->region_names.at[i] && strcmp(r->region_names.at[i], "main") == 0)
            return (uint32_t)i;
    return 0;
}

static bool read_iteration(struct record *r, uint64_t at, struct record_iteration *out)
{
    struct spool_reader in = spool_read(&r->iterations, at, spool_tell(&r->iterations));
    size_t len;

    return spool_next(&in, out, sizeof *out, &len);
}

void record_chosen(struct record *r, struct record_iteration *out)
{
    struct spool_reader in = spool_read(&r->iterations, 0, spool_tell(&r->iterations));
    uint32_t region = main_region(r);
    struct record_iteration it;
    VEC(struct timed) times = {0};
    uint64_t at = 0;
    size_t len;

    while (spool_next(&in, &it, sizeof it, &len)) {
        struct timed t = {it.time_ps, at};

        if (it.region == region && !vec_push(&times, t))
            break;
        at = in.at;
    }
    *out = r->script;
    if (times.len > 0) {
        qsort(times.at, times.len, sizeof *times.at, by_time);
        read_iteration(r, times.at[(times.len - 1) / 2].at, out);
    } else {
        analyse(r, out);
    }
    vec_free(&times);
}

/* ---- timelines ----------------------------------------------------------------------------- */

static bool load_spans(struct record *r, const struct record_iteration *it, struct timeline *out)
{
    struct spool_reader in = spool_read(&r->spans, it->spans[0], it->spans[1]);
    uint64_t n = it->metrics.kernels + it->metrics.transfers;
    struct span s;
    size_t len;

    out->spans = calloc((size_t)n + 1, sizeof *out->spans);
    if (!out->spans)
        return false;
    while (out->nspans < n && spool_next(&in, &s, sizeof s, &len))
        if (it->region == HD_NO_REGION || s.in_region)
            out->spans[out->nspans++] = s;
    return true;
}

/* How many records of one size lie between two places. */
static size_t records_in(const uint64_t range[2], size_t size)
{
    return (size_t)((range[1] - range[0]) / (size + sizeof(uint32_t)));
}

static bool load_edges(struct record *r, const struct record_iteration *it, struct timeline *out)
{
    struct spool_reader in = spool_read(&r->span_edges, it->edges[0], it->edges[1]);
    size_t n = records_in(it->edges, sizeof *out->edges), len;

    out->edges = calloc(n + 1, sizeof *out->edges);
    if (!out->edges)
        return false;
    while (out->nedges < n && spool_next(&in, &out->edges[out->nedges], sizeof *out->edges, &len))
        out->nedges++;
    return true;
}

static bool load_nodes(struct record *r, const struct record_iteration *it, struct timeline *out)
{
    struct spool_reader in = spool_read(&r->span_nodes, it->nodes[0], it->nodes[1]);
    size_t n = records_in(it->nodes, sizeof *out->nodes), len;
    struct span_node node;

    out->nodes = calloc(n + 1, sizeof *out->nodes);
    if (!out->nodes)
        return false;
    while (out->nnodes < n && spool_next(&in, &node, sizeof node, &len))
        if (it->region == HD_NO_REGION || node.in_region)
            out->nodes[out->nnodes++] = node;
    return true;
}

static bool load_waits(struct record *r, const struct record_iteration *it, struct timeline *out)
{
    struct spool_reader in = spool_read(&r->span_waits, it->waits[0], it->waits[1]);
    size_t n = records_in(it->waits, sizeof *out->waits), len;

    out->waits = calloc(n + 1, sizeof *out->waits);
    if (!out->waits)
        return false;
    while (out->nwaits < n && spool_next(&in, &out->waits[out->nwaits], sizeof *out->waits, &len))
        out->nwaits++;
    return true;
}

bool record_timeline(struct record *r, const struct record_iteration *it, struct timeline *out)
{
    memset(out, 0, sizeof *out);
    out->begin_ps = it->begin_ps;
    out->end_ps = it->end_ps;
    if (it->metrics.kernels + it->metrics.transfers <= RECORD_SPANS_MAX && load_spans(r, it, out) &&
        load_edges(r, it, out) && load_nodes(r, it, out) && load_waits(r, it, out))
        return true;
    timeline_free(out);
    return false;
}

void timeline_free(struct timeline *t)
{
    free(t->spans);
    free(t->edges);
    free(t->nodes);
    free(t->waits);
    memset(t, 0, sizeof *t);
}
