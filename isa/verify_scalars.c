/*
 * Scalars and VCC in the goto form: one value for all lanes. What lanes write where they are apart the others must not see,
 * so that it is dead at the join where they meet again.
 */
#include "isa/asleep.h"
#include "isa/liveness.h"
#include "isa/verify_internal.h"

#include <stdlib.h>

struct scalars {
    struct verifier *v;
    const struct isa_insn *insns;
    uint32_t first, n;
    uint32_t *from;
    bool *reached;
    struct isa_scalars *live;
    uint32_t written[ISA_SCALARS]; /* 1 + index of the last write so far */
};

static void check_join(struct scalars *s, uint32_t join)
{
    for (unsigned k = 0; k < ISA_SCALARS; k++) {
        char name[8];

        if (!isa_scalars_has(&s->live[join], k) || s->written[k] <= s->from[join])
            continue;
        isa_scalar_name(k, name);
        verify_add(s->v, ISA_CERTAIN, "verify-divergent-scalar", s->first + s->written[k] - 1,
                   "use a vector register, or a scalar that is not read behind the join",
                   "%s is written where lanes may be apart, and read behind the join of line %u",
                   name, verify_line(s->v, s->first + join));
        s->written[k] = 0; /* told */
    }
}

static void check_all(struct scalars *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        struct isa_scalars w = isa_scalars_written(&s->insns[i]);

        if (s->from[i] < i)
            check_join(s, i);
        for (unsigned k = 0; k < ISA_SCALARS && s->reached[i]; k++)
            if (isa_scalars_has(&w, k))
                s->written[k] = i + 1;
    }
}

bool verify_scalars(struct verifier *v)
{
    uint32_t first = v->kernel->first, n = v->kernel->end - first;
    struct scalars s = {.v = v, .insns = v->program->insns + first, .first = first, .n = n};
    bool good;

    s.from = calloc(n, sizeof *s.from);
    s.reached = calloc(n, sizeof *s.reached);
    s.live = calloc(n, sizeof *s.live);
    good = s.from && s.reached && s.live && isa_find_reached(s.insns, first, n, s.reached) &&
           isa_find_asleep(s.insns, first, n, ISA_ASLEEP_APART, s.from);
    if (good) {
        isa_find_live(s.insns, n, s.live);
        check_all(&s);
    }
    free(s.from);
    free(s.reached);
    free(s.live);
    return good;
}
