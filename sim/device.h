/*
 * The device: kernels, work-groups and wavefronts on their compute units. For the files of sim/
 * only; the parts below are each run by the file that is named.
 */
#ifndef HD_SIM_DEVICE_H
#define HD_SIM_DEVICE_H

#include "cf/cf.h"
#include "isa/wave.h"
#include "sim/base/fastmod.h"
#include "sim/base/pool.h"
#include "sim/base/vec.h"
#include "sim/cache.h"
#include "sim/calendar.h"
#include "sim/limits.h"
#include "sim/machine.h"
#include "sim/placement.h"
#include "sim/request.h"
#include "sim/returns.h"
#include "sim/transit.h"
#include "tm/tm.h"

enum { ACCESS_LINES_MAX = ISA_MAX_WIDTH }; /* an aligned access of a lane is in one line */

#define NONE32 POOL_NONE /* end of a list of indices */
#define NO_ROW UINT64_MAX

struct dram_row {
    uint64_t row; /* NO_ROW: none */
    uint64_t open_ps;
};

/* Function units: classes of instructions that compete for one pipeline. */
enum function_unit {
    FU_VALU, /* ALU and MUL */
    FU_XU,   /* CVT and SFU */
    FU_F64,
    FU_SALU,
    FU_XLANE,
    FU_BRANCH,
    FU_LDS, /* shared by the SIMD units of a compute unit, like FU_LSU */
    FU_LSU,
    FU_SYNC,
    NUM_FUS
};

/*
 * When something is ready: a core cycle and, below it, the stall reason of whoever waits for it, so
 * that the latest of several is found by comparing. PENDING: not known yet.
 */
typedef uint64_t ready_t;
#define READY(cycle, reason) ((ready_t)(cycle) << 4 | (ready_t)(reason))
#define READY_CYCLE(r) ((r) >> 4)
#define READY_REASON(r) ((enum sim_stall)((r)&15))
#define READY_PENDING ((ready_t)1 << 63)

/* A wavefront's search for a loop that changes nothing. */
struct progress {
    uint64_t state;   /* hash of the registers at pc, when they were last kept */
    uint64_t effects; /* of the device, then */
    uint32_t pc, steps, limit;
    bool looping; /* came back to the kept state */
};

enum wave_state {
    WAVE_FREE,
    WAVE_TIMED, /* its next instruction can issue at .ready, as far as its own registers are concerned */
    WAVE_PENDING, /* waits for global memory */
    WAVE_FENCE,   /* waits until its stores have arrived */
    WAVE_BARRIER,
    WAVE_TX,    /* waits for a transaction of another wavefront of its work-group */
    WAVE_DRAIN, /* has ended, but loads of it are under way */
};

typedef void issue_fn(struct sim_machine *m, struct wavefront *w, uint64_t cycle);

struct wavefront {
    /* what every issue looks at comes first */
    const struct isa_insn *next;
    ready_t ready; /* WAVE_TIMED; in the other states its reason is booked until it goes on */
    uint64_t mark; /* first core cycle that no stall reason has been booked for */
    struct kernel_run *run;
    issue_fn *const *issue; /* by format; one of issue_tables */
    uint8_t state;          /* enum wave_state */
    uint8_t unit;           /* enum function_unit of its next instruction */
    uint8_t simd, slot;     /* slot within the SIMD unit */
    uint16_t cu;
    uint16_t ahead; /* instructions from next on whose values are computed */
    bool in_tx;     /* between its first tx.begin and the last tx.commit */
    uint64_t run_mask; /* what the last of them writes, if it writes a mask or EXEC, before; for cu.skip_idle_passes */
    uint32_t loads, stores; /* under way */
    struct workgroup *group;
    struct isa_wave regs;
    ready_t sb[ISA_SB_COUNT];
    void *cf;                 /* state of the divergence unit */
    uint32_t *v;              /* storage of the vector registers */
    size_t v_room, cf_room;   /* bytes */
    uint64_t stored_ps;       /* when the last of its stores is known to have taken effect */
    uint32_t life;            /* counts the wavefronts that this place has held */
    struct progress progress; /* see sim/progress.c */
    struct wave_tx *tx;       /* see sim/transactions.h; only where its kernel has transactions */
    size_t tx_room;
};

