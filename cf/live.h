/* Which scalar registers are still needed where; of others, which may be. For the files of cf/. */
#ifndef HD_CF_LIVE_H
#define HD_CF_LIVE_H

#include "cf/cfg.h"

enum { LIVE_WORDS = (ISA_SB_COUNT + 63) / 64 };

/* Registers by their scoreboard names. */
struct live_set {
    uint64_t w[LIVE_WORDS];
};

struct live {
    const struct cfg *g;
    struct live_set *in; /* needed where a block begins */
};

static inline bool live_has(const struct live_set *s, unsigned name)
{
    return s->w[name / 64] >> (name % 64) & 1;
}

static inline void live_add(struct live_set *s, unsigned name)
{
    s->w[name / 64] |= UINT64_C(1) << (name % 64);
}

/* Scalar registers and VCC, which are written as a whole. */
static inline bool live_is_scalar(unsigned name)
{
    return (name >= ISA_SB_S && name < ISA_SB_M) || name == ISA_SB_M + ISA_VCC;
}

/*
 * Writes of lanes leave what other lanes need, so that only those of scalars end a need. False when memory is short; l can
 * then be freed, too.
 */
bool live_build(struct live *l, const struct cfg *g);
void live_free(struct live *l);
/* Needed before the instruction at pc. */
struct live_set live_at(const struct live *l, uint32_t pc);

/* "s8", "vcc", "v3", "m0", "exec". */
void live_name(unsigned name, char out[16]);

#endif
