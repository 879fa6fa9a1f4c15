/*
 * Rows on disk. While a sweep runs they are lines of the journal FILE.part, in the order in which points end; at the end FILE is written
 * from it in the order of the points, whole or not at all, and the journal goes. What a crash leaves, a torn last line included,
 * --resume reads.
 */
#include "host/cli/pool.h"
#include "host/cli/sweep.h"

#include "host/results/outfile.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum hd_status cannot(const char *what, const char *path, struct hd_error *err)
{
    return hd_error_set(err, HD_BAD_INPUT, "output", NULL, NULL, "cannot %s \"%s\": %s", what,
                        path ? path : "the temporary file", strerror(errno ? errno : EIO));
}

/* ---- outcomes ---------------------------------------------------------------------------------------- */

/* The text of a member of the row, as it stands there: the writer's own rows are read, whose names are plain. */
static bool member(const char *row, const char *lead, char *out, size_t size)
{
    const char *at = strstr(row, lead);

    if (!at)
        return false;
    at += strlen(lead);
    snprintf(out, size, "%.*s", (int)strcspn(at, "\""), at);
    return true;
}

static void worsen(struct sweep_store *store, const char *name)
{
    enum hd_status status = HD_SIM_FAILED;

    if (strcmp(name, "ok") == 0)
        status = HD_OK;
    else if (strcmp(name, "check_failed") == 0)
        status = HD_CHECK_FAILED;
    else if (strcmp(name, "internal") == 0)
        status = HD_INTERNAL;
    if (status > store->worst)
        store->worst = status;
}

/* A row of an empty error object names itself by its status. */
static bool count_outcome(struct sweep_store *store, size_t point, const char *row)
{
    struct sweep_outcome fresh = {"lost", 1, point};

    if (!member(row, ",\"error\":{\"code\":\"", fresh.name, sizeof fresh.name))
        member(row, ",\"status\":\"", fresh.name, sizeof fresh.name);
    worsen(store, fresh.name);
    for (size_t i = 0; i < store->outcomes.len; i++) {
        struct sweep_outcome *o = &store->outcomes.at[i];

        if (strcmp(o->name, fresh.name) != 0)
            continue;
        o->count++;
        if (point < o->first)
            o->first = point;
        return true;
    }
    return vec_push(&store->outcomes, fresh);
}

/* ---- adding ------------------------------------------------------------------------------------------- */

enum hd_status sweep_store_add(struct sweep_store *store, size_t point, const char *row, size_t len,
                               struct hd_error *err)
{
    if (!count_outcome(store, point, row))
        return hd_no_memory(err, "the rows of the sweep");
    if (fseeko(store->journal, (off_t)store->end, SEEK_SET) != 0 ||
        fwrite(row, 1, len, store->journal) != len || fflush(store->journal) != 0)
        return cannot("write", store->part, err);
    store->rows[point] = (struct sweep_row){store->end, len, false};
    store->end += len;
    store->have++;
    return HD_OK;
}

enum hd_status sweep_store_add_file(struct sweep_store *store, size_t point, FILE *from,
                                    struct hd_error *err)
{
    const int fd = fileno(from);
    struct text row = {0};
    enum hd_status status;
    char block[65536];
    off_t at = 0;
    ssize_t n;

    /* The file's place is shared with the process that wrote it, so that this reads by offset. */
    while ((n = pread(fd, block, sizeof block, at)) > 0) {
        text_add_bytes(&row, block, (size_t)n);
        at += n;
    }
    if (n < 0)
        status = cannot("read", NULL, err);
    else if (row.failed)
        status = hd_no_memory(err, "the rows of the sweep");
    else
        status = sweep_store_add(store, point, text_str(&row), row.len, err);
    text_free(&row);
    return status;
}

const char *sweep_store_row(struct sweep_store *store, size_t point, size_t *len)
{
    const struct sweep_row *row = &store->rows[point];
    char block[65536];
    uint64_t done = 0;

    store->line.len = 0;
    if (!row->len || fseeko(store->journal, (off_t)row->offset, SEEK_SET) != 0)
        return NULL;
    while (done < row->len) {
        const size_t want =
            row->len - done < sizeof block ? (size_t)(row->len - done) : sizeof block;
        const size_t got = fread(block, 1, want, store->journal);

        if (got == 0)
            return NULL;
        text_add_bytes(&store->line, block, got);
        done += got;
    }
    if (store->line.failed)
        return NULL;
    *len = store->line.len - 1;
    store->line.at[*len] = '\0';
    return store->line.at;
}

/* ---- the journal ------------------------------------------------------------------------------------- */

static enum hd_status open_unnamed(struct sweep_store *store, struct hd_error *err)
{
    store->journal = pool_unnamed_file();
    return store->journal ? HD_OK : cannot("make", NULL, err);
}

/* One sweep writes at a time. The lock goes with the process. */
static bool lock(FILE *file)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fcntl(fileno(file), F_SETLK, &whole) == 0;
}

