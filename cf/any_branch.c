/*
 * The unit "any-branch" runs the predicated form: divergence lives in the kernel's own masks, EXEC is all lanes
 * that are alive, and control flow is scalar. A branch goes one way for the whole wavefront.
 */
#include "cf/one_pc.h"
#include "cf/units.h"

const struct cf_unit_ops cf_any_branch = {
    .name = cf_any_branch_name,
    .doc = cf_any_branch_doc,
    .forms = ISA_FORM_PREDICATED,
    .runs_transactions = true,
    .size = one_pc_size,
    .used = one_pc_used,
    .start = one_pc_start,
    .pick = one_pc_pick,
    .step = one_pc_step,
    .exec = one_pc_exec,
    .set_exec = one_pc_keep_exec,
    .lanes = one_pc_lanes,
    .waits = one_pc_waits,
};
