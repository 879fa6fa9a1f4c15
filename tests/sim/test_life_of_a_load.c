/*
 * The examples of "The life of a load" and of a page fault in sim/README.md: their times follow from its configuration by
 * arithmetic, and the lines of the manual are those that a run gives.
 */
#include "tests/sim/kernel_rig.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char text[] = ".kernel life\n"
                           ".param x f32[]\n"
                           "    v_get_u32 v0, %lane\n"
                           "    global_load_b32 v1, [x + v0*4]\n"
                           "    v_add_f32 v2, v1, v1\n"
                           "    s_end\n"
                           ".endkernel\n";

enum {
    ALU = 6,
    NOC = 20,
    L2 = 40,
    SLICE_BYTES = 32, /* a cycle */
    CHANNEL = 16,     /* bytes a ns */
    DRAM = 100,
    LINE = 128,
    WAKE = 5000,
    BATCH = 15000,
    BLOCK = 10000,
    MAP = 240,
    LINK = 1500,
    PAGE = 4096,
    LINK_BYTES = 8, /* a ns */
};

struct life {
    uint64_t start_ps;
    char lines[2048];
};

static void add(struct life *l, uint64_t time_ps, const char *what)
{
    size_t n = strlen(l->lines);

    snprintf(l->lines + n, sizeof l->lines - n, "| %" PRIu64 " | %s |\n",
             (time_ps - l->start_ps) / 1000, what);
}

static void on_event(void *user, const struct hd_probe_event *e)
{
    static const char *const issued[] = {
        "`v_get_u32` issues",
        "the load issues: its line is in no sector of L1, takes an MSHR, and is asked for",
        "`v_add_f32` issues, which waited for v1",
        "`s_end` issues",
    };
    struct life *l = user;

    if (e->kind == HD_PROBE_WAVE_START)
        l->start_ps = e->time_ps;
    else if (e->kind == HD_PROBE_ISSUE)
        add(l, e->time_ps, issued[e->pc]);
    else if (e->kind == HD_PROBE_REQUEST)
        add(l, e->time_ps, "the request reaches its slice");
    else if (e->kind == HD_PROBE_FILL)
        add(l, e->time_ps, "the line reaches the compute unit; v1 is ready");
}

static void run(struct life *l)
{
    struct krig r;
    uint32_t x;

    krig_open(&r, "latency.alu", "6", "noc.latency_cycles", "20", "l2.latency_cycles", "40",
              "l2.slices", "1", "l2.bytes_per_cycle", "32", "dram.channels", "1",
              "dram.bytes_per_second", "16000000000", "dram.latency_ns", "100", NULL);
    x = krig_array(&r, 4096);
    sim_set_probe(r.m, &(struct hd_probe){.user = l, .fn = on_event, .wants = HD_PROBE_WANT_ALL});
    krig_run(
        &r, &(struct krig_launch){.text = text, .threads = 32, .nargs = 1, .args = {KRIG_ARRAY(x)}});
    krig_close(&r);
}

/* The first instruction issues at 0, the load when v0 is ready; then each part takes its time. */
static void test_times(void **state)
{
    enum {
        SENT = ALU,
        AT_SLICE = SENT + NOC,
        SERVED = AT_SLICE + LINE / SLICE_BYTES + L2,
        READ = SERVED + LINE / CHANNEL + DRAM,
        BACK = READ + NOC,
    };
    struct life l = {0};
    char want[2048];

    (void)state;
    run(&l);
    snprintf(want, sizeof want,
             "| 0 | `v_get_u32` issues |\n"
             "| %d | the load issues: its line is in no sector of L1, takes an MSHR, and is asked "
             "for |\n"
             "| %d | the request reaches its slice |\n"
             "| %d | the line reaches the compute unit; v1 is ready |\n"
             "| %d | `v_add_f32` issues, which waited for v1 |\n"
             "| %d | `s_end` issues |\n",
             SENT, AT_SLICE, BACK, BACK, BACK + 1);
    assert_string_equal(l.lines, want);
}

/* ---- with its page on the host ---- */

