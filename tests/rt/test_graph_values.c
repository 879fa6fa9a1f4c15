/*
 * Graphs with copies and random kernels on the real machine, through the C interface: made by hand and by capture, launched again
 * and again on changing streams, they leave the bytes of a plain interpreter, under every scheduler, with time and without.
 */
#include "host/config/config.h"
#include "host/heddle.h"
#include "sim/base/rng.h"
#include "tests/soak.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROGRAMS = 40, ARRAYS = 4, ELEMENTS = 24, KERNELS = 9, STREAMS = 3, LAUNCHES = 3 };

/* c = 3 c + (a ^ b), element by element: the order of kernels shows in the values. */
static const char kernels[] = ".kernel mix\n"
                              ".param a u32[]\n.param b u32[]\n.param c u32[]\n.param n i32\n"
                              "    v_get_u32 v0, %gid\n"
                              "    v_cmp_lt_u32 m0, v0, n\n"
                              "    @m0 global_load_b32 v1, [a + v0*4]\n"
                              "    @m0 global_load_b32 v2, [b + v0*4]\n"
                              "    @m0 global_load_b32 v3, [c + v0*4]\n"
                              "    v_mul_u32 v3, v3, 3\n"
                              "    v_xor_b32 v1, v1, v2\n"
                              "    v_add_u32 v3, v3, v1\n"
                              "    @m0 global_store_b32 [c + v0*4], v3\n"
                              "    s_end\n.endkernel\n";

struct program {
    hd_runtime *rt;
    hd_kernel *mix;
    hd_array *in[ARRAYS], *out[ARRAYS], *device[ARRAYS];
    hd_stream *streams[STREAMS];
    unsigned n, args[KERNELS][3], on[KERNELS];
    uint32_t expected[ARRAYS][ELEMENTS];
};

static char path[128];

static int set_up(void **state)
{
    char dir[64] = "/tmp/heddle-graph-XXXXXX";
    FILE *f;

    (void)state;
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof path, "%s/mix.hasm", dir);
    f = fopen(path, "w");
    if (!f)
        return -1;
    fputs(kernels, f);
    return fclose(f);
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    *strrchr(path, '/') = '\0';
    return rmdir(path);
}

static void must(enum hd_status status, const struct hd_error *err)
{
    if (status != HD_OK)
        fail_msg("%s", err->message);
}

/* ---- programs ------------------------------------------------------------------------------------- */

static void open_program(struct program *p, struct rng *rng)
{
    static const char *const schedulers[] = {"serial-sync", "serial-async", "parallel-async"};
    char setting[64];
    struct hd_options o;
    struct hd_error err;
    hd_module *m;

    memset(p, 0, sizeof *p);
    hd_options_default(&o);
    must(hd_config_load("tiny", &o, &err), &err);
    snprintf(setting, sizeof setting, "host.scheduler=%s", schedulers[rng_below(rng, 3)]);
    must(hd_config_set(&o, setting, &err), &err);
    must(hd_config_set(&o, rng_below(rng, 2) ? "um.page_faults=on" : "um.page_faults=off", &err),
         &err);
    o.timing = rng_below(rng, 4) > 0;
    must(hd_runtime_new(&o, &p->rt, &err), &err);
    must(hd_module_load(p->rt, path, &m, &err), &err);
    must(hd_kernel_get(p->rt, m, "mix", "a: in u32[], b: in u32[], c: inout u32[], n: i32", &p->mix,
                       &err),
         &err);
    for (unsigned i = 0; i < ARRAYS; i++) {
        must(hd_array_new(p->rt, T_U32, ELEMENTS, NULL, &p->in[i], &err), &err);
        must(hd_array_new(p->rt, T_U32, ELEMENTS, NULL, &p->out[i], &err), &err);
        must(hd_array_new_device(p->rt, T_U32, ELEMENTS, NULL, &p->device[i], &err), &err);
    }
    for (unsigned i = 0; i < STREAMS; i++)
        must(hd_stream_new(p->rt, &p->streams[i], &err), &err);
    p->n = 1 + (unsigned)rng_below(rng, KERNELS);
    for (unsigned k = 0; k < p->n; k++) {
        for (unsigned i = 0; i < 3; i++)
            p->args[k][i] = (unsigned)rng_below(rng, ARRAYS);
        p->on[k] = (unsigned)rng_below(rng, STREAMS);
    }
}

static void write_inputs(struct program *p, struct rng *rng)
{
    struct hd_error err;

    for (unsigned i = 0; i < ARRAYS; i++) {
        void *data;

        must(hd_array_access(p->rt, p->in[i], 0, ELEMENTS, HD_OVERWRITE, &data, &err), &err);
        for (unsigned e = 0; e < ELEMENTS; e++)
            ((uint32_t *)data)[e] = p->expected[i][e] = (uint32_t)rng_next(rng);
    }
    for (unsigned k = 0; k < p->n; k++) {
        const uint32_t *a = p->expected[p->args[k][0]], *b = p->expected[p->args[k][1]];
        uint32_t *c = p->expected[p->args[k][2]];

        for (unsigned e = 0; e < ELEMENTS; e++)
            c[e] = 3 * c[e] + (a[e] ^ b[e]);
    }
}

static void check_outputs(const struct program *p, uint64_t seed)
{
    struct hd_error err;
    void *data;

    for (unsigned i = 0; i < ARRAYS; i++) {
        must(hd_array_access(p->rt, p->out[i], 0, ELEMENTS, HD_READ, &data, &err), &err);
        if (memcmp(data, p->expected[i], sizeof p->expected[i]) != 0)
            fail_msg("seed %" PRIu64 ": array %u differs", seed, i);
    }
}

