/* Work-groups and their wavefronts: birth, barriers, death. */
#include "sim/transactions.h"

#include <stdlib.h>
#include <string.h>

bool wave_room(void **p, size_t *have, size_t want)
{
    if (*have >= want)
        return true;
    free(*p);
    *have = 0;
    *p = aligned_alloc(64, (want + 63) / 64 * 64);
    if (*p)
        *have = want;
    return *p != NULL;
}

static uint64_t group_items(const struct kernel_run *run)
{
    const uint32_t *b = run->launch->block;

    return (uint64_t)b[0] * b[1] * b[2];
}

/* Scalar registers of a new wavefront: parameters and special values; all else is zero. */
static void init_scalars(struct wavefront *w, const struct kernel_run *run, uint32_t wave,
                         unsigned width)
{
    const struct sim_launch *l = run->launch;
    const uint32_t *g = l->grid;
    uint64_t index = w->group->index;
    uint32_t *s = w->regs.s;

    memset(s, 0, sizeof w->regs.s);
    for (uint32_t i = 0; i < run->kernel->nparams; i++) {
        const struct isa_param *p = &run->kernel->params[i];

        s[p->sreg] = (uint32_t)l->args[i];
        if (p->is_array || isa_type_words((enum isa_type)p->type) == 2)
            s[p->sreg + 1] = (uint32_t)(l->args[i] >> 32);
    }
    s[ISA_SV_GROUP_X] = (uint32_t)(index % g[0]);
    s[ISA_SV_GROUP_Y] = (uint32_t)(index / g[0] % g[1]);
    s[ISA_SV_GROUP_Z] = (uint32_t)(index / g[0] / g[1]);
    for (unsigned i = 0; i < 3; i++) {
        s[ISA_SV_GROUPS_X + i] = g[i];
        s[ISA_SV_THREADS_X + i] = l->block[i];
    }
    s[ISA_SV_WAVE] = wave;
    s[ISA_SV_WAVES] = w->group->waves;
    s[ISA_SV_WIDTH] = width;
    s[ISA_SV_GROUP] = (uint32_t)index;
    s[ISA_SV_LOCAL_BYTES] = w->group->lds_bytes;
}

static bool init_registers(struct sim_machine *m, struct wavefront *w, const struct kernel_run *run,
                           uint32_t wave)
{
    unsigned width = m->lanes->width;
    uint32_t vregs = run->kernel->vregs ? run->kernel->vregs : 1;
    size_t vbytes = (size_t)vregs * width * sizeof(uint32_t);
    uint64_t first = (uint64_t)wave * width, items = group_items(run);
    uint64_t live = bits_low(items - first >= width ? width : (unsigned)(items - first));

    if (!wave_room((void **)&w->v, &w->v_room, vbytes) ||
        !wave_room(&w->cf, &w->cf_room, m->device->cf->size(run->program, width)))
        return false;
    memset(w->v, 0, vbytes);
    memset(w->regs.m, 0, sizeof w->regs.m);
    w->regs.v = w->v;
    w->regs.live = live;
    w->regs.tx = UINT64_MAX;
    w->regs.tid0 = (uint32_t)first;
    w->regs.spread_of = 0;
    memset(w->regs.spread, 0, sizeof w->regs.spread);
    init_scalars(w, run, wave, width);
    m->device->cf->start(w->cf, run->kernel->first, live);
    w->regs.exec = m->device->cf->exec(w->cf);
    return true;
}

/* A free slot of a SIMD unit. */
static struct wavefront *free_wave(struct sim_machine *m, struct cu *cu, uint32_t simd)
{
    struct simd *s = &cu->simds[simd];
    uint32_t slot = bits_first(~s->used);
    struct wavefront *w = cu->waves + simd * m->device->simd_slots + slot;

    w->cu = (uint16_t)cu->id;
    w->simd = (uint8_t)simd;
    w->slot = (uint8_t)slot;
    s->used |= UINT64_C(1) << slot;
    s->order[s->norder++] = (uint8_t)slot;
    return w;
}

static bool wave_start(struct sim_machine *m, struct cu *cu, uint32_t simd, struct workgroup *g,
                       uint32_t wave, uint64_t now)
{
    struct kernel_run *run = g->run;
    struct wavefront *w = free_wave(m, cu, simd);

    w->run = run;
    w->group = g;
    w->life++;
    w->ahead = 0;
    w->in_tx = false;
    w->issue = issue_tables[run->tm ? ISSUE_BESIDE_TX : ISSUE_PLAIN];
    w->loads = w->stores = 0;
    w->stored_ps = 0;
    w->progress = (struct progress){0};
    if (!init_registers(m, w, run, wave) || (run->tm && !tx_wave_start(m, w, wave)))
        return false;
    w->next = &run->program->insns[run->kernel->first];
    w->mark = now;
    run->c.waves++;
    if (m->mode == SIM_VALUES) {
        w->state = WAVE_TIMED;
        return true;
    }
    /* Of the vector registers the kernel has no more. */
    memset(w->sb + ISA_SB_V, 0, run->kernel->vregs * sizeof *w->sb);
    memset(w->sb + ISA_SB_S, 0, (ISA_SB_COUNT - ISA_SB_S) * sizeof *w->sb);
    if (m->probe.fn)
        probe_wave(m, w, HD_PROBE_WAVE_START, now);
    wave_go_on(m, w, READY(now, SIM_STALL_SCOREBOARD), now);
    return true;
}

