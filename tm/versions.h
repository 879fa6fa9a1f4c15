/*
 * Version management: owner records, backups, and the lists by which an abort or commit finds a work-item's words.
 * For the files of tm/ only.
 */
#ifndef HD_TM_VERSIONS_H
#define HD_TM_VERSIONS_H

#include "tm/detector.h"

#include <string.h>

static inline uint32_t tm_lds_word(const uint8_t *lds, uint32_t word)
{
    uint32_t v;

    memcpy(&v, lds + (size_t)word * 4, 4);
    return v;
}

/* Puts a word on the work-item's list. It must be on none. */
static inline void tm_list(struct tm_wg *wg, unsigned item, uint32_t word)
{
    tm_next(wg)[word] = tm_head(wg)[item];
    tm_head(wg)[item] = word + 1;
}

/* Makes the work-item the owner of a word; `todo` says whether it backs it up. */
static inline void tm_take(struct tm_wg *wg, const uint8_t *lds, unsigned item, uint32_t word,
                           unsigned todo)
{
    struct tm_record *r = &tm_record(wg)[word];

    if (!(r->flags & TM_V)) {
        tm_list(wg, item, word);
        *r = (struct tm_record){(uint8_t)item, TM_V};
    }
    if (todo & TM_TODO_BACKUP) {
        tm_backup(wg)[word] = tm_lds_word(lds, word);
        r->flags |= TM_M;
    }
}

/*
 * Ends the lanes' transactions: restores what they have written (abort) or keeps it, clears their records and marks, adds the
 * accesses to walk, and clears nothing of other lanes. The lds may be NULL if nothing is restored.
 */
void tm_release(struct tm_wg *wg, unsigned wf, uint64_t lanes, bool restore, uint8_t *lds,
                struct tm_walk *walk);

/* The cycles of a walk by bank, and its accesses added to *accesses. Aborts as abort_model says. */
uint32_t tm_walk_cycles(const struct tm_wg *wg, const struct tm_walk *walk, bool restore,
                        uint32_t *accesses);

#endif
