/* Circular doubly linked lists whose links are in the items: nothing is allocated, removal needs no search. */
#ifndef HD_HOST_RT_LIST_H
#define HD_HOST_RT_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *prev, *next; /* of a head: the last and the first item */
};

/* The item of `type` whose member is at `link`. */
#define LIST_ITEM(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

static inline void list_init(struct list *l)
{
    l->prev = l->next = l;
}

static inline bool list_empty(const struct list *head)
{
    return head->next == head;
}

/* Puts a link before `place`; before a head is the end of its list. */
static inline void list_insert(struct list *place, struct list *link)
{
    link->prev = place->prev;
    link->next = place;
    place->prev->next = link;
    place->prev = link;
}

/* Leaves the link alone in a list of its own, so that removing it again does nothing. */
static inline void list_remove(struct list *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    list_init(link);
}

#endif
