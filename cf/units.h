/* The divergence units, one file each, in the order of `heddle list`. For the files of cf/ only. */
#ifndef HD_CF_UNITS_H
#define HD_CF_UNITS_H

#include "cf/cf.h"

#define CF_UNITS(_)                                                                                \
    _(predication, "predication",                                                                  \
      "masks in the kernel's code; branches that skip for want of lanes fall through")             \
    _(any_branch, "any-branch",                                                                    \
      "masks in the kernel's code; scalar branches, any or all of a mask, skip for the wavefront") \
    _(exec_mask, "exec-mask", "EXEC is a register that code saves, narrows and restores")          \
    _(goto_join, "goto-join",                                                                      \
      "one pc; lanes that take a goto sleep until control reaches their join")                     \
    _(simt_stack, "simt-stack", "a stack of groups; those that part meet at the post-dominator")   \
    _(min_pc, "min-pc", "a pc for each lane; the lanes at the lowest run")                         \
    _(barrier, "barrier",                                                                          \
      "groups that part agree to meet at the post-dominator; any that does not wait may run")

#define ROW(id, name, doc)                                                                         \
    extern const struct cf_unit_ops cf_##id;                                                       \
    extern const char cf_##id##_name[], cf_##id##_doc[];
CF_UNITS(ROW)
#undef ROW

#endif
