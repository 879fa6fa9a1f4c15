/* The page of heddle explain. */
#include "host/cli/explain.h"
#include "host/cli/profile.h"

#include "host/config/config.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { PAGE_WIDTH = 78, BAR_WIDTH = 20, NAME_WIDTH = 30, PARTS_SHOWN = 8, WAITS_SHOWN = 6 };

/* Parts that gain less than this are not what bounds a run. */
#define WORTH_NAMING 1.05

static const char *time_text(uint64_t ps, char out[32])
{
    if (ps == JSON_NO_TIME)
        snprintf(out, 32, "-");
    else
        cli_format_time(ps, out, 32);
    return out;
}

static void heading(const char *text)
{
    printf("\n%s%s%s\n", profile_colour("\033[1m"), text, profile_colour("\033[0m"));
}

/* A line of a share: its name, time, per cent, and a bar. */
static void print_share(const char *name, uint64_t ps, double share)
{
    char time[32], percent[16];
    int bar = isfinite(share) ? (int)lround(fmin(share, 1) * BAR_WIDTH) : 0;

    cli_format_percent(share, percent, sizeof percent);
    printf("  %-*s %10s %8s  %.*s\n", NAME_WIDTH, name, time_text(ps, time), percent, bar,
           "####################");
}

static double share_of(uint64_t ps, uint64_t whole)
{
    return whole ? (double)ps / (double)whole : NAN;
}

/* ---- the run ---------------------------------------------------------------------------------------------- */

static const char *scheduler_name(const struct session *s)
{
    return hd_config_param("host.scheduler")->choices[s->options.host.scheduler].name;
}

static void print_run(const struct session *s)
{
    const struct result *r = &s->result;
    char time[32];

    printf("%s on %s, %s: %s\n", r->workload, r->config_name, scheduler_name(s),
           result_status_names[r->status]);
    printf("%s%s takes %s.\n", r->chosen.name ? "Region " : "The program",
           r->chosen.name ? r->chosen.name : "", time_text(r->chosen.time_ps, time));
}

static void print_time(const struct explain *e)
{
    const struct explain_time *t = &e->time;

    heading("Where the time goes");
    print_share("only kernels run", t->kernels_ps, share_of(t->kernels_ps, e->time_ps));
    print_share("only transfers run", t->transfers_ps, share_of(t->transfers_ps, e->time_ps));
    print_share("both run", t->both_ps, share_of(t->both_ps, e->time_ps));
    print_share("neither: host, launches", t->neither_ps, share_of(t->neither_ps, e->time_ps));
}

static void print_uses(const struct explain *e)
{
    heading("How busy each part is");
    for (size_t i = 0; i < e->nuses && i < PARTS_SHOWN; i++)
        if (e->uses[i].busy_ps > 0)
            print_share(e->uses[i].part, e->uses[i].busy_ps, e->uses[i].share);
}

static void print_waits(const struct explain *e)
{
    char longest[32];

    heading("What the critical path waits for");
    for (size_t i = 0; i < e->nwaits && i < WAITS_SHOWN; i++) {
        const struct explain_wait *w = &e->waits[i];

        if (w->time_ps == 0)
            continue;
        print_share(w->bounded_by, w->time_ps, w->share);
        printf("    %" PRIu64 " step%s, the longest %s%s%s\n", w->steps, w->steps == 1 ? "" : "s",
               time_text(w->longest_ps, longest), w->longest ? ": " : "",
               w->longest ? w->longest : "");
    }
}

/* ---- schedules -------------------------------------------------------------------------------------------- */

static void print_bound(const char *name, uint64_t ps, const char *text)
{
    char time[32];

    printf("  %-*s %10s  %s\n", NAME_WIDTH, name, time_text(ps, time), text);
}

static void print_measured(const char *name, uint64_t ps, uint64_t serial_ps)
{
    char time[32];

    if (ps == JSON_NO_TIME || serial_ps == JSON_NO_TIME)
        printf("  %-*s %10s\n", NAME_WIDTH, name, time_text(ps, time));
    else
        printf("  %-*s %10s  %.3fx\n", NAME_WIDTH, name, time_text(ps, time),
               share_of(serial_ps, ps));
}

