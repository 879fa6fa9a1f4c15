/*
 * What the oracle knows of words and work-items: exact read and write sets, committed and uncommitted values, and the log of running
 * attempts. oracle.c turns the calls of tm.h into these.
 */
#ifndef HD_TM_ORACLE_SETS_H
#define HD_TM_ORACLE_SETS_H

#include "sim/base/bits.h"
#include "tm/oracle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ORACLE_ITEMS TM_ITEMS_MAX
#define ORACLE_WAVES TM_WAVEFRONTS_MAX
#define ORACLE_NOBODY 0xffffu
#define ORACLE_NO_ENTRY UINT32_MAX

struct oracle_word {
    uint64_t readers[ORACLE_ITEMS / 64]; /* work-items of running attempts that have read it */
    uint32_t committed;                  /* its value without what running attempts wrote */
    uint32_t speculative;                /* what its writer left there */
    uint32_t touched;                    /* wavefronts that have it in their list */
    uint16_t writer;                     /* ORACLE_NOBODY: none */
    uint8_t racy;   /* an access outside transactions met it: values are not known */
    uint8_t unused; /* 0 */
};

/* First reads and writes of an attempt, for the replay at its commit. */
struct oracle_entry {
    uint32_t word, value, next; /* value: what was read; of a write, the committed value before */
    uint32_t write;
};

struct oracle_wave {
    uint64_t exec_save, att, tcm;   /* as the last call left them */
    uint64_t parked;                /* TCM at the start of the attempt */
    uint32_t attempts, self_aborts; /* since the outermost begin */
    uint32_t touched, entries;      /* lengths of its lists */
    uint32_t first[64];             /* of each lane's entries */
    uint8_t inside, live;           /* in a transaction; in an attempt */
    uint8_t full;                   /* the log was too short for the attempt */
    uint8_t unused[5];              /* 0 */
};

/* One flat block: struct, words, lists of touched words and of undone ones, entries. */
struct oracle_sets {
    uint32_t waves, width, words, entries; /* entries: of each wavefront */
    uint32_t undone; /* words whose writer was dropped: length of their list */
    uint32_t lds_bytes;
    struct oracle_wave wave[ORACLE_WAVES];
};

enum oracle_meeting { ORACLE_ALONE, ORACLE_READ_READ, ORACLE_TRUE };

size_t oracle_sets_size(unsigned waves, size_t lds_bytes, unsigned entries);
void oracle_sets_init(struct oracle_sets *s, unsigned waves, unsigned width, size_t lds_bytes,
                      unsigned entries, const uint8_t *lds);

/* A word of local memory; bytes past its end are 0. */
static inline uint32_t oracle_load(const struct oracle_sets *s, const uint8_t *lds, uint32_t word)
{
    size_t at = 4 * (size_t)word, left = s->lds_bytes - at;
    uint32_t value = 0;

    memcpy(&value, lds + at, left < 4 ? left : 4);
    return value;
}

static inline size_t oracle_words_at(void)
{
    return bits_round_up(sizeof(struct oracle_sets), sizeof(uint64_t));
}

static inline struct oracle_word *oracle_word_at(struct oracle_sets *s, uint32_t word)
{
    return (struct oracle_word *)(void *)((unsigned char *)s + oracle_words_at()) + word;
}

/* What the word is to a work-item: its own uncommitted value, or the committed one. */
static inline uint32_t oracle_value(struct oracle_sets *s, unsigned item, uint32_t word)
{
    const struct oracle_word *o = oracle_word_at(s, word);

    return o->writer == item ? o->speculative : o->committed;
}

/* What an access by item meets in the exact sets of the others. */
enum oracle_meeting oracle_meets(struct oracle_sets *s, unsigned item, uint32_t word, bool store);

void oracle_read(struct oracle_sets *s, unsigned wave, unsigned lane, uint32_t word, uint32_t value);
void oracle_write(struct oracle_sets *s, unsigned wave, unsigned lane, uint32_t word,
                  uint32_t value);

/* Takes lanes of a wavefront out of all sets; what they wrote goes to the list of undone words. */
void oracle_drop(struct oracle_sets *s, unsigned wave, uint64_t lanes);

/*
 * Replays lanes against the committed values, in ascending and in descending order, and leaves what they wrote committed. Returns
 * false with *word and *lane of a read that would have got another value.
 */
bool oracle_replay(struct oracle_sets *s, unsigned wave, uint64_t lanes, unsigned *lane,
                   uint32_t *word);

/* The words in a wavefront's list: of what its running attempt touched. */
uint32_t oracle_touched(const struct oracle_sets *s, unsigned wave, uint32_t i);
uint32_t oracle_undone(const struct oracle_sets *s, uint32_t i);

/* ---- the oracle's own ---- */

struct tm_oracle {
    struct tm_params params;
    struct tm_oracle_counts counts;
    struct oracle_sets sets;
};

/* Numbers of tm_detector_choices. */
enum { ORACLE_PRW, ORACLE_SWO, ORACLE_DCD, ORACLE_DCD_SM };

#define ORACLE_WRONG(err, code, ...)                                                               \
    hd_error_set((err), HD_INTERNAL, "tm-" code, NULL, "please report this run", __VA_ARGS__)

/* A rule of the state machine that wavefront wf broke. */
enum hd_status oracle_broken(struct hd_error *err, unsigned wf, const char *rule);

/* Compares a word with local memory. A word that plain accesses raced for takes the value found. */
enum hd_status oracle_compare(struct tm_oracle *o, uint32_t word, const uint8_t *lds,
                              struct hd_error *err);

#endif
