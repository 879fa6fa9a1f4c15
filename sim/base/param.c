#include "sim/base/param.h"

#include "sim/base/nearest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct param *param_find(const struct param_table *t, const char *path)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->rows[i].path, path) == 0)
            return &t->rows[i];
    return NULL;
}

const char *param_nearest(const struct param_table *t, const char *path)
{
    struct nearest n = nearest_start(path);

    for (size_t i = 0; i < t->count; i++)
        nearest_offer(&n, t->rows[i].path);
    return n.best;
}

/* ---- reading values ----------------------------------------------------------------------- */

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 16;
}

enum number { NUMBER_OK, NUMBER_BAD, NUMBER_TOO_LARGE };

/* Decimal, or hexadecimal after 0x. strtoull would take signs and blanks, and follow the locale. */
static enum number parse_number(const char *text, uint64_t *out)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    uint64_t base = hex ? 16 : 10;
    bool too_large = false;
    uint64_t value = 0;

    if (hex)
        text += 2;
    if (!*text)
        return NUMBER_BAD;
    for (; *text; text++) {
        uint64_t digit = (uint64_t)digit_value(*text);

        if (digit >= base)
            return NUMBER_BAD;
        too_large |= __builtin_mul_overflow(value, base, &value);
        too_large |= __builtin_add_overflow(value, digit, &value);
    }
    *out = value;
    return too_large ? NUMBER_TOO_LARGE : NUMBER_OK;
}

static bool parse_bool(const char *text, bool *out)
{
    bool on = strcmp(text, "true") == 0 || strcmp(text, "on") == 0;
    bool off = strcmp(text, "false") == 0 || strcmp(text, "off") == 0;

    if (on || off)
        *out = on;
    return on || off;
}

