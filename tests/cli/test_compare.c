/* heddle compare: columns, axes, result files, and how it ends. */
#include "tests/cli/cli_rig.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The results of a .jsonl file as an array. */
static cJSON *lines_of(const struct cli_rig *r, const char *name)
{
    char *text = cli_rig_read(r, name), *line;
    cJSON *all = cJSON_CreateArray();

    assert_non_null(text);
    assert_int_equal(text[strlen(text) - 1], '\n');
    for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        cJSON *v = cJSON_ParseWithOpts(line, NULL, 1);

        assert_non_null(v);
        cJSON_AddItemToArray(all, v);
    }
    free(text);
    return all;
}

static const cJSON *at(const cJSON *json, const char *a, const char *b)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, a);

    return b ? cJSON_GetObjectItemCaseSensitive(item, b) : item;
}

static const char *scheduler_of(const cJSON *result)
{
    return at(at(result, "config", "host"), "scheduler", NULL)->valuestring;
}

static void test_schedulers(void **state)
{
    struct cli_rig *r = *state;
    const cJSON *serial, *parallel;
    cJSON *v;

    cli_rig_program(r);
    cli_rig_run(r, "compare %/prog.lua --config tiny --out %/c.jsonl");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "serial-sync  parallel-async"));
    assert_non_null(strstr(r->out, "um.page_faults is off"));
    assert_non_null(strstr(r->out, "speedup over serial-sync"));
    v = lines_of(r, "c.jsonl");
    assert_int_equal(cJSON_GetArraySize(v), 2);
    serial = cJSON_GetArrayItem(v, 0);
    parallel = cJSON_GetArrayItem(v, 1);
    assert_string_equal(scheduler_of(serial), "serial-sync");
    assert_string_equal(scheduler_of(parallel), "parallel-async");
    /* both rows hold it, and no schedule without contention is slower than one with */
    assert_true(cJSON_IsNumber(at(serial, "contention_free_ns", NULL)));
    assert_true(cJSON_Compare(at(serial, "contention_free_ns", NULL),
                              at(parallel, "contention_free_ns", NULL), 1));
    assert_true(at(serial, "contention_free_ns", NULL)->valuedouble <=
                at(serial, "time_ns", NULL)->valuedouble);
    /* a host that waits for each kernel overlaps nothing */
    assert_true(at(serial, "overlap", "cc")->valuedouble == 0);
    cJSON_Delete(v);
}

/* With page faults the baseline without prefetch comes first, and prefetch has what no prefetch has to fault for. */
static void test_schedulers_with_page_faults(void **state)
{
    struct cli_rig *r = *state;
    const cJSON *row;
    double faults[3];
    cJSON *v;
    int i = 0;

    cli_rig_program(r);
    cli_rig_run(r, "compare %/prog.lua --config tiny --set um.page_faults=on --out %/f.jsonl");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "serial-sync-no-prefetch  serial-sync  parallel-async"));
    assert_non_null(strstr(r->out, "page faults of kernels"));
    assert_non_null(strstr(r->out, "Prefetch makes the serial run"));
    v = lines_of(r, "f.jsonl");
    assert_int_equal(cJSON_GetArraySize(v), 3);
    cJSON_ArrayForEach(row, v)
    {
        const cJSON *kernel;

        faults[i] = 0;
        cJSON_ArrayForEach(kernel, at(row, "kernels", NULL)) faults[i] +=
            at(kernel, "page_faults", NULL)->valuedouble;
        i++;
    }
    assert_true(faults[0] == 2); /* x and y are a page each */
    assert_true(faults[1] == 0);
    assert_true(faults[2] == 0);
    cJSON_Delete(v);
    cli_rig_run(r, "compare %/prog.lua --config tiny");
    assert_null(strstr(r->out, "page faults of kernels"));
}

static void test_a_folder_of_results(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_program(r);
    cli_rig_run(r, "compare %/prog.lua --config tiny --out %/out --trace %/out.trace -q");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_string_equal(r->out, "");
    assert_true(cli_rig_exists(r, "out/serial-sync.json"));
    assert_true(cli_rig_exists(r, "out/parallel-async.json"));
    assert_true(cli_rig_exists(r, "out.trace"));
    cli_rig_run(r, "compare %/prog.lua --config tiny --out %/out -q"); /* again, over the old ones */
    cli_rig_expect(r, 0, NULL, NULL);
}