struct workgroup {
    struct kernel_run *run; /* NULL: the slot is free */
    uint64_t index;         /* flat, x fastest */
    uint32_t waves, live, arrived;
    uint8_t *lds;
    size_t lds_room;
    uint32_t lds_bytes;         /* what the kernel may address */
    uint8_t on_simd[SIMDS_MAX]; /* its wavefronts, the ended ones too */
    struct tm_wg *tm;           /* its transactions; see sim/transactions.h */
    size_t tm_room, oracle_room;
    struct tm_oracle *oracle; /* watches them, if .checked */
    bool checked;
    uint16_t tm_waves[TX_WAVES_MAX]; /* its wavefronts, by their index in it: places in cu.waves */
};

enum { SIMD_NEAR = 64 }; /* cycles that a SIMD unit's wheel sees ahead */

struct simd {
    struct cu *cu;
    struct wavefront *waves; /* [slots] */
    uint64_t due;            /* next cycle to look at it, CALENDAR_NEVER: none is known */
    uint64_t used;           /* slots with a wavefront */
    uint64_t ready;          /* may issue as far as registers are concerned */
    uint64_t near_due;       /* places of near that are not empty */
    uint64_t far;            /* slots that become ready later than the wheel sees */
    uint64_t far_from;       /* none of them is ready earlier; CALENDAR_NEVER if there are none */
    uint64_t now;            /* cycle up to which near has been emptied into ready */
    uint64_t open;           /* first cycle from which on it has not issued */
    uint32_t last;           /* slot that issued last, for the policies */
    uint32_t busy;           /* function units that were taken for more than a cycle */
    uint8_t unit_of[ISA_NUM_CLASSES]; /* enum function_unit of a class */
    uint32_t index, turns;            /* it issues in cycles that are index modulo turns */
    uint64_t of_unit[NUM_FUS]; /* slots by function unit of their next instruction, free ones as they were left */
    uint64_t unit_free[NUM_FUS];   /* of the busy ones: cycle at which the unit takes the next
                                      instruction */
    uint64_t near[SIMD_NEAR];      /* slots that become ready at a cycle of that place */
    uint8_t order[SIMD_SLOTS_MAX]; /* used slots in order of arrival, the oldest first */
    uint32_t norder;
    uint32_t free_slots, free_vregs, free_sregs; /* no work-group owns them */
};

/* A load or returning atomic that waits for lines. */
struct load_op {
    struct wavefront *wave;
    uint32_t lines; /* still missing; of a whole one, whose answer is not known */
    uint32_t pc;
    ready_t at; /* when what is not missing is ready */
    uint16_t set[ISA_SB_MAX_SET];
    uint8_t nset;
    bool whole; /* all its lines went past L1 when it issued, so that only the last that comes is of interest */
};

/* One load's interest in sectors that are on their way. */
struct waiter {
    uint32_t op, next;
    uint32_t sectors; /* still missing; 0: nobody waits */
};

struct mshr {
    uint64_t line;
    uint32_t sectors;    /* on their way */
    uint32_t next;       /* of the same hash, or free list */
    uint32_t loads;      /* lines of loads that have come to wait for it */
    struct waiter first; /* .next is the list of the others, NONE32 at the end */
};

/*
 * Lines that left L1 dirty, up to one who waits for them: a wavefront by its place in the compute unit,
 * or else a kernel by its place in the device.
 */
struct l1_round {
    uint32_t open;      /* not known yet when they take effect */
    uint64_t effect_ps; /* of the others */
    uint32_t wave, run; /* NONE32; those of the last round are still to come */
};

