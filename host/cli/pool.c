#include "host/cli/pool.h"

#include "host/cli/cli.h"

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
    size_t job;
    FILE *file;
};

struct pool {
    const struct pool_work *work;
    struct slot *slots;
    size_t jobs, running, next;
    sigset_t watched, before;
    bool stopped;
};

FILE *pool_unnamed_file(void)
{
    const char *folder = getenv("TMPDIR");
    struct text path = {0};
    FILE *file = NULL;
    int fd = -1;

    text_add(&path, "%s/heddle-XXXXXX", folder && *folder ? folder : "/tmp");
    if (!path.failed)
        fd = mkstemp(path.at);
    if (fd >= 0) {
        unlink(path.at);
        file = fdopen(fd, "w+b");
    }
    if (fd >= 0 && !file)
        close(fd);
    text_free(&path);
    return file;
}

/* ---- the process of a job ------------------------------------------------------------------------------- */

/*
 * Ctrl-C reaches all processes of the terminal; the one that made the pool alone acts on it. If that is killed outright, its jobs must not
 * run on.
 */
static void become_job(const struct pool *pool, const struct slot *slot, pid_t parent)
{
    int status;

    cli_stop_flag(pool->work->max_time);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(POOL_NOT_STARTED);
    sigprocmask(SIG_SETMASK, &pool->before, NULL);
    status = pool->work->run(pool->work->user, slot->job, slot->file);
    _exit(status); /* what the pool's process has in its buffers is that one's */
}

static enum hd_status start(struct pool *pool, struct slot *slot, size_t job, struct hd_error *err)
{
    const pid_t parent = getpid();

    if (!slot->file)
        slot->file = pool_unnamed_file();
    if (!slot->file || ftruncate(fileno(slot->file), 0) != 0)
        return hd_error_set(err, HD_BAD_INPUT, "output", NULL, "is there room in TMPDIR?",
                            "cannot make a temporary file: %s", strerror(errno));
    rewind(slot->file);
    slot->job = job;
    fflush(NULL);
    slot->process = fork();
    if (slot->process == 0)
        become_job(pool, slot, parent);
    if (slot->process < 0) {
        slot->process = 0;
        return hd_error_set(err, HD_BAD_INPUT, "process", NULL, "try a smaller -j",
                            "cannot start a process: %s", strerror(errno));
    }
    pool->running++;
    return HD_OK;
}

/* ---- the end of a process -------------------------------------------------------------------------------- */

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
        status = pool->work->keep(pool->work->user, slot->job, wait_status, slot->file, err);
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

/* ---- all jobs ------------------------------------------------------------------------------------------------ */

/* Waits for a signal, and a little at most. The signals are blocked, so that none is missed between two waits. */
static void wait_for_signal(struct pool *pool, long ms)
{
    const struct timespec limit = {0, ms * 1000000};
    const int got = sigtimedwait(&pool->watched, NULL, &limit);

    if (got > 0 && got != SIGCHLD)
        pool->stopped = true;
}

static bool is_wanted(const struct pool_work *work, size_t i)
{
    return !work->wanted || work->wanted(work->user, i);
}

static enum hd_status start_more(struct pool *pool, struct hd_error *err)
{
    enum hd_status status = HD_OK;

    while (status == HD_OK && pool->running < pool->jobs) {
        while (pool->next < pool->work->count && !is_wanted(pool->work, pool->next))
            pool->next++;
        if (pool->next == pool->work->count)
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
        if (pool->work->show)
            pool->work->show(pool->work->user, pool->running);
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

static size_t number_of_jobs(const struct pool_work *work)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t jobs = work->jobs;
    size_t left = 0;

    for (size_t i = 0; i < work->count; i++)
        left += is_wanted(work, i);
    if (!jobs)
        jobs = processors > 0 ? (uint64_t)processors : 1;
    if (jobs > JOBS_MAX)
        jobs = JOBS_MAX;
    return jobs < left ? (size_t)jobs : left;
}

static void close_slots(struct pool *pool)
{
    for (size_t i = 0; i < pool->jobs; i++)
        if (pool->slots[i].file)
            fclose(pool->slots[i].file);
    free(pool->slots);
}

enum hd_status pool_run(const struct pool_work *work, bool *stopped, struct hd_error *err)
{
    struct pool pool = {.work = work, .jobs = number_of_jobs(work)};
    enum hd_status status;

    *stopped = false;
    if (pool.jobs == 0)
        return HD_OK;
    pool.slots = calloc(pool.jobs, sizeof *pool.slots);
    if (!pool.slots)
        return hd_no_memory(err, "the processes");
    sigemptyset(&pool.watched);
    sigaddset(&pool.watched, SIGCHLD);
    sigaddset(&pool.watched, SIGINT);
    sigaddset(&pool.watched, SIGTERM);
    sigprocmask(SIG_BLOCK, &pool.watched, &pool.before);
    status = run_all(&pool, err);
    if (!pool.stopped) /* a second Ctrl-C must not keep results from being written */
        sigprocmask(SIG_SETMASK, &pool.before, NULL);
    close_slots(&pool);
    *stopped = pool.stopped;
    return status;
}
