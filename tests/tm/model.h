/*
 * A second transaction machine, written from the description of the protocol and not from tm/: simple, slow and exact. Arrays of bools
 * stand for signatures, every question is answered by a search, and nothing is shared with tm/ but the meaning of a call.
 */
#ifndef HD_TESTS_TM_MODEL_H
#define HD_TESTS_TM_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define MODEL_WAVES 4
#define MODEL_ITEMS 256
#define MODEL_BANKS 32
#define MODEL_WORDS 2048
#define MODEL_BITS 32 /* of a helper; filters have 8 */

enum model_detector { MODEL_PRW, MODEL_SWO, MODEL_DCD, MODEL_SHARED };
enum model_mode { MODEL_NONE, MODEL_TX, MODEL_WF, MODEL_WG };
enum model_kind { MODEL_LOAD, MODEL_STORE, MODEL_ATOMIC };
enum model_what { MODEL_GO, MODEL_WAIT, MODEL_RETRY, MODEL_LEAVE, MODEL_BROKEN };

struct model_options {
    enum model_detector detector;
    bool multiple, descending;
    unsigned waves, width, banks, lanes_per_pass, words;
    unsigned hash_k;
    bool owner_on_read, helper_per_wave, hold_wave, release_epoch, mcm_match, fail_wave, early_exit,
        strong;
};

/* One instruction: an access of each lane. Bytes are 1, 2, 4 or 8, and addresses are multiples of them. */
struct model_ref {
    enum model_kind kind; /* the atomic adds */
    unsigned bytes;
    uint32_t address[64];
    uint64_t value[64];  /* of stores, and what atomics add */
    uint64_t loaded[64]; /* out, of lanes that did not conflict: what a load or an atomic got */
};

struct model_out {
    enum model_what what;
    uint64_t att, tcm, exec, restore, conflicts;
    uint32_t stop, wake; /* wavefronts */
    enum model_mode mode;
};

struct model_wave {
    enum model_mode mode;
    bool live, ended, old_valid;
    unsigned depth;
    uint64_t exec_save, att, sel, tcm, old_tcm, mcm;
    bool foreign;  /* a lane has lost to another wavefront */
    bool multiple; /* of the attempts in wavefront serialisation */
    unsigned attempts, self_aborts;
};

struct model_record {
    bool valid, shared, written;
    unsigned owner;
    uint32_t backup;
    bool sharer[MODEL_ITEMS];
    bool waits[MODEL_WAVES]; /* epoch release: wavefronts for whose attempt it stays */
};

struct model {
    struct model_options o;
    struct model_wave wave[MODEL_WAVES];
    int token;                   /* the wavefront that holds it, or -1 */
    unsigned queue[MODEL_WAVES]; /* who waits for it, oldest first */
    unsigned queued;
    bool filter[MODEL_ITEMS][MODEL_BANKS][MODEL_BITS];
    bool helper[MODEL_WAVES][MODEL_BANKS][MODEL_BITS];
    struct model_record record[MODEL_WORDS];
    uint8_t memory[4 * MODEL_WORDS];
};

void model_start(struct model *m, const struct model_options *o);
void model_begin(struct model *m, unsigned wave, uint64_t exec, struct model_out *out);
void model_access(struct model *m, unsigned wave, uint64_t lanes, struct model_ref *ref,
                  struct model_out *out);
void model_commit(struct model *m, unsigned wave, struct model_out *out);
void model_stopped(struct model *m, unsigned wave, struct model_out *out);
void model_ended(struct model *m, unsigned wave, struct model_out *out);
/* An access outside transactions: whether it has to wait. It does not perform it. */
void model_plain(struct model *m, unsigned wave, uint64_t lanes, const struct model_ref *ref,
                 struct model_out *out);

#endif
