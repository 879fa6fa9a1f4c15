#include "tests/tm/model_rig.h"

#include "sim/base/bits.h"

#include <stdio.h>
#include <string.h>

/* In front what names a state, behind it the oracle. */
struct rig {
    struct tm_params params;
    uint32_t words;
    uint32_t wg, lds, oracle, watch; /* offsets */
};

struct rig_watch {
    bool blind, deep;
    enum hd_status status;
    struct hd_error err;
};

struct tm_wg *rig_wg(void *rig)
{
    return (struct tm_wg *)(void *)((unsigned char *)rig + ((struct rig *)rig)->wg);
}

static uint8_t *lds_of(void *rig)
{
    return (uint8_t *)rig + ((struct rig *)rig)->lds;
}

static struct tm_oracle *oracle_of(void *rig)
{
    return (struct tm_oracle *)(void *)((unsigned char *)rig + ((struct rig *)rig)->oracle);
}

static struct rig_watch *watch_of(void *rig)
{
    return (struct rig_watch *)(void *)((unsigned char *)rig + ((struct rig *)rig)->watch);
}

static void params_of(struct tm_params *p, const struct model_options *o)
{
    memset(p, 0, sizeof *p);
    tm_defaults(p);
    p->detector = o->detector;
    p->serialise = (o->multiple ? 2u : 0u) + (o->descending ? 1u : 0u);
    p->helper = o->helper_per_wave ? TM_HELPER_PER_WAVEFRONT : TM_HELPER_PER_BANK;
    p->wg_hold = o->hold_wave ? TM_HOLD_WAVEFRONT : TM_HOLD_ATTEMPT;
    p->dcd_release = o->release_epoch ? TM_RELEASE_EPOCH : TM_RELEASE_EXACT;
    p->mcm_source = o->mcm_match ? TM_MCM_MATCH : TM_MCM_OWNER;
    p->multi_fail = o->fail_wave ? TM_FAIL_WF : TM_FAIL_WG;
    p->owner_on_read = o->owner_on_read;
    p->early_exit = o->early_exit;
    p->strong = o->strong;
    p->classify = true;
    p->hash_k = o->hash_k;
    p->banks = o->banks;
    p->lanes_per_pass = o->lanes_per_pass;
}

static size_t lay_out(struct rig *r, const struct model_options *o)
{
    size_t bytes = 4 * (size_t)o->words;

    r->words = o->words;
    r->wg = (uint32_t)bits_round_up(sizeof *r, 8);
    r->lds = r->wg + (uint32_t)bits_round_up(tm_size(&r->params, o->waves, o->width, bytes), 8);
    r->oracle = r->lds + (uint32_t)bits_round_up(bytes, 8);
    r->watch = r->oracle + (uint32_t)bits_round_up(tm_oracle_size(o->waves, o->width, bytes), 8);
    return r->watch + sizeof(struct rig_watch);
}

size_t rig_size(const struct model_options *o)
{
    struct rig r;

    params_of(&r.params, o);
    return lay_out(&r, o);
}

void rig_init(void *rig, const struct model_options *o, const uint8_t *memory)
{
    struct rig *r = rig;
    size_t bytes = 4 * (size_t)o->words;

    memset(r, 0, rig_size(o));
    params_of(&r->params, o);
    lay_out(r, o);
    memcpy(lds_of(rig), memory, bytes);
    tm_init(rig_wg(rig), &r->params, o->waves, o->width, bytes);
    tm_oracle_init(oracle_of(rig), &r->params, o->waves, o->width, bytes, memory);
}

void rig_blind(void *rig)
{
    watch_of(rig)->blind = true;
}

void rig_look_deep(void *rig)
{
    watch_of(rig)->deep = true;
}

bool rig_broken(void *rig, char why[256])
{
    struct rig_watch *w = watch_of(rig);

    if (w->status == HD_OK)
        return false;
    snprintf(why, 256, "%s: %.200s", w->err.code, w->err.message);
    return true;
}

struct tm_oracle_counts rig_counts(void *rig)
{
    return tm_oracle_counts(oracle_of(rig));
}

bool rig_finish(void *rig, char why[256])
{
    struct rig_watch *w = watch_of(rig);

    if (w->status == HD_OK)
        w->status = tm_oracle_finish(oracle_of(rig), rig_wg(rig), lds_of(rig), &w->err);
    return !rig_broken(rig, why);
}

/* ---- calls ---- */

/* The oracle's word on a call, and a look at everything if this is wanted. */
static void note(void *rig, enum hd_status status)
{
    struct rig_watch *w = watch_of(rig);

    w->status = status;
    if (w->deep && status == HD_OK)
        w->status = tm_oracle_check(oracle_of(rig), rig_wg(rig), lds_of(rig), &w->err);
}

static bool watching(void *rig)
{
    return !watch_of(rig)->blind && watch_of(rig)->status == HD_OK;
}

