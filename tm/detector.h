/* What a conflict detector is. For the files of tm/ only; see README.md on adding one. */
#ifndef HD_TM_DETECTOR_H
#define HD_TM_DETECTOR_H

#include "tm/block.h"

/* What else an access that takes place does in shadow memory. */
enum {
    TM_TODO_OWN = 1,    /* becomes owner */
    TM_TODO_BACKUP = 2, /* backs the old word up, and sets M */
    TM_TODO_SHARE = 4,  /* joins the readers of another's word */
};

/* One instruction in hand: what is known of each word of each lane. */
struct tm_work {
    const struct tm_ref *ref;
    struct tm_out *out;
    uint8_t *lds;
    unsigned wf, words; /* words a lane */
    bool reads;         /* a load, else a store or an atomic */
    uint32_t word[TM_WORDS_A_LANE][TM_LANES_MAX], row[TM_WORDS_A_LANE][TM_LANES_MAX];
    uint8_t bank[TM_WORDS_A_LANE][TM_LANES_MAX];
    uint16_t bucket[TM_WORDS_A_LANE][TM_LANES_MAX]; /* for the detector */
    uint8_t todo[TM_WORDS_A_LANE][TM_LANES_MAX];
    unsigned busiest, accesses; /* of the pass: of one bank, of all */
};

/* Accesses of shadow memory, by bank. */
struct tm_walk {
    uint32_t bank[TM_BANKS_MAX];
    bool any;
};

static inline void tm_walk_word(const struct tm_wg *wg, struct tm_walk *walk, uint32_t word,
                                unsigned accesses)
{
    walk->bank[tm_bank(wg, word, tm_row(wg, word))] += accesses;
    walk->any = true;
}

struct tm_detector {
    bool signature; /* filters in registers: phase 1 takes signature_cycles */
    bool helper;    /* write signatures of wavefronts */
    bool shares;    /* records with S and M, and readers beside the owner */
    /*
     * Phases 1 and 2 for the lanes of one pass, no two of which want one bank: the lanes that lose. Changes no mark, so that all
     * banks see the state before the pass. Tells tm_lost of each loss, sets todo, and books the accesses.
     */
    uint64_t (*find)(struct tm_wg *wg, struct tm_work *x, uint64_t lanes);
    /* The marks of lanes whose access takes place, before their values change. */
    void (*mark)(struct tm_wg *wg, struct tm_work *x, uint64_t lanes);
    /* Forgets the lanes' marks; owner records on their lists are gone already. */
    void (*forget)(struct tm_wg *wg, unsigned wf, uint64_t lanes, struct tm_walk *walk);
    /* The attempt of a wavefront is over, and its lanes are forgotten. NULL: nothing to do. */
    void (*end)(struct tm_wg *wg, unsigned wf, struct tm_walk *walk);
    /* Whether a plain access would meet a mark that excludes it. */
    bool (*excludes)(const struct tm_wg *wg, uint32_t word, bool reads);
    /* See tm_marks. */
    bool (*marks)(const struct tm_wg *wg, uint32_t word, struct tm_set *set);
};

/* In the order of `heddle list`; ends with NULL. */
extern const struct tm_detector *const tm_detectors[];
extern const struct tm_detector tm_prw_sig, tm_swo_sig, tm_dcd, tm_dcd_sm;

/* Serialisation: who is selected. */
struct tm_order {
    bool descending, multiple;
};

extern const struct tm_order tm_orders[];

static inline const struct tm_detector *tm_detector(const struct tm_wg *wg)
{
    return tm_detectors[wg->p.detector];
}

static inline const struct tm_order *tm_order(const struct tm_wg *wg)
{
    return &tm_orders[wg->p.serialise];
}

/* Accesses that one word of a lane needs; no other word of the pass is in its bank. */
static inline void tm_book(struct tm_work *x, unsigned accesses)
{
    x->accesses += accesses;
    if (accesses > x->busiest)
        x->busiest = accesses;
}

/*
 * A lane loses word k of its access to the work-items of match, which may be incomplete if `others` says that some are of another
 * wavefront: sets MCM, and the class of the conflict.
 */
void tm_lost(struct tm_wg *wg, struct tm_work *x, unsigned lane, unsigned k, struct tm_set match,
             bool others);

#endif
