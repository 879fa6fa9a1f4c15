#include "tests/tm/model.h"

#include <assert.h>
#include <string.h>

#define NOBODY (-1)
#define ALL_WAVES 0xfu

static bool has(uint64_t mask, unsigned lane)
{
    return mask >> lane & 1;
}

static uint64_t bit(unsigned lane)
{
    return UINT64_C(1) << lane;
}

static unsigned item(const struct model *m, unsigned wave, unsigned lane)
{
    return wave * m->o.width + lane;
}

static unsigned items(const struct model *m)
{
    return m->o.waves * m->o.width;
}

static unsigned wave_of(const struct model *m, unsigned wi)
{
    return wi / m->o.width;
}

static bool signatures(const struct model *m)
{
    return m->o.detector == MODEL_PRW || m->o.detector == MODEL_SWO;
}

/* The lowest lane, or the highest. */
static uint64_t pick_one(const struct model *m, uint64_t mask)
{
    for (unsigned i = 0; i < 64; i++) {
        unsigned lane = m->o.descending ? 63 - i : i;

        if (has(mask, lane))
            return bit(lane);
    }
    return 0;
}

/* ---- signatures ---- */

static unsigned bank_of(const struct model *m, unsigned word)
{
    return word % m->o.banks;
}

static unsigned row_of(const struct model *m, unsigned word)
{
    return word / m->o.banks;
}

/* The hash functions of tm/README.md, for 8 bits of a filter and 32 of a helper. */
static unsigned filter_bit(const struct model *m, unsigned word, unsigned which)
{
    unsigned row = row_of(m, word);

    return (which ? row * 2 ^ row / 4 ^ row / 32 : row ^ row / 8 ^ row / 64) % 8;
}

static bool filter_has(const struct model *m, unsigned wi, unsigned word)
{
    for (unsigned k = 0; k < m->o.hash_k; k++)
        if (!m->filter[wi][bank_of(m, word)][filter_bit(m, word, k)])
            return false;
    return true;
}

static void filter_put(struct model *m, unsigned wi, unsigned word)
{
    for (unsigned k = 0; k < m->o.hash_k; k++)
        m->filter[wi][bank_of(m, word)][filter_bit(m, word, k)] = true;
}

static bool *helper_bit(struct model *m, unsigned wave, unsigned word)
{
    unsigned row = row_of(m, word);

    if (m->o.helper_per_wave)
        return &m->helper[wave][0][(word ^ word / 32 ^ word / 1024) % 32];
    return &m->helper[wave][bank_of(m, word)][(row ^ row / 32) % 32];
}

/* ---- what one access to one word meets ---- */

static bool alone_shares(const struct model *m, unsigned word, unsigned wi)
{
    for (unsigned u = 0; u < items(m); u++)
        if (u != wi && m->record[word].sharer[u])
            return false;
    return true;
}

/* Whether a mark of work-item u keeps wi from touching the word. */
static bool against(struct model *m, unsigned wi, unsigned word, bool store, unsigned u)
{
    const struct model_record *r = &m->record[word];

    switch (m->o.detector) {
    case MODEL_PRW:
        return u != wi && filter_has(m, u, word);
    case MODEL_SWO:
        return u != wi && filter_has(m, u, word) && (store || *helper_bit(m, wave_of(m, u), word));
    case MODEL_DCD:
        return u != wi && r->valid && r->owner == u;
    default:
        if (!r->valid || u == wi)
            return false;
        if (r->owner == u)
            return store || r->written;
        return store && r->sharer[u] && !m->o.release_epoch;
    }
}

/* Readers whom an epoch's record has forgotten still keep others from storing. */
static bool outlived(const struct model *m, unsigned word, bool store)
{
    const struct model_record *r = &m->record[word];

    return m->o.detector == MODEL_SHARED && m->o.release_epoch && store && r->valid && r->shared;
}

/* Whether wi may not touch the word, given the other work-items' marks. */
static bool conflicts(struct model *m, unsigned wi, unsigned word, bool store)
{
    bool any = outlived(m, word, store);

    for (unsigned u = 0; u < items(m); u++)
        any |= against(m, wi, word, store, u);
    return any;
}

/* Whether a mark of another wavefront is among those. */
static bool foreign(struct model *m, unsigned wi, unsigned word, bool store)
{
    bool any = false;

    for (unsigned u = 0; u < items(m); u++)
        any |= wave_of(m, u) != wave_of(m, wi) && against(m, wi, word, store, u);
    for (unsigned v = 0; v < m->o.waves; v++)
        any |= v != wave_of(m, wi) && outlived(m, word, store) && m->record[word].waits[v];
    return any;
}

/* ---- abort and commit of one work-item ---- */

