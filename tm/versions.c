#include "tm/versions.h"

/* Accesses of a bank for a word of an abort (backup, data, record), and for one whose record alone changes. */
enum { RESTORE_ACCESSES = 3, RECORD_ACCESSES = 1 };

static unsigned release_word(struct tm_wg *wg, uint32_t word, bool restore, uint8_t *lds)
{
    struct tm_record *r = &tm_record(wg)[word];
    bool written = r->flags & TM_M;

    if (written && restore)
        memcpy(lds + (size_t)word * 4, &tm_backup(wg)[word], 4);
    if (r->flags & TM_S) /* it outlives its owner (epoch) */
        return 0;
    tm_backup(wg)[word] = 0;
    *r = (struct tm_record){0, 0};
    return written && restore ? RESTORE_ACCESSES : RECORD_ACCESSES;
}

static void release_item(struct tm_wg *wg, unsigned item, bool restore, uint8_t *lds,
                         struct tm_walk *walk)
{
    uint32_t *next = tm_next(wg), at = tm_head(wg)[item];

    while (at) {
        uint32_t word = at - 1;

        at = next[word];
        next[word] = 0;
        tm_walk_word(wg, walk, word, release_word(wg, word, restore, lds));
    }
    tm_head(wg)[item] = 0;
}

void tm_release(struct tm_wg *wg, unsigned wf, uint64_t lanes, bool restore, uint8_t *lds,
                struct tm_walk *walk)
{
    for (uint64_t rest = lanes; rest; rest &= rest - 1)
        release_item(wg, tm_item(wg, wf, bits_first(rest)), restore, lds, walk);
    tm_detector(wg)->forget(wg, wf, lanes, walk);
}

uint32_t tm_walk_cycles(const struct tm_wg *wg, const struct tm_walk *walk, bool restore,
                        uint32_t *accesses)
{
    bool scan = restore && wg->p.abort_model == TM_ABORT_SCAN;
    uint32_t most = 0;

    if ((restore && wg->p.abort_model == TM_ABORT_IDEAL) || !(walk->any || scan))
        return 0;
    for (unsigned bank = 0; bank < wg->p.banks; bank++) {
        uint32_t n = walk->bank[bank] + (scan ? wg->rows : 0);

        *accesses += n;
        most = n > most ? n : most;
    }
    return most * wg->p.slot_cycles;
}
