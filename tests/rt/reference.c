#include "tests/rt/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_V = 512, MAX_ARGS = 8, MAX_STREAMS = 600, NAME = 16 };

struct arg {
    char array[NAME];
    bool read_only, active;
};

struct vertex {
    char name[2 * NAME];
    struct arg args[MAX_ARGS];
    int nargs, nparents, stream; /* stream 0: a host access */
    int parents[MAX_V];
    bool finished, inherited;
    bool child[MAX_V];
};

struct stream {
    bool exists, busy;
    unsigned used; /* when last */
};

struct host_array {
    char name[NAME];
    bool by_kernel; /* its last operation was a kernel's */
};

struct scheduler_by_rules {
    const struct reference_rules *rules;
    struct text *edges, *schedule;
    struct vertex v[MAX_V];
    struct stream s[MAX_STREAMS];
    struct host_array arrays[64];
    int n, nstreams, narrays;
    unsigned clock;
};

/* ---- the dependency sets ------------------------------------------------------------------------- */

static void add_name(struct text *names, const char *name)
{
    char copy[256];

    snprintf(copy, sizeof copy, "+%s+", text_str(names));
    if (names->len == 0)
        text_add(names, "%s", name);
    else {
        char sought[NAME + 2];

        snprintf(sought, sizeof sought, "+%s+", name);
        if (!strstr(copy, sought))
            text_add(names, "+%s", name);
    }
}

/* The arrays through which new_v depends on v; each argument of v stays or is dropped. */
static void meet(const struct reference_rules *rules, struct vertex *v, const struct vertex *new_v,
                 struct text *names)
{
    for (int i = 0; i < v->nargs; i++) {
        struct arg *a = &v->args[i];

        for (int j = 0; a->active && j < new_v->nargs; j++) {
            const struct arg *b = &new_v->args[j];

            if (strcmp(a->array, b->array) != 0 ||
                (rules->with_const && a->read_only && b->read_only))
                continue;
            add_name(names, a->array);
            a->active = rules->with_const && b->read_only;
            break;
        }
    }
}

static bool leads_to_one_of(const struct scheduler_by_rules *r, int from, const struct text *deps)
{
    for (int c = from + 1; c < r->n; c++) {
        if (r->v[from].child[c] && (deps[c].len || leads_to_one_of(r, c, deps)))
            return true;
    }
    return false;
}

static void append(struct scheduler_by_rules *r, const struct vertex *new_v)
{
    struct text *deps = calloc(MAX_V, sizeof *deps);
    struct vertex *v = &r->v[r->n];

    *v = *new_v;
    for (int i = 0; i < r->n; i++) {
        if (!r->v[i].finished)
            meet(r->rules, &r->v[i], v, &deps[i]);
    }
    for (int i = 0; i < r->n; i++) {
        if (!deps[i].len || (r->rules->with_const && leads_to_one_of(r, i, deps)))
            continue;
        v->parents[v->nparents++] = i;
        text_add(r->edges, "%s%s->%s[%s]", r->edges->len ? " " : "", r->v[i].name, v->name,
                 text_str(&deps[i]));
    }
    for (int i = 0; i < v->nparents; i++)
        r->v[v->parents[i]].child[r->n] = true;
    for (int i = 0; i < MAX_V; i++)
        text_free(&deps[i]);
    free(deps);
    r->n++;
}

/* ---- streams ------------------------------------------------------------------------------------- */

static int stream_of_parent(struct scheduler_by_rules *r, const struct vertex *v)
{
    for (int i = 0; i < v->nparents; i++) {
        struct vertex *p = &r->v[v->parents[i]];

        if (!r->rules->disjoint)
            return p->stream;
        if (!p->inherited) {
            p->inherited = true;
            return p->stream;
        }
    }
    return 0;
}

static int free_stream(const struct scheduler_by_rules *r)
{
    for (int s = 1; r->rules->reuse && s <= r->nstreams; s++) {
        if (r->s[s].exists && !r->s[s].busy)
            return s;
    }
    return 0;
}

static int new_stream(struct scheduler_by_rules *r)
{
    unsigned there = 0;
    int oldest = 0;

    for (int s = 1; s <= r->nstreams; s++) {
        there += r->s[s].exists;
        if (r->s[s].exists && (!oldest || r->s[s].used < r->s[oldest].used))
            oldest = s;
    }
    if (there >= r->rules->max_streams)
        return oldest;
    r->s[++r->nstreams].exists = true;
    return r->nstreams;
}

static void assign(struct scheduler_by_rules *r, struct vertex *v)
{
    v->stream = stream_of_parent(r, v);
    if (!v->stream)
        v->stream = free_stream(r);
    if (!v->stream)
        v->stream = new_stream(r);
    r->s[v->stream].busy = true;
    r->s[v->stream].used = ++r->clock;
}

