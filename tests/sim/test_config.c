/* The machine's parameter table: its rows, its defaults, and the rules between parameters. */
#include "cf/cf.h"
#include "sim/config.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Sets "key=value key=value ..." on top of the defaults. */
static struct sim_config config_with(const char *settings)
{
    struct sim_config c;
    char copy[256];

    param_defaults(&sim_params, &c);
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *rest, *s = strtok_r(copy, " ", &rest); s; s = strtok_r(NULL, " ", &rest)) {
        struct hd_error err = {0};
        char *value = strchr(s, '=');

        *value++ = '\0';
        if (param_set(&sim_params, &c, s, value, NULL, &err))
            fail_msg("%s", err.message);
    }
    return c;
}

static void test_every_row_is_sound(void **state)
{
    (void)state;
    for (size_t i = 0; i < sim_params.count; i++) {
        const struct param *row = &sim_params.rows[i];
        struct sim_config c;
        struct hd_error err = {0};

        assert_ptr_equal(param_find(&sim_params, row->path), row);
        assert_true(row->doc[0]);
        assert_true(row->offset < sizeof c);
        assert_int_equal(row->kind == PARAM_KIND_CHOICE, row->choices != NULL);
        memset(&c, 0, sizeof c);
        if (param_set(&sim_params, &c, row->path, row->def, NULL, &err))
            fail_msg("default of %s: %s", row->path, err.message);
    }
}

/* A value survives being written as JSON and read again, for each end of each range. */
static void test_values_go_round(void **state)
{
    (void)state;
    for (size_t i = 0; i < sim_params.count; i++) {
        const struct param *row = &sim_params.rows[i];
        uint64_t ends[] = {row->min, row->max};

        for (size_t e = 0; e < 2; e++) {
            struct sim_config c = config_with("");
            struct text json = {0};
            char value[32];

            if (row->kind != PARAM_KIND_U32 && row->kind != PARAM_KIND_U64)
                continue;
            snprintf(value, sizeof value, "%" PRIu64, ends[e]);
            assert_int_equal(param_set(&sim_params, &c, row->path, value, NULL, NULL), HD_OK);
            param_get_json(row, &c, &json);
            assert_string_equal(text_str(&json), value);
            text_free(&json);
        }
    }
}

static void test_defaults_hold_together(void **state)
{
    struct sim_config c = config_with("");
    struct hd_error err = {0};

    (void)state;
    if (sim_config_check(&c, &err))
        fail_msg("%s", err.message);
    assert_int_equal(c.wavefront_size, 64);
    assert_string_equal(c.name, "unnamed");
    assert_true(c.l1_enabled);
    assert_false(c.um_page_faults);
    assert_string_equal(cf_units[c.divergence_unit]->name, "any-branch");
}

struct broken {
    const char *settings, *code, *words[3];
};

static void assert_broken(const struct broken *b)
{
    struct sim_config c = config_with(b->settings);
    struct hd_error err = {0};

    if (sim_config_check(&c, &err) != HD_BAD_INPUT)
        fail_msg("accepted: %s", b->settings);
    if (strcmp(err.code, b->code) != 0)
        fail_msg("%s: code %s: %s", b->settings, err.code, err.message);
    for (size_t i = 0; i < 3 && b->words[i]; i++)
        if (!strstr(err.message, b->words[i]) && !strstr(err.hint, b->words[i]))
            fail_msg("%s: no \"%s\" in: %s (%s)", b->settings, b->words[i], err.message, err.hint);
}

