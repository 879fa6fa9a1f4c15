/* Attempts: their start, their end, and what the next one is. */
#include "tm/attempt.h"

#include "tm/token.h"
#include "tm/versions.h"

void tm_answer(const struct tm_wg *wg, unsigned wf, struct tm_out *out)
{
    const struct tm_wave *v = &wg->wave[wf];

    out->what = TM_GO;
    out->why = NULL;
    out->att = out->exec = v->exec;
    out->tcm = v->tcm;
    out->restore = out->done = out->conflicts = out->false_conflicts = out->read_read = 0;
    out->stop = out->wake = out->passes = 0;
    out->cycles = 0;
}

static void unbalanced(struct tm_out *out, const char *why)
{
    out->what = TM_UNBALANCED;
    out->why = why;
}

/* ---- start ---- */

/*
 * A lane commits, or the next attempt is of a stricter mode: TX, WF, WG, and one more if a failed multiple selection
 * is followed by a single one.
 */
static bool within_bound(const struct tm_wg *wg, const struct tm_wave *v)
{
    unsigned modes = wg->p.multi_fail == TM_FAIL_WF ? 4 : 3;

    return v->attempts <= 1 + modes * bits_count(v->exec_save) + v->self_aborts;
}

static void first_start(struct tm_wg *wg, unsigned wf, uint64_t exec)
{
    struct tm_wave *v = &wg->wave[wf];

    *v = (struct tm_wave){0};
    v->exec_save = v->exec = v->sel = exec & bits_low(wg->width);
    v->mcm = ~UINT64_C(0);
    v->mode = TM_MODE_TX;
    wg->inside |= UINT32_C(1) << wf;
}

void tm_begin(struct tm_wg *wg, unsigned wf, uint64_t exec, struct tm_out *out)
{
    struct tm_wave *v = &wg->wave[wf];

    if (v->state == TM_RUNNING) {
        tm_answer(wg, wf, out);
        if (v->depth == TM_DEPTH_MAX)
            unbalanced(out, "transactions are nested deeper than 255");
        else
            v->depth++;
        return;
    }
    if (!tm_token_admits(wg, wf)) {
        tm_answer(wg, wf, out);
        out->what = TM_WAIT;
        return;
    }
    if (v->state != TM_BETWEEN)
        first_start(wg, wf, exec);
    v->state = TM_RUNNING;
    v->depth = 1;
    v->foreign = false;
    v->attempts++;
    wg->running |= UINT32_C(1) << wf;
    tm_answer(wg, wf, out);
    if (!within_bound(wg, v))
        tm_broken(out, "more attempts than a transaction can need");
}

/* ---- end ---- */

/* Lanes end their transactions, and the attempt is over. One pass of the answer has the cost. */
static void end_attempt(struct tm_wg *wg, unsigned wf, uint64_t lanes, bool restore, uint8_t *lds,
                        struct tm_out *out)
{
    const struct tm_detector *d = tm_detector(wg);
    struct tm_walk walk = {.any = false};
    struct tm_pass *pass = &out->pass[0];

    tm_release(wg, wf, lanes, restore, lds, &walk);
    if (d->end)
        d->end(wg, wf, &walk);
    *pass = (struct tm_pass){.lanes = lanes};
    pass->cycles = tm_walk_cycles(wg, &walk, restore, &pass->accesses);
    if (d->signature && lanes)
        pass->cycles += wg->p.signature_cycles;
    out->passes = lanes || pass->accesses;
    out->cycles = pass->cycles;
    wg->wave[wf].state = TM_BETWEEN;
    wg->wave[wf].depth = 0;
    wg->running &= ~(UINT32_C(1) << wf);
    tm_wake_plain(wg, out);
    tm_token_quiet(wg, out);
}

static void leave(struct tm_wg *wg, unsigned wf, struct tm_out *out)
{
    struct tm_wave *v = &wg->wave[wf];

    out->what = TM_LEAVE;
    out->exec = v->exec_save;
    out->att = out->tcm = 0;
    *v = (struct tm_wave){.state = TM_OUTSIDE};
    wg->inside &= ~(UINT32_C(1) << wf);
    if (wg->token == (int32_t)wf)
        tm_token_release(wg, out);
}

