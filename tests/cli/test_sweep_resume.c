/* heddle sweep: what is left when it, or one of its points, is ended from outside, and taking it up again. */
#include "tests/cli/cli_rig.h"
#include "tests/soak.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* p = 0 never ends; the others take no time. */
static const char program[] = "local gpu = require 'heddle'\n"
                              "local p = gpu.arg('p', 1)\n"
                              "while p == 0 do end\n"
                              "gpu.host_work_ns(p)\n"
                              "gpu.check('p', p, p)\n";

static void make_sweep(const struct cli_rig *r, const char *values)
{
    char script[512];

    snprintf(
        script, sizeof script,
        "return {workload = 'wait.lua', config = 'tiny', axes = {{key = 'arg.p', values = {%s}}}}",
        values);
    cli_rig_file(r, "wait.lua", program);
    cli_rig_file(r, "s.lua", script);
}

static char *read_file(const struct cli_rig *r, const char *name)
{
    char *text = cli_rig_read(r, name);

    assert_non_null(text);
    return text;
}

/* Cuts ,"simulator":{...} out of each line. */
static char *plain_rows(const struct cli_rig *r, const char *name)
{
    static const char mark[] = ",\"simulator\":{";
    char *text = read_file(r, name), *from;

    while ((from = strstr(text, mark)) != NULL) {
        const char *to = strchr(from, '}') + 1;

        memmove(from, to, strlen(to) + 1);
    }
    return text;
}

static void write_bytes(const struct cli_rig *r, const char *name, const char *bytes, size_t len)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", r->folder, name);
    f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, len, f), len);
    fclose(f);
}

static void remove_file(const struct cli_rig *r, const char *name)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", r->folder, name);
    unlink(path);
}

static void sleep_ms(long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

/* The processes of a process, by Linux' own list. */
static size_t children_of(pid_t process, pid_t *out, size_t max)
{
    char path[64];
    size_t n = 0;
    long child;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)process, (long)process);
    f = fopen(path, "r");
    if (!f)
        return 0;
    while (n < max && fscanf(f, "%ld", &child) == 1)
        out[n++] = (pid_t)child;
    fclose(f);
    return n;
}

/* Waits until the sweep's journal has that many rows and one point still runs, which is the one that never ends. */
static pid_t wait_for_rows(const struct cli_rig *r, pid_t sweep, size_t rows)
{
    pid_t child;

    for (int i = 0; i < 2000; i++, sleep_ms(5)) {
        char *text = cli_rig_read(r, "a.jsonl.part");
        size_t lines = 0;

        for (const char *c = text; c && *c; c++)
            lines += *c == '\n';
        free(text);
        if (lines >= rows && children_of(sweep, &child, 1) == 1)
            return child;
    }
    fail_msg("the points do not come");
    return 0;
}

static bool is_running(pid_t process)
{
    char path[64], state = 'Z';
    FILE *f;

    snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    f = fopen(path, "r");
    if (!f)
        return false;
    if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = 'Z';
    fclose(f);
    return state != 'Z';
}

static void expect_ends(pid_t process)
{
    for (int i = 0; i < 400 && is_running(process); i++)
        sleep_ms(5);
    assert_false(is_running(process));
}

/* ---- points ------------------------------------------------------------------------------------- */

static void test_a_killed_point_is_a_row(void **state)
{
    struct cli_rig *r = *state;
    pid_t sweep;
    char *text;

    make_sweep(r, "0, 1, 2");
    sweep = cli_rig_start(r, "sweep %/s.lua -j 2 --out %/a.jsonl");
    kill(wait_for_rows(r, sweep, 2), SIGKILL);
    cli_rig_wait(r, sweep);
    cli_rig_expect(r, 4, NULL, NULL);
    assert_non_null(strstr(r->out, "killed        1  arg.p=0"));
    text = plain_rows(r, "a.jsonl");
    assert_non_null(strstr(text, "\"status\":\"failed\",\"error\":{\"code\":\"killed\""));
    assert_non_null(strstr(text, "killed by signal 9"));
    assert_non_null(strstr(text, "\"index\":0,\"axes\":{\"arg.p\":0},\"exit_status\":137}"));
    assert_non_null(strstr(text, "\"index\":2,\"axes\":{\"arg.p\":2},\"exit_status\":0}"));
    free(text);
    remove_file(r, "a.jsonl");
}

