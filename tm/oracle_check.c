#include "tm/oracle_sets.h"

#include <inttypes.h>

enum { SET_WORDS = ORACLE_ITEMS / 64 };

/* Work-items that run: in an attempt, and not lost. */
struct running {
    uint64_t set[SET_WORDS];
};

static struct running find_running(const struct oracle_sets *s)
{
    struct running r = {{0}};

    for (unsigned v = 0; v < s->waves; v++)
        if (s->wave[v].live)
            r.set[v * s->width / 64] |= (s->wave[v].att & ~s->wave[v].tcm) << v * s->width % 64;
    return r;
}

static bool in_set(const uint64_t set[SET_WORDS], unsigned item)
{
    return set[item / 64] >> item % 64 & 1;
}

/* A word's record in shadow memory. */
static const char *wrong_record(struct tm_oracle *o, const struct tm_wg *wg,
                                const struct running *running, uint32_t word)
{
    const struct oracle_word *w = oracle_word_at(&o->sets, word);
    struct tm_word record = tm_word(wg, word);

    if (record.written && !record.valid)
        return "is written and has no owner";
    if (record.valid && !record.shared && !in_set(running->set, record.owner))
        return "is owned by a work-item outside an attempt";
    if (w->writer != ORACLE_NOBODY && (!record.written || record.owner != w->writer))
        return "was written by another work-item than its owner";
    if (record.written && w->writer == ORACLE_NOBODY)
        return "is written, yet no running work-item wrote it";
    if (record.written && !w->racy && record.backup != w->committed)
        return "has another value in its backup than the committed one";
    return NULL;
}

/* A word's marks: no exact one is missing, and nobody outside an attempt has one. */
static const char *wrong_marks(struct tm_oracle *o, const struct tm_wg *wg,
                               const struct running *running, uint32_t word)
{
    const struct oracle_word *w = oracle_word_at(&o->sets, word);
    struct oracle_sets *s = &o->sets;
    uint64_t marks[SET_WORDS];

    if (!tm_marks(wg, word, marks))
        return NULL;
    if (w->writer != ORACLE_NOBODY && !in_set(marks, w->writer))
        return "has lost the mark of a work-item that wrote it";
    for (unsigned i = 0; i < SET_WORDS; i++) {
        if (w->readers[i] & ~marks[i])
            return "has lost the mark of a work-item that touched it";
        if (marks[i] & ~running->set[i])
            return "has the mark of a work-item outside an attempt";
    }
    if (o->params.detector == ORACLE_SWO && w->writer != ORACLE_NOBODY &&
        !tm_helper_has(wg, w->writer / s->width, word))
        return "was written, and the helper signature does not know";
    return NULL;
}

enum hd_status tm_oracle_check(struct tm_oracle *o, const struct tm_wg *wg, const uint8_t *lds,
                               struct hd_error *err)
{
    struct running running = find_running(&o->sets);

    for (uint32_t word = 0; word < o->sets.words; word++) {
        enum hd_status status = oracle_compare(o, word, lds, err);
        const char *wrong = wrong_record(o, wg, &running, word);

        if (status != HD_OK)
            return status;
        wrong = wrong ? wrong : wrong_marks(o, wg, &running, word);
        if (wrong)
            return ORACLE_WRONG(err, "invariant", "local memory word %" PRIu32 " %s", word, wrong);
    }
    return HD_OK;
}

enum hd_status tm_oracle_finish(struct tm_oracle *o, const struct tm_wg *wg, const uint8_t *lds,
                                struct hd_error *err)
{
    enum hd_status status = tm_oracle_check(o, wg, lds, err);

    for (unsigned v = 0; v < o->sets.waves && status == HD_OK; v++)
        if (o->sets.wave[v].inside || o->sets.wave[v].touched)
            status = oracle_broken(err, v, "it has ended inside a transaction");
    for (uint32_t word = 0; word < o->sets.words && status == HD_OK; word++)
        if (tm_word(wg, word).valid)
            status = ORACLE_WRONG(err, "invariant",
                                  "local memory word %" PRIu32 " has an owner at the end", word);
    return status;
}
