/* heddle run --trace-inst: the instructions of one wavefront. */
#include "tests/cli/cli_rig.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char one_hasm[] = ".macro twice a\n"
                               "    v_add_u32 \\a, \\a, \\a\n"
                               ".endmacro\n"
                               ".kernel one\n"
                               ".param x f32[]\n"
                               ".lds 512\n"
                               "    v_get_u32 v0, %tid\n"
                               "    v_shl_b32 v1, v0, 1\n"
                               "    local_store_b32 [v1*4], v0\n"
                               "    local_load_b32 v2, [v1*4]\n"
                               "    twice v2\n"
                               "    v_cvt_f32_u32 v3, v2\n"
                               "    v_cmp_lt_u32 m1, v0, 3\n"
                               "    @m1 global_store_b32 [x + v0*4], v3\n"
                               "    s_mov_b32 s9, 7\n"
                               "    v_mov_b32 v4, s9\n"
                               "    v_mov_b32 v5, -0.5\n"
                               "    v_cvt_f64_f32 v[6:7], v3\n"
                               "    s_end\n"
                               ".endkernel\n";

static const char one_lua[] =
    "local gpu = require 'heddle'\n"
    "local x = gpu.array('f32', 64, 'x')\n"
    "local one = gpu.module 'one.hasm':kernel('one', 'x: inout f32[]')\n"
    "gpu.region('main', function() one(2, 48)(x) gpu.check('x', x[2], 4) end)\n";

/* What follows from the program for wavefront 0: cycles since the instruction before, and the rest of the row. */
static const struct {
    unsigned after;
    const char *text;
} rows[] = {
    {0, "  v_get_u32 v0, %tid                        v0 = 0, 1, 2, 3, ... (32 lanes)"},
    {4, "3 scoreboard "},                                    /* ALU: 4 cycles */
    {4, "local address 0, then 8 bytes apart: 2 passes"},    /* the same */
    {2, "v2 = 0, 1, 2, 3, ... (32 lanes); local address 0"}, /* behind the two passes */
    {21,
     "20 lds_bank           4  one.hasm:2   ffffffff  v_add_u32 v2, v2, v2"}, /* 20, and a pass more */
    {4, "v3 = 0, 2, 4, 6, ... (32 lanes)"},
    {1, "one.hasm:13  ffffffff  v_cmp_lt_u32 m1, v0, 3                    m1 = 00000007"},
    {5, "00000007  @m1 global_store_b32 [s[0:1] + v0*4], v3"}, /* a conversion: 6 cycles from v3 on */
    {1, "s9 = 7\n"},
    {3, "v4 = 7 in each of 32 lanes\n"}, /* SALU: 3 cycles */
    {1, "v5 = 0xbf000000 in each of 32 lanes\n"},
};

static const char *row_at(const char *out, size_t n)
{
    const char *at = out;

    for (size_t i = 0; i < n + 2 && at; i++) { /* behind two lines of heading */
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    assert_non_null(at);
    return at;
}

static void write_one(const struct cli_rig *r)
{
    cli_rig_file(r, "one.lua", one_lua);
    cli_rig_file(r, "one.hasm", one_hasm);
}

static void test_rows(void **state)
{
    struct cli_rig *r = *state;
    uint64_t before = 0;

    write_one(r);
    cli_rig_run(r, "run %/one.lua --config tiny --trace-inst one:1:0 --quiet");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_ptr_equal(
        strstr(r->out, "wavefront 0 of work-group 1 of kernel 0 (one), on compute unit "), r->out);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *row = row_at(r->out, i);
        const char *found = strstr(row, rows[i].text);
        uint64_t cycle = strtoull(row, NULL, 10);

        if (!found || strchr(row, '\n') < found)
            fail_msg("row %zu has no \"%s\":\n%s", i, rows[i].text, r->out);
        if (i && cycle - before != rows[i].after)
            fail_msg("row %zu: %" PRIu64 " cycles, wanted %u", i, cycle - before, rows[i].after);
        before = cycle;
    }
    assert_non_null(strstr(r->out, "v[6:7] = 0, 2, 4, 6, ... (32 lanes)\n"));
    /* 13 instructions, the heading, and the end. */
    assert_non_null(strstr(row_at(r->out, 13), "  ends\n"));
    assert_int_equal(*row_at(r->out, 14), '\0');
}

