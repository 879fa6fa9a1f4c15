/*
 * Local memory against a second model (PB-23): random accesses of one wavefront, each with its lanes, widths and pattern of
 * addresses. The values are what lanes in ascending order leave; the passes of each access follow from its own addresses and
 * from none before it.
 */
#include "sim/base/rng.h"
#include "tests/sim/kernel_rig.h"
#include "tests/soak.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { ACCESSES = 24, LDS = 4096, LANES = 64 };

enum what { LOAD, STORE, ADD, ADD_RETURN, MAX, EXCHANGE_RETURN };

static const struct op {
    const char *text;
    enum what what;
    unsigned bytes;
} ops[] = {
    {"local_load_u8", LOAD, 1},       {"local_load_u16", LOAD, 2},
    {"local_load_b32", LOAD, 4},      {"local_load_b32", LOAD, 4},
    {"local_load_b64", LOAD, 8},      {"local_store_b8", STORE, 1},
    {"local_store_b16", STORE, 2},    {"local_store_b32", STORE, 4},
    {"local_store_b32", STORE, 4},    {"local_store_b64", STORE, 8},
    {"local_atomic_add_u32", ADD, 4}, {"local_atomic_add_u32_rtn", ADD_RETURN, 4},
    {"local_atomic_max_u32", MAX, 4}, {"local_atomic_exch_b32_rtn", EXCHANGE_RETURN, 4},
    {"local_atomic_add_u64", ADD, 8},
};

struct access {
    const struct op *op;
    uint64_t on;             /* lanes */
    uint32_t element[LANES]; /* of op->bytes, from disp on */
    unsigned scale, disp;
};

struct local_case {
    unsigned width, banks, lanes_per_pass;
    struct access at[ACCESSES];
};

static unsigned below(struct rng *g, unsigned n)
{
    return (unsigned)rng_below(g, n);
}

/* ---- patterns ---- */

static bool returns(const struct op *op)
{
    return op->what == LOAD || op->what == ADD_RETURN || op->what == EXCHANGE_RETURN;
}

/* Elements of an access within `room` of them. */
static void a_pattern(struct rng *g, struct access *a, unsigned room)
{
    unsigned kind = below(g, 7), start = below(g, room), stride = 1u << below(g, 8),
             odd = below(g, 40), group = 1 + below(g, 16);

    for (unsigned i = 0; i < LANES; i++) {
        uint32_t e = start;

        if (kind == 0)
            e = below(g, room); /* scattered */
        else if (kind == 1)
            e = start + i * stride;
        else if (kind == 2)
            e = start + i * odd;
        else if (kind == 3)
            e = start + i / group;
        else if (kind == 4)
            e = start + (i ^ odd);
        else if (kind == 5)
            e = start + i % group * 32;
        a->element[i] = e % room;
    }
}

static uint64_t some_lanes(struct rng *g, unsigned width)
{
    uint64_t all = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    uint64_t random = rng_below(g, UINT64_C(1) << 32) | rng_below(g, UINT64_C(1) << 32) << 32;

    switch (below(g, 6)) {
    case 0:
        return random & all;
    case 1:
        return all & UINT64_C(0x5555555555555555);
    case 2:
        return all & ((UINT64_C(1) << below(g, 63)) - 1);
    case 3:
        return below(g, 3) ? all : 0;
    default:
        return all;
    }
}

/* Lanes and distances of an access before, from another address on and perhaps of another width: what is remembered of it may hold
 * no more. */
static void repeat(struct rng *g, struct access *a, const struct access *before)
{
    unsigned bytes = before->op->bytes, moved = below(g, 8), to;

    *a = *before;
    if (below(g, 2))
        a->op = &ops[below(g, sizeof ops / sizeof *ops)];
    to = a->op->bytes;
    if (a->scale != 1)
        a->scale = to;
    for (unsigned i = 0; i < LANES; i++)
        a->element[i] = (before->element[i] * bytes / to + moved) % ((LDS - a->disp) / to);
}

static void a_case(struct rng *g, struct local_case *c)
{
    static const unsigned widths[] = {8, 16, 32, 64}, banks[] = {1, 16, 32, 64, 128},
                          lanes[] = {1, 8, 16, 24, 32, 64};

    c->width = widths[below(g, 4)];
    c->banks = banks[below(g, 5)];
    c->lanes_per_pass = lanes[below(g, 6)];
    for (unsigned i = 0; i < ACCESSES; i++) {
        struct access *a = &c->at[i];

        if (i && below(g, 3) == 0) {
            repeat(g, a, &c->at[i - 1 - below(g, i < 4 ? i : 4)]);
            continue;
        }
        a->op = &ops[below(g, sizeof ops / sizeof *ops)];
        a->scale = below(g, 2) ? a->op->bytes : 1;
        a->disp = 8 * below(g, 16);
        a->on = some_lanes(g, c->width);
        a_pattern(g, a, (LDS - a->disp) / a->op->bytes);
    }
}