static uint64_t pick_one(const struct tm_wg *wg, uint64_t lanes)
{
    return UINT64_C(1) << (tm_order(wg)->descending ? bits_last(lanes) : bits_first(lanes));
}

static enum tm_mode next_mode(const struct tm_wg *wg, struct tm_wave *v)
{
    bool multiple = tm_order(wg)->multiple;

    switch ((enum tm_mode)v->mode) {
    case TM_MODE_WG:
        return wg->p.wg_hold == TM_HOLD_WAVEFRONT ? TM_MODE_WG : TM_MODE_TX;
    case TM_MODE_WF:
        if (!(v->sel & v->tcm))
            return TM_MODE_TX;
        if (!v->single && !v->foreign && wg->p.multi_fail == TM_FAIL_WF) {
            v->single = true;
            return TM_MODE_WF;
        }
        return TM_MODE_WG;
    default:
        if (!v->tcm_old_valid || v->tcm != v->tcm_old)
            return TM_MODE_TX;
        v->single = !multiple;
        return TM_MODE_WF;
    }
}

static uint64_t select_lanes(const struct tm_wg *wg, const struct tm_wave *v)
{
    uint64_t lanes = v->exec;

    if (v->mode == TM_MODE_TX)
        return lanes;
    if (v->mode == TM_MODE_WF && !v->single && lanes & v->mcm)
        return lanes & v->mcm;
    return pick_one(wg, lanes);
}

static void retry(struct tm_wg *wg, unsigned wf, struct tm_out *out)
{
    struct tm_wave *v = &wg->wave[wf];
    enum tm_mode was = v->mode;

    v->mode = (uint8_t)next_mode(wg, v);
    v->tcm_old = v->exec = v->tcm;
    v->tcm_old_valid = true;
    v->sel = select_lanes(wg, v);
    v->mcm = ~UINT64_C(0);
    v->tcm = v->exec & ~v->sel;
    out->what = TM_RETRY;
    out->att = out->exec = out->restore = v->exec;
    out->tcm = v->tcm;
    if (was == TM_MODE_WG && v->mode != TM_MODE_WG)
        tm_token_release(wg, out);
    else if (was != TM_MODE_WG && v->mode == TM_MODE_WG)
        tm_token_ask(wg, wf, out);
}

void tm_commit(struct tm_wg *wg, unsigned wf, uint8_t *lds, struct tm_out *out)
{
    struct tm_wave *v = &wg->wave[wf];

    tm_answer(wg, wf, out);
    if (v->state != TM_RUNNING) {
        unbalanced(out, "a commit outside a transaction");
        return;
    }
    if (v->depth > 1) {
        v->depth--;
        return;
    }
    if (v->mode == TM_MODE_WG && v->sel & v->tcm) {
        tm_broken(out, "the lane that runs alone has not committed");
        return;
    }
    out->done = v->exec & ~v->tcm;
    end_attempt(wg, wf, out->done, false, lds, out);
    if (v->tcm)
        retry(wg, wf, out);
    else
        leave(wg, wf, out);
}

/* The attempt is annulled: it teaches nothing about conflicts, so that TCM_OLD and the mode stay. */
void tm_stopped(struct tm_wg *wg, unsigned wf, uint8_t *lds, struct tm_out *out)
{
    struct tm_wave *v = &wg->wave[wf];

    tm_answer(wg, wf, out);
    if (v->state != TM_RUNNING)
        return;
    end_attempt(wg, wf, v->exec & ~v->tcm, true, lds, out);
    v->tcm = v->exec & ~v->sel;
    v->mcm = ~UINT64_C(0);
    v->self_aborts++;
    out->what = TM_RETRY;
    out->restore = v->exec;
    out->tcm = v->tcm;
}

void tm_ended(struct tm_wg *wg, unsigned wf, struct tm_out *out)
{
    tm_answer(wg, wf, out);
    if (wg->inside >> wf & 1)
        unbalanced(out, "the wavefront ends inside a transaction");
    else
        wg->wave[wf].state = TM_ENDED;
}
