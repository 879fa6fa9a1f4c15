#include "tm/readers.h"

typedef void settle_fn(struct tm_wg *wg, uint32_t word, struct tm_walk *walk);

struct drop {
    struct tm_wg *wg;
    struct tm_walk *walk;
    settle_fn *settle;
    uint64_t *map; /* of the wavefront */
    unsigned at;   /* of the wavefront in a set, and its lanes there */
    uint64_t mask, wave;
};

static void drop_word(const struct drop *d, uint32_t word)
{
    uint64_t *readers = &tm_readers(d->wg)[word].w[d->at];

    if (!(*readers & d->mask))
        return;
    *readers &= ~d->mask;
    if (!(*readers & d->wave))
        d->map[word >> 6] &= ~(UINT64_C(1) << (word & 63));
    if (d->settle)
        d->settle(d->wg, word, d->walk);
}

/* A region begins at a multiple of its size, a power of two. */
static void drop_in_region(const struct drop *d, unsigned region)
{
    unsigned shift = d->wg->region_shift;
    uint32_t first = (uint32_t)region << shift, end = (uint32_t)(region + 1) << shift;

    end = end < d->wg->words ? end : d->wg->words;
    for (uint32_t i = first >> 6; i << 6 < end; i++) {
        uint64_t rest = d->map[i];

        if (shift < 6)
            rest &= bits_low(1u << shift) << (first & 63);
        for (; rest; rest &= rest - 1)
            drop_word(d, i * 64 + bits_first(rest));
    }
}

void tm_readers_drop(struct tm_wg *wg, unsigned wf, uint64_t lanes, struct tm_walk *walk,
                     settle_fn *settle)
{
    struct drop d = {
        .wg = wg,
        .walk = walk,
        .settle = settle,
        .map = tm_read_by(wg) + (size_t)wf * wg->map_words,
        .at = tm_set_word(wg, wf),
        .mask = lanes << tm_set_shift(wg, wf),
        .wave = bits_low(wg->width) << tm_set_shift(wg, wf),
    };
    struct tm_set all = {{0}}, *regions = tm_regions(wg);

    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        struct tm_set *own = &regions[tm_item(wg, wf, bits_first(rest))];

        for (unsigned i = 0; i < TM_SET_WORDS; i++)
            all.w[i] |= own->w[i];
        *own = (struct tm_set){{0}};
    }
    for (unsigned i = 0; i < TM_SET_WORDS; i++)
        for (uint64_t rest = all.w[i]; rest; rest &= rest - 1)
            drop_in_region(&d, i * 64 + bits_first(rest));
}
