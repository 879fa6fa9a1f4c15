#include "sim/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void mark_cut(char *text, size_t size, int wanted)
{
    if (wanted >= (int)size)
        memcpy(text + size - 4, "...", 4);
}

static void copy_text(char *to, size_t size, const char *from)
{
    mark_cut(to, size, snprintf(to, size, "%s", from ? from : ""));
}

enum hd_status hd_error_set(struct hd_error *err, enum hd_status status, const char *code,
                            const char *place, const char *hint, const char *fmt, ...)
{
    va_list args;

    if (!err)
        return status;
    err->status = status;
    copy_text(err->code, sizeof err->code, code);
    copy_text(err->place, sizeof err->place, place);
    copy_text(err->hint, sizeof err->hint, hint);
    va_start(args, fmt);
    mark_cut(err->message, sizeof err->message,
             vsnprintf(err->message, sizeof err->message, fmt, args));
    va_end(args);
    return status;
}

enum hd_status hd_no_memory(struct hd_error *err, const char *fmt, ...)
{
    char what[256];
    va_list args;

    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return hd_error_set(err, HD_BAD_INPUT, "memory", NULL, "free memory, or ask for less",
                        "not enough memory for %s", what);
}

void hd_error_clear(struct hd_error *err)
{
    memset(err, 0, sizeof *err);
}
