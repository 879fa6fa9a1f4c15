#include "host/cli/session.h"

#include "host/config/config.h"
#include "host/lua/script.h"
#include "host/rt/policies.h"
#include "sim/link.h"
#include "sim/time.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- options ------------------------------------------------------------------------------------ */

static const char *after(const char *text, const char *prefix)
{
    size_t len = strlen(prefix);

    return strncmp(text, prefix, len) == 0 ? text + len : NULL;
}

/* The configuration that the changes name last, or the command line, or the default. */
static const char *config_of(const struct cli_args *args, const struct session_changes *changes)
{
    const char *name = args->config ? args->config : CONFIG_DEFAULT;
    size_t i;

    for (i = 0; i < changes->len; i++)
        if (after(changes->at[i], "config="))
            name = after(changes->at[i], "config=");
    return name;
}

static enum hd_status apply_changes(const struct session_changes *changes, struct hd_options *out,
                                    struct hd_error *err)
{
    enum hd_status status = HD_OK;
    size_t i;

    for (i = 0; i < changes->len && status == HD_OK; i++)
        if (!after(changes->at[i], "config=") && !after(changes->at[i], "arg."))
            status = hd_config_set(out, changes->at[i], err);
    return status;
}

/* Limits count cycles; the machine is told a time. */
static uint64_t time_limit(const struct cli_args *args, const struct sim_config *gpu)
{
    struct clock_domain core = clock_make(gpu->core_hz);

    return args->max_cycles ? clock_edge(&core, args->max_cycles) : 0;
}

/* A script's arrays must not take all memory of this machine. 0, no limit, where its size is not known. */
static uint64_t array_limit(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);

    return pages > 0 && bytes > 0 ? (uint64_t)pages / 4 * 3 * (uint64_t)bytes : 0;
}

static enum hd_status check_config(const char *name, const struct sim_config *gpu,
                                   struct hd_error *err)
{
    enum hd_status status = sim_config_check(gpu, err);

    if (status != HD_OK && !*err->place)
        snprintf(err->place, sizeof err->place, "%s", name);
    return status;
}

enum hd_status session_options(const struct cli_args *args, const struct session_changes *changes,
                               struct hd_options *out, char **config_name, struct hd_error *err)
{
    const char *name = config_of(args, changes);
    enum hd_status status;
    size_t i;

    hd_options_default(out);
    *config_name = strdup(name);
    if (!*config_name)
        return hd_no_memory(err, "the configuration");
    status = hd_config_load(name, out, err);
    for (i = 0; i < args->set.len && status == HD_OK; i++)
        status = hd_config_set(out, args->set.at[i], err);
    if (status == HD_OK)
        status = apply_changes(changes, out, err);
    if (status == HD_OK)
        status = check_config(name, &out->gpu, err);
    out->timing = args->timing == CLI_TIMING_ON;
    out->seed = args->seed;
    out->lanes = (enum isa_build)args->lanes;
    out->limits.max_instructions = args->max_instr;
    out->limits.max_array_bytes = array_limit();
    out->limits.check_tm = args->check == CLI_CHECK_TM;
    out->limits.no_run_ahead = args->detail == RECORD_FULL;
    out->limits.max_time_ps = time_limit(args, &out->gpu);
    return status;
}

/* ---- the program ------------------------------------------------------------------------------------ */

static void print_line(void *user, const char *line)
{
    FILE *to = user;

    if (to)
        fprintf(to, "%s\n", line);
}

/* --arg, then what the changes say of arguments. *list is the caller's. */
static enum hd_status join_args(const struct cli_args *args, const struct session_changes *changes,
                                struct cli_list *list, struct hd_error *err)
{
    size_t i, len;
    bool ok = true;

    for (i = 0; i < args->arg.len && ok; i++) {
        const char *given = args->arg.at[i];
        bool replaced = false;
        size_t c;

        len = strcspn(given, "=") + 1;
        for (c = 0; c < changes->len; c++) {
            const char *change = after(changes->at[c], "arg.");

            replaced |= change && strncmp(change, given, len) == 0;
        }
        ok = replaced || vec_push(list, given);
    }
    for (i = 0; i < changes->len && ok; i++)
        if (after(changes->at[i], "arg."))
            ok = vec_push(list, after(changes->at[i], "arg."));
    return ok ? HD_OK : hd_no_memory(err, "the arguments");
}

static void write_arg(struct json_writer *w, const struct hd_script_arg *a)
{
    switch (a->value.kind) {
    case HD_SCRIPT_INT:
        json_i64(w, a->name, a->value.i);
        break;
    case HD_SCRIPT_FLOAT:
        json_f64(w, a->name, a->value.f);
        break;
    case HD_SCRIPT_STRING:
        json_text(w, a->name, a->value.s);
        break;
    case HD_SCRIPT_BOOL:
        json_bool(w, a->name, a->value.i != 0);
        break;
    }
}

