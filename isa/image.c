/* Whole programs in bytes. Every count and index of a read image is checked: the bytes may come from anywhere. */
#include "isa/encode.h"

#include "isa/format.h"
#include "isa/print.h"
#include "isa/verify.h"

#include <stdlib.h>
#include <string.h>

static const char magic[8] = "heddle\n";

/* Tells images made with another opcode table: FNV-1a over the mnemonics. */
static uint32_t table_hash(void)
{
    uint32_t h = 2166136261u;

    for (int op = 0; op < ISA_NUM_OPS; op++)
        for (const char *s = isa_ops[op].name; *s; s++)
            h = (h ^ (unsigned char)*s) * 16777619u;
    return h;
}

/* ---- writing ---------------------------------------------------------------------------------- */

static void put_u32(struct text *out, uint32_t value)
{
    const char bytes[4] = {(char)(value & 0xff), (char)(value >> 8 & 0xff),
                           (char)(value >> 16 & 0xff), (char)(value >> 24)};

    text_add_bytes(out, bytes, sizeof bytes);
}

static void put_string(struct text *out, const char *s)
{
    put_u32(out, (uint32_t)strlen(s));
    text_add_bytes(out, s, strlen(s));
}

static void put_kernel(struct text *out, const struct isa_kernel *k)
{
    put_string(out, k->name);
    put_u32(out, k->first);
    put_u32(out, k->end);
    put_u32(out, k->vregs);
    put_u32(out, k->sregs);
    put_u32(out, k->lds_bytes);
    put_u32(out, k->forms);
    put_string(out, k->tm_detector);
    put_string(out, k->tm_serialise);
    put_u32(out, k->line);
    put_u32(out, k->nparams);
    for (uint32_t i = 0; i < k->nparams; i++) {
        put_string(out, k->params[i].name);
        put_u32(out, k->params[i].type);
        put_u32(out, k->params[i].is_array);
        put_u32(out, k->params[i].sreg);
    }
}

void isa_image_write(const struct isa_program *program, struct text *out)
{
    text_add_bytes(out, magic, sizeof magic);
    put_u32(out, ISA_VERSION);
    put_u32(out, table_hash());
    put_u32(out, (uint32_t)program->nfiles);
    for (size_t i = 0; i < program->nfiles; i++)
        put_string(out, program->files[i]);
    put_u32(out, (uint32_t)program->nlines);
    for (size_t i = 0; i < program->nlines; i++) {
        put_u32(out, program->lines[i].file);
        put_u32(out, program->lines[i].line);
    }
    put_u32(out, (uint32_t)program->nstrings);
    for (size_t i = 0; i < program->nstrings; i++)
        put_string(out, program->strings[i]);
    put_u32(out, (uint32_t)program->nkernels);
    for (size_t i = 0; i < program->nkernels; i++)
        put_kernel(out, &program->kernels[i]);
    put_u32(out, (uint32_t)program->ninsns);
    for (size_t i = 0; i < program->ninsns; i++)
        put_u32(out, program->insns[i].line);
    put_u32(out, (uint32_t)program->code_bytes);
    text_add_bytes(out, (const char *)program->code, program->code_bytes);
}

/* ---- reading ---------------------------------------------------------------------------------- */

struct reader {
    const unsigned char *at, *end;
    const char *wrong; /* the first thing that is, or NULL */
    uint32_t *line_of;
    uint32_t nline_of;
};

static void wrong(struct reader *r, const char *what)
{
    if (!r->wrong)
        r->wrong = what;
    r->at = r->end;
}

static uint32_t get_u32(struct reader *r)
{
    const unsigned char *s = r->at;

    if (r->end - s < 4) {
        wrong(r, "it is cut off");
        return 0;
    }
    r->at += 4;
    return (uint32_t)s[0] | (uint32_t)s[1] << 8 | (uint32_t)s[2] << 16 | (uint32_t)s[3] << 24;
}

static uint32_t get_below(struct reader *r, uint32_t limit, const char *what)
{
    uint32_t value = get_u32(r);

    if (value < limit)
        return value;
    wrong(r, what);
    return 0;
}

/* A count of things that take at least `bytes` each: no more than the image can hold. */
static uint32_t get_count(struct reader *r, size_t bytes)
{
    uint32_t count = get_u32(r);

    if (count <= (size_t)(r->end - r->at) / bytes)
        return count;
    wrong(r, "a count is larger than the file");
    return 0;
}

static void *get_room(struct reader *r, size_t count, size_t bytes)
{
    void *room = calloc(count ? count : 1, bytes);

    if (!room)
        wrong(r, "memory ran out");
    return room;
}

static char *get_string(struct reader *r)
{
    uint32_t len = get_count(r, 1);
    char *s = get_room(r, (size_t)len + 1, 1);

    if (!s || r->wrong)
        return s;
    memcpy(s, r->at, len);
    r->at += len;
    if (memchr(s, '\0', len))
        wrong(r, "a text holds a NUL byte");
    return s;
}

static void get_name(struct reader *r, char out[ISA_NAME_MAX])
{
    char *s = get_string(r);

    if (s && strlen(s) < ISA_NAME_MAX && *s)
        memcpy(out, s, strlen(s) + 1);
    else
        wrong(r, "a name is empty or too long");
    free(s);
}

/* A name that may be empty; it goes into text again, so that it must be one that the assembler takes. */
static void get_choice(struct reader *r, char out[ISA_NAME_MAX])
{
    char *s = get_string(r);
    size_t len = s ? strlen(s) : 0;

    if (s && len < ISA_NAME_MAX && isa_is_choice(s, len))
        memcpy(out, s, len + 1);
    else
        wrong(r, "a name of a choice is damaged");
    free(s);
}

