/*
 * What the emitters of all forms share. Registers:
 *
 *   v0 gid, v1 the word of global memory that is the lane's first own one, v2 the same of local memory,
 *   v3 tid, v4 on the variables, v20 on trips by depth of loop, v28 on trips at most, v40 v41 scratch;
 *   s40 on the counts of repeats by depth, s50 scratch; pairs from s52 on, masks and vcc as the form likes.
 */
#ifndef HD_TESTS_CF_PROGRAMS_EMIT_H
#define HD_TESTS_CF_PROGRAMS_EMIT_H

#include "tests/cf_programs/program.h"

enum { V_VARS = 4, V_TRIPS = 20, V_MOST = 28, S_COUNT = 40 };

struct emitter {
    const struct cfp_program *p;
    struct rng rng; /* of choices that the form leaves open */
    struct cfp_text *out;
    uint16_t node;    /* that the next lines come from */
    unsigned labels;  /* made so far */
    unsigned loops;   /* around the next line */
    const char *pred; /* of what acts on lanes: "" or "@m3 " */
    bool all;         /* temporaries carry it too */
    bool nomask;      /* they may be written for lanes that are off, too */
    bool vcc;         /* conditions may be in vcc */
};

/* One line. */
void emit(struct emitter *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void emit_label(struct emitter *e, unsigned label);
bool emit_chance(struct emitter *e, unsigned percent);
/* The predicate of something that only lanes of the region look at: it may be left out. */
const char *emit_soft(struct emitter *e);
/* ".nomask" at times, behind the mnemonic of the same. */
const char *emit_free(struct emitter *e);

/* An operation, load, store, atomic or barrier. */
void emit_simple(struct emitter *e, const struct cfp_node *n);
/* Leaves the condition in a mask register, and returns its name, "m0" or "vcc". Uses m1. */
const char *emit_cond(struct emitter *e, const struct cfp_cond *c);
/* Sets up and counts the trips of a loop of e->loops (from 0). */
void emit_trips_start(struct emitter *e, const struct cfp_node *n);
void emit_trip(struct emitter *e, const struct cfp_node *n);
/* Leaves whether a lane makes another trip in a mask register: "m0" or "vcc". Uses m1 and m2. */
const char *emit_goes_on(struct emitter *e, const struct cfp_node *n);
/* One branch of the wavefront on its work-group: the start, the middle and the end of an if. Labels are two from `label` on. */
unsigned emit_group_if(struct emitter *e, const struct cfp_node *n);
void emit_group_else(struct emitter *e, unsigned label);
void emit_group_end(struct emitter *e, const struct cfp_node *n, unsigned label);
/* A repeat counts, and leaves in s50 whether there is another trip. */
void emit_count(struct emitter *e, const struct cfp_node *n);

/* The body of the kernel in each form; all lanes are active before and behind. */
void emit_sugar(struct emitter *e);
void emit_masks(struct emitter *e); /* predicated; with e->all, predicated-all */
void emit_exec(struct emitter *e);
void emit_goto(struct emitter *e);

/* What all lanes do that have not ended: variables to memory, then the shared local words. Lanes of a mask `except` may be left out. */
void emit_epilogue(struct emitter *e, const char *except);

#endif
