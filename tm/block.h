/* The flat block of a work-group's transactions. For the files of tm/ only. */
#ifndef HD_TM_BLOCK_H
#define HD_TM_BLOCK_H

#include "sim/base/bits.h"
#include "sim/base/fastmod.h"
#include "tm/tm.h"

enum { TM_SET_WORDS = TM_ITEMS_MAX / 64, TM_FILTER_BITS = 8, TM_HELPER_BITS = 32 };
enum { TM_REGIONS = 256, TM_DEPTH_MAX = 255 };

/* Work-items. */
struct tm_set {
    uint64_t w[TM_SET_WORDS];
};

enum { TM_V = 1, TM_S = 2, TM_M = 4 };

/* A word's owner record in shadow memory; all zero if not valid. */
struct tm_record {
    uint8_t owner, flags;
};

struct tm_wave {
    uint64_t exec_save, exec, sel, tcm, tcm_old, mcm;
    uint32_t depth, attempts, self_aborts;
    uint8_t state, mode; /* enum tm_state, tm_mode */
    bool tcm_old_valid;
    bool single;  /* selection of one lane, in wavefront serialisation */
    bool foreign; /* a lane of this attempt lost to another wavefront */
    uint8_t room[7];
};

struct tm_wg {
    struct tm_params p;
    uint32_t wavefronts, width, words, rows, map_words; /* words in 64-bit words of a bit map */
    uint32_t bank_shift;      /* if the number of banks is a power of two */
    uint64_t bank_reciprocal; /* of struct fastmod */
    bool banks_shift, readers_kept;
    uint8_t region_shift; /* from word to region */
    uint8_t queued;
    /* Wavefronts: in an attempt; asleep at tm_begin; asleep at tm_plain; in a transaction. */
    uint32_t running, waiting, plain_waiting, inside;
    int32_t token;
    uint8_t queue[TM_WAVEFRONTS_MAX]; /* who has asked for the token, in order */
    /* Bytes from the start of the block to its tables; 0: the detector has no use for it. */
    struct tm_tables {
        uint64_t who;       /* tm_set[banks * 8]: whose filter of the bank has the bit */
        uint64_t helper;    /* uint32_t[wavefronts][banks] */
        uint64_t touched;   /* uint64_t[items][2]: banks of the filters that are not empty */
        uint64_t head;      /* uint32_t[items]: first word of a work-item's list, plus 1 */
        uint64_t next;      /* uint32_t[words] */
        uint64_t record;    /* tm_record[words] */
        uint64_t backup;    /* uint32_t[words] */
        uint64_t readers;   /* tm_set[words]: who has read the word */
        uint64_t regions;   /* tm_set[items]: regions in which the work-item is a reader */
        uint64_t read_by;   /* uint64_t[wavefronts][map_words]: words that a lane of it reads */
        uint64_t pending;   /* uint32_t[words]: attempts that a shared record outlives */
        uint64_t next_held; /* uint32_t[words]: list of shared records, from held */
        uint64_t size;
    } at;
    uint32_t held; /* first shared record, plus 1 */
    uint32_t room;
    struct tm_wave wave[TM_WAVEFRONTS_MAX];
};

#define TM_TABLE(field, type)                                                                      \
    static inline type *tm_##field(const struct tm_wg *wg)                                         \
    {                                                                                              \
        return (type *)((uintptr_t)wg + wg->at.field);                                             \
    }
TM_TABLE(who, struct tm_set)
TM_TABLE(helper, uint32_t)
TM_TABLE(touched, uint64_t)
TM_TABLE(head, uint32_t)
TM_TABLE(next, uint32_t)
TM_TABLE(record, struct tm_record)
TM_TABLE(backup, uint32_t)
TM_TABLE(readers, struct tm_set)
TM_TABLE(regions, struct tm_set)
TM_TABLE(read_by, uint64_t)
TM_TABLE(pending, uint32_t)
TM_TABLE(next_held, uint32_t)
#undef TM_TABLE

/* ---- places ---- */

static inline uint32_t tm_row(const struct tm_wg *wg, uint32_t word)
{
    struct fastmod f = {wg->bank_reciprocal, wg->p.banks};

    return wg->banks_shift ? word >> wg->bank_shift : fastmod_quotient(&f, word);
}

static inline uint32_t tm_bank(const struct tm_wg *wg, uint32_t word, uint32_t row)
{
    return wg->banks_shift ? word & (wg->p.banks - 1) : word - row * wg->p.banks;
}

static inline unsigned tm_item(const struct tm_wg *wg, unsigned wf, unsigned lane)
{
    return wf * wg->width + lane;
}

/* Where lane 0 of a wavefront is in a set; a wavefront never straddles two words. */
static inline unsigned tm_set_word(const struct tm_wg *wg, unsigned wf)
{
    return wf * wg->width >> 6;
}

static inline unsigned tm_set_shift(const struct tm_wg *wg, unsigned wf)
{
    return wf * wg->width & 63;
}

/* ---- sets ---- */

static inline void tm_set_add(struct tm_set *s, unsigned item)
{
    s->w[item >> 6] |= UINT64_C(1) << (item & 63);
}

static inline struct tm_set tm_set_of(unsigned item)
{
    struct tm_set s = {{0}};

    tm_set_add(&s, item);
    return s;
}

static inline bool tm_set_has(const struct tm_set *s, unsigned item)
{
    return s->w[item >> 6] >> (item & 63) & 1;
}

static inline bool tm_set_empty(const struct tm_set *s)
{
    return (s->w[0] | s->w[1] | s->w[2] | s->w[3]) == 0;
}

static inline struct tm_set tm_set_without(struct tm_set s, unsigned item)
{
    s.w[item >> 6] &= ~(UINT64_C(1) << (item & 63));
    return s;
}

/* The set's work-items of one wavefront, as lanes. */
static inline uint64_t tm_set_lanes(const struct tm_wg *wg, const struct tm_set *s, unsigned wf)
{
    return s->w[tm_set_word(wg, wf)] >> tm_set_shift(wg, wf) & bits_low(wg->width);
}

#endif
