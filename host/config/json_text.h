/*
 * Reads a JSON file strictly (RFC 8259) and says where each value stands. cJSON alone accepts "01", raw
 * tabs, bytes that are not UTF-8 and duplicate keys, cuts strings at \u0000, and gives no places.
 */
#ifndef HD_HOST_CONFIG_JSON_TEXT_H
#define HD_HOST_CONFIG_JSON_TEXT_H

#include "sim/base/error.h"

#include <cjson/cJSON.h>
#include <stddef.h>

enum {
    JSON_TEXT_MAX_BYTES = 16 << 20,
    JSON_TEXT_MAX_DEPTH = 64,
    JSON_TEXT_MAX_KEYS = 4096, /* of one object */
};

struct json_text {
    char *name;  /* of the file, for messages */
    char *bytes; /* NUL-terminated */
    size_t len;
    size_t *places; /* byte offset of each value, in the order of the text */
    size_t nplaces;
    struct json_cursor {
        size_t offset, line, start; /* start: offset of the line */
    } last; /* the place that was asked for last, from which a later one is found */
    cJSON *root;
};

/* *out is the caller's (json_text_free). HD_BAD_INPUT with place "file:line:column". */
enum hd_status json_text_load(const char *path, struct json_text *out, struct hd_error *err);
/* The same for len bytes in memory, which are copied. */
enum hd_status json_text_parse(const char *name, const char *bytes, size_t len,
                               struct json_text *out, struct hd_error *err);
void json_text_free(struct json_text *t);

/*
 * "file:line:column (/path)" of value number `index` in the order of the text, the root being 0. path is the
 * JSON path, "" for the root.
 */
void json_text_place(struct json_text *t, size_t index, const char *path, char *out, size_t size);

#endif
