/*
 * The link between host and device and its copy engines, which serve a whole transfer at a time: of
 * those that have come the one whose command was submitted first (sim/README.md, Decisions). With two
 * engines and a duplex link each direction has a server of its own. With one engine, or a link that
 * works in one direction at a time, both directions share one, so that times add up. A transfer takes
 *
 *     link.latency_ns + bytes / rate + (pieces - 1) * um.chunk_gap_ns
 *
 * where an explicit copy is one piece and a move of pages is cut into pieces of um.chunk_bytes. The
 * rate is that of the direction; for explicit copies from or to pageable host memory,
 * link.pageable_bytes_per_second if that is less. The time of the bytes is rounded down to a
 * picosecond; a link without latency carries the fraction on to the next transfer.
 */
#ifndef HD_SIM_LINK_H
#define HD_SIM_LINK_H

#include "sim/event.h"
#include "sim/sim.h"

struct sim_machine;
struct link;

/* Copy engines that work side by side: 2, one for each direction, or 1 for both. */
uint32_t link_engines(const struct sim_config *config);

struct link *link_new(const struct sim_config *config);
void link_free(struct link *l);
/* Makes a link equal to another one of the same configuration; false when memory is short. */
bool link_copy(struct link *to, const struct link *from);

/*
 * Queues a transfer, now; start_ps and end_ps of the request are filled in. When it is over,
 * queue_transfer_done() gets the record, and `move`: which move of pages to the device it is, for
 * um_move_done(), or 0.
 */
void link_submit(struct sim_machine *m, const struct sim_transfer_record *request, bool pinned,
                 uint64_t move);

/* Events EV_LINK and EV_LINK_START. */
void link_event(struct sim_machine *m, const struct event *e);

#endif
