/* heddle compare: schedulers, or the values of axes, side by side. */
#include "host/cli/points.h"

#include "host/config/config.h"
#include "host/results/ideal.h"
#include "host/results/outfile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- where results go --------------------------------------------------------------------------- */

/* One object a line in a .jsonl file (or on standard output), or a file a point in a folder. */
struct sink {
    const char *path; /* NULL: nowhere */
    bool lines;
    struct out_file file; /* of lines */
};

static bool is_lines(const char *path)
{
    size_t len = strlen(path);

    return strcmp(path, "-") == 0 || (len > 6 && strcmp(path + len - 6, ".jsonl") == 0);
}

static enum hd_status make_folder(const char *path, struct hd_error *err)
{
    struct stat st;

    if (mkdir(path, 0777) == 0)
        return HD_OK;
    if (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return HD_OK;
    return hd_error_set(err, HD_BAD_INPUT, "output", NULL,
                        "results go to a folder, or to a file that ends in .jsonl",
                        "cannot make the folder \"%s\": %s", path, strerror(errno));
}

static enum hd_status sink_open(struct sink *k, const char *path, struct hd_error *err)
{
    memset(k, 0, sizeof *k);
    k->path = path;
    if (!path)
        return HD_OK;
    k->lines = is_lines(path);
    return k->lines ? out_open(&k->file, path, err) : make_folder(path, err);
}

static enum hd_status write_object(struct out_file *to, const struct session *s,
                                   enum json_layout layout, struct hd_error *err)
{
    struct json_writer w;

