/*
 * The issue stage: one SIMD unit's cycle. A unit is looked at only in cycles in which one of its
 * wavefronts may issue; which these are follows from the scoreboard, since the result of every
 * instruction but a global load has a known time.
 */
#include "sim/device.h"
#include "sim/l1.h"
#include "sim/ready.h"
#include "sim/transactions.h"
#include "sim/wave_scheduler.h"

#include <string.h>

void issue_units(const struct sim_config *c, uint8_t unit_of[ISA_NUM_CLASSES])
{
    static const uint8_t unit[ISA_NUM_CLASSES] = {
        [ISA_C_ALU] = FU_VALU,    [ISA_C_MUL] = FU_VALU,      [ISA_C_CVT] = FU_XU,
        [ISA_C_SFU] = FU_XU,      [ISA_C_F64] = FU_F64,       [ISA_C_SALU] = FU_SALU,
        [ISA_C_XLANE] = FU_XLANE, [ISA_C_BRANCH] = FU_BRANCH, [ISA_C_LDS] = FU_LDS,
        [ISA_C_MEM] = FU_LSU,     [ISA_C_SYNC] = FU_SYNC,
    };

    for (unsigned i = 0; i < ISA_NUM_CLASSES; i++) {
        bool vector = unit[i] == FU_XU || unit[i] == FU_F64 || unit[i] == FU_XLANE;

        unit_of[i] = c->one_vector_unit && vector ? FU_VALU : unit[i];
    }
}

/* ---- stall reasons ---- */

void wave_book(struct wavefront *w, uint64_t cycle, enum sim_stall reason)
{
    if (cycle <= w->mark)
        return;
    w->run->c.stall_cycles[reason] += cycle - w->mark;
    w->mark = cycle;
}

void issue_book_unit(const struct cu *cu, struct wavefront *w, uint64_t cycle)
{
    if (w->unit == FU_LSU)
        wave_book(w, cu->held_until < cycle ? cu->held_until : cycle, SIM_STALL_MSHR);
    wave_book(w, cycle, w->unit == FU_LDS ? SIM_STALL_LDS : SIM_STALL_ISSUE);
}

void issue_book_probed(struct sim_machine *m, const struct cu *cu, struct wavefront *w,
                       uint64_t cycle)
{
    uint64_t before[SIM_NUM_STALLS];

    memcpy(before, w->run->c.stall_cycles, sizeof before);
    issue_book_wait(cu, w, cycle);
    probe_stalls(m, w, before);
    probe_wave(m, w, HD_PROBE_ISSUE, cycle);
}

/* ---- when a wavefront can go on ---- */

/*
 * The unit is to be looked at in its first turn from `cycle` on, which is returned. A work-group may be
 * placed in a cycle in which the unit has issued, since an end made room there: then the next.
 */
static inline uint64_t simd_due(struct simd *s, uint64_t cycle)
{
    cycle = simd_turn(s, cycle < s->open ? s->open : cycle);
    if (cycle < s->due)
        s->due = cycle;
    if (cycle < s->cu->due)
        s->cu->due = cycle;
    return cycle;
}

void cu_wake(struct sim_machine *m, struct cu *cu, uint64_t now)
{
    for (uint32_t i = 0; i < m->config.simds; i++)
        if (cu->simds[i].used)
            simd_due(&cu->simds[i], now);
}

static inline void set_unit(struct simd *s, struct wavefront *w, enum function_unit unit)
{
    uint64_t bit = UINT64_C(1) << w->slot;

    if (w->unit == unit)
        return;
    s->of_unit[w->unit] &= ~bit;
    s->of_unit[unit] |= bit;
    w->unit = (uint8_t)unit;
}

/* Enters the wavefront into its SIMD unit; false if it has to wait for global memory first. */
static inline bool wave_enter(struct simd *s, struct wavefront *w, ready_t earliest)
{
    const struct isa_insn *in = w->next;
    ready_t at = registers_ready(w, in, earliest);

    if (at >= READY_PENDING) {
        w->state = WAVE_PENDING;
        w->ready = earliest;
        return false;
    }
    w->state = WAVE_TIMED;
    w->ready = at;
    set_unit(s, w, (enum function_unit)s->unit_of[in->cls]);
    simd_enter(s, w->slot, unit_from(s, w->unit, READY_CYCLE(at)));
    return true;
}

void wave_go_on(struct sim_machine *m, struct wavefront *w, ready_t earliest, uint64_t now)
{
    struct device *d = m->device;
    struct simd *s = &d->cus[w->cu].simds[w->simd];
    uint64_t at;

    /* The unit whose cycle this is looks for its next one itself, at the end. */
    if (!wave_enter(s, w, earliest) || s == d->stepping)
        return;
    at = READY_CYCLE(w->ready) < now ? now : READY_CYCLE(w->ready);
    cu_due(m, s->cu, simd_due(s, at));
}