static bool conflict(const unsigned *x, const unsigned *y)
{
    return x[2] == y[0] || x[2] == y[1] || x[2] == y[2] || y[2] == x[0] || y[2] == x[1];
}

static struct hd_launch launch_of(const struct program *p, unsigned k, struct hd_arg args[4])
{
    for (unsigned i = 0; i < 3; i++)
        args[i] = (struct hd_arg){HD_ARG_ARRAY, {.array = p->device[p->args[k][i]]}};
    args[3] = (struct hd_arg){HD_ARG_INT, {.i = ELEMENTS}};
    return (struct hd_launch){
        .kernel = p->mix, .grid = {2, 0, 0}, .block = {16, 0, 0}, .args = args, .nargs = 4};
}

static struct hd_copy copy_of(const struct program *p, unsigned i, bool up)
{
    return (struct hd_copy){.to = up ? p->device[i] : p->out[i],
                            .from = up ? p->in[i] : p->device[i],
                            .count = ELEMENTS};
}

/* ---- the two ways --------------------------------------------------------------------------------- */

/* Kernels wait for the copies of their arrays and for conflicting kernels; copies down for the kernels of their array. */
static hd_graph *by_hand(const struct program *p)
{
    uint32_t up[ARRAYS], nodes[KERNELS], deps[ARRAYS + KERNELS];
    struct hd_arg args[4];
    struct hd_error err;
    hd_graph *g;

    must(hd_graph_new(p->rt, &g, &err), &err);
    for (unsigned i = 0; i < ARRAYS; i++) {
        const struct hd_copy copy = copy_of(p, i, true);

        must(hd_graph_copy(p->rt, g, &copy, NULL, 0, &up[i], &err), &err);
    }
    for (unsigned k = 0; k < p->n; k++) {
        const struct hd_launch l = launch_of(p, k, args);
        size_t n = 0;

        for (unsigned i = 0; i < 3; i++)
            deps[n++] = up[p->args[k][i]];
        for (unsigned j = 0; j < k; j++) {
            if (conflict(p->args[j], p->args[k]))
                deps[n++] = nodes[j];
        }
        must(hd_graph_kernel(p->rt, g, &l, deps, n, &nodes[k], &err), &err);
    }
    for (unsigned i = 0; i < ARRAYS; i++) {
        const struct hd_copy copy = copy_of(p, i, false);
        size_t n = 0;

        deps[n++] = up[i];
        for (unsigned k = 0; k < p->n; k++) {
            if (p->args[k][2] == i)
                deps[n++] = nodes[k];
        }
        must(hd_graph_copy(p->rt, g, &copy, deps, n, NULL, &err), &err);
    }
    return g;
}

static hd_event *record(const struct program *p, hd_stream *s)
{
    struct hd_error err;
    hd_event *e;

    must(hd_event_record(p->rt, s, &e, &err), &err);
    return e;
}

static hd_graph *by_capture(const struct program *p)
{
    struct hd_event *done[KERNELS], *copied;
    struct hd_arg args[4];
    struct hd_error err;
    hd_graph *g;

    must(hd_capture_begin(p->rt, p->streams[0], &err), &err);
    for (unsigned i = 0; i < ARRAYS; i++) {
        struct hd_copy copy = copy_of(p, i, true);

        copy.stream = p->streams[0];
        must(hd_copy(p->rt, &copy, &err), &err);
    }
    copied = record(p, p->streams[0]);
    for (unsigned k = 0; k < p->n; k++) {
        struct hd_launch l = launch_of(p, k, args);

        l.stream = p->streams[p->on[k]];
        must(hd_event_wait(p->rt, l.stream, copied, &err), &err);
        for (unsigned j = 0; j < k; j++) {
            if (conflict(p->args[j], p->args[k]))
                must(hd_event_wait(p->rt, l.stream, done[j], &err), &err);
        }
        must(hd_launch_kernel(p->rt, &l, &err), &err);
        done[k] = record(p, l.stream);
    }
    for (unsigned k = 0; k < p->n; k++)
        must(hd_event_wait(p->rt, p->streams[0], done[k], &err), &err);
    for (unsigned i = 0; i < ARRAYS; i++) {
        struct hd_copy copy = copy_of(p, i, false);

        copy.stream = p->streams[0];
        must(hd_copy(p->rt, &copy, &err), &err);
    }
    must(hd_capture_end(p->rt, &g, &err), &err);
    return g;
}

static void random_program(uint64_t seed)
{
    struct program p;
    struct rng rng;
    hd_graph_exec *x[2];
    struct hd_error err;

    rng_seed(&rng, seed);
    open_program(&p, &rng);
    must(hd_graph_instantiate(p.rt, by_hand(&p), &x[0], &err), &err);
    must(hd_graph_instantiate(p.rt, by_capture(&p), &x[1], &err), &err);
    for (unsigned i = 0; i < LAUNCHES; i++) {
        for (unsigned way = 0; way < 2; way++) {
            write_inputs(&p, &rng);
            must(hd_graph_launch(p.rt, x[way], p.streams[rng_below(&rng, STREAMS)], &err), &err);
            check_outputs(&p, seed);
        }
    }
    must(hd_finish(p.rt, &err), &err);
    hd_runtime_free(p.rt);
}

static void test_random_graphs_with_copies(void **state)
{
    const uint64_t first = test_seed(1);

    (void)state;
    for (uint64_t i = 0; i < test_count(PROGRAMS); i++)
        random_program(first + i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_graphs_with_copies)};

    return cmocka_run_group_tests_name("graph values", tests, set_up, tear_down);
}
