#include "sim/base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *regular_open(const char *path, const char **why)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    FILE *file = NULL;

    if (fd < 0 || fstat(fd, &st) != 0)
        *why = strerror(errno);
    else if (!S_ISREG(st.st_mode))
        *why = "it is not a regular file";
    else if (!(file = fdopen(fd, "rb")))
        *why = strerror(errno);
    if (fd >= 0 && !file)
        close(fd);
    return file;
}
