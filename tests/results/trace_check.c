#include "tests/results/trace_check.h"

#include "host/config/json_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A double of microseconds at 10^4 s is good to 2 ps; half a nanosecond is far from both. */
static const double epsilon = 0.0005;

struct slice {
    int pid, tid;
    double ts, end;
};

struct slices {
    struct slice *at;
    size_t len;
};

static double number(const cJSON *event, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(event, key);

    assert_true(cJSON_IsNumber(item) && isfinite(item->valuedouble));
    return item->valuedouble;
}

static const char *text(const cJSON *event, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(event, key);

    assert_true(cJSON_IsString(item));
    return item->valuestring;
}

static int whole(const cJSON *event, const char *key)
{
    double d = number(event, key);

    assert_true(d == floor(d) && d >= 0 && d < 1e9);
    return (int)d;
}

static const cJSON *events_of(const cJSON *trace)
{
    const cJSON *events = cJSON_GetObjectItemCaseSensitive(trace, "traceEvents");

    assert_true(cJSON_IsArray(events));
    return events;
}

static bool is_phase(const cJSON *event, const char *phase)
{
    return strcmp(text(event, "ph"), phase) == 0;
}

/* ---- slices -------------------------------------------------------------------------------------- */

static struct slices slices_of(const cJSON *trace)
{
    const cJSON *event;
    struct slices out = {calloc((size_t)cJSON_GetArraySize(events_of(trace)) + 1, sizeof *out.at),
                         0};

    assert_non_null(out.at);
    cJSON_ArrayForEach(event, events_of(trace))
    {
        if (is_phase(event, "X")) {
            double ts = number(event, "ts"), dur = number(event, "dur");

            assert_true(dur >= 0);
            assert_true(*text(event, "name") != '\0');
            out.at[out.len++] =
                (struct slice){whole(event, "pid"), whole(event, "tid"), ts, ts + dur};
        }
    }
    return out;
}

static int by_track(const void *a, const void *b)
{
    const struct slice *x = a, *y = b;

    if (x->pid != y->pid)
        return x->pid - y->pid;
    if (x->tid != y->tid)
        return x->tid - y->tid;
    if (x->ts != y->ts)
        return x->ts < y->ts ? -1 : 1;
    return (x->end < y->end) - (x->end > y->end);
}

/* On a track each slice begins after the one before has ended, or ends within it. */
static void check_nesting(const cJSON *trace)
{
    struct slices s = slices_of(trace);
    double ends[64];
    size_t depth = 0, i;

    qsort(s.at, s.len, sizeof *s.at, by_track);
    for (i = 0; i < s.len; i++) {
        if (i > 0 && (s.at[i].pid != s.at[i - 1].pid || s.at[i].tid != s.at[i - 1].tid))
            depth = 0;
        while (depth > 0 && s.at[i].ts >= ends[depth - 1] - epsilon)
            depth--;
        if (depth > 0 && s.at[i].end > ends[depth - 1] + epsilon)
            fail_msg("slices overlap on track %d/%d at %f us", s.at[i].pid, s.at[i].tid, s.at[i].ts);
        assert_true(depth < 64);
        ends[depth++] = s.at[i].end;
    }
    free(s.at);
}

static bool inside_a_slice(const struct slices *s, int pid, int tid, double ts)
{
    size_t i;

    for (i = 0; i < s->len; i++)
        if (s->at[i].pid == pid && s->at[i].tid == tid && ts >= s->at[i].ts - epsilon &&
            ts <= s->at[i].end + epsilon)
            return true;
    return false;
}

/* ---- order, names, arrows ----------------------------------------------------------------------------- */

static void check_order(const cJSON *trace)
{
    const cJSON *event, *before = NULL;

    cJSON_ArrayForEach(event, events_of(trace))
    {
        if (before && !is_phase(event, "M") && !is_phase(before, "M")) {
            if (number(event, "ts") < number(before, "ts"))
                fail_msg("time goes back at %f us", number(event, "ts"));
            if (is_phase(event, "X") && is_phase(before, "X") &&
                number(event, "ts") == number(before, "ts"))
                assert_true(number(event, "dur") <= number(before, "dur"));
        }
        before = event;
    }
}

