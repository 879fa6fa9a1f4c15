/*
 * Time is cut into slots of 1024 ps. The wheel holds the events of the next 4096 slots (4.2 us) as
 * one list a slot, unordered; a bitmap of the slots that hold any makes skipping idle time a matter
 * of two bit scans. The slot that is being served is taken off the wheel and sorted; what is
 * scheduled into it meanwhile is inserted. Later events wait in a heap and move to the wheel as it
 * turns. Every event lives in one node of a pool, so that nothing is allocated unless more events
 * are pending than ever before.
 */
#include "sim/event.h"
#include "sim/base/bits.h"
#include "sim/base/checked.h"
#include "sim/time.h"

#include <stdlib.h>
#include <string.h>

enum {
    SLOT_SHIFT = 10,
    NUM_SLOTS = 4096,
    UNIT_BITS = 22,
    NODE_BITS = 32,
    NO_NODE = 0, /* node 0 is never used */
    FIRST_CAPACITY = 1024,
    INSERTION_MAX = 24, /* entries up to which insertion beats merging */
};

#define SEQ_MASK ((UINT64_C(1) << 56) - 1)

struct node {
    struct event e;
    uint32_t next; /* in its slot, or in the free list */
};

struct event_queue {
    uint64_t base; /* slot of the last event taken; the wheel holds [base, base + NUM_SLOTS) */
    uint64_t slot; /* the slot in `sorted`, if it is not empty */
    uint64_t seq;
    uint64_t summary;              /* a bit a word of busy */
    uint64_t busy[NUM_SLOTS / 64]; /* a bit a slot of the wheel that holds events */
    uint32_t first[NUM_SLOTS];     /* newest event of each slot */
    struct node *nodes;
    uint64_t *sorted;  /* of one slot: (time in slot, unit, node), served from `head` to `end` */
    uint64_t *scratch; /* for merging */
    uint32_t *far;     /* a binary heap of nodes */
    uint32_t head, end, nfar, capacity, used, free_node;
};

struct event_queue *event_queue_new(void)
{
    struct event_queue *q = calloc(1, sizeof *q);

    if (q)
        q->used = NO_NODE + 1;
    return q;
}

void event_queue_free(struct event_queue *q)
{
    if (!q)
        return;
    free(q->nodes);
    free(q->sorted);
    free(q->scratch);
    free(q->far);
    free(q);
}

/* ---- nodes ----------------------------------------------------------------------------- */

static bool resize(void **at, size_t count, size_t elem)
{
    size_t bytes;
    void *p = size_mul(count, elem, &bytes) ? realloc(*at, bytes) : NULL;

    if (p)
        *at = p;
    return p != NULL;
}

/* All hold as many entries as there are nodes, so that only event_push can be short of memory. */
static bool grow(struct event_queue *q)
{
    uint32_t capacity = q->capacity ? q->capacity * 2 : FIRST_CAPACITY;

    if (capacity < q->capacity || !resize((void **)&q->nodes, capacity, sizeof *q->nodes) ||
        !resize((void **)&q->sorted, capacity, sizeof *q->sorted) ||
        !resize((void **)&q->scratch, capacity, sizeof *q->scratch) ||
        !resize((void **)&q->far, capacity, sizeof *q->far))
        return false;
    q->capacity = capacity;
    return true;
}

static uint32_t take_node(struct event_queue *q)
{
    uint32_t n = q->free_node;

    if (n != NO_NODE) {
        q->free_node = q->nodes[n].next;
        return n;
    }
    if (q->used >= q->capacity && !grow(q))
        return NO_NODE;
    return q->used++;
}

static void give_node(struct event_queue *q, uint32_t n)
{
    q->nodes[n].next = q->free_node;
    q->free_node = n;
}

static void copy_lists(struct event_queue *to, const struct event_queue *from)
{
    memcpy(to->nodes, from->nodes, from->used * sizeof *to->nodes);
    memcpy(to->sorted, from->sorted, from->end * sizeof *to->sorted);
    memcpy(to->far, from->far, from->nfar * sizeof *to->far);
}

struct event_queue *event_queue_copy(const struct event_queue *q)
{
    struct event_queue *copy = event_queue_new(), lists;

