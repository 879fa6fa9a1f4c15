/*
 * A streaming writer of JSON. Numbers are exact: 64-bit integers digit by digit, times as integer picoseconds
 * printed as nanoseconds with three decimals, doubles in the shortest form that reads back the same, and
 * null for what is not finite. The output is valid UTF-8 whatever the input. Memory use is constant.
 */
#ifndef HD_HOST_RESULTS_JSON_WRITER_H
#define HD_HOST_RESULTS_JSON_WRITER_H

#include "sim/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_MAX_DEPTH = 32, JSON_BUFFER = 8192 };

/* Where the bytes go; write returns false when they could not be kept. */
struct json_out {
    void *user;
    bool (*write)(void *user, const char *bytes, size_t len);
};

/* A value of this many picoseconds is unknown: json_ns writes null. */
#define JSON_NO_TIME UINT64_MAX

enum json_layout {
    JSON_COMPACT, /* everything on one line */
    JSON_PRETTY,  /* a line a member, but json_row() containers stay on theirs */
};

struct json_writer {
    struct json_out out;
    enum json_layout layout;
    unsigned depth;
    bool untimed;     /* all times in nanoseconds are null: nothing was measured */
    bool failed;      /* a write failed, or the nesting is broken */
    uint64_t written; /* bytes so far, those still in the buffer too */
    size_t used;
    struct {
        bool array, inlined, used;
    } stack[JSON_MAX_DEPTH];
    char buffer[JSON_BUFFER];
};

struct json_out json_to_text(struct text *t);

void json_start(struct json_writer *w, struct json_out out, enum json_layout layout);
/* Ends the document with a newline and flushes. False if a write failed or a container is open. */
bool json_finish(struct json_writer *w);

/* key is NULL inside arrays and at the top. The row forms keep the container on one line. */
void json_object(struct json_writer *w, const char *key);
void json_array(struct json_writer *w, const char *key);
void json_row_object(struct json_writer *w, const char *key);
void json_row_array(struct json_writer *w, const char *key);
void json_end(struct json_writer *w);

void json_u64(struct json_writer *w, const char *key, uint64_t value);
void json_i64(struct json_writer *w, const char *key, int64_t value);
void json_f64(struct json_writer *w, const char *key, double value);
void json_bool(struct json_writer *w, const char *key, bool value);
void json_null(struct json_writer *w, const char *key);
/* Picoseconds as ns with three decimals. */
void json_ns(struct json_writer *w, const char *key, uint64_t ps);
/* Picoseconds as microseconds with six decimals, the unit of Chrome traces. */
void json_us(struct json_writer *w, const char *key, uint64_t ps);
/* NULL writes null; a byte that is not UTF-8 becomes U+FFFD. */
void json_text(struct json_writer *w, const char *key, const char *value);
/* A value that is JSON already. */
void json_raw(struct json_writer *w, const char *key, const char *json);

/* The shortest decimal that reads back as the same double; value must be finite. */
void json_format_double(char *out, size_t size, double value);

#endif
