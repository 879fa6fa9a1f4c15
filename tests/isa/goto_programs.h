/* Random programs in the goto form: nested ifs and loops, and gotos from anywhere to any join around them. */
#ifndef HD_TESTS_ISA_GOTO_PROGRAMS_H
#define HD_TESTS_ISA_GOTO_PROGRAMS_H

#include "sim/base/rng.h"
#include "sim/base/text.h"

enum { GOTO_RESULT = 2 }; /* vector register that tells which way each lane went */

/* Kernel k with a parameter `first`: the number of lane 0, which with the lane decides the way of a lane. */
void goto_program(struct rng *r, struct text *out);

#endif
