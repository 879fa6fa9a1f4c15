/* Where lines come from: files, and the texts that macros, .rept and calls expand to. */
#include "isa/asm_internal.h"

#include "sim/base/checked.h"
#include "sim/base/regular.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *asm_keep(struct assembler *as, size_t len)
{
    if (!as->chunks.len || as->chunk_cap - as->chunk_used < len) {
        size_t cap = len > 65536 ? len : 65536;
        char *chunk = malloc(cap);

        if (!chunk || !vec_push(&as->chunks, chunk)) {
            free(chunk);
            asm_no_memory(as);
            return NULL;
        }
        as->chunk_cap = cap;
        as->chunk_used = 0;
    }
    as->chunk_used += len;
    return as->chunks.at[as->chunks.len - 1] + as->chunk_used - len;
}

bool asm_keep_text(struct assembler *as, struct slice *s, const char *fmt, ...)
{
    va_list args, again;
    int n;

    va_start(args, fmt);
    va_copy(again, args);
    n = vsnprintf(NULL, 0, fmt, args);
    s->len = n < 0 ? 0 : (size_t)n;
    s->at = asm_keep(as, s->len + 1);
    if (s->at)
        vsnprintf((char *)s->at, s->len + 1, fmt, again);
    va_end(again);
    va_end(args);
    return s->at != NULL;
}

struct frame *asm_push_frame(struct assembler *as, enum frame_kind kind, uint32_t col)
{
    struct frame *f;

    if (as->depth == ASM_MAX_DEPTH) {
        asm_fail(as, col, "asm-depth", "does a macro or an include use itself?",
                 "includes, macros and calls are nested more than %d deep", ASM_MAX_DEPTH);
        return NULL;
    }
    f = calloc(1, sizeof *f);
    if (!f) {
        asm_no_memory(as);
        return NULL;
    }
    f->kind = (uint8_t)kind;
    f->serial = as->serial++;
    as->frames[as->depth++] = f;
    return f;
}

static void pop_frame(struct assembler *as)
{
    free(as->frames[--as->depth]);
}

void asm_free_frames(struct assembler *as)
{
    while (as->depth)
        pop_frame(as);
}

/* Adds a file's name and text (taken over) to the program. */
static bool add_file(struct assembler *as, const char *name, char *text, size_t len, uint32_t col)
{
    struct isa_program *p = as->program;
    size_t cap = as->nfiles_cap, cap2 = as->nfiles_cap;
    char *copy = malloc(strlen(name) + 1);
    struct frame *f;

    if (!copy || !vec_reserve_bytes((void **)&p->files, &cap, p->nfiles + 1, sizeof *p->files) ||
        !vec_reserve_bytes((void **)&p->sources, &cap2, p->nfiles + 1, sizeof *p->sources)) {
        free(copy);
        free(text);
        return asm_no_memory(as);
    }
    memcpy(copy, name, strlen(name) + 1);
    as->nfiles_cap = cap;
    p->files[p->nfiles] = copy;
    p->sources[p->nfiles++] = text;
    f = asm_push_frame(as, FRAME_FILE, col);
    if (!f)
        return false;
    f->at = text;
    f->end = text + len;
    f->file = (uint32_t)(p->nfiles - 1);
    f->line = 1;
    return true;
}

static char *read_stream(FILE *in, size_t *len)
{
    size_t cap = 65536, n;
    char *text = malloc(cap + 1);

    *len = 0;
    while (text && (n = fread(text + *len, 1, cap - *len, in)) > 0) {
        *len += n;
        if (*len > ASM_MAX_FILE) {
            free(text);
            return NULL;
        }
        if (*len == cap) {
            char *more = realloc(text, cap * 2 + 1);

            if (!more) {
                free(text);
                return NULL;
            }
            text = more;
            cap *= 2;
        }
    }
    if (text)
        text[*len] = '\0';
    return text;
}

/* False with the reason if the file cannot be opened; *text is NULL if it cannot be read or is too large. */
static bool read_file(const char *path, char **text, size_t *len, const char **why)
{
    FILE *in = regular_open(path, why);

    *text = NULL;
    if (!in)
        return false;
    *text = read_stream(in, len);
    if (ferror(in)) {
        free(*text);
        *text = NULL;
    }
    fclose(in);
    return true;
}

static bool push_text_read(struct assembler *as, const char *path, char *text, size_t len,
                           uint32_t col)
{
    if (!text)
        return asm_fail(as, col, "asm-file", "a source file is text of at most 64 MiB",
                        "cannot read `%s`", path);
    return add_file(as, path, text, len, col);
}

bool asm_push_file(struct assembler *as, const char *path, uint32_t col)
{
    const char *why;
    char *text;
    size_t len;

    if (!read_file(path, &text, &len, &why)) {
        hd_error_set(as->err, HD_BAD_INPUT, "asm-file", path, "check the path",
                     "cannot open `%s`: %s", path, why);
        return false;
    }
    if (!text) {
        hd_error_set(as->err, HD_BAD_INPUT, "asm-file", path,
                     "a source file is text of at most 64 MiB", "cannot read `%s`", path);
        return false;
    }
    return push_text_read(as, path, text, len, col);
}

bool asm_push_text(struct assembler *as, const char *name, const char *text, size_t len)
{
    char *copy = malloc(len + 1);

    if (!copy)
        return asm_no_memory(as);
    memcpy(copy, text, len);
    copy[len] = '\0';
    return add_file(as, name, copy, len, 1);
}

