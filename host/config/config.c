#include "host/config/config.h"

#include "host/config/find.h"
#include "host/config/json_text.h"
#include "sim/base/nearest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 512, EXTENDS_MAX = 8 };

/* A file that is being read, and the files that led to it. */
struct chain {
    const struct chain *from;
    const char *path;
    unsigned depth;
};

struct reader {
    struct json_text *text;
    struct hd_options *options;
    struct hd_error *err;
    const struct chain *chain;
    size_t next; /* number of the value that comes next in the text */
};

/* ---- both tables as one -------------------------------------------------------------------- */

const struct param *hd_config_row(size_t i, const struct hd_options *o, const void **object)
{
    bool machine = i < sim_params.count;
    const struct param_table *t = machine ? &sim_params : &rt_params;

    if (!machine)
        i -= sim_params.count;
    if (object)
        *object = machine ? (const void *)&o->gpu : (const void *)&o->host;
    return i < t->count ? &t->rows[i] : NULL;
}

const struct param *hd_config_param(const char *path)
{
    const struct param *row = param_find(&sim_params, path);

    return row ? row : param_find(&rt_params, path);
}

enum hd_status hd_config_unknown(const char *path, const char *place, struct hd_error *err)
{
    struct nearest near = nearest_start(path);
    const struct param *row;
    char hint[256];
    size_t i;

    for (i = 0; (row = hd_config_row(i, NULL, NULL)) != NULL; i++)
        nearest_offer(&near, row->path);
    if (near.best)
        snprintf(hint, sizeof hint, "did you mean \"%s\"?", near.best);
    else
        snprintf(hint, sizeof hint, "heddle list parameters prints them all");
    return hd_error_set(err, HD_BAD_INPUT, "config-unknown-key", place, hint,
                        "there is no parameter \"%s\"", path);
}

static enum hd_status set_value(struct hd_options *o, const char *path, const char *value,
                                const char *place, struct hd_error *err)
{
    if (param_find(&sim_params, path))
        return param_set(&sim_params, &o->gpu, path, value, place, err);
    if (param_find(&rt_params, path))
        return param_set(&rt_params, &o->host, path, value, place, err);
    return hd_config_unknown(path, place, err);
}

/* What is set comes before the directives of kernels, which come before what a configuration says. */
static void force(struct hd_options *o, const char *path)
{
    if (strcmp(path, "tm.detector") == 0)
        o->gpu.tm_forced |= SIM_FORCE_TM_DETECTOR;
    else if (strcmp(path, "tm.serialise") == 0)
        o->gpu.tm_forced |= SIM_FORCE_TM_SERIALISE;
}

enum hd_status hd_config_set(struct hd_options *o, const char *assignment, struct hd_error *err)
{
    const char *equals = strchr(assignment, '=');
    char path[PATH_BYTES];
    int n = equals ? (int)(equals - assignment) : 0;

    if (n == 0 || n >= PATH_BYTES)
        return hd_error_set(err, HD_USAGE, "usage", NULL, "write --set KEY=VALUE",
                            "\"%s\" sets nothing", assignment);
    snprintf(path, sizeof path, "%.*s", n, assignment);
    force(o, path);
    return set_value(o, path, equals + 1, "--set", err);
}

/* ---- values -------------------------------------------------------------------------------- */

/* "l1.bytes" as "/l1/bytes". */
static void slashes(const char *path, char *out, size_t size)
{
    char *p;

    snprintf(out, size, "%s%s", *path ? "/" : "", path);
    for (p = out; *p; p++)
        if (*p == '.')
            *p = '/';
}

static void place_at(const struct reader *r, size_t index, const char *path, char *out, size_t size)
{
    char pointer[PATH_BYTES + 8];

    slashes(path, pointer, sizeof pointer);
    json_text_place(r->text, index, pointer, out, size);
}

static enum hd_status wrong(struct reader *r, size_t index, const char *path, const char *wanted,
                            const char *hint)
{
    char place[256];

    place_at(r, index, path, place, sizeof place);
    return hd_error_set(r->err, HD_BAD_INPUT, "config-wrong-type", place, hint, "%s must be %s",
                        *path ? path : "a configuration", wanted);
}

static bool is_number_kind(const struct param *row)
{
    return row->kind == PARAM_KIND_U32 || row->kind == PARAM_KIND_U64;
}

/* A double holds each whole number up to 2^53; larger ones are written as strings. */
static bool exact_integer(double d)
{
    return isfinite(d) && d == floor(d) && fabs(d) <= 9007199254740992.0;
}