static void drop_share(struct model *m, struct model_record *r, unsigned wi)
{
    bool left = false;

    if (m->o.release_epoch) {
        r->sharer[wi] = false;
        r->valid &= r->shared || r->owner != wi;
        return;
    }
    r->sharer[wi] = false;
    if (r->owner == wi) {
        r->valid = false;
        for (unsigned u = 0; u < items(m) && !r->valid; u++)
            if (r->sharer[u]) {
                r->valid = true;
                r->owner = u;
            }
    }
    for (unsigned u = 0; u < items(m); u++)
        left |= r->sharer[u] && u != r->owner;
    r->shared = r->valid && left;
}

/* Takes every mark of wi away; with undo, also what it wrote. */
static void forget(struct model *m, unsigned wi, bool undo)
{
    for (unsigned w = 0; w < m->o.words; w++) {
        struct model_record *r = &m->record[w];

        if (r->valid && r->owner == wi && r->written) {
            if (undo)
                memcpy(m->memory + 4 * w, &r->backup, 4);
            r->written = false;
        }
        if (m->o.detector == MODEL_SHARED)
            drop_share(m, r, wi);
        else if (r->valid && r->owner == wi)
            r->valid = false;
    }
    memset(m->filter[wi], 0, sizeof m->filter[wi]);
}

static void forget_lanes(struct model *m, unsigned wave, uint64_t lanes, bool undo)
{
    for (unsigned lane = 0; lane < m->o.width; lane++)
        if (has(lanes, lane))
            forget(m, item(m, wave, lane), undo);
}

/* ---- the token of work-group serialisation ---- */

static bool others_live(const struct model *m, unsigned wave)
{
    for (unsigned v = 0; v < m->o.waves; v++)
        if (v != wave && m->wave[v].live)
            return true;
    return false;
}

static void grant_next(struct model *m, struct model_out *out)
{
    if (m->token != NOBODY || m->queued == 0)
        return;
    m->token = (int)m->queue[0];
    m->queued--;
    memmove(m->queue, m->queue + 1, m->queued * sizeof m->queue[0]);
    for (unsigned v = 0; v < m->o.waves; v++)
        if ((int)v != m->token && m->wave[v].live)
            out->stop |= 1u << v;
}

static void release(struct model *m, unsigned wave, struct model_out *out)
{
    if (m->token == (int)wave) {
        m->token = NOBODY;
        grant_next(m, out);
    }
}

static void request(struct model *m, unsigned wave, struct model_out *out)
{
    if (m->token == (int)wave)
        return;
    m->queue[m->queued++] = wave;
    grant_next(m, out);
}

/* ---- begin ---- */

static void answer(const struct model *m, unsigned wave, enum model_what what, struct model_out *out)
{
    const struct model_wave *v = &m->wave[wave];

    out->what = what;
    out->att = v->att;
    out->tcm = v->tcm;
    out->mode = v->mode;
    out->wake = ALL_WAVES; /* the slow way: everyone who waits asks again */
    out->exec = v->att;
}

static void start_attempt(struct model *m, unsigned wave)
{
    struct model_wave *v = &m->wave[wave];

    v->live = true;
    v->tcm = v->att & ~v->sel;
    v->mcm = ~UINT64_C(0);
    v->foreign = false;
    v->attempts++;
    assert(v->attempts <= 1 + 4 * 64 + v->self_aborts);
}

void model_begin(struct model *m, unsigned wave, uint64_t exec, struct model_out *out)
{
    struct model_wave *v = &m->wave[wave];

    *out = (struct model_out){0};
    if (v->live) {
        v->depth++;
        answer(m, wave, MODEL_GO, out);
        return;
    }
    if (m->token != NOBODY && (m->token != (int)wave || others_live(m, wave))) {
        answer(m, wave, MODEL_WAIT, out);
        return;
    }
    if (v->mode == MODEL_NONE) {
        v->mode = MODEL_TX;
        v->depth = 1;
        v->exec_save = v->att = v->sel = exec;
        v->old_valid = false;
        v->attempts = v->self_aborts = 0;
    }
    start_attempt(m, wave);
    answer(m, wave, MODEL_GO, out);
}

/* ---- access ---- */

static unsigned words_of(const struct model_ref *ref)
{
    return ref->bytes == 8 ? 2 : 1;
}

static unsigned word_of(const struct model_ref *ref, unsigned lane, unsigned i)
{
    return ref->address[lane] / 4 + i;
}

struct model_pass {
    uint64_t lanes;
    unsigned words;
    bool bank_taken[MODEL_BANKS];
};

static bool fits(const struct model *m, const struct model_pass *p, const struct model_ref *ref,
                 unsigned lane)
{
    if (p->lanes && p->words + words_of(ref) > m->o.lanes_per_pass)
        return false;
    for (unsigned i = 0; i < words_of(ref); i++)
        if (p->bank_taken[bank_of(m, word_of(ref, lane, i))])
            return false;
    return true;
}

