/* The helper of swo-sig: 32 bits of what a wavefront has written. For the files of tm/ only. */
#ifndef HD_TM_HELPER_H
#define HD_TM_HELPER_H

#include "tm/detector.h"

/* The signature that holds the word, and its bit in it. */
static inline uint32_t *tm_helper_of(const struct tm_wg *wg, unsigned wf, uint32_t word,
                                     uint32_t row, unsigned bank, unsigned *bit)
{
    uint32_t *own = tm_helper(wg) + (size_t)wf * wg->p.banks;

    if (wg->p.helper == TM_HELPER_PER_BANK) {
        *bit = (row ^ row >> 5) & (TM_HELPER_BITS - 1);
        return own + bank;
    }
    *bit = (word ^ word >> 5 ^ word >> 10) & (TM_HELPER_BITS - 1);
    return own;
}

#endif