static void test_a_point_that_takes_too_long_is_a_row(void **state)
{
    struct cli_rig *r = *state;
    char *one, *two;

    make_sweep(r, "1, 0, 2");
    cli_rig_run(r, "sweep %/s.lua -j 2 --max-time 0.3 --out %/a.jsonl");
    cli_rig_expect(r, 4, NULL, NULL);
    one = plain_rows(r, "a.jsonl");
    assert_non_null(strstr(one,
                           "\"status\":\"stopped\",\"error\":{\"code\":\"timeout\",\"place\":\"\","
                           "\"message\":\"the point took longer than 0.3 seconds\""));
    assert_non_null(strstr(one, "\"axes\":{\"arg.p\":0},\"exit_status\":6}"));
    cli_rig_run(r, "sweep %/s.lua -j 1 --max-time 0.3 --out %/b.jsonl");
    two = plain_rows(r, "b.jsonl");
    assert_string_equal(one, two);
    free(one);
    free(two);
    remove_file(r, "a.jsonl");
    remove_file(r, "b.jsonl");
}

/* ---- taking up ------------------------------------------------------------------------------------ */

/* Rows that are ok stay as they are, to the byte and with their simulator part; those that failed run again. */
static void test_only_what_failed_runs_again(void **state)
{
    struct cli_rig *r = *state;
    char *before, *after;
    size_t same;

    make_sweep(r, "1, 2, 0");
    cli_rig_run(r, "sweep %/s.lua --max-time 0.2 --out %/a.jsonl");
    cli_rig_expect(r, 4, NULL, NULL);
    before = read_file(r, "a.jsonl");
    cli_rig_run(r, "sweep %/s.lua --dry-run --resume --out %/a.jsonl");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "arg.p=1 (kept)\n"));
    assert_non_null(strstr(r->out, "arg.p=0\n"));
    assert_non_null(strstr(r->out, "3 points, 1 to run"));
    cli_rig_file(r, "wait.lua", "local p = require('heddle').arg('p', 1)\n");
    cli_rig_run(r, "sweep %/s.lua --resume --out %/a.jsonl");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "3 points, 2 kept"));
    after = read_file(r, "a.jsonl");
    same = (size_t)(strchr(strchr(before, '\n') + 1, '\n') + 1 - before);
    assert_int_equal(strncmp(before, after, same), 0);
    assert_non_null(strstr(after + same, "\"arg.p\":0},\"exit_status\":0}"));
    free(before);
    free(after);
    remove_file(r, "a.jsonl");
}

/* Rows that other points of a changed script had are found by their ids, and numbered anew. */
static void test_a_changed_script_keeps_what_it_still_has(void **state)
{
    struct cli_rig *r = *state;
    char *text;

    make_sweep(r, "1, 2, 3");
    cli_rig_run(r, "sweep %/s.lua --out %/a.jsonl -q");
    cli_rig_expect(r, 0, NULL, NULL);
    make_sweep(r, "3, 4, 1");
    cli_rig_run(r, "sweep %/s.lua --out %/a.jsonl --resume");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "3 points, 2 kept"));
    text = plain_rows(r, "a.jsonl");
    assert_non_null(strstr(text, "\"index\":0,\"axes\":{\"arg.p\":3}"));
    assert_non_null(strstr(text, "\"index\":2,\"axes\":{\"arg.p\":1}"));
    assert_null(strstr(text, "\"arg.p\":2}"));
    free(text);
    remove_file(r, "a.jsonl");
}

/* The file, or what a crash left of the journal, ends anywhere in its last line. */
static void test_a_torn_last_line(void **state)
{
    static const char *const names[] = {"a.jsonl", "a.jsonl.part"};
    struct cli_rig *r = *state;
    char *text, *wanted, *now;
    size_t last, len, step;

    make_sweep(r, "1, 2, 3");
    cli_rig_run(r, "sweep %/s.lua --out %/a.jsonl -q");
    cli_rig_expect(r, 0, NULL, NULL);
    text = read_file(r, "a.jsonl");
    wanted = plain_rows(r, "a.jsonl");
    len = strlen(text);
    last = (size_t)(strchr(strchr(text, '\n') + 1, '\n') + 1 - text);
    step = test_count(1) > 1 ? 1 : (len - last) / 20;
    for (size_t cut = last; cut <= len; cut++) {
        const char *name = names[cut % 2];

        if (cut > last + 2 && cut + 4 < len && (cut - last) % step != 0)
            continue;
        remove_file(r, "a.jsonl");
        write_bytes(r, name, text, cut);
        cli_rig_run(r, "sweep %/s.lua --out %/a.jsonl --resume");
        cli_rig_expect(r, 0, NULL, NULL);
        /* without its newline the last row is still whole */
        assert_non_null(strstr(r->out, cut >= len - 1 ? "3 kept" : "2 kept"));
        now = plain_rows(r, "a.jsonl");
        assert_string_equal(now, wanted);
        assert_false(cli_rig_exists(r, "a.jsonl.part"));
        free(now);
    }
    free(text);
    free(wanted);
    remove_file(r, "a.jsonl");
}

