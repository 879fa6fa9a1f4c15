/* What the probe is told of transactions, step by step, and accesses outside of them under both kinds of isolation. */
#include "tests/sim/tm_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

struct step {
    enum hd_probe_kind kind;
    uint64_t lanes;
};

enum { STEPS_MAX = 32 };

struct steps {
    struct step at[STEPS_MAX];
    unsigned n;
};

static void on_event(void *user, const struct hd_probe_event *e)
{
    struct steps *s = user;

    assert_true(s->n < STEPS_MAX);
    s->at[s->n++] = (struct step){e->kind, e->lanes};
}

/* Runs two lanes and compares the steps, which end with lanes 0. */
static struct sim_counters run_steps(const char *body, const char *serialise,
                                     const struct step *want)
{
    const struct hd_probe probe = {
        NULL, on_event,
        HD_PROBE_WANT(HD_PROBE_TX_BEGIN) | HD_PROBE_WANT(HD_PROBE_TX_CONFLICT) |
            HD_PROBE_WANT(HD_PROBE_TX_COMMIT) | HD_PROBE_WANT(HD_PROBE_TX_RETRY)};
    struct hd_probe own = probe;
    struct steps got = {.n = 0};
    struct sim_counters c;
    char text[1024];
    struct krig r;

    snprintf(text, sizeof text,
             ".kernel k\n.local c 8\n    v_get_u32 v1, %%tid\n    v_xor_b32 v2, v1, 1\n"
             "    tx.begin\n%s    tx.commit\n    s_end\n.endkernel\n",
             body);
    krig_open(&r, "tm.serialise", serialise, NULL);
    sim_set_limits(r.m, &(struct sim_limits){.check_tm = true});
    own.user = &got;
    sim_set_probe(r.m, &own);
    c = krig_run(&r, &(struct krig_launch){.text = text, .threads = 2})->counters;
    krig_close(&r);
    for (unsigned i = 0; want[i].lanes; i++) {
        assert_true(i < got.n);
        assert_int_equal(got.at[i].kind, want[i].kind);
        assert_int_equal(got.at[i].lanes, want[i].lanes);
        assert_true(want[i + 1].lanes || got.n == i + 1);
    }
    tm_rig_check_counters(&c);
    return c;
}

/* One word: in the second pass the second lane loses to the first. */
static void test_one_word(void **state)
{
    static const struct step want[] = {
        {HD_PROBE_TX_BEGIN, 3}, {HD_PROBE_TX_CONFLICT, 2}, {HD_PROBE_TX_COMMIT, 1},
        {HD_PROBE_TX_RETRY, 2}, {HD_PROBE_TX_BEGIN, 2},    {HD_PROBE_TX_COMMIT, 2},
        {HD_PROBE_TX_BEGIN, 0},
    };
    struct sim_counters c = run_steps("    local_store_b32 [c], v1\n", "ascending-single", want);

    (void)state;
    assert_int_equal(c.tx_begins, 2);
    assert_int_equal(c.tx_wave_serial, 0);
    assert_int_equal(c.tx_attempts[1], 1);
    assert_int_equal(c.tx_true_conflicts, 1);
}

#define CROSSED "    local_store_b32 [v1*4 + c], v1\n    local_store_b32 [v2*4 + c], v1\n"

/*
 * Two words in two banks, each lane the other's second: one pass finds both, and both abort. The same again,
 * and the wavefront serialises: the lowest lane, or the highest, goes alone, then the other.
 */
static void test_crossed_words(void **state)
{
    (void)state;
    for (unsigned highest = 0; highest < 2; highest++) {
        const uint64_t first = highest ? 2 : 1, second = 3 - first;
        const struct step want[] = {
            {HD_PROBE_TX_BEGIN, 3},      {HD_PROBE_TX_CONFLICT, 3},    {HD_PROBE_TX_RETRY, 3},
            {HD_PROBE_TX_BEGIN, 3},      {HD_PROBE_TX_CONFLICT, 3},    {HD_PROBE_TX_RETRY, 3},
            {HD_PROBE_TX_BEGIN, first},  {HD_PROBE_TX_COMMIT, first},  {HD_PROBE_TX_RETRY, second},
            {HD_PROBE_TX_BEGIN, second}, {HD_PROBE_TX_COMMIT, second}, {HD_PROBE_TX_BEGIN, 0},
        };
        struct sim_counters c =
            run_steps(CROSSED, highest ? "descending-single" : "ascending-single", want);

        assert_int_equal(c.tx_begins, 4);
        assert_int_equal(c.tx_wave_serial, 1);
        assert_int_equal(c.tx_attempts[2], 1);
        assert_true(c.tx_cycles[SIM_TX_WAVEFRONT_SERIAL] > 0);
    }
}

/* The first wavefront stores 1 and, much later, 2 in a transaction; the second loads in between. */
static const char beside[] = ".kernel k\n"
                             ".param out u32[]\n"
                             ".local c 4\n"
                             "    v_get_u32 v0, %lane\n"
                             "    v_cmp_eq_u32 m0, v0, 0\n"
                             "    s_mov_b32 s8, %wave\n"
                             "    s_branch_nz s8, other\n"
                             "    v_mov_b32 v1, 1\n"
                             "    tx.begin\n"
                             "    @m0 local_store_b32 [c], v1\n"
                             "    s_mov_b32 s9, 50\n"
                             "wait:\n"
                             "    s_sub_u32 s9, s9, 1\n"
                             "    s_branch_nz s9, wait\n"
                             "    v_add_u32 v1, v1, 1\n"
                             "    @m0 local_store_b32 [c], v1\n"
                             "    tx.commit\n"
                             "    s_end\n"
                             "other:\n"
                             "    s_mov_b32 s9, 10\n"
                             "late:\n"
                             "    s_sub_u32 s9, s9, 1\n"
                             "    s_branch_nz s9, late\n"
                             "    local_load_b32 v2, [c]\n"
                             "    global_store_b32 [out + v0*4], v2\n"
                             "    s_end\n"
                             ".endkernel\n";

static void run_beside(const char *strong, const char *detector, uint32_t want, uint64_t races)
{
    struct krig r;
    uint32_t out;
    const struct sim_kernel_record *k;

    krig_open(&r, "tm.strong", strong, "tm.detector", detector, "wavefront_size", "8", NULL);
    sim_set_limits(r.m, &(struct sim_limits){.check_tm = true});
    out = krig_array(&r, 32);
    k = krig_run(&r, &(struct krig_launch){
                         .text = beside, .threads = 16, .nargs = 1, .args = {KRIG_ARRAY(out)}});
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(((uint32_t *)sim_array_data(r.m, out))[i], want);
    assert_int_equal(k->counters.tx_races, races);
    assert_true(!races == (k->counters.stall_cycles[SIM_STALL_TX] > 100));
    tm_rig_check_counters(&k->counters);
    krig_close(&r);
}

/* Weak: eight lanes see what is not committed, and are counted. Strong: they wait for the commit. */
static void test_isolation(void **state)
{
    (void)state;
    for (unsigned d = 0; tm_rig_detectors[d]; d++) {
        run_beside("off", tm_rig_detectors[d], 1, 8);
        run_beside("on", tm_rig_detectors[d], 2, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_word),
        cmocka_unit_test(test_crossed_words),
        cmocka_unit_test(test_isolation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