struct cu {
    uint32_t id;
    uint64_t due;            /* the least of its SIMD units */
    uint32_t tied;           /* wavefronts that wait for stores at a fence, or that drain */
    struct simd *simds;      /* a part of the device's */
    struct wavefront *waves; /* [simds][slots] */
    struct workgroup *groups;
    /* what is left, in the units of the configuration */
    uint32_t free_groups, free_barriers, free_waves, free_vregs, free_sregs, free_lds;
    uint32_t nsimds;
    uint64_t lds_free, lsu_free; /* cycles at which the units take the next instruction */
    /* load-store unit: an instruction whose lines found no MSHR free holds it */
    struct line_request *held; /* lines still to be looked up */
    uint32_t nheld, held_at, held_op;
    bool held_absent;    /* the next of them is in no way of L1 and in no MSHR */
    uint32_t port_used;  /* places taken at the L1 port in port_cycle */
    uint64_t port_cycle; /* of the next place */
    uint64_t held_until; /* cycle at which the last such hold ended */
    struct cache l1;
    uint32_t dirty_lines;        /* of L1 */
    uint32_t first_round;        /* number of rounds.at[0] */
    VEC(struct l1_round) rounds; /* write-back: at least one */
    uint64_t written_ps;         /* by when all rounds that are over have taken effect */
    struct mshr *mshrs;
    uint32_t *mshr_index; /* hash of lines to mshrs */
    uint32_t mshr_mask, mshr_free;
    uint32_t mshrs_left;     /* without L1: as many are free */
    struct returns *returns; /* without L1: those that nothing else waits for; NULL with it */
    struct transit *fills;   /* data on its way back */
    struct pool ops;         /* struct load_op */
    struct pool waiters;     /* struct waiter */
};

/* One resident kernel. */
struct kernel_run {
    bool used;
    uint64_t ticket, tag, queued_ps, start_ps;
    uint32_t queue;
    const struct sim_launch *launch;
    const struct isa_program *program;
    const struct isa_kernel *kernel;
    struct cf_plan *plan; /* the divergence unit's notes on the kernel; NULL: it needs none */
    struct occupancy occupancy;
    uint32_t vreg_words, sreg_words, lds_alloc; /* per wavefront, wavefront, work-group */
    uint32_t lds_bytes;
    struct tm_params *tm;                  /* NULL: the kernel has no transactions */
    bool one_simd;                         /* all wavefronts of a work-group go to one SIMD unit */
    uint32_t first_cu, count_cus, next_cu; /* spatial placement: its units, and where to look next */
    uint64_t passed; /* work-groups of others since it was in turn and found no room */
    uint64_t groups, placed, done;
    uint64_t stores;  /* under way */
    uint64_t last_ps; /* when the last of its stores takes effect */
    bool started;
    bool flushed;                  /* its last work-group has ended, and L1 has been told */
    uint64_t ran_on[CUS_MAX / 64]; /* compute units, a bit each */
    uint64_t order;                /* of becoming resident */
    uint32_t *load_from; /* per instruction: 1 + id of the array that a load is from; see sim/private.c */
    uint32_t *array_at; /* per instruction: 1 + id of the array that its last access found */
    struct sim_counters c;
};

/* A kernel that is not resident yet. */
struct waiting_launch {
    uint64_t ticket, tag, queued_ps;
    uint32_t queue;
    const struct sim_launch *launch;
};

/* One line that an instruction touches. */
struct line_request {
    uint64_t line;
    uint32_t sectors;
    uint16_t serial; /* atomics: most lanes on one word */
};

/* Passes that the banks of local memory need for a pattern of lane addresses, and the fewest for as
 * many lanes. */
struct local_passes {
    uint16_t passes, least;
};

enum { LOCAL_PATTERNS = 64 };

/* A pattern of lane indices and what follows from it; active 0: empty. Offsets are in bytes. */
struct local_pattern {
    uint64_t active;
    uint8_t bytes, shift; /* of a lane; from index to bytes */
    bool atomic;
    bool block;     /* all lanes, 4 bytes each, one behind the other */
    uint8_t within; /* where in its word the first active lane is */
    struct local_passes result;
    uint32_t bits;                 /* all bits of the offsets from the first active lane */
    int64_t low_index, high_index; /* least and greatest index, from that of the first active lane */
    int64_t low, high;             /* the same as offsets */
    uint8_t kinds[ISA_MAX_WIDTH / 8]; /* see isa_lanes.gather; where all lanes are active */
    uint32_t distance[ISA_MAX_WIDTH]; /* indices of the active lanes from that of the first */
    uint32_t offset[ISA_MAX_WIDTH];   /* of the active lanes from the lowest */
};

/* Requests that arrive at L2 in one cycle: a list for each compute unit, linked by .next. */
struct arrivals {
    uint64_t cus[CUS_MAX / 64]; /* that have one */
    uint32_t first[CUS_MAX], last[CUS_MAX];
};

