/*
 * Lanes that drop out of a transaction, at random places of random goto programs: they travel along without effect until the commit and
 * go through it again, while lanes that are done stay as they are. In the end each lane has what it has when it runs alone.
 */
#include "sim/base/bits.h"
#include "tests/cf/unit_rig.h"
#include "tests/isa/goto_programs.h"
#include "tests/soak.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_BYTES = 4096, LIMIT = 1000000 };

struct attempts {
    struct rng rng;
    unsigned one_in; /* instructions that drop a lane; 0: none does */
    /* as it was at tx.begin */
    uint8_t state[MAX_BYTES];
    size_t used;
    struct isa_wave w;
    uint32_t v[UNIT_RIG_VREGS * ISA_MAX_WIDTH];
    uint32_t begin;
    /* registers of the lanes that dropped out, and of those that are done */
    uint32_t inert[UNIT_RIG_VREGS * ISA_MAX_WIDTH];
    uint64_t m[ISA_MASKS + 1];
    unsigned aborts, attempts;
};

static void keep_inert(struct unit_rig *r, struct attempts *a, uint64_t lanes)
{
    for (; lanes; lanes &= lanes - 1)
        for (unsigned reg = 0; reg < UNIT_RIG_VREGS; reg++) {
            size_t at = reg * r->lanes->width + bits_first(lanes);

            a->inert[at] = r->v[at];
        }
}

static void keep_inert_masks(const struct unit_rig *r, struct attempts *a, uint64_t lanes)
{
    for (unsigned k = 0; k < ISA_MASKS; k++)
        a->m[k] = (a->m[k] & ~lanes) | (r->w.m[k] & lanes);
}

static void check_inert(struct unit_rig *r, const struct attempts *a, uint64_t lanes)
{
    for (unsigned k = 0; k < ISA_MASKS; k++)
        assert_true(((a->m[k] ^ r->w.m[k]) & lanes) == 0);
    for (; lanes; lanes &= lanes - 1)
        for (unsigned reg = 0; reg < UNIT_RIG_VREGS; reg++) {
            size_t at = reg * r->lanes->width + bits_first(lanes);

            assert_int_equal(a->inert[at], r->v[at]);
        }
}

static void drop_a_lane(struct unit_rig *r)
{
    struct attempts *a = r->user;
    uint64_t lanes = r->w.tx & r->w.exec & r->w.live;

    if (r->w.tx == UINT64_MAX || !a->one_in || !lanes || rng_below(&a->rng, a->one_in))
        return;
    for (uint64_t skip = rng_below(&a->rng, bits_count(lanes)); skip; skip--)
        lanes &= lanes - 1;
    lanes &= -lanes;
    keep_inert(r, a, lanes);
    keep_inert_masks(r, a, lanes);
    r->w.tx &= ~lanes;
    r->w.tcm |= lanes;
    a->aborts++;
}

static void begin(struct unit_rig *r, struct attempts *a)
{
    a->begin = r->pc;
    a->w = r->w;
    memcpy(a->v, r->v, sizeof a->v);
    a->used = r->unit->used(r->state);
    memcpy(a->state, r->state, a->used);
    r->w.tx = r->w.exec & r->w.live;
    a->attempts = 1;
}

/* The lanes of TCM go back; those of ATT that are done are as the attempt leaves them. */
static void go_back(struct unit_rig *r, struct attempts *a)
{
    uint64_t back = r->w.tcm;

    for (uint64_t rest = back; rest; rest &= rest - 1)
        for (unsigned reg = 0; reg < UNIT_RIG_VREGS; reg++) {
            size_t at = reg * r->lanes->width + bits_first(rest);

            r->v[at] = a->v[at];
        }
    for (unsigned k = 0; k < ISA_MASKS; k++)
        r->w.m[k] = (r->w.m[k] & ~back) | (a->w.m[k] & back);
    memcpy(r->w.s, a->w.s, sizeof r->w.s);
    memcpy(r->state, a->state, a->used);
    r->w.exec = r->unit->exec(r->state);
    r->w.tx = back;
    r->w.tcm = 0;
    r->pc = a->begin;
    keep_inert(r, a, r->w.live & ~back);
    keep_inert_masks(r, a, r->w.live & ~back);
    a->one_in *= 2; /* so that there is an end */
    a->attempts++;
}

static void border(struct unit_rig *r, const struct isa_insn *in)
{
    struct attempts *a = r->user;

    if (in->format == ISA_TXBEGIN) {
        begin(r, a);
        return;
    }
    assert_true(r->w.exec == r->w.live);
    check_inert(r, a, r->w.live & ~r->w.tx);
    if (r->w.tcm && a->attempts < 20) {
        go_back(r, a);
        return;
    }
    assert_true(r->w.tcm == 0);
    r->w.tx = UINT64_MAX;
}

/* The program with all that decides and computes inside a transaction. */
static void in_transaction(struct rng *rng, struct text *out)
{
    static const char head[] = "v_mov_b32 v2, 0\n", tail[] = "s_end\n";
    struct text source = {0};
    const char *text, *body, *end;

    goto_program(rng, &source);
    text = text_str(&source);
    body = strstr(text, head) + strlen(head);
    end = strstr(body, tail);
    text_add(out, "%.*stx.begin\n%.*stx.commit\n%s", (int)(body - text), text, (int)(end - body),
             body, end);
    text_free(&source);
}