/* A name must hold what a label may, and distinct labels have distinct files. */
static void test_names_of_results(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_program(r);
    cli_rig_file(r, "prog.lua", "require('heddle').arg('s', '')\n");
    cli_rig_run(r, "compare %/prog.lua --config tiny --axis arg.s=a/b,a_b,a:b,a+b --out %/names "
                   "-q");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_true(cli_rig_exists(r, "names/arg.s=a%2fb.json"));
    assert_true(cli_rig_exists(r, "names/arg.s=a_b.json"));
    assert_true(cli_rig_exists(r, "names/arg.s=a%3ab.json"));
    assert_true(cli_rig_exists(r, "names/arg.s=a%2bb.json"));
}

/* Two axes give the cross product, the last one fastest; an axis without values has all of its choices. */
static void test_axes(void **state)
{
    static const double n[] = {100, 300};
    struct cli_rig *r = *state;
    cJSON *v;
    int i;

    cli_rig_program(r);
    cli_rig_run(r, "compare %/prog.lua --config tiny --axis host.scheduler --axis arg.n=100,300 "
                   "--arg n=5 --arg want=2 --out %/a.jsonl");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "host.scheduler"));
    v = lines_of(r, "a.jsonl");
    assert_int_equal(cJSON_GetArraySize(v), 6);
    for (i = 0; i < 6; i++)
        assert_true(at(cJSON_GetArrayItem(v, i), "args", "n")->valuedouble == n[i % 2]);
    assert_string_equal(scheduler_of(cJSON_GetArrayItem(v, 0)), "serial-sync");
    assert_string_equal(scheduler_of(cJSON_GetArrayItem(v, 5)), "parallel-async");
    cJSON_Delete(v);
}

static void test_the_axis_of_configurations(void **state)
{
    struct cli_rig *r = *state;
    cJSON *v;

    cli_rig_program(r);
    cli_rig_file(r, "other.json", "{\"extends\": \"tiny\", \"compute_units\": 1}");
    cli_rig_run(
        r, "compare %/prog.lua --axis config=tiny,%/other.json --axis l1.enabled --out %/a.jsonl");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "kernels busy  instructions")); /* one kernel: no overlap */
    assert_null(strstr(r->out, "tot"));
    v = lines_of(r, "a.jsonl");
    assert_int_equal(cJSON_GetArraySize(v), 4);
    assert_true(at(cJSON_GetArrayItem(v, 3), "config", "compute_units")->valuedouble == 1);
    assert_true(cJSON_IsFalse(at(at(cJSON_GetArrayItem(v, 3), "config", "l1"), "enabled", NULL)));
    cJSON_Delete(v);
}

static void test_how_it_ends(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_program(r);
    cli_rig_run(r, "compare %/prog.lua --config tiny --arg want=5");
    cli_rig_expect(r, 1, "check \"x\" failed", NULL);
    assert_non_null(strstr(r->out, "1 FAILED"));
    cli_rig_run(r, "compare %/prog.lua --config tiny --arg nothing=5 --out %/bad.jsonl");
    cli_rig_expect(r, 3, "nothing", NULL);
    assert_false(cli_rig_exists(r, "bad.jsonl"));
    assert_false(cli_rig_leftovers(r));
    cli_rig_run(r, "compare %/prog.lua --config tiny --axis compute_units=2,0 --out %/bad.jsonl");
    cli_rig_expect(r, 3, "compute_units is 0", NULL);
    assert_false(cli_rig_exists(r, "bad.jsonl"));
    cli_rig_run(r, "compare %/prog.lua --config tiny --max-instr 10");
    cli_rig_expect(r, 4, NULL, NULL);
    assert_non_null(strstr(r->out, "failed"));
    cli_rig_run(r, "compare %/prog.lua --config tiny --out %/prog.hasm");
    cli_rig_expect(r, 3, "cannot make the folder", ".jsonl");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedulers),
        cmocka_unit_test(test_schedulers_with_page_faults),
        cmocka_unit_test(test_a_folder_of_results),
        cmocka_unit_test(test_names_of_results),
        cmocka_unit_test(test_axes),
        cmocka_unit_test(test_the_axis_of_configurations),
        cmocka_unit_test(test_how_it_ends),
    };

    return cmocka_run_group_tests_name("compare", tests, cli_rig_setup, cli_rig_teardown);
}
