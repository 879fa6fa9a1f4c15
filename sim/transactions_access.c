/* Local memory in kernels with transactions: accesses inside of them and outside, and the time that the banks take. */
#include "sim/transactions.h"

#include "sim/lanes_io.h"
#include "sim/local.h"

/* What tm/ is told of an access, and what it answers. */
struct exchange {
    struct tm_ref ref;
    uint32_t address[ISA_MAX_WIDTH];
    uint64_t value[ISA_MAX_WIDTH], comparand[ISA_MAX_WIDTH], out[ISA_MAX_WIDTH];
};

static enum tm_kind kind_of(const struct isa_insn *in)
{
    if (in->format == ISA_LLOAD)
        return TM_LOAD;
    return in->format == ISA_LSTORE ? TM_STORE : TM_ATOMIC;
}

static void take_addresses(struct exchange *e, const struct local *x)
{
    e->ref.kind = kind_of(x->in);
    e->ref.bytes = x->bytes;
    e->ref.address = e->address;
    for (uint64_t rest = x->active; rest; rest &= rest - 1)
        e->address[bits_first(rest)] = (uint32_t)local_address(x, bits_first(rest));
}

static void take_operands(struct exchange *e, const struct isa_wave *r, const struct local *x)
{
    const struct isa_insn *in = x->in;
    bool compares = in->c.kind == ISA_O_V;

    e->ref.value = e->value;
    e->ref.comparand = x->atomic && compares ? e->comparand : NULL;
    e->ref.op = in->op;
    e->ref.apply = isa_atomic;
    for (uint64_t rest = in->format == ISA_LLOAD ? 0 : x->active; rest; rest &= rest - 1) {
        unsigned lane = bits_first(rest);

        e->value[lane] = lane_read(r, in->a, x->width, lane);
        if (e->ref.comparand)
            e->comparand[lane] = lane_read(r, in->c, x->width, lane);
    }
}

/* Lanes that lost get nothing. */
static void deliver(struct isa_wave *r, const struct local *x, const struct exchange *e,
                    uint64_t done)
{
    enum isa_type type = (enum isa_type)x->in->dtype;

    if (x->in->format == ISA_LSTORE || (x->atomic && !(x->in->flags & ISA_F_RETURN)))
        return;
    for (; done; done &= done - 1) {
        unsigned lane = bits_first(done);

        lane_write(r, x->in->d, x->width, lane, memory_read((const uint8_t *)&e->out[lane], type));
    }
}

/* ---- counters ---- */

static void count_conflicts(struct sim_machine *m, struct wavefront *w, const struct tm_out *out,
                            uint64_t cycle)
{
    struct sim_counters *c = &w->run->c;
    unsigned all = bits_count(out->conflicts), reads = bits_count(out->read_read),
             none = bits_count(out->false_conflicts);

    c->tx_aborts += all;
    c->tx_false_conflicts += none;
    c->tx_read_read_conflicts += reads;
    c->tx_true_conflicts += all - none - reads;
    probe_tx(m, w, HD_PROBE_TX_CONFLICT, out->conflicts, cycle);
}

static void count_access(struct sim_machine *m, struct wavefront *w, const struct local *x,
                         const struct tm_out *out, uint64_t cycle)
{
    struct sim_counters *c = &w->run->c;
    unsigned lanes = m->config.lds_lanes_per_pass / (x->bytes > 4 ? 2 : 1);
    unsigned least = (unsigned)bits_ceil_div(bits_count(x->active), lanes ? lanes : 1);
    struct local_passes p = {(uint16_t)out->passes,
                             (uint16_t)(least < out->passes ? least : out->passes)};

    c->local_accesses++;
    c->tx_accesses++;
    c->local_passes += p.passes;
    c->local_conflict_passes += p.passes - p.least;
    if (m->probe.fn && m->mode == SIM_TIMED)
        local_tell_probe(m, w, x, p);
    if (out->conflicts)
        count_conflicts(m, w, out, cycle);
}

/* ---- time ---- */

