#include "isa/transaction.h"

#include "isa/format.h"

#include <stdlib.h>
#include <string.h>

bool isa_has_tx(const struct isa_insn *insns, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (insns[i].op == OP_tx_begin || insns[i].op == OP_tx_commit)
            return true;
    return false;
}

/* The depth behind an instruction. What is too deep, or closes nothing, is the verifier's to tell. */
static uint8_t depth_behind(const struct isa_insn *in, uint8_t depth)
{
    if (in->op == OP_tx_begin && depth < ISA_TX_DEPTH_MAX)
        return (uint8_t)(depth + 1);
    return in->op == OP_tx_commit && depth ? (uint8_t)(depth - 1) : depth;
}

static bool set_depth(uint8_t *at, uint8_t depth)
{
    if (*at != ISA_TX_UNREACHED)
        return false;
    *at = depth;
    return true;
}

/* Goes through the code in order; true if a place behind was found from further down. */
static bool sweep(const struct isa_insn *insns, uint32_t first, uint32_t n, uint8_t *depth,
                  uint8_t *led)
{
    bool again = false;

    for (uint32_t i = 0; i < n; i++) {
        const struct isa_insn *in = &insns[i];

        if (depth[i] == ISA_TX_UNREACHED)
            depth[i] = led[i];
        if (depth[i] == ISA_TX_UNREACHED)
            continue;
        if (isa_formats[isa_ops[in->op].format].extra & ISA_X_TARGET)
            again |= set_depth(&led[in->target - first], depth[i]) && in->target - first <= i &&
                     depth[in->target - first] == ISA_TX_UNREACHED;
        if (isa_goes_on(in) && i + 1 < n)
            set_depth(&depth[i + 1], depth_behind(in, depth[i]));
    }
    return again;
}

void isa_find_tx(const struct isa_insn *insns, uint32_t first, uint32_t n, uint8_t *depth)
{
    uint8_t *led = depth + n;

    memset(depth, ISA_TX_UNREACHED, 2 * (size_t)n);
    depth[0] = 0;
    while (sweep(insns, first, n, depth, led))
        ;
}

bool isa_cut_runs(struct isa_insn *insns, uint32_t n)
{
    uint8_t *depth = malloc(2 * (size_t)n);

    if (!depth)
        return false;
    isa_find_tx(insns, insns[0].pc, n, depth);
    for (uint32_t i = 0; i < n; i++)
        if (insns[i].run && depth[i] && depth[i] != ISA_TX_UNREACHED)
            insns[i].run = 1;
    free(depth);
    return true;
}
