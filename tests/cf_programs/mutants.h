/*
 * Mistakes put in on purpose: divergence units that do one thing wrong, and loaded programs with one thing changed. In the tests of
 * this folder the list of units is the machine's own and then the wrong ones, which stands in for cf/registry.c.
 */
#ifndef HD_TESTS_CF_PROGRAMS_MUTANTS_H
#define HD_TESTS_CF_PROGRAMS_MUTANTS_H

#include "cf/cf.h"
#include "tests/cf_programs/run.h"

/* identifier, what is wrong, the unit that it was, the text that it runs */
#define UNIT_MUTANTS(_)                                                                            \
    _(any_branch_never_back, "any-branch: a branch back is never taken", "any-branch", CFP_MASKS)  \
    _(any_branch_always_skips, "any-branch: every branch forward is taken", "any-branch",          \
      CFP_SUGAR)                                                                                   \
    _(any_branch_inverted, "any-branch: branches are taken in the other case", "any-branch",       \
      CFP_SUGAR)                                                                                   \
    _(predication_never_back, "predication: a branch back is never taken", "predication",          \
      CFP_PREDICATED_ALL)                                                                          \
    _(predication_stays_in_loops, "predication: branches out of loops fall through, too",          \
      "predication", CFP_MASKS)                                                                    \
    _(exec_never_grows, "exec-mask: EXEC is restored wrongly, a lane that left stays out",         \
      "exec-mask", CFP_EXEC)                                                                       \
    _(exec_loses_a_lane, "exec-mask: a write to EXEC loses its highest lane", "exec-mask",         \
      CFP_EXEC)                                                                                    \
    _(exec_inverted, "exec-mask: branches are taken in the other case", "exec-mask", CFP_EXEC)     \
    _(goto_jip_is_uip, "goto-join: JIP is UIP", "goto-join", CFP_GOTO)                             \
    _(goto_uip_is_jip, "goto-join: UIP is JIP", "goto-join", CFP_GOTO)                             \
    _(goto_never_hops, "goto-join: a join never passes on", "goto-join", CFP_GOTO)                 \
    _(goto_wakes_nobody, "goto-join: a join leaves one sleeping lane asleep", "goto-join",         \
      CFP_GOTO)                                                                                    \
    _(goto_back_if_all, "goto-join: back only if all lanes agree", "goto-join", CFP_GOTO)          \
    _(goto_inverted, "goto-join: lanes jump where the predicate is clear", "goto-join", CFP_GOTO)  \
    _(goto_awake, "goto-join: lanes that sleep act", "goto-join", CFP_GOTO)                        \
    _(stack_meets_early, "simt-stack: a group is popped at the next join", "simt-stack", CFP_GOTO) \
    _(stack_never_meets, "simt-stack: a group is never popped", "simt-stack", CFP_GOTO)            \
    _(stack_pops_twice, "simt-stack: a pop takes two groups", "simt-stack", CFP_GOTO)              \
    _(stack_tail_lives, "simt-stack: lanes past the end are alive", "simt-stack", CFP_GOTO)        \
    _(min_pc_picks_max, "min-pc: the highest pc runs", "min-pc", CFP_GOTO)                         \
    _(min_pc_mixes, "min-pc: lanes that stand together are counted twice", "min-pc", CFP_GOTO)     \
    _(barrier_misses_one, "barrier: one lane is no member of the meeting", "barrier", CFP_GOTO)    \
    _(barrier_never_meets, "barrier: nobody waits", "barrier", CFP_GOTO)                           \
    _(barrier_inverted, "barrier: lanes jump where the predicate is clear", "barrier", CFP_GOTO)

/* Each changes a copy of the unit that it is named for: mutant_UNIT.c. */
#define ROW(id, name, unit, emitter) void mutate_##id(struct cf_unit_ops *ops);
UNIT_MUTANTS(ROW)
#undef ROW

struct mutant {
    const char *what;
    struct cfp_way way; /* the unit is the mutant's own name, or with a rewrite the machine's */
    cfp_rewrite_fn *rewrite;
};

/* Makes the wrong units; call it once, ahead of any run. */
void mutants_make(void);
/* All of them whose unit the machine has. Returns how many. */
unsigned mutants_list(struct mutant *out, unsigned most);

#endif
