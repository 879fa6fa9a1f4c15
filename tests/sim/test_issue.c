/*
 * What a SIMD unit issues in a cycle: closed forms. A kernel's cycles are counted from the cycle in which its wavefronts can
 * issue first, 0, to that of its last s_end. An instruction issues in the cycle given; `n` is the number of rounds.
 */
#include "sim/base/bits.h"
#include "tests/sim/kernel_rig.h"
#include "tests/soak.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { N = 40 };

/* Latencies short enough that eight registers in turn never wait. */
#define OPEN_QUICK(r, ...)                                                                         \
    krig_open(r, "latency.alu", "4", "latency.mul", "4", "latency.cvt", "4", "latency.sfu", "4",   \
              "latency.f64", "4", "latency.salu", "4", "latency.xlane", "4", "latency.branch",     \
              "6", "lanes_per_cycle.alu", "64", "lanes_per_cycle.mul", "64",                       \
              "lanes_per_cycle.cvt", "64", "lanes_per_cycle.sfu", "64", "lanes_per_cycle.f64",     \
              "64", "lanes_per_cycle.xlane", "64", __VA_ARGS__, NULL)

/* Every %d of the round is the number of the round modulo 8. */
static const char *rounds(const char *head, const char *round, int n)
{
    static char out[65536];
    size_t len = (size_t)snprintf(out, sizeof out, ".kernel k\n%s\n", head);

    for (int i = 0; i < n; i++) {
        for (const char *p = round; *p; p++) {
            if (p[0] == '%' && p[1] == 'd') {
                out[len++] = (char)('0' + i % 8);
                p++;
            } else {
                out[len++] = *p;
            }
            assert_true(len + 64 < sizeof out);
        }
        out[len++] = '\n';
    }
    snprintf(out + len, sizeof out - len, "s_end\n.endkernel\n");
    return out;
}

static uint64_t cycles_of(struct krig *r, const char *text, uint32_t threads)
{
    return krig_cycles(krig_run(r, &(struct krig_launch){.text = text, .threads = threads}));
}

/* ---- several wavefronts a cycle ---- */

/*
 * w wavefronts, each with n rounds of one instruction for each of four units and an s_end. One a cycle: w (4n + 1)
 * cycles, the last of them w (4n + 1) - 1. With as many a cycle as there are wavefronts, wavefront i is always i units
 * behind the first: the last s_end is in cycle 4n + w - 1. With more than wavefronts nothing changes.
 */
static void test_issue_width(void **state)
{
    static const char round[] = "v_add_u32 v%d, v9, v9\ns_add_u32 s%d, s9, s9\n"
                                "v_sqrt_f32 v1%d, v9\nv_shuffle_xor_b32 v2%d, v9, 1";

    (void)state;
    for (uint32_t waves = 1; waves <= 4; waves++) {
        for (uint32_t width = 1; width <= 8; width++) {
            char text[8];
            struct krig r;
            uint64_t cycles;

            snprintf(text, sizeof text, "%u", width);
            OPEN_QUICK(&r, "cu.issue_width", text);
            cycles = cycles_of(&r, rounds("", round, N), 32 * waves);
            if (width == 1)
                assert_int_equal(cycles, waves * (4 * N + 1) - 1);
            else if (width >= waves)
                assert_int_equal(cycles, 4 * N + waves - 1);
            else /* what the width allows is the least */
                assert_in_range(cycles, (waves * (4 * N + 1) + width - 1) / width - 1,
                                (waves * (4 * N + 1) + width - 1) / width - 1 + 2 * waves);
            krig_close(&r);
        }
    }
}

/* Two wavefronts that want the same unit gain nothing: it takes one instruction a cycle, 2 n + 1 is the last s_end. */
static void test_one_unit_takes_one(void **state)
{
    struct krig r;

    (void)state;
    OPEN_QUICK(&r, "cu.issue_width", "8");
    /* The first wavefront's s_end goes with an addition of the second, whose s_end follows its last. */
    assert_int_equal(cycles_of(&r, rounds("", "v_add_u32 v%d, v9, v9", N), 64), 2 * N);
    krig_close(&r);
}

static void on_issue(void *user, const struct hd_probe_event *e)
{
    uint64_t *last = user;

    if (e->wave == 0)
        *last = e->time_ps / 1000;
}

/*
 * The greedy scheduler stays with the first wavefront of those that issued in a cycle: the oldest of three never waits, and its
 * s_end is in cycle 3n, though others issue beside it whenever it wants the scalar unit.
 */
