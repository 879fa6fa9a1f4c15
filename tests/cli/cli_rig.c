#include "tests/cli/cli_rig.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { WORDS_MAX = 40, TIMEOUT_SECONDS = 60 };

static const char program[] =
    "local gpu = require 'heddle'\n"
    "local n = gpu.arg('n', 1000)\n"
    "local want = gpu.arg('want', 2)\n"
    "local module = gpu.module 'prog.hasm'\n"
    "local inc = module:kernel('inc', 'x: inout f32[], n: i32')\n"
    "local x, y = gpu.array('f32', n, 'x'), gpu.array('f32', n, 'y')\n"
    "gpu.region('main', {reset = function() x:fill(0) y:fill(0) end}, function()\n"
    "    inc(4, 64)(x, n)\n"
    "    inc(4, 64)(y, n)\n"
    "    inc(4, 64)(x, n)\n"
    "    gpu.check('x', x[n - 1], want, 0)\n"
    "    gpu.check('y', y[0], 1, 0)\n"
    "end)\n";

static const char kernel[] = ".kernel inc\n"
                             ".param x f32[]\n"
                             ".param n i32\n"
                             "    v_get_u32 v0, %gid\n"
                             "    s_mul_u32 s8, %groups_x, %threads_x\n"
                             "    v_cmp_lt_u32 m0, v0, n\n"
                             "    s_branch_none m0, done\n"
                             "again:\n"
                             "    @m0 global_load_b32 v1, [x + v0*4]\n"
                             "    @m0 v_add_f32 v1, v1, 1.0\n"
                             "    @m0 global_store_b32 [x + v0*4], v1\n"
                             "    v_add_u32 v0, v0, s8\n"
                             "    v_cmp_lt_u32 m0, v0, n\n"
                             "    s_branch_any m0, again\n"
                             "done:\n"
                             "    s_end\n"
                             ".endkernel\n";

int cli_rig_setup(void **state)
{
    struct cli_rig *r = calloc(1, sizeof *r);

    if (!r)
        return -1;
    snprintf(r->folder, sizeof r->folder, "/tmp/heddle-test-XXXXXX");
    *state = r;
    return mkdtemp(r->folder) ? 0 : -1;
}

static void remove_all(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    char path[512];

    while (dir && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (unlink(path) != 0)
            remove_all(path);
    }
    if (dir)
        closedir(dir);
    rmdir(folder);
}

int cli_rig_teardown(void **state)
{
    struct cli_rig *r = *state;

    remove_all(r->folder);
    free(r->out);
    free(r->err);
    free(r);
    return 0;
}

void cli_rig_file(const struct cli_rig *r, const char *name, const char *text)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", r->folder, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

char *cli_rig_read(const struct cli_rig *r, const char *name)
{
    char path[256], *text = NULL;
    size_t len = 0, n;
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", r->folder, name);
    f = fopen(path, "r");
    if (!f)
        return NULL;
    do {
        text = realloc(text, len + 65536 + 1);
        assert_non_null(text);
        n = fread(text + len, 1, 65536, f);
        len += n;
    } while (n > 0);
    fclose(f);
    text[len] = '\0';
    return text;
}

bool cli_rig_exists(const struct cli_rig *r, const char *name)
{
    char path[256];
    struct stat st;

    snprintf(path, sizeof path, "%s/%s", r->folder, name);
    return stat(path, &st) == 0;
}

bool cli_rig_leftovers(const struct cli_rig *r)
{
    DIR *dir = opendir(r->folder);
    bool found = false;

    assert_non_null(dir);
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir))
        found |= strstr(e->d_name, ".tmp") != NULL;
    closedir(dir);
    return found;
}

/* The words of the line, in a copy that the caller's child never frees. */
static void split(const struct cli_rig *r, const char *line, char *words[WORDS_MAX])
{
    const char *command = getenv("HEDDLE");
    char *copy = strdup(line), *word;
    size_t n = 0;

    words[n++] = strdup(command ? command : "build/heddle");
    for (word = strtok(copy, " "); word && n < WORDS_MAX - 1; word = strtok(NULL, " ")) {
        const char *percent = strchr(word, '%');
        size_t size = strlen(word) + sizeof r->folder;

        words[n] = malloc(size);
        if (percent)
            snprintf(words[n], size, "%.*s%s%s", (int)(percent - word), word, r->folder,
                     percent + 1);
        else
            snprintf(words[n], size, "%s", word);
        n++;
    }
    words[n] = NULL;
}

static void redirect(const struct cli_rig *r, const char *name, int to)
{
    char path[256];
    int fd;

    snprintf(path, sizeof path, "%s/%s", r->folder, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || dup2(fd, to) < 0)
        _exit(126);
}

pid_t cli_rig_start(struct cli_rig *r, const char *line)
{
    char *words[WORDS_MAX];
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        redirect(r, "stdout", STDOUT_FILENO);
        redirect(r, "stderr", STDERR_FILENO);
        split(r, line, words);
        alarm(TIMEOUT_SECONDS); /* kept by exec; a run with --max-time sets its own */
        execv(words[0], words);
        _exit(127);
    }
    return child;
}

void cli_rig_wait(struct cli_rig *r, pid_t child)
{
    int status;

    assert_int_equal(waitpid(child, &status, 0), child);
    r->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    free(r->out);
    free(r->err);
    r->out = cli_rig_read(r, "stdout");
    r->err = cli_rig_read(r, "stderr");
}

void cli_rig_run(struct cli_rig *r, const char *line)
{
    cli_rig_wait(r, cli_rig_start(r, line));
}

void cli_rig_expect(const struct cli_rig *r, int status, const char *message, const char *hint)
{
    if (r->status != status || (message && !strstr(r->err, message)) ||
        (hint && !strstr(r->err, hint)))
        fail_msg("status %d, wanted %d with \"%s\" and \"%s\":\n%s", r->status, status,
                 message ? message : "", hint ? hint : "", r->err);
}

void cli_rig_program(const struct cli_rig *r)
{
    cli_rig_file(r, "prog.lua", program);
    cli_rig_file(r, "prog.hasm", kernel);
}
