/* Answers, and what of the token accesses need. For the files of tm/ only. */
#ifndef HD_TM_ATTEMPT_H
#define HD_TM_ATTEMPT_H

#include "tm/detector.h"

/* An answer to begin with: TM_GO, the wavefront's masks, nothing else. */
void tm_answer(const struct tm_wg *wg, unsigned wf, struct tm_out *out);

static inline void tm_broken(struct tm_out *out, const char *why)
{
    out->what = TM_BROKEN;
    out->why = why;
}

/* Marks are gone: plain accesses that wait look again. */
static inline void tm_wake_plain(struct tm_wg *wg, struct tm_out *out)
{
    out->wake |= wg->plain_waiting;
    wg->plain_waiting = 0;
}

#endif
