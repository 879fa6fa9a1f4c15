/*
 * Loops that can never end. While memory does not change, a wavefront's next step follows from its
 * registers, and its divergence unit's state; one that comes back to the same at the same pc will do so for ever. When
 * that holds for every wavefront that does not wait for another at a barrier, nothing can change any
 * more. The states are compared by hash, and kept at growing distances (Brent's cycle finding). That
 * is costly, so it is done only when there was no change for a while, in windows that become rare.
 */
#include "sim/device.h"

#include <inttypes.h>

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

/* Where the lanes are that do not run. */
static uint64_t hash_control(const struct sim_machine *m, const struct wavefront *w, uint64_t h)
{
    const uint64_t *words = w->cf;
    size_t n = m->device->cf->used(w->cf) / sizeof *words;

    for (size_t i = 0; i < n; i++)
        h = mix(h, words[i]);
    return h;
}

static uint64_t hash_state(const struct sim_machine *m, const struct wavefront *w)
{
    const struct isa_wave *r = &w->regs;
    size_t words = (size_t)w->run->kernel->vregs * m->lanes->width;
    uint64_t h = mix(mix(r->live, r->exec), r->tx);

    for (size_t i = 0; i < words; i++)
        h = mix(h, r->v[i]);
    for (size_t i = 0; i < ISA_SCALAR_FILE; i++)
        h = mix(h, r->s[i]);
    for (size_t i = 0; i <= ISA_MASKS; i++)
        h = mix(h, r->m[i]);
    return hash_control(m, w, h);
}

static void keep_state(const struct device *d, struct wavefront *w, uint64_t state)
{
    struct progress *p = &w->progress;

    p->limit = p->effects == d->effects ? p->limit * 2 + 1 : 0;
    p->steps = 0;
    p->state = state;
    p->pc = w->next->pc;
    p->effects = d->effects;
    p->looping = false;
}

/*
 * A policy that prefers the oldest wavefronts may never come to one that is ready. One that takes turns comes to each
 * sooner than this: 64 slots, and 64 * 64 cycles for the slowest instruction of each.
 */
enum { STARVED_CYCLES = 1 << 19 };

static bool is_starved(const struct sim_machine *m, const struct wavefront *w)
{
    return m->mode != SIM_VALUES && w->state == WAVE_TIMED &&
           READY_CYCLE(w->ready) + STARVED_CYCLES < m->device->calendar.now;
}

static bool can_change_nothing(const struct sim_machine *m, const struct wavefront *w)
{
    return w->state == WAVE_FREE || w->state == WAVE_BARRIER || w->state == WAVE_TX ||
           (w->progress.looping && w->progress.effects == m->device->effects) || is_starved(m, w);
}

static bool all_loop(const struct sim_machine *m)
{
    const struct device *d = m->device;
    uint32_t slots = m->config.simds * d->simd_slots;

    for (uint32_t i = 0; i < m->config.compute_units; i++)
        for (uint32_t k = 0; k < slots; k++)
            if (!can_change_nothing(m, &d->cus[i].waves[k]))
                return false;
    return true;
}

static const struct wavefront *first_starved(const struct sim_machine *m)
{
    const struct device *d = m->device;
    uint32_t slots = m->config.simds * d->simd_slots;

    for (uint32_t i = 0; i < m->config.compute_units; i++)
        for (uint32_t k = 0; k < slots; k++)
            if (is_starved(m, &d->cus[i].waves[k]))
                return &d->cus[i].waves[k];
    return NULL;
}

/*
 * With T = sim.progress_instructions, when T, 2T, 4T, 8T, ... instructions have passed since the
 * last change, for T / 16 instructions each.
 */
static bool in_window(const struct sim_machine *m)
{
    uint64_t after = m->config.progress_instructions;
    uint64_t quiet = m->device->instructions - m->device->effect_instructions;

    return after && quiet >= after && quiet % after <= after / 16 &&
           bits_is_power_of_two(quiet / after);
}

/* Neither the host nor a command that is still to start can change memory: the one waits, and the other would have an event. */
static bool none_to_come(const struct sim_machine *m)
{
    return m->mode == SIM_VALUES || (m->waiting && event_next_time(m->events) == SIM_NEVER);
}

static void fail_starved(struct sim_machine *m, const struct wavefront *w,
                         const struct wavefront *starved, const char *waits)
{
    fault_raise(m, w, -1, "no-progress", "cu.scheduler lrr issues wavefronts in turn",
                "no forward progress: the wavefront repeats the same state with lanes 0x%" PRIx64
                ", and others like it are always issued ahead of one that is ready, at pc %" PRIu32
                " on compute unit %u%s%s",
                w->regs.live & w->regs.exec, starved->next->pc, starved->cu, *waits ? "; " : "",
                waits);
}

static void fail(struct sim_machine *m, const struct wavefront *w)
{
    const struct wavefront *starved = first_starved(m);
    char waits[400];

    cf_describe_waits(m->device->cf, w->cf, w->run->program, waits, sizeof waits);
    if (starved) {
        fail_starved(m, w, starved, waits);
        return;
    }
    fault_raise(m, w, -1, "no-progress",
                "a lane may wait for another of its wavefront; let the holder of a lock release it "
                "before lanes meet again",
                "no forward progress: the wavefront repeats the same state with lanes 0x%" PRIx64
                " and no other can change memory%s%s",
                w->regs.live & w->regs.exec, *waits ? "; " : "", waits);
}

void progress_check(struct sim_machine *m, struct wavefront *w)
{
    const struct device *d = m->device;
    struct progress *p = &w->progress;
    uint64_t state;

    if (!in_window(m))
        return;
    state = hash_state(m, w);
    if (p->effects != d->effects || p->state != state || p->pc != w->next->pc) {
        if (p->effects != d->effects || p->steps++ >= p->limit)
            keep_state(d, w, state);
        return;
    }
    p->looping = true;
    if (none_to_come(m) && all_loop(m))
        fail(m, w);
}
