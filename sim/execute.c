/* What one step of a wavefront computes, without time; the same code serves the timed machine and
 * values-only mode. */
#include "isa/print.h"
#include "sim/device.h"

#include <inttypes.h>

static void count(struct sim_counters *c, const struct isa_insn *in, uint64_t lanes)
{
    c->lane_instr += lanes;
    c->class_instr[in->cls]++;
    if (in->flags & (ISA_F_FLOP32 | ISA_F_FLOP64)) {
        uint64_t flops = in->flags & ISA_F_FMA ? 2 * lanes : lanes;

        if (in->flags & ISA_F_FLOP32)
            c->flop32 += flops;
        else
            c->flop64 += flops;
    }
    c->mask_ops += in->format == ISA_MASK_OP;
}

void count_instruction(struct sim_machine *m, struct wavefront *w, const struct isa_insn *in,
                       uint64_t active)
{
    w->run->c.wave_instr++;
    m->device->instructions++;
    count(&w->run->c, in, bits_count(active));
}

/* No instruction of a run but its last changes a mask, so the lanes of all are known before. */
static void count_run(struct sim_machine *m, struct wavefront *w, const struct isa_insn *in,
                      uint32_t n)
{
    struct sim_counters *c = &w->run->c;
    uint64_t lanes = bits_count(w->regs.live & w->regs.tx & w->regs.exec);

    c->wave_instr += n;
    m->device->instructions += n;
    for (uint32_t i = 0; i < n; i++) {
        bool plain = !in[i].pred && !(in[i].flags & ISA_F_NOMASK);

        count(c, &in[i], plain ? lanes : bits_count(isa_active(&w->regs, &in[i])));
    }
}

uint32_t execute_run(struct sim_machine *m, struct wavefront *w)
{
    const struct isa_insn *in = w->next;
    uint32_t n = m->device->run_ahead && in->run > 1 ? in->run : 1;

    count_run(m, w, in, n);
    isa_exec(&w->regs, in, n, m->lanes);
    if (in[n - 1].d.kind == ISA_O_EXEC) {
        if (!m->device->cf->set_exec(w->cf, w->regs.exec))
            fault_raise(m, w, -1, "exec-written", "write the kernel in .form exec",
                        "EXEC is written, which divergence unit %s does not allow",
                        m->device->cf->name);
        w->regs.exec = m->device->cf->exec(w->cf);
    }
    return n;
}

/* After a control instruction: false if no lane goes on. */
static bool pick(struct sim_machine *m, struct wavefront *w)
{
    uint32_t pc;
    uint64_t lanes;

    if (!m->device->cf->pick(w->cf, &pc, &lanes))
        return false;
    w->next = &w->run->program->insns[pc];
    w->regs.exec = m->device->cf->exec(w->cf);
    return true;
}

uint32_t execute_branch(struct sim_machine *m, struct wavefront *w)
{
    const struct isa_insn *in = w->next;
    uint64_t active = isa_active(&w->regs, in);
    bool taken = isa_branch_taken(&w->regs, in);
    struct sim_counters *c = &w->run->c;
    struct cf_cost cost = {0};

    count_instruction(m, w, in, active);
    m->device->cf->step(w->cf, in, active, taken ? active : 0, &cost);
    c->branches++;
    c->branches_taken += taken;
    c->divergent_branches += cost.divergent;
    c->skipped_instr += cost.skipped;
    if (!pick(m, w)) {
        fault_raise(m, w, -1, "lanes-parked", NULL, "no lane of the wavefront can go on");
        return 0;
    }
    if (w->next <= in)
        progress_check(m, w);
    return cost.cycles;
}

bool execute_end(struct sim_machine *m, struct wavefront *w)
{
    const struct isa_insn *in = w->next;
    uint64_t active = isa_active(&w->regs, in);

    count_instruction(m, w, in, active);
    if (!active) {
        w->next++;
        return false;
    }
    w->regs.live &= ~active;
    m->device->cf->lanes(w->cf, in->pc, active, CF_ENDED);
    return !pick(m, w);
}

/* ---- print and assert ---- */

static uint64_t operand_bits(const struct wavefront *w, struct isa_operand o, uint64_t imm,
                             unsigned lane, unsigned width)
{
    const struct isa_wave *r = &w->regs;
    uint64_t low, high = 0;

    switch (o.kind) {
    case ISA_O_V:
        low = r->v[o.index * width + lane];
        if (o.words == 2)
            high = r->v[(o.index + 1u) * width + lane];
        break;
    case ISA_O_S:
        low = r->s[o.index];
        if (o.words == 2)
            high = r->s[o.index + 1];
        break;
    case ISA_O_M:
        return r->m[o.index] >> lane & 1;
    default:
        return imm;
    }
    return low | high << 32;
}

static void print_lane(struct sim_machine *m, const struct wavefront *w, unsigned lane)
{
    const struct isa_insn *in = w->next;
    struct text line = {0};

    text_add(&line, "%s group %" PRIu64 " item %u: ", w->run->kernel->name, w->group->index,
             w->regs.tid0 + lane);
    isa_print_value(w->run->program->strings[in->imm],
                    operand_bits(w, in->a, in->imm, lane, m->lanes->width), in->a.words == 2, &line);
    if (line.failed)
        machine_out_of_memory(m);
    else
        m->sink.print(m->sink.user, text_str(&line));
    text_free(&line);
}

void execute_print(struct sim_machine *m, struct wavefront *w)
{
    uint64_t active = isa_active(&w->regs, w->next);

    count_instruction(m, w, w->next, active);
    for (; m->sink.print && active; active &= active - 1)
        print_lane(m, w, bits_first(active));
}

void execute_assert(struct sim_machine *m, struct wavefront *w)
{
    const struct isa_insn *in = w->next;
    uint64_t active = isa_active(&w->regs, in);
    uint64_t failed = active & ~isa_read_mask(&w->regs, in, in->a);

    count_instruction(m, w, in, active);
    if (failed)
        fault_raise(m, w, (int)bits_first(failed), "assert-failed", NULL, "assertion failed: %s",
                    w->run->program->strings[in->imm]);
}
