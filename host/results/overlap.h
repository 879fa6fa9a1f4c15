/* How much of the time of kernels and transfers lies beside other kernels and transfers. */
#ifndef HD_HOST_RESULTS_OVERLAP_H
#define HD_HOST_RESULTS_OVERLAP_H

#include "host/results/span.h"

/*
 * Fractions: of kernel time beside a transfer (ct), of transfer time beside a kernel (tc), of kernel
 * time beside another kernel (cc), of all time beside anything else (tot). 0 where there is nothing to divide.
 */
struct overlap {
    double ct, tc, cc, tot;
};

/* Lengths of unions of intervals. */
struct busy {
    uint64_t kernel_ps, h2d_ps, d2h_ps, link_ps;
    uint64_t any_ps; /* of kernels and transfers together */
};

/* Each interval against the union of all the others. False when memory is short. */
bool overlap_measure(const struct span *spans, size_t n, struct overlap *out, struct busy *busy);

/*
 * The rule behind the paper's Figure 11: neighbours in order of start that go the same way are one transfer as long as
 * their sum, and cc and tot hold each interval against earlier ones only, so that a pair counts once.
 */
bool overlap_fig11(const struct span *spans, size_t n, struct overlap *out);

#endif
