/*
 * Transactions in the local memory of one work-group: masks, conflict detection, version management and
 * serialisation as one state machine with no notion of time. A call is one instruction of one wavefront,
 * whole: it says what happened and what the banks did for it.
 *
 * M. Villegas et al. give the rules (tm/README.md names the papers and each decision that they leave open).
 */
#ifndef HD_TM_TM_H
#define HD_TM_TM_H

#include "sim/base/error.h"
#include "sim/base/param.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TM_ITEMS_MAX = 256,     /* work-items of a work-group: a record has 8 bits for an owner */
    TM_WAVEFRONTS_MAX = 32, /* wavefronts fit a mask */
    TM_LANES_MAX = 64,
    TM_WORDS_A_LANE = 2, /* 32-bit words of an access of 64 bits */
    TM_BANKS_MAX = 128,
};

/* ---- parameters ---- */

enum tm_helper { TM_HELPER_PER_BANK, TM_HELPER_PER_WAVEFRONT };
enum tm_wg_hold { TM_HOLD_ATTEMPT, TM_HOLD_WAVEFRONT };
enum tm_dcd_release { TM_RELEASE_EXACT, TM_RELEASE_EPOCH };
enum tm_mcm_source { TM_MCM_OWNER, TM_MCM_MATCH };
enum tm_multi_fail { TM_FAIL_WG, TM_FAIL_WF };
enum tm_global_store { TM_GLOBAL_TRAP, TM_GLOBAL_ALLOW };
enum tm_abort_model { TM_ABORT_LOG, TM_ABORT_SCAN, TM_ABORT_IDEAL };

/* Names and docs of the choices, in the order of the numbers above; each list ends with a NULL name. */
extern const struct param_choice tm_detector_choices[], tm_serialise_choices[], tm_helper_choices[],
    tm_wg_hold_choices[], tm_dcd_release_choices[], tm_mcm_source_choices[],
    tm_multi_fail_choices[], tm_global_store_choices[], tm_abort_model_choices[];

/* Fields of 32 bits that say "index" are numbers of a list of choices. tm/README.md has the meaning of each. */
struct tm_params {
    uint32_t detector; /* index: prw-sig, swo-sig, dcd, dcd-sm */
    uint32_t serialise; /* index: ascending- and descending-single, ascending- and descending-multiple */
    uint32_t helper;  /* index, swo-sig: write signature of a wavefront for each bank, or one */
    uint32_t wg_hold; /* index: token kept for one attempt, or until its wavefront has committed */
    uint32_t dcd_release;  /* index, dcd-sm: how a record forgets its readers */
    uint32_t mcm_source;   /* index: what tells MCM who holds a word without a record */
    uint32_t multi_fail;   /* index: where a failed multiple selection goes */
    uint32_t global_store; /* index: kept here for sim/, which checks it */
    uint32_t abort_model;  /* index: how an abort finds the words to restore */
    bool owner_on_read;    /* signatures: loads write owner records too */
    bool early_exit;       /* a wavefront without lanes left goes to its tx.commit at once */
    bool broadcast_always; /* phase 3 takes its cycle in each pass, else only after a conflict */
    bool strong;           /* plain accesses wait for marks of others */
    bool pass_pipelined;   /* the next pass starts before local memory has answered */
    /* Signatures: exact read sets are kept beside them, so that conflicts can be classed. Host time only: changes no outcome. */
    bool classify;
    uint32_t record_bits; /* 8, 16, 32: of an owner record in shadow memory */
    uint32_t hash_k;      /* 1, 2: bits that a word sets in an 8-bit filter */
    uint32_t checkpoint_cycles; /* cycles to save a vector register; kept here for sim/, which charges it */
    uint32_t banks;             /* 1..TM_BANKS_MAX */
    uint32_t lanes_per_pass;     /* 1..64: words that one pass serves at most */
    uint32_t signature_cycles;   /* phase 1 of the signature detectors, and their flash clear */
    uint32_t slot_cycles;        /* one access of a bank */
    uint32_t broadcast_cycles;   /* phase 3 */
    uint32_t lds_latency_cycles; /* of local memory, added to a pass by out->cycles */
};

/* The defaults: prw-sig, ascending-single, 32 banks, 32 lanes a pass, and those of tm/README.md. */
void tm_defaults(struct tm_params *params);

/*
 * Whether the parameters are in range and the detector can serve this work-group: HD_BAD_INPUT with codes
 * "tm-parameter" and "tm-capacity" (more than TM_ITEMS_MAX work-items, or too many for the records).
 */
