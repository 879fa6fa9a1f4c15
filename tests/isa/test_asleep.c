/* Where lanes may be apart. */
#include "isa/asleep.h"
#include "sim/base/text.h"
#include "tests/isa/mini.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct isa_program *assemble(const char *body)
{
    struct text source = {0};
    struct isa_program *p;

    text_add(&source, ".kernel k\n%s\n.endkernel\n", body);
    p = mini_assemble(text_str(&source));
    text_free(&source);
    return p;
}

/* want: an x for each instruction where lanes may be apart, else a dot. */
static void apart_is(const char *body, const char *want)
{
    struct isa_program *p = assemble(body);
    bool *apart = calloc(p->ninsns, sizeof *apart);
    struct text got = {0};

    assert_non_null(apart);
    assert_true(isa_find_apart(p, &p->kernels[0], apart));
    for (size_t pc = 0; pc < p->ninsns; pc++)
        text_add(&got, apart[pc] ? "x" : ".");
    assert_string_equal(text_str(&got), want);
    text_free(&got);
    free(apart);
    isa_program_free(p);
}

static void lanes_are_apart_from_a_goto_to_its_join(void **state)
{
    (void)state;
    apart_is("s_nop\n@m0 goto a\ns_nop\ns_nop\na: join\ns_nop\ns_end", "..xx...");
    apart_is("@m0 goto a\ns_nop\ngoto b\na: join\ns_nop\nb: join\ns_end", ".xxxx..");
    apart_is("s_nop\na: s_nop\n@m0 goto.b a\njoin\ns_end", ".xx..");
    apart_is("s_nop\na: @m0 goto b\ns_nop\ns_jump a\nb: join\ns_end", ".xxx..");
    apart_is("s_mov_b32 s0, 1\na: s_nop\n@m0 goto b\ns_branch_nz s0, a\nb: join\ns_end", ".xxx..");
    /* lanes that leave by a goto without a predicate, where all are together and where not */
    apart_is("s_nop\ngoto a, a\ns_nop\na: join\ns_end", ".....");
    apart_is("@m0 goto a\ngoto b\na: join\ns_nop\nb: join\ns_end", ".xxx..");
    /* behind an end in a region those that slept are alone */
    apart_is("@m0 goto a\ns_end\na: join\ns_nop\ns_end", ".xxxx");
    apart_is("@m0 s_end\ns_nop\ns_end", "...");
    /* in other forms EXEC, or masks, tell lanes apart */
    apart_is("s_branch_none m0, a\ns_nop\na: s_end", "...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_are_apart_from_a_goto_to_its_join),
    };

    return cmocka_run_group_tests_name("asleep", tests, NULL, NULL);
}
