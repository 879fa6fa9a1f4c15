/*
 * Stores in L1. Dirty sectors leave for L2 when their line is replaced, ahead of an atomic on it, and
 * all those of a compute unit at a fence of one of its wavefronts and at the end of a kernel that ran
 * on it. A fence and a kernel's end also wait for what left before them. For that what leaves is
 * counted in rounds: each ends with one that waits, who goes on when its round and those before it
 * have taken effect.
 */
#include "sim/l1.h"
#include "sim/l2_send.h"

#include <string.h>

static struct l1_round *last_round(struct cu *cu)
{
    return &cu->rounds.at[cu->rounds.len - 1];
}

void l1_clean(struct sim_machine *m, struct cu *cu, uint32_t place, struct kernel_run *run,
              uint64_t cycle)
{
    struct cache_line *line = cache_line(&cu->l1, place);
    uint32_t i = request_new(m);

    if (i == REQUEST_NONE)
        return;
    *request_at(m->device, i) =
        (struct request){.line = line->tag,
                         .run = run,
                         .sectors = line->dirty,
                         .owner = cu->first_round + (uint32_t)cu->rounds.len - 1,
                         .cu = (uint16_t)cu->id,
                         .kind = REQ_STORE};
    run->c.sectors += bits_count(line->dirty);
    run->stores++;
    line->dirty = 0;
    cu->dirty_lines--;
    last_round(cu)->open++;
    l2_send(m, i, cycle);
}

uint32_t l1_make_room(struct sim_machine *m, struct cu *cu, uint32_t set, struct kernel_run *run,
                      uint64_t cycle)
{
    uint32_t place = cache_victim(&cu->l1, set);

    if (cache_line(&cu->l1, place)->dirty)
        l1_clean(m, cu, place, run, cycle);
    return place;
}

/* Sectors that are on their way are there when they arrive: a store may write them in part. */
bool l1_store(struct sim_machine *m, struct cu *cu, struct kernel_run *run,
              const struct line_request *l, uint32_t coming, uint64_t cycle)
{
    uint32_t set = l1_set(m, l->line), place = cache_find(&cu->l1, set, l->line);
    struct cache_line *line;

    if (place != CACHE_NONE) {
        cache_touch(&cu->l1, set, place);
    } else if (m->config.l1_allocate_on_store) {
        place = l1_make_room(m, cu, set, run, cycle);
        cache_replace(&cu->l1, set, place, l->line);
    } else {
        return false;
    }
    line = cache_line(&cu->l1, place);
    line->valid |= l->sectors & ~coming;
    if (!m->device->l1_writes_back)
        return false;
    cu->dirty_lines += !line->dirty;
    line->dirty |= l->sectors;
    return true;
}

/* ---- those that wait ---- */

static void clean_all(struct sim_machine *m, struct cu *cu, struct kernel_run *run, uint64_t cycle)
{
    const struct cache *l1 = &cu->l1;

    for (uint32_t place = 0; cu->dirty_lines && place < l1->sets * l1->stride; place++)
        if (cache_line(l1, place)->dirty)
            l1_clean(m, cu, place, run, cycle);
}

/*
 * Ends the round with one who waits, a wavefront or a kernel. False if there is nothing to wait for:
 * then all that has left takes effect by cu->written_ps.
 */
static bool end_round(struct sim_machine *m, struct cu *cu, uint32_t wave, uint32_t run)
{
    struct l1_round *last = last_round(cu);

    if (cu->rounds.len == 1 && !last->open) {
        if (cu->written_ps < last->effect_ps)
            cu->written_ps = last->effect_ps;
        return false;
    }
    last->wave = wave;
    last->run = run;
    if (!vec_push(&cu->rounds, (struct l1_round){0}))
        machine_out_of_memory(m);
    return true;
}

static inline void run_wrote(struct kernel_run *run, uint64_t effect_ps)
{
    if (run->last_ps < effect_ps)
        run->last_ps = effect_ps;
}

/* The first round is over. */
static void leave_round(struct sim_machine *m, struct cu *cu)
{
    struct l1_round first = cu->rounds.at[0];

    cu->rounds.len--;
    memmove(cu->rounds.at, cu->rounds.at + 1, cu->rounds.len * sizeof first);
    cu->first_round++;
    if (cu->written_ps < first.effect_ps)
        cu->written_ps = first.effect_ps;
    if (first.wave != NONE32) {
        lsu_stored(m, &cu->waves[first.wave], cu->written_ps);
    } else {
        struct kernel_run *run = &m->device->runs[first.run];

        run_wrote(run, cu->written_ps);
        run->stores--;
        run_check_done(m, run);
    }
}

void l1_written(struct sim_machine *m, const struct request *r, uint64_t effect_ps)
{
    struct cu *cu = &m->device->cus[r->cu];
    struct l1_round *round = &cu->rounds.at[r->owner - cu->first_round];

    round->open--;
    if (round->effect_ps < effect_ps)
        round->effect_ps = effect_ps;
    while (cu->rounds.len > 1 && !cu->rounds.at[0].open)
        leave_round(m, cu);
}

void l1_fence(struct sim_machine *m, struct wavefront *w, uint64_t cycle)
{
    struct cu *cu = &m->device->cus[w->cu];
    uint64_t known_ps;

    clean_all(m, cu, w->run, cycle);
    if (end_round(m, cu, (uint32_t)(w - cu->waves), NONE32)) {
        w->stores++;
        return;
    }
    known_ps = cu->written_ps ? cu->written_ps + m->device->noc_ps : 0;
    if (w->stored_ps < known_ps)
        w->stored_ps = known_ps;
}

/* The kernel holds a store, so that it does not end before all of its compute units have been asked. */
void l1_event(struct sim_machine *m, const struct event *e)
{
    struct kernel_run *run = &m->device->runs[e->a];
    uint64_t cycle = clock_cycle_at(&m->core, m->now_ps);

    for (uint32_t i = 0; i < m->config.compute_units; i++) {
        struct cu *cu = &m->device->cus[i];

        if (!(run->ran_on[i / 64] >> i % 64 & 1))
            continue;
        clean_all(m, cu, run, cycle);
        if (end_round(m, cu, NONE32, e->a))
            run->stores++;
        else
            run_wrote(run, cu->written_ps);
    }
    run->stores--;
    run_check_done(m, run);
}
