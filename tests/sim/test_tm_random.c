/*
 * Random kernels of transactions that raise words of local memory by one, on random machines. What they
 * leave in memory does not depend on the order, so it follows from the program, is the same without time, and a copy of the
 * machine in the middle of a transaction goes on alike. The oracle watches; cycles add up.
 */
#include "sim/base/bits.h"
#include "sim/base/rng.h"
#include "sim/base/text.h"
#include "tests/sim/tm_rig.h"
#include "tests/soak.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 128, TRANSACTIONS_MAX = 3, RAISES_MAX = 4 };

/* A raise of the word that a hash of the item names; in `half` of them by the items whose hash is odd. */
struct raise {
    uint32_t multiplier, shift, mask;
    bool atomic, half;
};

struct program {
    unsigned transactions, raises;
    struct raise raise[TRANSACTIONS_MAX * RAISES_MAX];
    uint32_t items;
};

static uint32_t below(struct rng *rng, uint32_t n)
{
    return (uint32_t)(rng_next(rng) % n);
}

static void random_program(struct program *p, struct rng *rng)
{
    static const uint32_t masks[] = {0, 1, 7, 31, 127};

    p->transactions = 1 + below(rng, TRANSACTIONS_MAX);
    p->raises = 1 + below(rng, RAISES_MAX);
    p->items = WORDS + below(rng, 256 - WORDS + 1);
    for (unsigned i = 0; i < p->transactions * p->raises; i++)
        p->raise[i] = (struct raise){(uint32_t)rng_next(rng) | 1, below(rng, 20),
                                     masks[below(rng, 5)], below(rng, 4) == 0, below(rng, 3) == 0};
}

static uint32_t hash_of(const struct raise *r, uint32_t item)
{
    return item * r->multiplier >> r->shift;
}

static void expect(const struct program *p, uint32_t words[WORDS])
{
    memset(words, 0, WORDS * sizeof *words);
    for (uint32_t item = 0; item < p->items; item++)
        for (unsigned i = 0; i < p->transactions * p->raises; i++)
            if (!p->raise[i].half || (hash_of(&p->raise[i], item) & 1))
                words[hash_of(&p->raise[i], item) & p->raise[i].mask]++;
}

static void write_raise(struct text *t, const struct raise *r)
{
    const char *pred = r->half ? "@m1 " : "";

    text_add(t, "    v_mul_u32 v1, v0, 0x%" PRIx32 "\n    v_shr_b32 v1, v1, %" PRIu32 "\n",
             r->multiplier, r->shift);
    if (r->half)
        text_add(t, "    v_and_b32 v3, v1, 1\n    v_cmp_ne_u32 m1, v3, 0\n");
    text_add(t, "    v_and_b32 v1, v1, %" PRIu32 "\n", r->mask);
    if (r->atomic) {
        text_add(t, "    %slocal_atomic_add_u32 [v1*4 + room], v5\n", pred);
        return;
    }
    text_add(t,
             "    %slocal_load_b32 v2, [v1*4 + room]\n"
             "    %sv_add_u32 v2, v2, 1\n"
             "    %slocal_store_b32 [v1*4 + room], v2\n",
             pred, pred, pred);
}

/* v4 counts the commits of an item, and v0 is only right if a retry gives it back. */
static void write_program(struct text *t, const struct program *p)
{
    text_add(t, ".kernel r\n.param out u32[]\n.local room 512\n"
                "    v_get_u32 v0, %%tid\n    v_mov_b32 v5, 1\n");
    for (unsigned k = 0; k < p->transactions; k++) {
        text_add(t, "    tx.begin\n");
        for (unsigned i = 0; i < p->raises; i++)
            write_raise(t, &p->raise[k * p->raises + i]);
        text_add(t, "    v_add_u32 v4, v4, 1\n    tx.commit\n");
    }
    text_add(t, "    s_barrier\n"
                "    v_cmp_lt_u32 m0, v0, 128\n"
                "    @m0 local_load_b32 v6, [v0*4 + room]\n"
                "    @m0 global_store_b32 [out + v0*4], v6\n"
                "    v_add_u32 v0, v0, 128\n"
                "    global_store_b32 [out + v0*4], v4\n"
                "    s_end\n.endkernel\n");
}

static void random_machine(struct sim_config *c, struct rng *rng)
{
    param_defaults(&sim_params, c);
    c->compute_units = 1;
    c->simds = 1u << below(rng, 3);
    c->wavefront_size = 8u << below(rng, 4);
    c->dual_issue = below(rng, 4) == 0;
    c->issue_width = 1 + below(rng, 2);
    c->wave_scheduler = below(rng, 4);
    c->skip_idle_passes = below(rng, 4) == 0;
    c->lds_latency = 1 + below(rng, 30);
    c->lds_banks = 8u << below(rng, 3);
    c->lds_lanes_per_pass = c->lds_banks;
    c->divergence_unit = below(rng, 4);
    c->tm_detector = below(rng, 4);
    c->tm_serialise = below(rng, 4);
    c->tm_helper = below(rng, 2);
    c->tm_wg_hold = below(rng, 2);
    c->tm_dcd_release = below(rng, 2);
    c->tm_mcm_source = below(rng, 2);
    c->tm_multi_fail = below(rng, 2);
    c->tm_abort_model = below(rng, 3);
    c->tm_owner_on_read = below(rng, 2);
    c->tm_early_exit = below(rng, 2);
    c->tm_broadcast_always = below(rng, 2);
    c->tm_pass_pipelined = below(rng, 2);
    c->tm_hash_k = 1 + below(rng, 2);
    c->tm_record_bits = below(rng, 2) ? 16 : 32;
    c->tm_checkpoint_cycles = below(rng, 4) ? 0 : below(rng, 5);
}

