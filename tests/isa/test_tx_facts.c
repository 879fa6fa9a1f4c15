/* What the code of transactions says of their read and write sets. */
#include "isa/tx_facts.h"
#include "tests/isa/mini.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static struct isa_tx_facts facts_of(const char *body)
{
    char text[1024];
    struct isa_program *p;
    struct isa_tx_facts f;

    snprintf(text, sizeof text,
             ".kernel k\n.lds 64\nv_mov_b32 v0, 0\nv_mov_b32 v2, 0\nv_mov_b32 v3, 0\n"
             "s_mov_b32 s0, 2\nm_mov m1, -1\nm_mov m2, 0\n%s\ns_end\n.endkernel\n",
             body);
    p = mini_assemble(text);
    f = p->kernels[0].tx;
    isa_program_free(p);
    return f;
}

static void increments(void **state)
{
    struct isa_tx_facts f = facts_of("local_store_b32 [8], v0\ntx.begin\nlocal_load_b32 v1, [v0]\n"
                                     "local_store_b32 [v0], v1\nlocal_store_b64 [v0 + 8], v[2:3]\n"
                                     "tx.commit");

    (void)state;
    assert_int_equal(f.transactions, 1);
    assert_int_equal(f.reads, 1);
    assert_int_equal(f.writes, 3); /* the store in front is not in it */
    assert_true(f.changes_all);
    assert_false(f.reads_only);
    assert_false(f.unbounded);
}

static void other_words_and_other_lanes(void **state)
{
    struct isa_tx_facts f = facts_of("tx.begin\nlocal_load_b32 v1, [v0]\n"
                                     "local_store_b32 [v0 + 4], v1\ntx.commit");

    (void)state;
    assert_false(f.changes_all);
    assert_false(f.reads_only);
    f = facts_of("tx.begin\n@m1 local_load_b32 v1, [v0]\n@m2 local_store_b32 [v0], v1\ntx.commit");
    assert_false(f.changes_all);
    assert_true(f.reads_only);
}

static void loops_and_several(void **state)
{
    struct isa_tx_facts f =
        facts_of("tx.begin\nagain:\nlocal_load_b32 v1, [v0]\ns_sub_u32 s0, s0, 1\n"
                 "s_branch_nz s0, again\ntx.commit\ntx.begin\nlocal_load_b32 v1, [0]\n"
                 "local_load_b32 v2, [4]\nlocal_store_b32 [0], v1\nlocal_store_b32 [4], v2\n"
                 "tx.commit");

    (void)state;
    assert_int_equal(f.transactions, 2);
    assert_int_equal(f.reads, 2);
    assert_int_equal(f.writes, 2);
    assert_true(f.unbounded);
    assert_true(f.reads_only);   /* the first */
    assert_false(f.changes_all); /* the first */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(increments),
        cmocka_unit_test(other_words_and_other_lanes),
        cmocka_unit_test(loops_and_several),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