/* Lines that are no rows of this sweep, of this version, or not ok, are as if they were not there. */
static void test_other_lines_are_passed_over(void **state)
{
    struct cli_rig *r = *state;
    char *text, *wanted, *mixed, *version;
    size_t size;

    make_sweep(r, "1, 2");
    cli_rig_run(r, "sweep %/s.lua --out %/a.jsonl -q");
    text = read_file(r, "a.jsonl");
    wanted = plain_rows(r, "a.jsonl");
    version = strstr(text, "\"version\":\"");
    version[strlen("\"version\":\"")] = 'x';
    size = strlen(text) + 512;
    mixed = malloc(size);
    assert_non_null(mixed);
    snprintf(mixed, size,
             "\nnull\n[1]\n{\"point\":5}\n{\"point\":{\"id\":7}}\n\x01\xff\n%s{\"schema\":", text);
    write_bytes(r, "a.jsonl", mixed, strlen(mixed));
    cli_rig_run(r, "sweep %/s.lua --out %/a.jsonl --resume");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "2 points, 1 kept"));
    free(text);
    text = plain_rows(r, "a.jsonl");
    assert_string_equal(text, wanted);
    free(text);
    free(wanted);
    free(mixed);
    remove_file(r, "a.jsonl");
}

/* What --resume was given by mistake stays as it is. */
static void test_a_file_of_no_sweep_is_left_alone(void **state)
{
    static const char notes[] = "lines of somebody's own\n{\"n\": 1}\n";
    struct cli_rig *r = *state;
    char *text;

    make_sweep(r, "1, 2");
    write_bytes(r, "a.jsonl", notes, strlen(notes));
    cli_rig_run(r, "sweep %/s.lua --out %/a.jsonl --resume");
    cli_rig_expect(r, 2, NULL, "/a.jsonl\", which holds no result at all");
    text = read_file(r, "a.jsonl");
    assert_string_equal(text, notes);
    free(text);
    remove_file(r, "a.jsonl");

    write_bytes(r, "a.jsonl", "", 0);
    cli_rig_run(r, "sweep %/s.lua --out %/a.jsonl --resume");
    cli_rig_expect(r, 0, NULL, NULL);
    remove_file(r, "a.jsonl");
}

/* Found before the first point and not after the last. */
static void test_a_place_that_takes_no_file(void **state)
{
    static const char *const places[] = {"%/folder.jsonl", "%/none/a.jsonl"};
    struct cli_rig *r = *state;
    char line[128];

    make_sweep(r, "1, 2");
    snprintf(line, sizeof line, "%s/folder.jsonl", r->folder);
    assert_int_equal(mkdir(line, 0777), 0);
    for (unsigned resume = 0; resume < 4; resume++) {
        snprintf(line, sizeof line, "sweep %%/s.lua --out %s%s", places[resume / 2],
                 resume % 2 ? " --resume" : "");
        cli_rig_run(r, line);
        cli_rig_expect(r, 3, NULL, "cannot write \"");
        assert_string_equal(r->out, "");
    }
    snprintf(line, sizeof line, "%s/folder.jsonl", r->folder);
    assert_int_equal(rmdir(line), 0);
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* No room for all rows: the sweep ends with a message, and what has run is there to be taken up. */
static void test_no_room_for_the_rows(void **state)
{
    struct cli_rig *r = *state;

    make_sweep(r, "1, 2, 3, 4, 5, 6, 7, 8");
    limit_files(16384);
    cli_rig_run(r, "sweep %/s.lua --out %/a.jsonl -q");
    limit_files(RLIM_INFINITY);
    cli_rig_expect(r, 3, "cannot write \"", "/a.jsonl.part\": File too large");
    cli_rig_run(r, "sweep %/s.lua --out %/a.jsonl --resume");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "8 points"));
    assert_null(strstr(r->out, "8 points, 0 kept"));
    assert_non_null(strstr(r->out, " kept"));
    remove_file(r, "a.jsonl");
}

/* ---- the sweep -------------------------------------------------------------------------------------- */

