/* The schemas against what the command reads and writes. */
#include "host/config/config.h"
#include "host/config/find.h"
#include "tests/results/json_schema.h"
#include "tests/results/trace_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What a command line prints, to be freed; it must end well. */
static char *output_of(const char *line)
{
    const char *command = getenv("HEDDLE");
    char whole[512], *text = NULL;
    size_t len = 0, n;
    FILE *pipe;

    snprintf(whole, sizeof whole, "%s %s", command ? command : "build/heddle", line);
    pipe = popen(whole, "r");
    assert_non_null(pipe);
    do {
        text = realloc(text, len + 65536 + 1);
        assert_non_null(text);
        n = fread(text + len, 1, 65536, pipe);
        len += n;
    } while (n > 0);
    text[len] = '\0';
    assert_int_equal(pclose(pipe), 0);
    return text;
}

static cJSON *json_of(const char *line)
{
    char *text = output_of(line);
    cJSON *json = cJSON_Parse(text);

    assert_non_null(json);
    free(text);
    return json;
}

static void expect_valid(const cJSON *schema, const cJSON *value, const char *name)
{
    char why[600];

    if (!json_schema_valid(schema, value, why, sizeof why))
        fail_msg("%s: %s", name, why);
}

/* ---- results ------------------------------------------------------------------------------------- */

static const char *const runs[] = {
    "run workloads/dag/vec.lua --config tiny --arg n=5000 --arg blocks=8 --out -",
    "run workloads/dag/vec.lua --config tiny --arg n=5000 --arg blocks=8 --timing off --out -",
    "run workloads/dag/pipeline.lua --config tiny --detail full --out -",
    "run workloads/dag/pipeline.lua --config tiny --detail summary --out -",
    "explain workloads/dag/vec.lua --config tiny --arg n=5000 --arg blocks=8 --out -",
    "profile workloads/dag/reduce.lua --config tiny --arg n=10000 --out -",
};

static void test_results_keep_to_their_schema(void **state)
{
    cJSON *schema = json_of("result schema"), *value;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof runs / sizeof *runs; i++) {
        value = json_of(runs[i]);
        expect_valid(schema, value, runs[i]);
        cJSON_Delete(value);
    }
    cJSON_Delete(schema);
}

/* Each line of a sweep is such a result: of points that ended well, that met a limit, and that no machine can run. */
static void test_rows_of_a_sweep_keep_to_the_schema(void **state)
{
    static const char line[] = "sweep workloads/dag/sweep_vec.lua --set l2.bytes=%s --arg blocks=8 "
                               "--max-instr 9000 -q --out - 2>/dev/null; true";
    static const char *const bytes[] = {"4194304", "4194305"};
    cJSON *schema = json_of("result schema"), *value;
    char command[256], *text, *row;
    size_t rows;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        snprintf(command, sizeof command, line, bytes[i]);
        text = output_of(command);
        rows = 0;
        for (row = strtok(text, "\n"); row; row = strtok(NULL, "\n"), rows++) {
            value = cJSON_Parse(row);
            assert_non_null(value);
            expect_valid(schema, value, row);
            assert_true(cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(value, "point")));
            cJSON_Delete(value);
        }
        assert_int_equal(rows, 12);
        free(text);
    }
    cJSON_Delete(schema);
}

/* The keys come in the order of the schema. */
static void test_keys_are_in_order(void **state)
{
    cJSON *schema = json_of("result schema"), *value = json_of(runs[0]);
    const cJSON *name, *key = value->child;

    (void)state;
    cJSON_ArrayForEach(name, cJSON_GetObjectItemCaseSensitive(schema, "required"))
    {
        assert_non_null(key);
        assert_string_equal(key->string, name->valuestring);
        key = key->next;
    }
    assert_null(key);
    cJSON_Delete(schema);
    cJSON_Delete(value);
}

/* The validator sees what is wrong: each mistake is one change to a valid result. */
static void test_the_schema_refuses(void **state)
{
    cJSON *schema = json_of("result schema"), *value = json_of(runs[0]);
    char why[600];

    (void)state;
    cJSON_ReplaceItemInObjectCaseSensitive(value, "time_ns", cJSON_CreateString("12"));
    assert_false(json_schema_valid(schema, value, why, sizeof why));
    assert_string_equal(why, "/time_ns: type");
    cJSON_ReplaceItemInObjectCaseSensitive(value, "time_ns", cJSON_CreateNumber(-1));
    assert_false(json_schema_valid(schema, value, why, sizeof why));
    assert_string_equal(why, "/time_ns: minimum");
    cJSON_ReplaceItemInObjectCaseSensitive(value, "time_ns", cJSON_CreateNumber(1));
    cJSON_ReplaceItemInObjectCaseSensitive(value, "status", cJSON_CreateString("fine"));
    assert_false(json_schema_valid(schema, value, why, sizeof why));
    assert_string_equal(why, "/status: enum");
    cJSON_ReplaceItemInObjectCaseSensitive(value, "status", cJSON_CreateString("ok"));
    cJSON_AddNullToObject(value, "more");
    assert_false(json_schema_valid(schema, value, why, sizeof why));
    cJSON_DeleteItemFromObjectCaseSensitive(value, "more");
    cJSON_DeleteItemFromObjectCaseSensitive(value, "checks");
    assert_false(json_schema_valid(schema, value, why, sizeof why));
    assert_string_equal(why, "/: required");
    cJSON_Delete(schema);
    cJSON_Delete(value);
}

