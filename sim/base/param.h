/*
 * Parameter tables: one row a parameter feeds the parser, the JSON Schema, the help,
 * the manual and the resolved dump. A table describes the fields of one struct.
 */
#ifndef HD_SIM_BASE_PARAM_H
#define HD_SIM_BASE_PARAM_H

#include "sim/base/error.h"
#include "sim/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum param_kind {
    PARAM_KIND_U32,
    PARAM_KIND_U64,
    PARAM_KIND_BOOL,
    PARAM_KIND_CHOICE,
    PARAM_KIND_TEXT
};

enum { PARAM_TEXT_MAX = 64 }; /* bytes of a text parameter, NUL included */

/* One name of a registry, in its order; a list of them ends with a NULL name. */
struct param_choice {
    const char *name, *doc;
};

struct param {
    enum param_kind kind;
    const char *path, *unit, *doc;
    const char *def;   /* default, as text */
    uint64_t min, max; /* U32, U64 */
    size_t offset;     /* of the field: uint32_t, uint64_t, bool, uint32_t (index of the choice),
                          char[PARAM_TEXT_MAX] */
    const struct param_choice *choices; /* CHOICE */
};

struct param_table {
    const struct param *rows;
    size_t count;
};

/* The row of that path, or NULL. */
const struct param *param_find(const struct param_table *t, const char *path);

/* Sets every field of object to its default. */
void param_defaults(const struct param_table *t, void *object);

/*
 * Sets one field from text ("1024", "0x400", "on", "lrr"). An unknown path, a wrong type or a value
 * out of range is HD_BAD_INPUT with the range, the choices or a "did you mean"; place is copied
 * into the error.
 */
enum hd_status param_set(const struct param_table *t, void *object, const char *path,
                         const char *value, const char *place, struct hd_error *err);

/*
 * Checks every field against its row, for objects whose fields were set by code: HD_BAD_INPUT names
 * the first that is out of range.
 */
enum hd_status param_check(const struct param_table *t, const void *object, struct hd_error *err);

/* Adds the field's value to out as JSON (a number, true/false, or a quoted name). */
void param_get_json(const struct param *row, const void *object, struct text *out);

/* The path of the table nearest to `path` by edit distance (at most 3), or NULL. */
const char *param_nearest(const struct param_table *t, const char *path);
/* The same over any list of names. */
const char *name_nearest(const char *name, const char *const *names, size_t count);

#endif
