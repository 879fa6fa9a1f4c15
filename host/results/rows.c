/* The lists of a result, from the record's spools. */
#include "host/results/result.h"
#include "host/results/usage.h"

#include <stdio.h>

/* Region and iteration are unknown outside all regions; the name is known once the region has ended. */
static const char *region_name(const struct record *r, uint32_t region)
{
    return region < r->region_names.len ? r->region_names.at[region] : NULL;
}

static void write_regions(void *user, struct json_writer *w)
{
    struct record *r = user;
    struct spool_reader in = spool_read(&r->iterations, 0, spool_tell(&r->iterations));
    struct record_iteration row;
    size_t len;

    while (spool_next(&in, &row, sizeof row, &len))
        fields_write(w, NULL, &result_region_fields, &row);
}

static void write_kernels(void *user, struct json_writer *w)
{
    struct record *r = user;
    struct spool_reader in = spool_read(&r->kernels, 0, spool_tell(&r->kernels));
    struct record_kernel row;
    size_t len;

    while (spool_next(&in, &row, sizeof row, &len)) {
        row.region_name = region_name(r, row.region);
        fields_write(w, NULL, &result_kernel_fields, &row);
    }
}

static void write_transfers(void *user, struct json_writer *w)
{
    struct record *r = user;
    struct spool_reader in = spool_read(&r->transfers, 0, spool_tell(&r->transfers));
    struct record_transfer row;
    size_t len;

    while (spool_next(&in, &row, sizeof row, &len)) {
        row.region_name = region_name(r, row.region);
        fields_write(w, NULL, &result_transfer_fields, &row);
    }
}

static void write_nodes(void *user, struct json_writer *w)
{
    struct record *r = user;
    struct spool_reader in = spool_read(&r->nodes, 0, spool_tell(&r->nodes));
    struct record_node row;
    size_t len;

    while (spool_next(&in, &row, sizeof row, &len)) {
        row.region_name = region_name(r, row.region);
        fields_write(w, NULL, &result_node_fields, &row);
    }
}

static void write_edge_arrays(void *user, struct json_writer *w)
{
    const struct record_edge *e = user;
    uint32_t i;

    for (i = 0; i < e->narrays; i++)
        json_text(w, NULL, e->arrays[i]);
}

static void write_edges(void *user, struct json_writer *w)
{
    struct record *r = user;
    struct spool_reader in = spool_read(&r->edges, 0, spool_tell(&r->edges));
    struct result_edge edge;
    size_t len;

    edge.arrays = (struct field_rows){&edge.row, write_edge_arrays};
    while (spool_next(&in, &edge.row, sizeof edge.row, &len))
        fields_write(w, NULL, &result_edge_fields, &edge);
}

static void write_checks(void *user, struct json_writer *w)
{
    struct record *r = user;
    struct spool_reader in = spool_read(&r->checks, 0, spool_tell(&r->checks));
    struct hd_check row;
    size_t len;

    while (spool_next(&in, &row, sizeof row, &len))
        fields_write(w, NULL, &result_check_fields, &row);
}

/* ---- the critical path --------------------------------------------------------------------- */

static const char *span_what(const struct span *s)
{
    return s->kind == SPAN_KERNEL ? "kernel" : result_transfer_names[s->move];
}

static void resource_name(const struct critical_step *step, char *out, size_t size)
{
    if (step->what == STEP_HOST)
        snprintf(out, size, "host");
    else if (step->what == STEP_SPAN && step->bound == BOUND_HANDLER)
        snprintf(out, size, "fault handler");
    else if (step->what == STEP_SPAN && step->bound == BOUND_LINK)
        snprintf(out, size, "h2d");
    else if (step->span->kind == SPAN_KERNEL)
        snprintf(out, size, "stream %u", (unsigned)step->span->stream);
    else
        snprintf(out, size, "%s", step->span->kind == SPAN_H2D ? "h2d" : "d2h");
}

static const char *kernel_bound(unsigned bound)
{
    if (bound == BOUND_HANDLER)
        return "fault handler";
    return bound == BOUND_LINK ? "link to device" : part_names[bound];
}

const char *result_bounded_by(const struct critical_step *step)
{
    switch (step->what) {
    case STEP_HOST:
        return "host";
    case STEP_LAUNCH:
        return "launch";
    case STEP_WAIT:
        return step->span->move == SIM_T_FAULT ? "fault handler" : "link wait";
    case STEP_SPAN:
        break;
    }
    if (step->span->kind == SPAN_KERNEL)
        return kernel_bound(step->bound);
    return step->span->kind == SPAN_H2D ? "link to device" : "link to host";
}

static void write_step(const struct critical_step *step, struct json_writer *w)
{
    static const char *const names[] = {"host", "launch", "wait", NULL};
    char resource[24];
    struct result_step row = {
        .what = step->what == STEP_SPAN ? span_what(step->span) : names[step->what],
        .name = step->span ? step->span->name : NULL,
        .resource = resource,
        .bounded_by = result_bounded_by(step),
        .id = step->span ? step->span->id : UINT64_MAX,
        .start_ps = step->start_ps,
        .end_ps = step->end_ps,
    };

    resource_name(step, resource, sizeof resource);
    fields_write(w, NULL, &result_step_fields, &row);
}

static void write_path(void *user, struct json_writer *w)
{
    const struct result *r = user;
    size_t i;

    for (i = 0; i < r->nsteps; i++)
        write_step(&r->steps[i], w);
}

void result_set_rows(struct result *r)
{
    r->regions = (struct field_rows){r->record, write_regions};
    r->kernels = (struct field_rows){r->record, write_kernels};
    r->transfers = (struct field_rows){r->record, write_transfers};
    r->nodes = (struct field_rows){r->record, write_nodes};
    r->edges = (struct field_rows){r->record, write_edges};
    r->check_list = (struct field_rows){r->record, write_checks};
    r->critical_path = (struct field_rows){r, write_path};
}

/* ---- the profile --------------------------------------------------------------------------- */

static void write_lines(void *user, struct json_writer *w)
{
    const struct profile_kernel *k = user;

    for (size_t i = 0; i < k->lines.len; i++)
        fields_write(w, NULL, &result_line_fields, &k->lines.at[i]);
}

static void write_profiles(void *user, struct json_writer *w)
{
    const struct profile *p = user;

    for (size_t i = 0; i < p->kernels.len; i++)
        fields_write(w, NULL, &result_profile_kernel_fields, p->kernels.at[i]);
}

void profile_set_rows(struct profile *p)
{
    p->kernel_rows = (struct field_rows){p, write_profiles};
    for (size_t i = 0; i < p->kernels.len; i++)
        p->kernels.at[i]->line_rows = (struct field_rows){p->kernels.at[i], write_lines};
}