/* ---- issue by kind of instruction; each leaves the wavefront with its next instruction scheduled ---- */

static inline void set_results(struct sim_machine *m, struct wavefront *w,
                               const struct isa_insn *in, uint64_t cycle)
{
    ready_t at = READY(cycle + m->device->latency[in->cls], SIM_STALL_SCOREBOARD);

    for (unsigned i = 0; i < in->nset; i++)
        w->sb[in->set[i]] = at;
}

static inline void go_on_next(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    wave_enter(m->device->stepping, w, READY(cycle + 1, SIM_STALL_SCOREBOARD));
}

static inline void issue_register(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    if (!w->ahead)
        w->ahead = (uint16_t)execute_run(m, w);
    if (m->fault.status != HD_OK)
        return;
    set_results(m, w, w->next, cycle);
    w->ahead--;
    w->next++;
    go_on_next(m, w, cycle);
}

static void issue_clock(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    const struct isa_insn *in = w->next;

    count_instruction(m, w, in, isa_active(&w->regs, in));
    /* What follows depends on time, so a loop that comes back to the same registers may yet end. */
    progress_effect(m->device);
    w->regs.s[in->d.index] = (uint32_t)cycle;
    w->regs.s[in->d.index + 1] = (uint32_t)(cycle >> 32);
    set_results(m, w, in, cycle);
    w->next++;
    go_on_next(m, w, cycle);
}

static void issue_global(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    const struct isa_insn *in = w->next;
    uint64_t active = isa_active(&w->regs, in);
    int lines;

    count_instruction(m, w, in, active);
    lines = global_access(m, w, active, true);
    if (lines < 0)
        return;
    if (lines > 0)
        lsu_issue(m, w, in, (uint32_t)lines, cycle);
    w->next++;
    go_on_next(m, w, cycle);
}

/* access: local_access() or what stands for it. */
static inline void issue_local_passes(struct sim_machine *m, struct wavefront *w, uint64_t cycle,
                                      int (*access)(struct sim_machine *, struct wavefront *,
                                                    uint64_t, uint64_t))
{
    const struct isa_insn *in = w->next;
    uint64_t active = isa_active(&w->regs, in);
    struct cu *cu = &m->device->cus[w->cu];
    int passes;

    count_instruction(m, w, in, active);
    passes = access(m, w, active, cycle);
    if (passes < 0)
        return;
    if (passes > 0) {
        ready_t at = READY(cycle + m->config.lds_latency + (uint64_t)passes - 1, SIM_STALL_LDS);

        cu->lds_free = cycle + (uint64_t)passes;
        for (unsigned i = 0; i < in->nset; i++)
            w->sb[in->set[i]] = at;
    }
    w->next++;
    go_on_next(m, w, cycle);
}

static int access_local(struct sim_machine *m, struct wavefront *w, uint64_t active, uint64_t cycle)
{
    (void)cycle;
    return local_access(m, w, active);
}

static void issue_local(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    issue_local_passes(m, w, cycle, access_local);
}

static void issue_branch(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    uint64_t after = cycle + m->device->latency[ISA_C_BRANCH];

    execute_branch(m, w);
    if (m->fault.status == HD_OK)
        wave_go_on(m, w, READY(after, SIM_STALL_SCOREBOARD), cycle);
}

static void issue_barrier(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    uint64_t active = isa_active(&w->regs, w->next);

    count_instruction(m, w, w->next, active);
    if (active) {
        wave_at_barrier(m, w, cycle);
        return;
    }
    w->next++;
    go_on_next(m, w, cycle);
}

static void issue_fence(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    count_instruction(m, w, w->next, isa_active(&w->regs, w->next));
    w->next++;
    w->ready = READY(cycle + 1, SIM_STALL_SCOREBOARD);
    if (m->device->l1_writes_back)
        l1_fence(m, w, cycle);
    if (w->stores || w->loads)
        wave_tie(m, w, WAVE_FENCE);
    else
        lsu_pass_fence(m, w, cycle);
}

static void issue_end(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    enum cf_next next = execute_end(m, w);

    if (next == CF_ALL_ENDED)
        wave_end(m, w, cycle);
    else if (next == CF_ALL_PARKED)
        wave_arrive(m, w, cycle);
    else if (next == CF_GO)
        go_on_next(m, w, cycle);
}

static void issue_print(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    execute_print(m, w);
    w->next++;
    go_on_next(m, w, cycle);
}

static void issue_assert(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    execute_assert(m, w);
    if (m->fault.status != HD_OK)
        return;
    w->next++;
    go_on_next(m, w, cycle);
}

