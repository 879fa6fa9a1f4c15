#include "tm/signature.h"

bool tm_signature_marks(const struct tm_wg *wg, uint32_t word, struct tm_set *set)
{
    uint32_t row = tm_row(wg, word);

    *set = tm_match(wg, tm_bank(wg, word, row), row);
    return true;
}

void tm_signature_forget(struct tm_wg *wg, unsigned wf, uint64_t lanes, struct tm_walk *walk)
{
    uint64_t banks[2] = {0, 0}, mask = lanes << tm_set_shift(wg, wf);
    unsigned at = tm_set_word(wg, wf);
    struct tm_set *who = tm_who(wg);

    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        uint64_t *touched = &tm_touched(wg)[(size_t)tm_item(wg, wf, bits_first(rest)) * 2];

        for (unsigned i = 0; i < 2; i++) {
            banks[i] |= touched[i];
            touched[i] = 0;
        }
    }
    for (unsigned i = 0; i < 2; i++)
        for (uint64_t rest = banks[i]; rest; rest &= rest - 1) {
            size_t bucket = (size_t)(i * 64 + bits_first(rest)) * TM_FILTER_BITS;

            for (unsigned bit = 0; bit < TM_FILTER_BITS; bit++)
                who[bucket + bit].w[at] &= ~mask;
        }
    if (wg->readers_kept)
        tm_readers_drop(wg, wf, lanes, walk, NULL);
}
