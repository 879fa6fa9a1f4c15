/*
 * Exact sets of a word's readers: what dcd-sm shares by, and what conflicts are classed by. For the files of tm/
 * only.
 */
#ifndef HD_TM_READERS_H
#define HD_TM_READERS_H

#include "tm/detector.h"

static inline void tm_reader_add(struct tm_wg *wg, unsigned wf, unsigned item, uint32_t word)
{
    uint64_t *map = tm_read_by(wg) + (size_t)wf * wg->map_words;

    map[word >> 6] |= UINT64_C(1) << (word & 63);
    tm_set_add(&tm_readers(wg)[word], item);
    tm_set_add(&tm_regions(wg)[item], word >> wg->region_shift);
}

/* Removes the lanes from all sets. settle, which may be NULL, is told of each word that changed. */
void tm_readers_drop(struct tm_wg *wg, unsigned wf, uint64_t lanes, struct tm_walk *walk,
                     void (*settle)(struct tm_wg *wg, uint32_t word, struct tm_walk *walk));

#endif
