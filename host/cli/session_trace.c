/* --trace and its window. */
#include "host/cli/session.h"

#include "host/results/outfile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Microseconds, or `missing` for no text at all. */
static bool window_side(const char *text, size_t len, uint64_t missing, uint64_t *ps)
{
    char number[40], *end;
    double us;

    *ps = missing;
    if (len == 0)
        return true;
    if (len >= sizeof number)
        return false;
    memcpy(number, text, len);
    number[len] = '\0';
    us = strtod(number, &end);
    if (*end || !isfinite(us) || us < 0 || us > 1e12)
        return false;
    *ps = (uint64_t)llround(us * 1e6);
    return true;
}

static enum hd_status trace_options_of(const struct cli_args *args, struct trace_options *out,
                                       struct hd_error *err)
{
    const char *window = args->trace_window, *colon = window ? strchr(window, ':') : NULL;

    *out = (struct trace_options){0, UINT64_MAX, args->trace_cap};
    if (!window)
        return HD_OK;
    if (!colon || !window_side(window, (size_t)(colon - window), 0, &out->from_ps) ||
        !window_side(colon + 1, strlen(colon + 1), UINT64_MAX, &out->to_ps) ||
        out->from_ps >= out->to_ps)
        return hd_error_set(err, HD_USAGE, "usage", NULL,
                            "write --trace-window 100:250 (microseconds)",
                            "--trace-window \"%s\" is no window", window);
    return HD_OK;
}

enum hd_status session_check_args(const struct cli_args *args, struct hd_error *err)
{
    struct trace_options options;

    if ((args->iterations != UINT64_MAX &&
         (args->iterations == 0 || args->iterations > CLI_ITERATIONS_MAX)) ||
        (args->warmup != UINT64_MAX && args->warmup > CLI_ITERATIONS_MAX))
        return hd_error_set(err, HD_USAGE, "usage", NULL, NULL,
                            "--iterations must be from 1 to %d, and --warmup at most %d",
                            CLI_ITERATIONS_MAX, CLI_ITERATIONS_MAX);
    if (session_check_outputs(args, err) != HD_OK || inst_trace_check(args, err) != HD_OK)
        return HD_USAGE;
    return trace_options_of(args, &options, err);
}

static void warn_cuts(const char *path, const struct trace_cuts *cuts)
{
    if (cuts->past_cap)
        cli_warn("%s: %" PRIu64 " slices are past --trace-cap and left out", path, cuts->past_cap);
}

enum hd_status session_trace(struct session *s, const struct cli_args *args, struct hd_error *err)
{
    struct trace_options options;
    struct trace_cuts cuts;
    struct json_writer w;
    struct out_file out;
    enum hd_status status;

    if (!args->trace)
        return HD_OK;
    status = trace_options_of(args, &options, err);
    if (status == HD_OK)
        status = out_open(&out, args->trace, err);
    if (status != HD_OK)
        return status;
    json_start(&w, out_json(&out), JSON_PRETTY);
    if (!trace_record(&w, s->record, &options, &cuts)) {
        out_abandon(&out);
        return hd_no_memory(err, "the trace");
    }
    json_finish(&w);
    warn_cuts(args->trace, &cuts);
    return out_commit(&out, err);
}