static bool parse_choice(const struct param_choice *choices, const char *text, uint32_t *out)
{
    for (uint32_t i = 0; choices[i].name; i++) {
        if (strcmp(choices[i].name, text) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

/* A text is copied into JSON and messages as it is, so that it must be printable. */
static bool text_is_plain(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

/* ---- messages ------------------------------------------------------------------------------ */

static const char *unit_gap(const struct param *row)
{
    return *row->unit ? " " : "";
}

static enum hd_status wrong_type(const struct param *row, const char *wanted, const char *value,
                                 const char *place, struct hd_error *err)
{
    return hd_error_set(err, HD_BAD_INPUT, "config-wrong-type", place, row->doc,
                        "%s must be %s, not \"%s\"", row->path, wanted, value);
}

static enum hd_status out_of_range(const struct param *row, const char *value, const char *place,
                                   struct hd_error *err)
{
    return hd_error_set(err, HD_BAD_INPUT, "config-out-of-range", place, row->doc,
                        "%s is %s; it must be from %" PRIu64 " to %" PRIu64 "%s%s", row->path,
                        value, row->min, row->max, unit_gap(row), row->unit);
}

static enum hd_status unknown_choice(const struct param *row, const char *value, const char *place,
                                     struct hd_error *err)
{
    struct nearest n = nearest_start(value);
    struct text names = {0}, hint = {0};
    enum hd_status status;

    for (const struct param_choice *c = row->choices; c->name; c++) {
        nearest_offer(&n, c->name);
        text_add(&names, "%s%s", names.len ? ", " : "", c->name);
    }
    if (n.best)
        text_add(&hint, "did you mean \"%s\"?", n.best);
    else
        text_add(&hint, "%s", row->doc);
    status = hd_error_set(err, HD_BAD_INPUT, "config-unknown-choice", place, text_str(&hint),
                          "%s is \"%s\"; it must be one of: %s", row->path, value, text_str(&names));
    text_free(&names);
    text_free(&hint);
    return status;
}

static enum hd_status unknown_path(const struct param_table *t, const char *path, const char *place,
                                   struct hd_error *err)
{
    const char *best = param_nearest(t, path);
    struct text hint = {0};
    enum hd_status status;

    if (best)
        text_add(&hint, "did you mean \"%s\"?", best);
    status = hd_error_set(err, HD_BAD_INPUT, "config-unknown-key", place, text_str(&hint),
                          "there is no parameter \"%s\"", path);
    text_free(&hint);
    return status;
}

/* ---- fields -------------------------------------------------------------------------------- */

static void *field_of(const struct param *row, void *object)
{
    return (char *)object + row->offset;
}

static enum hd_status set_number(const struct param *row, void *field, const char *value,
                                 const char *place, struct hd_error *err)
{
    uint64_t n;

    switch (parse_number(value, &n)) {
    case NUMBER_BAD:
        return wrong_type(row, "a whole number", value, place, err);
    case NUMBER_TOO_LARGE:
        return out_of_range(row, value, place, err);
    case NUMBER_OK:
        break;
    }
    if (n < row->min || n > row->max)
        return out_of_range(row, value, place, err);
    if (row->kind == PARAM_KIND_U32)
        *(uint32_t *)field = (uint32_t)n;
    else
        *(uint64_t *)field = n;
    return HD_OK;
}

static enum hd_status set_text(const struct param *row, char *field, const char *value,
                               const char *place, struct hd_error *err)
{
    size_t len = strlen(value);

    if (len >= PARAM_TEXT_MAX || !text_is_plain(value))
        return hd_error_set(err, HD_BAD_INPUT, "config-bad-text", place, row->doc,
                            "%s must be printable text of at most %d bytes", row->path,
                            PARAM_TEXT_MAX - 1);
    memset(field, 0, PARAM_TEXT_MAX);
    memcpy(field, value, len);
    return HD_OK;
}

static enum hd_status set_row(const struct param *row, void *object, const char *value,
                              const char *place, struct hd_error *err)
{
    void *field = field_of(row, object);

    switch (row->kind) {
    case PARAM_KIND_U32:
    case PARAM_KIND_U64:
        return set_number(row, field, value, place, err);
    case PARAM_KIND_BOOL:
        if (!parse_bool(value, field))
            return wrong_type(row, "true or false", value, place, err);
        return HD_OK;
    case PARAM_KIND_CHOICE:
        if (!parse_choice(row->choices, value, field))
            return unknown_choice(row, value, place, err);
        return HD_OK;
    case PARAM_KIND_TEXT:
        return set_text(row, field, value, place, err);
    }
    return HD_BROKEN(err, "parameter %s is of no kind", row->path);
}

enum hd_status param_set(const struct param_table *t, void *object, const char *path,
                         const char *value, const char *place, struct hd_error *err)
{
    const struct param *row = param_find(t, path);

    if (!row)
        return unknown_path(t, path, place, err);
    return set_row(row, object, value, place, err);
}

void param_defaults(const struct param_table *t, void *object)
{
    for (size_t i = 0; i < t->count; i++)
        set_row(&t->rows[i], object, t->rows[i].def, NULL, NULL);
}

static bool in_range(const struct param *row, const void *field, uint64_t *value)
{
    uint64_t choices = 0;

    switch (row->kind) {
    case PARAM_KIND_U32:
        *value = *(const uint32_t *)field;
        return *value >= row->min && *value <= row->max;
    case PARAM_KIND_U64:
        *value = *(const uint64_t *)field;
        return *value >= row->min && *value <= row->max;
    case PARAM_KIND_CHOICE:
        while (row->choices[choices].name)
            choices++;
        *value = *(const uint32_t *)field;
        return *value < choices;
    case PARAM_KIND_BOOL:
    case PARAM_KIND_TEXT:
        break;
    }
    return true;
}

enum hd_status param_check(const struct param_table *t, const void *object, struct hd_error *err)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct param *row = &t->rows[i];
        char text[24];
        uint64_t value;

        if (in_range(row, (const char *)object + row->offset, &value))
            continue;
        snprintf(text, sizeof text, "%" PRIu64, value);
        return row->kind == PARAM_KIND_CHOICE ? unknown_choice(row, text, NULL, err)
                                              : out_of_range(row, text, NULL, err);
    }
    return HD_OK;
}

static void add_quoted(struct text *out, const char *value)
{
    text_add(out, "\"");
    for (; *value; value++)
        text_add(out, *value == '"' || *value == '\\' ? "\\%c" : "%c", *value);
    text_add(out, "\"");
}

void param_get_json(const struct param *row, const void *object, struct text *out)
{
    const void *field = (const char *)object + row->offset;

    switch (row->kind) {
    case PARAM_KIND_U32:
        text_add(out, "%" PRIu32, *(const uint32_t *)field);
        break;
    case PARAM_KIND_U64:
        text_add(out, "%" PRIu64, *(const uint64_t *)field);
        break;
    case PARAM_KIND_BOOL:
        text_add(out, *(const bool *)field ? "true" : "false");
        break;
    case PARAM_KIND_CHOICE:
        add_quoted(out, row->choices[*(const uint32_t *)field].name);
        break;
    case PARAM_KIND_TEXT:
        add_quoted(out, field);
        break;
    }
}
