/*
 * swo-sig: beside the filters each wavefront has a signature of what its lanes have written, so that a load meets only
 * work-items of wavefronts that may have written the word.
 */
#include "tm/helper.h"
#include "tm/signature.h"

#include <string.h>

static bool wrote(const struct tm_wg *wg, unsigned wf, uint32_t word, uint32_t row, unsigned bank)
{
    unsigned bit;
    const uint32_t *helper = tm_helper_of(wg, wf, word, row, bank, &bit);

    return *helper >> bit & 1;
}

/* Leaves work-items of wavefronts whose helper has the word. */
static struct tm_set writers(const struct tm_wg *wg, struct tm_set s, uint32_t word, uint32_t row,
                             unsigned bank)
{
    uint64_t lanes = bits_low(wg->width);

    for (unsigned i = 0; i < TM_SET_WORDS; i++) {
        uint64_t kept = 0;

        for (uint64_t rest = s.w[i]; rest;) {
            unsigned wf = (i * 64 + bits_first(rest)) / wg->width;
            uint64_t own = lanes << tm_set_shift(wg, wf);

            if (wrote(wg, wf, word, row, bank))
                kept |= rest & own;
            rest &= ~own;
        }
        s.w[i] = kept;
    }
    return s;
}

static uint64_t find(struct tm_wg *wg, struct tm_work *x, uint64_t lanes)
{
    return tm_signature_find(wg, x, lanes, writers);
}

static void mark(struct tm_wg *wg, struct tm_work *x, uint64_t lanes)
{
    tm_signature_mark(wg, x, lanes);
    if (x->reads)
        return;
    for (unsigned k = 0; k < x->words; k++)
        for (uint64_t rest = lanes; rest; rest &= rest - 1) {
            unsigned lane = bits_first(rest), bit;
            uint32_t *helper =
                tm_helper_of(wg, x->wf, x->word[k][lane], x->row[k][lane], x->bank[k][lane], &bit);

            *helper |= UINT32_C(1) << bit;
        }
}

/* Not before: the helper holds the writes of the wavefront's other lanes too. */
static void end(struct tm_wg *wg, unsigned wf, struct tm_walk *walk)
{
    (void)walk;
    memset(tm_helper(wg) + (size_t)wf * wg->p.banks, 0, (size_t)wg->p.banks * 4);
}

static bool excludes(const struct tm_wg *wg, uint32_t word, bool reads)
{
    uint32_t row = tm_row(wg, word);
    unsigned bank = tm_bank(wg, word, row);
    struct tm_set match = tm_match(wg, bank, row);

    if (reads)
        match = writers(wg, match, word, row, bank);
    return !tm_set_empty(&match);
}

const struct tm_detector tm_swo_sig = {
    .signature = true,
    .helper = true,
    .find = find,
    .mark = mark,
    .forget = tm_signature_forget,
    .end = end,
    .excludes = excludes,
    .marks = tm_signature_marks,
};
