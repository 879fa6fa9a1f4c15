/* The runs beside the one that is explained: other schedulers, and faster machines. */
#include "host/cli/explain.h"
#include "host/cli/points.h"
#include "host/cli/pool.h"

#include "host/results/ideal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SCHEDULERS_MAX = 3, JOBS_MAX = SCHEDULERS_MAX + 2 * EXPLAIN_IDEALS_MAX };

/* What a run says of its DAG: its nodes and edges, and the times of its elements if it was serial. */
struct graph {
    struct span_node *nodes;
    struct span_edge *edges;
    uint64_t *times;
    size_t nnodes, nedges, ntimes;
};

/* What the process of a run hands back, ahead of the graph. */
struct outcome {
    bool ran;
    uint64_t time_ps;
    size_t nnodes, nedges, ntimes;
    char error[sizeof((struct explain_run *)0)->error];
};

struct job {
    const char *changes[EXPLAIN_CHANGES_MAX];
    size_t nchanges;
    struct explain_run *ideal; /* NULL: a scheduler */
    bool wanted;               /* not known without a run */
    struct outcome outcome;
    struct graph graph; /* of a scheduler */
};

struct runs {
    struct explain *explain;
    const struct session *base;
    const struct cli_args *args;
    struct points schedulers;
    struct job jobs[JOBS_MAX];
    size_t njobs, done, wanted;
    enum hd_status worst;
};

/* ---- the jobs ------------------------------------------------------------------------------------------ */

static struct job *add_job(struct runs *r)
{
    struct job *j = &r->jobs[r->njobs++];

    j->wanted = true;
    j->outcome.time_ps = JSON_NO_TIME;
    return j;
}

/* Whether the run that is explained was under the same scheduler already. */
static bool is_base(const struct runs *r, const struct job *j)
{
    const struct session_changes changes = {j->changes, j->nchanges};
    struct hd_options options;
    char *name = NULL;
    struct hd_error ignored;
    bool same =
        session_options(r->args, &changes, &options, &name, &ignored) == HD_OK &&
        options.host.scheduler == r->base->options.host.scheduler &&
        (options.host.prefetch == r->base->options.host.prefetch || !options.gpu.um_page_faults);

    free(name);
    return same;
}

static void take_graph(struct graph *g, const struct session *s)
{
    const struct timeline *t = &s->result.timeline;

    *g = (struct graph){
        .nodes = t->nodes, .edges = t->edges, .nnodes = t->nnodes, .nedges = t->nedges};
    if (!element_times(t, &g->times, &g->ntimes))
        g->ntimes = 0;
}

/* Its own copies, so that all graphs are freed alike. */
static void copy_graph(struct graph *to, const struct session *s)
{
    take_graph(to, s);
    to->nodes = malloc((to->nnodes + 1) * sizeof *to->nodes);
    to->edges = malloc((to->nedges + 1) * sizeof *to->edges);
    if (!to->nodes || !to->edges)
        to->nnodes = to->nedges = to->ntimes = 0;
    if (to->nnodes)
        memcpy(to->nodes, s->result.timeline.nodes, to->nnodes * sizeof *to->nodes);
    if (to->nedges)
        memcpy(to->edges, s->result.timeline.edges, to->nedges * sizeof *to->edges);
}

static void add_scheduler(struct runs *r, const struct point *p)
{
    struct job *j = add_job(r);

    for (size_t i = 0; i < p->nchanges; i++)
        j->changes[j->nchanges++] = p->changes[i];
    if (!is_base(r, j))
        return;
    j->wanted = false;
    j->outcome.ran = true;
    j->outcome.time_ps = r->base->result.chosen.time_ps;
    copy_graph(&j->graph, r->base);
}

static void add_ideal(struct runs *r, struct explain_run *run, bool used)
{
    struct job *j = add_job(r);

    j->ideal = run;
    for (size_t i = 0; i < run->nchanges; i++)
        j->changes[j->nchanges++] = run->changes[i];
    if (used && run->nchanges)
        return;
    j->wanted = false;
    j->outcome.ran = true;
    j->outcome.time_ps = r->base->result.chosen.time_ps;
}

static enum hd_status plan(struct runs *r, struct hd_error *err)
{
    enum hd_status status =
        points_schedulers(&r->schedulers, r->base->options.gpu.um_page_faults, err);

