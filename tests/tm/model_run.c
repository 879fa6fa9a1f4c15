#include "tests/tm/model_run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static uint64_t low(unsigned n)
{
    return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}

static unsigned count(uint64_t mask)
{
    unsigned n = 0;

    for (; mask; mask &= mask - 1)
        n++;
    return n;
}

/* ---- the model as a machine ---- */

static void begin_model(void *m, unsigned wave, uint64_t exec, struct model_out *out)
{
    model_begin(m, wave, exec, out);
}

static void access_model(void *m, unsigned wave, uint64_t lanes, struct model_ref *ref,
                         struct model_out *out)
{
    model_access(m, wave, lanes, ref, out);
}

static void plain_model(void *m, unsigned wave, uint64_t lanes, struct model_ref *ref,
                        struct model_out *out)
{
    model_plain(m, wave, lanes, ref, out);
}

static void commit_model(void *m, unsigned wave, struct model_out *out)
{
    model_commit(m, wave, out);
}

static void stopped_model(void *m, unsigned wave, struct model_out *out)
{
    model_stopped(m, wave, out);
}

static void ended_model(void *m, unsigned wave, struct model_out *out)
{
    model_ended(m, wave, out);
}

static uint8_t *memory_model(void *m)
{
    return ((struct model *)m)->memory;
}

struct run_machine run_model(struct model *m)
{
    return (struct run_machine){.state = m,
                                .size = sizeof *m,
                                .named = sizeof *m,
                                .begin = begin_model,
                                .access = access_model,
                                .plain = plain_model,
                                .commit = commit_model,
                                .stopped = stopped_model,
                                .ended = ended_model,
                                .memory = memory_model};
}

/* ---- comparing ---- */

__attribute__((format(printf, 2, 3))) static bool differs(char why[256], const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(why, 256, format, arguments);
    va_end(arguments);
    return false;
}

static bool same_out(const struct model_out *a, const struct model_out *b, char why[256])
{
    if (a->what != b->what)
        return differs(why, "answer %d, expected %d", a->what, b->what);
    if (a->what == MODEL_WAIT)
        return true;
    if (a->att != b->att || a->tcm != b->tcm)
        return differs(why, "ATT %" PRIx64 " TCM %" PRIx64 ", expected %" PRIx64 " %" PRIx64,
                       a->att, a->tcm, b->att, b->tcm);
    if (a->conflicts != b->conflicts)
        return differs(why, "conflicts %" PRIx64 ", expected %" PRIx64, a->conflicts, b->conflicts);
    if (a->restore != b->restore || a->exec != b->exec)
        return differs(why, "restore %" PRIx64 " EXEC %" PRIx64 ", expected %" PRIx64 " %" PRIx64,
                       a->restore, a->exec, b->restore, b->exec);
    if (a->stop != b->stop)
        return differs(why, "stops %x, expected %x", a->stop, b->stop);
    return true;
}

static bool same_loads(const struct model_ref *a, const struct model_ref *b, uint64_t lanes,
                       char why[256])
{
    if (a->kind == MODEL_STORE)
        return true;
    for (unsigned lane = 0; lane < 64; lane++)
        if (lanes >> lane & 1 && a->loaded[lane] != b->loaded[lane])
            return differs(why, "lane %u got %" PRIx64 ", expected %" PRIx64, lane, a->loaded[lane],
                           b->loaded[lane]);
    return true;
}

static bool same_memory(const struct run_program *p, const struct run_machine *a,
                        const struct run_machine *b, char why[256])
{
    const uint8_t *x = a->memory(a->state), *y = b->memory(b->state);

    for (unsigned i = 0; i < 4 * p->o.words; i++)
        if (x[i] != y[i])
            return differs(why, "word %u differs", i / 4);
    return true;
}

/* ---- one step ---- */

static void wake(struct run *r, const struct model_out *out)
{
    for (unsigned v = 0; v < r->program->o.waves; v++) {
        struct run_wave *w = &r->wave[v];

        if (out->wake >> v & 1 && w->state == RUN_BLOCKED)
            w->state = RUN_READY;
        if (out->stop >> v & 1)
            w->stop = true;
    }
}