static enum hd_status in_use(const char *path, struct hd_error *err)
{
    return hd_error_set(err, HD_USAGE, "sweep-busy", NULL, "wait for it, or choose another --out",
                        "another sweep is writing \"%s\"", path);
}

static enum hd_status open_new(struct sweep_store *store, struct hd_error *err)
{
    const int fd = open(store->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (fd < 0 && errno == EEXIST)
        return hd_error_set(
            err, HD_USAGE, "sweep-part", NULL, "--resume takes it up; or remove it to begin anew",
            "\"%s\" is what an interrupted sweep left, or another one that runs", store->part);
    if (fd >= 0)
        store->journal = fdopen(fd, "w+b");
    if (!store->journal)
        return cannot("make", store->part, err);
    return lock(store->journal) ? HD_OK : in_use(store->path, err);
}

/* ---- taking over ------------------------------------------------------------------------------------- */

static const cJSON *get(const cJSON *object, const char *a, const char *b)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, a);

    return b ? cJSON_GetObjectItemCaseSensitive(item, b) : item;
}

static bool is_text(const cJSON *item, const char *text)
{
    return cJSON_IsString(item) && strcmp(item->valuestring, text) == 0;
}

/* The point of a row that is whole, ok, and of this version; SIZE_MAX for any other. Counts results of whatever kind. */
static size_t good_point(const struct sweep_plan *plan, const char *line, size_t len,
                         size_t *results)
{
    cJSON *row = cJSON_ParseWithLengthOpts(line, len + 1, NULL, 1);
    const cJSON *id = get(row, "point", "id");
    const bool is_result = is_text(get(row, "schema", NULL), "heddle.result/1");
    size_t point = SIZE_MAX;

    *results += is_result;
    if (is_result && cJSON_IsString(id) && is_text(get(row, "status", NULL), "ok") &&
        is_text(get(row, "simulator", "version"), HD_VERSION))
        point = sweep_plan_find(plan, id->valuestring);
    cJSON_Delete(row);
    return point;
}

/* "point":{...} as the plan has it now. */
static void add_point(const struct sweep_run *run, struct text *out)
{
    struct text object = {0};
    struct json_writer w;

    sweep_inline_start(&w, &object);
    result_write_point(&w, &run->point);
    sweep_inline_end(&w, &object);
    if (object.len > 2) /* without the braces of the object around it */
        text_add_bytes(out, object.at + 1, object.len - 2);
    out->failed |= object.failed;
    text_free(&object);
}

/*
 * Number and axes of a point may have changed with the script, the id says that the run is the same. In our own rows these two
 * marks are where they are once only: inside a string their quotes would be escaped.
 */
static bool renew(const struct sweep_plan *plan, size_t point, const char *line, struct text *out)
{
    const char *from = strstr(line, ",\"point\":{");
    const char *to = from ? strstr(from, ",\"simulator\":{") : NULL;
    struct sweep_run run;
    bool ok;

    if (!to)
        return false;
    ok = sweep_run_make(&run, plan, point);
    if (ok) {
        text_add_bytes(out, line, (size_t)(from + 1 - line));
        add_point(&run, out);
        text_add(out, "%s\n", to);
    }
    sweep_run_free(&run);
    return ok && !out->failed;
}

static enum hd_status take_line(struct sweep_store *store, FILE *to, char *line, size_t len,
                                size_t *results, struct hd_error *err)
{
    struct text row = {0};
    size_t point;
    bool ok;

    if (len && line[len - 1] == '\n')
        line[--len] = '\0';
    point = strlen(line) == len ? good_point(store->plan, line, len, results) : SIZE_MAX;
    if (point == SIZE_MAX || store->rows[point].len || !renew(store->plan, point, line, &row)) {
        text_free(&row);
        return HD_OK;
    }
    ok = fwrite(row.at, 1, row.len, to) == row.len;
    store->rows[point] = (struct sweep_row){store->end, row.len, true};
    store->end += row.len;
    store->have++;
    store->kept++;
    ok = ok && count_outcome(store, point, row.at);
    text_free(&row);
    return ok ? HD_OK : cannot("write", store->part, err);
}

/* The end of the sweep replaces the file, so that one that was named by mistake would be lost. A torn journal is a sweep's. */
static enum hd_status not_of_a_sweep(const char *path, struct hd_error *err)
{
    return hd_error_set(err, HD_USAGE, "sweep-foreign", NULL, "choose another --out",
                        "--resume would replace \"%s\", which holds no result at all", path);
}

static enum hd_status take_file(struct sweep_store *store, const char *path, FILE *to,
                                struct hd_error *err)
{
    FILE *in = fopen(path, "rb");
    enum hd_status status = HD_OK;
    size_t size = 0, bytes = 0, results = 0;
    char *line = NULL;
    ssize_t len;

    if (!in)
        return errno == ENOENT ? HD_OK : cannot("read", path, err);
    while (status == HD_OK && (len = getline(&line, &size, in)) > 0) {
        bytes += (size_t)len;
        status = take_line(store, to, line, (size_t)len, &results, err);
    }
    if (status == HD_OK && ferror(in))
        status = cannot("read", path, err);
    if (status == HD_OK && bytes && !results && path == store->path)
        status = not_of_a_sweep(path, err);
    free(line);
    fclose(in);
    return status;
}

