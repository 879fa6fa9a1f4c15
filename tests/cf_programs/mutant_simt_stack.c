/* Wrong kinds of the unit simt-stack. */
#define cf_simt_stack unused_simt_stack
#include "cf/simt_stack.c"

#include "tests/cf_programs/mutants.h"

/* The notes of gotos become what `of` says. */
static enum hd_status renote(const struct isa_program *program, const struct isa_kernel *kernel,
                             struct cf_plan *plan, bool next_join, struct hd_error *err)
{
    enum hd_status status = prepare(program, kernel, plan, err);

    for (uint32_t pc = kernel->first; pc < kernel->end; pc++)
        if (program->insns[pc].format == ISA_GOTO)
            plan->note[pc - plan->first] = next_join ? program->insns[pc].jip : ISA_NO_PC;
    return status;
}

static enum hd_status meets_early(const struct isa_program *program, const struct isa_kernel *kernel,
                                  struct cf_plan *plan, struct hd_error *err)
{
    return renote(program, kernel, plan, true, err);
}

static enum hd_status never_meets(const struct isa_program *program, const struct isa_kernel *kernel,
                                  struct cf_plan *plan, struct hd_error *err)
{
    return renote(program, kernel, plan, false, err);
}

static void pops_twice(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                       uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    struct state *s = state;
    uint64_t before = s->n;

    step(state, plan, insn, active, taken, cost);
    if (insn->format == ISA_JOIN && s->n < before && s->n > 1)
        s->n--;
}

static void tail_lives(void *state, uint32_t pc, uint64_t live)
{
    (void)live;
    start(state, pc, UINT64_MAX);
}

void mutate_stack_meets_early(struct cf_unit_ops *ops)
{
    ops->prepare = meets_early;
}

void mutate_stack_never_meets(struct cf_unit_ops *ops)
{
    ops->prepare = never_meets;
}

void mutate_stack_pops_twice(struct cf_unit_ops *ops)
{
    ops->step = pops_twice;
}

void mutate_stack_tail_lives(struct cf_unit_ops *ops)
{
    ops->start = tail_lives;
}
