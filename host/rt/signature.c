/*
 * Signatures: "x: inout f32[], n: i32". The type words, then the parser, then the check against the
 * kernel's own .param list.
 */
#include "host/rt/runtime.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- types --------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum isa_type type;
    bool plain; /* of arrays and parameters in signatures */
} type_words[] = {
    {"i8", T_I8, true},   {"u8", T_U8, true},   {"i16", T_I16, true},  {"u16", T_U16, true},
    {"i32", T_I32, true}, {"u32", T_U32, true}, {"f32", T_F32, true},  {"i64", T_I64, true},
    {"u64", T_U64, true}, {"f64", T_F64, true}, {"b32", T_B32, false}, {"b64", T_B64, false},
};

enum { NUM_TYPE_WORDS = sizeof type_words / sizeof type_words[0] };

const char *rt_type_name(enum isa_type type)
{
    for (unsigned i = 0; i < NUM_TYPE_WORDS; i++) {
        if (type_words[i].type == type)
            return type_words[i].name;
    }
    return "?";
}

bool rt_type_ok(enum isa_type type)
{
    for (unsigned i = 0; i < NUM_TYPE_WORDS; i++) {
        if (type_words[i].type == type)
            return type_words[i].plain;
    }
    return false;
}

void rt_type_describe(enum isa_type type, bool is_array, char *out, size_t size)
{
    snprintf(out, size, "%s%s", rt_type_name(type), is_array ? "[]" : "");
}

/* ---- the parser ---------------------------------------------------------------------------------- */

enum direction { IN, OUT, INOUT };

static const struct {
    const char *word;
    enum direction direction;
} annotations[] = {
    {"in", IN}, {"const", IN}, {"input", IN}, {"out", OUT}, {"output", OUT}, {"inout", INOUT},
};

struct parser {
    const hd_kernel *kernel;
    const char *what; /* it is, for messages */
    const char *at;
    unsigned position; /* of the parameter, from 1 */
    struct hd_error *err;
};

struct word {
    const char *at;
    int len;
};

static void skip_space(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static struct word next_word(struct parser *p)
{
    struct word w;

    skip_space(p);
    w.at = p->at;
    while (isalnum((unsigned char)*p->at) || *p->at == '_')
        p->at++;
    w.len = (int)(p->at - w.at);
    return w;
}

static bool word_is(struct word w, const char *text)
{
    return (size_t)w.len == strlen(text) && memcmp(w.at, text, (size_t)w.len) == 0;
}

static bool next_is(struct parser *p, char c)
{
    skip_space(p);
    if (*p->at != c)
        return false;
    p->at++;
    return true;
}

/* What stands at `at` up to the next comma, for messages. */
static enum hd_status syntax_error(const struct parser *p, const char *at, const char *expected)
{
    int len = (int)strcspn(at, ",");

    if (len > 40)
        len = 40;
    return hd_error_set(p->err, HD_BAD_INPUT, "signature-syntax", NULL,
                        "a parameter is written \"name: [in | out | inout] type\", with [] after "
                        "the type of an array",
                        "signature of %s %s, parameter %u: expected %s, given \"%.*s\"", p->what,
                        p->kernel->kernel->name, p->position, expected, len, at);
}

static enum hd_status parse_type(struct parser *p, struct word w, struct rt_param *out)
{
    unsigned i = 0;

    while (i < NUM_TYPE_WORDS && !(type_words[i].plain && word_is(w, type_words[i].name)))
        i++;
    if (i == NUM_TYPE_WORDS)
        return syntax_error(p, w.at, "a type from i8 to f64");
    out->type = type_words[i].type;
    out->is_array = next_is(p, '[');
    if (out->is_array && !next_is(p, ']'))
        return syntax_error(p, w.at, "[] after the type of an array");
    return HD_OK;
}

static enum hd_status parse_param(struct parser *p, struct rt_param *out)
{
    struct word name = next_word(p), w;
    enum direction direction = INOUT;
    bool annotated = false;
    enum hd_status status;

    if (name.len == 0 || name.len >= ISA_NAME_MAX)
        return syntax_error(p, name.at, "a name of at most 63 letters");
    if (!next_is(p, ':'))
        return syntax_error(p, name.at, "a colon after the name");
    w = next_word(p);
    for (size_t i = 0; i < sizeof annotations / sizeof annotations[0] && !annotated; i++) {
        annotated = word_is(w, annotations[i].word);
        if (annotated)
            direction = annotations[i].direction;
    }
    if (annotated)
        w = next_word(p);
    status = parse_type(p, w, out);
    if (status != HD_OK)
        return status;
    if (!out->is_array && annotated && direction != IN)
        return syntax_error(p, name.at, "an array, since a value cannot be written");
    memcpy(out->name, name.at, (size_t)name.len);
    out->name[name.len] = '\0';
    out->read_only = !out->is_array || direction == IN;
    return HD_OK;
}

static enum hd_status parse_list(hd_kernel *k, struct parser *p)
{
    skip_space(p);
    if (!*p->at)
        return HD_OK;
    do {
        enum hd_status status;

        if (k->nparams == ISA_MAX_PARAMS)
            return syntax_error(p, p->at, "at most 32 parameters");
        p->position = k->nparams + 1;
        status = parse_param(p, &k->params[k->nparams]);
        if (status != HD_OK)
            return status;
        k->nparams++;
    } while (next_is(p, ','));
    skip_space(p);
    return *p->at ? syntax_error(p, p->at, "a comma or the end") : HD_OK;
}

/* ---- against the kernel's .param list ---------------------------------------------------------------- */

/* A kernel may declare mere bits of 32 or 64. */
static bool same_type(enum isa_type declared, enum isa_type given)
{
    if (declared == T_B32 || declared == T_B64)
        return isa_type_bytes(declared) == isa_type_bytes(given);
    return declared == given;
}

static enum hd_status check_param(const hd_kernel *k, unsigned i, struct hd_error *err)
{
    const struct isa_param *declared = &k->kernel->params[i];
    const struct rt_param *given = &k->params[i];
    char expected[16], was[16];

    if (declared->is_array == given->is_array && same_type(declared->type, given->type))
        return HD_OK;
    rt_type_describe(declared->type, declared->is_array, expected, sizeof expected);
    rt_type_describe(given->type, given->is_array, was, sizeof was);
    return hd_error_set(err, HD_BAD_INPUT, "signature-type", NULL,
                        "the signature follows the kernel's .param lines",
                        "signature of kernel %s, parameter %u (%s): expected %s, given %s",
                        k->kernel->name, i + 1, declared->name, expected, was);
}

enum hd_status signature_read(hd_kernel *k, const char *what, const char *signature,
                              struct hd_error *err)
{
    struct parser p = {.kernel = k, .what = what, .at = signature, .position = 1, .err = err};

    return parse_list(k, &p);
}

enum hd_status signature_parse(hd_kernel *k, const char *signature, struct hd_error *err)
{
    enum hd_status status = signature_read(k, "kernel", signature, err);

    if (status != HD_OK)
        return status;
    if (k->nparams != k->kernel->nparams)
        return hd_error_set(err, HD_BAD_INPUT, "signature-count", NULL,
                            "the signature follows the kernel's .param lines",
                            "signature of kernel %s: expected %u parameters, given %u",
                            k->kernel->name, k->kernel->nparams, k->nparams);
    for (unsigned i = 0; i < k->nparams && status == HD_OK; i++)
        status = check_param(k, i, err);
    return status;
}