static void restore(struct run_wave *w, uint64_t lanes)
{
    for (unsigned lane = 0; lane < 64; lane++)
        if (lanes >> lane & 1)
            w->acc[lane] = w->saved[lane];
}

static void follow(struct run_wave *w, const struct model_out *out)
{
    w->att = out->att;
    w->tcm = out->tcm;
}

static bool step_begin(struct run *r, struct run_wave *w, unsigned wave, const struct run_machine *a,
                       const struct run_machine *b, struct run_counts *counts, char why[256])
{
    struct model_out out, other;

    a->begin(a->state, wave, w->exec, &out);
    if (b) {
        b->begin(b->state, wave, w->exec, &other);
        if (!same_out(&out, &other, why))
            return false;
    }
    wake(r, &out);
    if (out.what == MODEL_WAIT) {
        w->state = RUN_BLOCKED;
        counts->waits++;
        return true;
    }
    if (!w->inside) {
        w->inside = true;
        w->begin = w->pc;
        w->reached = 0;
        counts->entries++;
    }
    if (!w->live) {
        w->live = true;
        memcpy(w->saved, w->acc, sizeof w->saved);
        follow(w, &out);
        w->sel = out.att & ~out.tcm;
        counts->attempts += count(w->sel);
        counts->wavefront_entries += out.mode == MODEL_WF && !(w->reached & 1);
        counts->workgroup_entries += out.mode == MODEL_WG && !(w->reached & 2);
        w->reached |= out.mode == MODEL_WF ? 1 : out.mode == MODEL_WG ? 2 : 0;
        w->modes |= 1u << out.mode;
    }
    w->pc++;
    return true;
}

static unsigned commit_of(const struct run_op *ops, unsigned pc)
{
    while (ops[pc].kind != RUN_COMMIT || ops[pc].inner)
        pc++;
    return pc;
}

static bool step_commit(struct run *r, struct run_wave *w, unsigned wave,
                        const struct run_machine *a, const struct run_machine *b,
                        struct run_counts *counts, char why[256])
{
    struct model_out out, other;

    a->commit(a->state, wave, &out);
    if (b) {
        b->commit(b->state, wave, &other);
        if (!same_out(&out, &other, why))
            return false;
    }
    wake(r, &out);
    if (out.what == MODEL_GO) {
        w->pc++;
        return true;
    }
    counts->commits += count(w->att & ~w->tcm);
    counts->aborted += count(w->sel & w->tcm);
    w->aborts += count(w->sel & w->tcm);
    w->live = w->stop = 0;
    follow(w, &out);
    if (out.what == MODEL_RETRY) {
        restore(w, out.restore);
        w->pc = w->begin;
        return true;
    }
    w->exec = out.exec;
    w->inside = false;
    w->pc++;
    return true;
}

static bool step_stopped(struct run *r, struct run_wave *w, unsigned wave,
                         const struct run_machine *a, const struct run_machine *b,
                         struct run_counts *counts, char why[256])
{
    struct model_out out, other;

    a->stopped(a->state, wave, &out);
    if (b) {
        b->stopped(b->state, wave, &other);
        if (!same_out(&out, &other, why))
            return false;
    }
    wake(r, &out);
    counts->self_aborts++;
    counts->aborted += count(w->sel);
    w->aborts += count(w->sel);
    w->live = w->stop = 0;
    follow(w, &out);
    restore(w, out.restore);
    w->pc = w->begin;
    return true;
}

static uint32_t address_of(const struct run_program *p, const struct run_op *op, unsigned lane,
                           uint64_t acc)
{
    unsigned units = 4 * p->o.words / op->bytes;

    return (uint32_t)((op->where[lane] + (op->dependent ? acc >> 3 : 0)) % units * op->bytes);
}

static uint64_t value_of(const struct run_op *op, uint64_t acc)
{
    return acc * 5 + op->add;
}

static enum model_kind kind_of(const struct run_op *op)
{
    return op->kind == RUN_LOAD ? MODEL_LOAD : op->kind == RUN_STORE ? MODEL_STORE : MODEL_ATOMIC;
}