static void test_greedy_keeps_the_first(void **state)
{
    const struct sim_kernel_record *k;
    uint64_t last = 0;
    struct krig r;

    (void)state;
    OPEN_QUICK(&r, "cu.issue_width", "2", "cu.scheduler", "gto");
    sim_set_probe(r.m, &(struct hd_probe){&last, on_issue, HD_PROBE_WANT(HD_PROBE_ISSUE)});
    k = krig_run(
        &r, &(struct krig_launch){.text = rounds("",
                                                 "v_add_u32 v%d, v9, v9\nv_add_u32 v1%d, v9, v9\n"
                                                 "s_add_u32 s%d, s9, s9",
                                                 N),
                                  .threads = 96});
    assert_int_equal(last - k->start_ps / 1000, 3 * N);
    krig_close(&r);
}

/* ---- two instructions of a wavefront ---- */

struct pairing {
    const char *round;
    unsigned alone, dual; /* last cycle: alone * n + alone_more, ... */
    int alone_more, dual_more;
};

/*
 * One wavefront, n rounds and an s_end; L = 4 is every latency, 6 that of a branch.
 *  - a pair of independent instructions for two units: 2n, and n;
 *  - a pair of which the second waits for the first: s at 0, v at L, and the next s one later, or with that v;
 *  - for one unit: n, and n - 1 since s_end goes with the last;
 *  - three units: 3n, and 3n/2 in pairs across rounds (n is even);
 *  - v, and a branch to the next round: v at 0, branch at 1 and 7 a round; with v, 6 a round;
 *  - v, a fence with nothing to wait for, and s: 3n; a fence is never the first of a pair: v with fence, s with the next v, then the
 *    fence alone, so 2 a round, and s_end goes with the last s;
 *  - a write of the register that the instruction before reads is no dependence;
 *  - a write of the register that it writes is one: L a round, and the next round's first goes with the second.
 */
static void test_dual_issue(void **state)
{
    static const struct pairing rows[] = {
        {"v_add_u32 v%d, v9, v9\ns_add_u32 s%d, s9, s9", 2, 1, 0, 0},
        {"s_add_u32 s%d, s9, s9\nv_add_u32 v%d, v9, s%d", 5, 4, 0, 0},
        {"v_add_u32 v%d, v9, v9", 1, 1, 0, -1},
        {"v_add_u32 v%d, v9, v9\ns_add_u32 s%d, s9, s9\nv_sqrt_f32 v1%d, v9", 3, 0, 0, N + N / 2},
        {"v_add_u32 v%d, v9, v9\ns_branch_nz s9, next%d\nnext%d:", 7, 6, 0, 0},
        {"v_add_u32 v%d, v9, v9\nfence\ns_add_u32 s%d, s9, s9", 3, 2, 0, -1},
        {"s_add_u32 s%d, s1%d, s1%d\nv_readfirst_b32 s1%d, v9", 2, 1, 0, 0},
        {"s_add_u32 s%d, s9, s9\nv_readfirst_b32 s%d, v9", 5, 4, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (unsigned dual = 0; dual < 2; dual++) {
            int n = strchr(rows[i].round, ':') ? 8 : N; /* a label is there once */
            struct krig r;

            OPEN_QUICK(&r, "cu.dual_issue", dual ? "on" : "off");
            assert_int_equal(cycles_of(&r, rounds("", rows[i].round, n), 32),
                             (int)(dual ? rows[i].dual : rows[i].alone) * n +
                                 (dual ? rows[i].dual_more : rows[i].alone_more));
            krig_close(&r);
        }
    }
}

/* ---- the SIMD units in turn ---- */

/*
 * SIMD unit i issues in the cycles that are i modulo 4. w wavefronts on as many of four units, n instructions of any
 * class and an s_end each: the last ends in 4n + w - 1. A second wavefront on a unit that wants other units in each cycle is a
 * turn behind: 4 (n + 1) + 3; with one instruction a cycle it takes turns of its own: 4 (2 (n + 1) - 1) + 3.
 */
static void test_rotating(void **state)
{
    static const char *const rows[] = {"v_add_u32 v%d, v9, v9", "s_add_u32 s%d, s9, s9"};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (uint32_t waves = 1; waves <= 4; waves++) {
            struct krig r;

            OPEN_QUICK(&r, "cu.scheduler", "rotating", "cu.simds", "4");
            assert_int_equal(cycles_of(&r, rounds("", rows[i], N), 32 * waves), 4 * N + waves - 1);
            krig_close(&r);
        }
    }
    for (unsigned width = 1; width <= 5; width += 4) {
        struct krig r;
        const char *text = rounds("", "v_add_u32 v%d, v9, v9\ns_add_u32 s%d, s9, s9", N);

        OPEN_QUICK(&r, "cu.scheduler", "rotating", "cu.simds", "4", "cu.issue_width",
                   width == 5 ? "5" : "1");
        assert_int_equal(cycles_of(&r, text, 256),
                         width == 5 ? 4 * (2 * N + 1) + 3 : 4 * (2 * (2 * N + 1) - 1) + 3);
        krig_close(&r);
    }
}

