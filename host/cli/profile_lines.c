/* The lines of a kernel in a profile: the hottest ones, or the whole source. */
#include "host/cli/profile.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    WAITS_WIDTH = 26,
    GAP_MAX = 8, /* lines without instructions that a listing shows between two with */
};

static const double WORTH_A_NAME = 0.05;  /* of a line's cycles, for a stall reason to be named */
static const double WORTH_A_ROW = 0.0005; /* of a kernel's cycles, which are shown as 0.1 % */

/* ---- cells ------------------------------------------------------------------------------------------- */

/* "4.5" or, where fewer would do, "4.5/1". */
static void each_text(uint64_t sum, uint64_t least, uint64_t n, char *out, size_t size)
{
    if (!n)
        snprintf(out, size, "-");
    else if (least < sum)
        snprintf(out, size, "%.3g/%.3g", (double)sum / (double)n, (double)least / (double)n);
    else
        snprintf(out, size, "%.3g", (double)sum / (double)n);
}

/* The two reasons that most of the line's waiting is for. */
static void waits_text(const struct profile_counts *c, char *out, size_t size)
{
    uint64_t all = profile_cycles(c), below = UINT64_MAX;
    unsigned last = 0;
    size_t n = 0;

    snprintf(out, size, "-");
    for (unsigned k = 0; k < 2; k++) {
        unsigned best = 0;

        for (unsigned i = 1; i < SIM_NUM_STALLS; i++)
            if ((c->stalls[i] < below || (c->stalls[i] == below && i > last)) &&
                (!best || c->stalls[i] > c->stalls[best]))
                best = i;
        if (!best || profile_share(c->stalls[best], all) < WORTH_A_NAME)
            return;
        n += (size_t)snprintf(out + n, size - n, "%s%s %.0f", k ? ", " : "",
                              result_stall_name(best), 100 * profile_share(c->stalls[best], all));
        below = c->stalls[best];
        last = best;
    }
}

/* The line's number; with its file if that is not the kernel's. */
static void place_text(const struct profile_kernel *k, const struct profile_line *l, char *out,
                       size_t size)
{
    if (strcmp(l->file, k->file) == 0)
        snprintf(out, size, "%" PRIu32, l->line);
    else
        snprintf(out, size, "%s:%" PRIu32, cli_base_name(l->file), l->line);
}

/* Source as it can be shown: control characters are blanks, tabs end at every fourth column, and what is past the width is cut. */
static void source_text(const char *text, size_t width, char *out, size_t size)
{
    size_t n = 0, columns = 0;

    for (; *text && n + 5 < size && columns < width; text++) {
        unsigned char c = (unsigned char)*text;
        bool blank = c < 32 || c == 127;

        do {
            out[n++] = blank ? ' ' : (char)c;
            columns += (c & 0xC0) != 0x80;
        } while (c == '\t' && columns % 4 && n + 5 < size);
    }
    while ((*text & 0xC0) == 0x80 && n + 1 < size) /* the rest of a character */
        out[n++] = *text++;
    out[n] = '\0';
}

/* ---- rows -------------------------------------------------------------------------------------------- */

struct listing {
    const struct profile_kernel *k;
    uint32_t width;  /* lanes of a wavefront */
    int place_width; /* columns */
};

static size_t left_columns(const struct listing *l)
{
    return (size_t)l->place_width + 2 + 7 + 2 + 6 + 2 + 5 + 2 + WAITS_WIDTH + 2 + 9 + 2 + 6 + 2;
}

static void print_head(const struct listing *l)
{
    printf("%*s  %7s  %6s  %5s  %-*s  %9s  %6s  %s\n", l->place_width, "line", "cycles", "issues",
           "lanes", WAITS_WIDTH, "waits for (%)", "sectors", "passes", "source");
}

static const char *heat(double part)
{
    return profile_colour(part >= 0.2 ? "\033[1;31m" : part >= 0.05 ? "\033[33m" : "");
}

static void print_source_text(const struct listing *l, const char *text, bool cut)
{
    size_t left = left_columns(l);
    char source[512];

    source_text(text ? text : "", cut && left < PROFILE_WIDTH ? PROFILE_WIDTH - left : 200, source,
                sizeof source);
    printf("%s\n", source);
}

