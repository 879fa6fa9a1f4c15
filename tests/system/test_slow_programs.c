/*
 * Random host programs. Under every scheduler and dependency policy, and whatever else is
 * configured, a program leaves the words that plain loops leave, its computations are ordered where
 * they conflict, and it moves the bytes that must move.
 */
#include "tests/soak.h"
#include "tests/system/pages.h"
#include "tests/system/sys.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* ---- running a program ---- */

enum { MAX_NODES = PROGRAM_STMTS + PROGRAM_ARRAYS };

struct touch {
    unsigned array, life; /* a renewed array is another one */
    bool write;
};

/*
 * A launch, host access or free, in order of the calls. What the host does starts and ends when the
 * call returns.
 */
struct node {
    bool kernel;
    uint64_t id, start_ps, end_ps;
    unsigned ntouches;
    struct touch touches[PROGRAM_KERNEL_ARRAYS];
};

struct run {
    const struct program *p;
    const char *what; /* the configuration, for messages */
    struct sys s;
    hd_kernel *kernels[PROGRAM_KERNELS][2];
    hd_array *arrays[PROGRAM_ARRAYS];
    unsigned life[PROGRAM_ARRAYS];
    struct node nodes[MAX_NODES];
    unsigned nnodes;
    uint64_t next_id;
};

static void fail_run(const struct run *r, const char *why)
{
    program_print(r->p, stderr);
    fail_msg("program %" PRIu64 " under %s: %s", r->p->seed, r->what, why);
}

static void touches(struct run *r, struct node *n, unsigned array, bool write)
{
    n->touches[n->ntouches++] = (struct touch){array, r->life[array], write};
}

static struct node *add_node(struct run *r, bool kernel, bool numbered)
{
    struct node *n = &r->nodes[r->nnodes++];

    *n = (struct node){.kernel = kernel, .id = numbered ? r->next_id++ : UINT64_MAX};
    n->start_ps = n->end_ps = hd_host_time(r->s.rt);
    return n;
}

static void do_launch(struct run *r, const struct program_stmt *s)
{
    const struct program_kernel_info *k = &program_kernels[s->kernel];
    struct hd_arg args[PROGRAM_KERNEL_ARRAYS + 2];
    struct node *n = add_node(r, true, true);

    for (unsigned i = 0; i < k->narrays; i++) {
        args[i] = (struct hd_arg)SYS_ARRAY(r->arrays[s->arrays[i]]);
        touches(r, n, s->arrays[i], program_may_write(s, i));
    }
    args[k->narrays] = (struct hd_arg)SYS_INT(s->count);
    args[k->narrays + 1] = (struct hd_arg)SYS_INT(s->value);
    sys_launch(&r->s, r->kernels[s->kernel][s->loose], s->blocks, s->threads, args, k->narrays + 2);
}

static uint32_t *do_access(struct run *r, unsigned array, uint32_t first, uint32_t count,
                           enum hd_access how)
{
    uint32_t *words = sys_access(&r->s, r->arrays[array], first, count, how);

    touches(r, add_node(r, false, true), array, how != HD_READ);
    return words;
}

static void make_array(struct run *r, unsigned array)
{
    static const char *const names[] = {"a0", "a1", "a2", "a3", "a4"};

    r->arrays[array] = sys_array(&r->s, T_U32, r->p->size[array], names[array]);
}

static void renew(struct run *r, unsigned array)
{
    struct hd_error err;

    if (hd_array_free(r->s.rt, r->arrays[array], &err) != HD_OK)
        fail_run(r, err.message);
    touches(r, add_node(r, false, false), array, true);
    r->life[array]++;
    make_array(r, array);
}

static void write_words(uint32_t *words, const struct program_stmt *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        words[i] = s->value + i;
}

static void do_stmt(struct run *r, unsigned at, const struct program_values *want)
{
    const struct program_stmt *s = &r->p->stmts[at];
    struct hd_error err;

    switch (s->kind) {
    case STMT_LAUNCH:
        do_launch(r, s);
        break;
    case STMT_READ:
        if (program_digest(do_access(r, s->arrays[0], s->first, s->count, HD_READ), s->count) !=
            want->reads[at])
            fail_run(r, "the host read something else");
        break;
    case STMT_WRITE:
        write_words(do_access(r, s->arrays[0], s->first, s->count, HD_WRITE), s);
        break;
    case STMT_OVERWRITE:
        write_words(do_access(r, s->arrays[0], s->first, s->count, HD_OVERWRITE), s);
        break;
    case STMT_RENEW:
        renew(r, s->arrays[0]);
        break;
    default:
        assert_int_equal(hd_host_work(r->s.rt, s->value * UINT64_C(1000), &err), HD_OK);
    }
}

