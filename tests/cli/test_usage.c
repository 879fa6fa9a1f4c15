/* The command line: help, versions, lists, and what a wrong line gets. */
#include "tests/cli/cli_rig.h"

#include "host/config/json_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

struct line {
    const char *line;
    int status;
    const char *message, *hint;
};

static const struct line wrong[] = {
    {"", 2, "no verb was given", "heddle --help"},
    {"runn x.lua", 2, "there is no heddle runn", "did you mean heddle run?"},
    {"--frobnicate", 2, "there is no heddle --frobnicate", "--help"},
    {"help runn", 2, "there is no heddle runn", "heddle run?"},
    {"run", 2, "heddle run needs WORKLOAD.lua", "heddle run workloads/dag/vec.lua"},
    {"run a.lua b.lua", 2, "what is \"b.lua\" to mean?", ""},
    {"run a.lua --sett x=1", 2, "run has no option --sett", "did you mean --set?"},
    {"run a.lua --axis x", 2, "run has no option --axis", ""},
    {"run a.lua -z", 2, "run has no option -z", "heddle run --help"},
    {"run a.lua --out", 2, "--out needs a value", ""},
    {"run a.lua --quiet=yes", 2, "--quiet takes no value", ""},
    {"run a.lua --detail all", 2, "--detail must be one of summary, kernels, full, not \"all\"", ""},
    {"run a.lua --timing maybe", 2, "--timing must be one of on, off", ""},
    {"run a.lua --seed -1", 2, "--seed must be a whole number, not \"-1\"", ""},
    {"run a.lua --seed 1x", 2, "--seed must be a whole number", ""},
    {"run a.lua --seed 18446744073709551616", 2, "--seed must be a whole number", ""},
    {"run a.lua --max-time 0", 2, "--max-time must be a number of seconds", ""},
    {"run a.lua --max-time inf", 2, "--max-time must be a number of seconds", ""},
    {"run a.lua --iterations 0", 2, "--iterations must be from 1", ""},
    {"run a.lua --trace-window 5", 2, "--trace-window \"5\" is no window", "microseconds"},
    {"run a.lua --trace-window 9:3", 2, "is no window", ""},
    {"run a.lua --trace-window a:b", 2, "is no window", ""},
    {"compare a.lua --axis l1.bytes", 2, "--axis l1.bytes needs its values", "V1,V2"},
    {"compare a.lua --axis l1.bytes=", 2, "has an empty value", ""},
    {"compare a.lua --axis l1.bytes=1,,2", 2, "has an empty value", ""},
    {"compare a.lua --axis l1.bytes=1,2,1", 2, "has the value 1 twice", ""},
    {"compare a.lua --axis l1.byts=1", 3, "no parameter \"l1.byts\"", "l1.bytes"},
    {"config", 2, "heddle config needs", ""},
    {"config shw p100", 2, "cannot shw", "did you mean show?"},
    {"config show", 2, "takes a name or a file", ""},
    {"config list p100", 2, "takes no name", ""},
    {"config show p10", 3, "no configuration \"p10\"", "p100"},
    {"list everything", 2, "no list of \"everything\"", "schedulers"},
    {"result dump", 2, "cannot dump", "schema"},
};

static void test_wrong_lines(void **state)
{
    struct cli_rig *r = *state;
    size_t i;

    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cli_rig_run(r, wrong[i].line);
        if (r->status != wrong[i].status)
            print_message("heddle %s\n", wrong[i].line);
        cli_rig_expect(r, wrong[i].status, wrong[i].message, wrong[i].hint);
        assert_string_equal(r->out, "");
        assert_true(strncmp(r->err, "heddle: error: ", 15) == 0);
    }
}

static const char *const verbs[] = {"run",   "compare", "asm",  "dis",
                                    "check", "config",  "list", "result"};

/* Each verb's help is on standard output, has an example, and is what "help VERB" prints. */
static void test_help(void **state)
{
    struct cli_rig *r = *state;
    char line[64], *first;
    size_t i;

    cli_rig_run(r, "--help");
    cli_rig_expect(r, 0, NULL, NULL);
    for (i = 0; i < sizeof verbs / sizeof *verbs; i++)
        assert_non_null(strstr(r->out, verbs[i]));
    for (i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        snprintf(line, sizeof line, "%s --help", verbs[i]);
        cli_rig_run(r, line);
        cli_rig_expect(r, 0, NULL, NULL);
        assert_string_equal(r->err, "");
        snprintf(line, sizeof line, "usage: heddle %s ", verbs[i]);
        assert_true(strncmp(r->out, line, strlen(line)) == 0);
        snprintf(line, sizeof line, "example:\n  heddle %s ", verbs[i]);
        assert_non_null(strstr(r->out, line));
        first = strdup(r->out);
        snprintf(line, sizeof line, "help %s", verbs[i]);
        cli_rig_run(r, line);
        assert_string_equal(r->out, first);
        free(first);
    }
}

/* The help of dis in full, as what a help looks like. */
static void test_golden_help(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_run(r, "dis --help");
    assert_string_equal(r->out,
                        "usage: heddle dis FILE.hasm\n"
                        "\n"
                        "prints what a file assembles to, without sugar and macros.\n"
                        "\n"
                        "  -q, --quiet                   prints no summary and no progress\n"
                        "  -v, --verbose                 prints more\n"
                        "  -h, --help                    prints this\n"
                        "      --version                 prints the version\n"
                        "\n"
                        "example:\n"
                        "  heddle dis workloads/dag/vec.hasm\n");
}

