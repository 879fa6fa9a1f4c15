/* dcd: a word belongs to the first work-item that touches it; any other loses. */
#include "tm/directory.h"

static void plan(struct tm_work *x, struct tm_record r, unsigned lane, unsigned k)
{
    bool first = !(r.flags & TM_V);

    if (!x->reads) {
        tm_directory_store(x, r, lane, k);
        return;
    }
    x->todo[k][lane] = first ? TM_TODO_OWN : 0;
    tm_book(x, first ? TM_DIR_LOAD_FIRST : TM_DIR_LOAD);
}

static uint64_t find(struct tm_wg *wg, struct tm_work *x, uint64_t lanes)
{
    uint64_t lost = 0;

    for (unsigned k = 0; k < x->words; k++)
        for (uint64_t rest = lanes; rest; rest &= rest - 1) {
            unsigned lane = bits_first(rest);
            struct tm_record r = tm_record(wg)[x->word[k][lane]];

            if (!(r.flags & TM_V) || r.owner == tm_item(wg, x->wf, lane)) {
                plan(x, r, lane, k);
                continue;
            }
            lost |= UINT64_C(1) << lane;
            tm_book(x, TM_DIR_LOST);
            tm_lost(wg, x, lane, k, tm_set_of(r.owner), false);
        }
    return lost;
}

static void mark(struct tm_wg *wg, struct tm_work *x, uint64_t lanes)
{
    for (unsigned k = 0; k < x->words; k++)
        for (uint64_t rest = lanes; rest; rest &= rest - 1) {
            unsigned lane = bits_first(rest);

            if (x->todo[k][lane])
                tm_take(wg, x->lds, tm_item(wg, x->wf, lane), x->word[k][lane], x->todo[k][lane]);
        }
}

/* The records are gone with the work-items' lists. */
static void forget(struct tm_wg *wg, unsigned wf, uint64_t lanes, struct tm_walk *walk)
{
    (void)wg, (void)wf, (void)lanes, (void)walk;
}

static bool excludes(const struct tm_wg *wg, uint32_t word, bool reads)
{
    (void)reads;
    return tm_record(wg)[word].flags & TM_V;
}

static bool marks(const struct tm_wg *wg, uint32_t word, struct tm_set *set)
{
    struct tm_record r = tm_record(wg)[word];

    *set = (struct tm_set){{0}};
    if (r.flags & TM_V)
        tm_set_add(set, r.owner);
    return true;
}

const struct tm_detector tm_dcd = {
    .find = find,
    .mark = mark,
    .forget = forget,
    .excludes = excludes,
    .marks = marks,
};
