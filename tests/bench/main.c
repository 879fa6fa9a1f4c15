/* bench-heddle FILE.json [ROW]: prints a table of the simulator's speed and writes it to the file. */
#include "tests/bench/bench.h"

#include <stdio.h>
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

int main(int argc, char **argv)
{
    struct bench_result results[MAX_RESULTS];
    struct text table = {0}, json = {0};
    struct hd_error err = {0};
    size_t count = 0;
    double host_ref;
    int status;

    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: bench-heddle FILE.json [ROW]\n");
        return HD_USAGE;
    }
    host_ref = bench_host_reference();
    if (measure_all(argc == 3 ? argv[2] : NULL, results, &count, &err)) {
        fprintf(stderr, "%s: %s (%s)\n", err.place, err.message, err.hint);
        return (int)err.status;
    }
    bench_table(results, count, host_ref, &table);
    bench_json(results, count, host_ref, &json);
    fputs(text_str(&table), stdout);
    status = write_file(argv[1], &json);
    text_free(&table);
    text_free(&json);
    return status;
}
