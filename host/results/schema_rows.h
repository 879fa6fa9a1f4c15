/* Rows of tables of fields: KEY(kind, struct, member, key, doc), and the like. */
#ifndef HD_HOST_RESULTS_SCHEMA_ROWS_H
#define HD_HOST_RESULTS_SCHEMA_ROWS_H

#include "host/results/fields.h"

#include <stddef.h>

#define TABLE(name, rows, row)                                                                     \
    const struct field_table name = {rows, sizeof rows / sizeof *rows, row}

#define KEY(kind, type, member, key, doc)                                                          \
    {                                                                                              \
        key, FIELD_##kind, false, offsetof(type, member), doc, NULL, NULL                          \
    }
#define NULLABLE(kind, type, member, key, doc)                                                     \
    {                                                                                              \
        key, FIELD_##kind, true, offsetof(type, member), doc, NULL, NULL                           \
    }
#define CHOICE(names, type, member, key, doc)                                                      \
    {                                                                                              \
        key, FIELD_CHOICE, false, offsetof(type, member), doc, NULL, names                         \
    }
#define PART(kind, table, type, member, key, doc)                                                  \
    {                                                                                              \
        key, FIELD_##kind, false, offsetof(type, member), doc, &table, NULL                        \
    }

/* A part whose keys are members of the object itself. */
#define SELF(table, key, doc)                                                                      \
    {                                                                                              \
        key, FIELD_OBJECT, false, 0, doc, &table, NULL                                             \
    }

#endif