static uint32_t address(const struct access *a, unsigned lane)
{
    return a->disp + a->element[lane] * a->op->bytes;
}

/* ---- the second model ---- */

static uint64_t word_at(const uint8_t *lds, uint32_t at, unsigned bytes)
{
    uint64_t v = 0;

    for (unsigned i = bytes; i-- > 0;)
        v = v << 8 | lds[at + i];
    return v;
}

static void set_word(uint8_t *lds, uint32_t at, unsigned bytes, uint64_t v)
{
    for (unsigned i = 0; i < bytes; i++)
        lds[at + i] = (uint8_t)(v >> 8 * i);
}

/* What a lane stores in access n. */
static uint64_t source(unsigned n, unsigned lane)
{
    uint32_t low = (lane + 1) * 0x01234567u + n;

    return low | (uint64_t)(low ^ 0xffff) << 32;
}

/* Acts on local memory; what the lane gets, of 64 bits the words xored, 0 if it is off. */
static uint32_t act(const struct access *a, unsigned n, unsigned lane, uint8_t *lds)
{
    unsigned bytes = a->op->bytes;
    uint32_t at = address(a, lane);
    uint64_t old = word_at(lds, at, bytes), v = source(n, lane);

    if (!(a->on >> lane & 1))
        return 0;
    switch (a->op->what) {
    case LOAD:
        break;
    case ADD:
    case ADD_RETURN:
        set_word(lds, at, bytes, old + v);
        break;
    case MAX:
        set_word(lds, at, bytes, (uint32_t)v > old ? (uint32_t)v : old);
        break;
    case STORE:
    case EXCHANGE_RETURN:
        set_word(lds, at, bytes, v);
        break;
    }
    return returns(a->op) ? (uint32_t)(old ^ old >> 32) : 0;
}

/* Lanes are served in groups by their number, half as many where each has two words; in a pass a bank serves one word, or one lane
 * of an atomic. */
static void passes_of(const struct local_case *c, const struct access *a, unsigned *passes,
                      unsigned *least)
{
    unsigned words = a->op->bytes == 8 ? 2 : 1, step = c->lanes_per_pass / words;
    bool atomic = a->op->what != LOAD && a->op->what != STORE;

    step = step ? step : 1;
    *passes = *least = 0;
    for (unsigned first = 0; first < c->width; first += step) {
        unsigned demand[128] = {0}, most = 0;
        bool wanted[LDS / 4 + 2] = {false};

        for (unsigned i = first; i < first + step && i < c->width; i++) {
            for (unsigned k = 0; k < words && a->on >> i & 1; k++) {
                uint32_t word = address(a, i) / 4 + k;

                if (atomic || !wanted[word])
                    demand[word % c->banks]++;
                wanted[word] = true;
            }
        }
        for (unsigned b = 0; b < c->banks; b++)
            most = demand[b] > most ? demand[b] : most;
        *passes += most;
        *least += most > 0;
    }
}

/* ---- the machine ---- */

struct seen {
    unsigned n, passes[ACCESSES + 1], least[ACCESSES + 1];
};

static void on_local(void *user, const struct hd_probe_event *e)
{
    struct seen *s = user;

    /* The dump at the end comes behind them. */
    if (s->n < ACCESSES) {
        s->passes[s->n] = e->passes;
        s->least[s->n] = e->least_passes;
    }
    s->n++;
}

static const char *kernel_of(const struct local_case *c)
{
    static char text[32768];
    size_t len = (size_t)snprintf(text, sizeof text,
                                  ".kernel k\n.param index u32[]\n.param on u32[]\n"
                                  ".param out u32[]\n.lds %u\n.vregs 16\n v_get_u32 v0, %%lane\n"
                                  " v_add_u32 v8, v0, 1\n v_mul_u32 v8, v8, 0x01234567\n",
                                  (unsigned)LDS);

    for (unsigned n = 0; n < ACCESSES; n++) {
        const struct access *a = &c->at[n];
        unsigned at = n * LANES * 4;
        char place[48];

        snprintf(place, sizeof place, "[v1*%u + %u]", a->scale, a->disp);
        len += (size_t)snprintf(text + len, sizeof text - len,
                                " global_load_b32 v1, [index + v0*4 + %u]\n"
                                " global_load_b32 v2, [on + v0*4 + %u]\n v_cmp_ne_u32 m0, v2, 0\n"
                                " v_add_u32 v4, v8, %u\n v_xor_b32 v5, v4, 0xffff\n"
                                " v_mov_b32 v6, 0\n v_mov_b32 v7, 0\n",
                                at, at, n);
        if (a->op->what == LOAD)
            len += (size_t)snprintf(text + len, sizeof text - len, " @m0 %s %s, %s\n", a->op->text,
                                    a->op->bytes == 8 ? "v[6:7]" : "v6", place);
        else if (returns(a->op))
            len += (size_t)snprintf(text + len, sizeof text - len, " @m0 %s v6, %s, v4\n",
                                    a->op->text, place);
        else
            len += (size_t)snprintf(text + len, sizeof text - len, " @m0 %s %s, %s\n", a->op->text,
                                    place, a->op->bytes == 8 ? "v[4:5]" : "v4");
        len += (size_t)snprintf(text + len, sizeof text - len,
                                " v_xor_b32 v6, v6, v7\n global_store_b32 [out + v0*4 + %u], v6\n",
                                at);
    }
    /* Local memory as it is left, a wavefront's words at a time. */
    snprintf(text + len, sizeof text - len,
             " s_mov_b32 s8, %u\n v_mov_b32 v1, v0\n"
             "dump:\n local_load_b32 v6, [v1*4]\n global_store_b32 [out + v1*4 + %u], v6\n"
             " v_add_u32 v1, v1, %%width\n s_sub_u32 s8, s8, 1\n s_branch_nz s8, dump\n"
             " s_end\n.endkernel\n",
             LDS / 4 / c->width, (unsigned)(ACCESSES * LANES * 4));
    return text;
}

