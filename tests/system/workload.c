#include "tests/system/workload.h"

#include "host/lua/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ARGS_MAX = 12, STREAMS_MAX = 256 };

enum hd_status workload_try(struct sys *s, const struct hd_options *options, const char *path,
                            const char *arguments, struct hd_error *err)
{
    char text[ARGS_MAX][64];
    const char *args[ARGS_MAX];
    struct hd_script_options o;
    struct hd_script_info info;
    enum hd_status status;
    int used;

    hd_script_options_default(&o);
    o.path = path;
    o.args = args;
    for (; sscanf(arguments, " %63s%n", text[o.nargs], &used) == 1; arguments += used) {
        args[o.nargs] = text[o.nargs];
        o.nargs++;
        assert_true(o.nargs < ARGS_MAX);
    }
    sys_open(s, options, NULL);
    memset(&info, 0, sizeof info);
    status = hd_script_run(s->rt, &o, &info, err);
    hd_script_info_free(&info);
    return status;
}

void workload_run(struct sys *s, const struct hd_options *options, const char *path,
                  const char *arguments)
{
    struct hd_error err;

    if (workload_try(s, options, path, arguments, &err) != HD_OK)
        fail_msg("%s %s: %s: %s (%s)", path, arguments, err.code, err.message, err.place);
}

bool workload_passed(const struct sys *s)
{
    for (size_t i = 0; i < s->checks.len; i++)
        if (!s->checks.at[i].passed)
            return false;
    return s->checks.len > 0;
}

void workload_require_passed(const struct sys *s, const char *what)
{
    for (size_t i = 0; i < s->checks.len; i++)
        if (!s->checks.at[i].passed)
            fail_msg("%s: check %zu fails: %.17g instead of %.17g", what, i, s->checks.at[i].got,
                     s->checks.at[i].expected);
    if (s->checks.len == 0)
        fail_msg("%s: no checks", what);
}

void workload_check(const char *path, const char *preset, const char *settings,
                    const char *arguments, bool timing)
{
    struct hd_options o = sys_options(preset, settings);
    char what[384];
    struct sys s;

    o.timing = timing;
    snprintf(what, sizeof what, "%s %s, %s %s", path, arguments, preset, settings);
    workload_run(&s, &o, path, arguments);
    workload_require_passed(&s, what);
    if (timing)
        sys_check_conservation(&s);
    sys_close(&s);
}

void workload_check_everywhere(const char *path, const char *const *shapes, unsigned nshapes)
{
    static const char *const presets[] = {"gtx960", "gtx1660s", "p100", "tiny"};
    static const char *const variants[] = {"auto", "events", "graph", "capture"};
    enum { PRESETS = 4, WIDTHS = 4, VARIANTS = sizeof variants / sizeof *variants };

    for (unsigned i = 0; i < PRESETS * WIDTHS * VARIANTS; i++) {
        const unsigned width = i / VARIANTS % WIDTHS;
        const char *variant = variants[i % VARIANTS];
        char settings[128], arguments[128];

        snprintf(settings, sizeof settings,
                 "wavefront_size=%u cu.wavefront_slots=64 host.scheduler=%s", 8U << width,
                 strcmp(variant, "auto") == 0 ? "parallel-async" : "serial-async");
        snprintf(arguments, sizeof arguments, "%s variant=%s const=%s", shapes[i % nshapes],
                 variant, i / (VARIANTS * WIDTHS) % 2 ? "cpp" : "python");
        workload_check(path, presets[i / (VARIANTS * WIDTHS)], settings, arguments, true);
        workload_check(path, presets[i / (VARIANTS * WIDTHS)], settings, arguments, false);
    }
}

/* ---- the schedule ---- */

struct workload_schedule workload_schedule_of(const struct sys *s)
{
    struct workload_schedule out = {.kernels = (unsigned)s->kernels.len};
    bool used[STREAMS_MAX] = {false};