static void test_broken_rules_name_keys_and_rule(void **state)
{
    static const struct broken cases[] = {
        {"wavefront_size=48", "config-wavefront-size", {"wavefront_size is 48", "8, 16, 32 or 64"}},
        {"wavefront_size=9", "config-wavefront-size", {"wavefront_size is 9"}},
        {"l1.sector_bytes=48", "config-conflict", {"l1.sector_bytes", "power of two", "32 and 64"}},
        {"l1.line_bytes=96", "config-conflict", {"l1.line_bytes", "power of two", "64 and 128"}},
        {"um.page_bytes=5000", "config-conflict", {"um.page_bytes", "4096 and 8192"}},
        {"lds.banks=24", "config-conflict", {"lds.banks", "16 and 32"}},
        {"cu.wavefront_slots=30 cu.simds=4",
         "config-conflict",
         {"cu.wavefront_slots is 30", "cu.simds, which is 4", "28 and 32"}},
        {"cu.wavefront_slots=130 cu.simds=2",
         "config-limit",
         {"cu.wavefront_slots / cu.simds is 65", "64"}},
        {"compute_units=1024 l1.bytes=1048704 l1.ways=3",
         "config-limit",
         {"compute_units * l1.bytes is 1073872896", "room for 1073741824"}},
        {"compute_units=1024 l1.mshrs=4097",
         "config-limit",
         {"compute_units * l1.mshrs is 4195328", "room for 4194304"}},
        {"l2.bytes=268435456 l1.sector_bytes=4",
         "config-limit",
         {"l2.bytes / l1.sector_bytes is 67108864", "room for 33554432"}},
        {"cu.vector_register_words=1000",
         "config-conflict",
         {"cu.vector_register_words is 1000", "cu.simds * cu.vector_register_granule, which is 512",
          "512 and 1024"}},
        {"cu.scalar_register_words=100",
         "config-conflict",
         {"cu.simds * cu.scalar_register_granule, which is 16", "96 and 112"}},
        {"cu.vector_register_words=4096",
         "config-conflict",
         {"cu.wavefront_slots * cu.vector_register_granule is 8192",
          "at most cu.vector_register_words, which is 4096"}},
        {"cu.wavefront_slots=64 cu.vector_register_granule=2048",
         "config-conflict",
         {"cu.wavefront_slots * cu.vector_register_granule is 131072", "65536"}},
        {"cu.scalar_register_words=128",
         "config-conflict",
         {"cu.wavefront_slots * cu.scalar_register_granule is 256",
          "at most cu.scalar_register_words, which is 128"}},
        {"cu.wavefront_vector_register_words=32",
         "config-conflict",
         {"wavefront_size is 64", "cu.wavefront_vector_register_words, which is 32"}},
        {"cu.workgroup_vector_register_words=512 cu.workgroup_wavefront_granule=4",
         "config-conflict",
         {"cu.workgroup_wavefront_granule * cu.vector_register_granule is 1024", "which is 512"}},
        {"cu.workgroup_vector_register_words=131072",
         "config-conflict",
         {"cu.workgroup_vector_register_words is 131072",
          "cu.vector_register_words, which is 65536"}},
        {"lds.granule=768 lds.power_of_two=on lds.bytes=61440",
         "config-conflict",
         {"lds.granule is 768", "power of two", "512 and 1024"}},
        {"lds.bytes=61440 lds.granule=1024 lds.power_of_two=on",
         "config-conflict",
         {"lds.bytes_per_workgroup as it is allocated is 65536", "lds.bytes, which is 61440"}},
        {"launch.shares=3:",
         "config-shares",
         {"launch.shares is \"3:\"", "numbers of 1 to 1000", "3:1"}},
        {"launch.shares=0:1", "config-shares", {"0:1"}},
        {"launch.shares=1:1001", "config-shares", {"1:1001"}},
        {"launch.shares=:1", "config-shares", {":1"}},
        {"launch.shares=1:x", "config-shares", {"1:x"}},
        {"launch.shares=1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1", "config-shares", {"up to 16"}},
        {"lds.granule=6", "config-conflict", {"lds.granule", "4 and 8"}},
        {"lds.bytes=65000", "config-conflict", {"lds.bytes", "lds.granule", "64768 and 65024"}},
        {"lds.bytes=32768",
         "config-conflict",
         {"lds.bytes_per_workgroup is 49152", "at most lds.bytes", "32768"}},
        {"l1.sector_bytes=256",
         "config-conflict",
         {"l1.line_bytes is 128", "l1.sector_bytes, which is 256", "the least is 256"}},
        {"l1.line_bytes=1024 l1.sector_bytes=16 l1.bytes=32768",
         "config-limit",
         {"l1.line_bytes / l1.sector_bytes is 64", "32"}},
        {"l1.bytes=24577",
         "config-conflict",
         {"l1.bytes", "l1.ways * l1.line_bytes, which is 512", "24576 and 25088"}},
        {"l2.slices=7",
         "config-conflict",
         {"l2.bytes", "l2.slices * l2.ways * l1.line_bytes, which is 14336"}},
        {"dram.channels=3",
         "config-conflict",
         {"l2.slices is 8", "dram.channels, which is 3", "6 and 9"}},
        {"l1.allocate_on_load=off",
         "config-conflict",
         {"l1.allocate_on_load and l1.allocate_on_store are off", "l1.enabled=off"}},
        {"dram.row_bytes=64",
         "config-conflict",
         {"dram.row_bytes is 64", "l1.line_bytes, which is 128", "the least is 128"}},
        {"dram.row_bytes=1000", "config-conflict", {"dram.row_bytes is 1000", "896 and 1024"}},
        {"dram.bytes=65540", "config-conflict", {"dram.bytes", "um.page_bytes"}},
        {"um.chunk_bytes=4098", "config-conflict", {"um.chunk_bytes", "um.page_bytes"}},
        {"cf.form=goto", "config-conflict", {"cf.form is \"goto\"", "\"any-branch\"", "auto"}},
        {"cf.form=predicated-all", "config-conflict", {"predicated-all"}},
        {"um.prefetch_leaf_bytes=5000",
         "config-conflict",
         {"um.prefetch_leaf_bytes", "4096 and 8192"}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_broken(&cases[i]);
}

static void test_what_is_allowed(void **state)
{
    static const char *const settings[] = {
        "wavefront_size=8",
        "wavefront_size=16",
        "wavefront_size=32 cu.wavefront_slots=64",
        ("cu.simds=16 cu.wavefront_slots=112 cu.vector_register_words=114688 "
         "cu.vector_register_granule=1024"),
        "launch.placement=spatial launch.shares=1000:1:7",
        "launch.shares=1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1",
        "lds.bytes=65536 lds.granule=1024 lds.power_of_two=on",
        "cu.scalar_register_words=0",
        "lds.bytes=0 lds.bytes_per_workgroup=0",
        "l1.line_bytes=32 l1.sector_bytes=32",
        "l2.slices=24 l2.bytes=3145728",
        "cf.form=predicated",
        "um.page_bytes=2097152",
        "dram.row_bytes=2048 dram.banks=16 dram.row_miss_ns=30 dram.row_gap_ps=3200",
        "dram.row_bytes=384",
        "l2.hash=modulo",
        "l1.write=write-back l1.allocate_on_store=on l1.allocate_on_load=off",
        "l1.write=write-back",
        "l1.enabled=off l1.allocate_on_load=off",
    };

    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct sim_config c = config_with(settings[i]);
        struct hd_error err = {0};

        if (sim_config_check(&c, &err))
            fail_msg("%s: %s", settings[i], err.message);
    }
}

/* What no part has none of, and no part has that many of. */
static void test_ranges(void **state)
{
    static const struct {
        const char *key, *value;
    } rows[] = {
        {"l1.mshrs", "0"},
        {"compute_units", "0"},
        {"cu.simds", "0"},
        {"cu.simds", "17"},
        {"cu.wavefront_slots", "0"},
        {"cu.workgroup_slots", "0"},
        {"cu.workgroup_items", "0"},
        {"l1.ways", "0"},
        {"l2.slices", "0"},
        {"dram.channels", "0"},
        {"noc.latency_cycles", "2001"},
        {"lds.banks", "0"},
        {"lds.lanes_per_pass", "65"},
        {"link.copy_engines", "3"},
        {"launch.resident_kernels", "0"},
        {"launch.cycles_per_workgroup", "0"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sim_config c = config_with("");
        struct hd_error err = {0};
        char words[96];

        assert_int_equal(param_set(&sim_params, &c, rows[i].key, rows[i].value, NULL, &err),
                         HD_BAD_INPUT);
        snprintf(words, sizeof words, "%s is %s; it must be from", rows[i].key, rows[i].value);
        if (!strstr(err.message, words))
            fail_msg("%s", err.message);
    }
}

static void test_fields_set_by_code(void **state)
{
    struct sim_config c = config_with("");
    struct hd_error err = {0};

    (void)state;
    c.compute_units = 0;
    assert_int_equal(sim_config_check(&c, &err), HD_BAD_INPUT);
    assert_non_null(strstr(err.message, "compute_units is 0; it must be from 1 to"));
    memset(&c, 0, sizeof c); /* nothing divides by zero */
    assert_int_equal(sim_config_check(&c, &err), HD_BAD_INPUT);
}

static void test_forms(void **state)
{
    struct sim_config c = config_with("");

    (void)state;
    assert_int_equal(sim_config_forms(&c), ISA_FORM_PREDICATED);
    c = config_with("cf.form=predicated");
    assert_int_equal(sim_config_forms(&c), ISA_FORM_PREDICATED);
    c = config_with("cf.form=exec");
    assert_int_equal(sim_config_forms(&c), 0);
}

/* SIMD units, or the one whose turn it is, times wavefronts a cycle, times two with pairs. */
static void test_issue_slots(void **state)
{
    static const struct {
        const char *settings;
        uint32_t slots;
    } rows[] = {
        {"cu.simds=1", 1},
        {"cu.simds=4", 4},
        {"cu.simds=4 cu.issue_width=3", 12},
        {"cu.simds=4 cu.dual_issue=on", 8},
        {"cu.simds=4 cu.scheduler=rotating", 1},
        {"cu.simds=4 cu.scheduler=rotating cu.issue_width=5", 5},
        {"cu.simds=2 cu.scheduler=gto cu.issue_width=8 cu.dual_issue=on", 32},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sim_config c = config_with(rows[i].settings);

        assert_int_equal(sim_config_issue_slots(&c), rows[i].slots);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_is_sound),
        cmocka_unit_test(test_values_go_round),
        cmocka_unit_test(test_defaults_hold_together),
        cmocka_unit_test(test_broken_rules_name_keys_and_rule),
        cmocka_unit_test(test_what_is_allowed),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_fields_set_by_code),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_issue_slots),
    };

    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
