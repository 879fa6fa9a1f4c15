#include "isa/jip.h"

#include "isa/asleep.h"
#include "isa/format.h"
#include "isa/transaction.h"

#include <stdlib.h>

/* Index of the jip of insns[i] for an `asleep` from isa_next_asleep; ISA_NO_PC if there is none. */
static uint32_t jip_of(const struct isa_insn *insns, uint32_t first, uint32_t n, uint32_t i,
                       const uint32_t *asleep)
{
    bool join_behind = i + 1 < n && isa_ops[insns[i + 1].op].format == ISA_JOIN;

    switch (isa_ops[insns[i].op].format) {
    case ISA_GOTO: /* its own lanes sleep too */
        return asleep[i] < insns[i].target - first ? asleep[i] : insns[i].target - first;
    case ISA_GOTO_BACK:
        return join_behind ? i + 1 : ISA_NO_PC;
    default:
        return asleep[i];
    }
}

static void fill(struct isa_insn *insns, uint32_t first, uint32_t n, const bool *written,
                 const uint32_t *asleep)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t jip;

        if (!(isa_formats[isa_ops[insns[i].op].format].extra & ISA_X_JIP) || written[i])
            continue;
        jip = jip_of(insns, first, n, i, asleep);
        insns[i].jip = jip == ISA_NO_PC ? jip : first + jip;
    }
}

/* A wavefront stays in a transaction until its tx.commit, the last place where it may go on. */
static void stay_inside(struct isa_insn *insns, uint32_t first, uint32_t n, const bool *written,
                        const uint32_t *inside)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t commit;

        if (!inside[i] || written[i] ||
            !(isa_formats[isa_ops[insns[i].op].format].extra & ISA_X_JIP) ||
            insns[i].jip == ISA_NO_PC)
            continue;
        commit = isa_tx_commit(insns, n, inside, i);
        if (commit < n && insns[i].jip > first + commit)
            insns[i].jip = first + commit;
    }
}

static bool fit_transactions(struct isa_insn *insns, uint32_t first, uint32_t n, const bool *written)
{
    uint32_t *inside = isa_has_tx(insns, n) ? malloc(n * sizeof *inside) : NULL;

    if (!inside)
        return !isa_has_tx(insns, n);
    isa_find_tx(insns, n, inside);
    stay_inside(insns, first, n, written, inside);
    free(inside);
    return true;
}

bool isa_derive_jips(struct isa_insn *insns, uint32_t first, uint32_t n, const bool *written)
{
    uint32_t *from = calloc(n, sizeof *from), *asleep = calloc(n, sizeof *asleep);
    bool good = from && asleep && isa_find_asleep(insns, first, n, ISA_ASLEEP_ALL, from) &&
                isa_next_asleep(insns, n, from, asleep);

    if (good)
        fill(insns, first, n, written, asleep);
    free(from);
    free(asleep);
    return good && fit_transactions(insns, first, n, written);
}