static void fill(struct model_ref *ref, const struct run_program *p, const struct run_op *op,
                 const struct run_wave *w)
{
    memset(ref, 0, sizeof *ref);
    ref->kind = kind_of(op);
    ref->bytes = op->bytes;
    for (unsigned lane = 0; lane < p->o.width; lane++) {
        ref->address[lane] = address_of(p, op, lane, w->acc[lane]);
        ref->value[lane] = value_of(op, w->acc[lane]);
    }
}

/* The accumulator after an access. */
static uint64_t taken(enum model_kind kind, uint64_t acc, uint64_t loaded)
{
    return acc * 3 + (kind == MODEL_STORE ? 1 : loaded);
}

static void take(struct run_wave *w, const struct model_ref *ref, uint64_t lanes)
{
    for (unsigned lane = 0; lane < 64; lane++)
        if (lanes >> lane & 1)
            w->acc[lane] = taken(ref->kind, w->acc[lane], ref->loaded[lane]);
}

/* Returns what was there. */
static uint64_t perform(uint8_t *at, enum model_kind kind, unsigned bytes, uint64_t value)
{
    uint64_t old = 0;

    memcpy(&old, at, bytes);
    value += kind == MODEL_ATOMIC ? old : 0;
    if (kind != MODEL_LOAD)
        memcpy(at, &value, bytes);
    return old;
}

void run_alone(const struct run_program *p, const struct run_op *op, unsigned lane, uint8_t *memory,
               uint64_t *acc)
{
    uint8_t *at = memory + address_of(p, op, lane, *acc);
    uint64_t old = perform(at, kind_of(op), op->bytes, value_of(op, *acc));

    *acc = taken(kind_of(op), *acc, old);
}

static void perform_plain(const struct run_machine *m, unsigned wave, struct model_ref *ref,
                          uint64_t lanes)
{
    for (unsigned lane = 0; lane < 64; lane++)
        if (lanes >> lane & 1)
            ref->loaded[lane] = perform(m->memory(m->state) + ref->address[lane], ref->kind,
                                        ref->bytes, ref->value[lane]);
    if (m->performed)
        m->performed(m->state, wave, lanes, ref);
}

static bool step_access(struct run *r, struct run_wave *w, unsigned wave,
                        const struct run_machine *a, const struct run_machine *b,
                        struct run_counts *counts, char why[256])
{
    static struct model_ref ref, copy;
    const struct run_op *ops = r->program->op[wave];
    uint64_t lanes = ops[w->pc].lanes & (w->live ? w->att & ~w->tcm : w->exec);
    struct model_out out, other;

    fill(&ref, r->program, &ops[w->pc], w);
    copy = ref;
    (w->live ? a->access : a->plain)(a->state, wave, lanes, &ref, &out);
    if (b) {
        (w->live ? b->access : b->plain)(b->state, wave, lanes, &copy, &other);
        if (!same_out(&out, &other, why))
            return false;
    }
    wake(r, &out);
    if (out.what == MODEL_WAIT) {
        w->state = RUN_BLOCKED;
        counts->plain_waits++;
        return true;
    }
    if (!w->live) {
        perform_plain(a, wave, &ref, lanes);
        if (b)
            perform_plain(b, wave, &copy, lanes);
        take(w, &ref, lanes);
        w->pc++;
        return true;
    }
    follow(w, &out);
    if (b && !same_loads(&ref, &copy, lanes & ~w->tcm, why))
        return false;
    take(w, &ref, lanes & ~w->tcm);
    w->pc = out.what == MODEL_LEAVE ? commit_of(ops, w->pc) : w->pc + 1;
    return true;
}

static void release_barrier(struct run *r)
{
    unsigned inside = 0;

    for (unsigned v = 0; v < r->program->o.waves; v++)
        inside += r->wave[v].state < RUN_AT_BARRIER;
    for (unsigned v = 0; v < r->program->o.waves && !inside; v++)
        if (r->wave[v].state == RUN_AT_BARRIER) {
            r->wave[v].state = RUN_READY;
            r->wave[v].pc++;
        }
}

