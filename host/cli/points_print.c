/* The table of compare, and the text under it. */
#include "host/cli/points.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
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

static void bytes_cell(struct cli_table *t, const struct point *p)
{
    char text[32];

    cli_format_bytes(p->metrics.h2d_bytes + p->metrics.d2h_bytes, text, sizeof text);
    cli_cell(t, "%s", text);
}

static void count_cell(struct cli_table *t, uint64_t n)
{
    char text[32];

    cli_format_count(n, text, sizeof text);
    cli_cell(t, "%s", text);
}

static void kernels_cell(struct cli_table *t, const struct point *p)
{
    cli_cell(t, "%" PRIu64, p->metrics.kernels);
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

/* ---- what is measured ------------------------------------------------------------------------------ */

/* How a member of struct point is shown. */
enum how {
    AS_TIME,     /* uint64_t, ps */
    AS_COUNT,    /* uint64_t */
    AS_SHARE,    /* double */
    AS_TX_SHARE, /* uint64_t, of the cycles in transactions */
    AS_CELL,     /* by a function, of the whole point */
};

struct measure {
    const char *title;
    enum how how;
    size_t at;
    void (*cell)(struct cli_table *t, const struct point *p);
};
#define MEMBER(title, how, member)                                                                 \
    {                                                                                              \
        title, how, offsetof(struct point, member), NULL                                           \
    }
#define CELL(title, cell)                                                                          \
    {                                                                                              \
        title, AS_CELL, 0, cell                                                                    \
    }

static void contention_cell(struct cli_table *t, const struct point *p)
{
    percent_cell(
        t, p->contention_free_ps == JSON_NO_TIME ? NAN : ratio(p->contention_free_ps, p->time_ps));
}

static uint64_t number_at(const struct point *p, size_t at)
{
    uint64_t n;

    memcpy(&n, (const char *)p + at, sizeof n);
    return n;
}

static double share_at(const struct point *p, size_t at)
{
    double x;

    memcpy(&x, (const char *)p + at, sizeof x);
    return x;
}

static void measure_cell(struct cli_table *t, const struct measure *m, const struct point *p)
{
    switch (m->how) {
    case AS_TIME:
        time_cell(t, number_at(p, m->at));
        break;
    case AS_COUNT:
        count_cell(t, number_at(p, m->at));
        break;
    case AS_SHARE:
        percent_cell(t, share_at(p, m->at));
        break;
    case AS_TX_SHARE:
        percent_cell(t, ratio(number_at(p, m->at), p->metrics.sums.tx_residency_cycles));
        break;
    case AS_CELL:
        m->cell(t, p);
        break;
    }
}

/* ---- the schedulers as columns ---------------------------------------------------------------------- */

static const struct measure time_row = MEMBER("time", AS_TIME, time_ps);

static const struct measure measure_rows[] = {
    CELL("contention-free time over time", contention_cell),
    MEMBER("device time", AS_TIME, device_time_ps),
    MEMBER("kernels beside transfers (ct)", AS_SHARE, overlap.ct),
    MEMBER("transfers beside kernels (tc)", AS_SHARE, overlap.tc),
    MEMBER("kernels beside kernels (cc)", AS_SHARE, overlap.cc),
    MEMBER("any beside any (tot)", AS_SHARE, overlap.tot),
    CELL("kernels", kernels_cell),
    MEMBER("kernels busy", AS_TIME, metrics.busy.kernel_ps),
    CELL("bytes moved", bytes_cell),
    MEMBER("link busy", AS_TIME, metrics.busy.link_ps),
};

static const struct measure fault_row =
    MEMBER("page faults of kernels", AS_COUNT, metrics.sums.page_faults);
static const struct measure checks_row = CELL("checks", outcome_cell);

static void add_row(struct cli_table *t, const struct points *p, const struct measure *m)
{
    size_t i;

    cli_cell(t, "%s", m->title);
    for (i = 0; i < p->len; i++)
        measure_cell(t, m, &p->at[i]);
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
    add_row(&t, p, &time_row);
    add_speedups(&t, p);
    for (i = 0; i < sizeof measure_rows / sizeof *measure_rows; i++)
        add_row(&t, p, &measure_rows[i]);
    if (any_faults(p))
        add_row(&t, p, &fault_row);
    add_row(&t, p, &checks_row);
    cli_table_print(&t, to);
    cli_table_free(&t);
}

/* ---- axes: the points as rows ------------------------------------------------------------------------- */

/* What programs are about: transactions, or several kernels at once, or what one kernel does. */
enum view { VIEW_TX = 1, VIEW_OVERLAP = 2, VIEW_KERNEL = 4 };

static const struct axis_column {
    unsigned views;
    struct measure measure;
} axis_columns[] = {
    {VIEW_OVERLAP | VIEW_KERNEL, MEMBER("device", AS_TIME, device_time_ps)},
    {VIEW_OVERLAP | VIEW_KERNEL, MEMBER("kernels busy", AS_TIME, metrics.busy.kernel_ps)},
    {VIEW_KERNEL, MEMBER("instructions", AS_COUNT, metrics.sums.wave_instr)},
    {VIEW_KERNEL, MEMBER("lanes", AS_SHARE, metrics.lane_utilisation)},
    {VIEW_OVERLAP, MEMBER("ct", AS_SHARE, overlap.ct)},
    {VIEW_OVERLAP, MEMBER("tc", AS_SHARE, overlap.tc)},
    {VIEW_OVERLAP, MEMBER("cc", AS_SHARE, overlap.cc)},
    {VIEW_OVERLAP, MEMBER("tot", AS_SHARE, overlap.tot)},
    {VIEW_OVERLAP | VIEW_KERNEL, CELL("kernels", kernels_cell)},
    {VIEW_OVERLAP | VIEW_KERNEL, CELL("bytes", bytes_cell)},
    {VIEW_TX, MEMBER("commits", AS_COUNT, metrics.sums.tx_commits)},
    {VIEW_TX, MEMBER("aborts", AS_COUNT, metrics.sums.tx_aborts)},
#define TX(title, category) MEMBER(title, AS_TX_SHARE, metrics.sums.tx_cycles[category])
    {VIEW_TX, TX("useful", SIM_TX_USEFUL)},
    {VIEW_TX, TX("wasted", SIM_TX_WASTED)},
    {VIEW_TX, TX("wavefront serial", SIM_TX_WAVEFRONT_SERIAL)},
    {VIEW_TX, TX("work-group serial", SIM_TX_WORKGROUP_SERIAL)},
    {VIEW_TX, TX("quiesce", SIM_TX_QUIESCE)},
    {VIEW_TX, TX("other", SIM_TX_OTHER)},
    {VIEW_TX | VIEW_OVERLAP | VIEW_KERNEL, CELL("checks", outcome_cell)},
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
            cli_cell(t, "%s", axis_columns[i].measure.title);
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
            measure_cell(t, &axis_columns[i].measure, row);
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
