/*
 * The form of a JSON object as a table: one row a key. The same table writes the object, in its order,
 * from a plain struct, and prints its JSON Schema.
 */
#ifndef HD_HOST_RESULTS_FIELDS_H
#define HD_HOST_RESULTS_FIELDS_H

#include "host/results/json_writer.h"

enum field_kind {
    FIELD_U64,  /* uint64_t; UINT64_MAX is null if the field may be */
    FIELD_U32,  /* uint32_t; UINT32_MAX is null if the field may be */
    FIELD_BOOL, /* bool */
    FIELD_F64,  /* double; null when not finite */
    FIELD_NS, /* uint64_t picoseconds, written as ns; JSON_NO_TIME, and any when untimed, is null */
    FIELD_TEXT,      /* const char *; NULL is null */
    FIELD_CHARS,     /* char[], NUL-terminated */
    FIELD_CHOICE,    /* uint32_t index into choices */
    FIELD_U32X3,     /* uint32_t[3] */
    FIELD_OBJECT,    /* a struct of `sub` at the offset */
    FIELD_OBJECT_AT, /* a pointer to a struct of `sub`; NULL is null */
    FIELD_ROWS,      /* struct field_rows: an array of objects of `sub` */
    FIELD_NAMES,     /* struct field_rows: an array of strings */
    FIELD_MAP,       /* const char *: an object that is JSON already, with keys of its own */
};

/* The rows of an array: write() writes each as one element. */
struct field_rows {
    void *user;
    void (*write)(void *user, struct json_writer *w);
};

struct field {
    const char *key;
    enum field_kind kind;
    bool nullable;
    size_t offset;
    const char *doc;               /* ends in no full stop; says the unit where the key does not */
    const struct field_table *sub; /* FIELD_OBJECT, FIELD_OBJECT_AT, FIELD_ROWS */
    const char *const *choices;    /* FIELD_CHOICE; ends with NULL */
};

struct field_table {
    const struct field *rows;
    size_t count;
    bool row; /* written on one line */
};

/* Writes the struct at `object` as an object with the table's keys in order. */
void fields_write(struct json_writer *w, const char *key, const struct field_table *t,
                  const void *object);
/* Writes the keywords of the table's schema ("type", "properties", ...) into the open object. */
void fields_schema(struct json_writer *w, const struct field_table *t);

#endif
