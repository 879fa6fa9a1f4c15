/* What a trace must keep to be drawn right (PB-36, PB-37), checked on the file alone. */
#ifndef HD_TESTS_RESULTS_TRACE_CHECK_H
#define HD_TESTS_RESULTS_TRACE_CHECK_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* The parsed trace, checked; fails the test with a message otherwise. cJSON_Delete it. */
cJSON *trace_check(const char *text);

/* The slice of that category and number ("id" in args) in microseconds; fails the test if there is none. */
struct trace_times {
    double ts, dur;
    int pid, tid;
};
struct trace_times trace_find(const cJSON *trace, const char *category, int id);
/* How many events have that phase. */
size_t trace_count(const cJSON *trace, const char *phase);

#endif