static void print_verdict(const struct explain_bounds *b)
{
    char text[200];

    if (!isfinite(b->speedup) || !isfinite(b->possible_speedup))
        return;
    if (b->speedup < 1)
        snprintf(
            text, sizeof text,
            "parallel-async is slower than serial-sync: its calls cost more than it overlaps.");
    else if (b->parallel_ps < b->least_ps)
        snprintf(
            text, sizeof text,
            "parallel-async is %.3f times as fast, and faster than the longest chain: there each "
            "element has its call, its transfers and the wait for it.",
            b->speedup);
    else if (!isfinite(b->gained) || b->possible_speedup < 1.001)
        snprintf(text, sizeof text, "There is nothing for a schedule to gain.");
    else
        snprintf(
            text, sizeof text,
            "parallel-async is %.3f times as fast as serial-sync, of at most %.3f: it has %.0f %% "
            "of what is to be gained.",
            b->speedup, b->possible_speedup, b->gained * 100);
    cli_paragraph("  ", 2, PAGE_WIDTH, text);
}

static void print_bounds(const struct explain *e)
{
    const struct explain_bounds *b = &e->bounds;
    char work[NAME_WIDTH + 1];

    snprintf(work, sizeof work, "work of the kernels (%s)", b->work_part ? b->work_part : "none");
    heading("What a schedule could gain");
    print_bound("bytes over the link", b->transfer_ps, "its busier direction at full rate");
    print_bound(work, b->work_ps, "the part with most work at full rate");
    print_bound("longest chain", b->dependency_ps, "dependent computations, each as if alone");
    print_bound("the longest of these", b->least_ps, "what no schedule can do much about");
    if (b->serial_no_prefetch_ps != JSON_NO_TIME)
        print_measured("serial-sync, no prefetch", b->serial_no_prefetch_ps, b->serial_ps);
    print_measured("serial-sync", b->serial_ps, b->serial_ps);
    print_measured("parallel-async", b->parallel_ps, b->serial_ps);
    if (e->time_ps != b->parallel_ps && e->time_ps != b->serial_ps &&
        e->time_ps != b->serial_no_prefetch_ps)
        print_measured("this run", e->time_ps, b->serial_ps);
    print_verdict(b);
}

/* ---- faster machines ---------------------------------------------------------------------------------------- */

static void print_gain(const struct explain_run *r)
{
    char time[32];

    if (r->ran)
        printf("  %10s %7.3fx", time_text(r->time_ps, time), r->gain);
    else
        printf("  %10s %8s", *r->error ? "failed" : "not run", "-");
}

static void print_ideal(const struct explain_ideal *i)
{
    printf("  %-*s", NAME_WIDTH - 6, i->resource);
    if (!i->used) {
        printf("  %10s %8s\n", "not used", "");
        return;
    }
    print_gain(&i->twice);
    print_gain(&i->infinite);
    printf("%s\n", i->anomaly ? "  !" : "");
}

static void print_failures(const struct explain_ideal *i)
{
    if (*i->twice.error)
        printf("  %s twice as fast: %s\n", i->resource, i->twice.error);
    if (*i->infinite.error)
        printf("  %s infinitely fast: %s\n", i->resource, i->infinite.error);
}

static void print_conclusion(const struct explain *e)
{
    const struct explain_ideal *first = &e->ideals[0];
    char text[400];

    if (e->nideals == 0 || !first->infinite.ran)
        return;
    if (!(first->infinite.gain >= WORTH_NAMING)) {
        printf("\nNo part alone bounds this run: not one gains 5 %%, however fast it is.\n");
        return;
    }
    snprintf(
        text, sizeof text,
        "Nothing bounds this run more than %s: infinitely fast, the run would be %.3f times as "
        "fast. %s",
        first->resource, first->infinite.gain, first->advice);
    putchar('\n');
    cli_paragraph("", 0, PAGE_WIDTH, text);
}

static void print_ideals(const struct explain *e)
{
    bool anomaly = false;

    heading("What faster parts would gain");
    printf("  %-*s  %19s  %19s\n", NAME_WIDTH - 6, "", "twice as fast", "infinitely fast");
    for (size_t i = 0; i < e->nideals; i++) {
        print_ideal(&e->ideals[i]);
        anomaly |= e->ideals[i].anomaly;
    }
    for (size_t i = 0; i < e->nideals; i++)
        print_failures(&e->ideals[i]);
    if (anomaly)
        cli_paragraph(
            "  ! ", 4, PAGE_WIDTH,
            "A faster part made it slower, or gained less the faster it got: work then falls "
            "into another order. Such gains say little.");
    print_conclusion(e);
}

void explain_print(const struct session *s, const struct cli_args *args)
{
    const struct explain *e = s->explain;

    (void)args;
    print_run(s);
    print_time(e);
    print_waits(e);
    print_uses(e);
    print_bounds(e);
    print_ideals(e);
}