static void print_row(const struct listing *l, const struct profile_line *line, const char *text,
                      bool cut)
{
    const struct profile_counts *c = &line->counts;
    double part = profile_share(profile_cycles(c), l->k->cycles);
    char place[64], issues[16], waits[64], sectors[32], passes[32];

    place_text(l->k, line, place, sizeof place);
    cli_format_count(c->issues, issues, sizeof issues);
    waits_text(c, waits, sizeof waits);
    each_text(c->sectors, c->least_sectors, c->requests, sectors, sizeof sectors);
    each_text(c->passes, c->least_passes, c->local_accesses, passes, sizeof passes);
    printf("%*s  %s%5.1f %%%s  %6s  ", l->place_width, place, heat(part), 100 * part,
           *heat(part) ? profile_colour("\033[0m") : "", issues);
    if (c->issues)
        printf("%3.0f %%", 100 * profile_share(c->lanes, c->issues * l->width));
    else
        printf("%5s", "-");
    printf("  %-*s  %9s  %6s  ", WAITS_WIDTH, waits, sectors, passes);
    print_source_text(l, text, cut);
    if (line->hint) {
        char lead[32];

        snprintf(lead, sizeof lead, "%*s^ ", l->place_width + 2, "");
        printf("%s", profile_colour("\033[36m"));
        profile_paragraph(lead, (unsigned)l->place_width + 4, line->hint);
        printf("%s", profile_colour("\033[0m"));
    }
}

static struct listing listing_of(const struct profile_kernel *k, uint32_t width)
{
    struct listing l = {k, width, 4};

    for (size_t i = 0; i < k->lines.len; i++) {
        char place[64];

        place_text(k, &k->lines.at[i], place, sizeof place);
        if ((int)strlen(place) > l.place_width && strlen(place) < 24)
            l.place_width = (int)strlen(place);
    }
    return l;
}

/* ---- the hottest lines -------------------------------------------------------------------------------- */

static int compare_heat(const void *a, const void *b)
{
    const struct profile_line *x = *(const struct profile_line *const *)a,
                              *y = *(const struct profile_line *const *)b;
    uint64_t cx = profile_cycles(&x->counts), cy = profile_cycles(&y->counts);

    if (cx != cy)
        return cx > cy ? -1 : 1;
    return x < y ? -1 : x > y;
}

void profile_print_hot(const struct profile_kernel *k, uint32_t width, uint64_t n)
{
    const struct profile_line **order = malloc((k->lines.len + 1) * sizeof *order);
    struct listing l = listing_of(k, width);
    uint64_t rest = 0;
    size_t left_out = 0;

    if (!order)
        return;
    for (size_t i = 0; i < k->lines.len; i++)
        order[i] = &k->lines.at[i];
    qsort(order, k->lines.len, sizeof *order, compare_heat);
    print_head(&l);
    for (size_t i = 0; i < k->lines.len; i++) {
        bool warm = profile_share(profile_cycles(&order[i]->counts), k->cycles) >= WORTH_A_ROW;

        if ((i < n && warm) || order[i]->wasteful) {
            print_row(&l, order[i], order[i]->text, true);
            continue;
        }
        rest += profile_cycles(&order[i]->counts);
        left_out++;
    }
    if (left_out)
        printf("%*s  %5.1f %%  in %zu other line%s\n", l.place_width, "",
               100 * profile_share(rest, k->cycles), left_out, left_out == 1 ? "" : "s");
    free(order);
}

/* ---- the whole source --------------------------------------------------------------------------------- */

/* Lines that have no instructions, up to the next that has. */
static void print_gap(const struct listing *l, const struct profile_file *f, uint32_t from,
                      uint32_t to)
{
    if (to > from + GAP_MAX) {
        printf("%*s  ...\n", l->place_width, "");
        return;
    }
    for (uint32_t line = from; line < to && line <= f->nlines; line++) {
        printf("%*" PRIu32 "%*s", l->place_width, line,
               (int)(left_columns(l) - (size_t)l->place_width), "");
        print_source_text(l, f->lines[line - 1], false);
    }
}

void profile_print_source(const struct profile_kernel *k, uint32_t width)
{
    struct listing l = listing_of(k, width);
    const struct profile_file *file = NULL;
    uint32_t next = 0;

    print_head(&l);
    for (size_t i = 0; i < k->lines.len; i++) {
        const struct profile_line *line = &k->lines.at[i];
        const struct profile_file *f = line->source;

        if (f != file && (file || strcmp(f->name, k->file) != 0))
            printf("  %s\n", f->name);
        if (f != file)
            next = strcmp(f->name, k->file) == 0 && k->line <= line->line ? k->line : line->line;
        print_gap(&l, f, next, line->line);
        print_row(&l, line, line->line <= f->nlines ? f->lines[line->line - 1] : line->text, false);
        file = f;
        next = line->line + 1;
    }
}
