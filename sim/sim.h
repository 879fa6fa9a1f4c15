/*
 * The simulated GPU: memory, queues of commands, and time. This is the whole interface
 * that host/ uses. One machine is used by one thread; two machines share nothing.
 *
 * Times are picoseconds since the machine was made. The machine moves only inside
 * sim_run_until() and sim_wait(); submitting takes no time.
 */
#ifndef HD_SIM_SIM_H
#define HD_SIM_SIM_H

#include "isa/isa.h"
#include "isa/lanes.h"
#include "sim/base/error.h"
#include "sim/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_machine;

/* Values at once and no time at all, or the full model. */
enum sim_mode { SIM_TIMED, SIM_VALUES };

/* What the run may use up; 0 means no limit. */
struct sim_limits {
    uint64_t max_time_ps;      /* simulated */
    uint64_t max_instructions; /* wavefront instructions */
    uint64_t max_array_bytes;  /* of host memory, for the values of all live arrays */
    bool check_tm;             /* the oracle of tm/ watches all transactions */
    bool no_run_ahead;         /* computes each instruction when it issues, as a probe asks for */
    const volatile int *stop; /* the run ends with HD_STOPPED soon after *stop is not 0; may be NULL */
};

/*
 * Makes a machine. config is copied. lanes is which build of the lane functions to use
 * (ISA_BUILD_AUTO). On success *out is owned by the caller (sim_free).
 */
enum hd_status sim_new(const struct sim_config *config, enum isa_build lanes,
                       struct sim_machine **out, struct hd_error *err);
void sim_free(struct sim_machine *m);
/*
 * Makes a machine that is in the same state, in the middle of a run too: from there on both do the
 * same. The copy has the values of all arrays, under the same ids and addresses, and the same pending
 * tickets, but no sink and no probe; programs are shared, and so is the host memory that pending
 * copies name. Owned by the caller (sim_free).
 */
enum hd_status sim_copy(const struct sim_machine *m, struct sim_machine **out, struct hd_error *err);
void sim_set_limits(struct sim_machine *m, const struct sim_limits *limits);

/* SIM_VALUES may be entered only when nothing is pending (sim_idle). */
void sim_set_mode(struct sim_machine *m, enum sim_mode mode);
uint64_t sim_now(const struct sim_machine *m);
/* True if every submitted command has completed. */
bool sim_idle(const struct sim_machine *m);

/* ---- arrays ---------------------------------------------------------------------------- */

enum sim_array_kind {
    SIM_MANAGED, /* unified memory: pages are where they were last used */
    SIM_DEVICE,  /* device memory; the host reaches it by copies only */
};

struct sim_array_desc {
    const char *name;    /* for messages; copied */
    uint64_t bytes;      /* at least 1 */
    uint32_t elem_bytes; /* 1, 2, 4 or 8 */
    enum sim_array_kind kind;
};

/* *id is small and may be used again after the array is freed. Contents are zero; managed pages are
 * unpopulated. HD_SIM_FAILED past max_array_bytes. */
enum hd_status sim_array_new(struct sim_machine *m, const struct sim_array_desc *desc, uint32_t *id,
                             struct hd_error *err);
/* HD_BAD_INPUT if a pending command uses the array. Later accesses by kernels fail as use after free. */
enum hd_status sim_array_free(struct sim_machine *m, uint32_t id, struct hd_error *err);
/* The values, whose only home this is; owned by the machine, 64-byte aligned. */
void *sim_array_data(struct sim_machine *m, uint32_t id);
/* The device address of the first byte, for kernel arguments. */
uint64_t sim_array_address(const struct sim_machine *m, uint32_t id);

/* Which queues see an array, on a device without page faults. A new array is seen by none. */
enum { SIM_ATTACH_GLOBAL = -1, SIM_ATTACH_HOST = -2 };
void sim_array_attach(struct sim_machine *m, uint32_t id, int32_t queue_or_attach);
int32_t sim_array_attached(const struct sim_machine *m, uint32_t id);
/*
 * What is known of the use of a managed array. A read-mostly one may be on the device and on the host
 * at once: a read by either side makes a copy there, a write by either takes that of the other away.
 * Counts from the next move of a page on; without page faults it changes nothing.
 */
enum sim_advice { SIM_ADVISE_NONE, SIM_ADVISE_READ_MOSTLY };
void sim_array_advise(struct sim_machine *m, uint32_t id, enum sim_advice advice);
/* Pages by state, for tests and statistics. */
struct sim_residency {
    uint64_t unpopulated, host, device, dirty, both;
};
void sim_array_residency(const struct sim_machine *m, uint32_t id, struct sim_residency *out);

