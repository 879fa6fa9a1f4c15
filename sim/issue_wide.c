/*
 * A SIMD unit's cycle with all that cu.issue_width, cu.dual_issue, cu.one_scalar_unit,
 * cu.skip_idle_passes and a scheduler that rotates ask for: simd_wide_step(). With dual issue alone
 * simd_pair_step() does the same faster, and without any simd_step() of sim/issue.c.
 */
#include "sim/ready.h"
#include "sim/transactions.h"
#include "sim/wave_scheduler.h"

enum { PICKS_MAX = 16 }; /* two of each of the most wavefronts */

/* What issues in a cycle, in order; each takes a function unit of its own. */
struct picks {
    struct {
        struct wavefront *wave;
        bool second; /* the instruction behind the one that it issues in this cycle */
    } at[PICKS_MAX];
    unsigned n;
    uint32_t units; /* that they take, a bit each */
    uint64_t slots; /* whose next instruction is for one of these */
};

static inline void pick_add(struct picks *p, const struct simd *s, struct wavefront *w,
                            unsigned unit, bool second)
{
    p->at[p->n].wave = w;
    p->at[p->n].second = second;
    p->n++;
    p->units |= 1u << unit;
    p->slots |= s->of_unit[unit];
}

static inline bool unit_open(const struct simd *s, unsigned unit, uint64_t cycle)
{
    const struct cu *cu = s->cu;

    if (unit == FU_LDS)
        return cu->lds_free <= cycle;
    if (unit == FU_LSU)
        return lsu_from(cu) <= cycle;
    return unit_from(s, unit, cycle) == cycle;
}

static inline bool depends(const struct isa_insn *in, const struct isa_insn *on)
{
    for (unsigned i = 0; i < on->nset; i++)
        for (unsigned k = 0; k < in->nwait; k++)
            if (in->wait[k] == on->set[i])
                return true;
    return false;
}

/* Whether an instruction may come to wait for a transaction, or be given up for one. */
static inline bool may_stay(const struct wavefront *w, const struct isa_insn *in)
{
    return w->issue != issue_tables[ISSUE_PLAIN] && (w->in_tx || in->cls == ISA_C_LDS);
}

/* Whether the instruction behind a wavefront's next one can issue together with it, where these
 * function units are taken. */
static inline bool pairs(const struct simd *s, uint32_t units, const struct wavefront *w,
                         uint64_t cycle)
{
    const struct isa_insn *first = w->next, *second = first + 1;
    unsigned unit;

    if (first->cls == ISA_C_BRANCH || first->cls == ISA_C_SYNC || may_stay(w, first))
        return false;
    unit = s->unit_of[second->cls];
    return !(units >> unit & 1) && unit_open(s, unit, cycle) && !depends(second, first) &&
           READY_CYCLE(registers_ready(w, second, 0)) <= cycle;
}

/* What issues at `cycle` follows from the state before it: no instruction makes another ready at once. */
static void pick_all(const struct sim_machine *m, struct simd *s, struct picks *p, uint64_t cycle)
{
    const struct wave_scheduler *scheduler = m->device->scheduler;
    uint64_t open = open_now(s, cycle);

    for (unsigned i = 0; i < m->config.issue_width; i++) {
        uint64_t eligible = open & ~p->slots;
        struct wavefront *w;

        if (!eligible)
            return;
        s->last = wave_pick(scheduler, s, eligible);
        w = &s->waves[s->last];
        pick_add(p, s, w, w->unit, false);
        if (m->config.dual_issue && pairs(s, p->units, w, cycle))
            pick_add(p, s, w, s->unit_of[w->next[1].cls], true);
    }
}

static bool any_shared(const struct sim_machine *m, const struct picks *p)
{
    for (unsigned i = 0; i < p->n; i++)
        if (issue_is_shared(m, p->at[i].wave, p->at[i].wave->next + p->at[i].second))
            return true;
    return false;
}

/* ---- passes with no active lane ---- */

/* The lanes of a run are those before it, and its last instruction may write a mask that they depend on. */
static void keep_mask(struct wavefront *w, const struct isa_insn *last)
{
    if (isa_writes_exec(last))
        w->run_mask = w->regs.exec;
    else if (last->d.kind == ISA_O_M)
        w->run_mask = w->regs.m[last->d.index];
}

/* The lanes that the next instruction acts on, or did if its values are computed. */
static uint64_t run_lanes(const struct wavefront *w)
{
    const struct isa_insn *in = w->next, *last;
    struct isa_wave before;

    if (!w->ahead)
        return isa_active(&w->regs, in);
    last = &in[w->ahead - 1];
    before.live = w->regs.live;
    before.tx = w->regs.tx;
    before.exec = isa_writes_exec(last) ? w->run_mask : w->regs.exec;
    if (in->pred)
        before.m[in->pred - 1] = last->d.kind == ISA_O_M && last->d.index == in->pred - 1
                                     ? w->run_mask
                                     : w->regs.m[in->pred - 1];
    return isa_active(&before, in);
}

