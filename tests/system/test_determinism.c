/*
 * A run is a function of configuration, program, arguments and seed: the command writes the same
 * bytes again, with either build of the lanes, but for the object `simulator`. Nor does it matter
 * whether values and compute units run ahead of time, which a limit on instructions turns off. HEDDLE
 * in the environment says where the command is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

static char *read_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    char *text;
    long size;

    assert_non_null(in);
    assert_int_equal(fseek(in, 0, SEEK_END), 0);
    size = ftell(in);
    assert_true(size > 0);
    rewind(in);
    text = calloc((size_t)size + 1, 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, in), size);
    fclose(in);
    return text;
}

/*
 * Cuts the value of "simulator" out of the text, so that all other bytes are compared as they are.
 */
static void cut_simulator(char *text)
{
    char *at = strstr(text, "\"simulator\""), *end;
    int depth = 0;

    assert_non_null(at);
    at = strchr(at, '{');
    assert_non_null(at);
    end = at;
    do {
        assert_true(*end != '\0');
        depth += (*end == '{') - (*end == '}');
        end++;
    } while (depth > 0);
    memmove(at, end, strlen(end) + 1);
}

/* The result and the trace of a run; the caller frees both. */
static void run(const char *folder, const char *arguments, char **result, char **trace)
{
    const char *heddle = getenv("HEDDLE");
    char command[2048], out[600], to[600];

    snprintf(out, sizeof out, "%s/result.json", folder);
    snprintf(to, sizeof to, "%s/trace.json", folder);
    snprintf(command, sizeof command, "%s run %s --quiet --out %s --trace %s >/dev/null",
             heddle ? heddle : "build/heddle", arguments, out, to);
    if (system(command) != 0)
        fail_msg("failed: %s", command);
    *result = read_file(out);
    *trace = read_file(to);
    cut_simulator(*result);
    unlink(out);
    unlink(to);
}

static void check_same(const char *folder, const char *first, const char *second)
{
    char *result[2], *trace[2];
    cJSON *parsed;

    run(folder, first, &result[0], &trace[0]);
    run(folder, second, &result[1], &trace[1]);
    parsed = cJSON_Parse(trace[0]);
    assert_non_null(parsed);
    cJSON_Delete(parsed);
    if (strcmp(result[0], result[1]) != 0 || strcmp(trace[0], trace[1]) != 0)
        fail_msg("`%s` and `%s` differ", first, second);
    for (unsigned i = 0; i < 2; i++) {
        free(result[i]);
        free(trace[i]);
    }
}

static const char *const programs[] = {
    "workloads/dag/vec.lua --arg n=30000 --iterations 2 --detail full",
    "workloads/dag/matmul.lua --arg n=50 --detail full",
    "workloads/dag/reduce.lua --arg n=30000 --detail full",
    "workloads/dag/pipeline.lua --arg steps=64 --detail full --config tiny",
};

static int make_folder(void **state)
{
    static char folder[512];
    const char *tmp = getenv("TMPDIR");

    snprintf(folder, sizeof folder, "%s/heddle-determinism-XXXXXX", tmp ? tmp : "/tmp");
    *state = mkdtemp(folder);
    return *state ? 0 : -1;
}

static int remove_folder(void **state)
{
    return rmdir(*state);
}

static void test_two_runs(void **state)
{
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++)
        check_same(*state, programs[i], programs[i]);
}

static void test_lane_builds(void **state)
{
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        skip();
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++) {
        char baseline[256], avx2[256];

        snprintf(baseline, sizeof baseline, "%s --lanes baseline", programs[i]);
        snprintf(avx2, sizeof avx2, "%s --lanes avx2", programs[i]);
        check_same(*state, baseline, avx2);
    }
}

static void test_running_ahead(void **state)
{
    static const char *const machines[] = {
        "--config tiny",
        "--config p100",
        "--config hd7970 --set divergence.unit=any-branch",
        "--config xe-lp --set divergence.unit=any-branch",
        "--config tiny --set dram.channels=1 --set l1.mshrs=2",
        "--config tiny --set l1.write=write-back --set dram.row_bytes=2048",
        "--config tiny --set launch.latency_ns=0 --set launch.resident_kernels=1",
        "--config tiny --set launch.placement=spatial --set cu.issue_width=2",
    };
    static const char *const small[] = {
        "workloads/dag/vec.lua --arg n=20000",
        "workloads/dag/matmul.lua --arg n=40",
        "workloads/dag/reduce.lua --arg n=20000",
        "workloads/dag/pipeline.lua --arg steps=32",
    };

    for (unsigned i = 0; i < sizeof machines / sizeof *machines; i++) {
        char ahead[512], in_step[600];

        snprintf(ahead, sizeof ahead, "%s %s --detail full", small[i % 4], machines[i]);
        snprintf(in_step, sizeof in_step, "%s --max-instr 1000000000000", ahead);
        check_same(*state, ahead, in_step);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_two_runs, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_lane_builds, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_running_ahead, make_folder, remove_folder),
    };

    return cmocka_run_group_tests_name("determinism", tests, NULL, NULL);
}
