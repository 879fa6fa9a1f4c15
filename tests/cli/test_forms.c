/* A kernel is taken in the form that the divergence unit runs; where there is none, the message names what there is. */
#include "tests/cli/cli_rig.h"

#include "cf/cf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_compare_has_a_row_for_each_unit(void **state)
{
    struct cli_rig *r = *state;
    char cells[64];

    cli_rig_run(
        r,
        "compare workloads/cf/mandelbrot.lua --config tiny --axis divergence.unit --arg scale=0.03 "
        "--arg iterations=20 --arg samples=20");
    cli_rig_expect(r, 0, NULL, NULL);
    for (size_t i = 0; cf_units[i]; i++) {
        const char *row;

        snprintf(cells, sizeof cells, "\n%s ", cf_units[i]->name);
        row = strstr(r->out, cells);
        assert_non_null(row);
        assert_memory_equal(strchr(row + 1, '\n') - strlen("4 passed"), "4 passed", 8);
    }
}

/* A program with a kernel in one form; in its module another kernel that has them all. */
static void program(struct cli_rig *r, const char *form)
{
    char kernel[256];

    snprintf(kernel, sizeof kernel,
             ".kernel one\n.form %s\n    s_end\n.endkernel\n.kernel plain\n    s_end\n.endkernel\n",
             form);
    cli_rig_file(r, "form.hasm", kernel);
    cli_rig_file(r, "form.lua",
                 "local gpu = require 'heddle'\n"
                 "gpu.module('form.hasm'):kernel('plain', '')(1, 1)()\n"
                 "gpu.module('form.hasm'):kernel('one', '')(1, 1)()\n"
                 "gpu.check('it ran', 1, 1)\n");
}

static void test_forms_that_do_not_fit(void **state)
{
    struct cli_rig *r = *state;

    program(r, "exec");
    cli_rig_run(r, "run %/form.lua --config tiny --set divergence.unit=exec-mask");
    cli_rig_expect(r, 0, NULL, NULL);
    cli_rig_run(r,
                "run %/form.lua --config tiny --set divergence.unit=any-branch --out %/none.json");
    cli_rig_expect(
        r, 3, "kernel one is there in form exec, but divergence.unit=any-branch takes predicated",
        "exec: exec-mask");
    assert_non_null(strstr(r->err, "form.lua:3"));
    assert_false(cli_rig_exists(r, "none.json"));
    program(r, "goto");
    cli_rig_run(r, "run %/form.lua --config tiny --set divergence.unit=goto-join");
    cli_rig_expect(r, 0, NULL, NULL);
    cli_rig_run(r, "run %/form.lua --config tiny --set divergence.unit=exec-mask");
    cli_rig_expect(r, 3,
                   "kernel one is there in form goto, but divergence.unit=exec-mask takes exec",
                   "goto: goto-join or simt-stack or min-pc or barrier");
    cli_rig_run(r, "compare %/form.lua --config tiny --axis divergence.unit=goto-join,exec-mask");
    cli_rig_expect(
        r, 3, "kernel one is there in form goto, but divergence.unit=exec-mask takes exec", NULL);
    cli_rig_run(r,
                "run %/form.lua --config tiny --set divergence.unit=goto-join --set cf.form=exec");
    cli_rig_expect(r, 3, "cf.form is \"exec\", which divergence.unit \"goto-join\" does not run",
                   "auto");
}

/* Every form on offer is run by a unit. */
static void test_listed_forms_are_run(void **state)
{
    struct cli_rig *r = *state;
    char *list, *line, *rest, command[256];
    unsigned forms = 0;

    program(r, "exec");
    cli_rig_file(r, "plain.lua",
                 "local gpu = require 'heddle'\n"
                 "gpu.module('form.hasm'):kernel('plain', '')(1, 1)()\n");
    cli_rig_run(r, "list policies");
    list = strdup(r->out);
    for (line = strtok_r(list, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char form[32];
        bool ran = false;

        if (sscanf(line, " cf.form=%31s", form) != 1)
            continue;
        forms++;
        for (size_t i = 0; cf_units[i] && !ran; i++) {
            snprintf(command, sizeof command,
                     "run %%/plain.lua --config tiny --set divergence.unit=%s --set cf.form=%s",
                     cf_units[i]->name, form);
            cli_rig_run(r, command);
            ran = r->status == 0;
        }
        if (!ran)
            fail_msg("nothing runs cf.form=%s", form);
    }
    assert_true(forms > 2);
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compare_has_a_row_for_each_unit),
        cmocka_unit_test(test_forms_that_do_not_fit),
        cmocka_unit_test(test_listed_forms_are_run),
    };

    return cmocka_run_group_tests_name("forms", tests, cli_rig_setup, cli_rig_teardown);
}
