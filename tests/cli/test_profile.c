/* heddle profile: its lines add up to the kernels, and say what arithmetic says. */
#include "sim/base/text.h"
#include "tests/cli/cli_rig.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const reasons[] = {"issued", "scoreboard", "barrier", "lds_bank", "memory",
                                      "mshr",   "issue",      "tx",      "fetch"};
enum { NREASONS = sizeof reasons / sizeof *reasons };

/* ---- what a result says ------------------------------------------------------------------------ */

static cJSON *result_of(const struct cli_rig *r, const char *name)
{
    char *text = cli_rig_read(r, name);
    cJSON *json;

    assert_non_null(text);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf\""));
    json = cJSON_Parse(text);
    assert_non_null(json);
    free(text);
    return json;
}

static const cJSON *item(const cJSON *json, const char *key)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, key);

    assert_non_null(value);
    return value;
}

static double number(const cJSON *json, const char *key)
{
    const cJSON *value = item(json, key);

    assert_true(cJSON_IsNumber(value));
    return value->valuedouble;
}

static void expect_equal(double got, double wanted)
{
    if (got != wanted)
        fail_msg("%.17g, wanted %.17g", got, wanted);
}

static const char *string(const cJSON *json, const char *key)
{
    const cJSON *value = item(json, key);

    return cJSON_IsString(value) ? value->valuestring : "";
}

static const cJSON *profiles(const cJSON *result)
{
    return item(item(result, "profile"), "kernels");
}

static const cJSON *profile_of(const cJSON *result, const char *kernel)
{
    const cJSON *k;

    cJSON_ArrayForEach(k, profiles(result)) if (strcmp(string(k, "name"), kernel) == 0) return k;
    fail_msg("no kernel %s", kernel);
    return NULL;
}

/* The line of the kernel with that text in it. */
static const cJSON *line_of(const cJSON *profile, const char *text)
{
    const cJSON *l, *found = NULL;

    cJSON_ArrayForEach(l, item(profile, "lines")) if (strstr(string(l, "text"), text))
    {
        assert_null(found);
        found = l;
    }
    if (!found)
        fail_msg("no line with %s", text);
    return found;
}

static double sum_of_lines(const cJSON *profile, const char *part, const char *key)
{
    const cJSON *l;
    double sum = 0;

    cJSON_ArrayForEach(l, item(profile, "lines")) sum += number(part ? item(l, part) : l, key);
    return sum;
}

/* Over the launches of the kernel. */
static double sum_of_rows(const cJSON *result, const char *kernel, const char *part, const char *key)
{
    const cJSON *k;
    double sum = 0;

    cJSON_ArrayForEach(k, item(result, "kernels")) if (strcmp(string(k, "name"), kernel) == 0)
        sum += number(part ? item(k, part) : k, key);
    return sum;
}

/* ---- programs ---------------------------------------------------------------------------------- */

static const char corners_lua[] = "local gpu = require 'heddle'\n"
                                  "local x = gpu.array('f32', 1 << 16, 'x')\n"
                                  "local m = gpu.module 'corners.hasm'\n"
                                  "local stride = m:kernel('stride', 'x: inout f32[]')\n"
                                  "local nothing = m:kernel('nothing', '')\n"
                                  "local waits = m:kernel('waits', 'x: inout f32[]')\n"
                                  "local expand = m:kernel('expand', '')\n"
                                  "gpu.region('main', function()\n"
                                  "    stride(3, 64)(x)\n"
                                  "    nothing(2, 5)()\n"
                                  "    waits(2, 96)(x)\n"
                                  "    waits(3, 128)(x)\n"
                                  "    expand(1, 32)()\n"
                                  "end)\n";

