#include "sim/attach.h"

#include <stdlib.h>

/* NULL for SIM_ATTACH_HOST, and for a list that nothing was ever in. */
static struct attach_list *list_of(const struct memory *mem, int32_t attached)
{
    size_t i = (size_t)(attached - SIM_ATTACH_GLOBAL);

    return attached == SIM_ATTACH_HOST || i >= mem->attached.len ? NULL : &mem->attached.at[i];
}

static bool make_lists(struct memory *mem, size_t count)
{
    const struct attach_list empty = {.first = {ATTACH_NONE, ATTACH_NONE}};

    while (mem->attached.len < count)
        if (!vec_push(&mem->attached, empty))
            return false;
    return true;
}

static void take_out(struct memory *mem, struct sim_array *a)
{
    struct attach_list *list = list_of(mem, a->attached);

    if (a->attach_last == ATTACH_NONE)
        list->first[a->settled] = a->attach_next;
    else
        mem->arrays.at[a->attach_last].attach_next = a->attach_next;
    if (a->attach_next != ATTACH_NONE)
        mem->arrays.at[a->attach_next].attach_last = a->attach_last;
}

static void put_in(struct memory *mem, struct sim_array *a)
{
    struct attach_list *list = list_of(mem, a->attached);
    uint32_t id = (uint32_t)(a - mem->arrays.at);

    a->attach_last = ATTACH_NONE;
    a->attach_next = list->first[a->settled];
    if (a->attach_next != ATTACH_NONE)
        mem->arrays.at[a->attach_next].attach_last = id;
    list->first[a->settled] = id;
}

static void leave(struct memory *mem, struct sim_array *a)
{
    struct attach_list *list = list_of(mem, a->attached);

    if (!list)
        return;
    take_out(mem, a);
    list->pages -= a->npages;
    a->last_use = attach_last_use(mem, a);
    a->attached = SIM_ATTACH_HOST;
}

bool attach_set(struct memory *mem, uint32_t id, int32_t to)
{
    struct sim_array *a = &mem->arrays.at[id];

    leave(mem, a);
    if (to == SIM_ATTACH_HOST)
        return true;
    if (!make_lists(mem, (size_t)(to - SIM_ATTACH_GLOBAL) + 1))
        return false;
    a->attached = to;
    list_of(mem, to)->pages += a->npages;
    put_in(mem, a);
    return true;
}

void attach_end_queue(struct memory *mem, uint32_t queue)
{
    struct attach_list *list = list_of(mem, (int32_t)queue);

    for (unsigned settled = 0; list && settled < 2; settled++)
        while (list->first[settled] != ATTACH_NONE)
            leave(mem, &mem->arrays.at[list->first[settled]]);
}

void attach_settle(struct memory *mem, struct sim_array *a)
{
    bool settled = a->device_pages == a->npages && a->inbound == 0 && a->outbound == 0;
    bool listed = list_of(mem, a->attached) != NULL;

    if (settled == a->settled)
        return;
    if (listed)
        take_out(mem, a);
    a->settled = settled;
    if (listed)
        put_in(mem, a);
}

/* ---- what a launch can see ---------------------------------------------------------------- */

static bool see(struct memory *mem, uint32_t id)
{
    struct sim_array *a = &mem->arrays.at[id];

    if (!a->live || a->kind != SIM_MANAGED || a->seen == mem->see_clock)
        return true;
    a->seen = mem->see_clock;
    return vec_push(&mem->visible, id);
}

static bool see_list(struct memory *mem, int32_t attached)
{
    const struct attach_list *list = list_of(mem, attached);
    uint32_t id = list ? list->first[false] : ATTACH_NONE;

    for (; id != ATTACH_NONE; id = mem->arrays.at[id].attach_next)
        if (!see(mem, id))
            return false;
    return true;
}

static uint64_t pages_of_list(const struct memory *mem, int32_t attached)
{
    const struct attach_list *list = list_of(mem, attached);

    return list ? list->pages : 0;
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

bool attach_find_visible(struct memory *mem, uint32_t queue, const struct sim_launch *launch,
                         uint64_t *pages)
{
    if (!make_lists(mem, (size_t)queue + 2))
        return false;
    mem->visible.len = 0;
    mem->see_clock++;
    *pages = pages_of_list(mem, SIM_ATTACH_GLOBAL) + pages_of_list(mem, (int32_t)queue);
    for (uint32_t i = 0; i < launch->narrays; i++)
        if (!see(mem, launch->arrays[i]))
            return false;
    for (size_t i = 0; i < mem->visible.len; i++) {
        const struct sim_array *a = &mem->arrays.at[mem->visible.at[i]];

        if (a->attached != SIM_ATTACH_GLOBAL && a->attached != (int32_t)queue)
            *pages += a->npages;
    }
    if (!see_list(mem, SIM_ATTACH_GLOBAL) || !see_list(mem, (int32_t)queue))
        return false;
    if (mem->visible.len > 0)
        qsort(mem->visible.at, mem->visible.len, sizeof *mem->visible.at, by_id);
    return true;
}

void attach_hold(struct memory *mem, uint32_t queue, bool hold)
{
    uint32_t by = hold ? 1 : UINT32_MAX;

    list_of(mem, SIM_ATTACH_GLOBAL)->held += by;
    list_of(mem, (int32_t)queue)->held += by;
}

void attach_use(struct memory *mem, uint32_t queue, uint64_t use)
{
    list_of(mem, SIM_ATTACH_GLOBAL)->last_use = use;
    list_of(mem, (int32_t)queue)->last_use = use;
}

bool attach_held(const struct memory *mem, const struct sim_array *a)
{
    const struct attach_list *list = list_of(mem, a->attached);

    return list && list->held > 0;
}

uint64_t attach_last_use(const struct memory *mem, const struct sim_array *a)
{
    const struct attach_list *list = list_of(mem, a->attached);

    return list && list->last_use > a->last_use ? list->last_use : a->last_use;
}
