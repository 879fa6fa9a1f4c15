#include "tm/oracle.h"

#include "sim/base/bits.h"
#include "tm/oracle_sets.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

/* Entries of a wavefront's log: up to 64 lanes with 64 words read and written, and all that a small one can need. */
static unsigned log_entries(unsigned width, size_t lds_bytes)
{
    size_t all = 2 * width * bits_ceil_div(lds_bytes, 4);

    return all < 8192 ? (unsigned)all : 8192;
}

size_t tm_oracle_size(unsigned wavefronts, unsigned width, size_t lds_bytes)
{
    return offsetof(struct tm_oracle, sets) +
           oracle_sets_size(wavefronts, lds_bytes, log_entries(width, lds_bytes));
}

void tm_oracle_init(struct tm_oracle *o, const struct tm_params *params, unsigned wavefronts,
                    unsigned width, size_t lds_bytes, const uint8_t *lds)
{
    memset(o, 0, offsetof(struct tm_oracle, sets));
    memcpy(&o->params, params, sizeof o->params);
    oracle_sets_init(&o->sets, wavefronts, width, lds_bytes, log_entries(width, lds_bytes), lds);
}

struct tm_oracle_counts tm_oracle_counts(const struct tm_oracle *o)
{
    return o->counts;
}

/* ---- saying what is wrong ---- */

enum hd_status oracle_broken(struct hd_error *err, unsigned wf, const char *rule)
{
    return ORACLE_WRONG(err, "invariant", "transactions of wavefront %u: %s", wf, rule);
}

/* ---- begin ---- */

static bool others_live(const struct oracle_sets *s, unsigned wf)
{
    for (unsigned v = 0; v < s->waves; v++)
        if (v != wf && s->wave[v].live)
            return true;
    return false;
}

/* Each failed attempt commits a lane or goes one mode up; a failed multiple selection may go one further. */
static bool too_many_attempts(const struct tm_oracle *o, const struct oracle_wave *v)
{
    unsigned each = o->params.multi_fail == TM_FAIL_WF ? 4 : 3;

    return v->attempts - v->self_aborts > 1 + each * bits_count(v->exec_save);
}

static const char *wrong_start(const struct tm_oracle *o, const struct tm_wg *wg, unsigned wf,
                               uint64_t exec, const struct tm_out *out)
{
    const struct oracle_wave *v = &o->sets.wave[wf];
    enum tm_mode mode = tm_mode(wg, wf);
    uint64_t selected = out->att & ~out->tcm;
    int token = tm_token(wg);

    if (out->att != (v->inside ? v->att : exec))
        return "an attempt starts with other lanes than the last one left";
    if (out->tcm & ~out->att)
        return "TCM has lanes outside the attempt";
    if (out->att && !selected)
        return "an attempt starts with no lane selected";
    if (mode == TM_MODE_TX ? out->tcm != 0 : mode == TM_MODE_NONE)
        return "the mode does not fit the lanes";
    if (token >= 0 && token != (int)wf)
        return "an attempt starts while another wavefront has the token";
    if (mode == TM_MODE_WG && (token != (int)wf || bits_count(selected) != 1))
        return "work-group serialisation is not one lane with the token";
    if (mode == TM_MODE_WG && others_live(&o->sets, wf))
        return "work-group serialisation starts while another attempt runs";
    if ((tm_view(wg, wf).mcm & out->att) != out->att)
        return "MCM is not all ones at the start of an attempt";
    return NULL;
}

enum hd_status tm_oracle_begin(struct tm_oracle *o, const struct tm_wg *wg, unsigned wf,
                               uint64_t exec, const struct tm_out *out, struct hd_error *err)
{
    struct oracle_wave *v = &o->sets.wave[wf];
    const char *wrong;

    if (out->what != TM_GO || v->live)
        return HD_OK;
    wrong = wrong_start(o, wg, wf, exec, out);
    if (wrong)
        return oracle_broken(err, wf, wrong);
    if (!v->inside) {
        v->inside = 1;
        v->exec_save = exec;
        v->attempts = v->self_aborts = 0;
    }
    v->live = 1;
    v->attempts++;
    v->att = out->att;
    v->tcm = v->parked = out->tcm;
    return too_many_attempts(o, v) ? oracle_broken(err, wf, "more attempts than lanes can need")
                                   : HD_OK;
}

