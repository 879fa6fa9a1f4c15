/* The table of compare, and the text under it. */
#include "host/cli/points.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *time_text(uint64_t ps, char *out, size_t size)
{
    if (ps == JSON_NO_TIME)
        snprintf(out, size, "-");
    else
        cli_format_time(ps, out, size);
    return out;
}

static double ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : NAN;
}

static void speedup_cell(struct cli_table *t, uint64_t base_ps, uint64_t time_ps)
{
    double x = ratio(base_ps, time_ps);

    if (isfinite(x))
        cli_cell(t, "%.3fx", x);
    else
        cli_cell(t, "-");
}

static void percent_cell(struct cli_table *t, double fraction)
{
    char text[16];

    cli_format_percent(fraction, text, sizeof text);
    cli_cell(t, "%s", text);
}

static void time_cell(struct cli_table *t, uint64_t ps)
{
    char text[32];

    cli_cell(t, "%s", time_text(ps, text, sizeof text));
}

static void bytes_cell(struct cli_table *t, const struct metrics *m)
{
    char text[32];

    cli_format_bytes(m->h2d_bytes + m->d2h_bytes, text, sizeof text);
    cli_cell(t, "%s", text);
}

static void count_cell(struct cli_table *t, uint64_t n)
{
    char text[32];

    cli_format_count(n, text, sizeof text);
    cli_cell(t, "%s", text);
}

static void outcome_cell(struct cli_table *t, const struct point *p)
{
    if (!p->ran)
        cli_cell(t, "not run");
    else if (p->status == RESULT_OK)
        cli_cell(t, "%" PRIu64 " passed", p->checks_passed);
    else if (p->status == RESULT_CHECK_FAILED)
        cli_cell(t, "%" PRIu64 " FAILED", p->checks_failed);
    else
        cli_cell(t, "%s", result_status_names[p->status]);
}

/* ---- the schedulers as columns ---------------------------------------------------------------------- */

enum row_kind {
    ROW_TIME,
    ROW_DEVICE,
    ROW_CT,
    ROW_TC,
    ROW_CC,
    ROW_TOT,
    ROW_CONTENTION,
    ROW_KERNELS,
    ROW_KERNEL_BUSY,
    ROW_INSTRUCTIONS,
    ROW_LANES,
    ROW_BYTES,
    ROW_LINK_BUSY,
    ROW_FAULTS,
    ROW_COMMITS,
    ROW_ABORTS,
    ROW_TX_CYCLES, /* and those of the others, by enum sim_tx_cycles */
    ROW_CHECKS = ROW_TX_CYCLES + SIM_NUM_TX_CYCLES,
};

static const struct {
    enum row_kind kind;
    const char *title;
} measure_rows[] = {
    {ROW_CONTENTION, "contention-free time over time"},
    {ROW_DEVICE, "device time"},
    {ROW_CT, "kernels beside transfers (ct)"},
    {ROW_TC, "transfers beside kernels (tc)"},
    {ROW_CC, "kernels beside kernels (cc)"},
    {ROW_TOT, "any beside any (tot)"},
    {ROW_KERNELS, "kernels"},
    {ROW_KERNEL_BUSY, "kernels busy"},
    {ROW_BYTES, "bytes moved"},
    {ROW_LINK_BUSY, "link busy"},
    {ROW_FAULTS, "page faults of kernels"},
    {ROW_CHECKS, "checks"},
};

/* The share of a category of the cycles in transactions. */
static void tx_cell(struct cli_table *t, const struct sim_counters *c, enum sim_tx_cycles of)
{
    percent_cell(t, c->tx_residency_cycles ? ratio(c->tx_cycles[of], c->tx_residency_cycles) : NAN);
}

static void measure_cell(struct cli_table *t, enum row_kind kind, const struct point *p)
{
    if (kind >= ROW_TX_CYCLES && kind < ROW_CHECKS) {
        tx_cell(t, &p->metrics.sums, (enum sim_tx_cycles)(kind - ROW_TX_CYCLES));
        return;
    }
    switch (kind) {
    case ROW_TIME:
        time_cell(t, p->time_ps);
        break;
    case ROW_DEVICE:
        time_cell(t, p->device_time_ps);
        break;
    case ROW_CT:
        percent_cell(t, p->overlap.ct);
        break;
    case ROW_TC:
        percent_cell(t, p->overlap.tc);
        break;
    case ROW_CC:
        percent_cell(t, p->overlap.cc);
        break;
    case ROW_TOT:
        percent_cell(t, p->overlap.tot);
        break;
    case ROW_CONTENTION:
        percent_cell(t, p->contention_free_ps == JSON_NO_TIME
                            ? NAN
                            : ratio(p->contention_free_ps, p->time_ps));
        break;
    case ROW_KERNELS:
        cli_cell(t, "%" PRIu64, p->metrics.kernels);
        break;
    case ROW_KERNEL_BUSY:
        time_cell(t, p->metrics.busy.kernel_ps);
        break;
    case ROW_INSTRUCTIONS:
        count_cell(t, p->metrics.sums.wave_instr);
        break;
    case ROW_LANES:
        percent_cell(t, p->metrics.lane_utilisation);
        break;
    case ROW_BYTES:
        bytes_cell(t, &p->metrics);
        break;
    case ROW_LINK_BUSY:
        time_cell(t, p->metrics.busy.link_ps);
        break;
    case ROW_FAULTS:
        count_cell(t, p->metrics.sums.page_faults);
        break;
    case ROW_COMMITS:
        count_cell(t, p->metrics.sums.tx_commits);
        break;
    case ROW_ABORTS:
        count_cell(t, p->metrics.sums.tx_aborts);
        break;
    case ROW_TX_CYCLES: /* above */
        break;
    case ROW_CHECKS:
        outcome_cell(t, p);
        break;
    }
}

