/*
 * What a run takes of the host's memory: its arrays, and at most 64 MiB for a device of any preset, with every compute unit full
 * of wavefronts that use many registers, local memory, and as many lines as they can have under way.
 */
#include "tests/cli/cli_rig.h"

#include "host/config/find.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

/* A sanitizer has memory of its own beside what is measured: then the programs only have to run. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

#define MIB (1024.0 * 1024.0)
#define ARRAY_MIB 8.0
#define MOST_MIB (SANITIZED ? 4096.0 : ARRAY_MIB + 64)

static const char program[] =
    "local gpu = require 'heddle'\n"
    "local n = 8 << 18\n"
    "local x = gpu.array('u32', n)\n"
    "local fill = gpu.module('full.hasm'):kernel('full', 'x: inout u32[], last: u32')\n"
    "x:fill(1)\n"
    "fill(450, 256, 4096)(x, n - 1)\n"
    "gpu.check_true('x[0]', x[0] > 1)\n";

static const char kernel[] =
    ".kernel full\n.vregs 64\n.param x u32[]\n.param last u32\n"
    " v_get_u32 v0, %gid\n v_mul_u32 v1, v0, 7919\n v_and_b32 v1, v1, last\n"
    " v_mul_u32 v2, v0, 104729\n v_and_b32 v2, v2, last\n"
    " v_get_u32 v4, %tid\n local_store_b32 [v4*4], v0\n"
    " global_load_b32 v5, [x + v1*4]\n global_load_b32 v6, [x + v2*4]\n"
    " v_add_u32 v5, v5, v6\n global_atomic_add_u32 [x + v1*4], v5\n"
    " s_end\n.endkernel\n";

static double peak_mib(const struct cli_rig *r)
{
    char *text = cli_rig_read(r, "r.json");
    cJSON *result = cJSON_Parse(text);
    const cJSON *simulator = cJSON_GetObjectItemCaseSensitive(result, "simulator");
    const cJSON *peak = cJSON_GetObjectItemCaseSensitive(simulator, "peak_rss_bytes");
    double mib;

    assert_true(cJSON_IsNumber(peak));
    mib = peak->valuedouble / MIB;
    cJSON_Delete(result);
    free(text);
    return mib;
}

static void test_each_preset(void **state)
{
    struct cli_rig *r = *state;
    struct config_names names = {0};
    struct rusage children;

    cli_rig_file(r, "full.lua", program);
    cli_rig_file(r, "full.hasm", kernel);
    assert_true(config_list(&names));
    for (size_t i = 0; i < names.len; i++) {
        char line[160];

        snprintf(line, sizeof line, "run %%/full.lua -q --config %s --out %%/r.json", names.at[i]);
        cli_rig_run(r, line);
        cli_rig_expect(r, 0, NULL, NULL);
        if (peak_mib(r) > MOST_MIB || peak_mib(r) < ARRAY_MIB)
            fail_msg("%s: %.1f MiB", names.at[i], peak_mib(r));
    }
    config_names_free(&names);
    /* And what the runs say of themselves is what the system says of them. */
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &children), 0);
    assert_true((double)children.ru_maxrss * 1024 / MIB <= MOST_MIB);
    assert_true((double)children.ru_maxrss * 1024 / MIB + 1 >= peak_mib(r));
}

/* Finished launches leave a few words each, and rows go to disk. */
static void test_many_launches(void **state)
{
    static const char many[] =
        "local gpu = require 'heddle'\n"
        "local x = gpu.array('u32', 64)\n"
        "local k = gpu.module('none.hasm'):kernel('none', 'x: inout u32[]')\n"
        "gpu.region('main', {reset = function() x:fill(0) end}, function()\n"
        "    for i = 1, gpu.arg('launches', 1) do k(1, 32)(x) end\n"
        "end)\n";
    struct cli_rig *r = *state;
    double few;

    cli_rig_file(r, "many.lua", many);
    cli_rig_file(r, "none.hasm", ".kernel none\n.param x u32[]\n s_end\n.endkernel\n");
    cli_rig_run(r, "run %/many.lua -q --config tiny --warmup 0 --detail full --out %/r.json");
    few = peak_mib(r);
    cli_rig_run(r, "run %/many.lua -q --config tiny --warmup 0 --detail full --out %/r.json "
                   "--arg launches=20000");
    cli_rig_expect(r, 0, NULL, NULL);
    if (!SANITIZED && peak_mib(r) - few > 20000 * 512 / MIB)
        fail_msg("%.1f MiB more than %.1f", peak_mib(r) - few, few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_preset),
        cmocka_unit_test(test_many_launches),
    };

    return cmocka_run_group_tests_name("memory", tests, cli_rig_setup, cli_rig_teardown);
}
