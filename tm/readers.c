#include "tm/readers.h"

typedef void settle_fn(struct tm_wg *wg, uint32_t word, struct tm_walk *walk);

static void drop_in_region(struct tm_wg *wg, unsigned region, unsigned at, uint64_t mask,
                           struct tm_walk *walk, settle_fn *settle)
{
    uint32_t word = (uint32_t)region << wg->region_shift;
    uint32_t end = (uint32_t)(region + 1) << wg->region_shift;
    struct tm_set *readers = tm_readers(wg);

    for (end = end < wg->words ? end : wg->words; word < end; word++) {
        if (!(readers[word].w[at] & mask))
            continue;
        readers[word].w[at] &= ~mask;
        if (settle)
            settle(wg, word, walk);
    }
}

void tm_readers_drop(struct tm_wg *wg, unsigned wf, uint64_t lanes, struct tm_walk *walk,
                     settle_fn *settle)
{
    unsigned at = tm_set_word(wg, wf);
    uint64_t mask = lanes << tm_set_shift(wg, wf);
    struct tm_set all = {{0}}, *regions = tm_regions(wg);

    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        struct tm_set *own = &regions[tm_item(wg, wf, bits_first(rest))];

        for (unsigned i = 0; i < TM_SET_WORDS; i++)
            all.w[i] |= own->w[i];
        *own = (struct tm_set){{0}};
    }
    for (unsigned i = 0; i < TM_SET_WORDS; i++)
        for (uint64_t rest = all.w[i]; rest; rest &= rest - 1)
            drop_in_region(wg, i * 64 + bits_first(rest), at, mask, walk, settle);
}