bool run_step(struct run *r, unsigned wave, const struct run_machine *a,
              const struct run_machine *b, struct run_counts *counts, char why[256])
{
    struct run_wave *w = &r->wave[wave];
    struct model_out out = {0}, other;
    bool same;

    counts->calls++;
    if (w->stop && w->live && !r->program->op[wave][w->pc].late)
        same = step_stopped(r, w, wave, a, b, counts, why);
    else if (r->program->op[wave][w->pc].kind == RUN_BEGIN)
        same = step_begin(r, w, wave, a, b, counts, why);
    else if (r->program->op[wave][w->pc].kind == RUN_COMMIT)
        same = step_commit(r, w, wave, a, b, counts, why);
    else if (r->program->op[wave][w->pc].kind == RUN_BARRIER) {
        w->state = RUN_AT_BARRIER;
        release_barrier(r);
        return true;
    } else if (r->program->op[wave][w->pc].kind != RUN_END)
        same = step_access(r, w, wave, a, b, counts, why);
    else {
        a->ended(a->state, wave, &out);
        if (b)
            b->ended(b->state, wave, &other);
        wake(r, &out);
        w->state = RUN_ENDED;
        release_barrier(r);
        same = true;
    }
    return same && (!b || same_memory(r->program, a, b, why));
}

bool run_can_step(const struct run *r, unsigned wave)
{
    const struct run_wave *w = &r->wave[wave];

    return w->state == RUN_READY || (w->stop && w->live);
}

void run_start(struct run *r, const struct run_program *p)
{
    memset(r, 0, sizeof *r);
    r->program = p;
    for (unsigned v = 0; v < p->o.waves; v++) {
        r->wave[v].exec = p->exec[v];
        for (unsigned lane = 0; lane < 64; lane++)
            r->wave[v].acc[lane] = v * 64 + lane + 1;
    }
}

bool run_all(const struct run_program *p, struct rng *random, const struct run_machine *a,
             const struct run_machine *b, struct run_counts *counts, char why[256])
{
    struct run r;

    run_start(&r, p);
    counts->programs++;
    for (;;) {
        unsigned ready[MODEL_WAVES], n = 0, ended = 0;

        for (unsigned v = 0; v < p->o.waves; v++) {
            if (run_can_step(&r, v))
                ready[n++] = v;
            ended += r.wave[v].state == RUN_ENDED;
        }
        if (ended == p->o.waves)
            return true;
        if (n == 0)
            return differs(why, "every wavefront waits");
        n = ready[rng_below(random, n)];
        if (!run_step(&r, n, a, b, counts, why))
            return false;
    }
}

/* ---- programs ---- */

static unsigned between(struct rng *r, unsigned least, unsigned most)
{
    return least + (unsigned)rng_below(r, most - least + 1);
}

static unsigned one_of(struct rng *r, unsigned n, const unsigned *values)
{
    return values[rng_below(r, n)];
}

static bool chance(struct rng *r, unsigned percent)
{
    return rng_below(r, 100) < percent;
}

void run_options(struct model_options *o, struct rng *r, enum run_size size, unsigned detector,
                 unsigned serialise, bool hold_wave)
{
    static const unsigned widths[] = {8, 8, 16, 32, 64}, banks[] = {1, 1, 2, 4, 8},
                          lanes[] = {1, 2, 4, 8, 32};

    *o = (struct model_options){.detector = (enum model_detector)detector,
                                .multiple = serialise >= 2,
                                .descending = serialise & 1,
                                .hold_wave = hold_wave};
    o->waves = between(r, 1, MODEL_WAVES);
    o->width = size == RUN_FULL ? 64 : one_of(r, size == RUN_TINY ? 2 : 4, widths);
    o->banks = size == RUN_FULL ? 32 : one_of(r, 5, banks);
    o->lanes_per_pass = size == RUN_FULL ? 32 : one_of(r, 5, lanes);
    o->words = size == RUN_FULL ? between(r, 64, 1024) & ~1u : between(r, 2, 40) * 2;
    o->hash_k = chance(r, 25) ? 2 : 1;
    o->release_epoch = chance(r, 30);
    o->owner_on_read = chance(r, 30);
    o->helper_per_wave = chance(r, 30);
    o->mcm_match = chance(r, 30);
    o->fail_wave = chance(r, 20);
    o->early_exit = chance(r, 30);
    o->strong = chance(r, 80);
}

