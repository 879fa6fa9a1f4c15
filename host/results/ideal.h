/* The time that a run would take if its computations never got into each other's way (paper section V-E). */
#ifndef HD_HOST_RESULTS_IDEAL_H
#define HD_HOST_RESULTS_IDEAL_H

#include "host/results/span.h"

/*
 * Times of the kernels of a serial run, in order of their nodes: transfers of inputs, launch, execution and
 * the wait for it. *times (free() it) has *n; 0 if kernels overlap, as those of a graph do: such a run is not serial. False when memory is
 * short.
 */
bool element_times(const struct timeline *serial, uint64_t **times, size_t *n);

/*
 * The longest path of t's DAG when kernel i, in order of nodes, takes times[i]; what follows a node of the host waits for it.
 * JSON_NO_TIME if t has another number of kernels, or memory is short.
 */
uint64_t contention_free(const struct timeline *t, const uint64_t *times, size_t n);

#endif