static void test_which_wavefront(void **state)
{
    struct cli_rig *r = *state;

    write_one(r);
    /* The last wavefront has the 16 lanes that are left of 48. */
    cli_rig_run(r, "run %/one.lua --config tiny --trace-inst one:0:1 --quiet");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "0000ffff  v_get_u32 v0, %tid"));
    assert_non_null(strstr(r->out, "v0 = 32, 33, 34, 35, ... (16 lanes)"));
    assert_non_null(strstr(r->out, "00000000  @m1 global_store_b32"));
    /* What is left out is 0, and -v shows all lanes. */
    cli_rig_run(r, "run %/one.lua --config tiny --trace-inst 0 --quiet --verbose");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "wavefront 0 of work-group 0 of kernel 0 (one)"));
    assert_non_null(strstr(
        r->out, "v0 = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, "
                "21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31\n"));
}

/* Mask logic that saves EXEC shows both of what it writes. */
static void test_saved_exec(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_file(r, "save.lua",
                 "local gpu = require 'heddle'\n"
                 "gpu.module('save.hasm'):kernel('save', '')(1, 32)()\n");
    cli_rig_file(r, "save.hasm",
                 ".kernel save\n.form exec\n v_get_u32 v0, %lane\n v_cmp_lt_u32 vcc, v0, 4\n"
                 " m_and_saveexec s[2:3], vcc\n m_mov exec, -1\n s_end\n.endkernel\n");
    cli_rig_run(r, "run %/save.lua --config tiny --set divergence.unit=exec-mask --quiet "
                   "--trace-inst save");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "s[2:3] = 0xffffffff, exec = 0000000f\n"));
    assert_non_null(strstr(r->out, "  exec = ffffffff\n"));
}

/* A name is its first launch; an id is any. The kernel adds 1 to x twice. */
static void test_which_launch(void **state)
{
    struct cli_rig *r = *state;
    char line[160], *text;
    const cJSON *k, *last = NULL;
    cJSON *result;

    cli_rig_program(r);
    cli_rig_run(r, "run %/prog.lua --config tiny --quiet --trace-inst inc --out %/a.json");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(
        strstr(r->out, "@m0 v_add_f32 v1, v1, 1.0                 v1 = 1 in each of 32 lanes"));
    text = cli_rig_read(r, "a.json");
    result = cJSON_Parse(text);
    cJSON_ArrayForEach(k, cJSON_GetObjectItemCaseSensitive(result, "kernels"))
    {
        const cJSON *id = cJSON_GetObjectItemCaseSensitive(k, "id");

        if (!last || id->valuedouble > last->valuedouble)
            last = id;
    }
    assert_non_null(last);
    snprintf(line, sizeof line, "run %%/prog.lua --config tiny --quiet --trace-inst %.0f:0:0",
             last->valuedouble);
    cli_rig_run(r, line);
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(
        strstr(r->out, "@m0 v_add_f32 v1, v1, 1.0                 v1 = 2 in each of 32 lanes"));
    cJSON_Delete(result);
    free(text);
}

static char *result_part(const struct cli_rig *r, const char *name)
{
    char *text = cli_rig_read(r, name), *simulator;

    assert_non_null(text);
    simulator = strstr(text, "\n  \"simulator\": ");
    assert_non_null(simulator);
    *simulator = '\0';
    return text;
}

/* The run is the one without, and the file holds what would have been printed. */
static void test_the_run_does_not_notice(void **state)
{
    struct cli_rig *r = *state;
    char *with, *without, *printed, *file;

    write_one(r);
    cli_rig_run(r, "run %/one.lua --config tiny --quiet --out %/a.json");
    cli_rig_expect(r, 0, NULL, NULL);
    cli_rig_run(r, "run %/one.lua --config tiny --quiet --out %/b.json --trace-inst one:1:0");
    cli_rig_expect(r, 0, NULL, NULL);
    printed = strdup(r->out);
    with = result_part(r, "b.json");
    without = result_part(r, "a.json");
    assert_string_equal(with, without);
    cli_rig_run(
        r, "run %/one.lua --config tiny --quiet --trace-inst one:1:0 --trace-inst-out %/i.txt");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_string_equal(r->out, "");
    file = cli_rig_read(r, "i.txt");
    assert_non_null(file);
    assert_string_equal(file, printed);
    free(with);
    free(without);
    free(printed);
    free(file);
}

