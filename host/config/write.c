/* The resolved configuration and its schema, from the parameter tables. */
#include "host/config/config.h"

#include "sim/base/text.h"

#include <stdio.h>
#include <string.h>

/* What to write for a parameter; key is the last part of its path. */
typedef void leaf_fn(struct json_writer *w, const char *key, const struct param *row,
                     const void *object);
/* What opens and closes a group of parameters. */
typedef void group_fn(struct json_writer *w, const char *key, bool open);

struct layout {
    struct json_writer *w;
    const struct hd_options *options;
    leaf_fn *leaf;
    group_fn *group;
};

/* True if a row ahead of row i has the same first len bytes of path: the group was written there. */
static bool written_before(size_t i, const char *path, size_t len)
{
    size_t j;

    for (j = 0; j < i; j++)
        if (strncmp(hd_config_row(j, NULL, NULL)->path, path, len) == 0)
            return true;
    return false;
}

/* Writes the parameters whose paths begin with the first `skip` bytes of prefix, nested by the rest. */
static void write_level(const struct layout *l, const char *prefix, size_t skip)
{
    const struct param *row;
    const void *object = NULL;
    size_t i;

    for (i = 0; (row = hd_config_row(i, NULL, NULL)) != NULL; i++) {
        const char *rest = row->path + skip, *dot;
        char key[64];

        if (strncmp(row->path, prefix, skip) != 0)
            continue;
        dot = strchr(rest, '.');
        if (!dot) {
            if (l->options)
                hd_config_row(i, l->options, &object);
            l->leaf(l->w, rest, row, object);
        } else if (!written_before(i, row->path, (size_t)(dot + 1 - row->path))) {
            snprintf(key, sizeof key, "%.*s", (int)(dot - rest), rest);
            l->group(l->w, key, true);
            write_level(l, row->path, (size_t)(dot + 1 - row->path));
            l->group(l->w, key, false);
        }
    }
}

static void value_leaf(struct json_writer *w, const char *key, const struct param *row,
                       const void *object)
{
    struct text value = {0};

    param_get_json(row, object, &value);
    json_raw(w, key, value.failed ? "null" : text_str(&value));
    text_free(&value);
}

static void value_group(struct json_writer *w, const char *key, bool open)
{
    if (open)
        json_object(w, key);
    else
        json_end(w);
}

void hd_config_write(struct json_writer *w, const char *key, const struct hd_options *o)
{
    const struct layout l = {w, o, value_leaf, value_group};

    json_object(w, key);
    write_level(&l, "", 0);
    json_end(w);
}

/* ---- schema -------------------------------------------------------------------------------- */

static void write_type(struct json_writer *w, const struct param *row)
{
    const struct param_choice *c;

    switch (row->kind) {
    case PARAM_KIND_U32:
    case PARAM_KIND_U64:
        json_text(w, "type", "integer");
        json_u64(w, "minimum", row->min);
        json_u64(w, "maximum", row->max);
        break;
    case PARAM_KIND_BOOL:
        json_text(w, "type", "boolean");
        break;
    case PARAM_KIND_CHOICE:
        json_row_array(w, "enum");
        for (c = row->choices; c->name; c++)
            json_text(w, NULL, c->name);
        json_end(w);
        break;
    case PARAM_KIND_TEXT:
        json_text(w, "type", "string");
        json_u64(w, "maxLength", PARAM_TEXT_MAX - 1);
        break;
    }
}

static void write_default(struct json_writer *w, const struct param *row)
{
    if (row->kind == PARAM_KIND_CHOICE || row->kind == PARAM_KIND_TEXT)
        json_text(w, "default", row->def);
    else
        json_raw(w, "default", row->def);
}

/* A value, or an object of value and source. */
static void schema_leaf(struct json_writer *w, const char *key, const struct param *row,
                        const void *object)
{
    char doc[512];

    (void)object;
    snprintf(doc, sizeof doc, "%s%s%s%s", row->doc, *row->unit ? " [" : "", row->unit,
             *row->unit ? "]" : "");
    json_object(w, key);
    json_text(w, "description", doc);
    write_default(w, row);
    json_array(w, "anyOf");
    json_row_object(w, NULL);
    write_type(w, row);
    json_end(w);
    json_row_object(w, NULL);
    json_text(w, "type", "object");
    json_object(w, "properties");
    json_object(w, "value");
    write_type(w, row);
    json_end(w);
    json_raw(w, "source", "{\"type\": \"string\"}");
    json_raw(w, "$comment", "{}");
    json_end(w);
    json_raw(w, "required", "[\"value\"]");
    json_bool(w, "additionalProperties", false);
    json_end(w);
    json_end(w);
    json_end(w);
}

static void open_properties(struct json_writer *w)
{
    json_text(w, "type", "object");
    json_bool(w, "additionalProperties", false);
    json_object(w, "properties");
    json_raw(w, "$comment", "{}");
}

static void schema_group(struct json_writer *w, const char *key, bool open)
{
    if (!open) {
        json_end(w);
        json_end(w);
        return;
    }
    json_object(w, key);
    open_properties(w);
}

void hd_config_schema(struct json_writer *w)
{
    const struct layout l = {w, NULL, schema_leaf, schema_group};

    json_object(w, NULL);
    json_text(w, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_text(w, "title", "heddle configuration");
    open_properties(w);
    json_raw(w, "$schema", "{\"type\": \"string\"}");
    json_raw(w, "extends", "{\"type\": \"string\"}");
    write_level(&l, "", 0);
    json_end(w);
    json_end(w);
}