static void compare(uint64_t seed, const struct local_case *c, const struct seen *s,
                    const uint32_t *out)
{
    static uint8_t lds[LDS + 8];
    unsigned event = 0; /* an access of no lane tells nothing */

    memset(lds, 0, sizeof lds);
    for (unsigned n = 0; n < ACCESSES; n++) {
        const struct access *a = &c->at[n];
        unsigned passes, least;

        for (unsigned lane = 0; lane < c->width; lane++) {
            uint32_t want = act(a, n, lane, lds), got = out[n * LANES + lane];

            if (got != want)
                fail_msg("seed %" PRIu64 ": access %u, %s, lane %u is 0x%" PRIx32
                         ", not 0x%" PRIx32,
                         seed, n, a->op->text, lane, got, want);
        }
        passes_of(c, a, &passes, &least);
        if (!s || !least)
            continue;
        if (s->passes[event] != passes || s->least[event] != least)
            fail_msg("seed %" PRIu64 ": access %u, %s, takes %u passes (%u), not %u (%u)", seed, n,
                     a->op->text, s->passes[event], s->least[event], passes, least);
        event++;
    }
    for (unsigned i = 0; i < LDS / 4; i++)
        assert_int_equal(out[ACCESSES * LANES + i], word_at(lds, 4 * i, 4));
}

static void one_case(uint64_t seed)
{
    static struct local_case c;
    struct rng g;

    rng_seed(&g, seed);
    a_case(&g, &c);
    for (unsigned values = 0; values < 2; values++) {
        struct seen s = {0};
        char text[3][8];
        struct krig r;
        uint32_t id[3], *index, *on;

        snprintf(text[0], sizeof text[0], "%u", c.width);
        snprintf(text[1], sizeof text[1], "%u", c.banks);
        snprintf(text[2], sizeof text[2], "%u", c.lanes_per_pass);
        krig_open(&r, "wavefront_size", text[0], "lds.banks", text[1], "lds.lanes_per_pass",
                  text[2], NULL);
        if (values)
            sim_set_mode(r.m, SIM_VALUES);
        else
            sim_set_probe(r.m, &(struct hd_probe){&s, on_local, HD_PROBE_WANT(HD_PROBE_LOCAL)});
        id[0] = krig_array(&r, ACCESSES * LANES * 4);
        id[1] = krig_array(&r, ACCESSES * LANES * 4);
        id[2] = krig_array(&r, ACCESSES * LANES * 4 + LDS);
        index = sim_array_data(r.m, id[0]);
        on = sim_array_data(r.m, id[1]);
        for (unsigned n = 0; n < ACCESSES; n++)
            for (unsigned lane = 0; lane < c.width; lane++) {
                const struct access *a = &c.at[n];

                index[n * LANES + lane] = a->element[lane] * (a->op->bytes / a->scale);
                on[n * LANES + lane] = a->on >> lane & 1;
            }
        krig_run(&r, &(struct krig_launch){
                         .text = kernel_of(&c),
                         .threads = c.width,
                         .nargs = 3,
                         .args = {KRIG_ARRAY(id[0]), KRIG_ARRAY(id[1]), KRIG_ARRAY(id[2])}});
        compare(seed, &c, values ? NULL : &s, sim_array_data(r.m, id[2]));
        krig_close(&r);
    }
}

static void test_pb23_random_accesses(void **state)
{
    uint64_t seed = test_seed(20261130), count = test_count(300);

    (void)state;
    print_message("seed %" PRIu64 "\n", seed);
    for (uint64_t i = 0; i < count; i++)
        one_case(seed + i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pb23_random_accesses)};

    return cmocka_run_group_tests_name("cases_local", tests, NULL, NULL);
}
