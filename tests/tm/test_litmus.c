/*
 * Litmus tests: small programs of two to four work-items under every schedule, all detectors and serialisations. Whatever the schedule,
 * they end as some order of whole transactions does.
 */
#include "tests/soak.h"
#include "tests/tm/model_paths.h"
#include "tests/tm/model_rig.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/*
 * A program: of each wavefront a line. ( begins a transaction and ) commits it, ] even if the wavefront has to stop; l, s and a are loads, stores and atomics of 4 bytes
 * unless a digit says otherwise, then comes a letter for each lane: A is the first place of that size in memory, B the next, and - a
 * lane that takes no part. Accesses outside brackets are plain. | is a barrier.
 */
struct litmus {
    const char *name;
    const char *wave[3];
    unsigned banks;
    unsigned must_abort; /* work-items at least, on every schedule */
    unsigned modes;      /* that some schedule reaches */
};

#define WF_MODE (1u << MODEL_WF)
#define WG_MODE (1u << MODEL_WG)

static const struct litmus litmus[] = {
    {"lost update, lanes", {"(lAA sAA)"}, 2, 1, 0},
    {"lost update, wavefronts", {"(lA sA)", "(lA sA)"}, 2, 0, 0},
    {"dirty read", {"(sA sB)", "(lA lB)"}, 2, 0, 0},
    {"read skew", {"(sA sB)", "(lB lA)"}, 2, 0, 0},
    {"write skew", {"(lA lB sA)", "(lA lB sB)"}, 2, 0, 0},
    {"write skew, lanes", {"(lAA lBB sAB)"}, 2, 1, 0},
    {"non-repeatable read", {"(lA lA)", "(sA)"}, 2, 0, 0},
    {"order of writes", {"(sA sB)", "(sB sA)"}, 2, 0, 0},
    {"order of writes, same order", {"(sA sB)", "(sA sB)"}, 2, 0, 0},
    {"upgrade, wavefronts", {"(lA sA)", "(lA sA)", "(lA)"}, 2, 0, 0},
    {"upgrade, lanes and wavefronts", {"(lAA sAA)", "(lAA sAA)"}, 2, 2, WF_MODE},
    {"mutual abort in one pass", {"(sAB sBA)"}, 2, 2, WF_MODE},
    {"pairs in one pass", {"(sABCD sBADC)"}, 4, 8, WF_MODE},
    {"two wavefronts each way", {"(sA sB)", "(sB sA)"}, 2, 0, 0},
    {"deadlock of wavefronts", {"(sA- sB-)", "(sB- sA-)"}, 2, 0, WF_MODE | WG_MODE},
    {"two requests for the work-group", {"(sAC sBA)", "(sBD sAB)"}, 4, 0, WG_MODE},
    {"two requests, each under way", {"(sAC sBA]", "(sBD sAB]"}, 4, 0, WG_MODE},
    {"three in a ring", {"(sA sB)", "(sB sC)", "(sC sA)"}, 4, 0, WG_MODE},
    {"several transactions", {"(lA sB) (lB sA)", "(lB sA)"}, 2, 0, 0},
    {"retry meets a committed lane", {"(lAA sAB)", "(lBA)"}, 2, 0, 0},
    {"store after own load", {"(lA sA lB)", "(sB sA)"}, 2, 0, 0},
    {"two stores to a word", {"(sA sA sB)", "(sB lA)"}, 2, 0, 0},
    {"aliases of the filter", {"(sA sE sA)", "(lE lA)"}, 2, 0, 0},
    {"publication", {"(sA) sB", "lB (lA)"}, 2, 0, 0},
    {"publication over a barrier", {"(sA) | sB", "(lA) | lB"}, 2, 0, 0},
    {"privatisation", {"(lA sA) sB lB", "(lA lB sB)"}, 2, 0, 0},
    {"privatisation over a barrier", {"(lA sB) | lB sA", "(lB sA) | lC"}, 4, 0, 0},
    {"plain store and uncommitted store", {"(sA lB)", "sA lA"}, 2, 0, 0},
    {"plain load of uncommitted store", {"(sA sA)", "lA lA"}, 2, 0, 0},
    {"plain add", {"(lA sA)", "aA aA"}, 2, 0, 0},
    {"64 bits do not tear", {"(s8A)", "(lA lB)", "(l8A)"}, 2, 0, 0},
    {"64 bits against half a word", {"(l8A s8A)", "(lB sB)"}, 2, 0, 0},
    {"64 bits, one word taken", {"(sB lA)", "(s8A lC)"}, 4, 0, 0},
    {"bytes are neighbours", {"(l1A s1A)", "(l1B s1B)"}, 2, 0, 0},
    {"bytes of lanes are neighbours", {"(l1AB s1CD)"}, 2, 1, 0},
    {"atomics", {"(aA aB)", "(aB aA)"}, 2, 0, 0},
    {"atomics of lanes", {"(aAA)", "(aA-)"}, 2, 1, 0},
    {"a lane that sits out", {"(l-A s-A) lA-", "(lA- sA-)"}, 2, 0, 0},
    {"readers only", {"(lAB lBA)", "(lBA lAB)"}, 2, 0, 0},
};

#define LITMUS (sizeof litmus / sizeof litmus[0])

