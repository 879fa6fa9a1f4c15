/*
 * Divergence units: how a wavefront runs divergent control flow. A unit is a state machine with no
 * notion of time; it is the only home of EXEC and of the pc after a control instruction.
 */
#ifndef HD_CF_CF_H
#define HD_CF_CF_H

#include "isa/isa.h"
#include "sim/base/param.h"

/* What lanes wait for. */
enum cf_wait_kind {
    CF_WAIT_ASLEEP,  /* until control reaches their join */
    CF_WAIT_MEETING, /* at a join, for the others that they parted from */
    CF_WAIT_TURN,    /* until the unit chooses them */
    CF_WAIT_BARRIER, /* for their work-group */
};

struct cf_wait {
    enum cf_wait_kind kind;
    uint32_t at;   /* pc at which they go on */
    uint32_t from; /* CF_WAIT_ASLEEP: pc of the goto that put them to sleep */
    uint64_t lanes;
};

/* Sets of waiting lanes are disjoint. */
enum { CF_MAX_WAITS = ISA_MAX_WIDTH };

/* What a program must not do; found where it is done. */
enum cf_trouble {
    CF_NO_TROUBLE,
    CF_MISSED_JOIN, /* control goes past a join at which lanes sleep */
    CF_EMPTY_LOOP,  /* a backward branch is taken with no lane awake */
};

/* What a control instruction did. */
struct cf_cost {
    bool divergent;   /* lanes went different ways */
    bool hop;         /* a join woke no lane and passed on to its JIP */
    bool ignored;     /* a branch that holds falls through */
    uint32_t skipped; /* instructions jumped over forwards */
    enum cf_trouble trouble;
    struct cf_wait who; /* the nearest sleeping lanes, if there is trouble; lanes may be 0 */
};

enum cf_why { CF_ENDED, CF_AT_BARRIER, CF_RELEASED };

enum cf_next {
    CF_GO,
    CF_ALL_ENDED,
    CF_ALL_PARKED, /* every lane that is alive waits at a barrier */
    CF_DEADLOCK,   /* some wait at a barrier, and the others for those */
};

/* What a unit finds out about a kernel before it runs: a note for each of its instructions. */
struct cf_plan {
    uint32_t first;
    uint32_t note[];
};

/*
 * One unit. State is a flat block of size() bytes, 8-byte aligned and without pointers: a copy is a
 * snapshot. The caller keeps the pc between control instructions; step() is told by insn->pc where it
 * stands.
 */
struct cf_unit_ops {
    const char *name, *doc;
    unsigned forms; /* enum isa_form that it runs */
    bool runs_transactions; /* a wavefront's lanes meet at each tx.commit, and its state may be set back to tx.begin */
    size_t (*size)(const struct isa_program *program, unsigned width);
    /* Bytes of the state that count; what is behind them is room. */
    size_t (*used)(const void *state);
    /*
     * Fills plan->note, which is all ISA_NO_PC, or refuses the kernel: HD_BAD_INPUT. NULL: the unit needs no notes
     * and runs every kernel of its forms.
     */
    enum hd_status (*prepare)(const struct isa_program *program, const struct isa_kernel *kernel,
                              struct cf_plan *plan, struct hd_error *err);
    /* A wavefront starts at pc with these lanes alive. */
    void (*start)(void *state, uint32_t pc, uint64_t live);
    /* Where to go on, and with which of the lanes that are alive. */
    enum cf_next (*pick)(void *state, uint32_t *pc, uint64_t *lanes);
    /*
     * A control instruction (ISA_JUMP, ISA_BRANCH_*, ISA_GOTO, ISA_GOTO_BACK, ISA_JOIN). `active` are the lanes
     * that are active before its predicate. `taken` are those of them that take a goto; of a branch, which is one
     * decision for all, it is all ones or 0.
     */
    void (*step)(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                 uint64_t active, uint64_t taken, struct cf_cost *cost);
    uint64_t (*exec)(const void *state);
    /* Code writes EXEC; false: not in this form. */
    bool (*set_exec)(void *state, uint64_t exec);
    /* Lanes ended at a pc, wait at a barrier (pc is the barrier's), or are released from it. */
    void (*lanes)(void *state, uint32_t pc, uint64_t lanes, enum cf_why why);
    /* The lanes that wait, in the order in which they will go on if that is known. Returns how many sets. */
    unsigned (*waits)(const void *state, struct cf_wait out[CF_MAX_WAITS]);
};

/* In the order of `heddle list`; the value of divergence.unit is the index. Ends with NULL. */
extern const struct cf_unit_ops *const cf_units[];
/* The same list as names, for the parameter table. */
extern const struct param_choice cf_unit_choices[];

/*
 * Makes the unit's notes on a kernel, *out, which is freed with free(); NULL where it needs none.
 * HD_BAD_INPUT with the place where the unit cannot run it.
 */
enum hd_status cf_prepare(const struct cf_unit_ops *unit, const struct isa_program *program,
                          const struct isa_kernel *kernel, struct cf_plan **out,
                          struct hd_error *err);

/* Writes "lanes 0x... wait at the barrier at x.hasm:12; ..." of all lanes that wait, or "". */
void cf_describe_waits(const struct cf_unit_ops *unit, const void *state,
                       const struct isa_program *program, char *out, size_t size);

#endif
