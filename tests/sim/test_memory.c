/* The address space: placement, guard pages, look-up, messages, limits. */
#include "tests/sim/rig.h"

static struct rig *open_default(void)
{
    struct sim_config c = rig_config();

    return rig_open(&c);
}

static void arrays_are_aligned_zero_and_guarded(void **state)
{
    static const uint64_t sizes[] = {1, 4, 4095, 4096, 4097, 100000};
    struct rig *r = open_default();
    uint64_t end = 0;

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint32_t id = rig_array(r, "x", SIM_MANAGED, sizes[i]);
        uint64_t base = sim_array_address(&r->m, id);
        const uint8_t *data = sim_array_data(&r->m, id);

        assert_int_equal(base % PAGE, 0);
        assert_int_equal((uintptr_t)data % 64, 0);
        assert_true(base >= end + PAGE);
        for (uint64_t k = 0; k < sizes[i]; k++)
            assert_int_equal(data[k], 0);
        end = base + sizes[i];
    }
    rig_close(r);
}

enum { RANDOM_ARRAYS = 60 };

/* An address in one of the arrays, or up to 4,000 bytes behind it, where no other one is. */
static void look_up(struct rig *r, uint64_t base, uint64_t size, uint64_t random)
{
    uint64_t offset = random % (size + 4000);
    const struct sim_array *found = memory_find(&r->m.memory, base + offset);

    assert_int_equal(found != NULL, offset < size);
    if (found)
        assert_int_equal(found->base, base);
}

static void random_arrays_are_found(void **state)
{
    struct rig *r = open_default();
    uint64_t rng = 7, base[RANDOM_ARRAYS] = {0}, size[RANDOM_ARRAYS] = {0};
    uint32_t id[RANDOM_ARRAYS];

    (void)state;
    print_message("seed 7\n");
    for (int step = 0; step < 20000; step++) {
        size_t i;

        rng = rng * 6364136223846793005u + 1442695040888963407u;
        i = (rng >> 33) % RANDOM_ARRAYS;
        if (step % 5 == 0 && size[i]) {
            assert_int_equal(sim_array_free(&r->m, id[i], NULL), HD_OK);
            size[i] = 0;
        } else if (step % 5 == 1 && !size[i]) {
            size[i] = 1 + (rng >> 40) % 20000;
            id[i] = rig_array(r, "x", SIM_MANAGED, size[i]);
            base[i] = sim_array_address(&r->m, id[i]);
        }
        look_up(r, base[i], size[i], rng >> 20);
    }
    rig_close(r);
}

static void assert_described(struct rig *r, uint64_t address, const char *want)
{
    char got[256];

    memory_describe(&r->m.memory, address, got, sizeof got);
    assert_string_equal(got, want);
}

static void addresses_are_described(void **state)
{
    struct rig *r = open_default();
    uint32_t x, y, z;
    uint64_t end, freed;

    (void)state;
    assert_described(r, 1 << 20, "in no array");
    x = rig_array(r, "x", SIM_MANAGED, 400);
    y = rig_array(r, "y", SIM_MANAGED, 400);
    z = rig_array(r, "z", SIM_MANAGED, 400);
    end = sim_array_address(&r->m, x) + 400;
    freed = sim_array_address(&r->m, y);
    assert_described(r, 0, "null");
    assert_described(r, 16, "null with an offset");
    assert_described(r, 1 << 20, "in no array");
    assert_described(r, end + 4, "4 bytes past the end of array x (100 elements of 4 bytes)");
    assert_described(r, freed - 12, "12 bytes before array y (100 elements of 4 bytes)");
    assert_described(r, sim_array_address(&r->m, x) - 8,
                     "8 bytes before array x (100 elements of 4 bytes)");
    assert_int_equal(sim_array_free(&r->m, y, NULL), HD_OK);
    assert_described(r, freed + 40, "byte 40 of array y, which was freed");
    assert_described(r, sim_array_address(&r->m, z) + 400,
                     "0 bytes past the end of array z (100 elements of 4 bytes)");
    rig_close(r);
}

