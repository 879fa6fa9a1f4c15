/*
 * Values-only mode: the resident work-groups are those of the timed machine, and their wavefronts
 * take turns. A turn is a straight-line stretch and the instruction that ends it.
 */
#include "sim/transactions.h"

static void step_register(struct sim_machine *m, struct wavefront *w)
{
    w->next += execute_run(m, w);
}

static void step_clock(struct sim_machine *m, struct wavefront *w)
{
    const struct isa_insn *in = w->next++;

    count_instruction(m, w, in, isa_active(&w->regs, in));
    w->regs.s[in->d.index] = w->regs.s[in->d.index + 1] = 0;
}

static void step_global(struct sim_machine *m, struct wavefront *w)
{
    uint64_t active = isa_active(&w->regs, w->next);

    count_instruction(m, w, w->next, active);
    if (global_access(m, w, active, false) >= 0)
        w->next++;
}

static void step_local(struct sim_machine *m, struct wavefront *w)
{
    uint64_t active = isa_active(&w->regs, w->next);

    count_instruction(m, w, w->next, active);
    if ((w->run->tm ? tx_plain(m, w, active, 0) : local_access(m, w, active)) >= 0)
        w->next++;
}

static void step_branch(struct sim_machine *m, struct wavefront *w)
{
    execute_branch(m, w);
}

static void step_barrier(struct sim_machine *m, struct wavefront *w)
{
    uint64_t active = isa_active(&w->regs, w->next);

    count_instruction(m, w, w->next, active);
    if (active)
        wave_at_barrier(m, w, 0);
    else
        w->next++;
}

static void step_end(struct sim_machine *m, struct wavefront *w)
{
    enum cf_next next = execute_end(m, w);

    if (next == CF_ALL_ENDED)
        wave_end(m, w, 0);
    else if (next == CF_ALL_PARKED)
        wave_arrive(m, w, 0);
}

static void step_print(struct sim_machine *m, struct wavefront *w)
{
    execute_print(m, w);
    w->next++;
}

static void step_assert(struct sim_machine *m, struct wavefront *w)
{
    execute_assert(m, w);
    w->next += m->fault.status == HD_OK;
}

static void step_nothing(struct sim_machine *m, struct wavefront *w)
{
    count_instruction(m, w, w->next, isa_active(&w->regs, w->next));
    w->next++;
}

typedef void step_fn(struct sim_machine *m, struct wavefront *w);

static step_fn *const step_by_format[ISA_NUM_FORMATS] = {
    [ISA_VALU] = step_register,      [ISA_VSEL] = step_register,      [ISA_VCMP] = step_register,
    [ISA_VGET] = step_register,      [ISA_SALU] = step_register,      [ISA_MASK_OP] = step_register,
    [ISA_SAVE_EXEC] = step_register, [ISA_REDUCE] = step_register,    [ISA_XLANE] = step_register,
    [ISA_READLANE] = step_register,  [ISA_WRITELANE] = step_register, [ISA_CLOCK] = step_clock,
    [ISA_GLOAD] = step_global,       [ISA_GSTORE] = step_global,      [ISA_GATOMIC] = step_global,
    [ISA_LLOAD] = step_local,        [ISA_LSTORE] = step_local,       [ISA_LATOMIC] = step_local,
    [ISA_FENCE] = step_nothing,      [ISA_BARRIER] = step_barrier,    [ISA_JUMP] = step_branch,
    [ISA_BRANCH_S] = step_branch,    [ISA_BRANCH_M] = step_branch,    [ISA_GOTO] = step_branch,
    [ISA_GOTO_BACK] = step_branch,   [ISA_JOIN] = step_branch,        [ISA_PRINT] = step_print,
    [ISA_ASSERT] = step_assert,      [ISA_NOP] = step_nothing,        [ISA_END] = step_end,
    [ISA_TXBEGIN] = tx_step,         [ISA_TXCOMMIT] = tx_step,
};

void values_step_plain(struct sim_machine *m, struct wavefront *w)
{
    step_by_format[w->next->format](m, w);
}

static void turn(struct sim_machine *m, struct wavefront *w)
{
    step_fn *step;

    do {
        step = w->in_tx ? tx_step : step_by_format[w->next->format];
        step(m, w);
    } while (step == step_register && m->fault.status == HD_OK);
}

/* One turn for each wavefront of a compute unit that can go on. */
static void turn_cu(struct sim_machine *m, struct cu *cu)
{
    for (uint32_t i = 0; i < m->config.simds; i++) {
        struct wavefront *waves = cu->waves + i * m->device->simd_slots;

        for (uint64_t rest = cu->simds[i].used; rest; rest &= rest - 1) {
            struct wavefront *w = &waves[bits_first(rest)];

            if (w->state == WAVE_TIMED)
                turn(m, w);
            if (m->fault.status != HD_OK)
                return;
        }
    }
}

static bool any_resident(const struct device *d)
{
    for (uint32_t i = 0; i < d->nruns; i++)
        if (d->runs[i].used)
            return true;
    return false;
}

void values_run(struct sim_machine *m)
{
    struct device *d = m->device;

    while (any_resident(d) && !machine_stopped(m)) {
        while (dispatch_place(m, 0))
            continue;
        for (uint32_t i = 0; i < m->config.compute_units && m->fault.status == HD_OK; i++)
            if (d->cus[i].free_waves < m->config.wave_slots)
                turn_cu(m, &d->cus[i]);
        dispatch_finish_values(m);
    }
}
