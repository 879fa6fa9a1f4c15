/*
 * What must come before what, from a fake machine's log and whatever the times were: the order of a queue, its
 * waits, and what the host had seen done when it submitted.
 */
#ifndef HD_TESTS_RT_HB_LOG_H
#define HD_TESTS_RT_HB_LOG_H

#include "tests/rt/fake_sim.h"

struct hb_log;

struct hb_log *hb_log_new(const struct sim_machine *m);
void hb_log_free(struct hb_log *log);

/* Whether a command has surely completed before another one starts. */
bool hb_log_before(const struct hb_log *log, uint64_t earlier, uint64_t later);
/* Whether the host knew it to have completed when it had seen so much. */
bool hb_log_known(const struct hb_log *log, uint64_t ticket, size_t seen);

#endif