static void run_open(struct run *r, const struct program *p, const struct hd_options *o,
                     const char *what)
{
    memset(r, 0, sizeof *r);
    r->p = p;
    r->what = what;
    sys_open(&r->s, o, "tests/system/kernels.hasm");
    for (unsigned i = 0; i < PROGRAM_KERNELS; i++) {
        r->kernels[i][false] = sys_kernel(&r->s, program_kernels[i].name, program_kernels[i].exact);
        r->kernels[i][true] = sys_kernel(&r->s, program_kernels[i].name, program_kernels[i].loose);
    }
    for (unsigned i = 0; i < PROGRAM_ARRAYS; i++)
        make_array(r, i);
}

static void run_program(struct run *r, const struct program_values *want)
{
    for (unsigned i = 0; i < r->p->nstmts; i++)
        do_stmt(r, i, want);
    for (unsigned i = 0; i < PROGRAM_ARRAYS; i++)
        if (memcmp(do_access(r, i, 0, r->p->size[i], HD_READ), want->words[i], r->p->size[i] * 4) !=
            0)
            fail_run(r, "an array has other words at the end");
    sys_finish(&r->s);
}

/* ---- order ---- */

static bool conflict(const struct node *a, const struct node *b)
{
    for (unsigned i = 0; i < a->ntouches; i++)
        for (unsigned k = 0; k < b->ntouches; k++)
            if (a->touches[i].array == b->touches[k].array &&
                a->touches[i].life == b->touches[k].life &&
                (a->touches[i].write || b->touches[k].write))
                return true;
    return false;
}

static void check_order(struct run *r)
{
    size_t rows = 0;

    for (unsigned i = 0; i < r->nnodes; i++) {
        struct node *n = &r->nodes[i];
        const struct hd_kernel_row *row = n->kernel ? sys_kernel_of(&r->s, n->id) : NULL;

        if (n->kernel && !row)
            fail_run(r, "a kernel has no row");
        if (row) {
            n->start_ps = row->r.start_ps;
            n->end_ps = row->r.end_ps;
            rows++;
        }
        for (unsigned k = 0; k < i; k++)
            if (r->nodes[k].end_ps > n->start_ps && conflict(&r->nodes[k], n))
                fail_run(r, "conflicting computations are not ordered");
    }
    assert_int_equal(rows, r->s.kernels.len);
}

/* ---- bytes ---- */

/*
 * A serial launch sees all arrays, when nothing is under way. A parallel one sees its arguments and
 * what else is attached to its stream, when its turn comes: that may be behind a later access of
 * the host to an array that is no argument.
 */
static void check_bytes(struct run *r, bool serial)
{
    uint32_t page = hd_runtime_options(r->s.rt)->gpu.um_page_bytes;
    struct page_moves need = program_moves(r->p, page, serial), got = {0, 0, 0};
    uint64_t most = serial ? need.to_device : need.touched;
    char why[256];

    for (size_t i = 0; i < r->s.transfers.len; i++)
        *(r->s.transfers.at[i].r.to_device ? &got.to_device : &got.to_host) +=
            r->s.transfers.at[i].r.bytes;
    snprintf(why, sizeof why,
             "%" PRIu64 " bytes to the device, not %" PRIu64 " to %" PRIu64 "; %" PRIu64
             " to the host, not %" PRIu64,
             got.to_device, need.to_device, most, got.to_host, need.to_host);
    if (got.to_device < need.to_device || got.to_device > most || got.to_host != need.to_host)
        fail_run(r, why);
}

/* ---- configurations ---- */

static const char *pick(struct rng *r, const char *const *choices, unsigned n)
{
    return choices[rng_below(r, n)];
}

