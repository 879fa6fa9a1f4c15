/*
 * Filters: an 8-bit signature for each work-item and bank, kept the other way round, as the set of work-items for each bit
 * of each bank, so that one look-up meets all of them. For the files of tm/ only.
 */
#ifndef HD_TM_SIGNATURE_H
#define HD_TM_SIGNATURE_H

#include "tm/readers.h"
#include "tm/versions.h"

static inline unsigned tm_filter_bit(uint32_t row)
{
    return (row ^ row >> 3 ^ row >> 6) & (TM_FILTER_BITS - 1);
}

/* The second bit, with hash_k 2. */
static inline unsigned tm_filter_bit_2(uint32_t row)
{
    return (row << 1 ^ row >> 2 ^ row >> 5) & (TM_FILTER_BITS - 1);
}

static inline unsigned tm_bucket_2(uint32_t row, unsigned bank)
{
    return bank * TM_FILTER_BITS + tm_filter_bit_2(row);
}

/* Work-items whose filters of the bank have the row. */
static inline struct tm_set tm_match(const struct tm_wg *wg, unsigned bank, uint32_t row)
{
    struct tm_set s = tm_who(wg)[bank * TM_FILTER_BITS + tm_filter_bit(row)];

    if (wg->p.hash_k > 1) {
        const struct tm_set *t = &tm_who(wg)[tm_bucket_2(row, bank)];

        for (unsigned i = 0; i < TM_SET_WORDS; i++)
            s.w[i] &= t->w[i];
    }
    return s;
}

/* Whether the first bit alone says that no filter has the row: the common case, and no set is copied. */
static inline bool tm_unmarked(const struct tm_wg *wg, unsigned bank, uint32_t row)
{
    return tm_set_empty(&tm_who(wg)[bank * TM_FILTER_BITS + tm_filter_bit(row)]);
}

/* What a word of an access that does not lose does, by phase 2; books it. `alone`: only the own filter matches. */
static inline void tm_signature_plan(const struct tm_wg *wg, struct tm_work *x, unsigned item,
                                     unsigned lane, unsigned k, bool alone)
{
    struct tm_record r = tm_record(wg)[x->word[k][lane]];
    bool mine = r.flags & TM_V && r.owner == item, again = alone && mine && r.flags & TM_M;
    bool own = x->reads && wg->p.owner_on_read && !(r.flags & TM_V);

    if (x->reads) {
        x->todo[k][lane] = own ? TM_TODO_OWN : 0;
        tm_book(x, 1u + alone + own);
    } else {
        x->todo[k][lane] = again ? 0 : TM_TODO_BACKUP;
        tm_book(x, again ? 2u + (x->ref->kind == TM_ATOMIC) : 4u + alone);
    }
}

static inline void tm_signature_insert(struct tm_wg *wg, struct tm_work *x, unsigned item,
                                       unsigned lane, unsigned k)
{
    unsigned bank = x->bank[k][lane], todo = x->todo[k][lane];
    uint32_t row = x->row[k][lane], word = x->word[k][lane];

    tm_set_add(&tm_who(wg)[bank * TM_FILTER_BITS + tm_filter_bit(row)], item);
    if (wg->p.hash_k > 1)
        tm_set_add(&tm_who(wg)[tm_bucket_2(row, bank)], item);
    tm_touched(wg)[item * 2 + (bank >> 6)] |= UINT64_C(1) << (bank & 63);
    if (x->reads && wg->readers_kept)
        tm_reader_add(wg, x->wf, item, word);
    if (todo)
        tm_take(wg, x->lds, item, word, todo);
}

static inline void tm_signature_mark(struct tm_wg *wg, struct tm_work *x, uint64_t lanes)
{
    for (unsigned k = 0; k < x->words; k++)
        for (uint64_t rest = lanes; rest; rest &= rest - 1)
            tm_signature_insert(wg, x, tm_item(wg, x->wf, bits_first(rest)), bits_first(rest), k);
}

/* Leaves of some work-items that match those that a load of the word conflicts with. */
typedef struct tm_set tm_narrow(const struct tm_wg *wg, struct tm_set matches, uint32_t word,
                                uint32_t row, unsigned bank);

/* Phase 1, and the plan of phase 2: the lanes that lose. narrow is for loads; NULL: any match is a conflict. */
static inline uint64_t tm_signature_find(struct tm_wg *wg, struct tm_work *x, uint64_t lanes,
                                         tm_narrow *narrow)
{
    unsigned lost_accesses = tm_order(wg)->multiple; /* the owner record, for MCM */
    uint64_t lost = 0;

    for (unsigned k = 0; k < x->words; k++)
        for (uint64_t rest = lanes; rest; rest &= rest - 1) {
            unsigned lane = bits_first(rest), item = tm_item(wg, x->wf, lane),
                     bank = x->bank[k][lane];
            uint32_t row = x->row[k][lane];
            struct tm_set match, others;
            bool alone;

            if (tm_unmarked(wg, bank, row)) {
                tm_signature_plan(wg, x, item, lane, k, false);
                continue;
            }
            match = tm_match(wg, bank, row);
            others = tm_set_without(match, item);
            alone = tm_set_empty(&others);
            if (narrow && !alone && x->reads)
                others = narrow(wg, others, x->word[k][lane], row, bank);
            if (tm_set_empty(&others)) {
                tm_signature_plan(wg, x, item, lane, k, alone && tm_set_has(&match, item));
                continue;
            }
            lost |= UINT64_C(1) << lane;
            tm_book(x, lost_accesses);
            tm_lost(wg, x, lane, k, others, false);
        }
    return lost;
}

/* Whose filters have the word, for struct tm_detector. */
bool tm_signature_marks(const struct tm_wg *wg, uint32_t word, struct tm_set *set);

/* In all banks. */
void tm_signature_forget(struct tm_wg *wg, unsigned wf, uint64_t lanes, struct tm_walk *walk);

#endif
