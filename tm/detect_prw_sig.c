/* prw-sig: one filter for reads and writes; any other work-item that matches is a conflict. */
#include "tm/signature.h"

static uint64_t find(struct tm_wg *wg, struct tm_work *x, uint64_t lanes)
{
    unsigned lost_accesses = tm_order(wg)->multiple; /* the owner record, for MCM */
    uint64_t lost = 0;

    for (unsigned k = 0; k < x->words; k++)
        for (uint64_t rest = lanes; rest; rest &= rest - 1) {
            unsigned lane = bits_first(rest), item = tm_item(wg, x->wf, lane),
                     bank = x->bank[k][lane];
            uint32_t row = x->row[k][lane];
            struct tm_set match, others;
            bool own;

            if (tm_unmarked(wg, bank, row)) {
                tm_signature_plan(wg, x, item, lane, k, false);
                continue;
            }
            match = tm_match(wg, bank, row);
            own = tm_set_has(&match, item);
            others = tm_set_without(match, item);
            if (tm_set_empty(&others)) {
                tm_signature_plan(wg, x, item, lane, k, own);
                continue;
            }
            lost |= UINT64_C(1) << lane;
            tm_book(x, lost_accesses);
            tm_lost(wg, x, lane, k, others, false);
        }
    return lost;
}

static bool marks(const struct tm_wg *wg, uint32_t word, struct tm_set *set)
{
    uint32_t row = tm_row(wg, word);

    *set = tm_match(wg, tm_bank(wg, word, row), row);
    return true;
}

static bool excludes(const struct tm_wg *wg, uint32_t word, bool reads)
{
    struct tm_set match;

    (void)reads;
    marks(wg, word, &match);
    return !tm_set_empty(&match);
}

const struct tm_detector tm_prw_sig = {
    .signature = true,
    .find = find,
    .mark = tm_signature_mark,
    .forget = tm_signature_forget,
    .excludes = excludes,
    .marks = marks,
};