#define PICK(r, ...)                                                                               \
    pick(r, (const char *const[]){__VA_ARGS__},                                                    \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/*
 * What the device and the policies are is as random as the program; one choice is given to all of
 * its runs. Slow shuffles make kernels long beside the calls that launch them, at no cost to the
 * test.
 */
static void random_settings(uint64_t seed, char *out, size_t size)
{
    struct rng r;

    rng_seed_pair(&r, seed, 1);
    snprintf(
        out, size, "%s %s %s %s %s %s %s %s %s %s",
        PICK(&r, "wavefront_size=8", "wavefront_size=16", "wavefront_size=32", "wavefront_size=64"),
        PICK(&r, "host.new_stream=always-new", "host.new_stream=fifo", "host.new_stream=reuse"),
        PICK(&r, "host.parent_stream=disjoint", "host.parent_stream=same-as-parent"),
        PICK(&r, "host.max_streams=65536", "host.max_streams=1", "host.max_streams=2",
             "host.max_streams=3"),
        PICK(&r, "host.default_stream=legacy", "host.default_stream=independent"),
        PICK(&r, "host.profile=native", "host.profile=native", "host.profile=grcuda"),
        PICK(&r, "latency.xlane=1000", "latency.xlane=1000", "latency.xlane=200", "latency.xlane=10"),
        PICK(&r, "sim.concurrent_kernels=on", "sim.concurrent_kernels=on",
             "sim.concurrent_kernels=off"),
        PICK(&r, "launch.placement=in-order", "launch.placement=round-robin"),
        PICK(&r, "cu.scheduler=lrr", "cu.scheduler=gto", "cu.scheduler=oldest"));
}

struct schedule {
    const char *name;
    bool serial;
};

static const struct schedule schedules[] = {
    {"host.scheduler=serial-sync", true},
    {"host.scheduler=serial-async", true},
    {"host.scheduler=parallel-async", false},
};
static const char *const dependencies[] = {"host.dependency=with-const",
                                           "host.dependency=no-const"};

static void run_timed(const struct program *p, const struct program_values *want,
                      struct hd_options o, unsigned schedule, unsigned dependency,
                      const char *settings)
{
    char what[512];
    struct run r;

    sys_set(&o, schedules[schedule].name);
    sys_set(&o, dependencies[dependency]);
    snprintf(what, sizeof what, "%s %s %s", schedules[schedule].name, dependencies[dependency],
             settings);
    run_open(&r, p, &o, what);
    run_program(&r, want);
    check_order(&r);
    sys_check_conservation(&r.s);
    check_bytes(&r, schedules[schedule].serial);
    sys_close(&r.s);
}

/* The same in values-only mode, which takes no time. */
static void run_values(const struct program *p, const struct program_values *want,
                       struct hd_options o)
{
    struct run r;

    o.timing = false;
    run_open(&r, p, &o, "timing off");
    run_program(&r, want);
    assert_int_equal(hd_host_time(r.s.rt), 0);
    assert_int_equal(r.s.transfers.len, 0);
    sys_close(&r.s);
}

static void run_everywhere(uint64_t seed)
{
    static struct program_values want;
    struct program p;
    struct hd_options o;
    char settings[384];

    program_make(&p, seed);
    program_values(&p, &want);
    random_settings(seed, settings, sizeof settings);
    o = sys_options("tiny", settings);
    o.lanes = seed % 3 ? ISA_BUILD_AUTO : ISA_BUILD_BASELINE;
    for (unsigned i = 0; i < 3; i++)
        for (unsigned k = 0; k < 2; k++)
            run_timed(&p, &want, o, i, k, settings);
    run_values(&p, &want, o);
}

static void test_random_programs(void **state)
{
    uint64_t count = test_count(1000), first = test_seed(1);

    (void)state;
    printf("seeds %" PRIu64 " to %" PRIu64 "\n", first, first + count - 1);
    for (uint64_t i = 0; i < count; i++)
        run_everywhere(first + i);
}

/* The generator reaches what it is made for. */
static void test_generator_reach(void **state)
{
    unsigned kinds[STMT_KINDS] = {0}, kernels[PROGRAM_KERNELS] = {0}, aliased = 0, empty = 0,
             pages = 0, loose = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        struct program p;

        program_make(&p, seed);
        for (unsigned i = 0; i < p.nstmts; i++) {
            const struct program_stmt *s = &p.stmts[i];

            kinds[s->kind]++;
            if (s->kind != STMT_LAUNCH)
                continue;
            kernels[s->kernel]++;
            loose += s->loose;
            empty += s->count == 0;
            aliased += program_kernels[s->kernel].narrays > 1 && s->arrays[0] == s->arrays[1];
            pages += p.size[s->arrays[0]] > 1024;
        }
    }
    for (unsigned i = 0; i < STMT_KINDS; i++)
        assert_in_range(kinds[i], 500, 20000);
    for (unsigned i = 0; i < PROGRAM_KERNELS; i++)
        assert_in_range(kernels[i], 1000, 10000);
    assert_in_range(loose, 1000, 5000);
    assert_in_range(aliased, 300, 5000);
    assert_in_range(empty, 20, 1000);
    assert_in_range(pages, 500, 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generator_reach),
        cmocka_unit_test(test_random_programs),
    };

    return cmocka_run_group_tests_name("programs", tests, NULL, NULL);
}
