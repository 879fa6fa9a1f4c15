#include "host/results/outfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEMPORARY_MAX = 48, TEMPORARY_TRIES = 100 };

static enum hd_status cannot_write(const char *path, int reason, struct hd_error *err)
{
    return hd_error_set(err, HD_BAD_INPUT, "output", NULL,
                        reason == ENOSPC ? "make room there, or ask for less with --detail summary"
                                         : NULL,
                        "cannot write \"%s\": %s", path, strerror(reason));
}

static bool replaces_file(const char *path)
{
    struct stat st;

    return stat(path, &st) != 0 || S_ISREG(st.st_mode);
}

/*
 * Opens a new file beside the path, so that runs with one target do not write into each other. What a killed run left
 * behind has its process in its name.
 */
static FILE *open_beside(struct out_file *o)
{
    size_t size = strlen(o->path) + TEMPORARY_MAX;
    FILE *file = NULL;

    o->temporary = malloc(size);
    if (!o->temporary) {
        errno = ENOMEM;
        return NULL;
    }
    for (unsigned i = 0; i < TEMPORARY_TRIES && !file; i++) {
        snprintf(o->temporary, size, "%s.tmp.%ld.%u", o->path, (long)getpid(), i);
        file = fopen(o->temporary, "wbx");
        if (!file && errno != EEXIST)
            break;
    }
    if (!file) { /* nothing of ours is there to be removed */
        free(o->temporary);
        o->temporary = NULL;
    }
    return file;
}

enum hd_status out_open(struct out_file *o, const char *path, struct hd_error *err)
{
    memset(o, 0, sizeof *o);
    o->path = strdup(path);
    if (!o->path)
        return cannot_write(path, ENOMEM, err);
    if (strcmp(path, "-") == 0) {
        o->file = stdout;
        return HD_OK;
    }
    o->file = replaces_file(path) ? open_beside(o) : fopen(path, "wb");
    if (!o->file) {
        int reason = errno;

        out_abandon(o);
        return cannot_write(path, reason, err);
    }
    return HD_OK;
}

enum hd_status out_probe(const char *path, struct hd_error *err)
{
    struct out_file o;
    enum hd_status status = path ? out_open(&o, path, err) : HD_OK;

    if (path && status == HD_OK)
        out_abandon(&o);
    return status;
}

static bool write_file(void *user, const char *bytes, size_t len)
{
    struct out_file *o = user;

    if (!o->broken && fwrite(bytes, 1, len, o->file) != len)
        o->broken = errno ? errno : EIO;
    return !o->broken;
}

struct json_out out_json(struct out_file *o)
{
    return (struct json_out){o, write_file};
}

static int close_file(struct out_file *o)
{
    int reason = o->broken;

    if (fflush(o->file) != 0 && !reason)
        reason = errno;
    if (o->temporary && fsync(fileno(o->file)) != 0 && !reason)
        reason = errno;
    if (o->file != stdout && fclose(o->file) != 0 && !reason)
        reason = errno;
    o->file = NULL;
    return reason;
}

enum hd_status out_commit(struct out_file *o, struct hd_error *err)
{
    enum hd_status status = HD_OK;
    int reason = close_file(o);

    if (!reason && o->temporary) {
        if (rename(o->temporary, o->path) != 0) {
            reason = errno;
        } else {
            free(o->temporary);
            o->temporary = NULL;
        }
    }
    if (reason)
        status = cannot_write(o->path, reason, err);
    out_abandon(o);
    return status;
}

void out_abandon(struct out_file *o)
{
    if (o->file && o->file != stdout)
        fclose(o->file);
    if (o->temporary)
        unlink(o->temporary);
    free(o->temporary);
    free(o->path);
    memset(o, 0, sizeof *o);
}
