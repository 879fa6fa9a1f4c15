/* From the instructions of a profile to its lines of source. */
#include "host/results/profile.h"

#include <ctype.h>
#include <string.h>

/* ---- texts ----------------------------------------------------------------------------------- */

static const char *keep_text(struct profile *p, const char *text)
{
    char *copy = strdup(text);

    if (copy && vec_push(&p->texts, copy))
        return copy;
    free(copy);
    p->failed = true;
    return "";
}

static size_t count_lines(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n + 1;
}

/* Cuts the text into its lines, in place. */
static void split(struct profile_file *f)
{
    char *at = f->text;

    while (at) {
        char *end = strchr(at, '\n'), *last = end ? end : at + strlen(at);

        f->lines[f->nlines++] = at;
        at = end ? end + 1 : NULL;
        *last = '\0';
        while (last > f->lines[f->nlines - 1] && isspace((unsigned char)last[-1]))
            *--last = '\0';
    }
}

static struct profile_file *file_new(struct profile *p, const struct isa_program *program,
                                     uint32_t index)
{
    struct profile_file *f = calloc(1, sizeof *f);
    const char *source = program->sources ? program->sources[index] : NULL;

    if (!f || !vec_push(&p->files, f)) {
        free(f);
        p->failed = true;
        return NULL;
    }
    f->program = program;
    f->name = strdup(program->files[index]);
    if (source) {
        f->text = strdup(source);
        f->lines = calloc(count_lines(source), sizeof *f->lines);
    }
    p->failed |= !f->name || (source && (!f->text || !f->lines));
    if (f->text && f->lines)
        split(f);
    return f;
}

/* NULL when memory is short. */
static struct profile_file *file_of(struct profile *p, const struct isa_program *program,
                                    uint32_t index)
{
    for (size_t i = 0; i < p->files.len; i++)
        if (p->files.at[i]->program == program &&
            strcmp(p->files.at[i]->name, program->files[index]) == 0)
            return p->files.at[i];
    return file_new(p, program, index);
}

static const char *line_text(const struct profile_file *f, uint32_t line)
{
    const char *text;

    if (line == 0 || line > f->nlines)
        return NULL;
    text = f->lines[line - 1];
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* An instruction by where its text stands. */
struct place {
    uint32_t file, line, pc;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static struct place *places_of(const struct profile_kernel *k, uint32_t n)
{
    struct place *places = malloc(n * sizeof *places);

    for (uint32_t i = 0; places && i < n; i++) {
        uint32_t pc = k->kernel->first + i;
        const struct isa_line *l = &k->program->lines[k->program->insns[pc].line];

        places[i] = (struct place){l->file, l->line, pc};
    }
    if (places)
        qsort(places, n, sizeof *places, compare_places);
    return places;
}

/* The first n of the places are of one line. */
static void add_line(struct profile *p, struct profile_kernel *k, const struct place *places,
                     uint32_t n)
{
    const struct profile_file *f = file_of(p, k->program, places->file);
    struct profile_line line = {.source = f, .line = places->line, .instructions = n};

    if (p->failed)
        return;
    line.file = f->name;
    line.text = line_text(f, places->line);
    for (uint32_t i = 0; i < n; i++)
        profile_add(&line.counts, &k->insns[places[i].pc - k->kernel->first].counts);
    if (!vec_push(&k->lines, line))
        p->failed = true;
}

static uint32_t same_line(const struct place *places, uint32_t n)
{
    uint32_t same = 1;

    while (same < n && places[same].file == places->file && places[same].line == places->line)
        same++;
    return same;
}

static void add_hint(struct profile *p, struct profile_kernel *k, struct profile_line *line,
                     const struct place *places)
{
    uint32_t *pcs = malloc(line->instructions * sizeof *pcs);
    struct text hint = {0};

    if (!pcs) {
        p->failed = true;
        return;
    }
    for (uint32_t i = 0; i < line->instructions; i++)
        pcs[i] = places[i].pc;
    profile_hint(p, k, line, pcs, &hint);
    if (hint.len)
        line->hint = keep_text(p, text_str(&hint));
    p->failed |= hint.failed;
    text_free(&hint);
    free(pcs);
}

static void close_kernel(struct profile *p, struct profile_kernel *k)
{
    const struct isa_line *head = &k->program->lines[k->kernel->line];
    const struct profile_file *f = file_of(p, k->program, head->file);
    uint32_t n = k->kernel->end - k->kernel->first, at = 0;
    struct place *places = places_of(k, n);

    p->failed |= !places;
    for (; !p->failed && at < n; at += same_line(places + at, n - at))
        add_line(p, k, places + at, same_line(places + at, n - at));
    for (size_t i = 0; !p->failed && i < k->lines.len; i++)
        profile_add(&k->counts, &k->lines.at[i].counts);
    k->cycles = profile_cycles(&k->counts);
    at = 0;
    for (size_t i = 0; !p->failed && i < k->lines.len; at += k->lines.at[i++].instructions)
        add_hint(p, k, &k->lines.at[i], places + at);
    free(places);
    if (p->failed)
        return;
    k->name = keep_text(p, k->kernel->name);
    k->limit = keep_text(p, k->limit ? k->limit : "");
    k->file = f->name;
    k->line = head->line;
    k->occupancy = (double)k->waves_per_cu / p->config.wave_slots;
    profile_rates_of(&p->config, k);
}

enum hd_status profile_close(struct profile *p, struct hd_error *err)
{
    for (size_t i = 0; i < p->kernels.len && !p->failed; i++)
        close_kernel(p, p->kernels.at[i]);
    for (size_t i = 0; i < p->kernels.len; i++) {
        p->kernels.at[i]->program = NULL;
        p->kernels.at[i]->kernel = NULL;
    }
    for (size_t i = 0; i < p->files.len; i++)
        p->files.at[i]->program = NULL;
    profile_set_rows(p);
    if (p->failed)
        return hd_no_memory(err, "the profile");
    return HD_OK;
}
