#include "tests/results/json_schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct checker {
    char path[512];
    char *why;
    size_t size;
};

static bool check(struct checker *c, const cJSON *schema, const cJSON *value);

static bool fails(struct checker *c, const char *keyword)
{
    snprintf(c->why, c->size, "%s: %s", *c->path ? c->path : "/", keyword);
    return false;
}

static bool is_type(const cJSON *value, const char *type)
{
    if (strcmp(type, "object") == 0)
        return cJSON_IsObject(value);
    if (strcmp(type, "array") == 0)
        return cJSON_IsArray(value);
    if (strcmp(type, "string") == 0)
        return cJSON_IsString(value);
    if (strcmp(type, "number") == 0)
        return cJSON_IsNumber(value);
    if (strcmp(type, "integer") == 0)
        return cJSON_IsNumber(value) && value->valuedouble == floor(value->valuedouble);
    if (strcmp(type, "boolean") == 0)
        return cJSON_IsBool(value);
    if (strcmp(type, "null") == 0)
        return cJSON_IsNull(value);
    return false;
}

static bool has_type(const cJSON *value, const cJSON *types)
{
    const cJSON *type;

    if (cJSON_IsString(types))
        return is_type(value, types->valuestring);
    cJSON_ArrayForEach(type, types)
    {
        if (is_type(value, type->valuestring))
            return true;
    }
    return false;
}

static bool in_enum(const cJSON *value, const cJSON *choices)
{
    const cJSON *choice;

    cJSON_ArrayForEach(choice, choices)
    {
        if (cJSON_Compare(choice, value, 1))
            return true;
    }
    return false;
}

/* Checks a part with its name behind the path. */
static bool check_part(struct checker *c, const char *name, const cJSON *schema, const cJSON *value)
{
    size_t len = strlen(c->path);
    bool ok;

    snprintf(c->path + len, sizeof c->path - len, "/%s", name);
    ok = check(c, schema, value);
    if (ok)
        c->path[len] = '\0';
    return ok;
}

static bool check_items(struct checker *c, const cJSON *schema, const cJSON *value)
{
    const cJSON *item;
    char name[16];
    int i = 0;

    cJSON_ArrayForEach(item, value)
    {
        snprintf(name, sizeof name, "%d", i++);
        if (!check_part(c, name, schema, item))
            return false;
    }
    return true;
}

static bool check_members(struct checker *c, const cJSON *schema, const cJSON *value)
{
    const cJSON *properties = cJSON_GetObjectItemCaseSensitive(schema, "properties");
    const cJSON *more = cJSON_GetObjectItemCaseSensitive(schema, "additionalProperties");
    const cJSON *member;

    cJSON_ArrayForEach(member, value)
    {
        const cJSON *part = cJSON_GetObjectItemCaseSensitive(properties, member->string);

        if (part && !check_part(c, member->string, part, member))
            return false;
        if (!part && cJSON_IsFalse(more)) {
            fails(c, member->string);
            return false;
        }
    }
    return true;
}

static bool check_required(struct checker *c, const cJSON *names, const cJSON *value)
{
    const cJSON *name;

    cJSON_ArrayForEach(name, names)
    {
        if (cJSON_IsObject(value) && !cJSON_HasObjectItem(value, name->valuestring))
            return fails(c, "required");
    }
    return true;
}

static bool check_any(struct checker *c, const cJSON *schemas, const cJSON *value)
{
    struct checker copy = *c;
    const cJSON *schema;

    cJSON_ArrayForEach(schema, schemas)
    {
        if (check(&copy, schema, value))
            return true;
        copy = *c;
    }
    return fails(c, "anyOf");
}

static bool check_keyword(struct checker *c, const cJSON *schema, const cJSON *k, const cJSON *value)
{
    static const char *const texts[] = {"description", "default", "title", "$schema", "$comment"};
    size_t i;

    for (i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(k->string, texts[i]) == 0)
            return true;
    if (strcmp(k->string, "type") == 0)
        return has_type(value, k) || fails(c, "type");
    if (strcmp(k->string, "enum") == 0)
        return in_enum(value, k) || fails(c, "enum");
    if (strcmp(k->string, "minimum") == 0)
        return !cJSON_IsNumber(value) || value->valuedouble >= k->valuedouble || fails(c, "minimum");
    if (strcmp(k->string, "maximum") == 0)
        return !cJSON_IsNumber(value) || value->valuedouble <= k->valuedouble || fails(c, "maximum");
    if (strcmp(k->string, "maxLength") == 0)
        return !cJSON_IsString(value) || (double)strlen(value->valuestring) <= k->valuedouble ||
               fails(c, "maxLength");
    if (strcmp(k->string, "required") == 0)
        return check_required(c, k, value);
    if (strcmp(k->string, "anyOf") == 0)
        return check_any(c, k, value);
    if (strcmp(k->string, "items") == 0)
        return !cJSON_IsArray(value) || check_items(c, k, value);
    if (strcmp(k->string, "properties") == 0)
        return !cJSON_IsObject(value) || check_members(c, schema, value);
    if (strcmp(k->string, "additionalProperties") == 0)
        return cJSON_HasObjectItem(schema, "properties") || fails(c, "properties");
    return fails(c, "unknown keyword");
}

static bool check(struct checker *c, const cJSON *schema, const cJSON *value)
{
    const cJSON *keyword;

    cJSON_ArrayForEach(keyword, schema)
    {
        if (!check_keyword(c, schema, keyword, value))
            return false;
    }
    return true;
}

bool json_schema_valid(const cJSON *schema, const cJSON *value, char *why, size_t size)
{
    struct checker c = {"", why, size};

    return check(&c, schema, value);
}
