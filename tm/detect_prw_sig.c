/* prw-sig: one filter for reads and writes; any other work-item that matches is a conflict. */
#include "tm/signature.h"

static uint64_t find(struct tm_wg *wg, struct tm_work *x, uint64_t lanes)
{
    return tm_signature_find(wg, x, lanes, NULL);
}

static bool excludes(const struct tm_wg *wg, uint32_t word, bool reads)
{
    struct tm_set match;

    (void)reads;
    tm_signature_marks(wg, word, &match);
    return !tm_set_empty(&match);
}

const struct tm_detector tm_prw_sig = {
    .signature = true,
    .find = find,
    .mark = tm_signature_mark,
    .forget = tm_signature_forget,
    .excludes = excludes,
    .marks = tm_signature_marks,
};