/* Those of the journal are the later ones. */
static enum hd_status take_rows(struct sweep_store *store, FILE *to, struct hd_error *err)
{
    enum hd_status status = take_file(store, store->part, to, err);

    return status == HD_OK ? take_file(store, store->path, to, err) : status;
}

static enum hd_status check_unused(const struct sweep_store *store, struct hd_error *err)
{
    FILE *old = fopen(store->part, "r+b");
    bool free_to_use = !old || lock(old);

    if (old)
        fclose(old);
    return free_to_use ? HD_OK : in_use(store->path, err);
}

/* Good rows of both files become a new journal, which takes the place of the old one at once. */
static enum hd_status take_over(struct sweep_store *store, struct hd_error *err)
{
    struct out_file fresh = {0};
    enum hd_status status = check_unused(store, err);

    if (status == HD_OK)
        status = out_open(&fresh, store->part, err);
    if (status == HD_OK)
        status = take_rows(store, fresh.file, err);
    if (status != HD_OK) {
        out_abandon(&fresh);
        return status;
    }
    status = out_commit(&fresh, err);
    if (status != HD_OK)
        return status;
    store->journal = fopen(store->part, "r+b");
    if (!store->journal)
        return cannot("open", store->part, err);
    return lock(store->journal) ? HD_OK : in_use(store->path, err);
}

/* ---- open and close -------------------------------------------------------------------------------------- */

static enum hd_status check_path(const struct cli_args *args, struct hd_error *err)
{
    const size_t len = args->out ? strlen(args->out) : 0;
    const bool lines = len > 6 && strcmp(args->out + len - 6, ".jsonl") == 0;

    if (args->out && !lines && strcmp(args->out, "-") != 0)
        return hd_error_set(
            err, HD_USAGE, "usage", NULL, "write --out FILE.jsonl",
            "the results of a sweep go to a file that ends in .jsonl, not to \"%s\"", args->out);
    if (args->resume && !lines)
        return hd_error_set(err, HD_USAGE, "usage", NULL, "write --out FILE.jsonl",
                            "--resume needs the file of the sweep that it takes up");
    return args->dry_run ? HD_OK : out_probe(args->out, err);
}

static enum hd_status open_journal(struct sweep_store *store, struct hd_error *err)
{
    const struct cli_args *args = store->plan->args;
    enum hd_status status;

    if (store->part && !args->dry_run)
        return args->resume ? take_over(store, err) : open_new(store, err);
    status = open_unnamed(store, err);
    if (status == HD_OK && args->resume) /* a dry run leaves the files as they are */
        status = take_rows(store, store->journal, err);
    return status;
}

enum hd_status sweep_store_open(struct sweep_store *store, const struct sweep_plan *plan,
                                struct hd_error *err)
{
    const char *out = plan->args->out;
    enum hd_status status = check_path(plan->args, err);
    struct text part = {0};

    memset(store, 0, sizeof *store);
    if (status != HD_OK)
        return status;
    store->plan = plan;
    store->path = out;
    store->rows = calloc(plan->count, sizeof *store->rows);
    if (out && strcmp(out, "-") != 0) {
        text_add(&part, "%s.part", out);
        store->part = part.at;
        store->existed = access(out, F_OK) == 0;
    }
    if (!store->rows || part.failed)
        return hd_no_memory(err, "the rows of the sweep");
    return open_journal(store, err);
}

static enum hd_status write_ordered(struct sweep_store *store, struct hd_error *err)
{
    struct out_file out;
    enum hd_status status = out_open(&out, store->path, err);
    struct json_out to = out_json(&out);

    for (size_t i = 0; i < store->plan->count && status == HD_OK; i++) {
        size_t len = 0;
        const char *row;

        if (!store->rows[i].len)
            continue;
        row = sweep_store_row(store, i, &len);
        if (!row) {
            out_abandon(&out);
            return cannot("read", store->part, err);
        }
        to.write(to.user, row, len);
        to.write(to.user, "\n", 1);
    }
    return status == HD_OK ? out_commit(&out, err) : status;
}

/*
 * A sweep that was stopped does not take the place of an earlier file that it was not asked to take up: its rows stay in the
 * journal.
 */
enum hd_status sweep_store_finish(struct sweep_store *store, bool stopped, struct hd_error *err)
{
    enum hd_status status = HD_OK;

    if (!store->path || (stopped && store->existed && !store->plan->args->resume && store->have))
        return HD_OK;
    if (store->have)
        status = write_ordered(store, err);
    if (status == HD_OK && store->part)
        unlink(store->part);
    return status;
}

void sweep_store_free(struct sweep_store *store)
{
    if (store->journal)
        fclose(store->journal);
    free(store->part);
    free(store->rows);
    text_free(&store->line);
    vec_free(&store->outcomes);
    memset(store, 0, sizeof *store);
}
