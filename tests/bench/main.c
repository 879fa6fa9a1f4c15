/*
 * bench-heddle FILE.json [ROW]: prints a table of the simulator's speed and writes it to the file.
 * bench-heddle --count ROW CONFIG [KEY=VALUE...]: runs a row once, for tools that count instructions.
 * bench-heddle --rows: names the rows.
 * bench-heddle --schedule [CASE LAUNCHES]: the speed of the scheduler alone; or one case once, to count instructions.
 */
#include "tests/bench/bench.h"
#include "tests/bench/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RESULTS = 64 };
static const uint32_t widths[] = {64, 32};

static enum hd_status measure_all(const char *only, struct bench_result *results, size_t *count,
                                  struct hd_error *err)
{
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        for (size_t i = 0; i < bench_nrows && *count < MAX_RESULTS; i++) {
            struct bench_result r = {.row = &bench_rows[i], .width = widths[w]};
            enum hd_status status;

            if (only && strcmp(only, r.row->name) != 0)
                continue;
            if ((status = bench_measure(r.row, r.width, true, &r.timed, err)) ||
                (status = bench_measure(r.row, r.width, false, &r.values, err)))
                return status;
            results[(*count)++] = r;
        }
    }
    return HD_OK;
}

static int write_file(const char *path, const struct text *text)
{
    FILE *file = fopen(path, "w");

    if (!file || fwrite(text_str(text), 1, text->len, file) != text->len || fclose(file)) {
        perror(path);
        return 1;
    }
    return 0;
}

static int report(const struct hd_error *err)
{
    fprintf(stderr, "%s: %s (%s)\n", err->place, err->message, err->hint);
    return (int)err->status;
}

static const struct bench_row *find_row(const char *name)
{
    for (size_t i = 0; i < bench_nrows; i++)
        if (strcmp(bench_rows[i].name, name) == 0)
            return &bench_rows[i];
    return NULL;
}

static int usage(void)
{
    fprintf(stderr, "usage: bench-heddle FILE.json [ROW]\n"
                    "       bench-heddle --count ROW CONFIG [KEY=VALUE...]\n"
                    "       bench-heddle --rows\n"
                    "       bench-heddle --schedule [CASE LAUNCHES]\n");
    return HD_USAGE;
}

static int count(int argc, char **argv)
{
    struct hd_error err = {0};
    const struct bench_row *row = argc >= 4 ? find_row(argv[2]) : NULL;

    if (!row)
        return usage();
    if (bench_count(row, argv[3], argv + 4, (size_t)argc - 4, &err))
        return report(&err);
    return 0;
}

static int list_rows(void)
{
    for (size_t i = 0; i < bench_nrows; i++)
        puts(bench_rows[i].name);
    return 0;
}

static int schedule(int argc, char **argv)
{
    const struct schedule_case *c = schedule_cases;
    struct schedule_speed speed = {0};
    struct hd_error err = {0};

    if (argc == 2)
        return schedule_print(&err) ? report(&err) : 0;
    while (argc == 4 && c->name && strcmp(c->name, argv[2]) != 0)
        c++;
    if (argc != 4 || !c->name)
        return usage();
    return schedule_run(c, (uint32_t)strtoul(argv[3], NULL, 10), &speed, &err) ? report(&err) : 0;
}

static int measure(const char *file, const char *only)
{
    struct bench_result results[MAX_RESULTS];
    struct text table = {0}, json = {0};
    struct hd_error err = {0};
    double host_ref = bench_host_reference();
    size_t n = 0;
    int status;

    if (measure_all(only, results, &n, &err))
        return report(&err);
    bench_table(results, n, host_ref, &table);
    bench_json(results, n, host_ref, &json);
    fputs(text_str(&table), stdout);
    status = write_file(file, &json);
    text_free(&table);
    text_free(&json);
    return status;
}

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "--count") == 0)
        return count(argc, argv);
    if (argc == 2 && strcmp(argv[1], "--rows") == 0)
        return list_rows();
    if (argc >= 2 && strcmp(argv[1], "--schedule") == 0)
        return schedule(argc, argv);
    if (argc < 2 || argc > 3)
        return usage();
    return measure(argv[1], argc == 3 ? argv[2] : NULL);
}