static const char corners_hasm[] = ".include \"part.hasm\"\n"
                                   ".kernel stride\n"
                                   ".param x f32[]\n"
                                   ".lds 8192\n"
                                   "    v_get_u32 v0, %gid\n"
                                   "    v_get_u32 v1, %tid\n"
                                   "    v_shl_b32 v2, v0, 5\n"
                                   "    v_shl_b32 v3, v1, 1\n"
                                   "    v_add_u32 v4, v0, 1\n"
                                   "    global_load_b32 v5, [x + v0*4]\n"
                                   "    global_load_b32 v6, [x + v2*4]\n"
                                   "    global_load_b32 v7, [x + v4*4]\n"
                                   "    global_load_b32 v8, [x + 64]\n"
                                   "    global_atomic_add_u32 [x + 128], v0\n"
                                   "    local_store_b32 [v1*4], v5\n"
                                   "    local_store_b32 [v3*4], v6\n"
                                   "    v_shl_b32 v11, v1, 5\n"
                                   "    local_load_b32 v9, [v11*4]\n"
                                   "    local_load_b32 v10, [4]\n"
                                   "    v_cmp_lt_u32 m0, v1, 40\n"
                                   "    @m0 v_mov_b32 v9, 1\n"
                                   "    global_load_b32 v12, [x + v2*4 + 64]\n"
                                   "    s_end\n"
                                   ".endkernel\n"
                                   ".kernel nothing\n"
                                   "    s_end\n"
                                   ".endkernel\n"
                                   ".kernel waits\n"
                                   ".param x f32[]\n"
                                   "    v_get_u32 v0, %gid\n"
                                   "    v_get_u32 v1, %tid\n"
                                   "    v_cmp_lt_u32 m0, v1, 32\n"
                                   "    s_branch_none m0, behind\n"
                                   "    v_sqrt_f32 v2, 2.0\n"
                                   "    v_sqrt_f32 v2, v2\n"
                                   "    v_mov_b32 v3, v2\n"
                                   "behind:\n"
                                   "    s_barrier\n"
                                   "    global_store_b32 [x + v0*4], v2\n"
                                   "    fence\n"
                                   "    global_load_b32 v4, [x + v0*4]\n"
                                   "    v_add_f32 v4, v4, 1.0 ; here\n"
                                   "    s_end\n"
                                   ".endkernel\n"
                                   ".kernel expand\n"
                                   "    v_get_u32 v0, %tid\n"
                                   "    add_two v1, v0\n"
                                   "    call double, v1\n"
                                   "    add_two v1, v1\n"
                                   "    .rept 3\n"
                                   "    v_mul_u32 v1, v1, 3\n"
                                   "    .endrept\n"
                                   "    s_end\n"
                                   ".endkernel\n";

static const char part_hasm[] = ".macro add_two a, b\n"
                                "    v_add_u32 \\a, \\b, 1\n"
                                "    v_add_u32 \\a, \\a, 1\n"
                                ".endmacro\n"
                                ".func double(v x) .uses v20\n"
                                "    v_add_u32 v20, x, x\n"
                                "    v_mov_b32 x, v20\n"
                                "    ret\n"
                                ".endfunc\n";

static void write_corners(const struct cli_rig *r)
{
    cli_rig_file(r, "corners.lua", corners_lua);
    cli_rig_file(r, "corners.hasm", corners_hasm);
    cli_rig_file(r, "part.hasm", part_hasm);
}

/* ---- sums ---------------------------------------------------------------------------------------- */

static void check_counts(const cJSON *result, const cJSON *p)
{
    static const struct {
        const char *part, *key, *row;
    } same[] = {
        {NULL, "issues", "wave_instr"},          {NULL, "lanes", "lane_instr"},
        {"global", "l1_lookups", "l1_requests"}, {"global", "l1_hits", "l1_hits"},
        {"local", "accesses", "local_accesses"},
    };
    const char *name = string(p, "name");

    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        expect_equal(sum_of_lines(p, same[i].part, same[i].key),
                     sum_of_rows(result, name, NULL, same[i].row));
    expect_equal(sum_of_lines(p, "global", "requests"),
                 sum_of_rows(result, name, NULL, "global_loads") +
                     sum_of_rows(result, name, NULL, "global_stores") +
                     sum_of_rows(result, name, NULL, "global_atomics"));
    expect_equal(sum_of_lines(p, "local", "passes") - sum_of_lines(p, "local", "least_passes"),
                 sum_of_rows(result, name, NULL, "local_conflict_passes"));
}

