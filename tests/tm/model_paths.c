#include "tests/tm/model_paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    for (; size >= 8; size -= 8, bytes += 8) {
        uint64_t x;

        memcpy(&x, bytes, 8);
        hash = (hash ^ x) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

/* ---- sets of hashes ---- */

struct set {
    uint64_t *slot; /* 0: empty */
    size_t count, room;
};

static bool set_put(struct set *s, uint64_t key);

static void set_grow(struct set *s)
{
    struct set larger = {.room = s->room ? 2 * s->room : 256};

    larger.slot = calloc(larger.room, sizeof *larger.slot);
    for (size_t i = 0; i < s->room; i++)
        if (s->slot[i])
            set_put(&larger, s->slot[i]);
    free(s->slot);
    *s = larger;
}

/* Whether it was not there before. */
static bool set_put(struct set *s, uint64_t key)
{
    size_t i;

    key = key ? key : 1;
    if (2 * s->count >= s->room)
        set_grow(s);
    for (i = key & (s->room - 1); s->slot[i]; i = (i + 1) & (s->room - 1))
        if (s->slot[i] == key)
            return false;
    s->slot[i] = key;
    s->count++;
    return true;
}

bool paths_has(const struct paths_ends *ends, uint64_t end)
{
    for (size_t i = 0; i < ends->count; i++)
        if (ends->end[i] == end)
            return true;
    return false;
}

void paths_add(struct paths_ends *ends, uint64_t end)
{
    if (paths_has(ends, end))
        return;
    if (ends->count == ends->room) {
        ends->room = ends->room ? 2 * ends->room : 16;
        ends->end = realloc(ends->end, ends->room * sizeof *ends->end);
    }
    ends->end[ends->count++] = end;
}

void paths_free(struct paths *paths)
{
    free(paths->ends.end);
    paths->ends = (struct paths_ends){0};
}

/* ---- every schedule ---- */

struct explorer {
    struct paths *paths;
    const struct run_machine *machine;
    bool (*broken)(void *, char why[256]);
    struct set seen;
};

static uint64_t end_of(const struct run_program *p, const uint8_t *memory,
                       const uint64_t acc[MODEL_WAVES][64])
{
    uint64_t hash = hash_bytes(1, memory, 4 * (size_t)p->o.words);

    for (unsigned v = 0; v < p->o.waves; v++)
        hash = hash_bytes(hash, acc[v], p->o.width * sizeof acc[v][0]);
    return hash;
}

static void reach_end(struct explorer *e, const struct run *r)
{
    struct paths *paths = e->paths;
    uint64_t acc[MODEL_WAVES][64] = {{0}};
    unsigned aborts = 0;

    for (unsigned v = 0; v < MODEL_WAVES; v++) {
        memcpy(acc[v], r->wave[v].acc, sizeof acc[v]);
        aborts += r->wave[v].aborts;
        paths->modes |= r->wave[v].modes;
    }
    if (aborts > paths->most_aborts)
        paths->most_aborts = aborts;
    if (aborts < paths->least_aborts)
        paths->least_aborts = aborts;
    paths_add(&paths->ends, end_of(r->program, e->machine->memory(e->machine->state), acc));
}

static bool explore(struct explorer *e, const struct run *from);

static uint64_t name_of(const struct explorer *e, const struct run *r)
{
    size_t from = offsetof(struct run_wave, exec);
    size_t to = e->paths->count_aborts ? sizeof r->wave[0] : offsetof(struct run_wave, reached);
    size_t lanes = r->program->o.width * sizeof r->wave[0].acc[0];
    uint64_t hash = 7;

    for (unsigned v = 0; v < r->program->o.waves; v++) {
        const struct run_wave *w = &r->wave[v];

        hash = hash_bytes(hash, w->acc, lanes);
        hash = hash_bytes(hash, w->saved, lanes);
        hash = hash_bytes(hash, (const unsigned char *)w + from, to - from);
    }
    return hash_bytes(hash, e->machine->state, e->machine->named);
}

/* One wavefront's step from a state, and all that follows; the machine's block is put back. */
static bool explore_step(struct explorer *e, const struct run *from, unsigned wave)
{
    struct run_counts counts = {0};
    struct run r = *from;
    void *state = e->machine->state, *saved = malloc(e->machine->size);
    bool fine;

    memcpy(saved, state, e->machine->size);
    fine = run_step(&r, wave, e->machine, NULL, &counts, e->paths->why) &&
           !(e->broken && e->broken(state, e->paths->why));
    e->paths->steps++;
    if (fine && set_put(&e->seen, name_of(e, &r)))
        fine = explore(e, &r);
    memcpy(state, saved, e->machine->size);
    free(saved);
    return fine;
}

