#include "sim/tickets.h"

/* The place of the ticket among the pending ones, or of the first that is greater. */
static size_t place_of(const struct tickets *t, uint64_t ticket)
{
    size_t low = t->head, high = t->pending.len;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (t->pending.at[mid] < ticket)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

uint64_t tickets_issue(struct tickets *t)
{
    size_t left = tickets_pending(t);

    if (t->head > left) { /* more room in front than in use */
        memmove(t->pending.at, t->pending.at + t->head, left * sizeof *t->pending.at);
        t->pending.len = left;
        t->head = 0;
    }
    return vec_push(&t->pending, t->last + 1) ? ++t->last : 0;
}

/* Tickets complete near the front, or near the end; the shorter side moves. */
void tickets_complete(struct tickets *t, uint64_t ticket)
{
    size_t at = place_of(t, ticket);
    uint64_t *p = t->pending.at;

    if (at - t->head < t->pending.len - at) {
        memmove(p + t->head + 1, p + t->head, (at - t->head) * sizeof *p);
        t->head++;
    } else {
        memmove(p + at, p + at + 1, (t->pending.len - at - 1) * sizeof *p);
        t->pending.len--;
    }
}

bool tickets_done(const struct tickets *t, uint64_t ticket)
{
    size_t at = place_of(t, ticket);

    return ticket <= t->last && (at == t->pending.len || t->pending.at[at] != ticket);
}

size_t tickets_pending(const struct tickets *t)
{
    return t->pending.len - t->head;
}

void tickets_free(struct tickets *t)
{
    vec_free(&t->pending);
}

bool tickets_copy(struct tickets *to, const struct tickets *from)
{
    to->head = from->head;
    to->last = from->last;
    return vec_copy(&to->pending, &from->pending);
}
