/* Attempts of transactions: their start, commit and retry, who stops and who waits, and where the cycles go. */
#include "sim/transactions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- going on and waiting ---- */

static unsigned index_of(const struct wavefront *w)
{
    return w->regs.s[ISA_SV_WAVE];
}

void tx_go_on(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    if (m->fault.status != HD_OK)
        return;
    w->state = WAVE_TIMED;
    if (m->mode == SIM_TIMED)
        wave_go_on(m, w, READY(cycle, SIM_STALL_TX), cycle);
}

void tx_wait(struct wavefront *w, uint64_t cycle)
{
    w->state = WAVE_TX;
    w->ready = READY(cycle, SIM_STALL_TX);
}

static struct wavefront *wave_at(struct sim_machine *m, const struct wavefront *w, unsigned index)
{
    return &m->device->cus[w->cu].waves[w->group->tm_waves[index]];
}

void tx_tell_others(struct sim_machine *m, struct wavefront *w, const struct tm_out *out,
                    uint64_t cycle)
{
    for (uint64_t rest = out->stop; rest; rest &= rest - 1)
        wave_at(m, w, bits_first(rest))->tx->stop = true;
    for (uint64_t rest = out->wake; rest; rest &= rest - 1) {
        struct wavefront *other = wave_at(m, w, bits_first(rest));

        if (other->state == WAVE_TX)
            tx_go_on(m, other, cycle);
    }
}

bool tx_went_well(struct sim_machine *m, struct wavefront *w, const struct tm_out *out)
{
    char state[1024];

    if (out->what == TM_UNBALANCED)
        fault_raise(m, w, -1, "tx-unbalanced", "let each tx.begin meet one tx.commit", "%s",
                    out->why);
    if (out->what == TM_BROKEN) {
        tm_describe(w->group->tm, state, sizeof state);
        fault_internal(m, w, "transactions: %s; %s", out->why, state);
    }
    return m->fault.status == HD_OK;
}

/* ---- where the cycles go ---- */

static void book(struct wavefront *w, uint64_t cycle, enum sim_tx_cycles kind)
{
    w->run->c.tx_cycles[kind] += cycle - w->tx->mark;
    w->tx->mark = cycle;
}

/* An attempt is over at a cycle; its cycles are shared out by its lanes. */
static void book_attempt(struct wavefront *w, uint64_t cycle, unsigned committed, unsigned aborted)
{
    struct wave_tx *tx = w->tx;
    uint64_t cycles = cycle - tx->mark;

    if (tx->serial == SIM_TX_USEFUL && committed + aborted)
        book(w, tx->mark + cycles * committed / (committed + aborted), SIM_TX_USEFUL);
    book(w, cycle, tx->serial == SIM_TX_USEFUL ? SIM_TX_WASTED : (enum sim_tx_cycles)tx->serial);
}

static unsigned attempts_bin(uint32_t attempts)
{
    unsigned bin = attempts > 1 ? 1 + bits_last(attempts - 1) : 0;

    return bin < SIM_TX_ATTEMPT_BINS ? bin : SIM_TX_ATTEMPT_BINS - 1;
}

/* ---- attempts ---- */

static void take_masks(struct wavefront *w, const struct tm_out *out)
{
    w->regs.tx = out->att & ~out->tcm;
    w->regs.tcm = out->tcm;
}

static void start_transaction(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    struct wave_tx *tx = w->tx;

    w->in_tx = true;
    w->issue = issue_tables[ISSUE_IN_TX];
    tx->begin = w->next;
    tx->start = tx->mark = cycle;
    tx->attempts = 0;
    tx->running = tx->waited = tx->stop = false;
    checkpoint_take(m, w);
    w->run->c.tx_transactions++;
}

static void start_attempt(struct sim_machine *m, struct wavefront *w, const struct tm_out *out,
                          uint64_t cycle)
{
    static const uint8_t serial[] = {
        [TM_MODE_NONE] = SIM_TX_USEFUL,
        [TM_MODE_TX] = SIM_TX_USEFUL,
        [TM_MODE_WF] = SIM_TX_WAVEFRONT_SERIAL,
        [TM_MODE_WG] = SIM_TX_WORKGROUP_SERIAL,
    };
    struct sim_counters *c = &w->run->c;
    struct wave_tx *tx = w->tx;
    enum tm_mode mode = tm_mode(w->group->tm, index_of(w));

    book(w, cycle, tx->waited ? SIM_TX_QUIESCE : SIM_TX_OTHER);
    tx->running = true;
    tx->waited = false;
    tx->attempts++;
    tx->serial = serial[mode];
    c->tx_begins++;
    c->tx_wave_serial += mode == TM_MODE_WF;
    c->tx_group_serial += mode == TM_MODE_WG;
    take_masks(w, out);
    tx->attempted = w->regs.tx;
    probe_tx(m, w, HD_PROBE_TX_BEGIN, w->regs.tx, cycle);
}