static void run(const char *text, unsigned width, uint64_t live, struct attempts *a,
                uint32_t *result)
{
    struct unit_rig r;

    unit_rig_open(&r, "goto-join", text, width, live);
    assert_true(r.unit->size(r.program, width) <= MAX_BYTES);
    r.limit = LIMIT;
    r.border = border;
    r.before = drop_a_lane;
    r.user = a;
    assert_int_equal(unit_rig_run(&r), CF_ALL_ENDED);
    for (unsigned lane = 0; lane < width; lane++)
        if (live >> lane & 1)
            result[lane] = *unit_rig_v(&r, GOTO_RESULT, lane);
    unit_rig_close(&r);
}

static void test_lanes_that_drop_out(void **state)
{
    static const unsigned one_in[] = {2, 8, 32, 128};
    struct attempts a;
    unsigned long aborts = 0, retried = 0;
    uint64_t seed = test_seed(21);
    struct rng rng;

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    rng_seed(&rng, seed);
    for (uint64_t round = 0; round < test_count(120); round++) {
        unsigned width = 8u << rng_below(&rng, 3);
        uint64_t live = rng_next(&rng) | 1;
        uint32_t want[ISA_MAX_WIDTH], got[ISA_MAX_WIDTH];
        struct text text = {0};

        live &= UINT64_MAX >> (64 - width);
        in_transaction(&rng, &text);
        memset(&a, 0, sizeof a);
        for (unsigned lane = 0; lane < width; lane++)
            if (live >> lane & 1)
                run(text_str(&text), width, UINT64_C(1) << lane, &a, want);
        a.one_in = one_in[rng_below(&rng, 4)];
        rng_seed(&a.rng, rng_next(&rng));
        run(text_str(&text), width, live, &a, got);
        for (unsigned lane = 0; lane < width; lane++)
            if ((live >> lane & 1) && want[lane] != got[lane])
                fail_msg("lane %u of %u differs in\n%s", lane, width, text_str(&text));
        aborts += a.aborts;
        retried += a.attempts > 2;
        text_free(&text);
    }
    print_message("lanes that dropped out: %lu; transactions of three attempts or more: %lu\n",
                  aborts, retried);
    assert_true(aborts > 0 && retried > 0);
}

/* ---- steps by hand: lanes 4-7 drop out before the nth instruction of all ---- */

struct drop {
    unsigned at;
};

static void drop_upper(struct unit_rig *r)
{
    const struct drop *d = r->user;

    if (r->issued != d->at)
        return;
    r->w.tx &= 0x0f;
    r->w.tcm = 0xf0;
}

static void plain_border(struct unit_rig *r, const struct isa_insn *in)
{
    r->w.tx = in->format == ISA_TXBEGIN ? r->w.exec & r->w.live : UINT64_MAX;
    r->w.tcm = 0;
}

/* Lanes 4-7 go round until they drop out. */
static const char rounds[] = ".kernel k\n.form goto\n"
                             " v_get_u32 v2, %lane\n"     /* 0 */
                             " v_cmp_lt_u32 m0, v2, 4\n"  /* 1 */
                             " tx.begin\n"                /* 2 */
                             " @m0 goto a\n"              /* 3 */
                             "h:\n v_add_u32 v3, v3, 1\n" /* 4 */
                             " @!m0 goto.b h\n"           /* 5 */
                             " join\n"                    /* 6 */
                             "a:\n join\n"                /* 7 */
                             " v_add_u32 v4, v4, 1\n"     /* 8 */
                             " tx.commit\n"               /* 9 */
                             " s_end\n.endkernel\n";      /* 10 */

struct row {
    uint32_t pc;
    uint64_t exec;
};

static void run_rounds(unsigned at, const struct row *rows, unsigned n, unsigned hops, uint32_t v3)
{
    struct unit_rig r;

    unit_rig_open(&r, "goto-join", rounds, 8, 0xff);
    r.border = plain_border;
    r.before = drop_upper;
    r.user = &(struct drop){at};
    assert_int_equal(unit_rig_run(&r), CF_ALL_ENDED);
    assert_int_equal(r.issued, n);
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(r.trace[i].pc, rows[i].pc);
        assert_true(r.trace[i].exec == rows[i].exec);
    }
    for (unsigned lane = 0; lane < 8; lane++) {
        assert_int_equal(*unit_rig_v(&r, 3, lane), lane < 4 ? 0 : v3);
        assert_int_equal(*unit_rig_v(&r, 4, lane), lane < 4);
    }
    assert_int_equal(r.hops, hops);
    unit_rig_close(&r);
}

/* Out before the goto: no active lane stays, so that it leads to JIP. Out in the second round: goto.b puts none to sleep, the join hops. */
static void test_ways_of_lanes_that_are_out(void **state)
{
    static const struct row early[] = {{0, 0xff}, {1, 0xff}, {2, 0xff}, {3, 0xff},
                                       {7, 0xf0}, {8, 0xff}, {9, 0xff}, {10, 0xff}};
    static const struct row late[] = {{0, 0xff}, {1, 0xff}, {2, 0xff}, {3, 0xff}, {4, 0xf0},
                                      {5, 0xf0}, {4, 0xf0}, {5, 0xf0}, {6, 0xf0}, {7, 0xf0},
                                      {8, 0xff}, {9, 0xff}, {10, 0xff}};

    (void)state;
    run_rounds(3, early, 8, 0, 0);
    run_rounds(7, late, 13, 1, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes_that_drop_out),
        cmocka_unit_test(test_ways_of_lanes_that_are_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
