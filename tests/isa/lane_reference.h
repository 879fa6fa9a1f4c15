/*
 * What an opcode gives in one lane, worked out another way than isa/semantics.h: integers in 128 bits, f32 and
 * f64 in a format wide enough that rounding twice is rounding once, fields bit by bit.
 */
#ifndef HD_TESTS_ISA_LANE_REFERENCE_H
#define HD_TESTS_ISA_LANE_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The result of the opcode (formats VALU, VSEL, VCMP, SALU) as bits, a truth value for VCMP. False if
 * it is one of those that reference_bound() judges.
 */
bool reference_value(int op, uint64_t a, uint64_t b, uint64_t c, uint64_t *result);

/* For special functions and seeds: whether result is within the documented bound for a. */
bool reference_bound(int op, uint64_t a, uint64_t result);

#endif