/* ---- values ---- */

enum hd_status oracle_compare(struct tm_oracle *o, uint32_t word, const uint8_t *lds,
                              struct hd_error *err)
{
    struct oracle_word *w = oracle_word_at(&o->sets, word);
    uint32_t there = oracle_load(&o->sets, lds, word);
    uint32_t *known = w->writer == ORACLE_NOBODY ? &w->committed : &w->speculative;

    if (there == *known) {
        w->racy &= w->touched != 0;
        return HD_OK;
    }
    if (!w->racy)
        return ORACLE_WRONG(err, "memory",
                            "local memory word %" PRIu32 " is 0x%08" PRIx32
                            ", expected 0x%08" PRIx32 " (writer %u)",
                            word, there, *known, (unsigned)w->writer);
    *known = there;
    w->racy = w->touched != 0;
    return HD_OK;
}

static enum hd_status compare_undone(struct tm_oracle *o, const uint8_t *lds, struct hd_error *err)
{
    enum hd_status status = HD_OK;

    for (uint32_t i = 0; i < o->sets.undone && status == HD_OK; i++)
        status = oracle_compare(o, oracle_undone(&o->sets, i), lds, err);
    o->sets.undone = 0;
    return status;
}

static uint32_t words_of(const struct tm_ref *ref)
{
    return ref->bytes == 8 ? 2 : 1;
}

static uint32_t word_of(const struct tm_ref *ref, unsigned lane, uint32_t i)
{
    return ref->address[lane] / 4 + i;
}

/* What a lane's bytes are to its work-item. */
static uint64_t value_for(struct oracle_sets *s, unsigned item, const struct tm_ref *ref,
                          unsigned lane)
{
    uint64_t value = 0;

    for (uint32_t i = words_of(ref); i-- > 0;)
        value = value << 32 | oracle_value(s, item, word_of(ref, lane, i));
    value >>= 8 * (ref->address[lane] % 4);
    return ref->bytes == 8 ? value : value & ((UINT64_C(1) << 8 * ref->bytes) - 1);
}

/* ---- access ---- */

/* What a lane meets in the exact sets of others: the worst of its words. */
static enum oracle_meeting lane_meets(struct tm_oracle *o, unsigned wf, const struct tm_ref *ref,
                                      unsigned lane)
{
    enum oracle_meeting worst = ORACLE_ALONE;

    for (uint32_t i = 0; i < words_of(ref); i++) {
        enum oracle_meeting m = oracle_meets(&o->sets, wf * o->sets.width + lane,
                                             word_of(ref, lane, i), ref->kind != TM_LOAD);

        worst = m > worst ? m : worst;
    }
    return worst;
}

/* Read-read meetings count in the detectors that keep one work-item a word. */
static bool is_conflict(const struct tm_oracle *o, enum oracle_meeting m)
{
    return m == ORACLE_TRUE || (m == ORACLE_READ_READ && (o->params.detector == ORACLE_PRW ||
                                                          o->params.detector == ORACLE_DCD));
}

/* Directories are exact, but that the sticky bit of an epoch outlives readers. */
static bool may_conflict(const struct tm_oracle *o, enum oracle_meeting m)
{
    if (o->params.detector == ORACLE_DCD_SM)
        return m == ORACLE_TRUE || o->params.dcd_release == TM_RELEASE_EPOCH;
    return o->params.detector != ORACLE_DCD || m != ORACLE_ALONE;
}

/*
 * Of two words in a detector that lets readers share, the one that was lost may be an alias, and the one that others have read no conflict.
 */
static bool lost_by_alias(const struct tm_oracle *o, const struct tm_ref *ref, enum oracle_meeting m)
{
    return m == ORACLE_READ_READ && words_of(ref) > 1 && o->params.detector == ORACLE_SWO;
}

static enum hd_status class_lost(struct tm_oracle *o, unsigned lane, const struct tm_ref *ref,
                                 enum oracle_meeting m, const struct tm_out *out,
                                 struct hd_error *err)
{
    bool is_false = out->false_conflicts >> lane & 1, read_read = out->read_read >> lane & 1;