    if (status != HD_OK)
        return status;
    for (size_t i = 0; i < r->schedulers.len; i++)
        add_scheduler(r, &r->schedulers.at[i]);
    for (size_t i = 0; i < r->explain->nideals; i++) {
        struct explain_ideal *ideal = &r->explain->ideals[i];

        add_ideal(r, &ideal->twice, ideal->used);
        add_ideal(r, &ideal->infinite, ideal->used);
    }
    for (size_t i = 0; i < r->njobs; i++)
        r->wanted += r->jobs[i].wanted;
    return HD_OK;
}

static bool is_wanted(void *user, size_t i)
{
    const struct runs *r = user;

    return r->jobs[i].wanted;
}

/* ---- in the process of a run ------------------------------------------------------------------------------ */

/* The arguments stay those of the run that is explained, also where their defaults come from the machine. */
static bool all_changes(const struct runs *r, const struct job *j, struct cli_list *out)
{
    bool ok = true;

    for (size_t i = 0; i < r->base->asked.len; i++)
        ok &= vec_push(out, r->base->asked.at[i]);
    for (size_t i = 0; i < j->nchanges; i++)
        ok &= vec_push(out, j->changes[i]);
    return ok;
}

static bool write_all(const void *at, size_t size, size_t n, FILE *to)
{
    return n == 0 || fwrite(at, size, n, to) == n;
}

static bool write_outcome(const struct outcome *o, const struct graph *g, FILE *to)
{
    return write_all(o, sizeof *o, 1, to) && write_all(g->nodes, sizeof *g->nodes, o->nnodes, to) &&
           write_all(g->edges, sizeof *g->edges, o->nedges, to) &&
           write_all(g->times, sizeof *g->times, o->ntimes, to) && fflush(to) == 0;
}

/* The time of a run with wrong values, where those of the one that is explained are right, says nothing. */
static void say_why(struct outcome *o, enum hd_status status, const struct session *s,
                    const struct hd_error *err)
{
    if (status == HD_CHECK_FAILED)
        snprintf(o->error, sizeof o->error, "checks of the program failed: %" PRIu64,
                 s->result.checks_failed);
    else
        snprintf(o->error, sizeof o->error, "%.*s", (int)sizeof o->error - 1,
                 err->status != HD_OK ? err->message : s->error.message);
}

static int run_job(void *user, size_t i, FILE *to)
{
    struct runs *r = user;
    struct job *j = &r->jobs[i];
    struct cli_args args = *r->args;
    struct cli_list changes = {0};
    struct graph g = {0};
    struct session s;
    struct hd_error err;
    enum hd_status status = HD_INTERNAL;

    hd_error_clear(&err);
    args.detail = RECORD_SUMMARY;
    if (!all_changes(r, j, &changes))
        return POOL_NOT_STARTED;
    status = session_run(&s, &args, &(struct session_changes){changes.at, changes.len},
                         cli_stop_flag(args.max_time), NULL, &err);
    cli_stop_heeded();
    if (status == HD_OK)
        status = session_status(&s);
    if (status == HD_OK || (status == HD_CHECK_FAILED && r->base->result.checks_failed)) {
        j->outcome.ran = true;
        j->outcome.time_ps = s.result.chosen.time_ps;
    } else {
        say_why(&j->outcome, status, &s, &err);
    }
    if (j->outcome.ran && !j->ideal) {
        take_graph(&g, &s);
        j->outcome.nnodes = g.nnodes;
        j->outcome.nedges = g.nedges;
        j->outcome.ntimes = g.ntimes;
    }
    return write_outcome(&j->outcome, &g, to) ? (int)status : POOL_NOT_STARTED;
}

/* ---- what it left --------------------------------------------------------------------------------------------- */

/* Reads by offset, for the file's place is shared with the process that wrote it. */
static bool read_bytes(int fd, void *out, size_t len, off_t *at)
{
    char *to = out;

    while (len > 0) {
        ssize_t n = pread(fd, to, len, *at);

        if (n <= 0)
            return false;
        to += n;
        *at += n;
        len -= (size_t)n;
    }
    return true;
}

static bool read_graph(int fd, const struct outcome *o, struct graph *g, off_t *at)
{
    *g = (struct graph){malloc((o->nnodes + 1) * sizeof *g->nodes),
                        malloc((o->nedges + 1) * sizeof *g->edges),
                        malloc((o->ntimes + 1) * sizeof *g->times),
                        o->nnodes,
                        o->nedges,
                        o->ntimes};
    return g->nodes && g->edges && g->times &&
           read_bytes(fd, g->nodes, o->nnodes * sizeof *g->nodes, at) &&
           read_bytes(fd, g->edges, o->nedges * sizeof *g->edges, at) &&
           read_bytes(fd, g->times, o->ntimes * sizeof *g->times, at);
}

