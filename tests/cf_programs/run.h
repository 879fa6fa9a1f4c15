/*
 * Programs on the machine: every way in which one can run, and what must be the same in all of them.
 */
#ifndef HD_TESTS_CF_PROGRAMS_RUN_H
#define HD_TESTS_CF_PROGRAMS_RUN_H

#include "sim/sim.h"
#include "tests/cf_programs/program.h"

/* A divergence unit and a text that it runs. */
struct cfp_way {
    const char *unit;
    enum cfp_emitter emitter;
};
extern const struct cfp_way cfp_ways[];
extern const unsigned cfp_nways;

/* Changes a loaded program, as a mistake of a unit would. */
typedef void cfp_rewrite_fn(struct isa_program *program);

/* Machines that are kept between runs, and room for what they leave. */
struct cfp_rig;
struct cfp_rig *cfp_rig_new(void);
void cfp_rig_free(struct cfp_rig *r);

enum { CFP_WIDTHS = 4 };
extern const unsigned cfp_widths[CFP_WIDTHS];

/* What a run must leave. */
struct cfp_expected {
    struct cfp_memory memory;
    struct cfp_effects effects;
    struct cfp_coverage coverage;
};

enum cfp_outcome {
    CFP_SAME,
    CFP_DIFFERS,
    CFP_FAULT,   /* the machine says that something is wrong */
    CFP_REFUSED, /* the program does not load, or cannot be launched */
};

struct cfp_run {
    const struct cfp_program *program;
    const struct cfp_expected *expected;
    struct cfp_way way;
    unsigned width;
    cfp_rewrite_fn *rewrite;    /* may be NULL */
    uint64_t most_instructions; /* that become a fault; 0: far more than any program takes */
};

/*
 * Runs one way, timed with its effects watched and then for its values alone. On anything but
 * CFP_SAME `why` says what is wrong.
 */
enum cfp_outcome cfp_run(struct cfp_rig *r, const struct cfp_run *run, char why[256]);

#endif