/*
 * The host is about to read, or to write, bytes [offset, offset + bytes) of a managed array.
 * Pages that are on the device move back; `whole` says that every byte is overwritten, so that
 * nothing needs to move. Returns the ticket of the last move, or 0 if the host may go on at once.
 * In SIM_VALUES mode, and with `untimed`, the moves take no time and leave no transfer record.
 */
struct sim_host_access {
    uint32_t array;
    uint64_t offset, bytes;
    bool write, whole, untimed;
};
uint64_t sim_host_access(struct sim_machine *m, const struct sim_host_access *access);

/* ---- queues and commands --------------------------------------------------------------- */

/* Queues are hardware streams: commands of one queue complete in order. Queue 0 exists from the start. */
enum hd_status sim_queue_new(struct sim_machine *m, uint32_t *queue, struct hd_error *err);
/* Frees a queue when its commands have completed; its number may be used again. */
void sim_queue_free(struct sim_machine *m, uint32_t queue);

enum sim_cmd_kind {
    SIM_KERNEL,
    SIM_PREFETCH, /* moves the host pages of a managed array to the device */
    SIM_COPY_H2D, /* explicit copy between host memory and a SIM_DEVICE array */
    SIM_COPY_D2H,
    SIM_WAIT, /* completes when `ticket`, of any queue, has completed */
    SIM_MARK, /* completes when what is before it in its queue has */
};

struct sim_launch {
    const struct isa_program *program; /* must outlive the command */
    const struct isa_kernel *kernel;
    uint32_t grid[3], block[3]; /* work-groups; work-items of a work-group */
    uint32_t dynamic_lds;       /* bytes, behind the static local memory */
    const uint64_t *args; /* one for each parameter: the address of an array, or the bits of a scalar */
    const uint32_t *arrays; /* ids of the arrays that the kernel is given; nothing else is checked
                               for use in flight */
    const bool *writes;     /* beside arrays: whether the kernel may write it */
    uint32_t narrays;
};

struct sim_copy {
    uint32_t array;
    uint64_t offset, bytes;
    void *host; /* bytes of host memory, which must live until completion; NULL for SIM_PREFETCH */
    bool pinned;
};

struct sim_cmd {
    enum sim_cmd_kind kind;
    uint64_t tag;             /* handed back in records; the caller's */
    uint64_t ticket;          /* SIM_WAIT */
    struct sim_launch launch; /* SIM_KERNEL; copied, with its argument lists */
    struct sim_copy copy;     /* SIM_PREFETCH, SIM_COPY_* */
};

/*
 * Puts a command at the end of a queue, now. Tickets count from 1 and never repeat. A launch that
 * the device can never run (shape, registers, local memory) is HD_BAD_INPUT with the limit named.
 */
enum hd_status sim_submit(struct sim_machine *m, uint32_t queue, const struct sim_cmd *cmd,
                          uint64_t *ticket, struct hd_error *err);
bool sim_done(const struct sim_machine *m, uint64_t ticket);

/*
 * Runs to time_ps and no further. HD_SIM_FAILED when the simulated program fails, HD_BAD_INPUT when
 * its arrays turn out not to fit the device; the machine is then poisoned.
 */
enum hd_status sim_run_until(struct sim_machine *m, uint64_t time_ps, struct hd_error *err);
/* Runs until the ticket has completed and stops exactly there; with ticket 0, until sim_idle(). */
enum hd_status sim_wait(struct sim_machine *m, uint64_t ticket, struct hd_error *err);
/* The masks and registers of the wavefront that failed, or "". Valid until the machine is freed. */
const char *sim_fault_dump(const struct sim_machine *m);

/* Forgets what caches and DRAM rows hold, as at the start of an iteration. Only when idle. */
void sim_cool(struct sim_machine *m);

/* ---- records --------------------------------------------------------------------------- */

/* Why a resident wavefront did not issue in a core cycle; it is in exactly one in each. */
enum sim_stall {
    SIM_STALL_ISSUED,     /* it did issue, or took the cycle for tx_idle_issues */
    SIM_STALL_SCOREBOARD, /* waits for a result of the compute unit itself, or for a branch */
    SIM_STALL_BARRIER,
    SIM_STALL_LDS,    /* waits for local memory: the result, or its banks */
    SIM_STALL_MEMORY, /* waits for global memory */
    SIM_STALL_MSHR,   /* the load-store unit is held by a full MSHR file */
    SIM_STALL_ISSUE,  /* ready, but the SIMD unit's issue port or function unit was taken */
    SIM_STALL_TX,
    SIM_STALL_FETCH,
    SIM_NUM_STALLS
};

