/* The points of a sweep as jobs of a pool. */
#include "host/cli/pool.h"
#include "host/cli/sweep.h"

#include <sys/wait.h>

struct running {
    const struct sweep_plan *plan;
    struct sweep_store *store;
    struct sweep_progress progress;
};

static bool has_no_row(void *user, size_t point)
{
    const struct running *r = user;

    return r->store->rows[point].len == 0;
}

static int run_point(void *user, size_t point, FILE *to)
{
    const struct running *r = user;

    return sweep_point_run(r->plan, point, to);
}

/* A result that says "stopped" holds how far it came, which is chance; a row says only that it took too long. */
static bool left_row(int wait_status)
{
    return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) != SWEEP_NO_ROW &&
           WEXITSTATUS(wait_status) != HD_STOPPED;
}

static enum hd_status keep(void *user, size_t point, int wait_status, FILE *from,
                           struct hd_error *err)
{
    struct running *r = user;
    struct text row = {0};
    enum hd_status status;

    if (left_row(wait_status))
        return sweep_store_add_file(r->store, point, from, err);
    if (sweep_point_lost(r->plan, point, wait_status, &row))
        status = sweep_store_add(r->store, point, row.at, row.len, err);
    else
        status = hd_no_memory(err, "a row");
    text_free(&row);
    return status;
}

static void show(void *user, size_t running)
{
    struct running *r = user;

    sweep_progress_show(&r->progress, r->store, running);
}

enum hd_status sweep_pool_run(const struct sweep_plan *plan, struct sweep_store *store,
                              bool *stopped, struct hd_error *err)
{
    struct running r = {.plan = plan, .store = store};
    const struct pool_work work = {
        .user = &r,
        .count = plan->count,
        .jobs = plan->args->jobs,
        .max_time = plan->args->max_time,
        .wanted = has_no_row,
        .run = run_point,
        .keep = keep,
        .show = show,
    };
    enum hd_status status;

    sweep_progress_start(&r.progress, store);
    status = pool_run(&work, stopped, err);
    sweep_progress_end(&r.progress);
    return status;
}