static bool explore(struct explorer *e, const struct run *from)
{
    unsigned ready = 0, ended = 0;

    e->paths->states++;
    for (unsigned v = 0; v < from->program->o.waves; v++) {
        ended += from->wave[v].state == RUN_ENDED;
        if (!run_can_step(from, v))
            continue;
        ready++;
        if (!explore_step(e, from, v))
            return false;
    }
    if (ended == from->program->o.waves)
        reach_end(e, from);
    else if (ready == 0)
        snprintf(e->paths->why, sizeof e->paths->why, "every wavefront waits");
    return ready || ended == from->program->o.waves;
}

bool paths_explore(struct paths *paths, const struct run_program *p,
                   const struct run_machine *machine, bool (*broken)(void *state, char why[256]))
{
    struct explorer e = {paths, machine, broken, {0}};
    struct run r;
    bool fine;

    *paths = (struct paths){.least_aborts = ~0u, .count_aborts = paths->count_aborts};
    run_start(&r, p);
    fine = explore(&e, &r);
    free(e.seen.slot);
    return fine;
}

/* ---- one work-item at a time ---- */

struct serial {
    const struct run_program *p;
    uint8_t memory[4 * MODEL_WORDS];
    uint64_t acc[MODEL_WAVES][64];
    unsigned pc[MODEL_WAVES][64];
};

static enum run_op_kind at(const struct serial *s, unsigned wave, unsigned lane)
{
    return s->p->op[wave][s->pc[wave][lane]].kind;
}

/* Whether every work-item is at a barrier or has ended. */
static bool all_meet(const struct serial *s)
{
    for (unsigned v = 0; v < s->p->o.waves; v++)
        for (unsigned lane = 0; lane < s->p->o.width; lane++)
            if (s->p->exec[v] >> lane & 1 && at(s, v, lane) != RUN_BARRIER &&
                at(s, v, lane) != RUN_END)
                return false;
    return true;
}

static void pass_barrier(struct serial *s)
{
    for (unsigned v = 0; v < s->p->o.waves; v++)
        for (unsigned lane = 0; lane < s->p->o.width; lane++)
            s->pc[v][lane] += s->p->exec[v] >> lane & 1 && at(s, v, lane) == RUN_BARRIER;
}

/* Runs a work-item up to the end of a transaction, of an access outside, or a barrier; false: it is there. */
static bool serial_step(struct serial *s, unsigned wave, unsigned lane)
{
    unsigned *pc = &s->pc[wave][lane];
    unsigned first = *pc;
    bool inside = false;

    for (;; ++*pc) {
        const struct run_op *op = &s->p->op[wave][*pc];

        if (op->kind == RUN_END || op->kind == RUN_BARRIER)
            return *pc != first;
        if (op->kind == RUN_BEGIN)
            inside = true;
        else if (op->kind == RUN_COMMIT)
            break;
        else if (op->lanes & s->p->exec[wave] & UINT64_C(1) << lane) {
            run_alone(s->p, op, lane, s->memory, &s->acc[wave][lane]);
            if (!inside)
                break;
        }
    }
    ++*pc;
    return true;
}

static void serial_from(struct paths_ends *ends, const struct serial *start)
{
    struct serial here = *start, *from = &here;
    bool ended = true;

    if (all_meet(from))
        pass_barrier(from);

    for (unsigned v = 0; v < from->p->o.waves; v++)
        for (unsigned lane = 0; lane < from->p->o.width; lane++) {
            struct serial s = *from;

            if (!(from->p->exec[v] >> lane & 1) || !serial_step(&s, v, lane))
                continue;
            ended = false;
            serial_from(ends, &s);
        }
    if (ended)
        paths_add(ends, end_of(from->p, from->memory, (const uint64_t(*)[64])from->acc));
}

void paths_serial(struct paths_ends *ends, const struct run_program *p, const uint8_t *memory)
{
    struct serial s = {.p = p};
    struct run r;

    run_start(&r, p);
    memcpy(s.memory, memory, 4 * (size_t)p->o.words);
    for (unsigned v = 0; v < p->o.waves; v++)
        memcpy(s.acc[v], r.wave[v].acc, sizeof s.acc[v]);
    serial_from(ends, &s);
}