static bool read_outcome(struct job *j, FILE *from)
{
    const int fd = fileno(from);
    struct outcome o;
    off_t at = 0;

    if (!read_bytes(fd, &o, sizeof o, &at) || !read_graph(fd, &o, &j->graph, &at))
        return false;
    j->outcome = o;
    return true;
}

static void lost(struct job *j, int wait_status)
{
    if (WIFSIGNALED(wait_status))
        snprintf(j->outcome.error, sizeof j->outcome.error,
                 "the process of the run was killed by signal %d", WTERMSIG(wait_status));
    else
        snprintf(j->outcome.error, sizeof j->outcome.error,
                 "the process of the run ended with status %d and left nothing",
                 WEXITSTATUS(wait_status));
}

static enum hd_status keep(void *user, size_t i, int wait_status, FILE *from, struct hd_error *err)
{
    struct runs *r = user;
    struct job *j = &r->jobs[i];
    enum hd_status status = HD_SIM_FAILED;

    (void)err;
    r->done++;
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) != POOL_NOT_STARTED &&
        read_outcome(j, from))
        status = (enum hd_status)WEXITSTATUS(wait_status);
    else
        lost(j, wait_status);
    if (status > r->worst)
        r->worst = status;
    return HD_OK;
}

static void show(void *user, size_t running)
{
    const struct runs *r = user;

    if (r->args->quiet || !isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r\033[K%zu/%zu runs on changed machines, %zu running", r->done, r->wanted,
            running);
    fflush(stderr);
}

static void show_end(const struct runs *r)
{
    if (!r->args->quiet && isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r\033[K");
        fflush(stderr);
    }
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Paper section V-E: the DAG of the parallel run, the times of the serial one. */
static uint64_t dependency_ps(const struct graph *serial, const struct graph *parallel)
{
    const struct timeline t = {.nodes = parallel->nodes,
                               .edges = parallel->edges,
                               .nnodes = parallel->nnodes,
                               .nedges = parallel->nedges};

    return serial->times ? contention_free(&t, serial->times, serial->ntimes) : JSON_NO_TIME;
}

static void take_results(struct runs *r)
{
    struct explain_bounds *b = &r->explain->bounds;
    const struct job *serial = &r->jobs[r->schedulers.len - 2], *parallel = serial + 1;

    b->serial_no_prefetch_ps = r->schedulers.len == 3 ? r->jobs[0].outcome.time_ps : JSON_NO_TIME;
    for (size_t i = 0; i < r->schedulers.len; i++)
        if (*r->jobs[i].outcome.error)
            cli_warn("%s: %s", r->schedulers.at[i].label, r->jobs[i].outcome.error);
    b->serial_ps = serial->outcome.time_ps;
    b->parallel_ps = parallel->outcome.time_ps;
    b->dependency_ps = JSON_NO_TIME;
    if (serial->outcome.ran && parallel->outcome.ran)
        b->dependency_ps = dependency_ps(&serial->graph, &parallel->graph);
    for (size_t i = r->schedulers.len; i < r->njobs; i++) {
        struct explain_run *out = r->jobs[i].ideal;

        out->ran = r->jobs[i].outcome.ran;
        out->time_ps = r->jobs[i].outcome.time_ps;
        memcpy(out->error, r->jobs[i].outcome.error, sizeof out->error);
    }
}

static void free_runs(struct runs *r)
{
    for (size_t i = 0; i < r->njobs; i++) {
        free(r->jobs[i].graph.nodes);
        free(r->jobs[i].graph.edges);
        free(r->jobs[i].graph.times);
    }
    points_free(&r->schedulers);
    free(r);
}

enum hd_status explain_run_all(struct explain *e, const struct session *s,
                               const struct cli_args *args, struct hd_error *err)
{
    struct runs *r = calloc(1, sizeof *r);
    bool stopped = false;
    enum hd_status status;

    if (!r)
        return hd_no_memory(err, "the runs");
    r->explain = e;
    r->base = s;
    r->args = args;
    status = plan(r, err);
    if (status == HD_OK) {
        const struct pool_work work = {
            .user = r,
            .count = r->njobs,
            .jobs = args->jobs,
            .max_time = args->max_time,
            .wanted = is_wanted,
            .run = run_job,
            .keep = keep,
            .show = show,
        };

        status = pool_run(&work, &stopped, err);
        show_end(r);
    }
    if (status == HD_OK) {
        take_results(r);
        status = stopped ? HD_STOPPED : r->worst;
    }
    free_runs(r);
    return status;
}