/* Ctrl-C: the children end at once, the file has what had run, and --resume does the rest. */
static void test_a_stopped_sweep_is_taken_up(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM};
    struct cli_rig *r = *state;

    for (size_t i = 0; i < 2; i++) {
        pid_t sweep, child;
        time_t asked;
        char *text;

        make_sweep(r, "1, 0, 2");
        sweep = cli_rig_start(r, "sweep %/s.lua -j 2 --out %/a.jsonl");
        child = wait_for_rows(r, sweep, 2);
        asked = time(NULL);
        kill(sweep, signals[i]);
        cli_rig_wait(r, sweep);
        assert_true(time(NULL) - asked < 10); /* the point would go on for long */
        cli_rig_expect(r, 6, "--resume runs the rest", NULL);
        expect_ends(child);
        assert_false(cli_rig_exists(r, "a.jsonl.part"));
        text = read_file(r, "a.jsonl");
        assert_non_null(strstr(text, "\"arg.p\":1}"));
        assert_non_null(strstr(text, "\"arg.p\":2}"));
        assert_null(strstr(text, "\"arg.p\":0}"));
        free(text);
        cli_rig_file(r, "wait.lua", "local p = require('heddle').arg('p', 1)\n");
        cli_rig_run(r, "sweep %/s.lua --out %/a.jsonl --resume");
        cli_rig_expect(r, 0, NULL, NULL);
        assert_non_null(strstr(r->out, "3 points, 2 kept"));
        remove_file(r, "a.jsonl");
    }
}

/* Killed outright: the journal stays, the children end, and nothing is overwritten by mistake. */
static void test_a_killed_sweep_is_taken_up(void **state)
{
    struct cli_rig *r = *state;
    pid_t sweep, child;

    make_sweep(r, "1, 0, 2");
    sweep = cli_rig_start(r, "sweep %/s.lua -j 2 --out %/a.jsonl");
    child = wait_for_rows(r, sweep, 2);
    cli_rig_run(r, "sweep %/s.lua --out %/a.jsonl --resume");
    cli_rig_expect(r, 2, "another sweep is writing", NULL);
    kill(sweep, SIGKILL);
    cli_rig_wait(r, sweep);
    assert_int_equal(r->status, 128 + SIGKILL);
    expect_ends(child);
    assert_false(cli_rig_exists(r, "a.jsonl"));
    cli_rig_run(r, "sweep %/s.lua --out %/a.jsonl");
    cli_rig_expect(r, 2, "interrupted sweep", "--resume");
    cli_rig_file(r, "wait.lua", "local p = require('heddle').arg('p', 1)\n");
    cli_rig_run(r, "sweep %/s.lua --out %/a.jsonl --resume");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "3 points, 2 kept"));
    assert_false(cli_rig_exists(r, "a.jsonl.part"));
    remove_file(r, "a.jsonl");
}

/* A sweep that was not told to take up a file replaces it when it has all rows, and not before. */
static void test_an_earlier_file_stays_until_the_end(void **state)
{
    struct cli_rig *r = *state;
    char *text;
    pid_t sweep;

    make_sweep(r, "1, 0");
    cli_rig_file(r, "a.jsonl", "earlier\n");
    sweep = cli_rig_start(r, "sweep %/s.lua -j 2 --out %/a.jsonl");
    wait_for_rows(r, sweep, 1);
    kill(sweep, SIGINT);
    cli_rig_wait(r, sweep);
    cli_rig_expect(r, 6, NULL, NULL);
    text = read_file(r, "a.jsonl");
    assert_string_equal(text, "earlier\n");
    free(text);
    assert_true(cli_rig_exists(r, "a.jsonl.part"));
    remove_file(r, "a.jsonl.part");
    make_sweep(r, "1, 2");
    cli_rig_run(r, "sweep %/s.lua -j 2 --out %/a.jsonl");
    cli_rig_expect(r, 0, NULL, NULL);
    text = read_file(r, "a.jsonl");
    assert_null(strstr(text, "earlier"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_killed_point_is_a_row),
        cmocka_unit_test(test_a_point_that_takes_too_long_is_a_row),
        cmocka_unit_test(test_only_what_failed_runs_again),
        cmocka_unit_test(test_a_changed_script_keeps_what_it_still_has),
        cmocka_unit_test(test_a_torn_last_line),
        cmocka_unit_test(test_other_lines_are_passed_over),
        cmocka_unit_test(test_a_file_of_no_sweep_is_left_alone),
        cmocka_unit_test(test_a_place_that_takes_no_file),
        cmocka_unit_test(test_no_room_for_the_rows),
        cmocka_unit_test(test_a_stopped_sweep_is_taken_up),
        cmocka_unit_test(test_a_killed_sweep_is_taken_up),
        cmocka_unit_test(test_an_earlier_file_stays_until_the_end),
    };

    return cmocka_run_group_tests_name("sweep_resume", tests, cli_rig_setup, cli_rig_teardown);
}
