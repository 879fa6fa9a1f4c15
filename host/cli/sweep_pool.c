/*
 * Processes, one a point. A point that crashes, is killed or never ends takes only itself along. The process is forked and not
 * started anew, so that all points are of one build even if the command is built again meanwhile.
 */
#include "host/cli/sweep.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JOBS_MAX = 1024, WAIT_MS = 200 };

/* A place for one process. Its file is used again. */
struct slot {
    pid_t process; /* 0: free */
    size_t point;
    FILE *row;
};

struct pool {
    const struct sweep_plan *plan;
    struct sweep_store *store;
    struct slot *slots;
    size_t jobs, running, next;
    sigset_t watched, before;
    bool stopped;
    struct sweep_progress progress;
};

/* ---- the process of a point --------------------------------------------------------------------------- */

/*
 * Ctrl-C reaches all processes of the terminal; the sweep alone acts on it. If the sweep is killed outright, its points must not run
 * on.
 */
static void become_point(const struct pool *pool, const struct slot *slot, pid_t parent)
{
    int status;

    cli_stop_flag(pool->plan->args->max_time);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(SWEEP_NO_ROW);
    sigprocmask(SIG_SETMASK, &pool->before, NULL);
    status = sweep_point_run(pool->plan, slot->point, slot->row);
    _exit(status); /* what the sweep has in its buffers is the sweep's */
}

static enum hd_status start(struct pool *pool, struct slot *slot, size_t point, struct hd_error *err)
{
    const pid_t parent = getpid();

    if (!slot->row)
        slot->row = sweep_unnamed_file();
    if (!slot->row || ftruncate(fileno(slot->row), 0) != 0)
        return hd_error_set(err, HD_BAD_INPUT, "output", NULL, "is there room in TMPDIR?",
                            "cannot make a temporary file: %s", strerror(errno));
    rewind(slot->row);
    slot->point = point;
    fflush(NULL);
    slot->process = fork();
    if (slot->process == 0)
        become_point(pool, slot, parent);
    if (slot->process < 0) {
        slot->process = 0;
        return hd_error_set(err, HD_BAD_INPUT, "process", NULL, "try a smaller -j",
                            "cannot start a process: %s", strerror(errno));
    }
    pool->running++;
    return HD_OK;
}

/* ---- the end of a process -------------------------------------------------------------------------------- */

/* A result that says "stopped" holds how far it came, which is chance; a row says only that it took too long. */
static bool left_row(int wait_status)
{
    return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) != SWEEP_NO_ROW &&
           WEXITSTATUS(wait_status) != HD_STOPPED;
}

static enum hd_status keep(struct pool *pool, struct slot *slot, int wait_status,
                           struct hd_error *err)
{
    struct text row = {0};
    enum hd_status status;

    if (left_row(wait_status))
        return sweep_store_add_file(pool->store, slot->point, slot->row, err);
    if (sweep_point_lost(pool->plan, slot->point, wait_status, &row))
        status = sweep_store_add(pool->store, slot->point, row.at, row.len, err);
    else
        status = hd_no_memory(err, "a row");
    text_free(&row);
    return status;
}

static struct slot *slot_of(struct pool *pool, pid_t process)
{
    for (size_t i = 0; i < pool->jobs; i++)
        if (pool->slots[i].process == process)
            return &pool->slots[i];
    return NULL;
}

static enum hd_status reap(struct pool *pool, struct hd_error *err)
{
    enum hd_status status = HD_OK;
    struct slot *slot;
    int wait_status;
    pid_t process;

    while (status == HD_OK && pool->running > 0 &&
           (process = waitpid(-1, &wait_status, WNOHANG)) > 0) {
        slot = slot_of(pool, process);
        if (!slot)
            continue;
        status = keep(pool, slot, wait_status, err);
        slot->process = 0;
        pool->running--;
    }
    return status;
}

static void kill_all(struct pool *pool)
{
    for (size_t i = 0; i < pool->jobs; i++)
        if (pool->slots[i].process > 0)
            kill(pool->slots[i].process, SIGKILL);
    for (size_t i = 0; i < pool->jobs; i++)
        if (pool->slots[i].process > 0)
            waitpid(pool->slots[i].process, NULL, 0);
    pool->running = 0;
}

/* ---- all points --------------------------------------------------------------------------------------------- */

/* Waits for a signal, and a little at most. The signals are blocked, so that none is missed between two waits. */
static void wait_for_signal(struct pool *pool, long ms)
{
    const struct timespec limit = {0, ms * 1000000};
    const int got = sigtimedwait(&pool->watched, NULL, &limit);

    if (got > 0 && got != SIGCHLD)
        pool->stopped = true;
}

static enum hd_status start_more(struct pool *pool, struct hd_error *err)
{
    enum hd_status status = HD_OK;

    while (status == HD_OK && pool->running < pool->jobs) {
        while (pool->next < pool->plan->count && pool->store->rows[pool->next].len)
            pool->next++;
        if (pool->next == pool->plan->count)
            return HD_OK;
        status = start(pool, slot_of(pool, 0), pool->next, err);
        pool->next++;
    }
    return status;
}

static enum hd_status run_all(struct pool *pool, struct hd_error *err)
{
    enum hd_status status = start_more(pool, err);

    while (status == HD_OK && pool->running > 0) {
        sweep_progress_show(&pool->progress, pool->store, pool->running);
        wait_for_signal(pool, WAIT_MS);
        wait_for_signal(pool, 0); /* a stop that came with the end of a process counts first */
        if (pool->stopped)
            break;
        status = reap(pool, err);
        if (status == HD_OK)
            status = start_more(pool, err);
    }
    kill_all(pool);
    return status;
}

static size_t number_of_jobs(const struct sweep_plan *plan, const struct sweep_store *store)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t left = plan->count - store->have;
    uint64_t jobs = plan->args->jobs;

    if (!jobs)
        jobs = processors > 0 ? (uint64_t)processors : 1;
    if (jobs > JOBS_MAX)
        jobs = JOBS_MAX;
    return jobs < left ? (size_t)jobs : left;
}

static void close_slots(struct pool *pool)
{
    for (size_t i = 0; i < pool->jobs; i++)
        if (pool->slots[i].row)
            fclose(pool->slots[i].row);
    free(pool->slots);
}

enum hd_status sweep_pool_run(const struct sweep_plan *plan, struct sweep_store *store,
                              bool *stopped, struct hd_error *err)
{
    struct pool pool = {.plan = plan, .store = store, .jobs = number_of_jobs(plan, store)};
    enum hd_status status;

    *stopped = false;
    if (pool.jobs == 0)
        return HD_OK;
    pool.slots = calloc(pool.jobs, sizeof *pool.slots);
    if (!pool.slots)
        return hd_no_memory(err, "the processes of the sweep");
    sigemptyset(&pool.watched);
    sigaddset(&pool.watched, SIGCHLD);
    sigaddset(&pool.watched, SIGINT);
    sigaddset(&pool.watched, SIGTERM);
    sigprocmask(SIG_BLOCK, &pool.watched, &pool.before);
    sweep_progress_start(&pool.progress, store);
    status = run_all(&pool, err);
    sweep_progress_end(&pool.progress);
    if (!pool.stopped) /* a second Ctrl-C must not keep the rows from being written */
        sigprocmask(SIG_SETMASK, &pool.before, NULL);
    close_slots(&pool);
    *stopped = pool.stopped;
    return status;
}
