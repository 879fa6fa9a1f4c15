#include "tests/lua/rig.h"

#include <dirent.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static void on_print(void *user, const char *line)
{
    text_add(&((struct rig *)user)->log, "%s\n", line);
}

static void on_check(void *user, const struct hd_check *check)
{
    text_add(&((struct rig *)user)->checks, "%s %s\n", check->name,
             check->passed ? "passed" : "failed");
}

static void on_region(void *user, const struct hd_region_row *row)
{
    text_add(&((struct rig *)user)->regions, "%s %u\n", row->name, row->iteration);
}

void rig_init(struct rig *r)
{
    const char *base = getenv("TMPDIR");

    memset(r, 0, sizeof *r);
    hd_options_default(&r->gpu);
    hd_script_options_default(&r->o);
    r->o.max_memory = 32 << 20;
    r->o.max_instructions = 4000000;
    r->o.print = on_print;
    r->o.user = r;
    snprintf(r->folder, sizeof r->folder, "%s/heddle-lua-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(r->folder));
}

static void remove_folder(const char *path)
{
    DIR *d = opendir(path);
    char name[512];

    assert_non_null(d);
    for (const struct dirent *e = readdir(d); e; e = readdir(d)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (unlink(name) != 0)
            remove_folder(name);
    }
    closedir(d);
    rmdir(path);
}

static void forget_run(struct rig *r)
{
    hd_script_info_free(&r->info);
    text_free(&r->log);
    text_free(&r->checks);
    text_free(&r->regions);
    hd_error_clear(&r->err);
}

void rig_free(struct rig *r)
{
    remove_folder(r->folder);
    forget_run(r);
}

const char *rig_path(const struct rig *r, const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", r->folder, name);
    return path;
}

void rig_file(struct rig *r, const char *name, const char *text)
{
    FILE *f = fopen(rig_path(r, name), "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    fclose(f);
}

enum hd_status rig_run(struct rig *r, const char *program)
{
    const struct hd_recorder recorder = {.user = r, .check = on_check, .region = on_region};
    hd_runtime *rt;
    char path[256];

    forget_run(r);
    rig_file(r, "main.lua", program);
    snprintf(path, sizeof path, "%s", rig_path(r, "main.lua"));
    r->o.path = path;
    assert_int_equal(hd_runtime_new(&r->gpu, &rt, &r->err), HD_OK);
    hd_set_recorder(rt, &recorder);
    r->status = hd_script_run(rt, &r->o, &r->info, &r->err);
    r->host_ps = hd_host_time(rt);
    hd_runtime_free(rt);
    return r->status;
}

void expect_log(const char *program, const char *log)
{
    struct rig r;

    rig_init(&r);
    rig_run(&r, program);
    if (r.status != HD_OK)
        fail_msg("%s: %s", r.err.place, r.err.message);
    assert_string_equal(text_str(&r.log), log);
    rig_free(&r);
}

void expect_error(const char *program, enum hd_status status, int line, const char *text)
{
    struct rig r;
    char place[32];

    rig_init(&r);
    rig_run(&r, program);
    if (!strstr(r.err.message, text))
        fail_msg("\"%s\" does not contain \"%s\"", r.err.message, text);
    assert_int_equal(r.status, status);
    snprintf(place, sizeof place, "/main.lua:%d", line);
    if (line > 0 && !strstr(r.err.place, place))
        fail_msg("\"%s\" is not line %d", r.err.place, line);
    rig_free(&r);
}