static void parse_access(struct run_op *op, const char **text, unsigned *lanes)
{
    const char *s = *text;

    op->kind = *s == 'l' ? RUN_LOAD : *s == 's' ? RUN_STORE : RUN_ADD;
    op->bytes = 4;
    op->add = (uint8_t)(*text)[1];
    s++;
    if (*s >= '1' && *s <= '8')
        op->bytes = (uint8_t)(*s++ - '0');
    for (unsigned lane = 0; *s == '-' || (*s >= 'A' && *s <= 'Z'); s++, lane++) {
        if (*s == '-')
            continue;
        op->lanes |= UINT64_C(1) << lane;
        op->where[lane] = (uint16_t)(*s - 'A');
    }
    *lanes |= (unsigned)op->lanes;
    *text = s;
}

static void parse_wave(struct run_program *p, unsigned wave, const char *text)
{
    unsigned n = 0, lanes = 0;

    while (*text) {
        struct run_op *op = &p->op[wave][n];

        if (strchr("lsa", *text)) {
            parse_access(op, &text, &lanes);
            n++;
            continue;
        }
        if (strchr("()]|", *text)) {
            op->late = *text == ']';
            op->kind = *text == '(' ? RUN_BEGIN : *text == '|' ? RUN_BARRIER : RUN_COMMIT;
            n++;
        }
        text++;
    }
    p->op[wave][n].kind = RUN_END;
    p->exec[wave] = lanes;
}

static void parse(struct run_program *p, const struct litmus *l, struct model_options o)
{
    memset(p, 0, sizeof *p);
    o.banks = l->banks;
    for (o.waves = 0; o.waves < 3 && l->wave[o.waves]; o.waves++)
        parse_wave(p, o.waves, l->wave[o.waves]);
    p->o = o;
}

/* Runs one program on every schedule; returns how many states there were. */
static uint64_t run_litmus(const struct litmus *l, const struct model_options *o)
{
    struct run_program p;
    struct paths paths = {.count_aborts = l->must_abort || l->modes};
    struct paths_ends serial = {0};
    uint8_t memory[4 * MODEL_WORDS] = {0};
    struct run_machine machine;
    void *rig;

    parse(&p, l, *o);
    rig = calloc(1, rig_size(&p.o));
    rig_init(rig, &p.o, memory);
    machine = rig_machine(rig);
    paths_serial(&serial, &p, memory);
    if (!paths_explore(&paths, &p, &machine, rig_broken))
        fail_msg("%s: %s", l->name, paths.why);
    for (size_t i = 0; i < paths.ends.count; i++)
        if (!paths_has(&serial, paths.ends.end[i]))
            fail_msg("%s: ends as no order does", l->name);
    if (paths.least_aborts < l->must_abort)
        fail_msg("%s: only %u aborts", l->name, paths.least_aborts);
    if (l->modes & ~paths.modes)
        fail_msg("%s: modes %x", l->name, paths.modes);
    paths_free(&paths);
    free(serial.end);
    free(rig);
    return paths.states;
}

static void options_of(struct model_options *o, unsigned detector, unsigned serialise)
{
    *o = (struct model_options){.detector = (enum model_detector)detector,
                                .multiple = serialise >= 2,
                                .descending = serialise & 1,
                                .width = 8,
                                .lanes_per_pass = 8,
                                .words = 8,
                                .hash_k = 1,
                                .strong = true};
}

/*
 * Of the 64 configurations `make test` takes all detectors and serialisations of a program, with one of the four choices of the rest;
 * of a large program one serialisation and two detectors. `make soak` takes all.
 */
static bool is_left_out(const struct litmus *l, unsigned i, unsigned c)
{
    bool large = l->wave[2] || (l->wave[1] && strlen(l->wave[0]) > 10);

    if (test_count(1) > 1)
        return false;
    return c / 16 != i % 4 || (large && (c / 4 % 4 != i % 3 + 1 || (c + i / 3) % 2));
}

static void test_litmus(void **state)
{
    uint64_t states = 0;

    (void)state;
    for (unsigned i = 0; i < LITMUS; i++)
        for (unsigned c = 0; c < 64; c++) {
            struct model_options o;

            options_of(&o, c % 4, c / 4 % 4);
            o.hold_wave = c / 16 % 2;
            if (c / 32) {
                o.hash_k = 2;
                o.release_epoch = true;
                o.helper_per_wave = true;
                o.early_exit = true;
            }
            if (is_left_out(&litmus[i], i, c))
                continue;
            states += run_litmus(&litmus[i], &o);
        }
    print_message("%zu programs, %" PRIu64 " states\n", LITMUS, states);
}

/* Of pairs (0, 1) and (2, 3), multiple selection takes one of each at once. */
static void test_pairs_by_selection(void **state)
{
    (void)state;
    for (unsigned c = 0; c < 16; c++) {
        struct model_options o;
        struct run_program p;
        struct paths paths = {.count_aborts = true};
        struct run_machine machine;
        static const uint8_t memory[4 * MODEL_WORDS];
        static const struct litmus pairs = {"pairs", {"(sABCD sBADC)"}, 4, 0, 0};
        void *rig;

        options_of(&o, c % 4, c / 4);
        parse(&p, &pairs, o);
        rig = calloc(1, rig_size(&p.o));
        rig_init(rig, &p.o, memory);
        machine = rig_machine(rig);
        assert_true(paths_explore(&paths, &p, &machine, rig_broken));
        /* Twice all four; then multiple takes two at a time, single one alone and twice a pair. */
        assert_int_equal(paths.least_aborts, o.multiple ? 8 : 12);
        assert_int_equal(paths.most_aborts, o.multiple ? 8 : 12);
        paths_free(&paths);
        free(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_litmus),
        cmocka_unit_test(test_pairs_by_selection),
    };

    return cmocka_run_group_tests_name("litmus", tests, NULL, NULL);
}
