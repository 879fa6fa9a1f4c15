#include "host/results/spool.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An unnamed file in TMPDIR or /tmp. */
static FILE *temporary_file(void)
{
    const char *dir = getenv("TMPDIR");
    char path[PATH_MAX];
    FILE *file;
    int n, fd;

    n = snprintf(path, sizeof path, "%s/heddle-XXXXXX", dir && *dir ? dir : "/tmp");
    if (n < 0 || (size_t)n >= sizeof path) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    fd = mkstemp(path);
    if (fd < 0)
        return NULL;
    unlink(path);
    file = fdopen(fd, "w+b");
    if (!file)
        close(fd);
    return file;
}

static bool fail(struct spool *s)
{
    s->broken = errno ? errno : EIO;
    return false;
}

/* Moves what is in memory behind the file's end. */
static bool spill(struct spool *s)
{
    if (!s->file)
        s->file = temporary_file();
    if (!s->file || fseeko(s->file, (off_t)s->filed, SEEK_SET) != 0 ||
        fwrite(s->memory, 1, s->used, s->file) != s->used || fflush(s->file) != 0)
        return fail(s);
    s->filed += s->used;
    s->used = 0;
    return true;
}

static bool append(struct spool *s, const void *bytes, size_t len)
{
    if (s->used + len > SPOOL_MEMORY && !spill(s))
        return false;
    memcpy(s->memory + s->used, bytes, len);
    s->used += len;
    return true;
}

void spool_add(struct spool *s, const void *record, size_t len)
{
    uint32_t head = (uint32_t)len;

    if (s->broken)
        return;
    if (!s->memory) {
        s->memory = malloc(SPOOL_MEMORY);
        if (!s->memory) {
            s->broken = ENOMEM;
            return;
        }
    }
    if (append(s, &head, sizeof head) && append(s, record, len))
        s->count++;
}

void spool_free(struct spool *s)
{
    if (s->file)
        fclose(s->file);
    free(s->memory);
    memset(s, 0, sizeof *s);
}

uint64_t spool_tell(const struct spool *s)
{
    return s->filed + s->used;
}

enum hd_status spool_check(const struct spool *s, struct hd_error *err)
{
    if (!s->broken)
        return HD_OK;
    return hd_error_set(err, HD_BAD_INPUT, "spool", NULL,
                        "make room where TMPDIR points, or ask for less with --detail summary",
                        "cannot keep the rows of the run in a temporary file: %s",
                        strerror(s->broken));
}

struct spool_reader spool_read(struct spool *s, uint64_t from, uint64_t to)
{
    if (s->file)
        fseeko(s->file, (off_t)from, SEEK_SET);
    return (struct spool_reader){s, from, to};
}

/* Bytes at r->at: the first part in the file, the rest in memory; a record may lie across. */
static bool take(struct spool_reader *r, void *bytes, size_t len)
{
    struct spool *s = r->spool;
    unsigned char *to = bytes;

    while (len > 0) {
        size_t n = len;

        if (r->at < s->filed) {
            if (n > s->filed - r->at)
                n = (size_t)(s->filed - r->at);
            if (fread(to, 1, n, s->file) != n)
                return fail(s);
        } else {
            memcpy(to, s->memory + (r->at - s->filed), n);
        }
        r->at += n;
        to += n;
        len -= n;
    }
    return true;
}

bool spool_next(struct spool_reader *r, void *record, size_t size, size_t *len)
{
    uint32_t head;

    if (r->at >= r->end || !take(r, &head, sizeof head))
        return false;
    if (head > size) {
        r->spool->broken = EINVAL;
        return false;
    }
    *len = head;
    return take(r, record, head);
}