static uint64_t some_lanes(struct rng *r, unsigned width)
{
    switch (rng_below(r, 8)) {
    case 0:
        return rng_next(r) & low(width);
    case 1:
        return UINT64_C(1) << rng_below(r, width);
    case 2:
        return rng_next(r) & rng_next(r) & low(width);
    default:
        return low(width);
    }
}

/* Addresses of an instruction: all alike, neighbours, or anywhere; a hot place is chosen more often. */
static void place(struct run_op *op, struct rng *r, const struct model_options *o, unsigned bytes)
{
    unsigned units = 4 * o->words / bytes, at = (unsigned)rng_below(r, units);
    unsigned how = (unsigned)rng_below(r, 8), hot = between(r, 1, units);

    op->bytes = (uint8_t)bytes;
    op->dependent = chance(r, 20);
    op->add = (uint8_t)rng_next(r);
    for (unsigned lane = 0; lane < o->width; lane++)
        op->where[lane] = (uint16_t)(how == 0  ? at
                                     : how < 4 ? (at + lane) % units
                                     : how < 5 ? rng_below(r, hot)
                                               : rng_below(r, units));
}

static unsigned some_access(struct run_program *p, struct rng *r, unsigned wave, unsigned n)
{
    static const unsigned sizes[] = {4, 4, 4, 8, 8, 2, 1};
    struct run_op *op = &p->op[wave][n];
    unsigned bytes = one_of(r, 7, sizes), kind = (unsigned)rng_below(r, 10);

    place(op, r, &p->o, bytes);
    op->lanes = some_lanes(r, p->o.width);
    op->kind = kind < 5 ? RUN_LOAD : kind < 9 || bytes < 4 ? RUN_STORE : RUN_ADD;
    if (kind < 3 && n + 1 < RUN_OPS) {
        p->op[wave][n + 1] = *op;
        p->op[wave][n + 1].kind = RUN_STORE;
        return n + 2;
    }
    return n + 1;
}

static unsigned some_body(struct run_program *p, struct rng *r, unsigned wave, unsigned n,
                          unsigned most)
{
    unsigned accesses = between(r, chance(r, 5) ? 0 : 1, most), nested = chance(r, 10) ? 1 : 0;

    if (nested)
        p->op[wave][n++].kind = RUN_BEGIN;
    for (unsigned i = 0; i < accesses; i++) {
        n = some_access(p, r, wave, n);
        if (nested && (i + 1 == accesses || chance(r, 30))) {
            p->op[wave][n].inner = true;
            p->op[wave][n++].kind = RUN_COMMIT;
            nested = 0;
        }
    }
    if (nested) {
        p->op[wave][n].inner = true;
        p->op[wave][n++].kind = RUN_COMMIT;
    }
    return n;
}

static void generate_wave(struct run_program *p, struct rng *r, unsigned wave, unsigned most)
{
    unsigned n = 0, transactions = between(r, chance(r, 10) ? 0 : 1, 4);

    while (transactions-- && n + 2 * most + 8 < RUN_OPS) {
        if (chance(r, 25))
            n = some_access(p, r, wave, n);
        p->op[wave][n++].kind = RUN_BEGIN;
        n = some_body(p, r, wave, n, most);
        p->op[wave][n].late = chance(r, 50);
        p->op[wave][n++].kind = RUN_COMMIT;
    }
    p->op[wave][n].kind = RUN_END;
}

void run_generate(struct run_program *p, struct rng *r, const struct model_options *o,
                  enum run_size size)
{
    memset(p, 0, sizeof *p);
    p->o = *o;
    for (unsigned v = 0; v < o->waves; v++) {
        p->exec[v] = chance(r, 70) ? low(o->width) : some_lanes(r, o->width);
        if (!p->exec[v])
            p->exec[v] = 1;
        generate_wave(p, r, v, size == RUN_TINY ? 4 : 6);
    }
}
