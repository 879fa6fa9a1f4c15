#include "host/results/fields.h"

#include <string.h>

/* Fields are read by offset, so that each is copied out with its own type. */
#define READ(type, at) (*(const type *)(const void *)(at))

static void write_u32x3(struct json_writer *w, const char *key, const uint32_t *v)
{
    int i;

    json_row_array(w, key);
    for (i = 0; i < 3; i++)
        json_u64(w, NULL, v[i]);
    json_end(w);
}

static void write_rows(struct json_writer *w, const struct field *f, const struct field_rows *rows)
{
    if (f->kind == FIELD_NAMES)
        json_row_array(w, f->key);
    else
        json_array(w, f->key);
    if (rows->write)
        rows->write(rows->user, w);
    json_end(w);
}

static void write_value(struct json_writer *w, const struct field *f, const unsigned char *at)
{
    switch (f->kind) {
    case FIELD_U64:
        if (f->nullable && READ(uint64_t, at) == UINT64_MAX)
            json_null(w, f->key);
        else
            json_u64(w, f->key, READ(uint64_t, at));
        break;
    case FIELD_U32:
        if (f->nullable && READ(uint32_t, at) == UINT32_MAX)
            json_null(w, f->key);
        else
            json_u64(w, f->key, READ(uint32_t, at));
        break;
    case FIELD_BOOL:
        json_bool(w, f->key, READ(bool, at));
        break;
    case FIELD_F64:
        json_f64(w, f->key, READ(double, at));
        break;
    case FIELD_NS:
        json_ns(w, f->key, READ(uint64_t, at));
        break;
    case FIELD_TEXT:
        json_text(w, f->key, READ(char *, at));
        break;
    case FIELD_CHARS:
        json_text(w, f->key, (const char *)at);
        break;
    case FIELD_CHOICE:
        json_text(w, f->key, f->choices[READ(uint32_t, at)]);
        break;
    case FIELD_U32X3:
        write_u32x3(w, f->key, (const uint32_t *)(const void *)at);
        break;
    case FIELD_OBJECT:
        fields_write(w, f->key, f->sub, at);
        break;
    case FIELD_OBJECT_AT:
        fields_write(w, f->key, f->sub, READ(void *, at));
        break;
    case FIELD_ROWS:
    case FIELD_NAMES:
        write_rows(w, f, (const struct field_rows *)(const void *)at);
        break;
    case FIELD_MAP:
        json_raw(w, f->key, READ(char *, at));
        break;
    }
}

void fields_write(struct json_writer *w, const char *key, const struct field_table *t,
                  const void *object)
{
    size_t i;

    if (!object) {
        json_null(w, key);
        return;
    }
    if (t->row)
        json_row_object(w, key);
    else
        json_object(w, key);
    for (i = 0; i < t->count; i++)
        write_value(w, &t->rows[i], (const unsigned char *)object + t->rows[i].offset);
    json_end(w);
}

static void schema_type(struct json_writer *w, const char *type, bool nullable)
{
    if (!nullable) {
        json_text(w, "type", type);
        return;
    }
    json_row_array(w, "type");
    json_text(w, NULL, type);
    json_text(w, NULL, "null");
    json_end(w);
}

static void schema_choices(struct json_writer *w, const struct field *f)
{
    size_t i;

    json_row_array(w, "enum");
    for (i = 0; f->choices[i]; i++)
        json_text(w, NULL, f->choices[i]);
    json_end(w);
}

static void schema_items(struct json_writer *w, const struct field *f)
{
    json_object(w, "items");
    if (f->kind == FIELD_ROWS)
        fields_schema(w, f->sub);
    else
        schema_type(w, f->kind == FIELD_NAMES ? "string" : "integer", false);
    json_end(w);
}

static const char *type_name(enum field_kind kind)
{
    switch (kind) {
    case FIELD_U64:
    case FIELD_U32:
        return "integer";
    case FIELD_BOOL:
        return "boolean";
    case FIELD_F64:
    case FIELD_NS:
        return "number";
    case FIELD_TEXT:
    case FIELD_CHARS:
    case FIELD_CHOICE:
        return "string";
    case FIELD_U32X3:
    case FIELD_ROWS:
    case FIELD_NAMES:
        return "array";
    case FIELD_OBJECT:
    case FIELD_OBJECT_AT:
    case FIELD_MAP:
        break;
    }
    return "object";
}

static bool may_be_null(const struct field *f)
{
    return f->nullable || f->kind == FIELD_F64 || f->kind == FIELD_NS || f->kind == FIELD_OBJECT_AT;
}

static void schema_field(struct json_writer *w, const struct field *f)
{
    json_object(w, f->key);
    json_text(w, "description", f->doc);
    if (f->sub && f->kind != FIELD_ROWS) {
        if (may_be_null(f)) {
            json_array(w, "anyOf");
            json_object(w, NULL);
            fields_schema(w, f->sub);
            json_end(w);
            json_row_object(w, NULL);
            json_text(w, "type", "null");
            json_end(w);
            json_end(w);
        } else {
            fields_schema(w, f->sub);
        }
        json_end(w);
        return;
    }
    schema_type(w, type_name(f->kind), may_be_null(f));
    if (f->kind == FIELD_U64 || f->kind == FIELD_U32 || f->kind == FIELD_NS)
        json_u64(w, "minimum", 0);
    if (f->kind == FIELD_CHOICE)
        schema_choices(w, f);
    if (f->kind == FIELD_U32X3 || f->kind == FIELD_ROWS || f->kind == FIELD_NAMES)
        schema_items(w, f);
    json_end(w);
}

void fields_schema(struct json_writer *w, const struct field_table *t)
{
    size_t i;

    json_text(w, "type", "object");
    json_row_array(w, "required");
    for (i = 0; i < t->count; i++)
        json_text(w, NULL, t->rows[i].key);
    json_end(w);
    json_object(w, "properties");
    for (i = 0; i < t->count; i++)
        schema_field(w, &t->rows[i]);
    json_end(w);
    json_bool(w, "additionalProperties", false);
}
