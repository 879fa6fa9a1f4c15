/* Reading source files: whole, bounded, and for require below one folder only. */
#include "host/lua/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum hd_status cannot_read(struct hd_error *err, const char *path, const char *why)
{
    return hd_error_set(err, HD_BAD_INPUT, "lua-file", path, NULL, "cannot read the file: %s", why);
}

static enum hd_status read_open(int fd, const char *path, struct text *out, struct hd_error *err)
{
    char block[8192];
    struct stat st;
    ssize_t n;

    if (fstat(fd, &st) != 0)
        return cannot_read(err, path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return cannot_read(err, path, "it is not a regular file");
    while ((n = read(fd, block, sizeof block)) > 0) {
        text_add_bytes(out, block, (size_t)n);
        if (out->failed || out->len > SCRIPT_FILE_MAX)
            return cannot_read(err, path, "it is larger than 16 MiB");
    }
    return n < 0 ? cannot_read(err, path, strerror(errno)) : HD_OK;
}

enum hd_status file_read(const char *path, struct text *out, struct hd_error *err)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    enum hd_status status;

    if (fd < 0)
        return cannot_read(err, path, strerror(errno));
    status = read_open(fd, path, out, err);
    close(fd);
    return status;
}

/* Walks down one component at a time, so that no symbolic link leads out of the folder. */
static int open_below(const char *folder, const char *relative)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char name[256];

    while (fd >= 0) {
        const size_t length = strcspn(relative, "/");
        const bool last = relative[length] == '\0';
        int next;

        if (length == 0 || length >= sizeof name) {
            close(fd);
            return -1;
        }
        memcpy(name, relative, length);
        name[length] = '\0';
        next =
            openat(fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | (last ? O_NONBLOCK : O_DIRECTORY));
        close(fd);
        if (last)
            return next;
        fd = next;
        relative += length + 1;
    }
    return fd;
}

enum hd_status file_read_below(const char *folder, const char *relative, bool *found,
                               struct text *out, struct hd_error *err)
{
    const int fd = open_below(folder, relative);
    enum hd_status status;

    *found = fd >= 0;
    if (fd < 0)
        return HD_OK;
    status = read_open(fd, relative, out, err);
    close(fd);
    return status;
}

bool file_folder(const char *path, char *out, size_t size)
{
    const char *slash = strrchr(path, '/');
    size_t length;

    if (!slash)
        return (size_t)snprintf(out, size, ".") < size;
    length = slash == path ? 1 : (size_t)(slash - path);
    return (size_t)snprintf(out, size, "%.*s", (int)length, path) < size;
}

const char *file_chunk(const struct text *source, size_t *length)
{
    const char *at = text_str(source);
    size_t skip = 0;

    if (source->len >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
        skip = 3;
    if (at[skip] == '#')
        skip += strcspn(at + skip, "\n");
    *length = source->len - skip;
    return at + skip;
}
