/* What divergence units must know of a kernel before they run it. */
#ifndef HD_ISA_REGIONS_H
#define HD_ISA_REGIONS_H

#include "isa/isa.h"

/*
 * apart[pc - kernel->first], for a kernel of form goto: true if lanes may be apart when the instruction runs, that is some awake
 * and some asleep, or in a unit that runs groups of lanes in turn, some elsewhere. All false in the other forms. False
 * when memory is short.
 */
bool isa_divergent_regions(const struct isa_program *program, const struct isa_kernel *kernel,
                           bool *apart);

/*
 * True if the instruction's result for a lane, or for a scalar, depends on other lanes than those it acts on, or on
 * which ones these are: vector code with .nomask, moves between lanes, reductions of a mask and branches on one, and masks
 * as a whole in a scalar pair.
 */
bool isa_crosses_lanes(const struct isa_insn *in);

/*
 * For units that run groups of lanes in turn: HD_BAD_INPUT for the first instruction of the kernel that crosses lanes in a divergent
 * region. unit is its name, for the message.
 */
enum hd_status isa_refuse_crossing(const struct isa_program *program,
                                   const struct isa_kernel *kernel, const char *unit,
                                   struct hd_error *err);

/*
 * For a unit that falls through forward branches on a mask: HD_BAD_INPUT for the first range which such a branch skips that cannot be run for
 * no lane: it writes a scalar or VCC that is read behind it, a scalar branch leads out of it, or it ends all lanes.
 */
enum hd_status isa_refuse_skipped(const struct isa_program *program, const struct isa_kernel *kernel,
                                  const char *unit, struct hd_error *err);

#endif