    while (copy && copy->capacity < q->capacity) {
        if (!grow(copy)) {
            event_queue_free(copy);
            return NULL;
        }
    }
    if (!copy || !q->capacity)
        return copy;
    copy_lists(copy, q);
    lists = *copy;
    *copy = *q;
    copy->nodes = lists.nodes;
    copy->sorted = lists.sorted;
    copy->scratch = lists.scratch;
    copy->far = lists.far;
    return copy;
}

static uint64_t slot_of(const struct event_queue *q, uint32_t n)
{
    return q->nodes[n].e.time_ps >> SLOT_SHIFT;
}

/* ---- the wheel ------------------------------------------------------------------------- */

static void wheel_add(struct event_queue *q, uint32_t n)
{
    uint32_t i = slot_of(q, n) % NUM_SLOTS;

    q->nodes[n].next = q->first[i];
    q->first[i] = n;
    q->busy[i / 64] |= UINT64_C(1) << (i % 64);
    q->summary |= UINT64_C(1) << (i / 64);
}

/* Takes the list of a slot off the wheel. */
static uint32_t wheel_take(struct event_queue *q, uint64_t slot)
{
    uint32_t i = slot % NUM_SLOTS, n = q->first[i];

    q->first[i] = NO_NODE;
    q->busy[i / 64] &= ~(UINT64_C(1) << (i % 64));
    if (!q->busy[i / 64])
        q->summary &= ~(UINT64_C(1) << (i / 64));
    return n;
}

/* The first slot at or after base that holds events; the wheel must not be empty. */
static uint64_t wheel_next(const struct event_queue *q)
{
    uint32_t from = q->base % NUM_SLOTS, word = from / 64, i;
    uint64_t here = q->busy[word] & ~bits_low(from % 64);
    uint64_t later = q->summary & ~bits_low(word + 1);

    if (here)
        i = word * 64 + bits_first(here);
    else {
        word = bits_first(later ? later : q->summary);
        i = word * 64 + bits_first(q->busy[word]);
    }
    return q->base + (i - from) % NUM_SLOTS;
}

/* ---- the far heap ---------------------------------------------------------------------- */

static bool node_before(const struct event_queue *q, uint32_t x, uint32_t y)
{
    const struct event *a = &q->nodes[x].e, *b = &q->nodes[y].e;

    if (a->time_ps != b->time_ps)
        return a->time_ps < b->time_ps;
    if (a->unit != b->unit)
        return a->unit < b->unit;
    return a->seq < b->seq;
}

static void far_add(struct event_queue *q, uint32_t n)
{
    uint32_t i = q->nfar++;

    for (; i > 0 && node_before(q, n, q->far[(i - 1) / 2]); i = (i - 1) / 2)
        q->far[i] = q->far[(i - 1) / 2];
    q->far[i] = n;
}

static uint32_t far_take(struct event_queue *q)
{
    uint32_t top = q->far[0], last = q->far[--q->nfar], i = 0, child;

    for (; (child = 2 * i + 1) < q->nfar; i = child) {
        if (child + 1 < q->nfar && node_before(q, q->far[child + 1], q->far[child]))
            child++;
        if (!node_before(q, q->far[child], last))
            break;
        q->far[i] = q->far[child];
    }
    q->far[i] = last;
    return top;
}

/*
 * Turns the wheel on. What has come near moves to it in order, and before anything can be scheduled
 * there directly, so that each slot's list stays in the order of scheduling for equal time and unit.
 */
static void turn_to(struct event_queue *q, uint64_t slot)
{
    q->base = slot;
    while (q->nfar && slot_of(q, q->far[0]) - slot < NUM_SLOTS)
        wheel_add(q, far_take(q));
}

/* ---- the slot in service --------------------------------------------------------------- */

/* Time in the slot, then unit; the node below them is no part of the order. */
static uint64_t entry_rank(uint64_t entry)
{
    return entry >> NODE_BITS;
}

static uint64_t entry_make(const struct event_queue *q, uint32_t n)
{
    const struct event *e = &q->nodes[n].e;
    uint64_t in_slot = e->time_ps & bits_low(SLOT_SHIFT);

    return (in_slot << UNIT_BITS | e->unit) << NODE_BITS | n;
}

static void sort_by_insertion(uint64_t *a, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint64_t entry = a[i];
        uint32_t k = i;

        for (; k > 0 && entry_rank(a[k - 1]) > entry_rank(entry); k--)
            a[k] = a[k - 1];
        a[k] = entry;
    }
}

