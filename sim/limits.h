/* Limits of the machine's own structures, which the configuration must keep. */
#ifndef HD_SIM_LIMITS_H
#define HD_SIM_LIMITS_H

enum {
    SIMDS_MAX = 16,      /* SIMD units of a compute unit */
    TX_WAVES_MAX = 32,   /* wavefronts of a work-group with transactions */
    SIMD_SLOTS_MAX = 64, /* wavefronts of one SIMD unit: a bit each */
    CUS_MAX = 1024,
    RESIDENT_MAX = 1024, /* kernels */
    SECTORS_MAX = 32,    /* sectors of a line: a bit each */
    NOC_LATENCY_MAX =
        2000, /* end of its range in sim/params.def: what is on its way to L2 is kept by cycle */
    LOOKAHEAD_MAX = 1024, /* cycles that a compute unit runs ahead of the others */
};

/* State that is there for the whole run, so that it would be the host's memory that a mistake runs into. */
enum {
    L1_BYTES_MAX = 1 << 30, /* of all compute units */
    MSHRS_MAX = 1 << 22,    /* of all compute units */
    L2_SECTORS_MAX = 1 << 25,
};

#endif