static struct workgroup *free_group(struct sim_machine *m, struct cu *cu)
{
    for (uint32_t i = 0; i < m->config.group_slots; i++)
        if (!cu->groups[i].run)
            return &cu->groups[i];
    return NULL;
}

bool group_start(struct sim_machine *m, struct kernel_run *run, struct cu *cu, uint64_t index,
                 uint64_t now)
{
    struct workgroup *g = free_group(m, cu);
    uint32_t simd = room_simd(cu, run);

    room_take_group(cu, run);
    g->run = run;
    run->ran_on[cu->id / 64] |= UINT64_C(1) << cu->id % 64;
    g->index = index;
    g->waves = g->live = run->occupancy.waves_per_group;
    g->arrived = 0;
    g->lds_bytes = run->lds_bytes;
    if (!wave_room((void **)&g->lds, &g->lds_room, run->lds_bytes + 8))
        return false;
    memset(g->lds, 0, run->lds_bytes);
    if (run->tm && !tx_group_start(m, g))
        return false;
    run->c.groups++;
    for (uint32_t wave = 0; wave < g->waves; wave++) {
        if (!run->one_simd)
            simd = room_simd(cu, run);
        room_take_wave(cu, simd, g);
        if (!wave_start(m, cu, simd, g, wave, now))
            return false;
    }
    return true;
}

/* ---- barriers ---- */

static void release_barrier(struct sim_machine *m, struct workgroup *g, struct cu *cu, uint64_t now)
{
    uint32_t slots = m->config.simds * m->device->simd_slots;
    uint64_t earliest = now + m->config.lat_barrier;

    g->arrived = 0;
    for (uint32_t i = 0; i < slots; i++) {
        struct wavefront *w = &cu->waves[i];

        if (w->state != WAVE_BARRIER || w->group != g)
            continue;
        m->device->cf->lanes(w->cf, w->next->pc, w->regs.live, CF_RELEASED);
        (void)execute_pick(m, w);
        if (m->mode == SIM_VALUES) {
            w->state = WAVE_TIMED;
            continue;
        }
        wave_go_on(m, w, READY(earliest, SIM_STALL_BARRIER), now);
    }
}

void wave_arrive(struct sim_machine *m, struct wavefront *w, uint64_t now)
{
    struct workgroup *g = w->group;

    w->state = WAVE_BARRIER;
    if (++g->arrived == g->live)
        release_barrier(m, g, &m->device->cus[w->cu], now);
}

void wave_at_barrier(struct sim_machine *m, struct wavefront *w, uint64_t now)
{
    enum cf_next next;

    w->run->c.barriers++;
    m->device->cf->lanes(w->cf, w->next->pc, isa_active(&w->regs, w->next), CF_AT_BARRIER);
    next = execute_pick(m, w);
    if (next == CF_ALL_PARKED)
        wave_arrive(m, w, now);
    else if (next == CF_GO && m->mode == SIM_TIMED)
        wave_go_on(m, w, READY(now + 1, SIM_STALL_SCOREBOARD), now);
}

/* ---- death ---- */

void wave_tie(struct sim_machine *m, struct wavefront *w, enum wave_state state)
{
    w->state = (uint8_t)state;
    m->device->cus[w->cu].tied++;
}

void wave_untie(struct sim_machine *m, struct wavefront *w)
{
    m->device->cus[w->cu].tied--;
    w->state = WAVE_TIMED;
}

void wave_end(struct sim_machine *m, struct wavefront *w, uint64_t now)
{
    struct workgroup *g = w->group;

    if (w->run->tm)
        tx_wave_end(m, w, now);
    g->live--;
    /* A wavefront that has ended is not waited for, whether the others came to the barrier before or after. */
    if (g->live && g->arrived == g->live)
        release_barrier(m, g, &m->device->cus[w->cu], now);
    if (w->loads)
        wave_tie(m, w, WAVE_DRAIN);
    else
        wave_retire(m, w, now);
}

static void leave_simd(struct simd *s, const struct wavefront *w)
{
    uint64_t bit = UINT64_C(1) << w->slot;
    uint32_t i = 0;

    s->used &= ~bit;
    while (s->order[i] != w->slot)
        i++;
    s->norder--;
    memmove(s->order + i, s->order + i + 1, s->norder - i);
}

void wave_retire(struct sim_machine *m, struct wavefront *w, uint64_t now)
{
    struct cu *cu = &m->device->cus[w->cu];
    struct kernel_run *run = w->run;
    struct workgroup *g = w->group;

    if (m->mode == SIM_TIMED) {
        uint64_t before[SIM_NUM_STALLS];

        memcpy(before, run->c.stall_cycles, sizeof before);
        wave_book(w, now, SIM_STALL_MEMORY);
        if (m->probe.fn) {
            probe_stalls(m, w, before);
            probe_wave(m, w, HD_PROBE_WAVE_END, now);
        }
    }
    w->state = WAVE_FREE;
    leave_simd(&cu->simds[w->simd], w);
    if (--g->waves)
        return;
    room_give(cu, g);
    g->run = NULL;
    dispatch_group_done(m, run);
}