/* Reason by reason, lines = kernel of the profile = rows of its launches; and all reasons = residency. */
static void check_sums(const cJSON *result)
{
    const cJSON *p;

    assert_true(cJSON_GetArraySize(profiles(result)) > 0);
    cJSON_ArrayForEach(p, profiles(result))
    {
        const char *name = string(p, "name");
        double all = 0;

        for (unsigned i = 0; i < NREASONS; i++) {
            double rows = sum_of_rows(result, name, "stalls", reasons[i]);

            expect_equal(sum_of_lines(p, "stalls", reasons[i]), rows);
            expect_equal(number(item(p, "stalls"), reasons[i]), rows);
            all += rows;
        }
        expect_equal(all, sum_of_rows(result, name, NULL, "residency_cycles"));
        expect_equal(all, number(p, "cycles"));
        expect_equal(number(p, "unfinished"), 0);
        check_counts(result, p);
    }
}

static void test_lines_add_up(void **state)
{
    static const char *const programs[] = {
        "workloads/dag/matmul.lua --config tiny --arg n=40",
        "workloads/dag/matmul.lua --arg n=40 --set l1.mshrs=2 --set l1.enabled=off",
        "workloads/dag/pipeline.lua --config tiny --iterations 2",
        "workloads/dag/reduce.lua --config tiny --arg n=20000",
        "%/corners.lua --config tiny",
        "%/corners.lua --config bench",
        "%/corners.lua --config xe-lp",
        "%/corners.lua --config hd7970",
    };
    struct cli_rig *r = *state;
    char line[256];

    write_corners(r);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        cJSON *result;

        snprintf(line, sizeof line, "profile %s --quiet --out %%/p.json", programs[i]);
        cli_rig_run(r, line);
        cli_rig_expect(r, 0, NULL, NULL);
        result = result_of(r, "p.json");
        check_sums(result);
        cJSON_Delete(result);
    }
}

/* Without its profile the result is that of a run. */
static void test_profiling_changes_nothing(void **state)
{
    struct cli_rig *r = *state;
    cJSON *with, *without;

    write_corners(r);
    cli_rig_run(r, "profile %/corners.lua --config tiny --quiet --out %/p.json");
    cli_rig_expect(r, 0, NULL, NULL);
    cli_rig_run(r, "run %/corners.lua --config tiny --quiet --out %/r.json");
    cli_rig_expect(r, 0, NULL, NULL);
    with = result_of(r, "p.json");
    without = result_of(r, "r.json");
    assert_true(cJSON_IsNull(item(without, "profile")));
    for (size_t i = 0; i < 2; i++) {
        cJSON *json = i ? with : without;

        cJSON_DeleteItemFromObjectCaseSensitive(json, "profile");
        cJSON_DeleteItemFromObjectCaseSensitive(json, "simulator");
    }
    assert_true(cJSON_Compare(with, without, true));
    cJSON_Delete(with);
    cJSON_Delete(without);
}

/* ---- accesses --------------------------------------------------------------------------------------- */

static void expect_global(const cJSON *p, const char *text, double requests, double sectors,
                          double least, const char *hint)
{
    const cJSON *line = line_of(p, text), *g = item(line, "global");

    expect_equal(number(g, "requests"), requests);
    expect_equal(number(g, "sectors"), sectors);
    expect_equal(number(g, "least_sectors"), least);
    if (hint && !strstr(string(line, "hint"), hint))
        fail_msg("%s: %s", text, string(line, "hint"));
}

static void expect_local(const cJSON *p, const char *text, double accesses, double passes,
                         double least, const char *hint)
{
    const cJSON *line = line_of(p, text), *l = item(line, "local");

    expect_equal(number(l, "accesses"), accesses);
    expect_equal(number(l, "passes"), passes);
    expect_equal(number(l, "least_passes"), least);
    if (hint && !strstr(string(line, "hint"), hint))
        fail_msg("%s: %s", text, string(line, "hint"));
}

