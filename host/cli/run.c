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

    (void)args;
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
}

static enum hd_status write_result(struct session *s, const char *path, struct hd_error *err)
{
    struct json_writer w;
    struct out_file out;
    enum hd_status status = out_open(&out, path, err);

    if (status != HD_OK)
        return status;
    json_start(&w, out_json(&out), JSON_PRETTY);
    result_write(&w, &s->result);
    json_finish(&w);
    if (record_broken(s->record, err) != HD_OK) {
        out_abandon(&out);
        return HD_BAD_INPUT;
    }
    return out_commit(&out, err);
}

static enum hd_status write_files(struct session *s, const struct cli_args *args,
                                  struct hd_error *err)
{
    enum hd_status status = args->out ? write_result(s, args->out, err) : HD_OK;

    return status == HD_OK ? session_trace(s, args, err) : status;
}

static enum hd_status check_args(const struct cli_args *args, struct hd_error *err)
{
    enum hd_status status = session_check_args(args, err);

    if (status == HD_OK)
        status = out_probe(args->out, err);
    if (status == HD_OK)
        status = out_probe(args->trace_inst_out, err);
    return status == HD_OK ? out_probe(args->trace, err) : status;
}

int session_main(const struct cli_args *args,
                 void (*summary)(const struct session *s, const struct cli_args *args))
{
    const struct session_changes none = {NULL, 0};
    bool to_stdout = (args->out && strcmp(args->out, "-") == 0) ||
                     (args->trace && strcmp(args->trace, "-") == 0);
    struct hd_error err;
    struct session s;
    enum hd_status status;

    hd_error_clear(&err);
    if (check_args(args, &err) != HD_OK)
        return cli_fail(&err);
    status = session_run(&s, args, &none, cli_stop_flag(args->max_time),
                         to_stdout ? stderr : stdout, &err);
    cli_stop_heeded();
    if (status == HD_OK)
        status = write_files(&s, args, &err);
    if (status != HD_OK) {
        cli_fail(&err);
        session_traceback(&s);
        session_free(&s);
        return (int)status;
    }
    if (!args->quiet && !to_stdout)
        summary(&s, args);
    session_complain(&s);
    status = session_status(&s);
    if (s.inst && inst_trace_commit(s.inst, &err) != HD_OK)
        status = status == HD_OK ? (enum hd_status)cli_fail(&err) : status;
    session_free(&s);
    return cli_end((int)status);
}

int cli_run(const struct cli_args *args)
{
    return session_main(args, print_summary);
}