static void on_fault_event(void *user, const struct hd_probe_event *e)
{
    struct life *l = user;

    if (e->kind == HD_PROBE_WAVE_START)
        l->start_ps = e->time_ps;
    else if (e->kind == HD_PROBE_ISSUE && e->pc == 1)
        add(l, e->time_ps, "the load issues: a fault");
    else if (e->kind == HD_PROBE_FILL)
        add(l, e->time_ps, "the line reaches the compute unit; v1 is ready");
}

static void on_transfer(void *user, const struct sim_transfer_record *t)
{
    struct life *l = user;

    add(l, t->start_ps - (BATCH + BLOCK + MAP) * 1000,
        "the handler reads the buffer: a batch of one page in one block");
    add(l, t->start_ps - MAP * 1000, "it has gone through the batch: one page comes");
    add(l, t->start_ps, "its work is done: the move starts");
    add(l,
        t->end_ps, "the page is there: 1500 for the link, 512 for 4096 bytes; the request leaves for its slice");
}

static void run_fault(struct life *l)
{
    struct krig r;
    uint32_t x;

    krig_open(&r, "latency.alu", "6", "noc.latency_cycles", "20", "l2.latency_cycles", "40",
              "l2.slices", "1", "l2.bytes_per_cycle", "32", "dram.channels", "1",
              "dram.bytes_per_second", "16000000000", "dram.latency_ns", "100", "um.page_faults",
              "on", "um.prefetch_tree", "off", "um.fault_latency_ns", "5000", "um.fault_batch_ns",
              "15000", "um.fault_block_ns", "10000", "um.fault_page_ns", "240", "link.latency_ns",
              "1500", "link.h2d_bytes_per_second", "8000000000", NULL);
    x = krig_array(&r, PAGE);
    sim_host_access(r.m, &(struct sim_host_access){.array = x, .bytes = PAGE, .write = true});
    sim_set_probe(r.m,
                  &(struct hd_probe){.user = l, .fn = on_fault_event, .wants = HD_PROBE_WANT_ALL});
    sim_set_sink(r.m, &(struct sim_sink){.user = l, .transfer = on_transfer});
    assert_int_equal(krig_try_run(&r, &(struct krig_launch){.text = text,
                                                            .threads = 32,
                                                            .nargs = 1,
                                                            .args = {KRIG_ARRAY(x)}}),
                     HD_OK);
    krig_close(&r);
}

static void test_times_of_a_fault(void **state)
{
    enum {
        READ = ALU + WAKE,
        CHOSEN = READ + BATCH + BLOCK,
        DONE = CHOSEN + MAP,
        THERE = DONE + LINK + PAGE / LINK_BYTES,
        BACK = THERE + NOC + LINE / SLICE_BYTES + L2 + LINE / CHANNEL + DRAM + NOC,
    };
    struct life l = {0};
    char want[2048];

    (void)state;
    run_fault(&l);
    snprintf(want, sizeof want,
             "| %d | the load issues: a fault |\n"
             "| %d | the handler reads the buffer: a batch of one page in one block |\n"
             "| %d | it has gone through the batch: one page comes |\n"
             "| %d | its work is done: the move starts |\n"
             "| %d | the page is there: 1500 for the link, 512 for 4096 bytes; the request leaves "
             "for its slice |\n"
             "| %d | the line reaches the compute unit; v1 is ready |\n",
             ALU, READ, CHOSEN, DONE, THERE, BACK);
    assert_string_equal(l.lines, want);
}

static char *manual(void)
{
    FILE *f = fopen("sim/README.md", "rb");
    char *bytes = calloc(1, 1 << 20);

    assert_true(f && bytes);
    assert_true(fread(bytes, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return bytes;
}

static void test_the_manual_says_so(void **state)
{
    struct life l = {0};
    char *bytes = manual();

    (void)state;
    run(&l);
    run_fault(&l);
    for (char *line = strtok(l.lines, "\n"); line; line = strtok(NULL, "\n"))
        if (!strstr(bytes, line))
            fail_msg("sim/README.md lacks the line: %s", line);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_times_of_a_fault),
        cmocka_unit_test(test_the_manual_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