uint64_t tx_passes(struct sim_machine *m, struct wavefront *w, const struct tm_out *out,
                   uint64_t cycle)
{
    struct cu *cu = &m->device->cus[w->cu];
    uint64_t cycles = 0;

    if (m->mode == SIM_VALUES)
        return cycle;
    for (unsigned i = 0; i < out->passes; i++)
        cycles += out->pass[i].cycles;
    if (!cycles)
        return cycle;
    cu->lds_free = (cu->lds_free > cycle ? cu->lds_free : cycle) + cycles;
    return cu->lds_free;
}

/* The unit is free when the banks of the last pass are; what that brings comes later. */
static void take_unit(struct sim_machine *m, struct wavefront *w, const struct tm_out *out,
                      uint64_t cycle)
{
    uint64_t done = cycle + out->cycles;
    ready_t at = READY(done, SIM_STALL_LDS);

    m->device->cus[w->cu].lds_free = done - m->config.lds_latency;
    w->sb[ISA_SB_TX] = at;
    for (unsigned i = 0; i < w->next->nset; i++)
        w->sb[w->next->set[i]] = at;
}

/* ---- inside ---- */

static void go_on_behind(struct sim_machine *m, struct wavefront *w, const struct tm_out *out,
                         uint64_t cycle)
{
    if (out->what == TM_SKIP)
        tx_skip(m, w);
    else
        w->next++;
    tx_go_on(m, w, cycle + 1);
}

static void do_access(struct sim_machine *m, struct wavefront *w, const struct local *x,
                      uint64_t cycle)
{
    struct workgroup *g = w->group;
    struct exchange e;
    struct tm_out out;

    take_addresses(&e, x);
    take_operands(&e, &w->regs, x);
    e.ref.out = e.out;
    tm_access(g->tm, w->regs.s[ISA_SV_WAVE], x->active, &e.ref, g->lds, &out);
    if (!tx_went_well(m, w, &out) || !tx_oracle_access(m, w, x->active, &e.ref, &out))
        return;
    deliver(&w->regs, x, &e, out.done);
    if (x->in->format != ISA_LLOAD && out.done)
        progress_effect(m->device);
    count_access(m, w, x, &out, cycle);
    w->regs.tx = out.att & ~out.tcm;
    w->regs.tcm = out.tcm;
    if (m->mode == SIM_TIMED)
        take_unit(m, w, &out, cycle);
    tx_tell_others(m, w, &out, cycle + 1);
    go_on_behind(m, w, &out, cycle);
}

void tx_access(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    uint64_t active = isa_active(&w->regs, w->next);
    struct local x;

    if (active && tx_saves_registers(m, w, cycle))
        return;
    count_instruction(m, w, w->next, active);
    if (!active) {
        w->next++;
        tx_go_on(m, w, cycle + 1);
    } else if (local_find(m, w, active, &x)) {
        do_access(m, w, &x, cycle);
    }
}

/* ---- outside ---- */

/* Asks tm/; false: it is a fault, or the wavefront has to wait. */
static bool may_pass(struct sim_machine *m, struct wavefront *w, const struct exchange *e,
                     uint64_t active, uint64_t cycle)
{
    struct tm_out out;

    if (!tm_active(w->group->tm))
        return true;
    tm_plain(w->group->tm, w->regs.s[ISA_SV_WAVE], active, &e->ref, &out);
    if (!tx_went_well(m, w, &out))
        return false;
    if (out.what == TM_WAIT) {
        tx_wait(w, cycle + 1);
        return false;
    }
    w->run->c.tx_races += bits_count(out.conflicts);
    return true;
}

int tx_plain(struct sim_machine *m, struct wavefront *w, uint64_t active, uint64_t cycle)
{
    struct exchange e;
    struct local x;
    int passes;

    if (!active || (!w->group->checked && !tm_active(w->group->tm)))
        return local_access(m, w, active);
    if (!local_find(m, w, active, &x))
        return -1;
    take_addresses(&e, &x);
    take_operands(&e, &w->regs, &x);
    e.ref.out = NULL;
    if (!may_pass(m, w, &e, active, cycle))
        return -1;
    passes = local_access(m, w, active);
    return passes >= 0 && tx_oracle_plain(m, w, active, &e.ref) ? passes : -1;
}
