/*
 * dcd-sm: a directory whose records are shared (S) or modified (M). Readers share; who stores must be the owner and
 * the only one.
 *
 * A record has one owner, but must protect each reader until it ends. Release `exact` keeps the set of readers: when the owner ends,
 * the lowest one left becomes owner. Release `epoch` keeps a shared record until each attempt that ran while it was being shared
 * has ended.
 */
#include "tm/directory.h"
#include "tm/readers.h"

static bool is_exact(const struct tm_wg *wg)
{
    return wg->p.dcd_release == TM_RELEASE_EXACT;
}

static struct tm_set sharers(const struct tm_wg *wg, uint32_t word, struct tm_record r)
{
    struct tm_set none = {{0}};

    if (!(r.flags & TM_V))
        return none;
    return is_exact(wg) && !(r.flags & TM_M) ? tm_readers(wg)[word] : tm_set_of(r.owner);
}

static bool loses(const struct tm_work *x, struct tm_record r, unsigned item)
{
    if (!(r.flags & TM_V))
        return false;
    if (x->reads)
        return r.owner != item && r.flags & TM_M;
    return r.owner != item || r.flags & TM_S;
}

static void plan(struct tm_work *x, struct tm_record r, unsigned item, unsigned lane, unsigned k)
{
    bool first = !(r.flags & TM_V), shares = !first && (r.owner != item || r.flags & TM_S);
    bool writes = first || (shares && !(r.flags & TM_S));

    if (!x->reads) {
        tm_directory_store(x, r, lane, k);
        return;
    }
    x->todo[k][lane] = first ? TM_TODO_OWN : shares ? TM_TODO_SHARE : 0;
    tm_book(x, writes ? TM_DIR_LOAD_FIRST : TM_DIR_LOAD);
}

static uint64_t find(struct tm_wg *wg, struct tm_work *x, uint64_t lanes)
{
    uint64_t lost = 0;

    for (unsigned k = 0; k < x->words; k++)
        for (uint64_t rest = lanes; rest; rest &= rest - 1) {
            unsigned lane = bits_first(rest), item = tm_item(wg, x->wf, lane);
            uint32_t word = x->word[k][lane];
            struct tm_record r = tm_record(wg)[word];

            if (!loses(x, r, item)) {
                plan(x, r, item, lane, k);
                continue;
            }
            lost |= UINT64_C(1) << lane;
            tm_book(x, TM_DIR_LOST);
            tm_lost(wg, x, lane, k, tm_set_without(sharers(wg, word, r), item),
                    r.flags & TM_S && !is_exact(wg) &&
                        tm_pending(wg)[word] & ~(UINT32_C(1) << x->wf));
        }
    return lost;
}

/* The record of a word that has readers or none. Returns whether it has changed. */
static bool follow_readers(struct tm_wg *wg, uint32_t word)
{
    struct tm_record *r = &tm_record(wg)[word], was = *r, now = {0, 0};
    const struct tm_set *left = &tm_readers(wg)[word];
    unsigned count = 0, lowest = 0;

    for (unsigned i = TM_SET_WORDS; i-- > 0;)
        if (left->w[i]) {
            count += bits_count(left->w[i]);
            lowest = i * 64 + bits_first(left->w[i]);
        }
    if (count > 0) {
        bool stays = was.flags & TM_V && tm_set_has(left, was.owner);

        now.owner = stays ? was.owner : (uint8_t)lowest;
        now.flags = (uint8_t)(TM_V | (count > 1 ? TM_S : 0));
    }
    *r = now;
    return now.owner != was.owner || now.flags != was.flags;
}

/* The owner of the find may have lost in the same pass since. */
static void share(struct tm_wg *wg, const struct tm_work *x, unsigned item, uint32_t word)
{
    struct tm_record *r = &tm_record(wg)[word];

    if (is_exact(wg))
        follow_readers(wg, word);
    else if (!(r->flags & TM_V))
        tm_take(wg, x->lds, item, word, TM_TODO_OWN);
    else {
        if (!(r->flags & TM_S)) {
            tm_next_held(wg)[word] = wg->held;
            wg->held = word + 1;
        }
        tm_pending(wg)[word] |= wg->running;
        r->flags |= TM_S;
    }
}

/* In exact release, lists are of modified words alone: readers follow each other as owners. */
static void own_exactly(struct tm_wg *wg, const struct tm_work *x, unsigned item, uint32_t word,
                        unsigned todo)
{
    struct tm_record *r = &tm_record(wg)[word];

    *r = (struct tm_record){(uint8_t)item, (uint8_t)(TM_V | (r->flags & TM_M))};
    if (!(todo & TM_TODO_BACKUP))
        return;
    tm_list(wg, item, word);
    tm_backup(wg)[word] = tm_lds_word(x->lds, word);
    r->flags |= TM_M;
}

static void mark(struct tm_wg *wg, struct tm_work *x, uint64_t lanes)
{
    for (unsigned k = 0; k < x->words; k++)
        for (uint64_t rest = lanes; rest; rest &= rest - 1) {
            unsigned lane = bits_first(rest), item = tm_item(wg, x->wf, lane),
                     todo = x->todo[k][lane];
            uint32_t word = x->word[k][lane];

            if (wg->readers_kept && (x->reads || is_exact(wg)))
                tm_reader_add(wg, x->wf, item, word);
            if (todo == TM_TODO_SHARE)
                share(wg, x, item, word);
            else if (todo && is_exact(wg))
                own_exactly(wg, x, item, word, todo);
            else if (todo)
                tm_take(wg, x->lds, item, word, todo);
        }
}

/* A word has lost readers. */
static void settle(struct tm_wg *wg, uint32_t word, struct tm_walk *walk)
{
    struct tm_record r = tm_record(wg)[word];

    if (r.flags & TM_V && !(r.flags & TM_M) && follow_readers(wg, word))
        tm_walk_word(wg, walk, word, 1);
}

static void forget(struct tm_wg *wg, unsigned wf, uint64_t lanes, struct tm_walk *walk)
{
    if (wg->readers_kept)
        tm_readers_drop(wg, wf, lanes, walk, is_exact(wg) ? settle : NULL);
}

/* Release `epoch`: shared records that have waited for this attempt alone are free. */
static void end(struct tm_wg *wg, unsigned wf, struct tm_walk *walk)
{
    uint32_t *link = &wg->held;

    if (is_exact(wg))
        return;
    while (*link) {
        uint32_t word = *link - 1, *pending = &tm_pending(wg)[word];

        *pending &= ~(UINT32_C(1) << wf);
        if (*pending) {
            link = &tm_next_held(wg)[word];
            continue;
        }
        *link = tm_next_held(wg)[word];
        tm_next_held(wg)[word] = 0;
        tm_record(wg)[word] = (struct tm_record){0, 0};
        tm_walk_word(wg, walk, word, 1);
    }
}

static bool excludes(const struct tm_wg *wg, uint32_t word, bool reads)
{
    return tm_record(wg)[word].flags & (reads ? TM_M : TM_V);
}

static bool marks(const struct tm_wg *wg, uint32_t word, struct tm_set *set)
{
    struct tm_record r = tm_record(wg)[word];

    *set = sharers(wg, word, r);
    return is_exact(wg) || !(r.flags & TM_S);
}

const struct tm_detector tm_dcd_sm = {
    .shares = true,
    .find = find,
    .mark = mark,
    .forget = forget,
    .end = end,
    .excludes = excludes,
    .marks = marks,
};
