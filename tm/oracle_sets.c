#include "tm/oracle_sets.h"

#include "sim/base/bits.h"

#include <string.h>

static size_t lists_at(size_t words)
{
    return oracle_words_at() + words * sizeof(struct oracle_word);
}

static size_t entries_at(unsigned waves, size_t words)
{
    return lists_at(words) + words * (waves + 1) * sizeof(uint32_t);
}

static size_t words_of(size_t lds_bytes)
{
    return bits_ceil_div(lds_bytes, 4);
}

size_t oracle_sets_size(unsigned waves, size_t lds_bytes, unsigned entries)
{
    size_t words = words_of(lds_bytes);
    size_t end = entries_at(waves, words) + (size_t)entries * waves * sizeof(struct oracle_entry);

    return bits_round_up(end, sizeof(uint64_t));
}

static uint32_t *list_of(const struct oracle_sets *s, unsigned wave)
{
    return (uint32_t *)(void *)((unsigned char *)(uintptr_t)s + lists_at(s->words)) +
           (size_t)wave * s->words;
}

static struct oracle_entry *entries_of(struct oracle_sets *s, unsigned wave)
{
    return (struct oracle_entry *)(void *)((unsigned char *)s + entries_at(s->waves, s->words)) +
           (size_t)wave * s->entries;
}

uint32_t oracle_touched(const struct oracle_sets *s, unsigned wave, uint32_t i)
{
    return list_of(s, wave)[i];
}

uint32_t oracle_undone(const struct oracle_sets *s, uint32_t i)
{
    return list_of(s, s->waves)[i];
}

static void clear_log(struct oracle_wave *v)
{
    v->entries = 0;
    v->full = 0;
    for (unsigned lane = 0; lane < 64; lane++)
        v->first[lane] = ORACLE_NO_ENTRY;
}

void oracle_sets_init(struct oracle_sets *s, unsigned waves, unsigned width, size_t lds_bytes,
                      unsigned entries, const uint8_t *lds)
{
    memset(s, 0, entries_at(waves, words_of(lds_bytes)));
    s->waves = waves;
    s->width = width;
    s->words = (uint32_t)words_of(lds_bytes);
    s->lds_bytes = (uint32_t)lds_bytes;
    s->entries = entries;
    for (uint32_t w = 0; w < s->words; w++) {
        oracle_word_at(s, w)->writer = ORACLE_NOBODY;
        oracle_word_at(s, w)->committed = oracle_load(s, lds, w);
    }
    for (unsigned v = 0; v < waves; v++)
        clear_log(&s->wave[v]);
}

enum oracle_meeting oracle_meets(struct oracle_sets *s, unsigned item, uint32_t word, bool store)
{
    const struct oracle_word *o = oracle_word_at(s, word);
    uint64_t others = 0;

    if (o->writer != ORACLE_NOBODY && o->writer != item)
        return ORACLE_TRUE;
    for (unsigned i = 0; i < ORACLE_ITEMS / 64; i++)
        others |= o->readers[i] & ~(i == item / 64 ? UINT64_C(1) << item % 64 : 0);
    if (!others)
        return ORACLE_ALONE;
    return store ? ORACLE_TRUE : ORACLE_READ_READ;
}

/* ---- entering the sets ---- */

static void touch(struct oracle_sets *s, unsigned wave, uint32_t word)
{
    struct oracle_word *o = oracle_word_at(s, word);
    struct oracle_wave *v = &s->wave[wave];

    if (o->touched >> wave & 1)
        return;
    o->touched |= UINT32_C(1) << wave;
    list_of(s, wave)[v->touched++] = word;
}

static void log_entry(struct oracle_sets *s, unsigned wave, unsigned lane, struct oracle_entry e)
{
    struct oracle_wave *v = &s->wave[wave];

    if (v->entries == s->entries) {
        v->full = 1;
        return;
    }
    e.next = v->first[lane];
    v->first[lane] = v->entries;
    entries_of(s, wave)[v->entries++] = e;
}

void oracle_read(struct oracle_sets *s, unsigned wave, unsigned lane, uint32_t word, uint32_t value)
{
    struct oracle_word *o = oracle_word_at(s, word);
    unsigned item = wave * s->width + lane;
    uint64_t bit = UINT64_C(1) << item % 64;

    if (o->writer == item || o->readers[item / 64] & bit)
        return;
    o->readers[item / 64] |= bit;
    touch(s, wave, word);
    log_entry(s, wave, lane, (struct oracle_entry){.word = word, .value = value});
}