static void begin(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    struct wave_tx *tx = w->tx;
    struct tm_out out;

    count_instruction(m, w, w->next, isa_active(&w->regs, w->next));
    if (!w->in_tx)
        start_transaction(m, w, cycle);
    tm_begin(w->group->tm, index_of(w), w->regs.exec & w->regs.live, &out);
    if (!tx_went_well(m, w, &out) || !tx_oracle_begin(m, w, w->regs.exec & w->regs.live, &out))
        return;
    tx_tell_others(m, w, &out, cycle + 1);
    if (out.what == TM_WAIT) {
        tx->waited = true;
        tx_wait(w, cycle + 1);
        return;
    }
    if (!tx->running)
        start_attempt(m, w, &out, cycle);
    w->next++;
    tx_go_on(m, w, cycle + 1);
}

/* An attempt has ended, and another is to start from `cycle` on. */
static void go_back(struct sim_machine *m, struct wavefront *w, const struct tm_out *out,
                    uint64_t cycle)
{
    checkpoint_restore(m, w, out->restore);
    w->tx->running = w->tx->stop = false;
    take_masks(w, out);
    w->next = w->tx->begin;
    tx_go_on(m, w, cycle);
}

/* No lane is left to be done again. */
static void leave(struct sim_machine *m, struct wavefront *w, const struct tm_out *out,
                  uint64_t cycle)
{
    struct sim_counters *c = &w->run->c;

    c->tx_attempts[attempts_bin(w->tx->attempts)]++;
    c->tx_residency_cycles += cycle - w->tx->start;
    w->in_tx = false;
    w->issue = issue_tables[ISSUE_BESIDE_TX];
    w->regs.tx = UINT64_MAX;
    w->regs.tcm = 0;
    (void)m->device->cf->set_exec(w->cf, out->exec); /* of the form that has EXEC in a register */
    w->regs.exec = m->device->cf->exec(w->cf);
    w->next++;
    tx_go_on(m, w, cycle);
}

void tx_skip(struct sim_machine *m, struct wavefront *w)
{
    const struct isa_insn *in = w->tx->begin;

    for (unsigned depth = 1; depth;) {
        in++;
        depth += in->format == ISA_TXBEGIN;
        depth -= in->format == ISA_TXCOMMIT;
    }
    checkpoint_divergence(m, w);
    w->next = in;
}

/* ---- tx.commit ---- */

/* Whether the lanes of the attempt are all here; those of an inner transaction need not be. */
static bool check_awake(struct sim_machine *m, struct wavefront *w)
{
    uint64_t asleep = w->regs.tx & w->regs.live & ~w->regs.exec;

    if (!asleep || tm_view(w->group->tm, index_of(w)).depth > 1)
        return true;
    fault_raise(m, w, (int)bits_first(asleep), "tx-asleep",
                "let all lanes that came to tx.begin meet again before tx.commit",
                "tx.commit with lanes 0x%" PRIx64 " of the transaction asleep or off", asleep);
    return false;
}

/* When what the banks do for a call is done: at least a cycle. */
static uint64_t after_passes(struct sim_machine *m, struct wavefront *w, const struct tm_out *out,
                             uint64_t cycle)
{
    uint64_t end = tx_passes(m, w, out, cycle);

    return end == cycle && m->mode == SIM_TIMED ? cycle + 1 : end;
}

static void end_attempt(struct sim_machine *m, struct wavefront *w, const struct tm_out *out,
                        uint64_t cycle)
{
    uint64_t end = after_passes(m, w, out, cycle);

    book_attempt(w, end, bits_count(out->done), bits_count(w->tx->attempted & ~out->done));
    w->run->c.tx_commits += bits_count(out->done);
    probe_tx(m, w, HD_PROBE_TX_COMMIT, out->done, cycle);
    tx_tell_others(m, w, out, end);
    if (out->what == TM_LEAVE) {
        leave(m, w, out, end);
        return;
    }
    probe_tx(m, w, HD_PROBE_TX_RETRY, out->restore, cycle);
    go_back(m, w, out, end + (m->mode == SIM_TIMED ? m->device->latency[ISA_C_BRANCH] : 0));
}

static void commit(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    struct tm_out out;

    count_instruction(m, w, w->next, isa_active(&w->regs, w->next));
    if (w->in_tx && !check_awake(m, w))
        return;
    tm_commit(w->group->tm, index_of(w), w->group->lds, &out);
    if (!tx_went_well(m, w, &out) || !tx_oracle_commit(m, w, &out))
        return;
    if (out.what != TM_GO) {
        end_attempt(m, w, &out, cycle);
        return;
    }
    w->next++;
    tx_go_on(m, w, cycle + 1);
}