static void merge(const uint64_t *from, uint64_t *to, uint32_t mid, uint32_t end)
{
    uint32_t left = 0, right = mid;

    for (uint32_t i = 0; i < end; i++) {
        bool take_left =
            right >= end || (left < mid && entry_rank(from[left]) <= entry_rank(from[right]));

        to[i] = take_left ? from[left++] : from[right++];
    }
}

/* Both ways are stable: events of equal rank stay in the order of scheduling. */
static void sort_entries(uint64_t *a, uint64_t *scratch, uint32_t count)
{
    uint32_t mid = count / 2;

    if (count <= INSERTION_MAX) {
        sort_by_insertion(a, count);
        return;
    }
    sort_entries(a, scratch, mid);
    sort_entries(a + mid, scratch, count - mid);
    if (entry_rank(a[mid - 1]) <= entry_rank(a[mid]))
        return;
    memcpy(scratch, a, count * sizeof *a);
    merge(scratch, a, mid, count);
}

static void reverse(uint64_t *a, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        uint64_t entry = a[i];

        a[i] = a[count - 1 - i];
        a[count - 1 - i] = entry;
    }
}

static void load_slot(struct event_queue *q, uint64_t slot)
{
    q->slot = slot;
    q->head = q->end = 0;
    for (uint32_t n = wheel_take(q, slot); n != NO_NODE; n = q->nodes[n].next)
        q->sorted[q->end++] = entry_make(q, n);
    reverse(q->sorted, q->end);
    sort_entries(q->sorted, q->scratch, q->end);
}

/* Something is scheduled before the slot that was only looked at: it goes back to the wheel. */
static void unload_slot(struct event_queue *q)
{
    for (; q->head < q->end; q->head++)
        wheel_add(q, (uint32_t)q->sorted[q->head]);
}

/* The place behind all entries of the same rank. */
static void insert_entry(struct event_queue *q, uint64_t entry)
{
    uint32_t low = q->head, high = q->end;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (entry_rank(q->sorted[mid]) <= entry_rank(entry))
            low = mid + 1;
        else
            high = mid;
    }
    /* Whichever side is shorter makes room: what was served has left some in front. */
    if (q->head > 0 && (low - q->head < q->end - low || q->end == q->capacity)) {
        memmove(q->sorted + q->head - 1, q->sorted + q->head, (low - q->head) * sizeof entry);
        q->head--;
        low--;
    } else {
        memmove(q->sorted + low + 1, q->sorted + low, (q->end - low) * sizeof entry);
        q->end++;
    }
    q->sorted[low] = entry;
}

/* ---- interface ------------------------------------------------------------------------- */

bool event_push(struct event_queue *q, uint64_t time_ps, uint32_t unit, enum event_kind kind,
                uint32_t a, uint64_t b)
{
    uint32_t n = take_node(q);
    uint64_t slot = time_ps >> SLOT_SHIFT;
    struct event *e;

    if (n == NO_NODE)
        return false;
    e = &q->nodes[n].e;
    e->time_ps = time_ps;
    e->seq = q->seq++ & SEQ_MASK;
    e->kind = kind & 0xffu;
    e->unit = unit;
    e->a = a;
    e->b = b;
    if (q->head < q->end && slot < q->slot)
        unload_slot(q);
    if (q->head < q->end && slot == q->slot)
        insert_entry(q, entry_make(q, n));
    else if (slot - q->base < NUM_SLOTS)
        wheel_add(q, n);
    else
        far_add(q, n);
    return true;
}

uint64_t event_next_time(struct event_queue *q)
{
    if (q->head == q->end) {
        if (!q->summary)
            return q->nfar ? q->nodes[q->far[0]].e.time_ps : SIM_NEVER;
        load_slot(q, wheel_next(q));
    }
    return q->slot << SLOT_SHIFT | q->sorted[q->head] >> (UNIT_BITS + NODE_BITS);
}

bool event_pop(struct event_queue *q, struct event *out)
{
    uint32_t n;

    if (q->head == q->end) {
        if (!q->summary) {
            if (!q->nfar)
                return false;
            turn_to(q, slot_of(q, q->far[0]));
        }
        load_slot(q, wheel_next(q));
    }
    if (q->base != q->slot)
        turn_to(q, q->slot);
    n = (uint32_t)q->sorted[q->head++];
    *out = q->nodes[n].e;
    give_node(q, n);
    return true;
}
