/*
 * Why a run takes its time: what each source line of its kernels issued, waited for and touched.
 *
 * Cycles are wavefront-cycles. A wavefront that waits is booked at the instruction that it waits to issue, but for
 * barriers and fences, which are booked at themselves; so the lines of a kernel add up to its stalls, reason by
 * reason, and to its residency. Launches of one kernel are summed.
 */
#ifndef HD_HOST_RESULTS_PROFILE_H
#define HD_HOST_RESULTS_PROFILE_H

#include "host/heddle.h"
#include "host/results/fields.h"
#include "sim/advise.h"
#include "sim/base/vec.h"

/* What instructions did; sums. */
struct profile_counts {
    uint64_t issues, lanes;          /* issued; active lanes */
    uint64_t stalls[SIM_NUM_STALLS]; /* by enum sim_stall, SIM_STALL_ISSUED too */
    /* global accesses of at least one lane */
    uint64_t requests, lines, sectors;
    uint64_t least_sectors; /* that would hold as many bytes side by side, at most `sectors` */
    uint64_t lookups, hits; /* lines that loads looked up in L1, and found there */
    /* local accesses of at least one lane */
    uint64_t local_accesses, passes, least_passes;
};

/* The distance between neighbouring active lanes that most accesses had. */
struct profile_distance {
    int64_t bytes;
    uint64_t weight; /* accesses with it, less those with another; 0: none is the most */
};

struct profile_insn {
    struct profile_counts counts;
    struct profile_distance distance;
    uint32_t bytes; /* of a lane, in its last access */
};

/* A source file, split into lines. */
struct profile_file {
    const struct isa_program *program; /* until profile_close() */
    char *name;                        /* as isa_program.files has it */
    char *text;                        /* what lines[] points into */
    char **lines; /* without the blanks at their ends; no lines where the source is not known */
    size_t nlines;
};

/* A line of source that has instructions of the kernel. */
struct profile_line {
    const struct profile_file *source;
    const char *file; /* source->name */
    const char *text; /* without the blanks around it; NULL where the source is not known */
    const char *hint; /* what the numbers say of it, or NULL */
    uint32_t line, instructions;
    bool wasteful; /* the hint is of accesses, and is worth reading wherever the time goes */
    struct profile_counts counts;
};

/* Shares of a peak while the kernel ran; not finite if it took no time. */
struct profile_rates {
    double issue, dram, l2, f32, f64, lds; /* 0 to 1 */
    double dram_rows;                      /* the part of `dram` in which its channels open rows */
    double dram_gbps, l2_gbps, gflops32, gflops64, wave_ipc;
    double resident_waves; /* of a compute unit, on average */
    double lane_utilisation, l1_hit_rate, l2_hit_rate;
};

struct profile_kernel {
    const char *name, *file, *limit;
    uint32_t line;
    uint64_t launches; /* that completed */
    uint64_t unfinished; /* that were on the device when the run ended; their cycles up to the last issue count */
    uint32_t grid[3], block[3];
    bool shapes_differ;                     /* grid and block are those of the first launch */
    uint32_t waves_per_group, waves_per_cu; /* the most that can be resident, of the first launch */
    double occupancy;                       /* waves_per_cu over the slots */
    uint64_t time_ps;                       /* sum over the launches */
    uint64_t cycles;                        /* wavefront-cycles of all lines */
    struct profile_counts counts;
    struct sim_counters sums; /* of the launches that completed */
    struct profile_rates rates;
    bool has_tx;
    struct tm_known tx; /* of the first launch, without tx.profile */
    struct tm_needs tx_needs[TM_NUM_DETECTORS];
    VEC(struct profile_line) lines; /* by file in order of the program's files, then by line */
    struct field_rows line_rows;

    const struct isa_program *program; /* these are there until profile_close() only */
    const struct isa_kernel *kernel;
    struct profile_insn *insns; /* [kernel->end - kernel->first] */
};

struct profile {
    struct sim_config config;
    VEC(struct profile_kernel *) kernels; /* in order of their first wavefront */
    struct profile_kernel *last;
    VEC(struct profile_file *) files;
    VEC(char *) texts; /* of hints and names; owned */
    uint32_t *issued;  /* by place of a wavefront: 1 + pc that it issued last, 0 none */
    struct field_rows kernel_rows;
    bool failed; /* memory was short */
};

/* NULL when memory is short. */
struct profile *profile_new(const struct sim_config *config);
void profile_free(struct profile *p);
/* What sim_set_probe() takes; p must outlive the machine's run. */
struct hd_probe profile_probe(struct profile *p);
/* A launch has completed. */
void profile_launch(struct profile *p, const struct sim_kernel_record *r);
/* The run is over: makes lines and rates; programs may go. HD_BAD_INPUT when memory was short. */
enum hd_status profile_close(struct profile *p, struct hd_error *err);

/* Adds every count of `from` to `to`. */
void profile_add(struct profile_counts *to, const struct profile_counts *from);
uint64_t profile_cycles(const struct profile_counts *c);

/* ---- parts of profile_close() ---- */

/* Shares of the peaks (host/results/profile_rates.c). */
void profile_rates_of(const struct sim_config *config, struct profile_kernel *k);
/*
 * What the numbers say of a line that is made of the instructions at pcs[] (host/results/profile_hint.c). Adds
 * nothing to *out if they say nothing.
 */
void profile_hint(const struct profile *p, const struct profile_kernel *k,
                  struct profile_line *line, const uint32_t *pcs, struct text *out);
/* The lists of p and of its kernels for the tables of the schema (host/results/rows.c). */
void profile_set_rows(struct profile *p);

#endif