struct wave_scheduler;

struct device {
    struct cu *cus;
    struct simd *simds;       /* of all compute units */
    struct calendar calendar; /* of compute units */
    uint64_t lookahead; /* cycles that a compute unit may run ahead of the others, at least 1 */
    const struct wave_scheduler *scheduler;
    const struct placement *placement;
    const struct cf_unit_ops *cf;
    /* timing by class, in core cycles */
    uint32_t latency[ISA_NUM_CLASSES], busy[ISA_NUM_CLASSES];
    uint32_t pass_lanes[ISA_NUM_CLASSES]; /* lanes of a pass; cu.skip_idle_passes */
    uint32_t pass_cycles[ISA_NUM_CLASSES];
    bool (*step)(struct sim_machine *m, struct simd *s, bool ahead); /* see simd_step() */
    uint64_t noc_ps, l2_latency_ps, l2_atomic_ps, dram_latency_ps;
    uint32_t line_shift, sector_shift, sectors_per_line;
    bool l1_takes_stores; /* stores look L1 up */
    bool l1_writes_back;
    bool l1_is_plain; /* a fill may replace any line, and nothing in it is dirty */
    struct fastmod by_slices, by_slice_sets, by_l1_sets;
    struct rate_step l2_steps[SECTORS_MAX + 1],
        dram_steps[SECTORS_MAX + 1]; /* by number of sectors */
    uint32_t simd_slots;
    struct cache l2; /* all slices: sets are numbered over them */
    struct rate_server *slices;
    struct rate_server *channels;
    uint64_t row_span;     /* bytes whose parts of each channel are one row there; 0: no rows */
    struct dram_row *rows; /* [channels][dram.banks][dram.bank_rows], newest first; NULL: no rows */
    uint64_t row_miss_ps, row_gap_ps;
    uint64_t *next_rows_ps; /* [channels] when the next row may be opened; NULL: no rows */
    uint32_t slice_fold;    /* upper bits of a line's number that l2.hash folds in: all or none */
    struct requests requests;
    struct transit *to_l2;    /* by the core cycle at whose end they are sent */
    struct arrivals arrivals; /* empty but while they are served */
    struct kernel_run *runs;  /* [resident_kernels] */
    uint32_t nruns, ncus;
    uint32_t shares[SHARES_MAX], nshares; /* launch.shares */
    uint64_t places;                      /* for work-groups, of all compute units */
    uint32_t cleared_for; /* index of a run, or NONE32: the first of its compute units takes no others */
    VEC(struct waiting_launch) waiting; /* in order; all places for resident kernels are taken */
    uint64_t next_order, last_order;    /* of runs, from 1; of the run that a policy served last */
    uint32_t next_cu;                   /* placement starts looking here */
    bool dispatch_due;                  /* an EV_DISPATCH is under way */
    uint64_t dispatch_free_ps;
    bool run_ahead;
    struct simd *stepping; /* the SIMD unit whose cycle is being served, NULL outside of one */
    struct cu *running;    /* its compute unit, from its fills on */
    uint32_t open_writers; /* stores and atomics of resident kernels that may be to any array */
    uint32_t open_runs;    /* with work-groups that are not placed yet */
    bool looks_at_pages;   /* the access in hand may find pages absent, or changes their states */
    struct line_request *lines; /* of the access in hand: the room of its compute unit */
    struct local_pattern patterns[LOCAL_PATTERNS]; /* met last, by hash */
    uint64_t instructions;                         /* issued */
    uint64_t effects,
        effect_instructions; /* changes of memory; instructions issued at the last one */
};

enum hd_status device_new(struct sim_machine *m, struct hd_error *err);
void device_free(struct sim_machine *m);
void device_cool(struct sim_machine *m);
/* Rows that may be open at once. */
static inline size_t device_rows(const struct sim_config *c)
{
    return (size_t)c->dram_channels * c->dram_banks * c->dram_bank_rows;
}

/* ---- sim/wavefront.c: birth, death and barriers ---- */

/* Room for `want` bytes at *p, aligned for vectors; keeps no contents. */
bool wave_room(void **p, size_t *have, size_t want);

/* Places work-group `index` of a run on a compute unit that has room. In SIM_TIMED its wavefronts
 * can issue from cycle `now` on. */
