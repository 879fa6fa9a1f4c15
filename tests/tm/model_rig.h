/* tm/ as a machine of model_run.h: its block, the oracle's and local memory in one flat block. */
#ifndef HD_TESTS_TM_MODEL_RIG_H
#define HD_TESTS_TM_MODEL_RIG_H

#include "tests/tm/model_run.h"
#include "tm/oracle.h"
#include "tm/tm.h"

#include <stddef.h>

/* For programs with these options. */
size_t rig_size(const struct model_options *o);

/* memory: 4 * o->words bytes of local memory. */
void rig_init(void *rig, const struct model_options *o, const uint8_t *memory);

struct run_machine rig_machine(void *rig);
struct tm_wg *rig_wg(void *rig);

/* Whether the oracle, or tm/ itself, has found something wrong, and what. */
bool rig_broken(void *rig, char why[256]);

/* The oracle's last look, when all wavefronts have ended; false and why: something is wrong. */
bool rig_finish(void *rig, char why[256]);

struct tm_oracle_counts rig_counts(void *rig);

/* From now on without the oracle, or with tm_oracle_check after each call. */
void rig_blind(void *rig);
void rig_look_deep(void *rig);

#endif
