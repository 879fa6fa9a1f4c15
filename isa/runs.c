/*
 * Straight-line runs: register-to-register instructions whose values may be computed together when
 * the first of them issues. A run ends behind a write to EXEC, VCC or a mask, and behind a write
 * to a scalar that the branch at the end of its block waits for; it never crosses a branch target.
 */
#include "isa/format.h"
#include "isa/load.h"

#include <string.h>

bool isa_in_run(const struct isa_insn *in)
{
    return isa_formats[in->format].extra & ISA_X_RUN;
}

static bool is_branch(const struct isa_insn *in)
{
    return isa_formats[in->format].extra & ISA_X_CONTROL;
}

static bool ends_run(const struct isa_insn *in, const struct isa_insn *branch)
{
    if (in->d.kind == ISA_O_M || isa_writes_exec(in))
        return true;
    for (unsigned i = 0; branch && i < in->nset; i++)
        for (unsigned k = 0; k < branch->nwait; k++)
            if (branch->wait[k] == in->set[i])
                return true;
    return false;
}

void isa_fill_runs(struct isa_insn *insns, uint32_t first, uint32_t end, const bool *starts)
{
    const struct isa_insn *branch = NULL; /* that ends the block */
    unsigned next = 0; /* run of the instruction behind, 0 if it cannot be joined */

    for (uint32_t pc = end; pc-- > first;) {
        struct isa_insn *in = &insns[pc];

        if (is_branch(in))
            branch = in;
        else if (in->format == ISA_END)
            branch = NULL;
        if (!isa_in_run(in))
            in->run = 0;
        else if (ends_run(in, branch) || next == ISA_MAX_RUN)
            in->run = 1;
        else
            in->run = (uint16_t)(next + 1);
        next = in->run;
        if (starts[pc]) {
            next = 0;
            branch = NULL;
        }
    }
}
