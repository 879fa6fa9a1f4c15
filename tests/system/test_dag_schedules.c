/*
 * The schedules of the published benchmarks as their programs run, in full: the stream of each kernel, numbered as they are first used,
 * and the edges, "0-2" from the first to the third kernel. They were worked out by hand from the rules in host/rt/README.md.
 */
#include "sim/base/text.h"
#include "tests/system/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { KERNELS_MAX = 32 };

static const struct expected {
    const char *path, *arguments, *streams, *edges;
} rows[] = {
    {"workloads/dag/vec.lua", "n=1000", "1 2 1", "0-2 1-2"},
    {"workloads/dag/bs.lua", "n=200 blocks=2", "1 2 3 4 5 6 7 8 9 10", ""},
    {"workloads/dag/img.lua", "n=16 blocks=2 verify=false empty_resets=false",
     "1 2 3 1 2 2 4 2 3 2 1", "0-3 1-4 4-5 4-6 5-7 6-7 0-8 1-8 2-8 7-9 8-9 3-10 9-10"},
    {"workloads/dag/img.lua", "n=16 blocks=2 verify=false empty_resets=false const=cpp",
     "1 2 3 1 2 2 4 2 3 2 1", "0-3 1-4 4-5 4-6 5-7 6-7 2-8 7-9 8-9 3-10 9-10"},
    {"workloads/dag/img.lua", "n=16 blocks=2 verify=false", "1 1 2 3 4 2 3 3 5 3 4 3 1",
     "0-1 2-5 3-6 6-7 6-8 7-9 8-9 2-10 3-10 4-10 9-11 10-11 1-12 5-12 11-12"},
    {"workloads/dag/ml.lua", "n=16 blocks=2 verify=false", "1 2 1 2 2 1 2 2 1 2",
     "0-2 1-3 3-4 2-5 4-6 6-7 5-8 7-9 8-9"},
    {"workloads/dag/hits.lua", "n=200 block=32 blocks=2",
     "1 2 1 2 1 2 3 4 3 4 3 4 5 6 5 6 5 6 7 8 7 8 7 8 9 10 9 10 9 10",
     "0-2 1-3 1-4 2-4 0-5 3-5 6-8 7-9 7-10 8-10 6-11 9-11 12-14 13-15 13-16 14-16 12-17 15-17 "
     "18-20 19-21 19-22 20-22 18-23 21-23 24-26 25-27 25-28 26-28 24-29 27-29"},
    {"workloads/dag/dl.lua", "n=60 blocks=4 verify=false", "1 2 1 2 1 2 1 1",
     "0-2 1-3 2-4 3-5 4-6 5-6 6-7"},
};

/* Numbers streams from 1 in the order of their first kernels. */
static void describe_streams(const struct sys *s, struct text *out)
{
    uint32_t streams[KERNELS_MAX];
    unsigned n = 0;

    for (unsigned i = 0; i < s->kernels.len; i++) {
        const uint32_t stream = workload_kernel(s, i)->stream;
        unsigned k = 0;

        while (k < n && streams[k] != stream)
            k++;
        streams[k] = stream;
        n = k == n ? n + 1 : n;
        text_add(out, "%s%u", out->len ? " " : "", k + 1);
    }
}

/* -1: the node is no kernel. */
static int number_of(const struct sys *s, uint64_t node)
{
    for (unsigned i = 0; i < s->kernels.len; i++) {
        if (workload_kernel(s, i)->node == node)
            return (int)i;
    }
    return -1;
}

static void describe_edges(const struct sys *s, struct text *out)
{
    for (size_t i = 0; i < s->edges.len; i++) {
        const int from = number_of(s, s->edges.at[i].from), to = number_of(s, s->edges.at[i].to);

        if (from >= 0 && to >= 0)
            text_add(out, "%s%d-%d", out->len ? " " : "", from, to);
    }
}

static void test_published_schedules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hd_options o = sys_options("p100", "");
        struct text streams = {0}, edges = {0};
        struct sys s;

        workload_run(&s, &o, rows[i].path, rows[i].arguments);
        assert_true(s.kernels.len <= KERNELS_MAX);
        describe_streams(&s, &streams);
        describe_edges(&s, &edges);
        if (strcmp(text_str(&streams), rows[i].streams) != 0 ||
            strcmp(text_str(&edges), rows[i].edges) != 0)
            fail_msg("%s %s:\n  streams %s\n  edges   %s", rows[i].path, rows[i].arguments,
                     text_str(&streams), text_str(&edges));
        text_free(&streams);
        text_free(&edges);
        sys_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_schedules),
    };

    return cmocka_run_group_tests_name("dag_schedules", tests, NULL, NULL);
}
