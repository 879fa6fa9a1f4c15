/* Texts, arrays and pools that grow, and sizes that overflow. */
#include "sim/base/checked.h"
#include "sim/base/pool.h"
#include "sim/base/text.h"
#include "sim/base/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_text_grows(void **state)
{
    struct text t = {0};

    (void)state;
    assert_string_equal(text_str(&t), "");
    for (int i = 0; i < 1000; i++)
        text_add(&t, "%03d", i);
    assert_int_equal(t.len, 3000);
    assert_memory_equal(text_str(&t) + 3 * 517, "517", 3);
    text_add_bytes(&t, "\0x", 2);
    assert_int_equal(t.len, 3002);
    assert_int_equal(t.at[3002], '\0');
    assert_false(t.failed);
    text_free(&t);
    assert_null(t.at);
}

static void test_vec_grows(void **state)
{
    VEC(uint64_t) v = {0};

    (void)state;
    for (uint64_t i = 0; i < 10000; i++)
        assert_true(vec_push(&v, i * i));
    assert_int_equal(v.len, 10000);
    for (uint64_t i = 0; i < 10000; i++)
        assert_true(v.at[i] == i * i);
    vec_free(&v);
    assert_int_equal(v.cap, 0);
}

/* More bytes than there are addresses: refused, and what was there stays. */
static void test_vec_keeps_what_it_has(void **state)
{
    VEC(uint64_t) v = {0};

    (void)state;
    assert_true(vec_push(&v, 7));
    assert_false(vec_reserve(&v, SIZE_MAX / 4));
    assert_int_equal(v.len, 1);
    assert_true(v.at[0] == 7);
    vec_free(&v);
}

static void test_pool_gives_each_item_once(void **state)
{
    enum { ITEMS = 1000 };
    static bool taken[4 * ITEMS];
    struct pool p;

    (void)state;
    assert_true(pool_init(&p, 12, 4));
    for (uint32_t i = 0; i < ITEMS; i++) {
        uint32_t index = pool_take(&p);

        assert_in_range(index, 0, p.count - 1);
        assert_false(taken[index]);
        taken[index] = true;
        memset(pool_at(&p, index), 0xee, 12);
    }
    pool_give(&p, 17);
    pool_give(&p, 5);
    assert_int_equal(pool_take(&p), 5);
    assert_int_equal(pool_take(&p), 17);
    pool_free(&p);
}

static void test_sizes_say_when_they_overflow(void **state)
{
    size_t s;
    uint64_t u;

    (void)state;
    assert_true(size_add(SIZE_MAX - 1, 1, &s));
    assert_true(s == SIZE_MAX);
    assert_false(size_add(SIZE_MAX, 1, &s));
    assert_true(size_mul((size_t)1 << 32, (size_t)1 << 31, &s));
    assert_false(size_mul((size_t)1 << 32, (size_t)1 << 32, &s));
    assert_true(u64_add(UINT64_MAX, 0, &u));
    assert_false(u64_add(UINT64_MAX, 1, &u));
    assert_false(u64_mul(UINT64_MAX, 2, &u));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_grows),
        cmocka_unit_test(test_vec_grows),
        cmocka_unit_test(test_vec_keeps_what_it_has),
        cmocka_unit_test(test_pool_gives_each_item_once),
        cmocka_unit_test(test_sizes_say_when_they_overflow),
    };

    return cmocka_run_group_tests_name("containers", tests, NULL, NULL);
}
