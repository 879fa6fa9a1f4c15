/*
 * The unit "exec-mask" runs the exec form, as AMD's Southern Islands do: EXEC is a register that code saves, narrows and
 * restores, and control flow is scalar. A wavefront starts with EXEC set in the lanes that exist.
 */
#include "cf/one_pc.h"
#include "cf/units.h"

static void start(void *state, uint32_t pc, uint64_t live)
{
    struct one_pc *s = state;

    one_pc_start(s, pc, live);
    s->exec = live;
}

static bool set_exec(void *state, uint64_t value)
{
    struct one_pc *s = state;

    s->exec = value;
    return true;
}

const struct cf_unit_ops cf_exec_mask = {
    .name = cf_exec_mask_name,
    .doc = cf_exec_mask_doc,
    .forms = ISA_FORM_EXEC,
    .runs_transactions = true,
    .size = one_pc_size,
    .used = one_pc_used,
    .start = start,
    .pick = one_pc_pick,
    .step = one_pc_step,
    .exec = one_pc_exec,
    .set_exec = set_exec,
    .lanes = one_pc_lanes,
    .waits = one_pc_waits,
};
