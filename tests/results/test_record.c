/* Records fed by hand: which iteration stands for a run, what the detail keeps, and that the result keeps to its schema. */
#include "host/results/result.h"
#include "tests/results/json_schema.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define US UINT64_C(1000000) /* picoseconds */

static const struct isa_kernel square = {.name = "square"};

struct rig {
    struct record *record;
    struct hd_options options;
    hd_runtime *rt;
    struct hd_recorder to;
    struct result_run run;
    struct result result;
};

static void rig_start(struct rig *r, enum record_detail detail)
{
    hd_array *array;

    memset(r, 0, sizeof *r);
    hd_options_default(&r->options);
    r->options.gpu.compute_units = 2;
    r->options.gpu.core_hz = 1000000000;
    assert_int_equal(hd_runtime_new(&r->options, &r->rt, NULL), HD_OK);
    assert_int_equal(hd_array_new(r->rt, T_F32, 4, "x", &array, NULL), HD_OK);
    r->record = record_new(detail, &r->options.gpu);
    record_recorder(r->record, r->rt, &r->to);
    r->run = (struct result_run){.workload = "w.lua",
                                 .args_json = "{}",
                                 .config_name = "c",
                                 .config_json = "{}",
                                 .seed = 1,
                                 .timing = true};
    r->run.simulator.version = HD_VERSION;
    r->run.simulator.lanes = "baseline";
}

static void rig_build(struct rig *r, uint64_t end_ps)
{
    r->run.host_time_ps = end_ps;
    assert_int_equal(record_close(r->record, end_ps, NULL), HD_OK);
    hd_runtime_free(r->rt); /* a record outlives it */
    r->rt = NULL;
    assert_int_equal(result_build(&r->result, r->record, &r->run, NULL), HD_OK);
}

static void rig_free(struct rig *r)
{
    result_free(&r->result);
    record_free(r->record);
}

static void add_kernel(struct rig *r, uint64_t node, uint32_t region, uint32_t iteration,
                       uint64_t start, uint64_t end)
{
    struct hd_node_row n = {node, HD_NODE_KERNEL, "square", 1, region, iteration};
    struct hd_kernel_row k = {.node = node, .stream = 1, .region = region, .iteration = iteration};

    k.r.kernel = &square;
    k.r.limit = "wavefronts";
    k.r.queued_ps = k.r.start_ps = start;
    k.r.end_ps = end;
    k.r.groups_per_cu = 4;
    k.r.waves_per_group = 2;
    k.r.counters.wave_instr = 1000;
    k.r.counters.lane_instr = 32000;
    k.r.counters.flop32 = 4000;
    k.r.counters.dram_read_bytes = 6000;
    k.r.counters.dram_write_bytes = 2000;
    r->to.node(r->to.user, &n);
    r->to.kernel(r->to.user, &k);
}

static void add_transfer(struct rig *r, uint64_t node, uint32_t region, uint64_t start, uint64_t end)
{
    struct hd_transfer_row t = {.node = node, .stream = 1, .region = region};

    t.r.kind = SIM_T_MIGRATE;
    t.r.to_device = true;
    t.r.bytes = 4096;
    t.r.queued_ps = t.r.start_ps = start;
    t.r.end_ps = end;
    r->to.transfer(r->to.user, &t);
}

static void end_region(struct rig *r, const char *name, uint32_t region, uint32_t iteration,
                       uint64_t start, uint64_t end)
{
    struct hd_region_row row = {name, region, iteration, start, end, {0}};

    r->to.region(r->to.user, &row);
}

/* Writes the result and validates it against the schema that the same tables print. */
static cJSON *written(const struct result *result)
{
    struct text out = {0}, schema_text = {0};
    struct json_writer w;
    cJSON *value, *schema;
    char why[600];

    json_start(&w, json_to_text(&out), JSON_PRETTY);
    result_write(&w, result);
    assert_true(json_finish(&w));
    json_start(&w, json_to_text(&schema_text), JSON_PRETTY);
    result_schema(&w);
    assert_true(json_finish(&w));
    value = cJSON_Parse(text_str(&out));
    schema = cJSON_Parse(text_str(&schema_text));
    assert_non_null(value);
    assert_non_null(schema);
    if (!json_schema_valid(schema, value, why, sizeof why))
        fail_msg("%s", why);
    cJSON_Delete(schema);
    text_free(&out);
    text_free(&schema_text);
    return value;
}

static double number_at(const cJSON *value, const char *a, const char *b)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(value, a);

    if (b)
        item = cJSON_GetObjectItemCaseSensitive(item, b);
    assert_true(cJSON_IsNumber(item));
    return item->valuedouble;
}

static int length_of(const cJSON *value, const char *key)
{
    return cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(value, key));
}

