/*
 * Which wavefronts of a SIMD unit are ready, and when the next ones will be: a wheel of cycles for
 * the near, a set for the far; and what an issue books. Part of sim/issue.c and sim/issue_wide.c.
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
        s->far_from = cycle < s->far_from ? cycle : s->far_from;
    }
}

/* The first cycle from `cycle` on at which a function unit of the SIMD unit's own may take an instruction. */
static inline uint64_t unit_from(const struct simd *s, unsigned unit, uint64_t cycle)
{
    return s->busy >> unit & 1 && s->unit_free[unit] > cycle ? s->unit_free[unit] : cycle;
}

static inline void enter_far(struct simd *s)
{
    uint64_t far = s->far;

    s->far = 0;
    s->far_from = CALENDAR_NEVER;
    for (; far; far &= far - 1) {
        uint32_t slot = bits_first(far);

        simd_enter(s, slot, READY_CYCLE(s->waves[slot].ready));
    }
}

/* The cycles of near, as bits counted from the one behind s->now. */
static inline uint64_t near_cycles(const struct simd *s)
{
    return bits_rotate_right(s->near_due, (unsigned)(s->now + 1) % SIMD_NEAR);
}

static inline void simd_advance(struct simd *s, uint64_t cycle)
{
    uint64_t from = s->now + 1, span = cycle - s->now;
    uint64_t due = near_cycles(s) & bits_low(span < SIMD_NEAR ? (unsigned)span : SIMD_NEAR);

    for (; due; due &= due - 1) {
        unsigned place = (unsigned)(from + bits_first(due)) % SIMD_NEAR;

        s->ready |= s->near[place];
        s->near[place] = 0;
        s->near_due &= ~(UINT64_C(1) << place);
    }
    s->now = cycle;
    if (s->far_from < cycle + SIMD_NEAR)
        enter_far(s);
}

/* When the load-store unit takes an instruction; CALENDAR_NEVER if that is not known. */
static inline uint64_t lsu_from(const struct cu *cu)
{
    return lsu_held(cu) ? CALENDAR_NEVER : cu->lsu_free;
}

/* Takes the slots of a unit that is not free at `cycle` out of *slots; *next is lowered to when it is. */
static inline void close_unit(const struct simd *s, unsigned unit, uint64_t from, uint64_t cycle,
                              uint64_t *slots, uint64_t *next)
{
    if (from <= cycle)
        return;
    *slots &= ~s->of_unit[unit];
    *next = from < *next ? from : *next;
}

/* The same for the units that a compute unit has. */
static inline void close_shared(const struct simd *s, uint64_t cycle, uint64_t *slots,
                                uint64_t *next)
{
    if (*slots & s->of_unit[FU_LDS])
        close_unit(s, FU_LDS, s->cu->lds_free, cycle, slots, next);
    if (*slots & s->of_unit[FU_LSU])
        close_unit(s, FU_LSU, lsu_from(s->cu), cycle, slots, next);
}

/*
 * Those of some slots whose function unit takes an instruction at `cycle`. *next is lowered to when a unit is
 * free that keeps one of the others waiting.
 */
static inline uint64_t open_slots(const struct simd *s, uint64_t slots, uint64_t cycle,
                                  uint64_t *next)
{
    for (uint32_t busy = s->busy; busy; busy &= busy - 1) {
        unsigned unit = bits_first(busy);

        if (slots & s->of_unit[unit])
            close_unit(s, unit, s->unit_free[unit], cycle, &slots, next);
    }
    close_shared(s, cycle, &slots, next);
    return slots;
}

/* The ready slots whose function unit takes an instruction at `cycle`. Forgets the units that are free again. */
static inline uint64_t open_now(struct simd *s, uint64_t cycle)
{
    uint64_t slots = s->ready, next = CALENDAR_NEVER;

    for (uint32_t busy = s->busy; busy; busy &= busy - 1) {
        unsigned unit = bits_first(busy);

        if (s->unit_free[unit] <= cycle)
            s->busy &= ~(busy & -busy);
        else
            slots &= ~s->of_unit[unit];
    }
    close_shared(s, cycle, &slots, &next);
    return slots;
}

/* The next cycle, from s->now + 1 on, at which the unit may issue; CALENDAR_NEVER if nothing is known of one. */
static inline uint64_t next_issue(const struct simd *s)
{
    uint64_t next = CALENDAR_NEVER, from = s->now + 1;

    if (s->ready && open_slots(s, s->ready, from, &next))
        return from;
    for (uint64_t due = near_cycles(s); due; due &= due - 1) {
        uint64_t cycle = from + bits_first(due);

        if (cycle >= next)
            break;
        if (open_slots(s, s->near[cycle % SIMD_NEAR], cycle, &next))
            return cycle;
    }
    return s->far_from < next ? s->far_from : next;
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

/* Books the cycles of a wavefront up to its issue at `cycle`, and that one. */
static inline void issue_book_wait(const struct cu *cu, struct wavefront *w, uint64_t cycle)
{
    uint64_t *stalls = w->run->c.stall_cycles, ready = READY_CYCLE(w->ready);

    if (ready > w->mark) {
        stalls[READY_REASON(w->ready)] += ready - w->mark;
        w->mark = ready;
    }
    if (cycle > w->mark)
        issue_book_unit(cu, w, cycle);
    stalls[SIM_STALL_ISSUED]++;
    w->mark = cycle + 1;
}

static inline void issue_book(struct sim_machine *m, const struct cu *cu, struct wavefront *w,
                              uint64_t cycle)
{
    if (m->probe.fn)
        issue_book_probed(m, cu, w, cycle);
    else
        issue_book_wait(cu, w, cycle);
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