void oracle_write(struct oracle_sets *s, unsigned wave, unsigned lane, uint32_t word, uint32_t value)
{
    struct oracle_word *o = oracle_word_at(s, word);
    unsigned item = wave * s->width + lane;

    if (o->writer != item) {
        o->writer = (uint16_t)item;
        touch(s, wave, word);
        log_entry(s, wave, lane, (struct oracle_entry){.word = word, .write = 1});
    }
    o->speculative = value;
}

/* ---- leaving them ---- */

static bool of_lanes(const struct oracle_sets *s, unsigned wave, uint64_t lanes, unsigned item)
{
    return item != ORACLE_NOBODY && item / s->width == wave && lanes >> item % s->width & 1;
}

/* A wavefront's lanes are a field of one of the four words of a set, since its width divides 64. */
static uint64_t *readers_of_wave(struct oracle_sets *s, struct oracle_word *o, unsigned wave,
                                 unsigned *shift)
{
    *shift = wave * s->width % 64;
    return &o->readers[wave * s->width / 64];
}

void oracle_drop(struct oracle_sets *s, unsigned wave, uint64_t lanes)
{
    struct oracle_wave *v = &s->wave[wave];
    uint32_t *list = list_of(s, wave), kept = 0;

    for (uint32_t i = 0; i < v->touched; i++) {
        struct oracle_word *o = oracle_word_at(s, list[i]);
        unsigned shift;
        uint64_t *readers = readers_of_wave(s, o, wave, &shift);

        *readers &= ~(lanes << shift);
        if (of_lanes(s, wave, lanes, o->writer)) {
            o->writer = ORACLE_NOBODY;
            if (s->undone < s->words)
                list_of(s, s->waves)[s->undone++] = list[i];
        }
        if (*readers >> shift & bits_low(s->width) ||
            (o->writer != ORACLE_NOBODY && o->writer / s->width == wave)) {
            list[kept++] = list[i];
            continue;
        }
        o->touched &= ~(UINT32_C(1) << wave);
    }
    v->touched = kept;
    for (uint64_t left = lanes; left; left &= left - 1)
        v->first[bits_first(left)] = ORACLE_NO_ENTRY;
    if (kept == 0)
        clear_log(v);
}

/* ---- replay ---- */

static bool replay_lane(struct oracle_sets *s, unsigned wave, unsigned lane, bool again,
                        uint32_t *word)
{
    struct oracle_entry *entries = entries_of(s, wave);

    for (uint32_t i = s->wave[wave].first[lane]; i != ORACLE_NO_ENTRY; i = entries[i].next) {
        const struct oracle_word *o = oracle_word_at(s, entries[i].word);

        *word = entries[i].word;
        if (!entries[i].write && !o->racy && o->committed != entries[i].value)
            return false;
    }
    for (uint32_t i = s->wave[wave].first[lane]; i != ORACLE_NO_ENTRY; i = entries[i].next) {
        struct oracle_word *o = oracle_word_at(s, entries[i].word);

        if (!entries[i].write)
            continue;
        if (!again)
            entries[i].value = o->committed;
        o->committed = o->speculative;
    }
    return true;
}

static void undo_lane(struct oracle_sets *s, unsigned wave, unsigned lane)
{
    const struct oracle_entry *entries = entries_of(s, wave);

    for (uint32_t i = s->wave[wave].first[lane]; i != ORACLE_NO_ENTRY; i = entries[i].next)
        if (entries[i].write)
            oracle_word_at(s, entries[i].word)->committed = entries[i].value;
}

/* The log of a wavefront was too short: its writes are committed all the same. */
static void commit_unlogged(struct oracle_sets *s, unsigned wave, uint64_t lanes)
{
    for (uint32_t i = 0; i < s->wave[wave].touched; i++) {
        struct oracle_word *o = oracle_word_at(s, list_of(s, wave)[i]);

        if (of_lanes(s, wave, lanes, o->writer))
            o->committed = o->speculative;
    }
}

bool oracle_replay(struct oracle_sets *s, unsigned wave, uint64_t lanes, unsigned *lane,
                   uint32_t *word)
{
    if (s->wave[wave].full) {
        commit_unlogged(s, wave, lanes);
        return true;
    }
    for (uint64_t left = lanes; left; left &= left - 1) {
        *lane = bits_first(left);
        if (!replay_lane(s, wave, *lane, false, word))
            return false;
    }
    for (uint64_t left = lanes; left; left &= ~(UINT64_C(1) << bits_last(left)))
        undo_lane(s, wave, bits_last(left));
    for (uint64_t left = lanes; left; left &= ~(UINT64_C(1) << bits_last(left))) {
        *lane = bits_last(left);
        if (!replay_lane(s, wave, *lane, true, word))
            return false;
    }
    return true;
}