/* Iterations of 40, 10, 30 and 20 us: the lower median is 20. Another region and reset do not count. */
static void test_the_lower_median_of_main(void **state)
{
    static const uint64_t times[] = {40, 10, 30, 20};
    struct rig r;
    uint64_t at = 0;
    uint32_t i;

    (void)state;
    rig_start(&r, RECORD_KERNELS);
    add_kernel(&r, 0, 0, 0, 0, US);
    end_region(&r, "setup", 0, 0, 0, 5 * US);
    at = 5 * US;
    for (i = 0; i < 4; i++) {
        add_kernel(&r, 1 + i, 1, i, at + US, at + US * times[i]);
        end_region(&r, "main", 1, i, at, at + US * times[i]);
        at += US * times[i] + 7 * US;
    }
    rig_build(&r, at);
    assert_string_equal(r.result.chosen.name, "main");
    assert_int_equal(r.result.chosen.iteration, 3);
    assert_int_equal(r.result.chosen.time_ps, 20 * US);
    assert_int_equal(r.result.chosen.device_time_ps, 19 * US);
    assert_int_equal(r.result.chosen.metrics.kernels, 1);
    assert_int_equal(r.result.timeline.nspans, 1);
    assert_int_equal(r.result.timeline.spans[0].node, 4);
    rig_free(&r);
}

static void test_the_first_region_without_a_main(void **state)
{
    struct rig r;

    (void)state;
    rig_start(&r, RECORD_KERNELS);
    end_region(&r, "a", 0, 0, 0, 5 * US);
    end_region(&r, "b", 1, 0, 5 * US, 6 * US);
    rig_build(&r, 9 * US);
    assert_string_equal(r.result.chosen.name, "a");
    assert_int_equal(r.result.chosen.time_ps, 5 * US);
    rig_free(&r);
}

static void test_the_script_without_regions(void **state)
{
    struct rig r;

    (void)state;
    rig_start(&r, RECORD_KERNELS);
    add_transfer(&r, 0, HD_NO_REGION, US, 3 * US);
    add_kernel(&r, 0, HD_NO_REGION, HD_NO_REGION, 2 * US, 4 * US);
    rig_build(&r, 9 * US);
    assert_null(r.result.chosen.name);
    assert_int_equal(r.result.chosen.time_ps, 9 * US);
    assert_int_equal(r.result.chosen.device_time_ps, 3 * US);
    assert_true(r.result.chosen.overlap.ct == 0.5);
    cJSON_Delete(written(&r.result));
    rig_free(&r);
}

/*
 * A kernel of 2 us at 1 GHz on 2 compute units of 2 SIMD units: 2000 cycles. 1000 wavefront instructions are 0.5 a
 * cycle, 0.25 a unit, 0.125 an issue slot; 4000 operations in 2000 ns are 2 GFLOPS; 8000 bytes are 4 GB/s.
 */
static void test_metrics_by_hand(void **state)
{
    struct rig r;
    cJSON *v;

    (void)state;
    rig_start(&r, RECORD_KERNELS);
    add_kernel(&r, 0, 0, 0, US, 3 * US);
    add_transfer(&r, 0, 0, 0, US);
    end_region(&r, "main", 0, 0, 0, 4 * US);
    rig_build(&r, 4 * US);
    v = written(&r.result);
    assert_true(number_at(v, "metrics", "ipc") == 0.5);
    assert_true(number_at(v, "metrics", "wave_ipc") == 0.25);
    assert_true(number_at(v, "metrics", "issue_utilisation") == 0.125);
    assert_true(number_at(v, "metrics", "lane_utilisation") == 32.0 / 64);
    assert_true(number_at(v, "metrics", "gflops32") == 2);
    assert_true(number_at(v, "metrics", "dram_gbps") == 4);
    assert_true(number_at(v, "metrics", "kernel_busy_ns") == 2000);
    assert_true(number_at(v, "metrics", "h2d_bytes") == 4096);
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(v, "metrics"), "l1_hit_rate"))); /* of no request */
    assert_true(number_at(v, "time_ns", NULL) == 4000);
    cJSON_Delete(v);
    rig_free(&r);
}

/* A region is named when it ends, after its kernels: the rows have the name all the same. */
static void test_rows_name_their_region(void **state)
{
    const uint32_t uids[] = {0};
    struct hd_edge_row edge = {0, 1, HD_EDGE_WAR, uids, 1};
    const cJSON *row;
    struct rig r;
    cJSON *v;

    (void)state;
    rig_start(&r, RECORD_KERNELS);
    add_kernel(&r, 0, 0, 0, 0, US);
    add_kernel(&r, 1, HD_NO_REGION, HD_NO_REGION, US, 2 * US);
    r.to.edge(r.to.user, &edge);
    end_region(&r, "main", 0, 0, 0, US);
    rig_build(&r, 2 * US);
    v = written(&r.result);
    row = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(v, "kernels"), 0);
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(row, "region")->valuestring, "main");
    assert_true(number_at(row, "occupancy", NULL) == 8.0 / r.options.gpu.wave_slots);
    row = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(v, "kernels"), 1);
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(row, "region")));
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(row, "iteration")));
    row = cJSON_GetArrayItem(
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(v, "dag"), "edges"), 0);
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(row, "kind")->valuestring, "war");
    assert_string_equal(
        cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(row, "arrays"), 0)->valuestring, "x");
    cJSON_Delete(v);
    rig_free(&r);
}

