/* What a sweep says: progress, the plan, and the table at its end. */
#include "host/cli/sweep.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- progress ----------------------------------------------------------------------------------------- */

void sweep_progress_start(struct sweep_progress *p, const struct sweep_store *store)
{
    p->shown = !store->plan->args->quiet && isatty(STDERR_FILENO);
    p->started = seconds_now();
    p->last = -1;
    p->skipped = store->have;
}

static void format_left(double seconds, char *out, size_t size)
{
    if (seconds < 90)
        snprintf(out, size, "%.0f s", seconds);
    else if (seconds < 5400)
        snprintf(out, size, "%.0f min", seconds / 60);
    else
        snprintf(out, size, "%.1f h", seconds / 3600);
}

static size_t failed_points(const struct sweep_store *store)
{
    size_t failed = store->have;

    for (size_t i = 0; i < store->outcomes.len; i++)
        if (strcmp(store->outcomes.at[i].name, "ok") == 0)
            failed -= store->outcomes.at[i].count;
    return failed;
}

void sweep_progress_show(struct sweep_progress *p, const struct sweep_store *store, size_t running)
{
    const double now = seconds_now(), passed = now - p->started;
    const size_t ran = store->have - p->skipped, left = store->plan->count - store->have;
    char left_text[32] = "?";

    if (!p->shown || (p->last >= 0 && now - p->last < 0.2))
        return;
    p->last = now;
    if (ran)
        format_left(passed / (double)ran * (double)left, left_text, sizeof left_text);
    fprintf(stderr, "\r\033[K%zu/%zu points, %zu running, %zu failed, %.2f/s, %s left", store->have,
            store->plan->count, running, failed_points(store),
            (double)ran / (passed > 0 ? passed : 1), left_text);
    fflush(stderr);
}

void sweep_progress_end(struct sweep_progress *p)
{
    if (p->shown) {
        fprintf(stderr, "\r\033[K");
        fflush(stderr);
    }
}

/* ---- the plan -------------------------------------------------------------------------------------------- */

/* "3 arg.n x 2 host.scheduler = 6 points"; keys of one axis are joined by "+". */
static void count_line(const struct sweep_plan *plan, FILE *to)
{
    for (size_t i = 0; i < plan->sweep->columns.len; i++) {
        const struct hd_sweep_column *c = &plan->sweep->columns.at[i];

        if (c->at == 0)
            fprintf(to, "%s%zu ", i ? " x " : "", hd_sweep_steps(&plan->sweep->axes.at[c->axis]));
        fprintf(to, "%s%s", c->at ? "+" : "", c->key);
    }
    fprintf(to, " = %zu points", plan->count);
}

void sweep_print_plan(const struct sweep_plan *plan, const struct sweep_store *store, FILE *to)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct text label = {0};

        sweep_plan_label(plan, i, &label);
        fprintf(to, "%zu %016" PRIx64 " %s%s\n", i, plan->id_of[i], text_str(&label),
                store->rows[i].len ? " (kept)" : "");
        text_free(&label);
    }
    count_line(plan, to);
    fprintf(to, store->kept ? ", %zu to run\n" : "\n", plan->count - store->have);
}

/* ---- the table --------------------------------------------------------------------------------------------- */

/* ok first, then check_failed, then the codes by name. */
static int rank(const char *name)
{
    return strcmp(name, "ok") == 0 ? 0 : strcmp(name, "check_failed") == 0 ? 1 : 2;
}

static int compare_outcomes(const void *a, const void *b)
{
    const struct sweep_outcome *x = a, *y = b;

    if (rank(x->name) != rank(y->name))
        return rank(x->name) - rank(y->name);
    return strcmp(x->name, y->name);
}

static void sort_outcomes(struct sweep_store *store)
{
    if (store->outcomes.len)
        qsort(store->outcomes.at, store->outcomes.len, sizeof *store->outcomes.at, compare_outcomes);
}

void sweep_print_outcomes(struct sweep_store *store, FILE *to)
{
    const size_t n = store->outcomes.len;
    struct cli_table t = {.columns = 3};

    count_line(store->plan, to);
    if (store->kept)
        fprintf(to, ", %zu kept", store->kept);
    fputc('\n', to);
    sort_outcomes(store);
    cli_cell(&t, "outcome");
    cli_cell(&t, "points");
    cli_cell(&t, "first");
    for (size_t i = 0; i < n; i++) {
        struct text label = {0};

        sweep_plan_label(store->plan, store->outcomes.at[i].first, &label);
        cli_cell(&t, "%s", store->outcomes.at[i].name);
        cli_cell(&t, "%zu", store->outcomes.at[i].count);
        cli_cell(&t, "%s", text_str(&label));
        text_free(&label);
    }
    if (store->have < store->plan->count) {
        cli_cell(&t, "not run");
        cli_cell(&t, "%zu", store->plan->count - store->have);
        cli_cell(&t, "%s", "");
    }
    cli_table_print(&t, to);
    cli_table_free(&t);
}

static const char *text_of(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    return cJSON_IsString(item) ? item->valuestring : "";
}

static void complain_of(struct sweep_store *store, size_t point)
{
    struct text label = {0};
    size_t len = 0;
    const char *row = sweep_store_row(store, point, &len);
    cJSON *json = row ? cJSON_ParseWithLength(row, len) : NULL;
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(json, "error");
    const char *place = text_of(error, "place"), *hint = text_of(error, "hint");

    sweep_plan_label(store->plan, point, &label);
    if (error)
        fprintf(stderr, "heddle: %s: %s%s%s\n", text_str(&label), place, *place ? ": " : "",
                text_of(error, "message"));
    if (*hint)
        fprintf(stderr, "  hint: %s\n", hint);
    cJSON_Delete(json);
    text_free(&label);
}

void sweep_complain(struct sweep_store *store)
{
    fflush(stdout);
    sort_outcomes(store);
    for (size_t i = 0; i < store->outcomes.len; i++)
        if (rank(store->outcomes.at[i].name) == 2)
            complain_of(store, store->outcomes.at[i].first);
}
