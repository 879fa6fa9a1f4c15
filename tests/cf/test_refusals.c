/* Kernels that a unit refuses before they run, and the like that it takes. */
#include "isa/asm.h"
#include "tests/cf/unit_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct refusal {
    const char *units; /* that refuse, each with a blank behind it; of the form's others all take it */
    unsigned form;
    const char *body;
    const char *code, *place, *word;
};

static void try_unit(const struct refusal *c, const struct cf_unit_ops *unit,
                     const struct isa_program *program)
{
    struct hd_error err;
    struct cf_plan *plan;
    enum hd_status status = cf_prepare(unit, program, &program->kernels[0], &plan, &err);
    char name[32];

    snprintf(name, sizeof name, "%s ", unit->name);
    if (!strstr(c->units, name)) {
        if (status != HD_OK)
            fail_msg("%s refuses: %s (%s)", unit->name, err.message, err.place);
        free(plan);
        return;
    }
    if (status != HD_BAD_INPUT)
        fail_msg("%s takes\n%s", unit->name, c->body);
    assert_null(plan);
    assert_string_equal(err.code, c->code);
    assert_string_equal(err.place, c->place);
    if (!strstr(err.message, c->word))
        fail_msg("%s is not in: %s", c->word, err.message);
    assert_true(err.hint[0] != '\0');
}

static void try_all(const struct refusal *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[1024];
        struct isa_program *program;
        struct hd_error err;

        /* The body begins on line 4; half of the lanes are in m0. */
        snprintf(text, sizeof text,
                 ".kernel k\n.lds 8\n v_cmp_lt_u32 m0, v2, 4\n%s s_end\n.endkernel\n",
                 cases[i].body);
        if (isa_assemble_text("t.hasm", text, strlen(text), NULL, 0, &program, &err))
            fail_msg("%s (%s)", err.message, err.place);
        for (size_t u = 0; cf_units[u]; u++)
            if (cf_units[u]->forms & cases[i].form)
                try_unit(&cases[i], cf_units[u], program);
        isa_program_free(program);
    }
}

#define TRY_ALL(cases) try_all(cases, sizeof(cases) / sizeof *(cases))
#define GROUPS "simt-stack min-pc barrier "

/* What looks at lanes that are elsewhere. */
static void test_lanes(void **state)
{
    static const struct refusal cases[] = {
        {GROUPS, ISA_FORM_GOTO, " @m0 goto a\n v_mov_b32.nomask v3, 1\na:\n join\n", "unit-lanes",
         "t.hasm:5", "v_mov_b32.nomask of kernel k"},
        {GROUPS, ISA_FORM_GOTO, " @m0 goto a\n v_shuffle_xor_b32 v3, v2, 1\na:\n join\n",
         "unit-lanes", "t.hasm:5", "since t.hasm:4"},
        {GROUPS, ISA_FORM_GOTO, " @m0 goto a\n s_any s8, m0\na:\n join\n", "unit-lanes", "t.hasm:5",
         "s_any"},
        {GROUPS, ISA_FORM_GOTO, " @m0 goto a\n s_branch_any m0, a\na:\n join\n", "unit-lanes",
         "t.hasm:5", "s_branch_any"},
        {GROUPS, ISA_FORM_GOTO, " @m0 goto a\n m_mov s[8:9], m0\na:\n join\n", "unit-lanes",
         "t.hasm:5", "m_mov"},
        {GROUPS, ISA_FORM_GOTO, " @m0 goto a\n v_readfirst_b32 s8, v2\na:\n join\n", "unit-lanes",
         "t.hasm:5", "v_readfirst_b32"},
        {GROUPS, ISA_FORM_GOTO, " @m0 goto a\n v_readlane_b32 s8, v2, 2\na:\n join\n", "unit-lanes",
         "t.hasm:5", "v_readlane_b32"},
        {GROUPS, ISA_FORM_GOTO, " @m0 goto a\n v_writelane_b32 v3, 2, 2\na:\n join\n", "unit-lanes",
         "t.hasm:5", "v_writelane_b32"},
        {GROUPS, ISA_FORM_GOTO, " @m0 goto a\n m_and s[8:9], exec, -1\na:\n join\n", "unit-lanes",
         "t.hasm:5", "m_and"},
        /* in a loop that some lanes may have left */
        {GROUPS, ISA_FORM_GOTO, "a:\n s_popcount s8, m0\n @m0 goto.b a\n join\n", "unit-lanes",
         "t.hasm:5", "since t.hasm:6"},
        /* before they part, behind their join, and where a goto takes all */
        {"", ISA_FORM_GOTO,
         " s_any s8, m0\n @m0 goto a\n v_mov_b32 v3, 1\n m_and m1, m0, exec\na:\n join\n"
         " v_mov_b32.nomask v3, 1\n s_any s8, m0\n goto b\n s_nop\nb:\n join\n",
         NULL, NULL, NULL},
        /* what each lane does for itself */
        {"", ISA_FORM_GOTO,
         " @m0 goto a\n @m1 v_mov_b32 v3, 1\n m_mov m1, exec\n m_not vcc, m1\n m_mov m1, s[8:9]\n"
         " v_cmp_eq_u32 vcc, v2, 1\na:\n join\n",
         NULL, NULL, NULL},
        /* In front of the barrier some lanes may wait while others are already behind the join. */
        {"min-pc ", ISA_FORM_GOTO, " @m0 goto a\n s_barrier\na:\n join\n s_any s8, m0\n",
         "unit-lanes", "t.hasm:8", "s_any"},
        {"min-pc barrier ", ISA_FORM_GOTO, " @m0 s_barrier\n s_any s8, m0\n join\n", "unit-lanes",
         "t.hasm:5", "since t.hasm:4"},
        /* Who has left a loop with a lock is not waited for. */
        {"barrier ", ISA_FORM_GOTO,
         "a:\n local_atomic_or_b32_rtn v3, [0], v2\n v_cmp_ne_u32 m0, v3, 0\n @m0 goto.b a\n join\n"
         " s_any s8, m0\n",
         "unit-lanes", "t.hasm:9", "s_any"},
    };

    (void)state;
    TRY_ALL(cases);
}