/* What is ready in the turn of another unit waits for its own: a load of latency L, then its use, in ceil(L / s) s. */
static void test_rotating_rounds_up(void **state)
{
    (void)state;
    for (uint32_t simds = 2; simds <= 4; simds++) {
        for (uint32_t latency = 5; latency < 30; latency++) {
            char text[2][12];
            struct krig r;

            snprintf(text[0], sizeof text[0], "%u", simds);
            snprintf(text[1], sizeof text[1], "%u", latency);
            krig_open(&r, "cu.scheduler", "rotating", "cu.simds", text[0], "lds.latency_cycles",
                      text[1], "cu.wavefront_slots", "24", "cu.vector_register_words", "49152",
                      "launch.latency_ns", "1200", NULL); /* the first cycle is unit 0's turn */
            assert_int_equal(cycles_of(&r,
                                       ".kernel k\n.lds 128\nlocal_load_b32 v0, [v1]\n"
                                       "v_add_u32 v0, v0, v0\ns_end\n.endkernel\n",
                                       32),
                             (latency + simds - 1) / simds * simds + simds);
            krig_close(&r);
        }
    }
}

/* ---- units that are shared ---- */

/* With one vector unit f64 and f32 arithmetic of the same cycle take two: n pairs take 2n cycles, else n. */
static void test_one_vector_unit(void **state)
{
    static const char *const rows[] = {
        "v_add_u32 v%d, v9, v9\nv_add_f64 v[12:13], v[14:15], v[14:15]",
        "v_add_u32 v%d, v9, v9\nv_sqrt_f32 v1%d, v9",
        "v_add_u32 v%d, v9, v9\nv_cvt_f32_i32 v1%d, v9",
        "v_add_u32 v%d, v9, v9\nv_shuffle_xor_b32 v1%d, v9, 1",
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (unsigned one = 0; one < 2; one++) {
            struct krig r;

            OPEN_QUICK(&r, "cu.dual_issue", "on", "cu.one_vector_unit", one ? "on" : "off",
                       "latency.f64", "1");
            /* With one, s_end goes with the last instruction. */
            assert_int_equal(cycles_of(&r, rounds("", rows[i], N), 32), one ? 2 * N - 1 : N);
            krig_close(&r);
        }
    }
}

/* Four SIMD units with a wavefront each: n scalar instructions take n cycles on units of their own, 4n on one; vector ones n. */
static void test_one_scalar_unit(void **state)
{
    (void)state;
    for (unsigned one = 0; one < 2; one++) {
        struct krig r;

        OPEN_QUICK(&r, "cu.simds", "4", "cu.one_scalar_unit", one ? "on" : "off");
        assert_int_equal(cycles_of(&r, rounds("", "s_add_u32 s%d, s9, s9", N), 128),
                         one ? 4 * N : N);
        assert_int_equal(cycles_of(&r, rounds("", "v_add_u32 v%d, v9, v9", N), 128), N);
        krig_close(&r);
    }
}

/* ---- passes with no active lane ---- */

/* Groups of `lanes` lanes with an active one, at least one. */
static unsigned passes(uint64_t active, unsigned width, unsigned lanes)
{
    unsigned count = 0;

    for (unsigned first = 0; first < width; first += lanes) {
        bool any = false;

        for (unsigned i = first; i < first + lanes && i < width; i++)
            any = any || (active >> i & 1);
        count += any;
    }
    return count ? count : 1;
}

