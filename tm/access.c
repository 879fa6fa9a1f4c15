/* Accesses: lanes into passes, and each pass through its three phases. */
#include "tm/attempt.h"
#include "tm/versions.h"

/* ---- passes ---- */

struct passes {
    unsigned count;
    uint64_t lanes[TM_PASSES_MAX];
};

static void find_places(const struct tm_wg *wg, struct tm_work *x, uint64_t lanes)
{
    for (unsigned k = 0; k < x->words; k++)
        for (uint64_t rest = lanes; rest; rest &= rest - 1) {
            unsigned lane = bits_first(rest);
            uint32_t word = x->ref->address[lane] / 4 + k, row = tm_row(wg, word);

            x->word[k][lane] = word;
            x->row[k][lane] = row;
            x->bank[k][lane] = (uint8_t)tm_bank(wg, word, row);
        }
}

/* In the order of lanes, each into the first pass that has room, behind those in which its banks serve earlier lanes. */
static void form_passes(const struct tm_wg *wg, const struct tm_work *x, uint64_t lanes,
                        struct passes *p)
{
    uint8_t free_from[TM_BANKS_MAX] = {0}, taken[TM_PASSES_MAX];
    unsigned room = wg->p.lanes_per_pass / x->words, last = x->words - 1;

    p->count = 0;
    room = room ? room : 1;
    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = bits_first(rest), a = x->bank[0][lane], b = x->bank[last][lane];
        unsigned at = free_from[a] > free_from[b] ? free_from[a] : free_from[b];

        while (at < p->count && taken[at] == room)
            at++;
        if (at == p->count) {
            p->lanes[p->count] = 0;
            taken[p->count++] = 0;
        }
        p->lanes[at] |= UINT64_C(1) << lane;
        taken[at]++;
        free_from[a] = free_from[b] = (uint8_t)(at + 1);
    }
}

/* ---- values ---- */

static void load(const struct tm_work *x, uint64_t lanes)
{
    for (uint64_t rest = x->ref->out ? lanes : 0; rest; rest &= rest - 1) {
        unsigned lane = bits_first(rest);
        uint64_t v = 0;

        memcpy(&v, x->lds + x->ref->address[lane], x->ref->bytes);
        x->ref->out[lane] = v;
    }
}

static void store(const struct tm_work *x, uint64_t lanes)
{
    for (uint64_t rest = lanes; rest; rest &= rest - 1)
        memcpy(x->lds + x->ref->address[bits_first(rest)], &x->ref->value[bits_first(rest)],
               x->ref->bytes);
}

static void store_words(const struct tm_work *x, uint64_t lanes)
{
    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t v = (uint32_t)x->ref->value[bits_first(rest)];

        memcpy(x->lds + (size_t)x->word[0][bits_first(rest)] * 4, &v, 4);
    }
}

static void load_words(const struct tm_work *x, uint64_t lanes)
{
    for (uint64_t rest = x->ref->out ? lanes : 0; rest; rest &= rest - 1)
        x->ref->out[bits_first(rest)] = tm_lds_word(x->lds, x->word[0][bits_first(rest)]);
}

static void atomic(const struct tm_work *x, uint64_t lanes)
{
    const struct tm_ref *r = x->ref;

    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = bits_first(rest);
        uint64_t old = 0, new;

        memcpy(&old, x->lds + r->address[lane], r->bytes);
        new = r->apply(r->op, old, r->value ? r->value[lane] : 0,
                       r->comparand ? r->comparand[lane] : 0);
        memcpy(x->lds + r->address[lane], &new, r->bytes);
        if (r->out)
            r->out[lane] = old;
    }
}

static void perform(const struct tm_work *x, uint64_t lanes)
{
    if (x->ref->kind == TM_ATOMIC)
        atomic(x, lanes);
    else if (x->ref->kind == TM_STORE)
        (x->ref->bytes == 4 ? store_words : store)(x, lanes);
    else
        (x->ref->bytes == 4 ? load_words : load)(x, lanes);
}

/* ---- the three phases ---- */

