#include "host/lua/internal.h"

#include <string.h>

size_t named_length(const char *item)
{
    return strcspn(item, "=");
}

const char *named_find(const char *const *list, size_t count, const char *name, size_t *index)
{
    const size_t length = strlen(name);

    for (size_t i = 0; i < count; i++) {
        if (named_length(list[i]) == length && memcmp(list[i], name, length) == 0) {
            *index = i;
            return list[i] + length + 1;
        }
    }
    return NULL;
}

enum hd_status named_check(const char *const *list, size_t count, const char *option,
                           struct hd_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const size_t length = named_length(list[i]);

        if (length == 0 || list[i][length] != '=')
            return hd_error_set(err, HD_USAGE, "script-option", option, "write NAME=TEXT",
                                "%s \"%s\" is not of the form NAME=TEXT", option, list[i]);
        for (size_t k = 0; k < i; k++)
            if (strncmp(list[i], list[k], length + 1) == 0)
                return hd_error_set(err, HD_USAGE, "script-option", option, NULL,
                                    "%s %.*s is given twice", option, (int)length, list[i]);
    }
    return HD_OK;
}
