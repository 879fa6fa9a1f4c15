#include "isa/transaction.h"

#include <stdlib.h>

bool isa_has_tx(const struct isa_insn *insns, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (insns[i].op == OP_tx_begin || insns[i].op == OP_tx_commit)
            return true;
    return false;
}

uint32_t isa_find_tx(const struct isa_insn *insns, uint32_t n, uint32_t *inside)
{
    uint32_t open = 0;

    for (uint32_t i = 0; i < n; i++) {
        inside[i] = open;
        if (insns[i].op == OP_tx_begin)
            open = i + 1;
        else if (insns[i].op == OP_tx_commit && open)
            open = inside[open - 1];
    }
    return open;
}

uint32_t isa_tx_commit(const struct isa_insn *insns, uint32_t n, const uint32_t *inside, uint32_t i)
{
    uint32_t commit = i;

    while (commit < n && (insns[commit].op != OP_tx_commit || inside[commit] != inside[i]))
        commit++;
    return commit;
}

bool isa_cut_runs(struct isa_insn *insns, uint32_t n)
{
    uint32_t *inside = malloc(n * sizeof *inside);

    if (!inside)
        return false;
    isa_find_tx(insns, n, inside);
    for (uint32_t i = 0; i < n; i++)
        if (insns[i].run && inside[i])
            insns[i].run = 1;
    free(inside);
    return true;
}
