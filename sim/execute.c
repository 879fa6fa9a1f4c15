/* What one step of a wavefront computes, without time; the same code serves the timed machine and
 * values-only mode. */
#include "isa/format.h"
#include "isa/print.h"
#include "sim/device.h"

#include <inttypes.h>

/* What instructions of one kind or another add up to. */
struct tally {
    uint64_t lanes, flop32, flop64, mask_ops;
};

static inline void tally(struct tally *t, const struct isa_insn *in, uint64_t lanes)
{
    t->lanes += lanes;
    if (in->flags & (ISA_F_FLOP32 | ISA_F_FLOP64)) {
        uint64_t flops = in->flags & ISA_F_FMA ? 2 * lanes : lanes;

        t->flop32 += in->flags & ISA_F_FLOP32 ? flops : 0;
        t->flop64 += in->flags & ISA_F_FLOP64 ? flops : 0;
    }
    t->mask_ops += in->format == ISA_MASK_OP || in->format == ISA_SAVE_EXEC;
}

static inline void count(struct sim_counters *c, const struct tally *t)
{
    c->lane_instr += t->lanes;
    c->flop32 += t->flop32;
    c->flop64 += t->flop64;
    c->mask_ops += t->mask_ops;
}

void count_instruction(struct sim_machine *m, struct wavefront *w, const struct isa_insn *in,
                       uint64_t active)
{
    struct sim_counters *c = &w->run->c;
    struct tally t = {0};

    c->wave_instr++;
    m->device->instructions++;
    c->class_instr[in->cls]++;
    tally(&t, in, bits_count(active));
    count(c, &t);
}

/* No instruction of a run but its last changes a mask, so the lanes of all are known before. */
static void count_run(struct sim_machine *m, struct wavefront *w, const struct isa_insn *in,
                      uint32_t n)
{
    struct sim_counters *c = &w->run->c;
    uint64_t lanes = bits_count(w->regs.live & w->regs.tx & w->regs.exec);
    struct tally t = {0};

    c->wave_instr += n;
    m->device->instructions += n;
    for (const struct isa_insn *end = in + n; in < end; in++) {
        bool plain = !in->pred && !(in->flags & ISA_F_NOMASK);

        c->class_instr[in->cls]++;
        tally(&t, in, plain ? lanes : bits_count(isa_active(&w->regs, in)));
    }
    count(c, &t);
}

uint32_t execute_run(struct sim_machine *m, struct wavefront *w)
{
    const struct isa_insn *in = w->next;
    uint32_t n = m->device->run_ahead && in->run > 1 ? in->run : 1;

    count_run(m, w, in, n);
    isa_exec(&w->regs, in, n, m->lanes);
    if (isa_writes_exec(&in[n - 1])) {
        if (!m->device->cf->set_exec(w->cf, w->regs.exec))
            fault_raise(m, w, -1, "exec-written", "write the kernel in .form exec",
                        "EXEC is written, which divergence unit %s does not allow",
                        m->device->cf->name);
        w->regs.exec = m->device->cf->exec(w->cf);
    }
    return n;
}

/* ---- control flow ---- */

static const struct cf_unit_ops *unit_of(const struct sim_machine *m)
{
    return m->device->cf;
}

enum cf_next execute_pick(struct sim_machine *m, struct wavefront *w)
{
    char waits[400];
    uint32_t pc;
    uint64_t lanes;
    enum cf_next next = unit_of(m)->pick(w->cf, &pc, &lanes);

    if (next == CF_GO) {
        w->next = &w->run->program->insns[pc];
        w->regs.exec = unit_of(m)->exec(w->cf);
    } else if (next == CF_DEADLOCK) {
        cf_describe_waits(unit_of(m), w->cf, w->run->program, waits, sizeof waits);
        fault_raise(m, w, -1, "barrier-deadlock",
                    "with this divergence.unit a barrier waits for each live lane; move it out of "
                    "the divergent region",
                    "no lane of the wavefront can go on: %s", waits);
    }
    return next;
}

/* Sleeping lanes that can be woken no more, or a loop that no lane runs. */
static void raise_trouble(struct sim_machine *m, const struct wavefront *w, const char *code,
                          const char *hint, const char *what, const struct cf_wait *who)
{
    char join[160] = "none", from[160] = "none";

    if (!who->lanes) {
        fault_raise(m, w, -1, code, hint, "%s", what);
        return;
    }
    isa_place(w->run->program, who->at, join, sizeof join);
    isa_place(w->run->program, who->from, from, sizeof from);
    fault_raise(m, w, (int)bits_first(who->lanes), code, hint,
                "%s; lanes 0x%" PRIx64 " sleep until the join at %s since the goto at %s", what,
                who->lanes, join, from);
}