    if (o->params.classify && is_false && lost_by_alias(o, ref, m))
        m = ORACLE_ALONE;
    o->counts.true_conflicts += m == ORACLE_TRUE;
    o->counts.false_conflicts += m == ORACLE_ALONE;
    o->counts.read_read += m == ORACLE_READ_READ;
    if (!may_conflict(o, m))
        return ORACLE_WRONG(err, "class", "lane %u conflicts with nobody", lane);
    if (o->params.classify &&
        (is_false != (m == ORACLE_ALONE) || read_read != (m == ORACLE_READ_READ)))
        return ORACLE_WRONG(err, "class", "the conflict of lane %u is of another class than %s",
                            lane,
                            is_false    ? "false"
                            : read_read ? "read-read"
                                        : "true");
    return HD_OK;
}

/* The lanes of a pass against the sets before it. */
static enum hd_status judge_pass(struct tm_oracle *o, unsigned wf, uint64_t lanes,
                                 const struct tm_ref *ref, const struct tm_out *out,
                                 struct hd_error *err)
{
    enum hd_status status = HD_OK;

    for (uint64_t left = lanes; left && status == HD_OK; left &= left - 1) {
        unsigned lane = bits_first(left);
        enum oracle_meeting m = lane_meets(o, wf, ref, lane);

        if (out->conflicts >> lane & 1)
            status = class_lost(o, lane, ref, m, out, err);
        else if (is_conflict(o, m))
            status = ORACLE_WRONG(
                err, "missed-conflict",
                "wavefront %u lane %u at local memory 0x%" PRIx32 ": a %s conflict went unnoticed",
                wf, lane, ref->address[lane], m == ORACLE_TRUE ? "true" : "read-read");
    }
    return status;
}

static enum hd_status compare_load(struct tm_oracle *o, unsigned wf, unsigned lane,
                                   const struct tm_ref *ref, struct hd_error *err)
{
    uint64_t expected;

    if (ref->kind == TM_STORE || !ref->out)
        return HD_OK;
    for (uint32_t i = 0; i < words_of(ref); i++)
        if (oracle_word_at(&o->sets, word_of(ref, lane, i))->racy)
            return HD_OK;
    expected = value_for(&o->sets, wf * o->sets.width + lane, ref, lane);
    if (ref->out[lane] == expected)
        return HD_OK;
    return ORACLE_WRONG(err, "opacity",
                        "wavefront %u lane %u at local memory 0x%" PRIx32 " got 0x%" PRIx64
                        ", expected 0x%" PRIx64,
                        wf, lane, ref->address[lane], ref->out[lane], expected);
}

static uint64_t stored_value(const struct tm_ref *ref, unsigned lane, uint64_t before)
{
    if (ref->kind == TM_STORE)
        return ref->value[lane];
    return ref->apply(ref->op, before, ref->value[lane], ref->comparand ? ref->comparand[lane] : 0);
}

/* A lane whose access took place enters the sets. */
static void enter(struct tm_oracle *o, unsigned wf, unsigned lane, const struct tm_ref *ref)
{
    struct oracle_sets *s = &o->sets;
    unsigned item = wf * s->width + lane, shift = 8 * (ref->address[lane] % 4);
    uint64_t ones = ref->bytes == 8 ? ~UINT64_C(0) : (UINT64_C(1) << 8 * ref->bytes) - 1;
    uint64_t stored = 0;

    if (ref->kind != TM_LOAD)
        stored = (stored_value(ref, lane, value_for(s, item, ref, lane)) & ones) << shift;
    ones <<= shift;
    for (uint32_t i = 0; i < words_of(ref); i++) {
        uint32_t word = word_of(ref, lane, i), before = oracle_value(s, item, word);
        uint32_t mask = (uint32_t)(ones >> 32 * i);

        if (ref->kind != TM_STORE)
            oracle_read(s, wf, lane, word, before);
        if (ref->kind != TM_LOAD)
            oracle_write(s, wf, lane, word, (before & ~mask) | (uint32_t)(stored >> 32 * i));
    }
}

static enum hd_status follow_pass(struct tm_oracle *o, unsigned wf, uint64_t lanes,
                                  const struct tm_ref *ref, const struct tm_out *out,
                                  struct hd_error *err)
{
    enum hd_status status = judge_pass(o, wf, lanes, ref, out, err);