static void test_version(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_run(r, "--version");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_true(strncmp(r->out, "heddle ", 7) == 0);
    assert_non_null(strstr(r->out, "Lua 5.4"));
    assert_non_null(strstr(r->out, "cJSON "));
}

/* What claims to be JSON is strict JSON. */
static void expect_json(struct cli_rig *r, const char *line)
{
    struct json_text t;
    struct hd_error err;

    cli_rig_run(r, line);
    cli_rig_expect(r, 0, NULL, NULL);
    if (json_text_parse(line, r->out, strlen(r->out), &t, &err) != HD_OK)
        fail_msg("%s: %s", err.place, err.message);
    json_text_free(&t);
}

static void test_output_that_is_json(void **state)
{
    struct cli_rig *r = *state;

    expect_json(r, "list --json");
    assert_non_null(strstr(r->out, "\"name\": \"serial-sync\""));
    assert_non_null(strstr(r->out, "\"name\": \"any-branch\""));
    expect_json(r, "list opcodes --json");
    assert_non_null(strstr(r->out, "v_add_f32"));
    expect_json(r, "config schema");
    expect_json(r, "config show p100");
    expect_json(r, "result schema");
}

static void test_lists_for_readers(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_run(r, "list");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "host.dependency=no-const"));
    cli_rig_run(r, "list schedulers");
    assert_non_null(strstr(r->out, "parallel-async"));
    assert_null(strstr(r->out, "any-branch"));
    cli_rig_run(r, "list cu.scheduler");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "rotating"));
    assert_null(strstr(r->out, "parallel-async"));
    cli_rig_run(r, "list cu.simds");
    cli_rig_expect(r, 2, "there is no list of \"cu.simds\"", NULL);
    cli_rig_run(r, "list opcodes -v");
    assert_non_null(strstr(r->out, "# Opcodes\n"));
    assert_non_null(strstr(r->out, "v_add_u32 v, v\\|s\\|imm, v\\|s\\|imm"));
    cli_rig_run(r, "config list -q");
    assert_non_null(strstr(r->out, "p100\n"));
}

/* A pipe whose reader leaves after the first line is no error. */
static void test_reader_that_leaves(void **state)
{
    const struct cli_rig *r = *state;
    const char *heddle = getenv("HEDDLE");
    char command[512];
    char *errors;

    snprintf(command, sizeof command, "%s list opcodes -v 2>%s/errors | head -n 1 >%s/line",
             heddle ? heddle : "build/heddle", r->folder, r->folder);
    assert_int_equal(system(command), 0);
    errors = cli_rig_read(r, "errors");
    assert_string_equal(errors, "");
    free(errors);
}

static void test_set_of_config_show(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_run(r, "config show tiny --set l1.enabled=off -s name=mine");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "\"name\": \"mine\""));
    assert_non_null(strstr(r->out, "\"enabled\": false"));
    cli_rig_run(r, "config check tiny");
    cli_rig_expect(r, 0, NULL, NULL);
    cli_rig_run(r, "config check tiny --set wavefront_size=48");
    cli_rig_expect(r, 3, "wavefront_size", NULL);
}

/* What asm writes is what dis and check read, and says the same as the source. */
static void test_an_assembled_program_is_read(void **state)
{
    struct cli_rig *r = *state;
    char *source;

    cli_rig_program(r);
    cli_rig_run(r, "dis %/prog.hasm");
    cli_rig_expect(r, 0, NULL, NULL);
    source = strdup(r->out);
    cli_rig_run(r, "asm %/prog.hasm -q --out %/prog.image");
    cli_rig_expect(r, 0, NULL, NULL);
    cli_rig_run(r, "dis %/prog.image");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_string_equal(r->out, source);
    cli_rig_run(r, "check %/prog.image");
    cli_rig_expect(r, 0, NULL, NULL);
    free(source);
}

/* The assembly library is found like the presets, wherever the command is run. */
static void test_the_library_is_found(void **state)
{
    struct cli_rig *r = *state;
    char folder[128];

    cli_rig_file(r, "uses.hasm",
                 ".include \"mine.hasm\"\n.kernel k\n nothing\n s_end\n.endkernel\n");
    cli_rig_run(r, "dis %/uses.hasm");
    cli_rig_expect(r, 3, "no file `mine.hasm`", NULL);
    snprintf(folder, sizeof folder, "%s/data", r->folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(setenv("HEDDLE_DATA", folder, 1), 0);
    snprintf(folder, sizeof folder, "%s/data/workloads", r->folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(folder, sizeof folder, "%s/data/workloads/lib", r->folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    cli_rig_file(r, "data/workloads/lib/mine.hasm", ".macro nothing\n s_nop\n.endmacro\n");
    cli_rig_run(r, "dis %/uses.hasm");
    unsetenv("HEDDLE_DATA");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "s_nop"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_lines),
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_golden_help),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_output_that_is_json),
        cmocka_unit_test(test_lists_for_readers),
        cmocka_unit_test(test_reader_that_leaves),
        cmocka_unit_test(test_set_of_config_show),
        cmocka_unit_test(test_an_assembled_program_is_read),
        cmocka_unit_test(test_the_library_is_found),
    };

    return cmocka_run_group_tests_name("usage", tests, cli_rig_setup, cli_rig_teardown);
}