static void add_row(struct cli_table *t, const struct points *p, const char *title,
                    enum row_kind kind)
{
    size_t i;

    cli_cell(t, "%s", title);
    for (i = 0; i < p->len; i++)
        measure_cell(t, kind, &p->at[i]);
}

/* A row of speedups for each column but the last. */
static void add_speedups(struct cli_table *t, const struct points *p)
{
    size_t base, i;

    for (base = 0; base + 1 < p->len; base++) {
        cli_cell(t, "speedup over %s", p->at[base].label);
        for (i = 0; i < p->len; i++)
            speedup_cell(t, p->at[base].time_ps, p->at[i].time_ps);
    }
}

static bool any_faults(const struct points *p)
{
    for (size_t i = 0; i < p->len; i++)
        if (p->at[i].metrics.sums.page_faults)
            return true;
    return false;
}

static void print_schedulers(const struct points *p, FILE *to)
{
    struct cli_table t = {.columns = p->len + 1};
    size_t i;

    cli_cell(&t, "%s", "");
    for (i = 0; i < p->len; i++)
        cli_cell(&t, "%s", p->at[i].label);
    add_row(&t, p, "time", ROW_TIME);
    add_speedups(&t, p);
    for (i = 0; i < sizeof measure_rows / sizeof *measure_rows; i++)
        if (measure_rows[i].kind != ROW_FAULTS || any_faults(p))
            add_row(&t, p, measure_rows[i].title, measure_rows[i].kind);
    cli_table_print(&t, to);
    cli_table_free(&t);
}

/* ---- axes: the points as rows ------------------------------------------------------------------------- */

/* What programs are about: transactions, or several kernels at once, or what one kernel does. */
enum view { VIEW_TX = 1, VIEW_OVERLAP = 2, VIEW_KERNEL = 4 };

static const struct axis_column {
    unsigned kind, views;
    const char *title;
} axis_columns[] = {
    {ROW_DEVICE, VIEW_OVERLAP | VIEW_KERNEL, "device"},
    {ROW_KERNEL_BUSY, VIEW_OVERLAP | VIEW_KERNEL, "kernels busy"},
    {ROW_INSTRUCTIONS, VIEW_KERNEL, "instructions"},
    {ROW_LANES, VIEW_KERNEL, "lanes"},
    {ROW_CT, VIEW_OVERLAP, "ct"},
    {ROW_TC, VIEW_OVERLAP, "tc"},
    {ROW_CC, VIEW_OVERLAP, "cc"},
    {ROW_TOT, VIEW_OVERLAP, "tot"},
    {ROW_KERNELS, VIEW_OVERLAP | VIEW_KERNEL, "kernels"},
    {ROW_BYTES, VIEW_OVERLAP | VIEW_KERNEL, "bytes"},
    {ROW_COMMITS, VIEW_TX, "commits"},
    {ROW_ABORTS, VIEW_TX, "aborts"},
    {ROW_TX_CYCLES + SIM_TX_USEFUL, VIEW_TX, "useful"},
    {ROW_TX_CYCLES + SIM_TX_WASTED, VIEW_TX, "wasted"},
    {ROW_TX_CYCLES + SIM_TX_WAVEFRONT_SERIAL, VIEW_TX, "wavefront serial"},
    {ROW_TX_CYCLES + SIM_TX_WORKGROUP_SERIAL, VIEW_TX, "work-group serial"},
    {ROW_TX_CYCLES + SIM_TX_QUIESCE, VIEW_TX, "quiesce"},
    {ROW_TX_CYCLES + SIM_TX_OTHER, VIEW_TX, "other"},
    {ROW_CHECKS, VIEW_TX | VIEW_OVERLAP | VIEW_KERNEL, "checks"},
};
enum { NAXIS_COLUMNS = sizeof axis_columns / sizeof *axis_columns };

static enum view view_of(const struct points *p)
{
    bool overlap = false;

    for (size_t i = 0; i < p->len; i++) {
        if (p->at[i].metrics.sums.tx_transactions)
            return VIEW_TX;
        overlap = overlap || p->at[i].overlap.ct > 0 || p->at[i].overlap.tot > 0;
    }
    return overlap ? VIEW_OVERLAP : VIEW_KERNEL;
}

