/* What others see of the block. */
#include "tm/helper.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct tm_view tm_view(const struct tm_wg *wg, unsigned wf)
{
    const struct tm_wave *v = &wg->wave[wf];

    return (struct tm_view){
        .mode = v->mode,
        .state = v->state,
        .waiting = (wg->waiting | wg->plain_waiting) >> wf & 1,
        .exec_save = v->exec_save,
        .exec = v->exec,
        .sel = v->sel,
        .tcm = v->tcm,
        .tcm_old = v->tcm_old,
        .mcm = v->mcm,
        .tcm_old_valid = v->tcm_old_valid,
        .depth = v->depth,
        .attempts = v->attempts,
        .self_aborts = v->self_aborts,
    };
}

enum tm_mode tm_mode(const struct tm_wg *wg, unsigned wf)
{
    return wg->wave[wf].mode;
}

int tm_token(const struct tm_wg *wg)
{
    return wg->token;
}

uint32_t tm_running(const struct tm_wg *wg)
{
    return wg->running;
}

bool tm_active(const struct tm_wg *wg)
{
    return wg->inside;
}

struct tm_word tm_word(const struct tm_wg *wg, uint32_t word)
{
    struct tm_record r = tm_record(wg)[word];

    return (struct tm_word){
        .valid = r.flags & TM_V,
        .shared = r.flags & TM_S,
        .written = r.flags & TM_M,
        .owner = r.owner,
        .backup = tm_backup(wg)[word],
    };
}

bool tm_marks(const struct tm_wg *wg, uint32_t word, uint64_t set[4])
{
    struct tm_set s;
    bool known = tm_detector(wg)->marks(wg, word, &s);

    memcpy(set, s.w, sizeof s.w);
    return known;
}

bool tm_helper_has(const struct tm_wg *wg, unsigned wf, uint32_t word)
{
    uint32_t row = tm_row(wg, word);
    const uint32_t *helper;
    unsigned bit;

    if (!tm_detector(wg)->helper)
        return false;
    helper = tm_helper_of(wg, wf, word, row, tm_bank(wg, word, row), &bit);
    return *helper >> bit & 1;
}

/* ---- in words ---- */

static const char *const mode_names[] = {"none", "tx", "wf", "wg"};
static const char *const state_names[] = {"outside", "running", "between attempts", "ended"};

void tm_describe(const struct tm_wg *wg, char *out, size_t size)
{
    size_t at = 0;
    int n = snprintf(out, size, "%s, %s; token %d, %u in the queue",
                     tm_detector_choices[wg->p.detector].name,
                     tm_serialise_choices[wg->p.serialise].name, (int)wg->token, wg->queued);

    for (unsigned wf = 0; n >= 0 && wf < wg->wavefronts; wf++) {
        const struct tm_wave *v = &wg->wave[wf];

        at += (size_t)n;
        if (at >= size)
            return;
        n = snprintf(out + at, size - at,
                     "; wavefront %u %s, mode %s%s, EXEC 0x%" PRIx64 " of 0x%" PRIx64
                     ", selected 0x%" PRIx64 ", TCM 0x%" PRIx64 ", TCM_OLD 0x%" PRIx64
                     ", MCM 0x%" PRIx64 ", depth %u, %u attempts, %u self-aborts",
                     wf, state_names[v->state], mode_names[v->mode],
                     wg->waiting >> wf & 1 ? ", asleep" : "", v->exec, v->exec_save, v->sel, v->tcm,
                     v->tcm_old, v->mcm, v->depth, v->attempts, v->self_aborts);
    }
}