static void check_cost(struct sim_machine *m, const struct wavefront *w, const struct cf_cost *cost)
{
    if (cost->trouble == CF_MISSED_JOIN)
        raise_trouble(
            m, w, "missed-join",
            "let a JIP name the next join at which lanes may sleep, and leave a divergent "
            "region by a goto, not by a scalar branch",
            "control goes past a join at which lanes sleep", &cost->who);
    else if (cost->trouble == CF_EMPTY_LOOP)
        raise_trouble(
            m, w, "empty-loop",
            "let the last goto or join before the branch lead to the join behind the loop",
            "a backward branch is taken with no lane awake", &cost->who);
}

/* Lanes that are active as far as a control instruction is concerned: its predicate chooses among them. */
static uint64_t awake(const struct wavefront *w)
{
    return w->regs.live & w->regs.tx & w->regs.exec;
}

/* A goto, a backward one, or a join. Returns the lanes that take it. */
static uint64_t count_goto(struct sim_machine *m, struct wavefront *w, const struct isa_insn *in)
{
    struct sim_counters *c = &w->run->c;

    count_instruction(m, w, in, awake(w));
    c->gotos += in->format != ISA_JOIN;
    c->joins += in->format == ISA_JOIN;
    return in->format == ISA_JOIN ? 0 : isa_active(&w->regs, in);
}

/* A branch: all ones if it holds, else 0. */
static uint64_t count_branch(struct sim_machine *m, struct wavefront *w, const struct isa_insn *in)
{
    bool taken = isa_branch_taken(&w->regs, in);

    count_instruction(m, w, in, isa_active(&w->regs, in));
    w->run->c.branches++;
    return taken ? UINT64_MAX : 0;
}

void execute_branch(struct sim_machine *m, struct wavefront *w)
{
    const struct isa_insn *in = w->next;
    struct sim_counters *c = &w->run->c;
    bool moves_lanes = isa_formats[in->format].extra & ISA_X_JIP;
    uint64_t active = awake(w), taken = moves_lanes ? count_goto(m, w, in) : count_branch(m, w, in);
    struct cf_cost cost;

    unit_of(m)->step(w->cf, w->run->plan, in, active, taken, &cost);
    c->branches_taken += !moves_lanes && taken && !cost.ignored;
    c->divergent_branches += cost.divergent;
    c->skipped_instr += cost.skipped;
    c->hops += cost.hop;
    if (cost.trouble)
        check_cost(m, w, &cost);
    if (m->fault.status != HD_OK || execute_pick(m, w) != CF_GO)
        return;
    if (w->next <= in || (in->format != ISA_JOIN && in->target <= in->pc))
        progress_check(m, w);
}

/* An end without a predicate leaves no lane that could still wake others, or write EXEC. */
static void check_left(struct sim_machine *m, const struct wavefront *w, const struct isa_insn *in)
{
    struct cf_wait sets[CF_MAX_WAITS];

    if (awake(w))
        return;
    if (unit_of(m)->waits(w->cf, sets))
        raise_trouble(m, w, "asleep-at-end",
                      "let every path lead through the joins, or give s_end a predicate",
                      "the wavefront comes to its end", &sets[0]);
    else if (in->pc + 1 == w->run->kernel->end)
        fault_raise(
            m, w, (int)bits_first(w->regs.live), "off-at-end", "restore EXEC before the last s_end",
            "the kernel is over for the lanes of EXEC alone, and lanes 0x%" PRIx64 " are off in it",
            w->regs.live);
}

enum cf_next execute_end(struct sim_machine *m, struct wavefront *w)
{
    const struct isa_insn *in = w->next;
    uint64_t active = isa_active(&w->regs, in);
    enum cf_next next = CF_GO;

    count_instruction(m, w, in, active);
    if (active) {
        w->regs.live &= ~active;
        unit_of(m)->lanes(w->cf, in->pc, active, CF_ENDED);
        next = execute_pick(m, w);
    }
    if (next == CF_GO) {
        const struct isa_insn *on = active ? w->next : in + 1;

        w->next = in;
        if (!in->pred)
            check_left(m, w, in);
        w->next = on;
    }
    return m->fault.status == HD_OK ? next : CF_DEADLOCK;
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