bool group_start(struct sim_machine *m, struct kernel_run *run, struct cu *cu, uint64_t index,
                 uint64_t now);
/* The wavefront's last lane has ended at cycle `now`. */
void wave_end(struct sim_machine *m, struct wavefront *w, uint64_t now);
/* A draining wavefront's last load came back, or it had none. */
void wave_retire(struct sim_machine *m, struct wavefront *w, uint64_t now);
/*
 * The wavefront waits, in one of the states WAVE_FENCE and WAVE_DRAIN, for something that acts on
 * others than its compute unit, which until then goes cycle by cycle with all.
 */
void wave_tie(struct sim_machine *m, struct wavefront *w, enum wave_state state);
void wave_untie(struct sim_machine *m, struct wavefront *w);
/* The active lanes have come to a barrier at cycle `now`: the wavefront waits, or others of its lanes go on. */
void wave_at_barrier(struct sim_machine *m, struct wavefront *w, uint64_t now);
/* All lanes that are alive wait at barriers: the wavefront counts as arrived. */
void wave_arrive(struct sim_machine *m, struct wavefront *w, uint64_t now);

/* ---- sim/occupancy.c: what work-groups take of a compute unit ---- */

/* Sets what each wavefront and work-group of a launch takes. */
void occupancy_needs(const struct sim_config *c, const struct sim_launch *l, struct kernel_run *run);
/* All of a new compute unit is free. */
void room_init(const struct sim_config *c, struct cu *cu);
bool group_fits(const struct cu *cu, const struct kernel_run *run);
/*
 * Placing a work-group that fits: take what the compute unit shares, then for each wavefront find a
 * SIMD unit (the one with the fewest wavefronts that has room; with one_simd room for all of the
 * work-group) and take that wavefront's part of it.
 */
void room_take_group(struct cu *cu, const struct kernel_run *run);
uint32_t room_simd(const struct cu *cu, const struct kernel_run *run);
void room_take_wave(struct cu *cu, uint32_t simd, struct workgroup *g);
/* A work-group that has ended gives back all that it took, the slots of its wavefronts too. */
void room_give(struct cu *cu, struct workgroup *g);

/* ---- sim/cu.c: a compute unit's stretch of cycles ---- */

/* Serves a compute unit from cycle `cycle`, which is now, as far as nothing can come from outside. */
void cu_run(struct sim_machine *m, struct cu *cu, uint64_t cycle);
/* Something has become due in it at a cycle. */
static inline void cu_due(struct sim_machine *m, const struct cu *cu, uint64_t cycle)
{
    struct device *d = m->device;

    if (d->running != cu && cycle < d->calendar.at[cu->id])
        calendar_set(&d->calendar, d->calendar.now, cu->id, cycle);
}
/* How far compute units may run ahead in a machine of this configuration and with these limits. */
void cu_set_lookahead(struct sim_machine *m);

/* ---- sim/issue.c: the SIMD unit's cycle ---- */

/* The function unit of each class of instructions, in a machine of this configuration. */
void issue_units(const struct sim_config *c, uint8_t unit_of[ISA_NUM_CLASSES]);

/*
 * Serves cycle s->due of a SIMD unit. With `ahead` that is later than now, and nothing is done if
 * what would issue acts on what compute units share: then it returns false, and is to be called
 * again when its cycle has come.
 */
bool simd_step(struct sim_machine *m, struct simd *s, bool ahead);
/* The same with cu.dual_issue, and with all that sim/issue_wide.c knows. */
bool simd_pair_step(struct sim_machine *m, struct simd *s, bool ahead);
bool simd_wide_step(struct sim_machine *m, struct simd *s, bool ahead);
/* Books the cycles for which a wavefront that was ready did not issue before `cycle`. */
void issue_book_unit(const struct cu *cu, struct wavefront *w, uint64_t cycle);
/* issue_book() where there is a probe. */
void issue_book_probed(struct sim_machine *m, const struct cu *cu, struct wavefront *w,
                       uint64_t cycle);