static void get_param(struct reader *r, struct isa_param *p)
{
    unsigned words;

    get_name(r, p->name);
    p->type = (uint8_t)get_below(r, T_MASK, "a type is unknown");
    p->is_array = get_below(r, 2, "a flag is not 0 or 1");
    p->sreg = (uint8_t)get_below(r, ISA_MAX_SREGS, "a parameter's register is out of range");
    words = p->is_array ? 2 : isa_type_words((enum isa_type)p->type);
    if (words == 0 || p->sreg % words || p->sreg + words > ISA_MAX_SREGS)
        wrong(r, "a parameter's register is out of range");
}

static void get_kernel(struct reader *r, struct isa_program *p, struct isa_kernel *k)
{
    get_name(r, k->name);
    k->first = get_u32(r);
    k->end = get_u32(r);
    k->vregs = get_below(r, ISA_MAX_VREGS + 1, "a count of registers is out of range");
    k->sregs = get_below(r, ISA_MAX_SREGS + 1, "a count of registers is out of range");
    k->lds_bytes = get_u32(r);
    k->forms = get_below(r, ISA_FORM_ALL + 1, "a form is unknown");
    get_choice(r, k->tm_detector);
    get_choice(r, k->tm_serialise);
    k->line = get_below(r, p->nlines ? (uint32_t)p->nlines : 1, "a line is out of range");
    k->nparams = get_below(r, ISA_MAX_PARAMS + 1, "a kernel has too many parameters");
    for (uint32_t i = 0; i < k->nparams; i++)
        get_param(r, &k->params[i]);
}

static void get_lines(struct reader *r, struct isa_program *p)
{
    p->nlines = get_count(r, 8);
    p->lines = get_room(r, p->nlines, sizeof *p->lines);
    for (size_t i = 0; i < p->nlines && !r->wrong; i++) {
        p->lines[i].file = get_below(r, (uint32_t)p->nfiles, "a file's index is out of range");
        p->lines[i].line = get_u32(r);
    }
}

static char **get_strings(struct reader *r, size_t *count)
{
    size_t n = get_count(r, 4);
    char **strings = get_room(r, n, sizeof *strings);

    *count = 0;
    for (size_t i = 0; i < n && strings && !r->wrong; i++)
        strings[(*count)++] = get_string(r);
    return strings;
}

static void get_code(struct reader *r, struct isa_program *p)
{
    r->nline_of = get_count(r, 4);
    r->line_of = get_room(r, r->nline_of, sizeof *r->line_of);
    for (uint32_t i = 0; i < r->nline_of && !r->wrong; i++)
        r->line_of[i] = get_u32(r);
    p->code_bytes = get_count(r, 1);
    p->code = get_room(r, p->code_bytes, 1);
    if (r->wrong)
        return;
    memcpy(p->code, r->at, p->code_bytes);
    r->at += p->code_bytes;
    if (r->at != r->end)
        wrong(r, "bytes follow its end");
}

static void read_all(struct reader *r, struct isa_program *p)
{
    if (!isa_image_is(r->at, (size_t)(r->end - r->at))) {
        wrong(r, "it is no heddle program");
        return;
    }
    r->at += sizeof magic;
    if (get_u32(r) != ISA_VERSION || get_u32(r) != table_hash())
        wrong(r, "it was made by another version");
    p->files = get_strings(r, &p->nfiles);
    p->sources = get_room(r, p->nfiles, sizeof *p->sources);
    get_lines(r, p);
    p->strings = get_strings(r, &p->nstrings);
    p->nkernels = get_count(r, 32);
    p->kernels = get_room(r, p->nkernels, sizeof *p->kernels);
    for (size_t i = 0; i < p->nkernels && !r->wrong; i++)
        get_kernel(r, p, &p->kernels[i]);
    get_code(r, p);
}

/* Formats go to a printing function later: each must have the one conversion that the assembler asks for. */
static bool formats_are_good(const struct isa_program *p)
{
    for (size_t i = 0; i < p->ninsns; i++)
        if (p->insns[i].format == ISA_PRINT && isa_print_wrong(p->strings[p->insns[i].imm]))
            return false;
    return true;
}

static enum hd_status damaged(struct hd_error *err, const char *name, const char *what)
{
    return hd_error_set(err, HD_BAD_INPUT, "image-damaged", name, "assemble the source again",
                        "cannot read the program: %s", what);
}

bool isa_image_is(const void *bytes, size_t len)
{
    return len >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

static enum hd_status finish(const char *name, struct reader *r, struct isa_program *p,
                             struct hd_error *err)
{
    enum hd_status status;

    if (r->wrong)
        return damaged(err, name, r->wrong);
    status = isa_load(p, r->line_of, r->nline_of, err);
    if (status != HD_OK)
        return status;
    if (!formats_are_good(p))
        return damaged(err, name, "a print has a wrong format");
    return isa_verify_refuse(p, err);
}

enum hd_status isa_image_read(const char *name, const void *bytes, size_t len,
                              struct isa_program **out, struct hd_error *err)
{
    struct reader r = {.at = bytes, .end = (const unsigned char *)bytes + len};
    struct isa_program *p = calloc(1, sizeof *p);
    enum hd_status status;

    *out = NULL;
    if (!p)
        return damaged(err, name, "memory ran out");
    read_all(&r, p);
    status = finish(name, &r, p, err);
    free(r.line_of);
    if (status == HD_OK)
        *out = p;
    else
        isa_program_free(p);
    return status;
}
