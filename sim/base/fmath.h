/*
 * Elementary functions of f64 whose bits do not depend on the C library: a fixed order of
 * IEEE operations, the same with every compiler, optimisation level and processor.
 *
 * Each is within 1 ulp of the exact value, for every argument; where the result is denormal,
 * within 1 unit of the least denormal. Special cases are those of C (annex F); a NaN result is
 * a quiet NaN without a promise about its payload. errno is left alone.
 */
#ifndef HD_SIM_BASE_FMATH_H
#define HD_SIM_BASE_FMATH_H

double hd_exp(double x);
double hd_exp2(double x);

/* -inf for zeros, NaN below. */
double hd_log(double x);
double hd_log2(double x);

/* Radians; NaN for infinities. */
double hd_sin(double x);
double hd_cos(double x);

/* x^y; 1 if x is 1 or y is 0, whatever the other is. */
double hd_pow(double x, double y);

#endif
