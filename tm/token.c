#include "tm/token.h"

#include <string.h>

static uint32_t running_beside(const struct tm_wg *wg, unsigned wf)
{
    return wg->running & ~(UINT32_C(1) << wf);
}

static void wake(struct tm_wg *wg, uint32_t who, struct tm_out *out)
{
    out->wake |= wg->waiting & who;
    wg->waiting &= ~who;
}

static void grant_first(struct tm_wg *wg, struct tm_out *out)
{
    wg->token = wg->queue[0];
    out->stop |= running_beside(wg, wg->queue[0]);
    tm_token_quiet(wg, out);
}

void tm_token_ask(struct tm_wg *wg, unsigned wf, struct tm_out *out)
{
    wg->queue[wg->queued++] = (uint8_t)wf;
    if (wg->queued == 1)
        grant_first(wg, out);
}

void tm_token_release(struct tm_wg *wg, struct tm_out *out)
{
    wg->queued--;
    memmove(wg->queue, wg->queue + 1, wg->queued);
    wg->queue[wg->queued] = 0;
    wg->token = -1;
    if (wg->queued)
        grant_first(wg, out);
    else
        wake(wg, wg->waiting, out);
}

bool tm_token_admits(struct tm_wg *wg, unsigned wf)
{
    bool mine = wg->token == (int32_t)wf;

    if (wg->token < 0 || (mine && !running_beside(wg, wf)))
        return true;
    wg->waiting |= UINT32_C(1) << wf;
    return false;
}

void tm_token_quiet(struct tm_wg *wg, struct tm_out *out)
{
    if (wg->token >= 0 && !running_beside(wg, (unsigned)wg->token))
        wake(wg, UINT32_C(1) << wg->token, out);
}