/* ---- stops ---- */

static void stop(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    struct tm_out out;
    uint64_t end;

    tm_stopped(w->group->tm, index_of(w), w->group->lds, &out);
    if (!tx_went_well(m, w, &out) || !tx_oracle_stopped(m, w, &out))
        return;
    end = after_passes(m, w, &out, cycle);
    book(w, end, SIM_TX_WASTED);
    w->run->c.tx_self_aborts++;
    tx_tell_others(m, w, &out, end);
    probe_tx(m, w, HD_PROBE_TX_RETRY, out.restore, cycle);
    go_back(m, w, &out, end);
}

/* ---- instructions in a transaction ---- */

static void step_plain(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    if (m->mode == SIM_TIMED)
        issue_plain(m, w, cycle);
    else
        values_step_plain(m, w);
}

bool tx_saves_registers(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    unsigned saved = checkpoint_writes(w, w->next);

    if (!saved || !m->config.tm_checkpoint_cycles || m->mode == SIM_VALUES)
        return false;
    w->run->c.tx_idle_issues++;
    tx_go_on(m, w, cycle + (uint64_t)saved * m->config.tm_checkpoint_cycles);
    return true;
}

static void step_register(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    if (!tx_saves_registers(m, w, cycle))
        step_plain(m, w, cycle);
}

static void step_global_change(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    uint64_t active = isa_active(&w->regs, w->next);

    if (active && m->config.tm_global_store == TM_GLOBAL_TRAP)
        fault_raise(m, w, (int)bits_first(active), "tx-global-store",
                    "it would stay when the transaction aborts; move it behind tx.commit, or set "
                    "tm.global_store=allow",
                    "%s in a transaction", isa_ops[w->next->op].name);
    else
        step_register(m, w, cycle);
}

typedef void tx_fn(struct sim_machine *m, struct wavefront *w, uint64_t cycle);

/* The others are register instructions and such that the transaction does not matter to. */
static tx_fn *const step_by_format[ISA_NUM_FORMATS] = {
    [ISA_GSTORE] = step_global_change, [ISA_GATOMIC] = step_global_change, [ISA_LLOAD] = tx_access,
    [ISA_LSTORE] = tx_access,          [ISA_LATOMIC] = tx_access,          [ISA_TXBEGIN] = begin,
    [ISA_TXCOMMIT] = commit,
};

void tx_issue(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    tx_fn *step = step_by_format[w->next->format];

    if (!w->in_tx || !w->tx->stop) {
        (step ? step : step_register)(m, w, cycle);
        return;
    }
    w->run->c.tx_idle_issues += m->mode == SIM_TIMED;
    if (m->mode == SIM_TIMED && READY_CYCLE(w->sb[ISA_SB_TX]) > cycle)
        tx_go_on(m, w, READY_CYCLE(w->sb[ISA_SB_TX]));
    else
        stop(m, w, cycle);
}

void tx_step(struct sim_machine *m, struct wavefront *w)
{
    tx_issue(m, w, 0);
}

/* ---- birth and death ---- */

bool tx_run_start(struct sim_machine *m, struct kernel_run *run)
{
    if (!run->kernel->has_tx)
        return true;
    run->tm = malloc(sizeof *run->tm);
    if (run->tm)
        *run->tm = tx_params(&m->config, run->launch);
    return run->tm != NULL;
}

bool tx_group_start(struct sim_machine *m, struct workgroup *g)
{
    const struct kernel_run *run = g->run;
    unsigned width = m->lanes->width;
    size_t size = tm_size(run->tm, g->waves, width, run->lds_bytes);

    if (!wave_room((void **)&g->tm, &g->tm_room, size))
        return false;
    tm_init(g->tm, run->tm, g->waves, width, run->lds_bytes);
    return tx_oracle_start(m, g);
}

bool tx_wave_start(struct sim_machine *m, struct wavefront *w, uint32_t wave)
{
    unsigned width = m->lanes->width;
    uint32_t vregs = w->run->kernel->vregs;
    size_t cf_bytes = m->device->cf->size(w->run->program, width);

    if (!wave_room((void **)&w->tx, &w->tx_room, checkpoint_bytes(vregs, width, cf_bytes)))
        return false;
    w->tx->width = width;
    w->tx->vregs = vregs;
    w->group->tm_waves[wave] = (uint16_t)(w - m->device->cus[w->cu].waves);
    return true;
}

void tx_wave_end(struct sim_machine *m, struct wavefront *w, uint64_t now)
{
    struct tm_out out;

    tm_ended(w->group->tm, index_of(w), &out);
    if (tx_went_well(m, w, &out))
        tx_tell_others(m, w, &out, now + (m->mode == SIM_TIMED));
    if (w->group->checked && w->group->live == 1)
        tx_oracle_finish(m, w);
}