static uint32_t abort_lanes(struct tm_wg *wg, struct tm_work *x, uint64_t lost, uint32_t *accesses)
{
    struct tm_walk walk = {.any = false};

    tm_release(wg, x->wf, lost, true, x->lds, &walk);
    wg->wave[x->wf].tcm |= lost;
    tm_wake_plain(wg, x->out);
    return tm_walk_cycles(wg, &walk, true, accesses);
}

static void run_pass(struct tm_wg *wg, struct tm_work *x, uint64_t lanes)
{
    const struct tm_detector *d = tm_detector(wg);
    struct tm_pass *pass = &x->out->pass[x->out->passes++];
    uint64_t lost, done;

    x->busiest = x->accesses = 0;
    lost = d->find(wg, x, lanes);
    if (wg->p.banks == 1) /* both words of a lane are in it */
        x->busiest = x->accesses;
    done = lanes & ~lost;
    pass->lanes = lanes;
    pass->accesses = x->accesses;
    pass->cycles = (d->signature ? wg->p.signature_cycles : 0) + x->busiest * wg->p.slot_cycles +
                   (wg->p.broadcast_always || lost ? wg->p.broadcast_cycles : 0);
    if (lost)
        pass->cycles += abort_lanes(wg, x, lost, &pass->accesses);
    d->mark(wg, x, done);
    perform(x, done);
    x->out->done |= done;
    x->out->cycles += pass->cycles;
}

static const char *misuse(const struct tm_wg *wg, unsigned wf, uint64_t lanes)
{
    const struct tm_wave *v = &wg->wave[wf];

    if (v->state != TM_RUNNING)
        return "an access of a wavefront that runs no attempt";
    if (lanes & ~(v->exec & ~v->tcm))
        return "an access of a lane that is not in the attempt, or that has lost it";
    return NULL;
}

void tm_access(struct tm_wg *wg, unsigned wf, uint64_t lanes, const struct tm_ref *ref,
               uint8_t *lds, struct tm_out *out)
{
    struct tm_wave *v = &wg->wave[wf];
    struct tm_work x;
    struct passes passes;
    const char *wrong = misuse(wg, wf, lanes);

    tm_answer(wg, wf, out);
    if (wrong) {
        tm_broken(out, wrong);
        return;
    }
    x.ref = ref;
    x.out = out;
    x.lds = lds;
    x.wf = wf;
    x.words = ref->bytes > 4 ? 2 : 1;
    x.reads = ref->kind == TM_LOAD;
    find_places(wg, &x, lanes);
    form_passes(wg, &x, lanes, &passes);
    for (unsigned i = 0; i < passes.count; i++)
        run_pass(wg, &x, passes.lanes[i]);
    if (passes.count)
        out->cycles +=
            (uint64_t)(wg->p.pass_pipelined ? 1 : passes.count) * wg->p.lds_latency_cycles;
    out->tcm = v->tcm;
    if (out->conflicts && v->mode == TM_MODE_WG)
        tm_broken(out, "a conflict in work-group serialisation, where one lane runs alone");
    else if (wg->p.early_exit && out->conflicts && v->tcm == v->exec) {
        v->depth = 1;
        out->what = TM_SKIP;
    }
}

void tm_plain(struct tm_wg *wg, unsigned wf, uint64_t lanes, const struct tm_ref *ref,
              struct tm_out *out)
{
    const struct tm_detector *d = tm_detector(wg);
    unsigned words = ref->bytes > 4 ? 2 : 1;

    tm_answer(wg, wf, out);
    if (!wg->running)
        return;
    for (uint64_t rest = lanes; rest; rest &= rest - 1)
        for (unsigned k = 0; k < words; k++)
            if (d->excludes(wg, ref->address[bits_first(rest)] / 4 + k, ref->kind == TM_LOAD))
                out->conflicts |= rest & -rest;
    if (wg->p.strong && out->conflicts) {
        wg->plain_waiting |= UINT32_C(1) << wf;
        out->what = TM_WAIT;
    }
}
