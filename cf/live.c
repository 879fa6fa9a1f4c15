#include "cf/live.h"

#include "isa/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void before(struct live_set *s, const struct isa_insn *in)
{
    uint16_t sources[ISA_SB_MAX_WAIT];
    unsigned n = isa_sources(in, sources);

    for (unsigned i = 0; i < in->nset; i++)
        if (live_is_scalar(in->set[i]))
            s->w[in->set[i] / 64] &= ~(UINT64_C(1) << (in->set[i] % 64));
    for (unsigned i = 0; i < n; i++)
        live_add(s, sources[i]);
}

/* Needed before pc, which is in the block, by the block and those behind it. */
static struct live_set in_block(const struct live *l, uint32_t block, uint32_t pc)
{
    const struct cfg_block *k = &l->g->blocks[block];
    struct live_set s = {{0}};

    for (uint32_t i = 0; i < k->nsucc; i++)
        for (unsigned w = 0; k->succ[i] != cfg_exit(l->g) && w < LIVE_WORDS; w++)
            s.w[w] |= l->in[k->succ[i]].w[w];
    for (uint32_t at = k->end; at-- > pc;)
        before(&s, &l->g->insns[at]);
    return s;
}

bool live_build(struct live *l, const struct cfg *g)
{
    bool news = true;

    l->g = g;
    l->in = calloc(g->nblocks, sizeof *l->in);
    if (!l->in)
        return false;
    while (news) {
        news = false;
        for (uint32_t b = g->nblocks; b-- > 0;) {
            struct live_set s = in_block(l, b, g->blocks[b].first);

            news |= memcmp(&s, &l->in[b], sizeof s) != 0;
            l->in[b] = s;
        }
    }
    return true;
}

void live_free(struct live *l)
{
    free(l->in);
}

struct live_set live_at(const struct live *l, uint32_t pc)
{
    return in_block(l, cfg_block_at(l->g, pc), pc);
}

void live_name(unsigned name, char out[16])
{
    if (name < ISA_SB_S)
        snprintf(out, 16, "v%u", name - ISA_SB_V);
    else if (name < ISA_SB_M)
        snprintf(out, 16, "s%u", name - ISA_SB_S);
    else if (name == ISA_SB_M + ISA_VCC)
        snprintf(out, 16, "vcc");
    else if (name == ISA_SB_EXEC)
        snprintf(out, 16, "exec");
    else
        snprintf(out, 16, "m%u", name - ISA_SB_M);
}