static bool is_open(const struct assembler *as, const char *path)
{
    for (size_t i = 0; i < as->depth; i++)
        if (as->frames[i]->kind == FRAME_FILE &&
            strcmp(as->program->files[as->frames[i]->file], path) == 0)
            return true;
    return false;
}

static bool included_once(const struct assembler *as, const char *path)
{
    return symtab_find(&as->once, (struct slice){path, strlen(path)}) != NULL;
}

/* Tries dir/name; *found says whether there is such a file. */
static bool try_include(struct assembler *as, struct slice dir, struct slice name, uint32_t col,
                        bool *found)
{
    struct slice path;
    const char *why;
    char *text;
    size_t len;

    if (!asm_keep_text(as, &path, "%.*s%.*s", (int)dir.len, dir.at, (int)name.len, name.at))
        return false;
    *found = read_file(path.at, &text, &len, &why);
    if (!*found)
        return true;
    if (included_once(as, path.at)) {
        free(text);
        return true;
    }
    if (is_open(as, path.at)) {
        free(text);
        return asm_fail(as, col, "asm-include-cycle", "put what both need into a third file",
                        "`%s` includes itself", path.at);
    }
    return push_text_read(as, path.at, text, len, col);
}

/* Kernels come from others: what they include stays below the folders that were named for it. */
static bool stays_below(struct slice name)
{
    size_t begin = 0;

    for (size_t i = 0; i <= name.len; i++) {
        if (i < name.len && name.at[i] != '/')
            continue;
        if (i == 0 || slice_is((struct slice){name.at + begin, i - begin}, ".."))
            return false;
        begin = i + 1;
    }
    return true;
}

bool asm_include(struct assembler *as, struct slice name, uint32_t col)
{
    const char *here = as->program->files[as->file], *slash = strrchr(here, '/');
    struct slice dir = {here, slash ? (size_t)(slash - here) + 1 : 0};
    bool found;

    if (!name.len || memchr(name.at, '\0', name.len))
        return asm_fail(as, col, "asm-include", "write .include \"file\"", "no file is named");
    if (!stays_below(name))
        return asm_fail(as, col, "asm-include", "move the file, or add its folder to the library",
                        "`%.*s` is outside the folder of this file", SLICE(name));
    if (!try_include(as, dir, name, col, &found))
        return false;
    for (size_t i = 0; i < as->ndirs && !found; i++)
        if (!asm_keep_text(as, &dir, "%s/", as->dirs[i]) || !try_include(as, dir, name, col, &found))
            return false;
    if (found)
        return true;
    return asm_fail(as, col, "asm-include",
                    "includes are looked for beside the including file, then in the library",
                    "no file `%.*s`", SLICE(name));
}

bool asm_read_line(struct assembler *as, bool *more)
{
    while (as->depth) {
        struct frame *f = as->frames[as->depth - 1];
        const char *nl;

        *more = true;
        if (f->at == f->end) {
            if (f->kind == FRAME_REPT && !asm_rept_next(as, f, more))
                return false;
            if (f->kind != FRAME_REPT || !*more)
                pop_frame(as);
            continue;
        }
        nl = memchr(f->at, '\n', (size_t)(f->end - f->at));
        as->line_text = (struct slice){f->at, (size_t)((nl ? nl : f->end) - f->at)};
        as->file = f->file;
        as->line = f->line++;
        f->at = nl ? nl + 1 : f->end;
        if (++as->lines_read > ASM_MAX_LINES)
            return asm_fail(as, 1, "asm-too-long", "split the program",
                            "more than %d lines after expansion", ASM_MAX_LINES);
        return true;
    }
    *more = false;
    return true;
}

/* The first word of a raw line. */
static struct slice first_word(struct slice line)
{
    size_t i = 0, begin;

    while (i < line.len && (line.at[i] == ' ' || line.at[i] == '\t'))
        i++;
    begin = i;
    while (i < line.len && !strchr(" \t\r;", line.at[i]))
        i++;
    return (struct slice){line.at + begin, i - begin};
}

bool asm_capture(struct assembler *as, const char *open, const char *close, uint32_t col,
                 struct slice *body, uint32_t *body_line)
{
    struct frame *f = as->frames[as->depth - 1];
    uint32_t from = as->line;
    unsigned nested = 0;

    body->at = f->at;
    *body_line = f->line;
    while (f->at != f->end) {
        const char *begin = f->at, *nl = memchr(begin, '\n', (size_t)(f->end - begin));
        struct slice line = {begin, (size_t)((nl ? nl : f->end) - begin)};
        struct slice word = first_word(line);

        f->at = nl ? nl + 1 : f->end;
        f->line++;
        if (slice_is(word, close) && nested-- == 0) {
            body->len = (size_t)(begin - body->at);
            return true;
        }
        if (slice_is(word, open))
            nested++;
    }
    return asm_fail_at(as, as->file, from, col, "asm-unterminated", "", "`%s` without `%s`", open,
                       close);
}

bool asm_line_index(struct assembler *as, uint32_t *index)
{
    struct isa_program *p = as->program;

    if (p->nlines) {
        const struct isa_line *last = &p->lines[p->nlines - 1];

        if (last->file == as->file && last->line == as->line) {
            *index = (uint32_t)(p->nlines - 1);
            return true;
        }
    }
    if (!vec_reserve_bytes((void **)&p->lines, &as->nlines_cap, p->nlines + 1, sizeof *p->lines))
        return asm_no_memory(as);
    p->lines[p->nlines] = (struct isa_line){as->file, as->line};
    *index = (uint32_t)p->nlines++;
    return true;
}