    for (size_t i = 0; i < s->kernels.len; i++) {
        const uint32_t stream = s->kernels.at[i].stream;

        assert_true(stream < STREAMS_MAX);
        out.streams += !used[stream];
        used[stream] = true;
    }
    for (size_t i = 0; i < s->edges.len; i++) {
        const struct hd_kernel_row *from = sys_kernel_of(s, s->edges.at[i].from);
        const struct hd_kernel_row *to = sys_kernel_of(s, s->edges.at[i].to);

        out.edges += from && to;
        out.waits += from && to && from->stream != to->stream;
    }
    return out;
}

const struct hd_kernel_row *workload_kernel(const struct sys *s, unsigned i)
{
    for (size_t k = 0; k < s->kernels.len; k++) {
        unsigned before = 0;

        for (size_t other = 0; other < s->kernels.len; other++)
            before += s->kernels.at[other].node < s->kernels.at[k].node;
        if (before == i)
            return &s->kernels.at[k];
    }
    fail_msg("there is no kernel %u", i);
    return NULL;
}

void workload_require_order(const struct sys *s, const unsigned (*pairs)[2], unsigned npairs)
{
    for (unsigned i = 0; i < npairs; i++) {
        const struct hd_kernel_row *first = workload_kernel(s, pairs[i][0]);
        const struct hd_kernel_row *second = workload_kernel(s, pairs[i][1]);

        if (first->r.end_ps > second->r.start_ps)
            fail_msg("kernel %u starts before kernel %u ends", pairs[i][1], pairs[i][0]);
    }
}

/* ---- mistakes ---- */

static void copy_file(const char *from, const char *to, const char *old, const char *new)
{
    static const size_t max = 32768;
    char *text = malloc(max), *at;
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    size_t len;

    assert_non_null(text);
    assert_non_null(in);
    assert_non_null(out);
    len = fread(text, 1, max - 1, in);
    assert_true(feof(in));
    text[len] = '\0';
    at = old ? strstr(text, old) : NULL;
    if (old && !at)
        fail_msg("%s has no `%s`", from, old);
    fprintf(out, "%.*s%s%s", at ? (int)(at - text) : 0, text, at ? new : "",
            at ? at + strlen(old) : text);
    fclose(in);
    assert_int_equal(fclose(out), 0);
    free(text);
}

void workload_find_mistake(const struct workload_mistake *m)
{
    workload_find_mistake_in("workloads/dag", m);
}

void workload_find_mistake_in(const char *from, const struct workload_mistake *m)
{
    const char *tmp = getenv("TMPDIR");
    char folder[512], lua[576], hasm[576], source[128];
    struct hd_options o = sys_options("tiny", "");
    struct hd_error err;
    enum hd_status status;
    struct sys s;

    o.limits.max_instructions = 3000000; /* a mistake may go round for ever */
    snprintf(folder, sizeof folder, "%s/heddle-workloads-XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(folder));
    snprintf(lua, sizeof lua, "%s/%s.lua", folder, m->program);
    snprintf(hasm, sizeof hasm, "%s/%s.hasm", folder, m->kernels);
    snprintf(source, sizeof source, "%s/%s.lua", from, m->program);
    copy_file(source, lua, NULL, NULL);
    snprintf(source, sizeof source, "%s/%s.hasm", from, m->kernels);
    copy_file(source, hasm, m->old, m->new);
    status = workload_try(&s, &o, lua, m->arguments, &err);
    unlink(lua);
    unlink(hasm);
    assert_int_equal(rmdir(folder), 0);
    if (status == HD_OK && workload_passed(&s))
        fail_msg("%s: `%s` instead of `%s` passes", m->program, m->new, m->old);
    if (status != HD_OK && status != HD_SIM_FAILED)
        fail_msg("%s: %s (%s)", m->new, err.message, err.place);
    sys_close(&s);
}