static bool is_named(const cJSON *trace, const char *what, int pid, int tid)
{
    const cJSON *event;

    cJSON_ArrayForEach(event, events_of(trace))
    {
        if (is_phase(event, "M") && strcmp(text(event, "name"), what) == 0 &&
            whole(event, "pid") == pid && whole(event, "tid") == tid)
            return *text(cJSON_GetObjectItemCaseSensitive(event, "args"), "name") != '\0';
    }
    return false;
}

static void check_names(const cJSON *trace)
{
    const cJSON *event;

    cJSON_ArrayForEach(event, events_of(trace))
    {
        int pid = whole(event, "pid"), tid = whole(event, "tid");

        if (!is_named(trace, "process_name", pid, 0))
            fail_msg("process %d has no name", pid);
        if (is_phase(event, "X") && !is_named(trace, "thread_name", pid, tid))
            fail_msg("track %d/%d has no name", pid, tid);
    }
}

static const cJSON *find_arrow(const cJSON *trace, const char *phase, int id, size_t *n)
{
    const cJSON *event, *found = NULL;

    *n = 0;
    cJSON_ArrayForEach(event, events_of(trace))
    {
        if (is_phase(event, phase) && whole(event, "id") == id) {
            found = event;
            ++*n;
        }
    }
    return found;
}

/* Each arrow has one start and one end, in this order, inside slices, and an id of its own. */
static void check_arrows(const cJSON *trace)
{
    struct slices s = slices_of(trace);
    const cJSON *event;

    assert_int_equal(trace_count(trace, "s"), trace_count(trace, "f"));
    cJSON_ArrayForEach(event, events_of(trace))
    {
        bool start = is_phase(event, "s");
        const cJSON *other;
        size_t n;

        if (!start && !is_phase(event, "f"))
            continue;
        find_arrow(trace, start ? "s" : "f", whole(event, "id"), &n);
        assert_int_equal(n, 1);
        other = find_arrow(trace, start ? "f" : "s", whole(event, "id"), &n);
        assert_int_equal(n, 1);
        assert_string_equal(text(other, "cat"), text(event, "cat"));
        assert_string_equal(text(other, "name"), text(event, "name"));
        if (start)
            assert_true(number(event, "ts") <= number(other, "ts"));
        else
            assert_string_equal(text(event, "bp"), "e");
        assert_true(
            inside_a_slice(&s, whole(event, "pid"), whole(event, "tid"), number(event, "ts")));
    }
    free(s.at);
}

/* ---- the whole ---------------------------------------------------------------------------------------- */

cJSON *trace_check(const char *json)
{
    struct json_text parsed;
    struct hd_error err;
    cJSON *trace;

    if (json_text_parse("trace", json, strlen(json), &parsed, &err) != HD_OK)
        fail_msg("%s: %s", err.place, err.message);
    json_text_free(&parsed);
    trace = cJSON_Parse(json);
    assert_string_equal(text(trace, "displayTimeUnit"), "ns");
    check_order(trace);
    check_nesting(trace);
    check_names(trace);
    check_arrows(trace);
    return trace;
}

struct trace_times trace_find(const cJSON *trace, const char *category, int id)
{
    const cJSON *event;

    cJSON_ArrayForEach(event, events_of(trace))
    {
        if (is_phase(event, "X") && strcmp(text(event, "cat"), category) == 0 &&
            whole(cJSON_GetObjectItemCaseSensitive(event, "args"), "id") == id)
            return (struct trace_times){number(event, "ts"), number(event, "dur"),
                                        whole(event, "pid"), whole(event, "tid")};
    }
    fail_msg("there is no %s %d in the trace", category, id);
    return (struct trace_times){0, 0, 0, 0};
}

size_t trace_count(const cJSON *trace, const char *phase)
{
    const cJSON *event;
    size_t n = 0;

    cJSON_ArrayForEach(event, events_of(trace)) n += is_phase(event, phase);
    return n;
}
