/*
 * Any bytes as a host program, in values-only mode and with small limits: it ends, and what it ends in is a
 * status that a program can earn, with a code. A broken invariant of our own is none.
 */
#include "host/lua/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void drop_line(void *user, const char *line)
{
    (void)user;
    (void)line;
}

static void limit(struct hd_options *gpu, struct hd_script_options *script)
{
    hd_options_default(gpu);
    gpu->timing = false;
    gpu->limits.max_instructions = 100000;
    gpu->gpu.dram_bytes = 1 << 20;
    hd_script_options_default(script);
    script->max_memory = 16 << 20;
    script->max_instructions = 200000;
    script->iterations = script->warmup = 1;
    script->print = drop_line;
}

static void run_program(const char *path)
{
    static const char *const args[] = {"n=100"};
    struct hd_script_options script;
    struct hd_script_info info = {0};
    struct hd_options gpu;
    struct hd_error err = {0};
    enum hd_status status;
    hd_runtime *rt;

    limit(&gpu, &script);
    script.path = path;
    script.args = args;
    script.nargs = 1;
    if (hd_runtime_new(&gpu, &rt, &err) != HD_OK)
        abort();
    status = hd_script_run(rt, &script, &info, &err);
    if (status == HD_INTERNAL || (status != HD_OK && !err.code[0]))
        abort();
    hd_script_info_free(&info);
    hd_runtime_free(rt);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *base = getenv("TMPDIR");
    char path[256];
    FILE *out;
    int fd;

    snprintf(path, sizeof path, "%s/heddle-fuzz-XXXXXX", base ? base : "/tmp");
    fd = mkstemp(path);
    out = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!out || fwrite(data, 1, size, out) != size || fclose(out) != 0)
        abort();
    run_program(path);
    unlink(path);
    return 0;
}
