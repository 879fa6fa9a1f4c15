/*
 * For the units that run lanes in groups: where lanes that part at a goto meet again, and what must not stand where
 * they are apart. For the files of cf/ only.
 */
#ifndef HD_CF_PARTING_H
#define HD_CF_PARTING_H

#include "cf/cf.h"
#include "cf/cfg.h"

/* A place at which lanes may part: a goto with a predicate, or a barrier with one. */
struct parting {
    uint32_t pc, block;
    uint32_t meet; /* the join at which they meet again; ISA_NO_PC */
    bool *inside;  /* by block: lanes may be there while they are apart */
};

struct partings {
    const char *unit; /* for messages */
    const struct isa_program *program;
    const struct isa_kernel *kernel;
    struct cfg g;
    struct parting *at; /* in order of pc */
    uint32_t n;
    bool *inside; /* storage of theirs */
};

/* Finds the partings of a kernel and the joins that post-dominate them. HD_BAD_INPUT when memory is short. */
enum hd_status partings_find(struct partings *p, const char *unit, const struct isa_program *program,
                             const struct isa_kernel *kernel, bool barriers, struct hd_error *err);
void partings_free(struct partings *p);

/* Lanes that part at `parting` meet at another place than was found. */
void partings_move(struct partings *p, struct parting *parting, uint32_t meet);

/* Refuses vector code without EXEC, and code that looks at other lanes, wherever lanes may be apart. */
enum hd_status partings_refuse_lanes(struct partings *p, struct hd_error *err);

/*
 * Refuses scalars that groups would overwrite for each other where the unit may change between them: behind barriers
 * and, if changes is not NULL, behind backward branches at pcs for which changes[pc - kernel->first] is set.
 */
enum hd_status partings_refuse_scalars(struct partings *p, const bool *changes,
                                       struct hd_error *err);

/* Writes down where the lanes of each goto meet. */
void partings_note(const struct partings *p, struct cf_plan *plan);

#endif
