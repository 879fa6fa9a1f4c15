/*
 * A second model of the memory system, to check the first by. Given the accesses as they issued, it says when each request is
 * sent, when each answer is back, and what was counted. It is plain and slow: everything that will happen is in one list, and the
 * earliest of it happens next. It shares with sim/ the names of the parameters and nothing else.
 *
 * The rules are those of sim/README.md and of the heads of sim/lsu.c, l2.c and dram.c; the comments in memory_model.c name each.
 */
#ifndef HD_TESTS_SIM_MEMORY_MODEL_H
#define HD_TESTS_SIM_MEMORY_MODEL_H

#include "sim/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEM_LINES = 64, MEM_SECTORS = 32, MEM_RUNS = 8 }; /* of an access; of a line; kernels */

/* A flush touches no line: it is a fence, or the end of a kernel at one compute unit, where L1 writes back. */
enum mem_kind { MEM_LOAD, MEM_STORE, MEM_ATOMIC, MEM_ATOMIC_RETURN, MEM_FLUSH };

/* What an access wants of one line. */
struct mem_line {
    uint64_t line;    /* address of its first byte */
    uint32_t sectors; /* one bit each */
    unsigned serial;  /* atomics: the most lanes on one word */
};

/* An instruction of a wavefront. */
struct mem_access {
    uint64_t cycle; /* of issue */
    unsigned cu, run;
    enum mem_kind kind;
    bool cold; /* the caches were emptied before it, when nothing was under way */
    unsigned nlines;
    struct mem_line lines[MEM_LINES]; /* in order of the first lane that touches each */

    /* found: */
    bool unit_taken;      /* it issued when the load-store unit could not take it */
    uint64_t unit_free;   /* cycle in which the unit takes the next */
    uint64_t ready_cycle; /* of its registers; 0 if it has none */
    uint64_t fill_cycle;  /* of its last answer; 0 if it waited for nothing */
    uint64_t effect_ps; /* of its last store or atomic in L2; flush: of the last line that had left L1 */
    size_t left;        /* flush: lines that had left L1 */
    unsigned open;      /* answers that are missing */
};

/* A request that reaches its slice, or an answer that is back at its compute unit. */
struct mem_event {
    uint64_t time_ps, line;
    uint32_t sectors;
    unsigned cu;
    bool store; /* store or atomic */
};

struct mem_counters {
    uint64_t l1_requests, l1_hits, sectors, l2_bytes, l2_hits, l2_misses;
    uint64_t dram_read_bytes, dram_write_bytes, dram_row_misses;
};

struct mem_log {
    struct mem_event *at;
    size_t len, room;
};

void mem_log_add(struct mem_log *log, struct mem_event e);

struct mem_result {
    struct mem_log requests, fills; /* in the order in which they were sent and came */
    struct mem_counters counters[MEM_RUNS];
    size_t retries; /* times that a request found every way of its set waiting */
    size_t passed;  /* stores that went by L2 because of that */
    size_t evicted; /* lines of L2 that made room */
    size_t merged;  /* sectors that another load had asked for already */
    size_t held;    /* times that no MSHR was free */
    size_t full;    /* times that an MSHR had all the loads that it may */
    size_t kept;    /* lines of stores that were done in L1 */
    size_t left;    /* lines that left L1 dirty */
};

/*
 * Runs a machine that starts cold and idle. The accesses are in the order in which they issued. The result's logs are the
 * caller's to free.
 */
void mem_model_run(const struct sim_config *c, struct mem_access *accesses, size_t count,
                   struct mem_result *result);

/* floor(cycle * 10^12 / hz), and the first cycle whose edge is not before a time. */
uint64_t mem_edge(uint64_t hz, uint64_t cycle);
uint64_t mem_cycle_at(uint64_t hz, uint64_t time_ps);

#endif