/* The lanes of the next pass, in lane order, each with all of its banks free; a bank serves lanes in order. */
static uint64_t next_pass(const struct model *m, const struct model_ref *ref, uint64_t lanes)
{
    struct model_pass p = {0};

    for (unsigned lane = 0; lane < m->o.width; lane++) {
        if (!has(lanes, lane))
            continue;
        if (fits(m, &p, ref, lane)) {
            p.lanes |= bit(lane);
            p.words += words_of(ref);
        }
        for (unsigned i = 0; i < words_of(ref); i++)
            p.bank_taken[bank_of(m, word_of(ref, lane, i))] = true;
    }
    return p.lanes;
}

/* Does u come before wi in the order of selection? */
static bool precedes(const struct model *m, unsigned u, unsigned wi)
{
    return m->o.descending ? u > wi : u < wi;
}

/*
 * Whether the one who holds the word makes lane wi give way in a multiple selection: its owner, or, if there is none or it is wi
 * itself, those who were in its way.
 */
static bool gives_way(struct model *m, unsigned wi, unsigned word, bool store)
{
    const struct model_record *r = &m->record[word];
    bool by_match = r->valid ? r->owner == wi : m->o.mcm_match;

    for (unsigned u = 0; u < items(m); u++) {
        bool holds = by_match ? against(m, wi, word, store, u) : r->valid && r->owner == u;

        if (u != wi && holds && wave_of(m, u) == wave_of(m, wi) && precedes(m, u, wi))
            return true;
    }
    return false;
}

/* A shared record waits for the end of every attempt that runs now. */
static void share_for_epoch(struct model *m, struct model_record *r, unsigned wi, bool store)
{
    if (store || (r->owner == wi && !r->shared))
        return;
    r->shared = true;
    for (unsigned v = 0; v < m->o.waves; v++)
        r->waits[v] |= m->wave[v].live;
}

static void mark(struct model *m, unsigned wi, unsigned w, bool store)
{
    struct model_record *r = &m->record[w];
    bool owns = !signatures(m) || store || m->o.owner_on_read;

    if (signatures(m))
        filter_put(m, wi, w);
    if (m->o.detector == MODEL_SWO && store)
        *helper_bit(m, wave_of(m, wi), w) = true;
    if (m->o.detector == MODEL_SHARED)
        r->sharer[wi] = true;
    if (!r->valid && owns) {
        r->valid = true;
        r->owner = wi;
    }
    if (m->o.detector == MODEL_SHARED && m->o.release_epoch)
        share_for_epoch(m, r, wi, store);
    else
        r->shared = m->o.detector == MODEL_SHARED && !alone_shares(m, w, r->owner);
    if (store && !r->written) {
        memcpy(&r->backup, m->memory + 4 * w, 4);
        r->written = true;
    }
}

static void perform(struct model *m, unsigned wi, struct model_ref *ref, unsigned lane)
{
    uint8_t *at = m->memory + ref->address[lane];
    uint64_t value = 0;

    for (unsigned i = 0; i < words_of(ref); i++)
        mark(m, wi, word_of(ref, lane, i), ref->kind != MODEL_LOAD);
    memcpy(&value, at, ref->bytes);
    ref->loaded[lane] = value;
    value = ref->value[lane] + (ref->kind == MODEL_ATOMIC ? value : 0);
    if (ref->kind != MODEL_LOAD)
        memcpy(at, &value, ref->bytes);
}

static void one_pass(struct model *m, unsigned wave, uint64_t pass, struct model_ref *ref,
                     struct model_out *out)
{
    struct model_wave *v = &m->wave[wave];
    uint64_t lost = 0;

    for (unsigned lane = 0; lane < m->o.width; lane++)
        for (unsigned i = 0; has(pass, lane) && i < words_of(ref); i++) {
            unsigned wi = item(m, wave, lane), w = word_of(ref, lane, i);

            if (!conflicts(m, wi, w, ref->kind != MODEL_LOAD))
                continue;
            lost |= bit(lane);
            v->foreign |= foreign(m, wi, w, ref->kind != MODEL_LOAD);
            if (m->o.multiple && gives_way(m, wi, w, ref->kind != MODEL_LOAD))
                v->mcm &= ~bit(lane);
        }
    forget_lanes(m, wave, lost, true);
    for (unsigned lane = 0; lane < m->o.width; lane++)
        if (has(pass & ~lost, lane))
            perform(m, item(m, wave, lane), ref, lane);
    v->tcm |= lost;
    out->conflicts |= lost;
}

void model_access(struct model *m, unsigned wave, uint64_t lanes, struct model_ref *ref,
                  struct model_out *out)
{
    struct model_wave *v = &m->wave[wave];
    uint64_t left = lanes & v->att & ~v->tcm;

