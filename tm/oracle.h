/*
 * The oracle: exact read and write sets beside a work-group's detector. It is told of each call of tm.h after it, with what the call
 * answered, and finds conflicts that went unnoticed, reads of uncommitted or outdated values, restored memory that is not what it
 * was, and steps of the state machine that its rules do not have. Committed transactions are replayed in the order of
 * their commits on memory of its own.
 *
 * Each call returns HD_OK, or HD_INTERNAL with what is wrong; after that the oracle knows nothing more. Codes: tm-missed-conflict,
 * tm-opacity (a load got another value than the committed or its own), tm-replay, tm-memory (local memory is not
 * what it should be), tm-class (a conflict that the detector cannot have, or named wrongly), tm-invariant.
 */
#ifndef HD_TM_ORACLE_H
#define HD_TM_ORACLE_H

#include "tm/tm.h"

/* One flat block without pointers, 8-byte aligned: a copy is a snapshot. */
struct tm_oracle;

size_t tm_oracle_size(unsigned wavefronts, unsigned width, size_t lds_bytes);

/* For a work-group outside transactions whose local memory is lds. The arguments have passed tm_check. */
void tm_oracle_init(struct tm_oracle *block, const struct tm_params *params, unsigned wavefronts,
                    unsigned width, size_t lds_bytes, const uint8_t *lds);

/* ---- after the call of tm.h of that name ---- */

enum hd_status tm_oracle_begin(struct tm_oracle *o, const struct tm_wg *wg, unsigned wf,
                               uint64_t exec, const struct tm_out *out, struct hd_error *err);
enum hd_status tm_oracle_access(struct tm_oracle *o, const struct tm_wg *wg, unsigned wf,
                                uint64_t lanes, const struct tm_ref *ref, const uint8_t *lds,
                                const struct tm_out *out, struct hd_error *err);
enum hd_status tm_oracle_commit(struct tm_oracle *o, const struct tm_wg *wg, unsigned wf,
                                const uint8_t *lds, const struct tm_out *out, struct hd_error *err);
enum hd_status tm_oracle_stopped(struct tm_oracle *o, const struct tm_wg *wg, unsigned wf,
                                 const uint8_t *lds, const struct tm_out *out, struct hd_error *err);

/*
 * After a plain access has been performed in lds; ref->out has what loads and atomics got, or is NULL. Under `strong` one that meets a
 * transaction is an error, else a race: it is counted, and the word's values are not compared until nobody marks it.
 */
enum hd_status tm_oracle_plain(struct tm_oracle *o, unsigned wf, uint64_t lanes,
                               const struct tm_ref *ref, const uint8_t *lds, struct hd_error *err);

/* ---- at any time between calls ---- */

/*
 * Compares every word and every mark with the exact sets: invariants that are too slow to look at after each call. The work-group may be
 * anywhere.
 */
enum hd_status tm_oracle_check(struct tm_oracle *o, const struct tm_wg *wg, const uint8_t *lds,
                               struct hd_error *err);

/* The work-group has ended: the same, and no mark is left. */
enum hd_status tm_oracle_finish(struct tm_oracle *o, const struct tm_wg *wg, const uint8_t *lds,
                                struct hd_error *err);

/* Of work-items. */
struct tm_oracle_counts {
    uint64_t commits, aborts; /* self-aborts are not conflicts, and are counted apart */
    uint64_t self_aborts;
    uint64_t true_conflicts, false_conflicts,
        read_read;  /* an aborted work-item is one of the three */
    uint64_t races; /* plain accesses that met a transaction */
    uint64_t unlogged; /* commits whose log was too short: their reads were checked as they happened, but not replayed */
};

struct tm_oracle_counts tm_oracle_counts(const struct tm_oracle *o);

#endif
