/*
 * Loads that nothing else can make a difference to: from an array that no resident kernel may write,
 * and no pending copy from the host (sim/command.c counts those). A compute unit that is ahead of the
 * others need not wait with them. Which array it is, and which ones a kernel writes, follows from the
 * base of the address: an array parameter that the kernel does not change.
 */
#include "sim/device.h"

#include <stdlib.h>

enum { NO_PARAM = -1 };

static bool changes(const struct isa_insn *in, unsigned sreg)
{
    for (unsigned i = 0; i < in->nset; i++)
        if (in->set[i] == ISA_SB_S + sreg || in->set[i] == ISA_SB_S + sreg + 1)
            return true;
    return false;
}

/* The array parameters that hold their address from the first instruction to the last, a bit each. */
static uint32_t kept_params(const struct isa_program *p, const struct isa_kernel *k)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < k->nparams; i++) {
        bool changed = !k->params[i].is_array;

        for (uint32_t pc = k->first; pc < k->end && !changed; pc++)
            changed = changes(&p->insns[pc], k->params[i].sreg);
        kept |= (uint32_t)!changed << i;
    }
    return kept;
}

static int param_of(const struct isa_kernel *k, uint32_t kept, const struct isa_insn *in)
{
    for (uint32_t i = 0; i < k->nparams; i++)
        if (kept >> i & 1 && in->addr.base.kind == ISA_O_S &&
            in->addr.base.index == k->params[i].sreg)
            return (int)i;
    return NO_PARAM;
}

/* 1 + the id of the array that a parameter is, 0 if it is none. */
static uint32_t array_of(struct sim_machine *m, const struct sim_launch *l, int param)
{
    const struct sim_array *a = param == NO_PARAM ? NULL : memory_find(&m->memory, l->args[param]);

    return a ? (uint32_t)(a - m->memory.arrays.at) + 1 : 0;
}

/* Adds to the resident writers of what the kernel may write, or takes it away. */
static void count_writers(struct sim_machine *m, const struct kernel_run *run, uint32_t kept,
                          uint32_t by)
{
    for (uint32_t pc = run->kernel->first; pc < run->kernel->end; pc++) {
        const struct isa_insn *in = &run->program->insns[pc];
        uint32_t array;

        if (in->format != ISA_GSTORE && in->format != ISA_GATOMIC)
            continue;
        array = array_of(m, run->launch, param_of(run->kernel, kept, in));
        if (array)
            m->memory.arrays.at[array - 1].in_step += by;
        else
            m->device->open_writers += by;
    }
}

bool private_init(struct sim_machine *m, struct kernel_run *run)
{
    const struct isa_kernel *k = run->kernel;
    uint32_t kept = kept_params(run->program, k);

    run->load_from = calloc(k->end - k->first, sizeof *run->load_from);
    if (!run->load_from)
        return false;
    for (uint32_t pc = k->first; pc < k->end; pc++) {
        const struct isa_insn *in = &run->program->insns[pc];

        if (in->format == ISA_GLOAD)
            run->load_from[pc - k->first] = array_of(m, run->launch, param_of(k, kept, in));
    }
    count_writers(m, run, kept, 1);
    return true;
}

void private_end(struct sim_machine *m, struct kernel_run *run)
{
    count_writers(m, run, kept_params(run->program, run->kernel), UINT32_MAX);
    free(run->load_from);
    run->load_from = NULL;
}