enum hd_status tm_check(const struct tm_params *params, unsigned wavefronts, unsigned width,
                        struct hd_error *err);

/* What a kernel with transactions takes beside its own needs. */
struct tm_needs {
    uint32_t vregs; /* vector registers of a work-item */
    uint32_t sregs; /* scalar registers of a wavefront */
    uint64_t shadow_bytes; /* local memory of a work-group: backups and owner records, whole rows of the banks */
};

struct tm_needs tm_needs(const struct tm_params *params, size_t lds_bytes);

/* ---- a work-group's state ---- */

/*
 * One flat block without pointers, 8-byte aligned, all of it defined: memcpy of tm_size() bytes is a snapshot that goes
 * on alike, and equal bytes are equal states.
 */
struct tm_wg;

/* Bytes of the block. The arguments have passed tm_check; lds_bytes is what the work-group sees of
 * local memory; behind an odd end there is room for the whole last word. */
size_t tm_size(const struct tm_params *params, unsigned wavefronts, unsigned width,
               size_t lds_bytes);
/* Makes block a work-group outside transactions. */
void tm_init(struct tm_wg *block, const struct tm_params *params, unsigned wavefronts,
             unsigned width, size_t lds_bytes);

/* ---- what happened ---- */

enum tm_what {
    TM_GO,   /* the instruction is done; of tm_access: for lanes `done` */
    TM_WAIT, /* nothing happened: the wavefront sleeps until a `wake` names it, and asks again */
    /*
     * The attempt is over: registers of lanes `restore`, scalar state and the divergence unit go back to the start
     * of the attempt, the pc to the instruction after the outermost tx.begin, and tm_begin is asked before it.
     */
    TM_RETRY,
    TM_LEAVE, /* all lanes have committed: EXEC is `exec`, go on behind the tx.commit */
    TM_SKIP, /* like TM_GO, and no lane is left: go to the tx.commit of the outermost transaction */
    TM_UNBALANCED, /* the program's mistake: a commit outside a transaction, or nesting too deep; see `why` */
    TM_BROKEN, /* an invariant of this folder does not hold: see `why`, and tm_describe */
};

/* One pass through the banks. */
struct tm_pass {
    uint32_t cycles; /* signature, busiest bank, broadcast, walk of an abort; not the latency of local memory */
    uint32_t accesses; /* of all banks together, data and shadow */
    uint64_t lanes;    /* served; of a commit or a self-abort: released */
};

enum { TM_PASSES_MAX = TM_LANES_MAX };

/* Each call sets all of it; of pass[] the first `passes`. Masks of lanes are of the calling wavefront. */
struct tm_out {
    enum tm_what what;
    const char *why; /* static text of TM_UNBALANCED and TM_BROKEN, else NULL */
    uint64_t att;
    uint64_t tcm;     /* aborted and parked lanes of the attempt, of which att are all; 0 outside */
    uint64_t exec;    /* EXEC for the wavefront: at TM_LEAVE what it was at tx.begin, else att */
    uint64_t restore; /* lanes whose vector registers come back; at TM_RETRY only */
    uint64_t done;    /* lanes whose access took place, or that committed */
    uint64_t conflicts; /* lanes that lost; of tm_plain: lanes that meet a mark of another work-item */
    uint64_t false_conflicts; /* of conflicts: no other lane has touched the word (see `classify`) */
    uint64_t read_read; /* of conflicts: a load of a word that others have only read; the rest are true ones */
    uint32_t stop; /* wavefronts that must stop at their next boundary: tm_stopped */
    uint32_t wake; /* wavefronts that ask again */
    uint32_t passes;
    uint64_t cycles; /* of all passes, with the latency of local memory as pass_pipelined says */
    struct tm_pass pass[TM_PASSES_MAX];
};

enum tm_kind { TM_LOAD, TM_STORE, TM_ATOMIC };

/* An access of one instruction. Arrays have an entry for each lane of the wavefront. */
struct tm_ref {
    enum tm_kind kind;
    uint32_t bytes;            /* of a lane: 1, 2, 4, 8 */
    const uint32_t *address;   /* byte in local memory, a multiple of bytes, and inside it */
    const uint64_t *value;     /* stores: what is stored; atomics: the operand */
    const uint64_t *comparand; /* atomics that compare, else NULL */
    uint64_t *out; /* loads, atomics: what was in memory, zeros above; of lanes `done`; may be NULL */
    uint16_t op;   /* atomics: handed to apply */
    uint64_t (*apply)(uint16_t op, uint64_t memory, uint64_t a, uint64_t c); /* atomics: isa_atomic */
};