    *out = (struct model_out){0};
    while (left) {
        uint64_t pass = next_pass(m, ref, left);

        one_pass(m, wave, pass, ref, out);
        left &= ~pass;
    }
    assert(v->mode != MODEL_WG || out->conflicts == 0);
    if (m->o.early_exit && out->conflicts && v->tcm == v->att) {
        v->depth = 1;
        answer(m, wave, MODEL_LEAVE, out);
    } else
        answer(m, wave, MODEL_GO, out);
}

/* An attempt has ended: records that waited for it alone are free, and nothing is left of its helper. */
static void end_attempt(struct model *m, unsigned wave)
{
    m->wave[wave].live = false;
    memset(m->helper[wave], 0, sizeof m->helper[wave]);
    for (unsigned w = 0; w < m->o.words && m->o.release_epoch; w++) {
        struct model_record *r = &m->record[w];
        bool waits = false;

        r->waits[wave] = false;
        for (unsigned v = 0; v < m->o.waves; v++)
            waits |= r->waits[v];
        if (r->shared && !waits)
            r->valid = r->shared = false;
    }
}

/* ---- commit ---- */

static enum model_mode next_mode(const struct model *m, struct model_wave *v, bool same)
{
    bool failed = v->sel & v->tcm, first = v->multiple && !v->foreign && m->o.fail_wave;

    switch (v->mode) {
    case MODEL_TX:
        v->multiple = m->o.multiple;
        return same ? MODEL_WF : MODEL_TX;
    case MODEL_WF:
        v->multiple &= !(failed && first);
        return !failed ? MODEL_TX : first ? MODEL_WF : MODEL_WG;
    default:
        assert(!failed);
        return m->o.hold_wave ? MODEL_WG : MODEL_TX;
    }
}

static void retry(struct model *m, unsigned wave, struct model_out *out)
{
    struct model_wave *v = &m->wave[wave];
    bool same = v->old_valid && v->tcm == v->old_tcm;
    uint64_t mcm = v->mcm;
    enum model_mode next = next_mode(m, v, same);

    if (v->mode == MODEL_WG && next != MODEL_WG)
        release(m, wave, out);
    v->mode = next;
    v->old_tcm = v->tcm;
    v->old_valid = true;
    v->att = v->tcm;
    v->mcm = ~UINT64_C(0);
    v->sel = v->att;
    if (next == MODEL_WF && v->multiple && (v->att & mcm))
        v->sel = v->att & mcm;
    else if (next != MODEL_TX)
        v->sel = pick_one(m, v->att);
    v->tcm = v->att & ~v->sel;
    if (next == MODEL_WG)
        request(m, wave, out);
    out->restore = v->att;
    answer(m, wave, MODEL_RETRY, out);
}

void model_commit(struct model *m, unsigned wave, struct model_out *out)
{
    struct model_wave *v = &m->wave[wave];

    *out = (struct model_out){0};
    if (--v->depth > 0) {
        answer(m, wave, MODEL_GO, out);
        return;
    }
    forget_lanes(m, wave, v->att & ~v->tcm, false);
    end_attempt(m, wave);
    if (v->tcm) {
        v->depth = 1;
        retry(m, wave, out);
        return;
    }
    v->mode = MODEL_NONE;
    v->att = 0;
    release(m, wave, out);
    answer(m, wave, MODEL_LEAVE, out);
    out->exec = v->exec_save;
}

/* ---- the rest ---- */

void model_stopped(struct model *m, unsigned wave, struct model_out *out)
{
    struct model_wave *v = &m->wave[wave];

    *out = (struct model_out){0};
    forget_lanes(m, wave, v->att & ~v->tcm, true);
    end_attempt(m, wave);
    v->depth = 1;
    v->tcm = v->att & ~v->sel;
    v->mcm = ~UINT64_C(0);
    v->self_aborts++;
    out->restore = v->att;
    answer(m, wave, MODEL_RETRY, out);
}

void model_ended(struct model *m, unsigned wave, struct model_out *out)
{
    *out = (struct model_out){0};
    m->wave[wave].ended = true;
}

void model_plain(struct model *m, unsigned wave, uint64_t lanes, const struct model_ref *ref,
                 struct model_out *out)
{
    *out = (struct model_out){0};
    for (unsigned lane = 0; lane < m->o.width; lane++)
        for (unsigned i = 0; has(lanes, lane) && i < words_of(ref); i++)
            if (conflicts(m, item(m, wave, lane), word_of(ref, lane, i), ref->kind != MODEL_LOAD))
                out->conflicts |= bit(lane);
    out->what = m->o.strong && out->conflicts ? MODEL_WAIT : MODEL_GO;
}

void model_start(struct model *m, const struct model_options *o)
{
    memset(m, 0, sizeof *m);
    m->o = *o;
    m->token = NOBODY;
}