/* Six wavefronts of 32 lanes: 4 bytes a lane are 4 sectors of 32 bytes; tiny has 32 banks. */
static void test_accesses_are_counted(void **state)
{
    struct cli_rig *r = *state;
    const cJSON *p;
    cJSON *result;

    write_corners(r);
    cli_rig_run(r, "profile %/corners.lua --config tiny --quiet --out %/p.json");
    cli_rig_expect(r, 0, NULL, NULL);
    result = result_of(r, "p.json");
    p = profile_of(result, "stride");
    expect_global(p, "v5, [x + v0*4]", 6, 6 * 4, 6 * 4, NULL);
    expect_global(
        p, "v6, [x + v2*4]", 6, 6 * 32, 6 * 4,
        "32 sectors a request where 4 would do: neighbouring lanes read addresses 128 bytes apart");
    expect_global(p, "v7, [x + v4*4]", 6, 6 * 5, 6 * 4,
                  "5 sectors a request where 4 would do: the lanes lie side by side, but begin in "
                  "the middle of a sector");
    expect_global(p, "v8, [x + 64]", 6, 6, 6, NULL);
    expect_global(p, "atomic", 6, 6, 6, "32 lanes update one word");
    expect_local(p, "[v1*4], v5", 6, 6, 6, NULL);
    /* Every other word: the lanes of the second half meet those of the first. */
    expect_local(p, "[v3*4], v6", 6, 6 * 2, 6,
                 "2 passes an access where 1 would do: neighbouring lanes write words 8 bytes "
                 "apart, so that lanes 16 "
                 "apart are on one of the 32 banks");
    /* A column of rows of 32 words. */
    expect_local(
        p, "[v11*4]", 6, 6 * 32, 6,
        "32 passes an access where 1 would do: neighbouring lanes read words 128 bytes apart");
    /* All lanes read one word. */
    expect_local(p, "v10, [4]", 6, 6, 6, NULL);
    /* Of each work-group's two wavefronts one has 32 lanes that are meant, the other 8. */
    expect_equal(number(line_of(p, "@m0 v_mov"), "lanes"), 3 * (32 + 8));
    cJSON_Delete(result);
}

/* ---- attribution ------------------------------------------------------------------------------------- */

/* Instructions stand where their text does: in the body of a macro, func or .rept. */
static void test_expanded_lines(void **state)
{
    static const struct {
        const char *text;
        double line, issues, instructions;
        bool in_part;
    } lines[] = {
        {"v_get_u32 v0, %tid", 46, 1, 1, false},
        {"v_add_u32 \\a, \\b, 1", 2, 2, 2, true},
        {"v_add_u32 \\a, \\a, 1", 3, 2, 2, true},
        {"v_add_u32 v20, x, x", 6, 1, 1, true},
        {"v_mov_b32 x, v20", 7, 1, 1, true},
        {"v_mul_u32 v1, v1, 3", 51, 3, 3, false},
        {"s_end", 53, 1, 1, false},
    };
    struct cli_rig *r = *state;
    const cJSON *p;
    cJSON *result;

    write_corners(r);
    cli_rig_run(r, "profile %/corners.lua --config tiny --quiet --out %/p.json");
    cli_rig_expect(r, 0, NULL, NULL);
    result = result_of(r, "p.json");
    p = profile_of(result, "expand");
    assert_int_equal(cJSON_GetArraySize(item(p, "lines")), sizeof lines / sizeof *lines);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const cJSON *line = line_of(p, lines[i].text);

        expect_equal(number(line, "line"), lines[i].line);
        expect_equal(number(line, "issues"), lines[i].issues);
        expect_equal(number(line, "instructions"), lines[i].instructions);
        assert_int_equal(strstr(string(line, "file"), "part.hasm") != NULL, lines[i].in_part);
    }
    cJSON_Delete(result);
}

static void expect_hint(const cJSON *p, const char *text, const char *hint)
{
    if (strcmp(string(line_of(p, text), "hint"), hint) != 0)
        fail_msg("%s: %s", text, string(line_of(p, text), "hint"));
}

/* A wavefront that stands at a barrier or fence waits there; else what waits is the next instruction. */
static void test_where_waiting_is_booked(void **state)
{
    struct cli_rig *r = *state;
    const cJSON *p, *l;
    cJSON *result;

    write_corners(r);
    cli_rig_run(r, "profile %/corners.lua --config tiny --quiet --out %/p.json");
    cli_rig_expect(r, 0, NULL, NULL);
    result = result_of(r, "p.json");
    p = profile_of(result, "waits");
    expect_equal(number(p, "launches"), 2);
    assert_true(cJSON_IsTrue(item(p, "shapes_differ")));
    cJSON_ArrayForEach(l, item(p, "lines"))
    {
        const char *text = string(l, "text");
        const cJSON *s = item(l, "stalls");
        bool memory = strcmp(text, "fence") == 0 || strstr(text, "; here") != NULL;

        assert_int_equal(number(s, "barrier") > 0, strcmp(text, "s_barrier") == 0);
        assert_int_equal(number(s, "memory") > 0, memory);
    }
    expect_hint(p, "; here", "waits for the global access of line 41");
    cJSON_Delete(result);
}

