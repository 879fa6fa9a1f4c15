/* require: where modules come from, and what goes wrong with them. */
#include "tests/lua/rig.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

static struct rig rig;

static int set_up(void **state)
{
    (void)state;
    rig_init(&rig);
    mkdir(rig_path(&rig, "part"), 0700);
    mkdir(rig_path(&rig, "shared"), 0700);
    rig_file(&rig, "one.lua", "print('one is loaded', ...) return {value = 1}");
    rig_file(&rig, "part/two.lua", "return function() return 'two' end");
    rig_file(&rig, "shared/three.lua", "return 3");
    rig_file(&rig, "shared/one.lua", "return 'the other one'");
    rig_file(&rig, "nothing.lua", "local x = 1");
    rig_file(&rig, "wrong.lua", "local x =\n\n= 1");
    rig_file(&rig, "fails.lua", "\nerror('inside')");
    rig_file(&rig, "global.lua", "\nleaked = 1 return {}");
    rig_file(&rig, "a.lua", "return require 'b'");
    rig_file(&rig, "b.lua", "return require 'c'");
    rig_file(&rig, "c.lua", "return require 'b'");
    rig_file(&rig, "flaky.lua", "if math.random() < 2 then error('first', 0) end");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_free(&rig);
    return 0;
}

static void prints(const char *program, const char *log)
{
    rig_run(&rig, program);
    if (rig.status != HD_OK)
        fail_msg("%s: %s", rig.err.place, rig.err.message);
    assert_string_equal(text_str(&rig.log), log);
}

static void fails(const char *program, const char *place, const char *message)
{
    rig_run(&rig, program);
    assert_int_equal(rig.status, HD_BAD_INPUT);
    if (!strstr(rig.err.place, place) || !strstr(rig.err.message, message))
        fail_msg("%s: %s", rig.err.place, rig.err.message);
}

static void test_beside_the_program(void **state)
{
    (void)state;
    prints("print(require('one').value, require('one') == require('one'))",
           "one is loaded\tone\n1\ttrue\n");
    prints("print(require('part.two')())", "two\n");
}

static void test_shared_folder_comes_second(void **state)
{
    char folder[128];

    (void)state;
    strcpy(folder, rig_path(&rig, "shared"));
    rig.o.lib_dir = folder;
    prints("print(require('three'), require('one').value)", "one is loaded\tone\n3\t1\n");
    rig.o.lib_dir = NULL;
    fails("require 'three'", "main.lua:1", "no module 'three'");
}

static void test_mistakes_in_modules(void **state)
{
    (void)state;
    fails("\nrequire 'wrong'", "wrong.lua:3", "unexpected symbol");
    fails("\nrequire 'fails'", "fails.lua:2", "inside");
    fails("\nrequire 'nothing'", "main.lua:2", "'nothing' returned nothing");
    fails("\nrequire 'global'", "global.lua:2", "global 'leaked'");
    fails("\nrequire 'absent'", "main.lua:2", "looked for absent.lua in");
    fails("\nrequire()", "main.lua:2", "string expected");
}

static void test_cycles_are_shown(void **state)
{
    (void)state;
    fails("require 'a'", "c.lua:1", "b -> c -> b");
}

/* An error that was caught does not leave a module marked as loading. */
static void test_failed_modules_may_be_tried_again(void **state)
{
    (void)state;
    prints("print(pcall(require, 'flaky')) print(pcall(require, 'flaky'))",
           "false\tfirst\nfalse\tfirst\n");
    prints("pcall(require, 'a') print(select(2, pcall(require, 'c')):match('modules.*'))",
           "modules require each other: c -> b -> c\n");
}

static void test_first_line_and_byte_order_mark(void **state)
{
    (void)state;
    prints("\xef\xbb\xbfprint(1)", "1\n");
    fails("#!/usr/bin/heddle\nerror('x')", "main.lua:2", "x");
    rig_file(&rig, "mark.lua", "\xef\xbb\xbf# first\nreturn 5");
    prints("print(require 'mark')", "5\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beside_the_program),
        cmocka_unit_test(test_shared_folder_comes_second),
        cmocka_unit_test(test_mistakes_in_modules),
        cmocka_unit_test(test_cycles_are_shown),
        cmocka_unit_test(test_failed_modules_may_be_tried_again),
        cmocka_unit_test(test_first_line_and_byte_order_mark),
    };

    return cmocka_run_group_tests_name("require", tests, set_up, tear_down);
}