/* ---- configurations --------------------------------------------------------------------------------- */

/* Both say the same of each text: the schema, and the reader that decides. */
static const struct {
    const char *text;
    bool right;
} configurations[] = {
    {"{}", true},
    {"{\"$schema\": \"x\", \"$comment\": [1], \"extends\": \"tiny\"}", true},
    {"{\"l1\": {\"bytes\": 4096}}", true},
    {"{\"l1\": {\"bytes\": {\"value\": 4096, \"source\": \"x\"}}}", true},
    {"{\"l1\": {\"enabled\": false}, \"host\": {\"scheduler\": \"serial-sync\"}}", true},
    {"{\"l1\": {\"byts\": 4096}}", false},
    {"{\"l1\": 5}", false},
    {"{\"l1\": {\"bytes\": 4096.5}}", false},
    {"{\"l1\": {\"bytes\": {\"source\": \"x\"}}}", false},
    {"{\"l1\": {\"bytes\": {\"value\": 4096, \"unit\": \"x\"}}}", false},
    {"{\"l1\": {\"enabled\": 1}}", false},
    {"{\"compute_units\": 0}", false},
    {"{\"compute_units\": true}", false},
    {"{\"host\": {\"scheduler\": \"fastest\"}}", false},
    {"{\"extends\": 3}", false},
    {"{\"name\": 3}", false},
    {"[]", false},
};

static void test_the_schema_agrees_with_the_reader(void **state)
{
    cJSON *schema = json_of("config schema"), *value;
    struct hd_options o;
    char why[600];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof configurations / sizeof *configurations; i++) {
        const char *text = configurations[i].text;
        bool read = hd_config_load_text("c.json", text, strlen(text), &o, NULL) == HD_OK;

        value = cJSON_Parse(text);
        assert_non_null(value);
        if (read != configurations[i].right ||
            json_schema_valid(schema, value, why, sizeof why) != configurations[i].right)
            fail_msg("%s", text);
        cJSON_Delete(value);
    }
    cJSON_Delete(schema);
}

static void test_presets_keep_to_the_schema(void **state)
{
    cJSON *schema = json_of("config schema"), *value;
    struct config_names names = {0};
    char line[128];
    size_t i;

    (void)state;
    assert_true(config_list(&names));
    for (i = 0; i < names.len; i++) {
        snprintf(line, sizeof line, "config show %s", names.at[i]);
        value = json_of(line);
        expect_valid(schema, value, line);
        cJSON_Delete(value);
    }
    config_names_free(&names);
    cJSON_Delete(schema);
}

/* ---- traces -------------------------------------------------------------------------------------------- */

static void test_traces_of_real_runs(void **state)
{
    static const char *const lines[] = {
        "run workloads/dag/vec.lua --config tiny --arg n=5000 --arg blocks=8 --trace -",
        "run workloads/dag/pipeline.lua --config tiny --trace -",
        "run workloads/dag/pipeline.lua --config tiny --set sim.concurrent_kernels=off --trace -",
        "run workloads/dag/pipeline.lua --config tiny --set host.scheduler=serial-async --trace -",
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof lines / sizeof *lines; i++) {
        char *text = output_of(lines[i]);
        cJSON *trace = trace_check(text);

        assert_true(trace_count(trace, "X") > 3);
        /* serial-async finds no dependencies, so that there is nothing to draw */
        assert_int_equal(trace_count(trace, "s") > 0, strstr(lines[i], "serial-async") == NULL);
        cJSON_Delete(trace);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_keep_to_their_schema),
        cmocka_unit_test(test_rows_of_a_sweep_keep_to_the_schema),
        cmocka_unit_test(test_keys_are_in_order),
        cmocka_unit_test(test_the_schema_refuses),
        cmocka_unit_test(test_the_schema_agrees_with_the_reader),
        cmocka_unit_test(test_presets_keep_to_the_schema),
        cmocka_unit_test(test_traces_of_real_runs),
    };

    return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}