/* Runs the next instruction of a wavefront at `cycle`, and schedules what follows it. */
void issue_next(struct sim_machine *m, struct wavefront *w, uint64_t cycle);
/* The wavefront's next instruction can issue when its registers are ready, and not before `earliest`. */
void wave_go_on(struct sim_machine *m, struct wavefront *w, ready_t earliest, uint64_t now);
/* Books cycles up to (not including) `cycle` under a reason. */
void wave_book(struct wavefront *w, uint64_t cycle, enum sim_stall reason);
/* Wakes the SIMD units of a compute unit, because a shared unit became free at cycle `now`. */
void cu_wake(struct sim_machine *m, struct cu *cu, uint64_t now);

/* ---- sim/execute.c: values of one step ---- */

/*
 * Computes the values of the straight-line run that starts at w->next, and counts its instructions.
 * Returns its length, at least 1.
 */
uint32_t execute_run(struct sim_machine *m, struct wavefront *w);
/* A control instruction: moves w->next. */
void execute_branch(struct sim_machine *m, struct wavefront *w);
/* s_end. CF_GO: w->next has moved on. CF_DEADLOCK: a fault, which is recorded. */
enum cf_next execute_end(struct sim_machine *m, struct wavefront *w);
/* After lanes have parked, ended or been released: CF_GO sets w->next and EXEC; CF_DEADLOCK is a fault, which is recorded. */
enum cf_next execute_pick(struct sim_machine *m, struct wavefront *w);
void execute_print(struct sim_machine *m, struct wavefront *w);
void execute_assert(struct sim_machine *m, struct wavefront *w);
void count_instruction(struct sim_machine *m, struct wavefront *w, const struct isa_insn *in,
                       uint64_t active);

/* ---- sim/global_access.c: addresses, checks and values of global memory ---- */

/*
 * Does the access of w->next: checks every active lane, then moves the values. Returns the number
 * of lines touched, which are in m->device->lines if lines is set; -1 on a fault, which is recorded.
 */
int global_access(struct sim_machine *m, struct wavefront *w, uint64_t active, bool lines);

/* ---- sim/local_access.c ---- */

/* Does the access; returns the passes that the banks take (0 with no active lane), -1 on a fault. */
int local_access(struct sim_machine *m, struct wavefront *w, uint64_t active);

/* ---- sim/lsu.c: load-store unit, L1, MSHRs ---- */

/* The lines of a load, store or atomic enter the unit at cycle `now`. */
void lsu_issue(struct sim_machine *m, struct wavefront *w, const struct isa_insn *in,
               uint32_t nlines, uint64_t now);
/* Data of a request has arrived at its compute unit, cu. */
void lsu_fill(struct sim_machine *m, struct cu *cu, uint32_t request, uint64_t cycle);
static inline bool lsu_held(const struct cu *cu)
{
    return cu->held_at < cu->nheld;
}
/* A store of the wavefront, or what counts as one, takes effect at effect_ps. */
void lsu_stored(struct sim_machine *m, struct wavefront *w, uint64_t effect_ps);
/* A wavefront at a fence has no access left without an answer, though the time of an answer may be to come. */
void lsu_pass_fence(struct sim_machine *m, struct wavefront *w, uint64_t now);
/* A store or atomic of a wavefront has taken effect in L2, for others to see from effect_ps on. */
void lsu_store_done(struct sim_machine *m, const struct request *r, uint64_t effect_ps);

/* ---- sim/l2.c and sim/dram.c ---- */

/*
 * Sends a list of requests, linked by .next, that have waited for a page. They arrive ahead of what compute
 * units send in this cycle, which may have been sent already where a unit is ahead of the others.
 */