/* In a loop a result comes from further down, unless it was written before in the same round. */
static void test_results_around_a_loop(void **state)
{
    struct cli_rig *r = *state;
    const cJSON *p;
    cJSON *result;

    cli_rig_file(r, "loop.hasm",
                 ".kernel loop\n"
                 "    s_mov_b32 s8, 50\n"
                 "    v_get_u32 v0, %tid\n"
                 "    v_mov_b32 v1, 1.0\n"
                 "again:\n"
                 "    v_rcp_f32 v2, v1 ; first\n"
                 "    v_mul_f32 v3, v2, v2 ; second\n"
                 "    v_sqrt_f32 v1, v3 ; third\n"
                 "    s_sub_u32 s8, s8, 1\n"
                 "    s_branch_nz s8, again\n"
                 "    v_add_f32 v1, v1, 1.0 ; last\n"
                 "    s_end\n"
                 ".endkernel\n");
    cli_rig_file(r, "loop.lua",
                 "local gpu = require 'heddle'\n"
                 "local loop = gpu.module 'loop.hasm':kernel('loop', '')\n"
                 "gpu.region('main', function() loop(1, 32)() end)\n");
    cli_rig_run(r, "profile %/loop.lua --config tiny --quiet --out %/p.json");
    cli_rig_expect(r, 0, NULL, NULL);
    result = result_of(r, "p.json");
    p = profile_of(result, "loop");
    expect_hint(p, "; first", "waits for the result of line 8");
    expect_hint(p, "; second", "waits for the result of line 6");
    expect_hint(p, "; third", "waits for the result of line 7");
    cJSON_Delete(result);
}

/* ---- the report --------------------------------------------------------------------------------------- */

/*
 * One wavefront on tiny: the shift waits 3 cycles of 4 for the first result, the store as many for the shift. It
 * takes two passes, since lanes 16 apart meet; the load behind it waits a cycle for the banks, takes two passes too,
 * and its result is there after 20 + 1 cycles, of which one issued the load. So of 33 cycles 6 issue, 6 are the
 * scoreboard's and 1 + 20 local memory's.
 */
static const char one_hasm[] = ".kernel one\n"
                               ".lds 256\n"
                               "    v_get_u32 v0, %tid\n"
                               "    v_shl_b32 v1, v0, 1\n"
                               "    local_store_b32 [v1*4], v0\n"
                               "    local_load_b32 v2, [v1*4]\n"
                               "    v_add_u32 v2, v2, 1\n"
                               "    s_end\n"
                               ".endkernel\n";

static const char one_lua[] = "local gpu = require 'heddle'\n"
                              "local one = gpu.module 'one.hasm':kernel('one', '')\n"
                              "gpu.region('main', function() one(1, 32)() end)\n";

/* What was printed, with FOLDER for the folder. */
static void expect_report(const struct cli_rig *r, const char *wanted)
{
    struct text text = {0};

    for (const char *at = r->out, *end; (end = strchr(at, '\n')) != NULL; at = end + 1)
        assert_true(end - at <= 118);
    for (const char *at = r->out, *next; at; at = next) {
        next = strstr(at, r->folder);
        text_add_bytes(&text, at, next ? (size_t)(next - at) : strlen(at));
        if (next) {
            text_add(&text, "FOLDER");
            next += strlen(r->folder);
        }
    }
    assert_string_equal(text_str(&text), wanted);
    text_free(&text);
}