static void add_asked(struct session *s, const struct hd_script_arg *a)
{
    struct text t = {0};
    char number[40];

    text_add(&t, "arg.%s=", a->name);
    if (a->value.kind == HD_SCRIPT_FLOAT)
        json_format_double(number, sizeof number, a->value.f);
    else
        snprintf(number, sizeof number, "%" PRId64, a->value.i);
    if (a->value.kind == HD_SCRIPT_BOOL)
        text_add(&t, "%s", a->value.i ? "true" : "false");
    else
        text_add(&t, "%s", a->value.kind == HD_SCRIPT_STRING ? a->value.s : number);
    if (t.failed || !vec_push(&s->asked, t.at))
        text_free(&t);
}

/* A container of its own on one line, without the newline at its end. */
static void start_inline(struct json_writer *w, struct text *out)
{
    json_start(w, json_to_text(out), JSON_COMPACT);
}

static void end_inline(struct json_writer *w, struct text *out)
{
    json_finish(w);
    if (out->len && out->at[out->len - 1] == '\n')
        out->at[--out->len] = '\0';
}

static void keep_texts(struct session *s, const struct hd_script_info *info)
{
    struct json_writer w;
    size_t i;

    start_inline(&w, &s->args_json);
    json_object(&w, NULL);
    for (i = 0; i < info->args.len; i++)
        write_arg(&w, &info->args.at[i]);
    for (i = 0; i < info->args.len; i++)
        add_asked(s, &info->args.at[i]);
    json_end(&w);
    end_inline(&w, &s->args_json);
    start_inline(&w, &s->config_json);
    hd_config_write(&w, NULL, &s->options);
    end_inline(&w, &s->config_json);
}

static uint32_t limited_u32(uint64_t value)
{
    return value < HD_SCRIPT_UNSET ? (uint32_t)value : HD_SCRIPT_UNSET;
}

static enum hd_status run_script(hd_runtime *rt, const struct cli_args *args,
                                 const struct cli_list *list, FILE *prints,
                                 struct hd_script_info *info, struct hd_error *err)
{
    struct hd_script_options o;

    hd_script_options_default(&o);
    o.path = args->words.at[0];
    o.args = list->at;
    o.nargs = list->len;
    o.data = args->data.at;
    o.ndata = args->data.len;
    o.allow_io = args->allow_io;
    o.iterations = limited_u32(args->iterations);
    o.warmup = limited_u32(args->warmup);
    o.seed = args->seed;
    o.print = print_line;
    o.user = prints;
    return hd_script_run(rt, &o, info, err);
}

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t peak_rss(void)
{
    struct rusage usage;

    if (getrusage(RUSAGE_SELF, &usage) != 0 || usage.ru_maxrss < 0)
        return 0;
    return (uint64_t)usage.ru_maxrss * 1024; /* Linux counts KiB */
}

static void keep_simulator(struct session *s, hd_runtime *rt, double started)
{
    struct result_simulator *sim = &s->run.simulator;
    struct sim_counters totals;

    sim_totals(hd_machine(rt), &totals);
    sim->version = HD_VERSION;
    sim->lanes = isa_lanes_get(s->options.gpu.wavefront_size, s->options.lanes)->build;
    sim->wall_s = seconds_now() - started;
    sim->wave_instr = totals.wave_instr;
    sim->wave_instr_per_s = sim->wall_s > 0 ? (double)totals.wave_instr / sim->wall_s : NAN;
    hd_schedule_work(rt, &sim->scheduled, &sim->schedule_s);
    sim->peak_rss_bytes = peak_rss();
}

static void keep_run(struct session *s, const struct cli_args *args, hd_runtime *rt,
                     enum hd_status status)
{
    s->run.workload = args->words.at[0];
    s->run.args_json = text_str(&s->args_json);
    s->run.config_name = s->config_name;
    s->run.config_json = text_str(&s->config_json);
    s->run.seed = args->seed;
    s->run.timing = s->options.timing;
    s->run.unsafe = args->allow_io;
    s->run.host_time_ps = hd_host_time(rt);
    s->run.array_bytes = hd_array_bytes(rt);
    s->run.status = status;
    s->run.rules.one_engine = link_engines(&s->options.gpu) == 1;
    s->run.rules.launch_latency_ps = s->options.gpu.launch_latency * PS_PER_NS;
    if (status != HD_OK) {
        text_add(&s->dump, "%s", sim_fault_dump(hd_machine(rt)));
        s->run.error = (struct result_error){s->error.code, s->error.place, s->error.message,
                                             s->error.hint, s->dump.len ? s->dump.at : NULL};
    }
}

