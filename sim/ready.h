/*
 * Which wavefronts of a SIMD unit are ready, and when the next ones will be: a wheel of cycles for
 * the near, a set for the far. Part of sim/issue.c and sim/issue_wide.c.
 */
#ifndef HD_SIM_READY_H
#define HD_SIM_READY_H

#include "sim/device.h"

/* The wavefront of a slot is ready at a cycle. */
static inline void simd_enter(struct simd *s, uint32_t slot, uint64_t cycle)
{
    uint64_t bit = UINT64_C(1) << slot;

    if (cycle <= s->now) {
        s->ready |= bit;
    } else if (cycle - s->now < SIMD_NEAR) {
        s->near[cycle % SIMD_NEAR] |= bit;
        s->near_due |= UINT64_C(1) << cycle % SIMD_NEAR;
    } else {
        s->far |= bit;
    }
}

static inline void enter_far(struct simd *s, const struct wavefront *waves)
{
    uint64_t far = s->far;

    s->far = 0;
    for (; far; far &= far - 1) {
        uint32_t slot = bits_first(far);

        simd_enter(s, slot, READY_CYCLE(waves[slot].ready));
    }
}

/* The cycle at which the next wavefront of near becomes ready, CALENDAR_NEVER if there is none. */
static inline uint64_t near_next(const struct simd *s)
{
    unsigned from = (unsigned)((s->now + 1) % SIMD_NEAR);

    if (!s->near_due)
        return CALENDAR_NEVER;
    return s->now + 1 + bits_first(bits_rotate_right(s->near_due, from));
}

static inline void simd_advance(struct simd *s, const struct wavefront *waves, uint64_t cycle)
{
    for (uint64_t next; (next = near_next(s)) <= cycle;) {
        s->now = next;
        s->ready |= s->near[next % SIMD_NEAR];
        s->near[next % SIMD_NEAR] = 0;
        s->near_due &= ~(UINT64_C(1) << next % SIMD_NEAR);
    }
    s->now = cycle;
    if (s->far)
        enter_far(s, waves);
}

/* Takes the slots of a unit out of *slots if it is not free at `cycle`; *next is when it may be. */
static inline void block(const struct simd *s, unsigned unit, uint64_t free_at, uint64_t cycle,
                         uint64_t *slots, uint64_t *next)
{
    if (free_at <= cycle || !(*slots & s->of_unit[unit]))
        return;
    *slots &= ~s->of_unit[unit];
    if (free_at < *next)
        *next = free_at;
}

/*
 * Those of some slots whose function unit takes an instruction at `cycle`. *next is lowered to when
 * a unit that keeps one of the others waiting is free.
 */
static inline uint64_t open_slots(const struct simd *s, uint64_t slots, uint64_t cycle,
                                  uint64_t *next)
{
    const struct cu *cu = s->cu;

    for (uint32_t busy = s->busy; busy; busy &= busy - 1)
        block(s, bits_first(busy), s->unit_free[bits_first(busy)], cycle, &slots, next);
    if (cu->lds_free > cycle)
        block(s, FU_LDS, cu->lds_free, cycle, &slots, next);
    if (slots & s->of_unit[FU_LSU])
        block(s, FU_LSU, lsu_held(cu) ? CALENDAR_NEVER : cu->lsu_free, cycle, &slots, next);
    return slots;
}

/* Forgets the function units that are free again. */
static inline void release_units(struct simd *s, uint64_t cycle)
{
    for (uint32_t busy = s->busy; busy; busy &= busy - 1)
        if (s->unit_free[bits_first(busy)] <= cycle)
            s->busy &= ~(busy & -busy);
}

/* The next cycle, from s->now + 1 on, at which the unit may issue; CALENDAR_NEVER if nothing is known of one. */
static inline uint64_t next_issue(const struct simd *s)
{
    uint64_t next = CALENDAR_NEVER, from = s->now + 1;

    if (s->ready && open_slots(s, s->ready, from, &next))
        return from;
    for (uint64_t due = bits_rotate_right(s->near_due, from % SIMD_NEAR); due; due &= due - 1) {
        uint64_t cycle = from + bits_first(due);

        if (cycle >= next)
            break;
        if (open_slots(s, s->near[cycle % SIMD_NEAR], cycle, &next))
            return cycle;
    }
    if (s->far && s->now + SIMD_NEAR - 1 < next)
        next = s->now + SIMD_NEAR - 1;
    return next;
}

/* The first cycle from `cycle` on that is the unit's turn. */
static inline uint64_t simd_turn(const struct simd *s, uint64_t cycle)
{
    if (s->turns == 1 || cycle == CALENDAR_NEVER)
        return cycle;
    return cycle + (s->index + s->turns - cycle % s->turns) % s->turns;
}

/* When the registers that an instruction reads and writes are ready, and not before `earliest`. */
static inline ready_t registers_ready(const struct wavefront *w, const struct isa_insn *in,
                                      ready_t earliest)
{
    ready_t at = earliest;

    for (unsigned i = 0; i < in->nwait; i++)
        at = w->sb[in->wait[i]] > at ? w->sb[in->wait[i]] : at;
    return at;
}

/* Whether an instruction of a wavefront acts on what compute units share, or may end a work-group. */
static inline bool issue_is_shared(const struct sim_machine *m, const struct wavefront *w,
                                   const struct isa_insn *in)
{
    static const bool shared[ISA_NUM_FORMATS] = {
        [ISA_GSTORE] = true, [ISA_GATOMIC] = true, [ISA_FENCE] = true,
        [ISA_PRINT] = true,  [ISA_ASSERT] = true,  [ISA_END] = true,
    };

    return shared[in->format] || (in->format == ISA_GLOAD && !load_is_private(m, w->run, in));
}

#endif