static void test_the_report(void **state)
{
    struct cli_rig *r = *state;

    cli_rig_file(r, "one.lua", one_lua);
    cli_rig_file(r, "one.hasm", one_hasm);
    cli_rig_run(r, "profile %/one.lua --config tiny --top 4");
    cli_rig_expect(r, 0, NULL, NULL);
    expect_report(
        r, "FOLDER/one.lua on tiny, parallel-async: ok\n"
           "Region main took 15.03 us, with kernels on the device for 32.000 ns of it.\n"
           "\n"
           "one (FOLDER/one.hasm:1): 32.000 ns, 100.0 % of the time of all kernels\n"
           "  launches   1, grid 1, block 32 (1 wavefront)\n"
           "  occupancy  at most 8 of 16 wavefronts a compute unit (50.0 %), bounded by "
           "workgroups; 0.258 resident on average\n"
           "  issue      0.0469 wavefront instructions a cycle and compute unit, of 2; 100.0 % of "
           "the lanes active\n"
           "  of peak    issue 2.3 %, local memory 3.1 %\n"
           "  accesses   2 passes a local one where 1 would do (50.0 %)\n"
           "  cycles     lds_bank 63.6 %, issued 18.2 %, scoreboard 18.2 %\n"
           "  Wavefronts wait for local memory in 63.6 % of their cycles, most of all at line 7. "
           "Bound by latency: the most used\n"
           "  part is local memory, with 3.1 %. The grid has 1 work-group and the device room for "
           "32 at once: a larger grid, or\n"
           "  another kernel beside it, would fill it.\n"
           "\n"
           "line   cycles  issues  lanes  waits for (%)                 sectors  passes  source\n"
           "   7   63.6 %       1  100 %  lds_bank 95                         -       -  v_add_u32 "
           "v2, v2, 1\n"
           "      ^ waits for the local access of line 6\n"
           "   4   12.1 %       1  100 %  scoreboard 75                       -       -  v_shl_b32 "
           "v1, v0, 1\n"
           "      ^ waits for the result of line 3\n"
           "   5   12.1 %       1  100 %  scoreboard 75                       -     2/1  "
           "local_store_b32 [v1*4], v0\n"
           "      ^ 2 passes an access where 1 would do: neighbouring lanes write words 8 bytes "
           "apart, so that lanes 16 apart are\n"
           "        on one of the 32 banks; waits for the result of lines 3 and 4\n"
           "   6    6.1 %       1  100 %  lds_bank 50                         -     2/1  "
           "local_load_b32 v2, [v1*4]\n"
           "      ^ 2 passes an access where 1 would do: neighbouring lanes read words 8 bytes "
           "apart, so that lanes 16 apart are\n"
           "        on one of the 32 banks\n"
           "        6.1 %  in 2 other lines\n");
    cli_rig_run(r, "profile %/one.lua --config tiny --all");
    cli_rig_expect(r, 0, NULL, NULL);
    expect_report(
        r,
        "FOLDER/one.lua on tiny, parallel-async: ok\n"
        "Region main took 15.03 us, with kernels on the device for 32.000 ns of it.\n"
        "\n"
        "one (FOLDER/one.hasm:1): 32.000 ns, 100.0 % of the time of all kernels\n"
        "  launches   1, grid 1, block 32 (1 wavefront)\n"
        "  occupancy  at most 8 of 16 wavefronts a compute unit (50.0 %), bounded by workgroups; "
        "0.258 resident on average\n"
        "  issue      0.0469 wavefront instructions a cycle and compute unit, of 2; 100.0 % of the "
        "lanes active\n"
        "  of peak    issue 2.3 %, local memory 3.1 %\n"
        "  accesses   2 passes a local one where 1 would do (50.0 %)\n"
        "  cycles     lds_bank 63.6 %, issued 18.2 %, scoreboard 18.2 %\n"
        "  Wavefronts wait for local memory in 63.6 % of their cycles, most of all at line 7. "
        "Bound by latency: the most used\n"
        "  part is local memory, with 3.1 %. The grid has 1 work-group and the device room for 32 "
        "at once: a larger grid, or\n"
        "  another kernel beside it, would fill it.\n"
        "\n"
        "line   cycles  issues  lanes  waits for (%)                 sectors  passes  source\n"
        "   1                                                                         .kernel one\n"
        "   2                                                                         .lds 256\n"
        "   3    3.0 %       1  100 %  -                                   -       -      "
        "v_get_u32 v0, %tid\n"
        "   4   12.1 %       1  100 %  scoreboard 75                       -       -      "
        "v_shl_b32 v1, v0, 1\n"
        "      ^ waits for the result of line 3\n"
        "   5   12.1 %       1  100 %  scoreboard 75                       -     2/1      "
        "local_store_b32 [v1*4], v0\n"
        "      ^ 2 passes an access where 1 would do: neighbouring lanes write words 8 bytes "
        "apart, so that lanes 16 apart are\n"
        "        on one of the 32 banks; waits for the result of lines 3 and 4\n"
        "   6    6.1 %       1  100 %  lds_bank 50                         -     2/1      "
        "local_load_b32 v2, [v1*4]\n"
        "      ^ 2 passes an access where 1 would do: neighbouring lanes read words 8 bytes apart, "
        "so that lanes 16 apart are\n"
        "        on one of the 32 banks\n"
        "   7   63.6 %       1  100 %  lds_bank 95                         -       -      "
        "v_add_u32 v2, v2, 1\n"
        "      ^ waits for the local access of line 6\n"
        "   8    3.0 %       1  100 %  -                                   -       -      s_end\n");
}