/* What groups would overwrite for each other. */
static void test_scalars(void **state)
{
    static const struct refusal cases[] = {
        /* Both arms count in s8, in loops between whose trips the other may run. */
        {"barrier ", ISA_FORM_GOTO,
         " @m0 goto b\n s_mov_b32 s8, 3\na:\n local_load_b32 v3, [0]\n s_sub_u32 s8, s8, 1\n"
         " s_branch_nz s8, a\n goto e\nb:\n join\n s_mov_b32 s8, 5\ne:\n join\n",
         "unit-scalars", "t.hasm:7", "s8 of kernel k"},
        /* Without memory the loop cannot wait for others. */
        {"", ISA_FORM_GOTO,
         " @m0 goto b\n s_mov_b32 s8, 3\na:\n s_sub_u32 s8, s8, 1\n"
         " s_branch_nz s8, a\n goto e\nb:\n join\n s_mov_b32 s8, 5\ne:\n join\n",
         NULL, NULL, NULL},
        /* Another register; or the others wait. */
        {"", ISA_FORM_GOTO,
         " @m0 goto b\n s_mov_b32 s8, 3\na:\n local_load_b32 v3, [0]\n s_sub_u32 s8, s8, 1\n"
         " s_branch_nz s8, a\n goto e\nb:\n join\n s_mov_b32 s9, 5\ne:\n join\n",
         NULL, NULL, NULL},
        {"", ISA_FORM_GOTO,
         " @m0 goto e\n s_mov_b32 s8, 3\na:\n local_load_b32 v3, [0]\n s_sub_u32 s8, s8, 1\n"
         " s_branch_nz s8, a\ne:\n join\n s_mov_b32 s8, 5\n",
         NULL, NULL, NULL},
        /* Behind a barrier it is needed, and the others have run. */
        {"min-pc barrier ", ISA_FORM_GOTO,
         " @m0 goto b\n s_mov_b32 s8, 3\n s_barrier\n v_mov_b32 v3, s8\n goto e\n"
         "b:\n join\n s_mov_b32 s8, 5\ne:\n join\n",
         "unit-scalars", "t.hasm:7", "s8 of kernel k"},
    };

    (void)state;
    TRY_ALL(cases);
}

/* What a skip keeps from happening, and a mask does not. */
static void test_skips(void **state)
{
    static const struct refusal cases[] = {
        {"predication ", ISA_FORM_PREDICATED,
         " s_branch_none m0, a\n s_mov_b32 s8, 1\na:\n v_mov_b32 v3, s8\n", "unit-skip", "t.hasm:5",
         "s8 is written here"},
        {"predication ", ISA_FORM_PREDICATED,
         " s_branch_none m0, a\n local_store_b32 [v2*4], v3\na:\n s_nop\n", "unit-skip", "t.hasm:5",
         "local_store_b32 has no mask"},
        {"predication ", ISA_FORM_PREDICATED, " s_branch_all m0, a\n s_barrier\na:\n s_nop\n",
         "unit-skip", "t.hasm:5", "t.hasm:4"},
        {"predication ", ISA_FORM_PREDICATED, " s_branch_none m0, a\n s_end\na:\n s_nop\n",
         "unit-skip", "t.hasm:5", "s_end"},
        {"predication ", ISA_FORM_PREDICATED,
         " s_branch_none m0, a\n v_cmp_eq_u32 vcc, v2, 1\na:\n @vcc v_mov_b32 v3, 1\n", "unit-skip",
         "t.hasm:5", "vcc is written here"},
        /* Under any-branch some lanes come to a, or none does. */
        {"predication ", ISA_FORM_PREDICATED,
         " s_branch_none m0, a\n s_jump b\na:\n v_mov_b32 v3, 1\nb:\n s_nop\n", "unit-skip",
         "t.hasm:5", "s_jump leads past"},
        {"predication ", ISA_FORM_PREDICATED,
         " s_branch_none m0, a\n s_branch_nz s8, b\na:\n v_mov_b32 v3, 1\nb:\n s_nop\n",
         "unit-skip", "t.hasm:5", "s_branch_nz leads past"},
        /* Inside, and to the end itself, all ways are the skip's own. */
        {"", ISA_FORM_PREDICATED,
         " s_branch_none m0, a\nb:\n s_sub_u32 s8, s8, 1\n s_branch_nz s8, b\n s_jump a\n"
         " @m0 v_mov_b32 v3, 1\na:\n s_nop\n",
         NULL, NULL, NULL},
        {"", ISA_FORM_PREDICATED,
         " s_branch_none m0, a\n s_mov_b32 s8, 1\n @m0 v_mov_b32 v3, s8\n"
         " @m0 local_store_b32 [v2*4], v3\n v_mov_b32 v4, 1\na:\n s_mov_b32 s8, 2\n"
         " v_mov_b32 v3, s8\n",
         NULL, NULL, NULL},
        /* Taken anyhow. */
        {"", ISA_FORM_PREDICATED,
         " s_branch_any m0, a\n s_mov_b32 s8, 1\n local_store_b32 [v2*4], v3\na:\n"
         " v_mov_b32 v3, s8\n",
         NULL, NULL, NULL},
    };

    (void)state;
    TRY_ALL(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_skips),
    };

    return cmocka_run_group_tests_name("refusals", tests, NULL, NULL);
}
