/* heddle run: one run of a program, its result and its trace. */
#include "host/cli/session.h"

#include "host/config/config.h"
#include "host/results/outfile.h"

#include <inttypes.h>
#include <string.h>

static const char *scheduler_name(const struct session *s)
{
    return hd_config_param("host.scheduler")->choices[s->options.host.scheduler].name;
}

static void print_times(const struct session *s)
{
    const struct result *r = &s->result;
    char time[32], device[32];

    cli_format_time(r->chosen.time_ps, time, sizeof time);
    cli_format_time(r->chosen.device_time_ps, device, sizeof device);
    printf("  time       %s", time);
    if (r->chosen.name)
        printf(", the lower median of region %s", r->chosen.name);
    printf(
        "\n  device     %s from the first kernel or transfer scheduled to the last one finished\n",
        device);
}

static void print_work(const struct metrics *m)
{
    char kernels[32], link[32], h2d[32], d2h[32];

    cli_format_time(m->busy.kernel_ps, kernels, sizeof kernels);
    cli_format_time(m->busy.link_ps, link, sizeof link);
    cli_format_bytes(m->h2d_bytes, h2d, sizeof h2d);
    cli_format_bytes(m->d2h_bytes, d2h, sizeof d2h);
    printf("  kernels    %" PRIu64 ", busy for %s\n", m->kernels, kernels);
    printf("  transfers  %" PRIu64 ", busy for %s: %s to the device, %s to the host\n",
           m->transfers, link, h2d, d2h);
}

static void print_overlap(const struct overlap *o)
{
    char ct[16], tc[16], cc[16], tot[16];

    cli_format_percent(o->ct, ct, sizeof ct);
    cli_format_percent(o->tc, tc, sizeof tc);
    cli_format_percent(o->cc, cc, sizeof cc);
    cli_format_percent(o->tot, tot, sizeof tot);
    printf("  overlap    kernels beside transfers %s, transfers beside kernels %s,\n"
           "             kernels beside kernels %s, any beside any %s\n",
           ct, tc, cc, tot);
}

static void print_summary(const struct session *s, const struct cli_args *args)
{
    const struct result *r = &s->result;

    printf("%s on %s, %s: %s\n", r->workload, r->config_name, scheduler_name(s),
           result_status_names[r->status]);
    if (r->timing)
        print_times(s);
    print_work(&r->chosen.metrics);
    if (r->timing)
        print_overlap(&r->chosen.overlap);
    printf("  checks     %" PRIu64 " passed, %" PRIu64 " failed\n", r->checks_passed,
           r->checks_failed);
    printf("  simulated  %" PRIu64 " wavefront instructions in %.2f s\n", r->simulator.wave_instr,
           r->simulator.wall_s);
    if (args->verbose)
        printf("  scheduled  %" PRIu64 " launches, copies and host accesses in %.6f s\n",
               r->simulator.scheduled, r->simulator.schedule_s);
}

int cli_run(const struct cli_args *args)
{
    return session_main(args, NULL, print_summary);
}