static void test_a_fault_is_the_last_row(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_file(r, "bad.hasm",
                 ".kernel bad\n.param x f32[]\n    v_get_u32 v0, %tid\n"
                 "    global_load_b32 v1, [x + v0*4 + 4096]\n    s_end\n.endkernel\n");
    cli_rig_file(r, "bad.lua",
                 "local gpu = require 'heddle'\n"
                 "local x = gpu.array('f32', 4, 'x')\n"
                 "gpu.module 'bad.hasm':kernel('bad', 'x: in f32[]')(1, 32)(x)\n"
                 "print(x[0])\n");
    cli_rig_run(r, "run %/bad.lua --config tiny --quiet --trace-inst bad");
    cli_rig_expect(r, 4, "past the end of array x", NULL);
    assert_non_null(strstr(r->out, "v0 = 0, 1, 2, 3, ... (32 lanes)\n"));
    assert_non_null(
        strstr(r->out, "global_load_b32 v1, [s[0:1] + v0*4 + 4096]  the run ended here\n"));
}

static void test_wrong_usage(void **state)
{
    static const struct {
        const char *options, *message, *hint;
    } wrong[] = {
        {"--trace-inst 1:", "\"1:\" is no wavefront", "KERNEL:GROUP:WAVEFRONT"},
        {"--trace-inst 1:2:3:4", "is no wavefront", "such as 0:3:1"},
        {"--trace-inst 1:x", "is no wavefront", NULL},
        {"--trace-inst :1", "is no wavefront", NULL},
        {"--trace-inst 0:0:4294967296", "is no wavefront", NULL},
        {"--trace-inst 99999999999999999999", "is no wavefront", NULL},
        {"--trace-inst one --timing off", "needs time", "leave --timing off out"},
        {"--trace-inst-out %/i.txt", "none is asked for", "add --trace-inst"},
        {"--trace-inst 7", "no kernel with id 7 has run", "kernels of this run: 0 (one)"},
        {"--trace-inst two", "no kernel two has run", "kernels of this run: 0 (one)"},
        {"--trace-inst 0:2", "wavefront 0 of work-group 2 has never run",
         "work-groups 0 to 1 of that kernel ran, with wavefronts 0 to 1 each"},
        {"--trace-inst one:1:2 --trace-inst-out %/i.txt",
         "wavefront 2 of work-group 1 has never run", NULL},
        {"--trace-inst one --trace-inst-out %/one.lua", "--trace-inst-out names the program", NULL},
        {"--trace-inst one --trace-inst-out %/x --out %/x",
         "--out and --trace-inst-out name one file", NULL},
    };
    struct cli_rig *r = *state;
    char line[256];

    write_one(r);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(line, sizeof line, "run %%/one.lua --config tiny --quiet %s", wrong[i].options);
        cli_rig_run(r, line);
        cli_rig_expect(r, 2, wrong[i].message, wrong[i].hint);
        assert_false(cli_rig_exists(r, "x"));
    }
    cli_rig_run(r, "compare %/one.lua --trace-inst one");
    cli_rig_expect(r, 2, "compare has no option --trace-inst", NULL);
    assert_false(cli_rig_leftovers(r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_which_wavefront),
        cmocka_unit_test(test_saved_exec),
        cmocka_unit_test(test_which_launch),
        cmocka_unit_test(test_the_run_does_not_notice),
        cmocka_unit_test(test_a_fault_is_the_last_row),
        cmocka_unit_test(test_wrong_usage),
    };

    return cmocka_run_group_tests_name("trace-inst", tests, cli_rig_setup, cli_rig_teardown);
}