static void add_axis_titles(struct cli_table *t, const struct points *p, enum view view)
{
    for (size_t i = 0; i < p->axes; i++)
        cli_cell(t, "%.*s", (int)strcspn(p->at[0].changes[i], "="), p->at[0].changes[i]);
    cli_cell(t, "time");
    cli_cell(t, "speedup");
    for (size_t i = 0; i < NAXIS_COLUMNS; i++)
        if (axis_columns[i].views & view)
            cli_cell(t, "%s", axis_columns[i].title);
}

static void add_axis_row(struct cli_table *t, const struct points *p, const struct point *row,
                         enum view view)
{
    for (size_t a = 0; a < row->nchanges; a++)
        cli_cell(t, "%s", strchr(row->changes[a], '=') + 1);
    time_cell(t, row->time_ps);
    speedup_cell(t, p->at[0].time_ps, row->time_ps);
    for (size_t i = 0; i < NAXIS_COLUMNS; i++)
        if (axis_columns[i].views & view)
            measure_cell(t, (enum row_kind)axis_columns[i].kind, row);
}

static void print_axes(const struct points *p, FILE *to)
{
    enum view view = view_of(p);
    struct cli_table t = {.columns = p->axes + 2};

    for (size_t i = 0; i < NAXIS_COLUMNS; i++)
        t.columns += (axis_columns[i].views & view) != 0;
    add_axis_titles(&t, p, view);
    for (size_t i = 0; i < p->len; i++)
        add_axis_row(&t, p, &p->at[i], view);
    cli_table_print(&t, to);
    fputs(view == VIEW_TX ? "speedup is over the first row; the shares are of the wavefront-cycles "
                            "in transactions\n"
                          : "speedup is over the first row\n",
          to);
    cli_table_free(&t);
}

void points_print(const struct points *p, FILE *to)
{
    if (p->axes)
        print_axes(p, to);
    else
        print_schedulers(p, to);
}

/* ---- why ------------------------------------------------------------------------------------------------ */

/* Time that the busier direction of the link needs: no schedule moves the same bytes faster. */
static uint64_t link_bound(const struct busy *b)
{
    return b->h2d_ps > b->d2h_ps ? b->h2d_ps : b->d2h_ps;
}

static void explain_link(const struct point *serial, const struct point *parallel, FILE *to)
{
    uint64_t bound_ps = link_bound(&parallel->metrics.busy);
    char bound[32];

    cli_format_time(bound_ps, bound, sizeof bound);
    fprintf(to,
            "The workload is bound by transfers: moving its bytes takes %s whatever the schedule, "
            "so that no\n"
            "schedule can be more than %.3f times as fast as %s.\n",
            bound, ratio(serial->time_ps, bound_ps), serial->label);
}

static void explain_kernels(const struct point *serial, const struct point *parallel, FILE *to)
{
    char beside[16];

    cli_format_percent(parallel->overlap.cc, beside, sizeof beside);
    fprintf(to, "The workload is bound by its kernels; %s of their time is beside other kernels.\n",
            beside);
    if (parallel->contention_free_ps != JSON_NO_TIME && parallel->contention_free_ps > 0)
        fprintf(
            to,
            "If they never got in each other's way, the run would be %.3f times as fast as %s.\n",
            ratio(serial->time_ps, parallel->contention_free_ps), serial->label);
}

/* The published baseline has neither, so that its speedup is the product of both. */
static void explain_prefetch(const struct point *none, const struct point *serial,
                             const struct point *parallel, FILE *to)
{
    if (none->time_ps == 0)
        return;
    fprintf(
        to,
        "Prefetch makes the serial run %.3f times as fast, and the schedule makes that %.3f times "
        "as fast:\n%.3f together.\n",
        ratio(none->time_ps, serial->time_ps), ratio(serial->time_ps, parallel->time_ps),
        ratio(none->time_ps, parallel->time_ps));
}

void points_explain(const struct points *p, FILE *to)
{
    const struct point *parallel, *serial;
    double link, kernels;

    if (p->axes || p->len < 2)
        return;
    parallel = &p->at[p->len - 1];
    serial = &p->at[p->len - 2];
    if (p->len == 2)
        fputs("um.page_faults is off on this device: arrays move ahead of each launch and prefetch "
              "changes\n"
              "nothing, so that there is one serial column.\n",
              to);
    if (parallel->time_ps == 0 || serial->time_ps == 0)
        return;
    if (p->len == 3)
        explain_prefetch(&p->at[0], serial, parallel, to);
    link = ratio(parallel->metrics.busy.link_ps, parallel->time_ps);
    kernels = ratio(parallel->metrics.busy.kernel_ps, parallel->time_ps);
    fprintf(
        to, "In the parallel run the link is busy for %.1f %% of the time, kernels run for %.1f %% of it.\n",
        link * 100, kernels * 100);
    if (link >= kernels && link >= 0.5)
        explain_link(serial, parallel, to);
    else if (kernels >= 0.5)
        explain_kernels(serial, parallel, to);
    else
        fputs("The rest is launches and waits of the host: the kernels are too short for this "
              "device.\n",
              to);
}