static void finish(struct scheduler_by_rules *r, int i)
{
    struct vertex *v = &r->v[i];

    if (v->finished)
        return;
    v->finished = true;
    for (int p = 0; p < v->nparents; p++)
        finish(r, v->parents[p]);
}

static bool has_work(const struct scheduler_by_rules *r, int stream)
{
    for (int i = 0; i < r->n; i++) {
        if (r->v[i].stream && !r->v[i].finished && (stream == 0 || r->v[i].stream == stream))
            return true;
    }
    return false;
}

/* The host has waited for a stream, or for all (0). */
static void synced(struct scheduler_by_rules *r, int stream)
{
    for (int i = 0; i < r->n; i++) {
        if (r->v[i].stream == stream || stream == 0)
            finish(r, i);
    }
    for (int s = 1; s <= r->nstreams; s++) {
        r->s[s].busy = has_work(r, s);
        r->s[s].exists = r->s[s].exists && (r->rules->reuse || r->s[s].busy);
    }
}

/* ---- statements ---------------------------------------------------------------------------------- */

static struct host_array *array_named(struct scheduler_by_rules *r, const char *name)
{
    for (int i = 0; i < r->narrays; i++) {
        if (strcmp(r->arrays[i].name, name) == 0)
            return &r->arrays[i];
    }
    snprintf(r->arrays[r->narrays].name, NAME, "%s", name);
    return &r->arrays[r->narrays++];
}

static bool given(const struct vertex *v, const char *array)
{
    for (int i = 0; i < v->nargs; i++) {
        if (strcmp(v->args[i].array, array) == 0)
            return true;
    }
    return false;
}

static void add_arg(const struct scheduler_by_rules *r, struct vertex *v, const char *array,
                    bool read_only)
{
    struct arg *a = &v->args[v->nargs];

    if (!r->rules->with_const && given(v, array))
        return;
    snprintf(a->array, NAME, "%s", array);
    a->read_only = read_only;
    a->active = true;
    v->nargs++;
}

static void launch(struct scheduler_by_rules *r, struct vertex *v, char **save)
{
    int waits = 0;

    for (char *w = strtok_r(NULL, " ", save); w; w = strtok_r(NULL, " ", save)) {
        char *mode = strchr(w, '=');

        if (!mode)
            continue;
        *mode = '\0';
        add_arg(r, v, w, mode[1] == 'r');
        array_named(r, w)->by_kernel = true;
    }
    append(r, v);
    v = &r->v[r->n - 1];
    assign(r, v);
    text_add(r->schedule, " S%d", v->stream);
    for (int i = 0; i < v->nparents; i++) {
        const struct vertex *p = &r->v[v->parents[i]];

        if (p->stream != v->stream)
            text_add(r->schedule, "%s%s", waits++ ? "," : " wait ", p->name);
    }
}

static void access_array(struct scheduler_by_rules *r, struct vertex *v, const char *name,
                         bool read_only)
{
    struct host_array *a = array_named(r, name);
    int syncs = 0;

    if (!a->by_kernel && !has_work(r, 0))
        return;
    a->by_kernel = false;
    add_arg(r, v, name, read_only);
    append(r, v);
    v = &r->v[r->n - 1];
    for (int i = 0; i < v->nparents; i++) {
        const struct vertex *p = &r->v[v->parents[i]];

        if (p->finished)
            continue;
        text_add(r->schedule, "%sS%d", syncs++ ? "," : ": sync ", p->stream);
        synced(r, p->stream);
    }
    v->finished = true;
}

static void statement(struct scheduler_by_rules *r, char *text)
{
    struct vertex v = {.nparents = 0};
    char *save = NULL, *word = strtok_r(text, " ", &save), *array;

    if (!word)
        return;
    if (strcmp(word, "sync") == 0) {
        synced(r, 0);
        return;
    }
    if (strcmp(word, "read") != 0 && strcmp(word, "write") != 0) {
        snprintf(v.name, sizeof v.name, "%s", word);
        text_add(r->schedule, "%s%s", r->schedule->len ? "; " : "", v.name);
        launch(r, &v, &save);
        return;
    }
    array = strtok_r(NULL, " ", &save);
    snprintf(v.name, sizeof v.name, "%s %s", word, array);
    text_add(r->schedule, "%s%s", r->schedule->len ? "; " : "", v.name);
    access_array(r, &v, array, *word == 'r');
}

void reference_run(const struct reference_rules *rules, const char *program, struct text *edges,
                   struct text *schedule)
{
    struct scheduler_by_rules *r = calloc(1, sizeof *r);
    char *copy = malloc(strlen(program) + 1), *save = NULL;

    r->rules = rules;
    r->edges = edges;
    r->schedule = schedule;
    strcpy(copy, program);
    for (char *s = strtok_r(copy, ";", &save); s; s = strtok_r(NULL, ";", &save))
        statement(r, s);
    free(copy);
    free(r);
}