static void ids_are_used_again_and_addresses_never(void **state)
{
    struct rig *r = open_default();
    uint64_t last = 0;

    (void)state;
    for (int i = 0; i < 5000; i++) {
        uint32_t id = rig_array(r, "x", SIM_MANAGED, 4096);

        assert_int_equal(id, 0);
        assert_true(sim_array_address(&r->m, id) > last);
        last = sim_array_address(&r->m, id);
        assert_int_equal(sim_array_free(&r->m, id, NULL), HD_OK);
        assert_null(memory_find(&r->m.memory, last));
    }
    assert_int_equal(r->m.memory.arrays.len, 1);
    assert_int_equal(r->m.memory.retired.len, MEMORY_RETIRED_MAX);
    rig_close(r);
}

static void large_arrays_cost_nothing_until_touched(void **state)
{
    struct rig *r = open_default();
    uint64_t bytes = UINT64_C(3) << 30;
    uint32_t id = rig_array(r, "x", SIM_MANAGED, bytes);
    uint8_t *data = sim_array_data(&r->m, id);

    (void)state;
    data[bytes - 1] = 1;
    assert_int_equal(data[0], 0);
    assert_int_equal(rig_residency(r, id).unpopulated, bytes / PAGE);
    rig_close(r);
}

static void assert_refused(struct rig *r, const struct sim_array_desc *d, const char *code,
                           const char *text)
{
    struct hd_error err = {0};
    uint32_t id;

    assert_int_equal(sim_array_new(&r->m, d, &id, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, code);
    assert_non_null(strstr(err.message, text));
}

static void impossible_arrays_are_refused(void **state)
{
    struct rig *r = open_default();
    struct sim_array_desc d = {.name = "big", .bytes = 0, .elem_bytes = 4, .kind = SIM_MANAGED};

    (void)state;
    assert_refused(r, &d, "array-empty", "big");
    d.bytes = 12;
    d.elem_bytes = 3;
    assert_refused(r, &d, "array-element", "3 bytes");
    d.elem_bytes = 16;
    assert_refused(r, &d, "array-element", "16 bytes");
    d.elem_bytes = 4;
    d.bytes = UINT64_MAX - 3;
    assert_refused(r, &d, "array-size", "18446744073709551612 bytes, more than 2^40");
    d.kind = SIM_DEVICE;
    d.bytes = (1 << 20) + 4;
    assert_refused(r, &d, "device-memory", "1048576");
    d.bytes = UINT64_MAX;
    assert_refused(r, &d, "device-memory", "1048576");
    rig_close(r);
}

static void device_arrays_fill_the_device_and_no_more(void **state)
{
    struct rig *r = open_default();
    struct sim_array_desc d = {
        .name = "b", .bytes = (1 << 20) - PAGE + 1, .elem_bytes = 1, .kind = SIM_DEVICE};
    uint32_t a = rig_array(r, "a", SIM_DEVICE, PAGE - 100);

    (void)state;
    assert_refused(r, &d, "device-memory", "4096 are taken");
    d.bytes--;
    rig_array(r, "b", SIM_DEVICE, d.bytes);
    d.bytes = 1;
    assert_refused(r, &d, "device-memory", "b needs 4096 bytes");
    assert_int_equal(sim_array_free(&r->m, a, NULL), HD_OK);
    rig_array(r, "c", SIM_DEVICE, 1);
    rig_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_aligned_zero_and_guarded),
        cmocka_unit_test(random_arrays_are_found),
        cmocka_unit_test(addresses_are_described),
        cmocka_unit_test(ids_are_used_again_and_addresses_never),
        cmocka_unit_test(large_arrays_cost_nothing_until_touched),
        cmocka_unit_test(impossible_arrays_are_refused),
        cmocka_unit_test(device_arrays_fill_the_device_and_no_more),
    };

    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