    if (status != HD_OK)
        return status;
    if (lanes & out->conflicts)
        oracle_drop(&o->sets, wf, lanes & out->conflicts);
    for (uint64_t left = lanes & out->done; left; left &= left - 1) {
        unsigned lane = bits_first(left);

        status = compare_load(o, wf, lane, ref, err);
        if (status != HD_OK)
            return status;
        enter(o, wf, lane, ref);
    }
    return HD_OK;
}

/* A bank takes one lane a pass, and all banks together lanes_per_pass words. */
static bool pass_fits(const struct tm_oracle *o, uint64_t lanes, const struct tm_ref *ref)
{
    uint64_t taken[(TM_BANKS_MAX + 63) / 64] = {0};
    uint32_t words = 0;

    for (uint64_t left = lanes; left; left &= left - 1) {
        uint64_t own[(TM_BANKS_MAX + 63) / 64] = {0};

        words += words_of(ref);
        for (uint32_t i = 0; i < words_of(ref); i++) {
            uint32_t bank = word_of(ref, bits_first(left), i) % o->params.banks;

            if (taken[bank / 64] >> bank % 64 & 1)
                return false;
            own[bank / 64] |= UINT64_C(1) << bank % 64;
        }
        for (unsigned i = 0; i < sizeof own / sizeof own[0]; i++)
            taken[i] |= own[i];
    }
    return words <= o->params.lanes_per_pass || bits_count(lanes) == 1;
}

static const char *wrong_access(const struct tm_oracle *o, const struct tm_wg *wg, unsigned wf,
                                uint64_t lanes, const struct tm_ref *ref, const struct tm_out *out)
{
    const struct oracle_wave *v = &o->sets.wave[wf];
    uint64_t served = 0;

    if (!v->live || out->att != v->att)
        return "an access outside its attempt";
    if ((out->done & out->conflicts) || (out->done | out->conflicts) != lanes)
        return "lanes of an access that are neither done nor lost, or both";
    if (out->tcm != (v->tcm | out->conflicts))
        return "TCM is not what it was with the lanes that lost";
    if (tm_mode(wg, wf) == TM_MODE_WG && out->conflicts)
        return "a conflict in work-group serialisation";
    for (uint32_t i = 0; i < out->passes; i++) {
        if (served & out->pass[i].lanes)
            return "a lane is in two passes";
        if (!pass_fits(o, out->pass[i].lanes, ref))
            return "a pass has more than its banks take";
        served |= out->pass[i].lanes;
    }
    return served == lanes ? NULL : "the passes are not the lanes of the access";
}

enum hd_status tm_oracle_access(struct tm_oracle *o, const struct tm_wg *wg, unsigned wf,
                                uint64_t lanes, const struct tm_ref *ref, const uint8_t *lds,
                                const struct tm_out *out, struct hd_error *err)
{
    const char *wrong = wrong_access(o, wg, wf, lanes, ref, out);
    enum hd_status status = HD_OK;

    if (wrong)
        return oracle_broken(err, wf, wrong);
    for (uint32_t i = 0; i < out->passes && status == HD_OK; i++)
        status = follow_pass(o, wf, out->pass[i].lanes, ref, out, err);
    for (uint64_t left = out->done; left && status == HD_OK; left &= left - 1)
        for (uint32_t i = 0; i < words_of(ref) && status == HD_OK; i++)
            status = oracle_compare(o, word_of(ref, bits_first(left), i), lds, err);
    if (status == HD_OK)
        status = compare_undone(o, lds, err);
    o->counts.aborts += bits_count(out->conflicts);
    o->sets.wave[wf].tcm = out->tcm;
    return status;
}

/* ---- commit and self-abort ---- */

static const char *wrong_commit(const struct oracle_wave *v, const struct tm_out *out)
{
    if (!v->live)
        return "a commit outside an attempt";
    if (out->done != (v->att & ~v->tcm))
        return "other lanes commit than those left";
    if (out->what == TM_LEAVE)
        return v->tcm ? "it leaves its transaction with lanes that have not committed"
               : out->exec != v->exec_save ? "EXEC is not what it was at tx.begin"
                                           : NULL;
    if (!v->tcm)
        return "a retry without a lane to retry";
    if (out->att != v->tcm || out->restore != v->tcm)
        return "the next attempt is not of the lanes that have not committed";
    return NULL;
}