/* Cycles that a vector instruction takes its unit, without the passes that are left out. */
static uint32_t busy_passes(const struct device *d, const struct wavefront *w)
{
    enum isa_class cls = (enum isa_class)w->next->cls;
    uint32_t lanes = d->pass_lanes[cls], passes = 0;

    if (lanes < ISA_MAX_WIDTH)
        for (uint64_t active = run_lanes(w); active; active >>= lanes)
            passes += (active & bits_low(lanes)) != 0;
    return (passes ? passes : 1) * d->pass_cycles[cls];
}

static inline void take_unit(struct sim_machine *m, struct simd *s, struct wavefront *w,
                             uint64_t cycle)
{
    uint32_t busy = m->device->busy[w->next->cls];

    if (m->config.skip_idle_passes && !w->ahead && w->next->run)
        keep_mask(w, &w->next[w->next->run - 1]);
    if (busy == 1)
        return;
    if (m->config.skip_idle_passes)
        busy = busy_passes(m->device, w);
    s->busy |= 1u << w->unit;
    s->unit_free[w->unit] = cycle + busy;
}

static inline void issue_first(struct sim_machine *m, struct simd *s, struct wavefront *w,
                               uint64_t cycle)
{
    s->ready &= ~(UINT64_C(1) << w->slot);
    s->last = w->slot;
    s->open = cycle + 1;
    take_unit(m, s, w, cycle);
    issue_book(m, s->cu, w, cycle);
    issue_next(m, w, cycle);
}

/* A wavefront's second instruction: it could have issued in the next cycle, and the cycle is booked. */
static void issue_second(struct sim_machine *m, struct simd *s, struct wavefront *w, uint64_t cycle)
{
    s->near[(cycle + 1) % SIMD_NEAR] &= ~(UINT64_C(1) << w->slot);
    take_unit(m, s, w, cycle);
    if (m->probe.fn)
        probe_wave(m, w, HD_PROBE_ISSUE, cycle);
    issue_next(m, w, cycle);
}

bool simd_pair_step(struct sim_machine *m, struct simd *s, bool ahead)
{
    struct device *d = m->device;
    uint64_t cycle = s->due, eligible;

    simd_advance(s, cycle);
    eligible = open_now(s, cycle);
    if (eligible) {
        struct wavefront *w = &s->waves[wave_pick(d->scheduler, s, eligible)];
        bool second = pairs(s, 1u << w->unit, w, cycle);

        if (ahead &&
            (issue_is_shared(m, w, w->next) || (second && issue_is_shared(m, w, w->next + 1))))
            return false;
        d->stepping = s;
        issue_first(m, s, w, cycle);
        if (second && m->fault.status == HD_OK)
            issue_second(m, s, w, cycle);
        d->stepping = NULL;
    }
    s->due = next_issue(s);
    return true;
}

/* The other SIMD units of the compute unit find the scalar or the branch unit taken. */
static void share_units(const struct sim_machine *m, struct cu *cu, uint32_t units, uint64_t cycle)
{
    for (units &= 1u << FU_SALU | 1u << FU_BRANCH; units; units &= units - 1) {
        for (uint32_t i = 0; i < m->config.simds; i++) {
            cu->simds[i].busy |= units & -units;
            cu->simds[i].unit_free[bits_first(units)] = cycle + 1;
        }
    }
}

bool simd_wide_step(struct sim_machine *m, struct simd *s, bool ahead)
{
    uint64_t cycle = s->due;
    uint32_t last = s->last;
    struct picks p;

    simd_advance(s, cycle);
    p.n = p.units = 0;
    p.slots = 0;
    pick_all(m, s, &p, cycle);
    if (ahead && any_shared(m, &p)) {
        s->last = last;
        return false;
    }
    m->device->stepping = s;
    for (unsigned i = 0; i < p.n && m->fault.status == HD_OK; i++) {
        if (p.at[i].second)
            issue_second(m, s, p.at[i].wave, cycle);
        else
            issue_first(m, s, p.at[i].wave, cycle);
    }
    m->device->stepping = NULL;
    if (p.n && m->device->scheduler->keeps_first)
        s->last = p.at[0].wave->slot;
    if (m->config.one_scalar_unit)
        share_units(m, s->cu, p.units, cycle);
    s->due = simd_turn(s, next_issue(s));
    return true;
}
