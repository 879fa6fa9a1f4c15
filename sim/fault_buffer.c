#include "sim/fault_buffer.h"

bool fault_buffer_init(struct fault_buffer *b)
{
    memset(b, 0, sizeof *b);
    memset(b->buckets, 0xff, sizeof b->buckets);
    b->oldest = b->newest = FAULT_NONE;
    return pool_init(&b->pages, sizeof(struct fault_page), 64);
}

void fault_buffer_free(struct fault_buffer *b)
{
    pool_free(&b->pages);
    vec_free(&b->entries);
}

bool fault_buffer_copy(struct fault_buffer *to, const struct fault_buffer *from)
{
    memcpy(to->buckets, from->buckets, sizeof to->buckets);
    to->oldest = from->oldest;
    to->newest = from->newest;
    to->head = from->head;
    to->serial = from->serial;
    return pool_copy(&to->pages, &from->pages) && vec_copy(&to->entries, &from->entries);
}

static uint32_t bucket_of(uint32_t array, uint32_t page)
{
    uint64_t key = (uint64_t)array << 32 | page;

    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) % FAULT_BUCKETS;
}

uint32_t fault_buffer_find(const struct fault_buffer *b, uint32_t array, uint32_t page)
{
    uint32_t i = b->buckets[bucket_of(array, page)];

    while (i != FAULT_NONE &&
           (fault_page_at(b, i)->array != array || fault_page_at(b, i)->page != page))
        i = fault_page_at(b, i)->hash_next;
    return i;
}

uint32_t fault_buffer_add(struct fault_buffer *b, uint32_t array, uint32_t page, uint32_t run)
{
    uint32_t i = pool_take(&b->pages), *bucket = &b->buckets[bucket_of(array, page)];

    if (i == POOL_NONE)
        return FAULT_NONE;
    *fault_page_at(b, i) = (struct fault_page){.hash_next = *bucket,
                                               .array = array,
                                               .page = page,
                                               .older = b->newest,
                                               .newer = FAULT_NONE,
                                               .first = FAULT_NONE,
                                               .last = FAULT_NONE,
                                               .run = run,
                                               .serial = ++b->serial};
    *bucket = i;
    if (b->newest == FAULT_NONE)
        b->oldest = i;
    else
        fault_page_at(b, b->newest)->newer = i;
    b->newest = i;
    return i;
}

void fault_buffer_remove(struct fault_buffer *b, uint32_t record)
{
    struct fault_page *p = fault_page_at(b, record);
    uint32_t *link = &b->buckets[bucket_of(p->array, p->page)];

    while (*link != record)
        link = &fault_page_at(b, *link)->hash_next;
    *link = p->hash_next;
    if (p->older == FAULT_NONE)
        b->oldest = p->newer;
    else
        fault_page_at(b, p->older)->newer = p->newer;
    if (p->newer == FAULT_NONE)
        b->newest = p->older;
    else
        fault_page_at(b, p->newer)->older = p->older;
    p->serial = 0;
    pool_give(&b->pages, record);
}

bool fault_buffer_enter(struct fault_buffer *b, uint32_t record, uint32_t cu, uint32_t run,
                        bool *memory)
{
    struct fault_page *p = fault_page_at(b, record);
    uint64_t bit = UINT64_C(1) << cu % 64;

    *memory = true;
    if (p->cus[cu / 64] & bit)
        return false;
    p->cus[cu / 64] |= bit;
    *memory = vec_push(&b->entries,
                       ((struct fault_entry){.serial = p->serial, .record = record, .run = run}));
    return *memory;
}

/* The places in front are reclaimed when they are as many as those that wait. */
static void drop_first(struct fault_buffer *b)
{
    size_t left = b->entries.len - ++b->head;

    if (left <= b->head) {
        if (left > 0)
            memmove(b->entries.at, b->entries.at + b->head, left * sizeof *b->entries.at);
        b->entries.len = left;
        b->head = 0;
    }
}

bool fault_buffer_take(struct fault_buffer *b, struct fault_entry *out)
{
    while (b->head < b->entries.len) {
        *out = b->entries.at[b->head];
        drop_first(b);
        if (fault_page_at(b, out->record)->serial == out->serial)
            return true;
    }
    return false;
}