static void issue_nop(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    count_instruction(m, w, w->next, isa_active(&w->regs, w->next));
    w->next++;
    go_on_next(m, w, cycle);
}

static void issue_local_beside(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    issue_local_passes(m, w, cycle, tx_plain);
}

/* Format, what it does, and what it does outside transactions in a kernel that has them. */
#define FORMATS(_)                                                                                 \
    _(ISA_VALU, issue_register, issue_register)                                                    \
    _(ISA_VSEL, issue_register, issue_register)                                                    \
    _(ISA_VCMP, issue_register, issue_register)                                                    \
    _(ISA_VGET, issue_register, issue_register)                                                    \
    _(ISA_SALU, issue_register, issue_register)                                                    \
    _(ISA_MASK_OP, issue_register, issue_register)                                                 \
    _(ISA_SAVE_EXEC, issue_register, issue_register)                                               \
    _(ISA_REDUCE, issue_register, issue_register)                                                  \
    _(ISA_XLANE, issue_register, issue_register)                                                   \
    _(ISA_READLANE, issue_register, issue_register)                                                \
    _(ISA_WRITELANE, issue_register, issue_register)                                               \
    _(ISA_CLOCK, issue_clock, issue_clock)                                                         \
    _(ISA_GLOAD, issue_global, issue_global)                                                       \
    _(ISA_GSTORE, issue_global, issue_global)                                                      \
    _(ISA_GATOMIC, issue_global, issue_global)                                                     \
    _(ISA_LLOAD, issue_local, issue_local_beside)                                                  \
    _(ISA_LSTORE, issue_local, issue_local_beside)                                                 \
    _(ISA_LATOMIC, issue_local, issue_local_beside)                                                \
    _(ISA_FENCE, issue_fence, issue_fence)                                                         \
    _(ISA_BARRIER, issue_barrier, issue_barrier)                                                   \
    _(ISA_JUMP, issue_branch, issue_branch)                                                        \
    _(ISA_BRANCH_S, issue_branch, issue_branch)                                                    \
    _(ISA_BRANCH_M, issue_branch, issue_branch)                                                    \
    _(ISA_GOTO, issue_branch, issue_branch)                                                        \
    _(ISA_GOTO_BACK, issue_branch, issue_branch)                                                   \
    _(ISA_JOIN, issue_branch, issue_branch)                                                        \
    _(ISA_PRINT, issue_print, issue_print)                                                         \
    _(ISA_ASSERT, issue_assert, issue_assert)                                                      \
    _(ISA_NOP, issue_nop, issue_nop)                                                               \
    _(ISA_END, issue_end, issue_end)                                                               \
    _(ISA_TXBEGIN, tx_issue, tx_issue)                                                             \
    _(ISA_TXCOMMIT, tx_issue, tx_issue)

#define PLAIN(format, plain, beside) [format] = plain,
#define BESIDE(format, plain, beside) [format] = beside,
#define INSIDE(format, plain, beside) [format] = tx_issue,

issue_fn *const issue_tables[NUM_ISSUE_TABLES][ISA_NUM_FORMATS] = {
    [ISSUE_PLAIN] = {FORMATS(PLAIN)},
    [ISSUE_BESIDE_TX] = {FORMATS(BESIDE)},
    [ISSUE_IN_TX] = {FORMATS(INSIDE)},
};

void issue_plain(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    issue_tables[ISSUE_PLAIN][w->next->format](m, w, cycle);
}

void issue_next(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    if (w->ahead)
        issue_register(m, w, cycle);
    else
        w->issue[w->next->format](m, w, cycle);
}

static inline void issue(struct sim_machine *m, struct simd *s, struct wavefront *w, uint64_t cycle)
{
    uint32_t busy = m->device->busy[w->next->cls];

    s->ready &= ~(UINT64_C(1) << w->slot);
    s->last = w->slot;
    s->open = cycle + 1;
    if (busy > 1) {
        s->busy |= 1u << w->unit;
        s->unit_free[w->unit] = cycle + busy;
    }
    issue_book(m, s->cu, w, cycle);
    issue_next(m, w, cycle);
}

bool simd_step(struct sim_machine *m, struct simd *s, bool ahead)
{
    struct device *d = m->device;
    uint64_t cycle = s->due, eligible;

    simd_advance(s, cycle);
    eligible = open_now(s, cycle);
    if (eligible) {
        struct wavefront *w = &s->waves[wave_pick(d->scheduler, s, eligible)];

        if (ahead && issue_is_shared(m, w, w->next))
            return false;
        d->stepping = s;
        issue(m, s, w, cycle);
        d->stepping = NULL;
    }
    s->due = next_issue(s);
    return true;
}