void l2_replay(struct sim_machine *m, uint32_t first);
void l2_replay_event(struct sim_machine *m, const struct event *e); /* EV_REPLAY */
/* What was sent in cycle to_l2->next arrives: by compute unit, and by the order of sending. */
void l2_arrivals(struct sim_machine *m);
void l2_event(struct sim_machine *m, const struct event *e); /* EV_L2: no way was free */
/* Event EV_FILL: an answer that comes back too late for transit. */
void fill_event(struct sim_machine *m, const struct event *e);
void dram_event(struct sim_machine *m, const struct event *e);
/* A request with old contents; REQUEST_NONE on failure, which is recorded. */
static inline uint32_t request_new(struct sim_machine *m)
{
    uint32_t i = requests_take(&m->device->requests);

    if (i == REQUEST_NONE)
        machine_out_of_memory(m);
    return i;
}
static inline struct request *request_at(const struct device *d, uint32_t index)
{
    return &d->requests.at[index];
}
/* The sectors that a channel has read for a line of L2 are ready at ready_ps. */
void l2_fetched(struct sim_machine *m, const struct request *r, uint64_t ready_ps);
/* The channel has passed what had to leave L2 for a store. */
void l2_written(struct sim_machine *m, uint32_t store, uint64_t written_ps);
/*
 * Sectors of the line of an L2 request are read, or those of a line of the same slice and set are
 * written, by a request that arrives at the channel at arrival_ps; the requests of one slice are sent
 * in order of arrival. Returns when the data is ready, or when the channel has passed it, if that is
 * known, else SIM_NEVER: l2_fetched(), or l2_written() for `store` if that is not NONE32, says it
 * later.
 */
uint64_t dram_read(struct sim_machine *m, const struct request *r, uint32_t sectors,
                   uint64_t arrival_ps);
uint64_t dram_write(struct sim_machine *m, const struct request *r, uint64_t line, uint32_t sectors,
                    uint64_t arrival_ps, uint32_t store);

/* ---- sim/dispatch.c ---- */

/* Places one work-group at a core cycle; false if none can be placed. */
bool dispatch_place(struct sim_machine *m, uint64_t cycle);
/* In SIM_VALUES: the runs that are done leave, and waiting ones become resident. */
void dispatch_finish_values(struct sim_machine *m);
void dispatch_group_done(struct sim_machine *m, struct kernel_run *run);
void run_check_done(struct sim_machine *m, struct kernel_run *run);

/* ---- sim/private.c: loads that may be ahead of what other compute units do ---- */

/* The kernel becomes resident; false when memory is short. */
bool private_init(struct sim_machine *m, struct kernel_run *run);
/* It is no more. */
void private_end(struct sim_machine *m, struct kernel_run *run);
/* Whether no resident kernel may write what the load is from; it is taken to stay in its array. */
static inline bool load_is_private(const struct sim_machine *m, const struct kernel_run *run,
                                   const struct isa_insn *in)
{
    uint32_t array = run->load_from[in->pc - run->kernel->first];

    return array && !m->device->open_writers && !m->memory.arrays.at[array - 1].in_step;
}

/* ---- sim/probe.c: called only where m->probe.fn is set ---- */

void probe_wave(struct sim_machine *m, const struct wavefront *w, enum hd_probe_kind kind,
                uint64_t cycle);
void probe_line(struct sim_machine *m, const struct request *r, enum hd_probe_kind kind,
                uint64_t time_ps);
/* Cycles have been booked on a wavefront since its kernel's stall_cycles were `before`. */
void probe_stalls(struct sim_machine *m, const struct wavefront *w, const uint64_t *before);
void probe_l1_hit(struct sim_machine *m, const struct load_op *op, const struct line_request *l);

struct probe_access {
    uint64_t active;
    const uint64_t *address; /* by lane */
    uint32_t bytes, nlines;  /* global: lines in m->device->lines */
    struct local_passes passes;
};
void probe_global(struct sim_machine *m, const struct wavefront *w, const struct probe_access *a);
void probe_local(struct sim_machine *m, const struct wavefront *w, const struct probe_access *a);

/* ---- sim/fault.c ---- */

/* The wavefront's next instruction failed; lane may be -1. The dump shows the wavefront. */
void fault_raise(struct sim_machine *m, const struct wavefront *w, int lane, const char *code,
                 const char *hint, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* The same for what must not be, whatever the program does: HD_INTERNAL. */
void fault_internal(struct sim_machine *m, const struct wavefront *w, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- sim/values.c: SIM_VALUES ---- */

/* Runs all resident wavefronts in turn until none is left. */
void values_run(struct sim_machine *m);

/* ---- sim/progress.c ---- */

/* The wavefront has taken a backward branch. Fails the run if it and all others can be proved to
 * loop for ever. */
void progress_check(struct sim_machine *m, struct wavefront *w);
/* Memory has changed, or time was read, so that what looked like an endless loop may end. */
static inline void progress_effect(struct device *d)
{
    d->effects++;
    d->effect_instructions = d->instructions;
}

#endif