/* ---- instructions ---- */

/*
 * tx.begin, and every start of an attempt: the first, a retry, after a self-abort, and again after TM_WAIT. exec is EXEC & live,
 * and counts at the first start. Inside a running attempt it is a nested transaction: TM_GO. TM_WAIT: the token is
 * another's, or this wavefront's and others are still to stop.
 */
void tm_begin(struct tm_wg *wg, unsigned wf, uint64_t exec, struct tm_out *out);

/*
 * An access outside transactions, before it is done; it changes no value. TM_WAIT under `strong` if a mark matches. Else TM_GO,
 * and `conflicts` are lanes that race with a transaction by the detector's rule.
 */
void tm_plain(struct tm_wg *wg, unsigned wf, uint64_t lanes, const struct tm_ref *ref,
              struct tm_out *out);

/*
 * An access inside a transaction by lanes, which are of ATT & ~TCM: detects, backs up, performs it in lds, aborts losers.
 * TM_GO, TM_SKIP or TM_BROKEN.
 */
void tm_access(struct tm_wg *wg, unsigned wf, uint64_t lanes, const struct tm_ref *ref,
               uint8_t *lds, struct tm_out *out);

/* tx.commit: TM_GO (an inner one), TM_RETRY, TM_LEAVE, TM_UNBALANCED or TM_BROKEN. `done` are the lanes that commit. */
void tm_commit(struct tm_wg *wg, unsigned wf, uint8_t *lds, struct tm_out *out);

/*
 * A wavefront named by `stop` is at a boundary with no access under way: it rolls its attempt back. TM_RETRY; or TM_GO if it is in
 * no attempt any more and there is nothing to do.
 */
void tm_stopped(struct tm_wg *wg, unsigned wf, uint8_t *lds, struct tm_out *out);

/* The wavefront has ended, outside transactions (else TM_UNBALANCED). */
void tm_ended(struct tm_wg *wg, unsigned wf, struct tm_out *out);

/* ---- looking ---- */

enum tm_mode { TM_MODE_NONE, TM_MODE_TX, TM_MODE_WF, TM_MODE_WG };
enum tm_state {
    TM_OUTSIDE,
    TM_RUNNING, /* in an attempt */
    TM_BETWEEN, /* an attempt is over, and the next has not started; no marks */
    TM_ENDED,
};

struct tm_view {
    enum tm_mode mode; /* of the attempt that runs or starts next; TM_MODE_NONE outside */
    enum tm_state state;
    bool waiting; /* asleep after TM_WAIT: quiesced or stalled by a plain access */
    uint64_t exec_save, exec, sel, tcm, tcm_old, mcm;
    bool tcm_old_valid;
    uint32_t depth, attempts, self_aborts; /* of this transaction */
};

struct tm_view tm_view(const struct tm_wg *wg, unsigned wf);
/* The mode alone. */
enum tm_mode tm_mode(const struct tm_wg *wg, unsigned wf);
/* The wavefront that holds or has been granted the work-group's token, or -1. */
int tm_token(const struct tm_wg *wg);
/* Wavefronts in a running attempt. */
uint32_t tm_running(const struct tm_wg *wg);
/* Whether any wavefront is in a transaction: while false, tm_plain need not be asked. */
bool tm_active(const struct tm_wg *wg);

/* A word of local memory as the shadow memory has it. */
struct tm_word {
    bool valid, shared, written; /* V, S, M; M: the backup is valid */
    unsigned owner;              /* work-item, if valid */
    uint32_t backup;             /* if written */
};

struct tm_word tm_word(const struct tm_wg *wg, uint32_t word);
/*
 * Work-items for whom the detector finds a mark on the word, as a set of 256 bits: filters that match, or the record
 * (with exact release its readers too). Returns false if the set can't be known (dcd-sm, release epoch, S set): it is then the owner alone.
 */
bool tm_marks(const struct tm_wg *wg, uint32_t word, uint64_t set[4]);
/* swo-sig: whether the helper signature of wavefront wf has the word; else false. */
bool tm_helper_has(const struct tm_wg *wg, unsigned wf, uint32_t word);

/* The state in words, for an internal error: masks, modes, token, queue. */
void tm_describe(const struct tm_wg *wg, char *out, size_t size);

#endif