static enum hd_status replay(struct tm_oracle *o, unsigned wf, uint64_t lanes, const uint8_t *lds,
                             struct hd_error *err)
{
    struct oracle_sets *s = &o->sets;
    enum hd_status status = HD_OK;
    unsigned lane = 0;
    uint32_t word = 0;

    for (uint32_t i = 0; i < s->wave[wf].touched && status == HD_OK; i++)
        status = oracle_compare(o, oracle_touched(s, wf, i), lds, err);
    if (status != HD_OK)
        return status;
    o->counts.unlogged += s->wave[wf].full ? bits_count(lanes) : 0;
    if (!oracle_replay(s, wf, lanes, &lane, &word))
        return ORACLE_WRONG(err, "replay",
                            "wavefront %u lane %u commits, but local memory word %" PRIu32
                            " is not what it read",
                            wf, lane, word);
    oracle_drop(s, wf, lanes);
    s->undone = 0; /* compared above, as what they are now */
    return HD_OK;
}

enum hd_status tm_oracle_commit(struct tm_oracle *o, const struct tm_wg *wg, unsigned wf,
                                const uint8_t *lds, const struct tm_out *out, struct hd_error *err)
{
    struct oracle_wave *v = &o->sets.wave[wf];
    const char *wrong;
    enum hd_status status;

    (void)wg;
    if (out->what != TM_LEAVE && out->what != TM_RETRY)
        return HD_OK;
    wrong = wrong_commit(v, out);
    if (wrong)
        return oracle_broken(err, wf, wrong);
    status = replay(o, wf, out->done, lds, err);
    if (status != HD_OK)
        return status;
    o->counts.commits += bits_count(out->done);
    v->live = 0;
    v->inside = out->what == TM_RETRY;
    v->att = v->tcm;
    return v->touched ? oracle_broken(err, wf, "aborted lanes have marks at the commit") : HD_OK;
}

enum hd_status tm_oracle_stopped(struct tm_oracle *o, const struct tm_wg *wg, unsigned wf,
                                 const uint8_t *lds, const struct tm_out *out, struct hd_error *err)
{
    struct oracle_wave *v = &o->sets.wave[wf];

    if (out->what != TM_RETRY)
        return v->live ? oracle_broken(err, wf, "an attempt goes on where it must stop") : HD_OK;
    if (!v->live || out->restore != v->att || out->att != v->att)
        return oracle_broken(err, wf, "a self-abort is not of the attempt's lanes");
    if (out->tcm != v->parked || tm_view(wg, wf).tcm_old_valid != (v->attempts - v->self_aborts > 1))
        return oracle_broken(err, wf, "a self-abort counts as a failed attempt");
    oracle_drop(&o->sets, wf, v->att);
    o->counts.self_aborts += bits_count(v->att & ~v->tcm);
    v->live = 0;
    v->self_aborts++;
    v->tcm = v->parked;
    return compare_undone(o, lds, err);
}

/* ---- plain accesses ---- */

/* The word takes what the access left there. */
static void settle(struct tm_oracle *o, uint32_t word, bool race, const uint8_t *lds)
{
    struct oracle_word *w = oracle_word_at(&o->sets, word);
    uint32_t there = oracle_load(&o->sets, lds, word);

    o->counts.races += race;
    w->racy |= race;
    if (w->writer != ORACLE_NOBODY)
        w->speculative = there;
    w->committed = there;
}

enum hd_status tm_oracle_plain(struct tm_oracle *o, unsigned wf, uint64_t lanes,
                               const struct tm_ref *ref, const uint8_t *lds, struct hd_error *err)
{
    bool store = ref->kind != TM_LOAD;

    for (uint64_t left = lanes; left; left &= left - 1) {
        unsigned lane = bits_first(left);
        bool race = lane_meets(o, wf, ref, lane) == ORACLE_TRUE;
        enum hd_status status = HD_OK;

        if (race && o->params.strong)
            return ORACLE_WRONG(err, "missed-conflict",
                                "wavefront %u lane %u at local memory 0x%" PRIx32
                                ": a plain access went past a transaction",
                                wf, lane, ref->address[lane]);
        if (!store && !race)
            status = compare_load(o, wf, lane, ref, err);
        if (status != HD_OK)
            return status;
        o->counts.races += race && !store;
        for (uint32_t i = 0; i < words_of(ref) && store; i++)
            settle(o, word_of(ref, lane, i), race, lds);
    }
    return HD_OK;
}
