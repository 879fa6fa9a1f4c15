/* What follows from a lost access beside the abort: MCM, whom it was lost to, and the class of the conflict. */
#include "tm/detector.h"

/* Whether one of these lanes, all of the loser's wavefront, is on the side that goes first. */
static bool goes_first(const struct tm_wg *wg, uint64_t lanes, unsigned lane)
{
    uint64_t lower = bits_low(lane), higher = ~bits_low(lane + 1);

    return lanes & (tm_order(wg)->descending ? higher : lower);
}

static void update_mcm(struct tm_wg *wg, const struct tm_work *x, unsigned lane, uint32_t word,
                       const struct tm_set *match)
{
    struct tm_record r = tm_record(wg)[word];
    struct tm_set owner = tm_set_of(r.owner);
    bool by_match =
        r.flags & TM_V ? r.owner == tm_item(wg, x->wf, lane) : wg->p.mcm_source == TM_MCM_MATCH;
    uint64_t lanes = by_match         ? tm_set_lanes(wg, match, x->wf)
                     : r.flags & TM_V ? tm_set_lanes(wg, &owner, x->wf)
                                      : 0;

    if (goes_first(wg, lanes & ~(UINT64_C(1) << lane), lane))
        wg->wave[x->wf].mcm &= ~(UINT64_C(1) << lane);
}

enum class { CLASS_FALSE, CLASS_READ_READ, CLASS_TRUE };

static enum class classify(const struct tm_wg *wg, const struct tm_work *x, unsigned item,
                           uint32_t word) {
    struct tm_record r = tm_record(wg)[word];
    bool others = r.flags & TM_V && r.owner != item, read = others && !wg->readers_kept;

    if (others && r.flags & TM_M) return CLASS_TRUE;
    if (wg->readers_kept){struct tm_set s = tm_set_without(tm_readers(wg)[word], item);

                          read = !tm_set_empty(&s);}
if (!read) return CLASS_FALSE;
return x->reads ? CLASS_READ_READ : CLASS_TRUE;
}

/* Of two words the worse conflict counts. */
static void book_class(struct tm_out *out, uint64_t bit, bool first, enum class class)
{
    if (first) {
        out->false_conflicts |= class == CLASS_FALSE ? bit : 0;
        out->read_read |= class == CLASS_READ_READ ? bit : 0;
    } else if (class == CLASS_TRUE || (class == CLASS_READ_READ && out->false_conflicts & bit)) {
        out->false_conflicts &= ~bit;
        out->read_read &= ~bit;
        out->read_read |= class == CLASS_READ_READ ? bit : 0;
    }
}

void tm_lost(struct tm_wg *wg, struct tm_work *x, unsigned lane, unsigned k, struct tm_set match,
             bool others)
{
    uint64_t bit = UINT64_C(1) << lane;
    unsigned item = tm_item(wg, x->wf, lane), own = tm_set_word(wg, x->wf);
    uint32_t word = x->word[k][lane];

    if (tm_order(wg)->multiple)
        update_mcm(wg, x, lane, word, &match);
    if (wg->p.classify)
        book_class(x->out, bit, !(x->out->conflicts & bit), classify(wg, x, item, word));
    x->out->conflicts |= bit;
    match.w[own] &= ~(bits_low(wg->width) << tm_set_shift(wg, x->wf));
    if (others || !tm_set_empty(&match))
        wg->wave[x->wf].foreign = true;
}
