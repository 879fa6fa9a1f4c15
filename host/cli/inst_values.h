/* Register values and accesses as --trace-inst shows them. */
#ifndef HD_HOST_CLI_INST_VALUES_H
#define HD_HOST_CLI_INST_VALUES_H

#include "isa/wave.h"
#include "sim/base/text.h"
#include "sim/sim.h"

/*
 * What the instruction wrote, from the registers behind it: "v3 = 1, 2, 3, 4, ... (32 lanes)", "s8 = 256",
 * "m0 = ffffffff". Of vectors the first four of its lanes, or all.
 */
void inst_results(const struct isa_insn *in, const struct isa_wave *regs, uint64_t lanes,
                  unsigned width, bool all, struct text *out);
/* What an access touched: "address 0x1000, 4 bytes apart: 1 line, 4 sectors", "local 0, 8 bytes apart: 2 passes". */
void inst_access(const struct hd_probe_event *e, struct text *out);

#endif