static enum hd_status apply_value(struct reader *r, const struct param *row, const cJSON *item,
                                  size_t index)
{
    char place[256], digits[40];
    const char *value = NULL;

    if (is_number_kind(row) && cJSON_IsNumber(item)) {
        if (!exact_integer(item->valuedouble))
            return wrong(r, index, row->path, "a whole number",
                         "numbers past 2^53 are written as strings, to be exact");
        snprintf(digits, sizeof digits, "%.0f", item->valuedouble);
        value = digits;
    } else if (row->kind == PARAM_KIND_BOOL && cJSON_IsBool(item)) {
        value = cJSON_IsTrue(item) ? "true" : "false";
    } else if (row->kind != PARAM_KIND_BOOL && cJSON_IsString(item)) {
        value = item->valuestring;
    }
    if (!value)
        return wrong(r, index, row->path,
                     is_number_kind(row)            ? "a whole number"
                     : row->kind == PARAM_KIND_BOOL ? "true or false"
                                                    : "a string",
                     row->doc);
    place_at(r, index, row->path, place, sizeof place);
    return set_value(r->options, row->path, value, place, r->err);
}

/* ---- objects ------------------------------------------------------------------------------- */

static size_t count_values(const cJSON *item)
{
    const cJSON *child;
    size_t n = 1;

    cJSON_ArrayForEach(child, item) n += count_values(child);
    return n;
}

/* {"value": x, "source": "..."}: what a value is, and where it is from. */
static enum hd_status apply_sourced(struct reader *r, const struct param *row, const cJSON *item)
{
    size_t index = r->next - 1, at = r->next;
    const cJSON *child, *value = NULL;

    cJSON_ArrayForEach(child, item)
    {
        if (strcmp(child->string, "value") == 0) {
            value = child;
            index = at;
        } else if (strcmp(child->string, "source") != 0 && strcmp(child->string, "$comment") != 0) {
            return wrong(r, at, row->path, "a value, or an object of value and source",
                         "a note is written as \"$comment\"");
        } else if (!cJSON_IsString(child)) {
            return wrong(r, at, row->path, "an object whose source is a string", NULL);
        }
        at += count_values(child);
    }
    r->next = at;
    if (!value || cJSON_IsObject(value) || cJSON_IsArray(value))
        return wrong(r, index, row->path, "a value, or an object of value and source", NULL);
    return apply_value(r, row, value, index);
}

/* True if parameters begin with the path and a dot. */
static bool is_group(const char *path)
{
    size_t len = strlen(path), i;
    const struct param *row;

    for (i = 0; (row = hd_config_row(i, NULL, NULL)) != NULL; i++)
        if (strncmp(row->path, path, len) == 0 && row->path[len] == '.')
            return true;
    return false;
}

static enum hd_status apply_object(struct reader *r, const char *path, const cJSON *object);

static enum hd_status apply_member(struct reader *r, const char *path, const cJSON *item)
{
    const struct param *row = hd_config_param(path);
    size_t index = r->next++;
    char place[256];

    if (row && cJSON_IsObject(item))
        return apply_sourced(r, row, item);
    if (row) {
        r->next += count_values(item) - 1;
        return apply_value(r, row, item, index);
    }
    if (is_group(path))
        return cJSON_IsObject(item) ? apply_object(r, path, item)
                                    : wrong(r, index, path, "an object", NULL);
    place_at(r, index, path, place, sizeof place);
    return hd_config_unknown(path, place, r->err);
}

/* Keys that say nothing of the device: "extends" has been read ahead of the others. */
static bool is_skipped(const char *path, const char *key)
{
    return strcmp(key, "$schema") == 0 || strcmp(key, "$comment") == 0 ||
           (*path == '\0' && strcmp(key, "extends") == 0);
}

/* The scanner compares keys as they are written; "\u0061" is "a" only here. */
static bool seen_before(const cJSON *object, const cJSON *item)
{
    const cJSON *child;

    for (child = object->child; child != item; child = child->next)
        if (strcmp(child->string, item->string) == 0)
            return true;
    return false;
}

static enum hd_status apply_object(struct reader *r, const char *path, const cJSON *object)
{
    char inner[PATH_BYTES], place[256];
    const cJSON *item;
    enum hd_status status;