/* What is wrong with the input leaves no result; what happened in the simulation does. */
static bool leaves_result(enum hd_status status)
{
    return status != HD_BAD_INPUT && status != HD_USAGE;
}

/* The probe is the profile's or the trace's: no verb has both. */
static void watch(struct session *s, hd_runtime *rt)
{
    struct hd_probe probe = {0};

    if (s->inst)
        probe = inst_trace_probe(s->inst);
    if (s->profile)
        probe = profile_probe(s->profile);
    s->record->profile = s->profile;
    if (probe.fn)
        sim_set_probe(hd_machine(rt), &probe);
}

static enum hd_status run_on(struct session *s, hd_runtime *rt, const struct cli_args *args,
                             const struct cli_list *list, FILE *prints, struct hd_error *err)
{
    struct hd_recorder recorder;
    struct hd_script_info info;
    double started = seconds_now();
    enum hd_status status;

    memset(&info, 0, sizeof info);
    record_recorder(s->record, rt, &recorder);
    s->record->print = print_line;
    s->record->print_user = prints;
    hd_set_recorder(rt, &recorder);
    watch(s, rt);
    status = run_script(rt, args, list, prints, &info, &s->error);
    if (s->inst)
        inst_trace_end(s->inst);
    keep_texts(s, &info);
    text_add(&s->traceback, "%s", text_str(&info.traceback));
    hd_script_info_free(&info);
    if (!leaves_result(status)) {
        *err = s->error;
        return status;
    }
    if (s->profile && profile_close(s->profile, err) != HD_OK)
        return HD_BAD_INPUT;
    keep_run(s, args, rt, status);
    keep_simulator(s, rt, started);
    return record_close(s->record, s->run.host_time_ps, err);
}

enum hd_status session_run(struct session *s, const struct cli_args *args,
                           const struct session_changes *changes, const volatile int *stop,
                           FILE *prints, struct hd_error *err)
{
    struct cli_list list = {0};
    hd_runtime *rt = NULL;
    enum hd_status status;

    memset(s, 0, sizeof *s);
    status = session_options(args, changes, &s->options, &s->config_name, err);
    s->options.limits.stop = stop;
    if (status == HD_OK)
        status = join_args(args, changes, &list, err);
    if (status == HD_OK)
        status = inst_trace_new(args, &s->options.gpu, prints, &s->inst, err);
    if (status == HD_OK)
        status = hd_runtime_new(&s->options, &rt, err);
    if (status == HD_OK) {
        s->record = record_new((enum record_detail)args->detail, &s->options.gpu);
        s->profile = args->profile ? profile_new(&s->options.gpu) : NULL;
        status = s->record && (s->profile || !args->profile)
                     ? run_on(s, rt, args, &list, prints, err)
                     : hd_no_memory(err, "the results");
        hd_runtime_free(rt);
    }
    vec_free(&list);
    if (status == HD_OK)
        status = result_build(&s->result, s->record, &s->run, err);
    return status;
}

enum hd_status session_status(const struct session *s)
{
    if (s->run.status != HD_OK)
        return s->run.status;
    return s->result.checks_failed ? HD_CHECK_FAILED : HD_OK;
}

static void complain_check(const struct hd_check *c)
{
    if (!c->passed)
        fprintf(stderr, "heddle: check \"%s\" failed: got %.17g, expected %.17g within %g\n",
                c->name, c->got, c->expected, c->tolerance);
}

void session_traceback(const struct session *s)
{
    if (s->traceback.len)
        fprintf(stderr, "%s\n", text_str(&s->traceback));
}

void session_complain(const struct session *s)
{
    struct spool_reader in;
    struct hd_check check;
    size_t len;

    if (s->run.status != HD_OK) {
        cli_fail(&s->error);
        session_traceback(s);
        if (s->dump.len)
            fprintf(stderr, "%s\n", s->dump.at);
    }
    if (!s->result.checks_failed)
        return;
    fflush(stdout);
    in = spool_read(&s->record->checks, 0, spool_tell(&s->record->checks));
    while (spool_next(&in, &check, sizeof check, &len))
        complain_check(&check);
}

void session_free(struct session *s)
{
    if (s->record) {
        result_free(&s->result);
        record_free(s->record);
    }
    profile_free(s->profile);
    inst_trace_free(s->inst);
    for (size_t i = 0; i < s->asked.len; i++)
        free(s->asked.at[i]);
    vec_free(&s->asked);
    free(s->explain);
    text_free(&s->args_json);
    text_free(&s->config_json);
    text_free(&s->dump);
    text_free(&s->traceback);
    free(s->config_name);
    memset(s, 0, sizeof *s);
}