/* What a wavefront in a transaction spends its cycles on; they add up to tx_residency_cycles. */
enum sim_tx_cycles {
    SIM_TX_USEFUL,           /* in attempts, the share of their lanes that committed */
    SIM_TX_WASTED,           /* the share of those that aborted, and attempts that were stopped */
    SIM_TX_WAVEFRONT_SERIAL, /* in attempts serialised within the wavefront */
    SIM_TX_WORKGROUP_SERIAL, /* in attempts that have the work-group for themselves */
    SIM_TX_QUIESCE,          /* at tx.begin, until another wavefront of the work-group is done */
    SIM_TX_OTHER,            /* from one attempt to the next */
    SIM_NUM_TX_CYCLES
};

/* Transactions by their attempts: 1, 2, 3-4, 5-8, 9-16, 17-32, 33-64, more. */
enum { SIM_TX_ATTEMPT_BINS = 8 };

/* Counters of one kernel. Bytes and lanes, not requests, unless the name says so. */
struct sim_counters {
    uint64_t wave_instr, lane_instr; /* issued; summed active lanes */
    uint64_t class_instr[ISA_NUM_CLASSES];
    uint64_t flop32, flop64;                              /* add + mul + 2 fma, active lanes */
    uint64_t global_loads, global_stores, global_atomics; /* wavefront instructions */
    uint64_t l1_requests, l1_hits;                        /* lines looked up by loads */
    uint64_t sectors;                                     /* asked of L2: loads, stores, atomics */
    uint64_t l2_bytes, l2_hits, l2_misses;                /* hits and misses count sectors */
    uint64_t dram_read_bytes, dram_write_bytes;
    uint64_t dram_row_misses; /* requests to a row that was neither open nor waiting to be */
    uint64_t local_accesses, local_passes, local_conflict_passes;
    uint64_t barriers, branches, branches_taken, divergent_branches, mask_ops, skipped_instr;
    uint64_t gotos, joins, hops; /* hops: joins that woke no lane and passed on to their JIP */
    uint64_t stall_cycles[SIM_NUM_STALLS]; /* wavefront-cycles; they add up to residency */
    uint64_t residency_cycles;
    uint64_t groups, waves;
    /* page faults; see sim/um_fault.h */
    uint64_t page_faults; /* pages that wavefronts touched first where nobody else was asking for them */
    uint64_t fault_duplicates; /* entries in the fault buffer beside these: the same page from other compute units */
    uint64_t fault_batches; /* batches of the fault handler with an entry of the kernel */
    uint64_t fault_bytes;   /* moved by these for its faults, pages of the prefetch tree too */
    /* transactions; see sim/transactions.h */
    uint64_t tx_transactions;       /* entered by wavefronts */
    uint64_t tx_begins;             /* attempts */
    uint64_t tx_commits, tx_aborts; /* lanes */
    uint64_t tx_self_aborts;        /* attempts stopped for another wavefront */
    uint64_t tx_idle_issues; /* issue cycles without an instruction: to stop, and to save registers */
    uint64_t tx_accesses;    /* local accesses of wavefronts in transactions */
    uint64_t tx_true_conflicts, tx_false_conflicts, tx_read_read_conflicts; /* lanes */
    uint64_t tx_wave_serial, tx_group_serial; /* attempts that were serialised */
    uint64_t tx_races; /* lanes outside transactions that touched a word of one, by weak isolation */
    uint64_t tx_attempts[SIM_TX_ATTEMPT_BINS];
    uint64_t tx_cycles[SIM_NUM_TX_CYCLES]; /* wavefront-cycles */
    uint64_t tx_residency_cycles;          /* from the first tx.begin to the last tx.commit */
};

/* A completed kernel. occupancy is of the whole device by wavefront slots: the most that one
 * compute unit can hold / its slots. */
struct sim_kernel_record {
    uint64_t ticket, tag;
    uint32_t queue;
    const struct isa_program *program;
    const struct isa_kernel *kernel;
    uint32_t grid[3], block[3], dynamic_lds;
    uint64_t queued_ps, start_ps, end_ps; /* submitted; first work-group placed; last effect done */
    uint32_t groups_per_cu;               /* resident at most, by the limits */
    uint32_t waves_per_group;
    const char *limit; /* the limit that bounds groups_per_cu: "wavefronts", "workgroups", "barriers",
                          "vector registers", "scalar registers", "local memory" */
    struct sim_counters counters;
};

/* SIM_T_MIGRATE is the move of visible arrays ahead of a launch, on a device without page faults. */
enum sim_transfer_kind { SIM_T_COPY, SIM_T_PREFETCH, SIM_T_FAULT, SIM_T_EVICT, SIM_T_MIGRATE };
enum { SIM_NUM_TRANSFER_KINDS = SIM_T_MIGRATE + 1 };

