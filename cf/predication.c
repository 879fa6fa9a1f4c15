/*
 * The unit "predication" runs the predicated forms with no skipping: a forward branch that skips code for want of lanes
 * (none of a mask, or all of its complement) falls through, since the masks of that code leave it without effect. All
 * other branches are honoured: backward ones, those on scalars, and those that leave a loop.
 */
#include "cf/one_pc.h"
#include "cf/units.h"
#include "isa/format.h"
#include "isa/liveness.h"

#include <stdlib.h>

/* Notes: ISA_NO_PC where a branch is honoured. */
enum { FALLS_THROUGH = 0 };

/* Skips what only lanes of a mask, or only those outside of it, would do. */
static bool is_skip(const struct isa_insn *in)
{
    bool negate = in->flags & ISA_F_NEGATE, all = in->flags & ISA_F_ALL;

    return in->format == ISA_BRANCH_M && in->target > in->pc && negate != all;
}

/* Leads out of a loop: behind a branch back to where the skip has been passed already. */
static bool leaves_loop(const struct isa_program *program, const struct isa_insn *skip)
{
    for (uint32_t pc = skip->pc + 1; pc < skip->target; pc++) {
        const struct isa_insn *in = &program->insns[pc];

        if ((isa_formats[in->format].extra & ISA_X_TARGET) && in->target <= skip->pc)
            return true;
    }
    return false;
}

/* What acts on more than registers, so that it must have a mask. */
static bool has_effect(const struct isa_insn *in)
{
    switch (in->format) {
    case ISA_GLOAD:
    case ISA_GSTORE:
    case ISA_GATOMIC:
    case ISA_LLOAD:
    case ISA_LSTORE:
    case ISA_LATOMIC:
    case ISA_BARRIER:
    case ISA_PRINT:
    case ISA_ASSERT:
    case ISA_END:
        return true;
    default:
        return false;
    }
}

static enum hd_status refuse_effect(const struct isa_program *program, const struct isa_insn *skip,
                                    const struct isa_insn *in, struct hd_error *err)
{
    char place[256], since[256];

    isa_place(program, in->pc, place, sizeof place);
    isa_place(program, skip->pc, since, sizeof since);
    return hd_error_set(err, HD_BAD_INPUT, "unit-skip", place,
                        "give it the mask of the branch, or choose divergence.unit any-branch",
                        "%s has no mask, and divergence.unit predication does not take the branch "
                        "at %s that skips it",
                        isa_ops[in->op].name, since);
}

/* A decision for the wavefront that leads past what the skip skips, so that the skip's own way is not gone. */
static enum hd_status refuse_way_out(const struct isa_program *program, const struct isa_insn *skip,
                                     const struct isa_insn *in, struct hd_error *err)
{
    char place[256], since[256];

    isa_place(program, in->pc, place, sizeof place);
    isa_place(program, skip->pc, since, sizeof since);
    return hd_error_set(err, HD_BAD_INPUT, "unit-skip", place,
                        "branch on a mask, or choose divergence.unit any-branch",
                        "%s leads past the end of what the branch at %s skips, which "
                        "divergence.unit predication does not take",
                        isa_ops[in->op].name, since);
}

/*
 * Scalars and VCC that it writes and that are needed where the skip leads. By the rules of the form a vector register
 * that is needed there is written under the mask; masks, in scalar pairs too, are the program's own matter.
 */
static enum hd_status check_scalars(const struct isa_program *program, const struct isa_insn *skip,
                                    const struct isa_insn *in, const struct isa_scalars *needed,
                                    struct hd_error *err)
{
    struct isa_scalars written = isa_scalars_written(in);
    char place[256], since[256], reg[8];

    for (unsigned k = 0; k < ISA_SCALARS && in->format != ISA_MASK_OP; k++) {
        if (!isa_scalars_has(&written, k) || !isa_scalars_has(needed, k))
            continue;
        isa_place(program, in->pc, place, sizeof place);
        isa_place(program, skip->pc, since, sizeof since);
        isa_scalar_name(k, reg);
        return hd_error_set(err, HD_BAD_INPUT, "unit-skip", place,
                            "keep the value in a vector register that is written with the mask, or "
                            "choose divergence.unit any-branch",
                            "%s is written here and needed later, and divergence.unit predication "
                            "does not take the branch at %s that skips it",
                            reg, since);
    }
    return HD_OK;
}

static bool is_scalar_branch(const struct isa_insn *in)
{
    return in->format == ISA_JUMP || in->format == ISA_BRANCH_S;
}

/* needed: where the skip leads. */
static enum hd_status check_skip(const struct isa_program *program, const struct isa_insn *skip,
                                 const struct isa_scalars *needed, struct hd_error *err)
{
    enum hd_status status = HD_OK;

    for (uint32_t pc = skip->pc + 1; pc < skip->target && status == HD_OK; pc++) {
        const struct isa_insn *in = &program->insns[pc];

        if (has_effect(in) && !in->pred)
            status = refuse_effect(program, skip, in, err);
        else if (is_scalar_branch(in) && in->target > skip->target)
            status = refuse_way_out(program, skip, in, err);
        else
            status = check_scalars(program, skip, in, needed, err);
    }
    return status;
}

static enum hd_status prepare(const struct isa_program *program, const struct isa_kernel *kernel,
                              struct cf_plan *plan, struct hd_error *err)
{
    uint32_t n = kernel->end - kernel->first;
    struct isa_scalars *live = calloc(n, sizeof *live);
    enum hd_status status = HD_OK;

    if (!live)
        return hd_no_memory(err, "the control flow of kernel %s", kernel->name);
    isa_find_live(program->insns + kernel->first, n, live);
    for (uint32_t pc = kernel->first; pc < kernel->end && status == HD_OK; pc++) {
        const struct isa_insn *in = &program->insns[pc];

        if (!is_skip(in) || leaves_loop(program, in))
            continue;
        plan->note[pc - kernel->first] = FALLS_THROUGH;
        status = check_skip(program, in, &live[in->target - kernel->first], err);
    }
    free(live);
    return status;
}

static void step(void *state, const struct cf_plan *plan, const struct isa_insn *insn,
                 uint64_t active, uint64_t taken, struct cf_cost *cost)
{
    bool honoured = plan->note[insn->pc - plan->first] != FALLS_THROUGH;

    (void)active;
    one_pc_branch(state, insn, taken && honoured, cost);
    cost->ignored = taken && !honoured;
}

const struct cf_unit_ops cf_predication = {
    .name = cf_predication_name,
    .doc = cf_predication_doc,
    .forms = ISA_FORM_PREDICATED | ISA_FORM_PREDICATED_ALL,
    .runs_transactions = true,
    .size = one_pc_size,
    .used = one_pc_used,
    .prepare = prepare,
    .start = one_pc_start,
    .pick = one_pc_pick,
    .step = step,
    .exec = one_pc_exec,
    .set_exec = one_pc_keep_exec,
    .lanes = one_pc_lanes,
    .waits = one_pc_waits,
};