static void test_detail_bounds_rows_and_counts_cuts(void **state)
{
    struct rig r;
    uint64_t i;
    cJSON *v;

    (void)state;
    rig_start(&r, RECORD_SUMMARY);
    add_kernel(&r, 0, 0, 0, 0, US);
    add_transfer(&r, 0, 0, 0, US);
    end_region(&r, "main", 0, 0, 0, US);
    rig_build(&r, US);
    v = written(&r.result);
    assert_int_equal(length_of(v, "kernels"), 0);
    assert_int_equal(length_of(v, "transfers"), 0);
    assert_int_equal(length_of(v, "regions"), 1);
    assert_true(number_at(v, "truncated", "kernels") == 1);
    assert_true(number_at(v, "truncated", "transfers") == 1);
    assert_true(number_at(v, "truncated", "nodes") == 1);
    assert_true(number_at(v, "metrics", "kernels") == 1);
    assert_true(number_at(v, "overlap", "ct") == 1);
    cJSON_Delete(v);
    rig_free(&r);

    rig_start(&r, RECORD_KERNELS);
    for (i = 0; i < RECORD_ROWS_MAX + 5; i++)
        add_kernel(&r, i, 0, 0, i * US, (i + 1) * US);
    end_region(&r, "main", 0, 0, 0, i * US);
    rig_build(&r, i * US);
    assert_int_equal(r.record->kernels.count, RECORD_ROWS_MAX);
    assert_int_equal(r.result.truncated.kernels, 5);
    assert_int_equal(r.result.nsteps, RECORD_LIST_MAX);
    assert_int_equal(r.result.truncated.critical_path, RECORD_ROWS_MAX + 5 - RECORD_LIST_MAX);
    rig_free(&r);
}

/* The bytes in memory are bounded: the rest is in files. */
static void test_memory_does_not_grow_with_the_run(void **state)
{
    struct rig r;
    uint64_t i;

    (void)state;
    rig_start(&r, RECORD_FULL);
    for (i = 0; i < 20000; i++) {
        add_kernel(&r, i, 0, (uint32_t)i, i * US, (i + 1) * US);
        end_region(&r, "main", 0, (uint32_t)i, i * US, (i + 1) * US);
    }
    assert_true(r.record->kernels.used <= SPOOL_MEMORY);
    assert_true(r.record->kernels.filed > 20 * (uint64_t)SPOOL_MEMORY);
    rig_build(&r, i * US);
    assert_int_equal(r.record->iterations.count, 20000);
    assert_int_equal(r.result.chosen.metrics.kernels, 1);
    rig_free(&r);
}

static void test_checks_and_status(void **state)
{
    const struct hd_check good = {"a", true, 1, 1, 0}, bad = {"b", false, (double)NAN, 1, 0};
    struct rig r;
    cJSON *v;

    (void)state;
    rig_start(&r, RECORD_KERNELS);
    r.to.check(r.to.user, &good);
    r.to.check(r.to.user, &bad);
    rig_build(&r, US);
    v = written(&r.result);
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(v, "status")->valuestring, "check_failed");
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(v, "error")));
    assert_true(number_at(v, "checks", "passed") == 1);
    assert_true(number_at(v, "checks", "failed") == 1);
    cJSON_Delete(v);
    rig_free(&r);

    rig_start(&r, RECORD_KERNELS);
    r.run.status = HD_SIM_FAILED;
    r.run.error = (struct result_error){"fault", "vec.hasm:3", "it fell", "", NULL};
    rig_build(&r, US);
    v = written(&r.result);
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(v, "status")->valuestring, "failed");
    cJSON_Delete(v);
    rig_free(&r);
}

/* In the order of enum sim_stall. */
static void test_names_of_stalls(void **state)
{
    static const char *const names[SIM_NUM_STALLS] = {
        "issued", "scoreboard", "barrier", "lds_bank", "memory", "mshr", "issue", "tx", "fetch",
    };
    const cJSON *stalls;
    struct rig r;
    cJSON *v;
    int i;

    (void)state;
    rig_start(&r, RECORD_KERNELS);
    add_kernel(&r, 0, 0, 0, 0, US);
    rig_build(&r, US);
    v = written(&r.result);
    stalls = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(v, "kernels"), 0), "stalls");
    assert_int_equal(cJSON_GetArraySize(stalls), SIM_NUM_STALLS);
    for (i = 0; i < SIM_NUM_STALLS; i++)
        assert_string_equal(cJSON_GetArrayItem(stalls, i)->string, names[i]);
    cJSON_Delete(v);
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_lower_median_of_main),
        cmocka_unit_test(test_the_first_region_without_a_main),
        cmocka_unit_test(test_the_script_without_regions),
        cmocka_unit_test(test_metrics_by_hand),
        cmocka_unit_test(test_rows_name_their_region),
        cmocka_unit_test(test_detail_bounds_rows_and_counts_cuts),
        cmocka_unit_test(test_memory_does_not_grow_with_the_run),
        cmocka_unit_test(test_checks_and_status),
        cmocka_unit_test(test_names_of_stalls),
    };

    return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