/* A kernel that does nothing, and a program without kernels: no number is missing, and none is not a number. */
static void test_empty_statistics(void **state)
{
    struct cli_rig *r = *state;

    write_corners(r);
    cli_rig_run(r, "profile %/corners.lua --config tiny --kernel nothing");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "nothing ("));
    assert_null(strstr(r->out, "stride ("));
    assert_null(strstr(r->out, "nan"));
    assert_null(strstr(r->out, "inf"));
    cli_rig_file(r, "none.lua", "print('hello')\n");
    cli_rig_run(r, "profile %/none.lua --config tiny --out %/p.json");
    cli_rig_expect(r, 0, NULL, NULL);
    assert_non_null(strstr(r->out, "No kernel ran in simulated time.\n"));
}

/* What a run had done when it was ended is there. */
static void test_an_unfinished_run(void **state)
{
    struct cli_rig *r = *state;
    const cJSON *p;
    cJSON *result;

    cli_rig_file(r, "spin.hasm",
                 ".kernel spin\n.param x f32[]\nagain:\n    global_load_b32 v0, [x + 0]\n"
                 "    v_cmp_lt_f32 m0, v0, 1.0\n    s_branch_any m0, again\n    s_end\n"
                 ".endkernel\n");
    cli_rig_file(r, "spin.lua",
                 "local gpu = require 'heddle'\n"
                 "local x = gpu.array('f32', 4)\n"
                 "gpu.module 'spin.hasm':kernel('spin', 'x: in f32[]')(1, 32)(x)\n"
                 "print(x[0])\n");
    cli_rig_run(r, "profile %/spin.lua --config tiny --max-cycles 20000 --out %/p.json");
    cli_rig_expect(r, 4, "limit of 20000 core cycles", NULL);
    assert_non_null(strstr(r->out, "0, and 1 that had not ended when the run did"));
    result = result_of(r, "p.json");
    p = profile_of(result, "spin");
    expect_equal(number(p, "launches"), 0);
    expect_equal(number(p, "unfinished"), 1);
    assert_true(number(line_of(p, "global_load"), "issues") > 100);
    cJSON_Delete(result);
}

static void test_wrong_usage(void **state)
{
    struct cli_rig *r = *state;

    write_corners(r);
    cli_rig_run(r, "profile %/corners.lua --config tiny --timing off");
    cli_rig_expect(r, 2, "without time there is nothing to profile", "leave --timing off out");
    cli_rig_run(r, "profile %/corners.lua --config tiny --kernel strides");
    cli_rig_expect(r, 0, "no kernel strides has run; did you mean stride?", NULL);
    cli_rig_run(r, "profile %/corners.lua --config tiny --kernel zzzz");
    cli_rig_expect(r, 0, "no kernel zzzz has run; these have: ", NULL);
    cli_rig_run(r, "run %/corners.lua --top 3");
    cli_rig_expect(r, 2, "run has no option --top", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_add_up),
        cmocka_unit_test(test_profiling_changes_nothing),
        cmocka_unit_test(test_accesses_are_counted),
        cmocka_unit_test(test_expanded_lines),
        cmocka_unit_test(test_where_waiting_is_booked),
        cmocka_unit_test(test_results_around_a_loop),
        cmocka_unit_test(test_the_report),
        cmocka_unit_test(test_empty_statistics),
        cmocka_unit_test(test_an_unfinished_run),
        cmocka_unit_test(test_wrong_usage),
    };

    return cmocka_run_group_tests_name("profile", tests, cli_rig_setup, cli_rig_teardown);
}