/* Masks of every kind: none, all, single lanes at the borders of passes, low and high parts, stripes, and random ones. */
static uint64_t a_mask(unsigned kind, uint64_t *random)
{
    static const uint64_t fixed[] = {
        0,
        UINT64_MAX,
        1,
        UINT64_C(1) << 15,
        UINT64_C(1) << 16,
        UINT64_C(1) << 63,
        0xffff,
        0xffff0000,
        UINT64_C(0xffffffff00000000),
        UINT64_C(0x5555555555555555),
        UINT64_C(0x000f000f000f000f),
        UINT64_C(0x8000800000010001),
        UINT64_C(0x00ff0000ff000000),
    };

    if (kind < sizeof fixed / sizeof *fixed)
        return fixed[kind];
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (*random ^ *random >> 29) & (kind % 2 ? UINT64_MAX : *random << 13 | *random >> 40);
}

static uint64_t of_width(unsigned width)
{
    return width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

struct pass_class {
    const char *line; /* under m0, independent of its like */
    const char *key, *latency;
    unsigned interval;
};

static void check_passes(const struct pass_class *c, unsigned width, unsigned lanes, uint64_t mask,
                         uint32_t threads)
{
    uint64_t live = threads >= width ? of_width(width) : of_width(threads);
    unsigned full = (width + lanes - 1) / lanes * c->interval;

    for (unsigned skip = 0; skip < 2; skip++) {
        char text[3][12], head[128];
        struct krig r;
        unsigned busy = skip ? passes(mask & live, width, lanes) * c->interval : full;

        snprintf(text[0], sizeof text[0], "%u", width);
        snprintf(text[1], sizeof text[1], "%u", lanes);
        snprintf(text[2], sizeof text[2], "%u", c->interval);
        snprintf(head, sizeof head, "s_mov_b64 s[0:1], 0x%" PRIx64 "\nm_mov m0, s[0:1]",
                 mask & of_width(width));
        krig_open(&r, "wavefront_size", text[0], c->key, text[1], c->latency, "1",
                  "lanes_per_cycle.f64_interval", text[2], "latency.salu", "4",
                  "cu.skip_idle_passes", skip ? "on" : "off", NULL);
        /* s_mov at 0, m_mov at 4, the first under m0 at 8, the others as fast as the unit takes them, s_end behind the last. */
        assert_int_equal(cycles_of(&r, rounds(head, c->line, N), threads), 8 + (N - 1) * busy + 1);
        krig_close(&r);
    }
}

static void test_idle_passes(void **state)
{
    static const struct pass_class rows[] = {
        {"@m0 v_add_u32 v%d, v9, v9", "lanes_per_cycle.alu", "latency.alu", 1},
        {"@m0 v_fma_f32 v%d, v9, v9, v9", "lanes_per_cycle.mul", "latency.mul", 1},
        {"@m0 v_cvt_f32_i32 v%d, v9", "lanes_per_cycle.cvt", "latency.cvt", 1},
        {"@m0 v_sqrt_f32 v%d, v9", "lanes_per_cycle.sfu", "latency.sfu", 1},
        {"@m0 v_add_f64 v[0:1], v[8:9], v[8:9]", "lanes_per_cycle.f64", "latency.f64", 3},
        {"@m0 v_shuffle_xor_b32 v%d, v9, 1", "lanes_per_cycle.xlane", "latency.xlane", 1},
    };
    static const unsigned widths[] = {8, 16, 32, 64}, lanes[] = {1, 2, 4, 8, 16, 20, 32, 64, 128};
    uint64_t seed = test_seed(20261130), random = seed;
    unsigned kinds = (unsigned)test_count(15);

    (void)state;
    print_message("seed %" PRIu64 "\n", seed);
    for (unsigned kind = 0; kind < kinds; kind++)
        for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
            for (size_t k = 0; k < sizeof lanes / sizeof *lanes; k++) {
                uint32_t tail = kind % 3 ? widths[i] : widths[i] / 2 + 1;

                check_passes(&rows[(kind + i + k) % 6], widths[i], lanes[k], a_mask(kind, &random),
                             tail);
            }
}

/*
 * The values of a straight-line run are computed when its first instruction issues, with a last one that writes the mask. Each
 * round has three additions under m0 and a compare of all lanes that sets m0 to the lanes below a bound: the additions
 * take passes(mask before), the compare follows when the unit is free, and the next round starts when m0 is ready:
 *   3 passes(bound of the round before) + L
 * with L, the latency, no less than the passes of the compare.
 */
static void test_idle_passes_of_a_run(void **state)
{
    static const char head[] = "v_get_u32 v8, %lane\nm_mov m0, 0\n";
    static const unsigned bounds[] = {0, 1, 15, 16, 17, 32, 33, 48, 63, 64};
    char text[8192];
    uint64_t want = 6;   /* the lane is ready, and m0 */
    unsigned before = 0; /* lanes below this are in m0 */
    size_t len = (size_t)snprintf(text, sizeof text, ".kernel k\n%s", head);
    struct krig r;

    (void)state;
    for (unsigned i = 0; i < N; i++) {
        unsigned bound = bounds[i * 7 % (sizeof bounds / sizeof *bounds)];

        len += (size_t)snprintf(text + len, sizeof text - len,
                                "@m0 v_add_u32 v0, v9, v9\n@m0 v_add_u32 v1, v9, v9\n"
                                "@m0 v_add_u32 v2, v9, v9\nv_cmp_lt_u32 m0, v8, %u\n",
                                bound);
        want += 3 * passes(before ? of_width(before) : 0, 64, 16) + 6;
        before = bound;
    }
    snprintf(text + len, sizeof text - len, "s_end\n.endkernel\n");
    /* s_end follows the last compare, whose result nobody waits for. */
    want -= 6 - 1;
    krig_open(&r, "wavefront_size", "64", "lanes_per_cycle.alu", "16", "latency.alu", "6",
              "latency.salu", "6", "cu.skip_idle_passes", "on", NULL);
    /* v_get at 0 takes the unit for 4 cycles, m_mov issues at 1 and is ready at 7. */
    assert_int_equal(cycles_of(&r, text, 64), want + 1);
    krig_close(&r);
}

/*
 * The same where EXEC is what the run's last instruction writes: three passes, then s_mov's latency from the cycle behind
 * the third. save: EXEC is written beside a scalar.
 */
static void idle_passes_of_exec(bool save)
{
    static const uint64_t masks[] = {1, 0xffff, 0x10001, 0x5555555555555555, UINT64_MAX, 0};
    char text[8192];
    uint64_t want = 0, before = 0;
    size_t len = (size_t)snprintf(text, sizeof text, ".kernel k\n.form exec\n");
    struct krig r;

    for (unsigned i = 0; i < 6; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "s_mov_b64 s[%u:%u], 0x%" PRIx64 "\n",
                                2 * i, 2 * i + 1, save ? masks[i] ^ masks[(i + 5) % 6] : masks[i]);
    len += (size_t)snprintf(text + len, sizeof text - len, "m_mov exec, 0\n");
    for (unsigned i = 0; i < N; i++) {
        uint64_t mask = masks[i % 6];

        len += (size_t)snprintf(text + len, sizeof text - len,
                                "v_add_u32 v0, v9, v9\nv_add_u32 v1, v9, v9\n"
                                "v_add_u32 v2, v9, v9\n%s s[%u:%u]\n",
                                save ? "m_xor_saveexec s[20:21]," : "m_mov exec,", i % 6 * 2,
                                i % 6 * 2 + 1);
        want += 2 * passes(before, 64, 16) + 1 + 6;
        before = mask;
    }
    snprintf(text + len, sizeof text - len, "m_mov exec, -1\ns_end\n.endkernel\n");
    krig_open(&r, "wavefront_size", "64", "lanes_per_cycle.alu", "16", "latency.alu", "4",
              "latency.salu", "6", "cu.skip_idle_passes", "on", "divergence.unit", "exec-mask",
              NULL);
    /* The six s_mov come first, and EXEC; the last m_mov issues when EXEC is ready, and s_end when it is again. */
    assert_int_equal(cycles_of(&r, text, 64), 6 + 6 + want + 6);
    krig_close(&r);
}

static void test_idle_passes_of_exec(void **state)
{
    (void)state;
    idle_passes_of_exec(false);
    idle_passes_of_exec(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_issue_width),
        cmocka_unit_test(test_one_unit_takes_one),
        cmocka_unit_test(test_greedy_keeps_the_first),
        cmocka_unit_test(test_dual_issue),
        cmocka_unit_test(test_rotating),
        cmocka_unit_test(test_rotating_rounds_up),
        cmocka_unit_test(test_one_vector_unit),
        cmocka_unit_test(test_one_scalar_unit),
        cmocka_unit_test(test_idle_passes),
        cmocka_unit_test(test_idle_passes_of_a_run),
        cmocka_unit_test(test_idle_passes_of_exec),
    };

    return cmocka_run_group_tests_name("issue", tests, NULL, NULL);
}