    cJSON_ArrayForEach(item, object)
    {
        if (is_skipped(path, item->string)) {
            r->next += count_values(item);
            continue;
        }
        snprintf(inner, sizeof inner, "%s%s%s", path, *path ? "." : "", item->string);
        place_at(r, r->next, inner, place, sizeof place);
        if (strchr(item->string, '.'))
            return hd_error_set(r->err, HD_BAD_INPUT, "config-unknown-key", place,
                                "write {\"l1\": {\"bytes\": 1024}} for l1.bytes",
                                "the key \"%s\" has a dot", item->string);
        if (seen_before(object, item))
            return hd_error_set(r->err, HD_BAD_INPUT, "json", place, NULL,
                                "the key \"%s\" is there twice", item->string);
        status = apply_member(r, inner, item);
        if (status != HD_OK)
            return status;
    }
    return HD_OK;
}

/* ---- files --------------------------------------------------------------------------------- */

static enum hd_status load_named(const char *name, const struct chain *from, struct hd_options *o,
                                 struct hd_error *err);

/* A base is a preset, or a file beside the one that names it. */
static enum hd_status load_base(struct reader *r, const char *base)
{
    const char *slash = strrchr(r->chain->path, '/');
    char path[4096];

    if (!config_is_file(base) || *base == '/' || !slash)
        return load_named(base, r->chain, r->options, r->err);
    if (snprintf(path, sizeof path, "%.*s/%s", (int)(slash - r->chain->path), r->chain->path,
                 base) >= (int)sizeof path)
        return hd_error_set(r->err, HD_BAD_INPUT, "config-file", r->chain->path, NULL,
                            "the path of \"%s\" is too long", base);
    return load_named(path, r->chain, r->options, r->err);
}

/* Which value of the text the member `key` of the root is. */
static size_t index_of(const cJSON *root, const cJSON *member)
{
    const cJSON *child;
    size_t index = 1;

    for (child = root->child; child != member; child = child->next)
        index += count_values(child);
    return index;
}

static enum hd_status apply_text(struct json_text *text, const struct chain *chain,
                                 struct hd_options *o, struct hd_error *err)
{
    struct reader r = {.text = text, .options = o, .err = err, .chain = chain, .next = 1};
    const cJSON *base;
    enum hd_status status;

    if (!cJSON_IsObject(text->root))
        return wrong(&r, 0, "", "an object", NULL);
    base = cJSON_GetObjectItemCaseSensitive(text->root, "extends");
    if (base && !cJSON_IsString(base))
        return wrong(&r, index_of(text->root, base), "extends",
                     "the name or the file of a configuration", NULL);
    if (base) {
        status = load_base(&r, base->valuestring);
        if (status != HD_OK && err && !*err->place)
            place_at(&r, index_of(text->root, base), "extends", err->place, sizeof err->place);
        if (status != HD_OK)
            return status;
    }
    return apply_object(&r, "", text->root);
}

static enum hd_status check_chain(const struct chain *chain, struct hd_error *err)
{
    const struct chain *c;

    for (c = chain->from; c; c = c->from)
        if (strcmp(c->path, chain->path) == 0)
            return hd_error_set(err, HD_BAD_INPUT, "config-extends", chain->path, NULL,
                                "\"%s\" extends itself", chain->path);
    if (chain->depth > EXTENDS_MAX)
        return hd_error_set(err, HD_BAD_INPUT, "config-extends", chain->path, NULL,
                            "\"extends\" leads through more than %d files", EXTENDS_MAX);
    return HD_OK;
}

static enum hd_status load_file(const char *path, const struct chain *from, struct hd_options *o,
                                struct hd_error *err)
{
    struct chain chain = {from, path, from ? from->depth + 1 : 0};
    struct json_text text;
    enum hd_status status = check_chain(&chain, err);

    if (status != HD_OK)
        return status;
    status = json_text_load(path, &text, err);
    if (status != HD_OK)
        return status;
    status = apply_text(&text, &chain, o, err);
    json_text_free(&text);
    return status;
}

static enum hd_status load_named(const char *name, const struct chain *from, struct hd_options *o,
                                 struct hd_error *err)
{
    char *path;
    enum hd_status status = config_find(name, &path, err);

    if (status != HD_OK)
        return status;
    status = load_file(path, from, o, err);
    free(path);
    return status;
}

enum hd_status hd_config_load(const char *name_or_file, struct hd_options *o, struct hd_error *err)
{
    return load_named(name_or_file, NULL, o, err);
}

enum hd_status hd_config_load_text(const char *name, const char *bytes, size_t len,
                                   struct hd_options *o, struct hd_error *err)
{
    const struct chain chain = {NULL, name, 0};
    struct json_text text;
    enum hd_status status = json_text_parse(name, bytes, len, &text, err);

    if (status != HD_OK)
        return status;
    status = apply_text(&text, &chain, o, err);
    json_text_free(&text);
    return status;
}