struct sim_transfer_record {
    uint64_t ticket, tag;
    uint32_t queue, array;
    enum sim_transfer_kind kind;
    bool to_device;
    uint64_t bytes, queued_ps, start_ps, end_ps; /* queued_ps of a fault: the handler took it up */
};

/* Called as commands complete, in order of completion. They must not call the machine. */
struct sim_sink {
    void *user;
    void (*kernel)(void *user, const struct sim_kernel_record *r);
    void (*transfer)(void *user, const struct sim_transfer_record *r);
    void (*print)(void *user, const char *text); /* a kernel's print, one line */
};
void sim_set_sink(struct sim_machine *m, const struct sim_sink *sink);

/* ---- the probe --------------------------------------------------------------------------- */

enum hd_probe_kind {
    HD_PROBE_WAVE_START,
    HD_PROBE_ISSUE, /* an instruction issues; its values are not computed yet */
    HD_PROBE_REQUEST, /* sectors of a line are asked of L2; time_ps is when the request reaches its slice */
    HD_PROBE_FILL, /* sectors of a line have come back to the compute unit */
    HD_PROBE_WAVE_END,
    HD_PROBE_STALL, /* the cycles that a wavefront spent waiting to issue pc, or (ISSUED) issuing it */
    HD_PROBE_GLOBAL,      /* a global access of at least one lane, as it issues */
    HD_PROBE_LOCAL,       /* the same of a local access */
    HD_PROBE_L1_HIT,      /* a line of a load is in L1 */
    HD_PROBE_TX_BEGIN,    /* lanes start an attempt of a transaction */
    HD_PROBE_TX_CONFLICT, /* lanes lose an access and abort */
    HD_PROBE_TX_COMMIT,   /* lanes commit */
    HD_PROBE_TX_RETRY,    /* lanes are to start again */
};

/* For hd_probe.wants. */
#define HD_PROBE_WANT(kind) (UINT32_C(1) << (kind))
#define HD_PROBE_WANT_ALL UINT32_MAX

/* Pointers live during the call only, but for program and kernel. */
struct hd_probe_event {
    enum hd_probe_kind kind;
    uint64_t time_ps;
    uint32_t cu;
    /* of the wavefront; not for requests and fills */
    uint32_t simd, slot;
    uint64_t ticket, tag, group; /* of the kernel's command; flat index */
    uint32_t wave, pc;           /* wavefront in its work-group; instruction in its program */
    uint64_t lanes;              /* active */
    const struct isa_program *program;
    const struct isa_kernel *kernel;
    const struct isa_wave *regs; /* (isa/wave.h) all but HD_PROBE_L1_HIT */
    /* HD_PROBE_STALL: every cycle of a wavefront's residency is in one of these events, the one that
     * its end waits for loads too (at the pc of s_end) */
    enum sim_stall reason;
    uint64_t cycles;
    /* HD_PROBE_GLOBAL, HD_PROBE_LOCAL */
    const uint64_t *address;       /* by lane, of the active ones */
    uint32_t bytes;                /* of a lane */
    uint32_t nlines, nsectors;     /* global: that it touches */
    uint32_t passes, least_passes; /* local: of the banks; the fewest for as many lanes */
    /* requests, fills and hits */
    uint64_t line;    /* device address */
    uint32_t sectors; /* bit set */
    bool store;       /* requests: store or atomic */
};

/* The only hook into the machine; it sees only SIM_TIMED mode, and must not call the machine. fn
 * NULL takes it away. */
struct hd_probe {
    void *user;
    void (*fn)(void *user, const struct hd_probe_event *e);
    uint32_t wants; /* the kinds that fn is called for: HD_PROBE_WANT() of each */
};
void sim_set_probe(struct sim_machine *m, const struct hd_probe *probe);

/* Adds every counter of `from` to `to`. */
void sim_counters_add(struct sim_counters *to, const struct sim_counters *from);
/* Counters of the whole machine since it was made. */
void sim_totals(const struct sim_machine *m, struct sim_counters *out);

/* Unified memory since the machine was made, in SIM_TIMED mode. Faults, evictions, write-backs are pages. */
struct sim_um_totals {
    uint64_t fault_batches, page_faults, fault_duplicates, fault_bytes;
    uint64_t evictions;       /* pages that left the device to make room */
    uint64_t write_backs;     /* of these, dirty ones, which moved */
    uint64_t handler_busy_ps; /* the fault handler had a batch in hand */
};
void sim_um_totals(const struct sim_machine *m, struct sim_um_totals *out);

#endif
