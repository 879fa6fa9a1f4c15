#include "sim/prefetch_tree.h"
#include "sim/base/bits.h"

struct span {
    uint32_t first, end;
};

/* The bits of word w that the span has. */
static uint64_t span_mask(struct span s, uint32_t w)
{
    uint32_t from = w * 64, first = s.first > from ? s.first - from : 0;
    uint32_t end = s.end > from ? s.end - from : 0;

    if (first >= 64)
        return 0;
    return bits_low(end < 64 ? end : 64) & ~bits_low(first);
}

static uint32_t count(const struct block_pages *p, struct span s)
{
    uint32_t n = 0;

    for (uint32_t w = s.first / 64; w * 64 < s.end; w++)
        n += bits_count(p->bits[w] & span_mask(s, w));
    return n;
}

static void fill(struct block_pages *p, struct span s)
{
    for (uint32_t w = s.first / 64; w * 64 < s.end; w++)
        p->bits[w] |= span_mask(s, w);
}

/* The subtrees of one size that have a fault in them and enough of their pages. */
static void grow_level(struct block_pages *wanted, struct block_pages *have, uint32_t npages,
                       uint32_t size, uint32_t percent)
{
    for (uint32_t first = 0; first < npages; first += size) {
        struct span s = {first, first + size < npages ? first + size : npages};
        uint32_t n = count(have, s);

        if (count(wanted, s) == 0 || n == s.end - s.first)
            continue;
        if (n * 100 > percent * (s.end - s.first)) {
            fill(wanted, s);
            fill(have, s);
        }
    }
}

void prefetch_tree_grow(struct block_pages *wanted, const struct block_pages *there,
                        uint32_t npages, uint32_t leaf, uint32_t percent)
{
    struct block_pages have = *there;

    for (uint32_t first = 0; first < npages; first += leaf) {
        struct span s = {first, first + leaf < npages ? first + leaf : npages};

        if (count(wanted, s) > 0)
            fill(wanted, s);
    }
    for (uint32_t w = 0; w < BLOCK_WORDS; w++)
        have.bits[w] |= wanted->bits[w];
    for (uint32_t size = 2 * leaf; size / 2 < npages; size *= 2)
        grow_level(wanted, &have, npages, size, percent);
    for (uint32_t w = 0; w < BLOCK_WORDS; w++)
        wanted->bits[w] &= ~there->bits[w];
}
