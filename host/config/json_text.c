#include "host/config/json_text.h"

#include "host/config/json_scan.h"
#include "sim/base/regular.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static enum hd_status cannot_read(const char *path, const char *why, struct hd_error *err)
{
    return hd_error_set(err, HD_BAD_INPUT, "config-file", path, NULL, "cannot read \"%s\": %s",
                        path, why);
}

/* The bytes of a regular file with a NUL behind them, or NULL. */
static char *read_file(const char *path, size_t *len, struct hd_error *err)
{
    const char *why;
    FILE *file = regular_open(path, &why);
    struct stat st;
    char *bytes = NULL;

    if (!file) {
        cannot_read(path, why, err);
        return NULL;
    }
    if (fstat(fileno(file), &st) != 0) {
        cannot_read(path, strerror(errno), err);
    } else if (st.st_size > JSON_TEXT_MAX_BYTES) {
        cannot_read(path, "larger than 16 MiB", err);
    } else {
        bytes = malloc((size_t)st.st_size + 1);
        *len = bytes ? fread(bytes, 1, (size_t)st.st_size, file) : 0;
        if (!bytes)
            cannot_read(path, "not enough memory", err);
        else
            bytes[*len] = '\0';
    }
    fclose(file);
    return bytes;
}

/* Takes over bytes, which end in a NUL. */
static enum hd_status parse_owned(const char *name, char *bytes, size_t len, struct json_text *out,
                                  struct hd_error *err)
{
    memset(out, 0, sizeof *out);
    out->name = strdup(name);
    out->bytes = bytes;
    out->len = len;
    if (!out->name || json_scan(out, err) != HD_OK) {
        if (!out->name)
            cannot_read(name, "not enough memory", err);
        json_text_free(out);
        return HD_BAD_INPUT;
    }
    out->root = cJSON_ParseWithLengthOpts(bytes, len + 1, NULL, 1);
    if (out->root)
        return HD_OK;
    json_text_free(out);
    return hd_no_memory(err, "reading %s", name);
}

enum hd_status json_text_parse(const char *name, const char *bytes, size_t len,
                               struct json_text *out, struct hd_error *err)
{
    char *copy;

    memset(out, 0, sizeof *out);
    if (len > JSON_TEXT_MAX_BYTES)
        return cannot_read(name, "larger than 16 MiB", err);
    copy = malloc(len + 1);
    if (!copy)
        return cannot_read(name, "not enough memory", err);
    memcpy(copy, bytes, len);
    copy[len] = '\0';
    return parse_owned(name, copy, len, out, err);
}

enum hd_status json_text_load(const char *path, struct json_text *out, struct hd_error *err)
{
    size_t len = 0;
    char *bytes = read_file(path, &len, err);

    memset(out, 0, sizeof *out);
    if (!bytes)
        return HD_BAD_INPUT;
    return parse_owned(path, bytes, len, out, err);
}

void json_text_free(struct json_text *t)
{
    cJSON_Delete(t->root);
    free(t->name);
    free(t->bytes);
    free(t->places);
    memset(t, 0, sizeof *t);
}

void json_text_place(struct json_text *t, size_t index, const char *path, char *out, size_t size)
{
    size_t line, column;

    json_scan_line(t, index < t->nplaces ? t->places[index] : t->len, &line, &column);
    if (*path)
        snprintf(out, size, "%s:%zu:%zu (%s)", t->name, line, column, path);
    else
        snprintf(out, size, "%s:%zu:%zu", t->name, line, column);
}
