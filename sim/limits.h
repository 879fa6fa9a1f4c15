/* Limits of the machine's own structures, which the configuration must keep. */
#ifndef HD_SIM_LIMITS_H
#define HD_SIM_LIMITS_H

enum {
    SIMDS_MAX = 16,      /* SIMD units of a compute unit */
    SIMD_SLOTS_MAX = 64, /* wavefronts of one SIMD unit: a bit each */
    CUS_MAX = 1024,
    SECTORS_MAX = 32,       /* sectors of a line: a bit each */
    NOC_LATENCY_MAX = 2000, /* noc.latency_cycles: what is on its way to L2 is kept by cycle */
    LOOKAHEAD_MAX = 1024,   /* cycles that a compute unit runs ahead of the others */
};

#endif