    json_start(&w, out_json(to), layout);
    result_write(&w, &s->result);
    json_finish(&w);
    return record_broken(s->record, err);
}

/*
 * The label as a file's name. A value may hold what a name must not, which becomes "%" and the byte in hexadecimal, and a
 * blank "+", so that no two labels have one name.
 */
static void file_name(struct text *out, const char *folder, const char *label)
{
    text_add(out, "%s/", folder);
    for (const char *c = label; *c; c++) {
        if (*c == ' ')
            text_add(out, "+");
        else if ((unsigned char)*c < ' ' || strchr("/\\:*?\"<>|%+", *c))
            text_add(out, "%%%02x", (unsigned char)*c);
        else
            text_add(out, "%c", *c);
    }
    text_add(out, ".json");
}

static enum hd_status write_point(const char *folder, const struct point *p,
                                  const struct session *s, struct hd_error *err)
{
    struct text path = {0};
    struct out_file file;
    enum hd_status status;

    file_name(&path, folder, p->label);
    status = out_open(&file, text_str(&path), err);
    text_free(&path);
    if (status != HD_OK)
        return status;
    status = write_object(&file, s, JSON_PRETTY, err);
    if (status == HD_OK)
        return out_commit(&file, err);
    out_abandon(&file);
    return status;
}

static enum hd_status sink_add(struct sink *k, const struct point *p, const struct session *s,
                               struct hd_error *err)
{
    if (!k->path)
        return HD_OK;
    return k->lines ? write_object(&k->file, s, JSON_COMPACT, err) : write_point(k->path, p, s, err);
}

static enum hd_status sink_close(struct sink *k, enum hd_status status, struct hd_error *err)
{
    if (!k->path || !k->lines)
        return status;
    if (status == HD_OK)
        return out_commit(&k->file, err);
    out_abandon(&k->file);
    return status;
}

/* ---- runs ------------------------------------------------------------------------------------------ */

struct comparison {
    const struct cli_args *args;
    struct points points;
    struct session *kept; /* beside points; of schedulers, which need each other's times */
    struct sink sink;
    const volatile int *stop;
    enum hd_status worst; /* the exit status so far */
};

static void show_progress(const struct comparison *c, size_t i)
{
    if (c->args->quiet || !isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r\033[K");
    if (i < c->points.len)
        fprintf(stderr, "%zu/%zu %s", i + 1, c->points.len, c->points.at[i].label);
    fflush(stderr);
}

static enum hd_status run_point(struct comparison *c, size_t i, struct session *s,
                                struct hd_error *err)
{
    struct point *p = &c->points.at[i];
    const struct session_changes changes = {(const char *const *)p->changes, p->nchanges};
    enum hd_status status;

    show_progress(c, i);
    status = session_run(s, c->args, &changes, c->stop, c->args->verbose ? stderr : NULL, err);
    show_progress(c, c->points.len);
    if (*c->stop)
        cli_stop_heeded();
    if (status != HD_OK)
        return status;
    session_complain(s);
    if (session_status(s) > c->worst)
        c->worst = session_status(s);
    point_take(p, s);
    return HD_OK;
}

/* Paper section V-E: the DAG of the parallel run, the times of the serial one. */
static uint64_t contention_free_time(const struct session *serial, const struct session *parallel)
{
    uint64_t *times, result;
    size_t n;

    if (serial->result.status > RESULT_CHECK_FAILED ||
        parallel->result.status > RESULT_CHECK_FAILED || !parallel->result.timing ||
        !element_times(&serial->result.timeline, &times, &n))
        return JSON_NO_TIME;
    result = contention_free(&parallel->result.timeline, times, n);
    free(times);
    return result;
}

/* Results are written once all have run, since each holds the contention-free time; a stop leaves those that ran. */
static enum hd_status run_schedulers(struct comparison *c, struct hd_error *err)
{
    size_t n = c->points.len, ran, i;
    enum hd_status status = HD_OK;
    uint64_t ideal = JSON_NO_TIME;

    for (ran = 0; ran < n && status == HD_OK && !*c->stop; ran++)
        status = run_point(c, ran, &c->kept[ran], err);
    cli_stop_heeded();
    if (status == HD_OK && ran == n)
        ideal = contention_free_time(&c->kept[n - 2], &c->kept[n - 1]);
    for (i = 0; i < ran && status == HD_OK; i++) {
        c->kept[i].result.contention_free_ps = c->points.at[i].contention_free_ps = ideal;
        status = sink_add(&c->sink, &c->points.at[i], &c->kept[i], err);
    }
    return status == HD_OK && ran == n ? session_trace(&c->kept[n - 1], c->args, err) : status;
}

static enum hd_status run_axes(struct comparison *c, struct hd_error *err)
{
    enum hd_status status = HD_OK;
    struct session s;
    size_t i;

    for (i = 0; i < c->points.len && status == HD_OK && !*c->stop; i++) {
        status = run_point(c, i, &s, err);
        if (status == HD_OK)
            status = sink_add(&c->sink, &c->points.at[i], &s, err);
        if (status == HD_OK && i + 1 == c->points.len)
            status = session_trace(&s, c->args, err);
        session_free(&s);
    }
    return status;
}

static enum hd_status run_all(struct comparison *c, struct hd_error *err)
{
    enum hd_status status;
    size_t i;

    if (c->points.axes)
        return run_axes(c, err);
    c->kept = calloc(c->points.len, sizeof *c->kept);
    if (!c->kept)
        return hd_no_memory(err, "the results");
    status = run_schedulers(c, err);
    for (i = 0; i < c->points.len; i++)
        session_free(&c->kept[i]);
    free(c->kept);
    return status;
}

static enum hd_status plan(struct comparison *c, struct hd_error *err)
{
    const struct session_changes none = {NULL, 0};
    struct hd_options options;
    char *name = NULL;
    enum hd_status status;

    if (c->args->axis.len)
        return points_axes(&c->points, &c->args->axis, err);
    status = session_options(c->args, &none, &options, &name, err);
    if (status == HD_OK)
        status = points_schedulers(&c->points, options.gpu.um_page_faults, err);
    free(name);
    return status;
}

static enum hd_status compare(struct comparison *c, struct hd_error *err)
{
    enum hd_status status = session_check_args(c->args, err);

    if (status == HD_OK)
        status = out_probe(c->args->trace, err);
    if (status == HD_OK)
        status = plan(c, err);
    if (status == HD_OK)
        status = sink_open(&c->sink, c->args->out, err);
    if (status != HD_OK)
        return status;
    return sink_close(&c->sink, run_all(c, err), err);
}

static void print_heading(const struct comparison *c, FILE *to)
{
    const char *config = c->args->config ? c->args->config : CONFIG_DEFAULT;

    fprintf(to, "%s on %s\n", c->args->words.at[0], config);
}

int cli_compare(const struct cli_args *args)
{
    struct comparison c = {.args = args, .stop = cli_stop_flag(args->max_time)};
    FILE *to = args->out && strcmp(args->out, "-") == 0 ? stderr : stdout;
    struct hd_error err;
    enum hd_status status;

    hd_error_clear(&err);
    status = compare(&c, &err);
    if (status == HD_OK && !args->quiet) {
        print_heading(&c, to);
        points_print(&c.points, to);
        points_explain(&c.points, to);
    }
    points_free(&c.points);
    if (status != HD_OK)
        return cli_fail(&err);
    return cli_end(*c.stop ? HD_STOPPED : (int)c.worst);
}
