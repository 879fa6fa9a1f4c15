#include "sim/attach.h"

#include <stdlib.h>

/* The place of a list in mem->attached. */
static size_t list_of(int32_t attached)
{
    return (size_t)(attached - SIM_ATTACH_GLOBAL);
}

static bool has_list(const struct memory *mem, int32_t attached)
{
    return attached != SIM_ATTACH_HOST && list_of(attached) < mem->attached.len;
}

static bool make_lists(struct memory *mem, size_t count)
{
    while (mem->attached.len < count)
        if (!vec_push(&mem->attached, ATTACH_NONE))
            return false;
    return true;
}

static void leave(struct memory *mem, struct sim_array *a)
{
    if (a->attached == SIM_ATTACH_HOST)
        return;
    if (a->attach_last == ATTACH_NONE)
        mem->attached.at[list_of(a->attached)] = a->attach_next;
    else
        mem->arrays.at[a->attach_last].attach_next = a->attach_next;
    if (a->attach_next != ATTACH_NONE)
        mem->arrays.at[a->attach_next].attach_last = a->attach_last;
    a->attached = SIM_ATTACH_HOST;
}

bool attach_set(struct memory *mem, uint32_t id, int32_t to)
{
    struct sim_array *a = &mem->arrays.at[id];
    uint32_t *first;

    leave(mem, a);
    if (to == SIM_ATTACH_HOST)
        return true;
    if (!make_lists(mem, list_of(to) + 1))
        return false;
    first = &mem->attached.at[list_of(to)];
    a->attached = to;
    a->attach_last = ATTACH_NONE;
    a->attach_next = *first;
    if (*first != ATTACH_NONE)
        mem->arrays.at[*first].attach_last = id;
    *first = id;
    return true;
}

void attach_end_queue(struct memory *mem, uint32_t queue)
{
    if (!has_list(mem, (int32_t)queue))
        return;
    while (mem->attached.at[list_of((int32_t)queue)] != ATTACH_NONE)
        leave(mem, &mem->arrays.at[mem->attached.at[list_of((int32_t)queue)]]);
}

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
    uint32_t id = has_list(mem, attached) ? mem->attached.at[list_of(attached)] : ATTACH_NONE;

    for (; id != ATTACH_NONE; id = mem->arrays.at[id].attach_next)
        if (!see(mem, id))
            return false;
    return true;
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

bool attach_find_visible(struct memory *mem, uint32_t queue, const struct sim_launch *launch)
{
    mem->visible.len = 0;
    mem->see_clock++;
    for (uint32_t i = 0; i < launch->narrays; i++)
        if (!see(mem, launch->arrays[i]))
            return false;
    if (!see_list(mem, SIM_ATTACH_GLOBAL) || !see_list(mem, (int32_t)queue))
        return false;
    if (mem->visible.len > 0)
        qsort(mem->visible.at, mem->visible.len, sizeof *mem->visible.at, by_id);
    return true;
}
