/*
 * What an attempt gives back when it is done again. A lane that has not committed finds its registers
 * as they were at the first tx.begin, so that the old value of a vector register is kept once a
 * transaction, and each attempt gives back what it has written.
 */
#include "sim/transactions.h"

#include <string.h>

static uint32_t *kept_register(struct wave_tx *tx, unsigned reg)
{
    return tx->v + (size_t)reg * tx->width;
}

static void *kept_divergence(struct wave_tx *tx)
{
    return tx->v + bits_round_up((uint64_t)tx->vregs * tx->width, 2);
}

size_t checkpoint_bytes(uint32_t vregs, uint32_t width, size_t cf_bytes)
{
    return sizeof(struct wave_tx) + bits_round_up((uint64_t)vregs * width, 2) * sizeof(uint32_t) +
           cf_bytes;
}

void checkpoint_take(struct sim_machine *m, struct wavefront *w)
{
    struct wave_tx *tx = w->tx;

    memset(tx->saved, 0, sizeof tx->saved);
    memset(tx->written, 0, sizeof tx->written);
    memcpy(tx->s, w->regs.s, sizeof tx->s);
    memcpy(tx->m, w->regs.m, sizeof tx->m);
    tx->cf_bytes = (uint32_t)m->device->cf->used(w->cf);
    memcpy(kept_divergence(tx), w->cf, tx->cf_bytes);
}

unsigned checkpoint_writes(struct wavefront *w, const struct isa_insn *in)
{
    struct wave_tx *tx = w->tx;
    unsigned first = 0;

    for (unsigned i = 0; i < in->nset; i++) {
        unsigned reg = in->set[i];
        uint64_t bit = UINT64_C(1) << reg % 64;

        if (reg >= ISA_MAX_VREGS || tx->written[reg / 64] & bit)
            continue;
        first++;
        tx->written[reg / 64] |= bit;
        if (tx->saved[reg / 64] & bit)
            continue;
        tx->saved[reg / 64] |= bit;
        memcpy(kept_register(tx, reg), w->regs.v + (size_t)reg * tx->width,
               tx->width * sizeof *tx->v);
    }
    return first;
}

static void restore_register(struct wavefront *w, unsigned reg, uint64_t lanes)
{
    const uint32_t *from = kept_register(w->tx, reg);
    uint32_t *to = w->regs.v + (size_t)reg * w->tx->width;

    for (; lanes; lanes &= lanes - 1)
        to[bits_first(lanes)] = from[bits_first(lanes)];
}

void checkpoint_divergence(struct sim_machine *m, struct wavefront *w)
{
    memcpy(w->cf, kept_divergence(w->tx), w->tx->cf_bytes);
    w->regs.exec = m->device->cf->exec(w->cf);
}

void checkpoint_restore(struct sim_machine *m, struct wavefront *w, uint64_t lanes)
{
    struct wave_tx *tx = w->tx;

    for (unsigned i = 0; i < ISA_MAX_VREGS / 64; i++)
        for (uint64_t rest = tx->written[i]; rest; rest &= rest - 1)
            restore_register(w, i * 64 + bits_first(rest), lanes);
    memset(tx->written, 0, sizeof tx->written);
    memcpy(w->regs.s, tx->s, sizeof tx->s);
    for (unsigned i = 0; i < ISA_MASKS; i++)
        w->regs.m[i] = (w->regs.m[i] & ~lanes) | (tx->m[i] & lanes);
    w->regs.m[ISA_VCC] = tx->m[ISA_VCC];
    checkpoint_divergence(m, w);
}
