/* A work-group's transactions with local memory, for tests: accesses of one word a lane, and what was answered last. */
#ifndef HD_TESTS_TM_RIG_H
#define HD_TESTS_TM_RIG_H

#include "tm/tm.h"

enum { RIG_LDS = 4096 };

struct tm_rig {
    struct tm_params p;
    unsigned wavefronts, width;
    struct tm_wg *wg;
    struct tm_out out;
    uint32_t address[TM_LANES_MAX];
    uint64_t value[TM_LANES_MAX], got[TM_LANES_MAX];
    _Alignas(8) uint8_t lds[RIG_LDS];
};

/* Parameters are those of tm_defaults with names of detector and serialisation; change r->p, then rig_start. */
void rig_open(struct tm_rig *r, const char *detector, const char *serialise, unsigned wavefronts,
              unsigned width);
void rig_start(struct tm_rig *r);
void rig_close(struct tm_rig *r);

/* Each of these fills r->out. Words are those of r->address / 4: rig_at sets one. */
enum tm_what rig_begin(struct tm_rig *r, unsigned wf, uint64_t exec);
enum tm_what rig_commit(struct tm_rig *r, unsigned wf);
enum tm_what rig_stopped(struct tm_rig *r, unsigned wf);
void rig_at(struct tm_rig *r, unsigned lane, uint32_t word);
enum tm_what rig_access(struct tm_rig *r, unsigned wf, enum tm_kind kind, uint64_t lanes,
                        uint32_t bytes);
/* One lane, one word of 32 bits; returns whether it took place. */
bool rig_load(struct tm_rig *r, unsigned wf, unsigned lane, uint32_t word);
bool rig_store(struct tm_rig *r, unsigned wf, unsigned lane, uint32_t word, uint32_t value);
enum tm_what rig_plain(struct tm_rig *r, unsigned wf, enum tm_kind kind, uint32_t word);

uint32_t rig_word(const struct tm_rig *r, uint32_t word);
/* No mark, record, or attempt is left: the block is as it was at the start. */
bool rig_is_clean(const struct tm_rig *r);

#endif