struct side {
    struct krig rig;
    uint32_t out;
    struct text text;
    struct program program;
};

static void start(struct side *s, uint64_t seed, enum sim_mode mode)
{
    struct sim_config c;
    struct rng rng;

    memset(s, 0, sizeof *s);
    rng_seed(&rng, seed);
    random_machine(&c, &rng);
    random_program(&s->program, &rng);
    write_program(&s->text, &s->program);
    krig_open_config(&s->rig, &c);
    sim_set_limits(s->rig.m, &(struct sim_limits){.check_tm = true});
    sim_set_mode(s->rig.m, mode);
    s->out = krig_array(&s->rig, (WORDS + 256) * 4);
    (void)krig_submit(&s->rig, &(struct krig_launch){.text = text_str(&s->text),
                                                     .threads = s->program.items,
                                                     .nargs = 1,
                                                     .args = {KRIG_ARRAY(s->out)}});
}

static void finish(struct sim_machine *m, uint64_t seed)
{
    struct hd_error err;

    if (sim_wait(m, 0, &err))
        fail_msg("HEDDLE_SEED=%" PRIu64 ": %s (%s)\n%s", seed, err.message, err.place,
                 sim_fault_dump(m));
}

static void require_values(struct side *s, struct sim_machine *m, uint64_t seed)
{
    const uint32_t *got = sim_array_data(m, s->out);
    uint32_t want[WORDS];

    expect(&s->program, want);
    for (unsigned i = 0; i < WORDS; i++)
        if (got[i] != want[i])
            fail_msg("HEDDLE_SEED=%" PRIu64 ": word %u is %" PRIu32 " and not %" PRIu32, seed, i,
                     got[i], want[i]);
    for (unsigned i = 0; i < s->program.items; i++)
        if (got[WORDS + i] != s->program.transactions)
            fail_msg("HEDDLE_SEED=%" PRIu64 ": item %u committed %" PRIu32 " times", seed, i,
                     got[WORDS + i]);
}

static void close_side(struct side *s)
{
    krig_close(&s->rig);
    text_free(&s->text);
}

static void require_counters(const struct side *s, struct sim_machine *m)
{
    struct sim_counters c;

    sim_totals(m, &c);
    tm_rig_check_counters(&c);
    assert_int_equal(c.tx_commits, (uint64_t)s->program.items * s->program.transactions);
}

static void copy_at(uint64_t seed, uint64_t at_ps, const struct side *whole)
{
    struct side s;
    struct sim_machine *copy;
    struct sim_counters a, b;

    start(&s, seed, SIM_TIMED);
    assert_int_equal(sim_run_until(s.rig.m, at_ps, &s.rig.err), HD_OK);
    assert_int_equal(sim_copy(s.rig.m, &copy, &s.rig.err), HD_OK);
    finish(copy, seed);
    finish(s.rig.m, seed);
    require_values(&s, copy, seed);
    sim_totals(whole->rig.m, &a);
    sim_totals(copy, &b);
    assert_memory_equal(&a, &b, sizeof a);
    sim_totals(s.rig.m, &b);
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(sim_now(copy), sim_now(whole->rig.m));
    assert_int_equal(sim_now(s.rig.m), sim_now(whole->rig.m));
    sim_free(copy);
    close_side(&s);
}

static void one_case(uint64_t seed, struct sim_counters *sums)
{
    struct sim_counters c;
    struct side timed, values;

    start(&timed, seed, SIM_TIMED);
    finish(timed.rig.m, seed);
    require_values(&timed, timed.rig.m, seed);
    require_counters(&timed, timed.rig.m);
    start(&values, seed, SIM_VALUES);
    finish(values.rig.m, seed);
    require_values(&values, values.rig.m, seed);
    require_counters(&values, values.rig.m);
    copy_at(seed, sim_now(timed.rig.m) * (1 + seed % 7) / 8, &timed);
    sim_totals(timed.rig.m, &c);
    sim_counters_add(sums, &c);
    close_side(&timed);
    close_side(&values);
}

/* What the cases are to reach. */
static void require_reach(const struct sim_counters *c)
{
    for (unsigned i = 0; i < SIM_NUM_TX_CYCLES; i++)
        assert_true(c->tx_cycles[i] > 0);
    assert_true(c->tx_true_conflicts && c->tx_false_conflicts && c->tx_read_read_conflicts);
    assert_true(c->tx_wave_serial && c->tx_group_serial && c->tx_self_aborts);
}

static void test_random_kernels(void **state)
{
    uint64_t count = test_count(60), first = test_seed(1);
    struct sim_counters sums = {0};

    (void)state;
    printf("cases %" PRIu64 " to %" PRIu64 "\n", first, first + count - 1);
    for (uint64_t seed = first; seed < first + count; seed++)
        one_case(seed, &sums);
    require_reach(&sums);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_kernels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