static enum model_what what_of(enum tm_what what)
{
    return what == TM_WAIT                       ? MODEL_WAIT
           : what == TM_RETRY                    ? MODEL_RETRY
           : what == TM_LEAVE || what == TM_SKIP ? MODEL_LEAVE
           : what == TM_GO                       ? MODEL_GO
                                                 : MODEL_BROKEN;
}

static void answer(void *rig, unsigned wave, const struct tm_out *t, struct model_out *out)
{
    struct rig_watch *w = watch_of(rig);

    *out = (struct model_out){.what = what_of(t->what),
                              .mode = (enum model_mode)tm_mode(rig_wg(rig), wave),
                              .att = t->att,
                              .tcm = t->tcm,
                              .exec = t->exec,
                              .restore = t->restore,
                              .conflicts = t->conflicts,
                              .stop = t->stop,
                              .wake = t->wake};
    if (out->what == MODEL_BROKEN && w->status == HD_OK)
        w->status = HD_BROKEN(&w->err, "%s", t->why);
}

static void rig_begin(void *rig, unsigned wave, uint64_t exec, struct model_out *out)
{
    static struct tm_out t;

    tm_begin(rig_wg(rig), wave, exec, &t);
    if (watching(rig))
        note(rig, tm_oracle_begin(oracle_of(rig), rig_wg(rig), wave, exec, &t, &watch_of(rig)->err));
    answer(rig, wave, &t, out);
}

static uint64_t add(uint16_t op, uint64_t memory, uint64_t a, uint64_t c)
{
    (void)op;
    (void)c;
    return memory + a;
}

static struct tm_ref ref_of(struct model_ref *ref)
{
    return (struct tm_ref){.kind = (enum tm_kind)ref->kind,
                           .bytes = ref->bytes,
                           .address = ref->address,
                           .value = ref->value,
                           .out = ref->loaded,
                           .apply = add};
}

static void rig_access(void *rig, unsigned wave, uint64_t lanes, struct model_ref *ref,
                       struct model_out *out)
{
    static struct tm_out t;
    struct tm_ref r = ref_of(ref);

    tm_access(rig_wg(rig), wave, lanes, &r, lds_of(rig), &t);
    if (watching(rig) && t.what != TM_BROKEN)
        note(rig, tm_oracle_access(oracle_of(rig), rig_wg(rig), wave, lanes, &r, lds_of(rig), &t,
                                   &watch_of(rig)->err));
    answer(rig, wave, &t, out);
}

static void rig_plain(void *rig, unsigned wave, uint64_t lanes, struct model_ref *ref,
                      struct model_out *out)
{
    static struct tm_out t;
    struct tm_ref r = ref_of(ref);

    tm_plain(rig_wg(rig), wave, lanes, &r, &t);
    answer(rig, wave, &t, out);
    out->att = out->tcm = out->exec = 0;
}

static void rig_performed(void *rig, unsigned wave, uint64_t lanes, struct model_ref *ref)
{
    struct tm_ref r = ref_of(ref);

    if (watching(rig))
        note(rig,
             tm_oracle_plain(oracle_of(rig), wave, lanes, &r, lds_of(rig), &watch_of(rig)->err));
}

static void rig_commit(void *rig, unsigned wave, struct model_out *out)
{
    static struct tm_out t;

    tm_commit(rig_wg(rig), wave, lds_of(rig), &t);
    if (watching(rig) && t.what != TM_BROKEN)
        note(rig, tm_oracle_commit(oracle_of(rig), rig_wg(rig), wave, lds_of(rig), &t,
                                   &watch_of(rig)->err));
    answer(rig, wave, &t, out);
}

static void rig_stopped(void *rig, unsigned wave, struct model_out *out)
{
    static struct tm_out t;

    tm_stopped(rig_wg(rig), wave, lds_of(rig), &t);
    if (watching(rig) && t.what != TM_BROKEN)
        note(rig, tm_oracle_stopped(oracle_of(rig), rig_wg(rig), wave, lds_of(rig), &t,
                                    &watch_of(rig)->err));
    answer(rig, wave, &t, out);
}

static void rig_ended(void *rig, unsigned wave, struct model_out *out)
{
    static struct tm_out t;

    tm_ended(rig_wg(rig), wave, &t);
    answer(rig, wave, &t, out);
}

struct run_machine rig_machine(void *rig)
{
    struct rig *r = rig;
    struct run_machine m = {.state = rig,
                            .size = r->watch + sizeof(struct rig_watch),
                            .named = r->oracle,
                            .begin = rig_begin,
                            .access = rig_access,
                            .plain = rig_plain,
                            .performed = rig_performed,
                            .commit = rig_commit,
                            .stopped = rig_stopped,
                            .ended = rig_ended,
                            .memory = lds_of};

    return m;
}
