#include "sim/pages.h"
#include "sim/base/bits.h"

/* Walks the words of a bitmap that a range touches, with the mask of its bits in each. */
struct word_walk {
    uint64_t word, mask, end;
};

static struct word_walk walk_from(struct page_range r)
{
    struct word_walk w = {.word = r.first / 64, .end = r.end};

    w.mask = ~bits_low((unsigned)(r.first % 64));
    return w;
}

/* False when the range is over; else w->mask holds the pages of w->word that are in it. */
static bool walk_more(struct word_walk *w)
{
    uint64_t from = w->word * 64;

    if (from >= w->end)
        return false;
    if (w->end - from < 64)
        w->mask &= bits_low((unsigned)(w->end - from));
    return true;
}

static void walk_on(struct word_walk *w)
{
    w->word++;
    w->mask = ~UINT64_C(0);
}

#define FOR_WORDS(w, range) for (struct word_walk w = walk_from(range); walk_more(&w); walk_on(&w))

static uint64_t clip(const struct sim_array *a, uint64_t offset, uint64_t bytes)
{
    if (offset >= a->bytes)
        return 0;
    return bytes < a->bytes - offset ? bytes : a->bytes - offset;
}

struct page_range pages_of(const struct memory *mem, const struct sim_array *a, uint64_t offset,
                           uint64_t bytes)
{
    bytes = clip(a, offset, bytes);
    if (bytes == 0)
        return (struct page_range){0, 0};
    return (struct page_range){offset / mem->page_bytes, (offset + bytes - 1) / mem->page_bytes + 1};
}

struct page_range pages_within(const struct memory *mem, const struct sim_array *a, uint64_t offset,
                               uint64_t bytes)
{
    uint64_t end = offset + clip(a, offset, bytes);
    struct page_range r = {.first = bits_ceil_div(offset, mem->page_bytes),
                           .end = end == a->bytes ? a->npages : end / mem->page_bytes};

    return r.first < r.end ? r : (struct page_range){0, 0};
}

struct page_range pages_all(const struct sim_array *a)
{
    return (struct page_range){0, a->npages};
}

uint64_t pages_missing(const struct sim_array *a, struct page_range r)
{
    uint64_t missing = 0;

    FOR_WORDS(w, r)
    missing += bits_count(w.mask & ~a->on_device[w.word]);
    return missing;
}

struct page_change pages_to_device(struct sim_array *a, struct page_range r)
{
    struct page_change c = {0};

    FOR_WORDS(w, r)
    {
        uint64_t come = w.mask & ~a->on_device[w.word];

        c.changed += bits_count(come);
        c.moved += bits_count(come & a->populated[w.word]);
        a->populated[w.word] |= come;
        a->on_device[w.word] |= come;
    }
    a->device_pages += c.changed;
    return c;
}

/* The pages of the mask leave the device. */
static void leave(struct sim_array *a, uint64_t word, uint64_t mask, struct page_change *c)
{
    uint64_t go = mask & a->on_device[word];

    c->changed += bits_count(go);
    c->moved += bits_count(go & a->dirty[word]);
    a->on_device[word] &= ~go;
    a->dirty[word] &= ~go;
}

struct page_change pages_to_host(struct sim_array *a, struct page_range r)
{
    struct page_change c = {0};

    FOR_WORDS(w, r)
    {
        leave(a, w.word, w.mask, &c);
        a->populated[w.word] |= w.mask;
    }
    a->device_pages -= c.changed;
    return c;
}

/* The lowest n set bits. */
static uint64_t lowest_bits(uint64_t bits, uint64_t n)
{
    uint64_t rest = bits;

    if (n >= bits_count(bits))
        return bits;
    for (; n > 0; n--)
        rest &= rest - 1;
    return bits & ~rest;
}

struct page_change pages_evict(struct sim_array *a, uint64_t count)
{
    struct page_change c = {0};

    FOR_WORDS(w, pages_all(a))
    {
        if (c.changed == count)
            break;
        leave(a, w.word, lowest_bits(a->on_device[w.word], count - c.changed), &c);
    }
    a->device_pages -= c.changed;
    return c;
}

void pages_written(struct sim_array *a, struct page_range r)
{
    FOR_WORDS(w, r)
    a->dirty[w.word] |= w.mask & a->on_device[w.word];
}

void pages_populate(struct sim_array *a, struct page_range r)
{
    FOR_WORDS(w, r)
    a->populated[w.word] |= w.mask;
}

void pages_discard(struct sim_array *a, struct page_range r)
{
    FOR_WORDS(w, r)
    a->dirty[w.word] &= ~w.mask;
}

void pages_count(const struct sim_array *a, struct sim_residency *out)
{
    *out = (struct sim_residency){.device = a->device_pages};
    if (a->kind == SIM_DEVICE)
        return;
    FOR_WORDS(w, pages_all(a))
    {
        out->unpopulated += bits_count(w.mask & ~a->populated[w.word]);
        out->host += bits_count(w.mask & a->populated[w.word] & ~a->on_device[w.word]);
        out->dirty += bits_count(a->dirty[w.word]);
        out->both += bits_count(a->both[w.word]);
    }
    out->device -= out->both;
}
