/* The link between host and device and its copy engines: first come first served, in chunks. */
#ifndef HD_SIM_LINK_H
#define HD_SIM_LINK_H

#include "sim/event.h"
#include "sim/sim.h"

struct sim_machine;
struct link;

struct link *link_new(const struct sim_config *config);
void link_free(struct link *l);

/* Event EV_LINK. */
void link_event(struct sim_machine *m, const struct event *e);

#endif
