#include "tests/sim/memory_model.h"

#include <stdlib.h>
#include <string.h>

#define SECOND_PS 1000000000000u

__extension__ typedef unsigned __int128 u128;

/* ---- time ---- */

uint64_t mem_edge(uint64_t hz, uint64_t cycle)
{
    return (uint64_t)((u128)cycle * SECOND_PS / hz);
}

uint64_t mem_cycle_at(uint64_t hz, uint64_t time_ps)
{
    uint64_t cycle = (uint64_t)((u128)time_ps * hz / SECOND_PS);

    while (mem_edge(hz, cycle) < time_ps)
        cycle++;
    return cycle;
}

/* Passes bytes at a rate, one request after the other: the time of all since it was idle last is rounded down. */
struct server {
    uint64_t rate, since_ps, bytes;
};

static uint64_t server_end(const struct server *s)
{
    return s->since_ps + (uint64_t)((u128)s->bytes * SECOND_PS / s->rate);
}

static uint64_t serve(struct server *s, uint64_t arrival_ps, uint64_t bytes, uint64_t *start_ps)
{
    *start_ps = server_end(s);
    if (arrival_ps > *start_ps) {
        *start_ps = s->since_ps = arrival_ps;
        s->bytes = 0;
    }
    s->bytes += bytes;
    return server_end(s);
}

/* Does nothing for a time, from an arrival on or when it has served all before. */
static void hold(struct server *s, uint64_t arrival_ps, uint64_t ps)
{
    if (arrival_ps > server_end(s)) {
        s->since_ps = arrival_ps;
        s->bytes = 0;
    }
    s->since_ps += ps;
}

/* ---- what there is ---- */

enum sector_state { ABSENT, FETCHING, KNOWN }; /* KNOWN: its time is, and may be to come */

#define LIST(type)                                                                                 \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t len, room;                                                                          \
    }

/* Adds to the end of a list. */
#define ADD(list, item)                                                                            \
    ((list).at = room_for_one((list).at, (list).len, &(list).room, sizeof *(list).at),             \
     (list).at[(list).len++] = (item))

static void *room_for_one(void *at, size_t len, size_t *room, size_t bytes)
{
    if (len < *room)
        return at;
    *room = *room ? 2 * *room : 64;
    at = realloc(at, *room * bytes);
    if (!at)
        abort();
    return at;
}

struct l2_line {
    uint64_t line, used;
    unsigned slice, set;
    enum sector_state state[MEM_SECTORS];
    uint64_t ready_ps[MEM_SECTORS];
    bool dirty[MEM_SECTORS];
};

struct l1_line {
    uint64_t line, used;
    uint32_t valid, dirty;
};

/* A line on its way to a compute unit. */
struct miss {
    uint64_t line;
    size_t access;    /* that took the MSHR */
    uint32_t sectors; /* asked for and not here yet */
    unsigned loads;   /* lines of loads that have come to it */
};

/* A line of a load that waits for sectors of a miss. */
struct want {
    uint64_t line;
    size_t access;
    uint32_t sectors;
};

struct cu {
    LIST(struct l1_line) l1;
    LIST(struct miss) misses;
    LIST(struct want) wants;
    LIST(size_t) left; /* requests for what left L1 dirty */
    bool held;
    size_t held_access;
    unsigned held_line;
    uint64_t place; /* of the next look-up: cycle * l1.lines_per_cycle + number in the cycle */
};

/* A row that is open in a channel. */
/* A row of DRAM was opened. */
struct row {
    unsigned channel;
    uint64_t number, open_ps;
};

/* Sectors of a line on their way to L2 and back, or from L2 to DRAM. */
struct request {
    size_t access;
    struct mem_line what;
    enum mem_kind kind;
    unsigned cu, run;
    bool leaves_l1;     /* a store of no access */
    uint64_t effect_ps; /* of such a one */
    bool write_back;
    bool frees_store; /* a write-back: the store `store` waits for it */
    size_t store;
    uint32_t missing; /* waiting in L2: the sectors that are not known */
    uint64_t at_ps;   /* waiting in L2: when the known ones are there */
};

/* What is served first of what happens at one time. */
enum what { AT_DRAM, AGAIN_AT_L2, AT_L2, AT_CU };

struct pending {
    uint64_t time_ps, order; /* of being scheduled */
    enum what what;
    unsigned unit; /* DRAM channels, slices that try again, senders to L2: in order of number */
    size_t request;
};

struct model {
    const struct sim_config *c;
    struct mem_access *accesses;
    struct mem_result *result;
    uint64_t now_ps, order, uses;
    uint64_t noc_ps, l2_latency_ps, atomic_ps, dram_latency_ps;
    unsigned line_sectors, l2_sets, l1_sets; /* of a line; of a slice; of an L1 */
    struct server *slices, *channels;
    struct cu *cus;
    LIST(struct l2_line) l2;
    LIST(struct row) rows;
    LIST(struct request) requests;
    LIST(size_t) waiting; /* requests in L2 whose data is on its way */
    LIST(struct pending) pending;
};

static void *table(size_t count, size_t bytes)
{
    void *p = calloc(count, bytes);

    if (!p)
        abort();
    return p;
}

void mem_log_add(struct mem_log *log, struct mem_event e)
{
    ADD(*log, e);
}

static unsigned count_bits(uint32_t bits)
{
    unsigned n = 0;

    for (; bits; bits >>= 1)
        n += bits & 1;
    return n;
}

static uint64_t bytes_of(const struct model *m, uint32_t sectors)
{
    return (uint64_t)count_bits(sectors) * m->c->sector_bytes;
}

static struct mem_counters *counters_of(const struct model *m, const struct request *r)
{
    return &m->result->counters[r->run];
}

static size_t add_request(struct model *m, struct request r)
{
    ADD(m->requests, r);
    return m->requests.len - 1;
}

static void schedule(struct model *m, uint64_t time_ps, enum what what, unsigned unit,
                     size_t request)
{
    struct pending p = {time_ps, m->order++, what, unit, request};

    ADD(m->pending, p);
}

/* ---- where lines belong ---- */

/* The line's number over the slices; with xor its upper bytes are folded in. */
static unsigned slice_of(const struct model *m, uint64_t line)
{
    uint64_t number = line / m->c->line_bytes, folded = 0;

    if (m->c->l2_hash == L2_HASH_MODULO)
        return (unsigned)(number % m->c->l2_slices);
    for (unsigned byte = 0; byte < 4; byte++)
        folded ^= number >> 8 * byte;
    return (unsigned)(folded % m->c->l2_slices);
}

static unsigned l2_set_of(const struct model *m, uint64_t line)
{
    return (unsigned)(line / m->c->line_bytes / m->c->l2_slices % m->l2_sets);
}

static unsigned l1_set_of(const struct model *m, uint64_t line)
{
    return (unsigned)(line / m->c->line_bytes % m->l1_sets);
}

/* Neighbouring slices share a channel. */
static unsigned channel_of(const struct model *m, uint64_t line)
{
    return slice_of(m, line) / (m->c->l2_slices / m->c->dram_channels);
}

/* ---- sending ---- */

static void send_to_l2(struct model *m, const struct request *r, uint64_t cycle)
{
    uint64_t time_ps = mem_edge(m->c->core_hz, cycle) + m->noc_ps;

    counters_of(m, r)->sectors += count_bits(r->what.sectors);
    mem_log_add(&m->result->requests, (struct mem_event){.time_ps = time_ps,
                                                         .line = r->what.line,
                                                         .sectors = r->what.sectors,
                                                         .cu = r->cu,
                                                         .store = r->kind != MEM_LOAD});
    schedule(m, time_ps, AT_L2, r->cu, add_request(m, *r));
}

/* Everything that the request asked for is there, or has taken effect, at a time. */
static void answer(struct model *m, size_t index, uint64_t at_ps)
{
    struct request *r = &m->requests.at[index];
    struct mem_access *a = &m->accesses[r->access];
    uint64_t cycle = mem_cycle_at(m->c->core_hz, at_ps + m->noc_ps);

    if (r->leaves_l1) {
        r->effect_ps = at_ps;
        return;
    }
    if (r->kind != MEM_LOAD && a->effect_ps < at_ps)
        a->effect_ps = at_ps;
    if (r->kind == MEM_LOAD || r->kind == MEM_ATOMIC_RETURN)
        schedule(m, mem_edge(m->c->core_hz, cycle), AT_CU, r->cu, index);
}

/* ---- DRAM ---- */

static struct l2_line *l2_find(struct model *m, uint64_t line)
{
    for (size_t i = 0; i < m->l2.len; i++)
        if (m->l2.at[i].line == line)
            return &m->l2.at[i];
    return NULL;
}

static void stop_waiting(struct model *m, size_t i)
{
    m->waiting.len--;
    memmove(&m->waiting.at[i], &m->waiting.at[i + 1], (m->waiting.len - i) * sizeof *m->waiting.at);
}

/* Those that wait for sectors of the line: the one that came last is looked at first. */
static void fetched(struct model *m, uint64_t line, uint32_t sectors, uint64_t ready_ps)
{
    struct l2_line *l = l2_find(m, line);

    for (unsigned s = 0; s < m->line_sectors; s++) {
        if (sectors >> s & 1) {
            l->state[s] = KNOWN;
            l->ready_ps[s] = ready_ps;
        }
    }
    for (size_t i = m->waiting.len; i-- > 0;) {
        size_t index = m->waiting.at[i];
        struct request *r = &m->requests.at[index];

        if (r->what.line != line)
            continue;
        if (r->missing & sectors && r->at_ps < ready_ps)
            r->at_ps = ready_ps;
        r->missing &= ~sectors;
        if (!r->missing) {
            stop_waiting(m, i);
            answer(m, index, r->at_ps);
        }
    }
}

/* A store has effect when it has its place and the channel has passed what had to leave for it. */
static void store_freed(struct model *m, size_t store, uint64_t written_ps)
{
    uint64_t at_ps = m->requests.at[store].at_ps;

    answer(m, store, written_ps > at_ps ? written_ps : at_ps);
}

static void pass_dram(struct model *m, const struct request *r, struct server *channel,
                      uint64_t arrival_ps)
{
    uint64_t start_ps, end_ps = serve(channel, arrival_ps, bytes_of(m, r->what.sectors), &start_ps);

    if (!r->write_back)
        fetched(m, r->what.line, r->what.sectors, end_ps + m->dram_latency_ps);
    else if (r->frees_store)
        store_freed(m, r->store, end_ps);
}

/*
 * Whether a request that arrives finds its row open or about to be. All openings are on record: one lasts until the next of its
 * bank, and is forgotten when bank_rows others of the bank have come after it.
 */
static bool row_is_there(const struct model *m, unsigned channel, uint64_t number,
                         uint64_t arrival_ps)
{
    uint64_t end_ps = UINT64_MAX;
    unsigned newer = 0;

    for (size_t i = m->rows.len; i-- > 0 && newer < m->c->dram_bank_rows;) {
        const struct row *r = &m->rows.at[i];

        if (r->channel != channel || r->number % m->c->dram_banks != number % m->c->dram_banks)
            continue;
        if (r->number == number && end_ps > arrival_ps)
            return true;
        end_ps = r->open_ps;
        newer++;
    }
    return false;
}

static uint64_t open_row(struct model *m, unsigned channel, uint64_t number, uint64_t arrival_ps)
{
    uint64_t open_ps = arrival_ps;

    for (size_t i = 0; i < m->rows.len; i++)
        if (m->rows.at[i].channel == channel && m->rows.at[i].open_ps + m->c->dram_row_gap > open_ps)
            open_ps = m->rows.at[i].open_ps + m->c->dram_row_gap;
    hold(&m->channels[channel], open_ps, (uint64_t)m->c->dram_row_miss * 1000);
    ADD(m->rows, ((struct row){channel, number, open_ps}));
    return open_ps;
}

static void serve_dram(struct model *m, size_t index, uint64_t arrival_ps)
{
    const struct request r = m->requests.at[index];
    unsigned number = channel_of(m, r.what.line);
    struct server *channel = &m->channels[number];

    if (m->c->dram_row_bytes) {
        uint64_t row = r.what.line / m->c->dram_row_bytes / m->c->dram_channels;

        if (!row_is_there(m, number, row, arrival_ps)) {
            counters_of(m, &r)->dram_row_misses++;
            arrival_ps = open_row(m, number, row, arrival_ps);
        }
    }
    pass_dram(m, &r, channel, arrival_ps);
}

/* A channel that one slice has for itself is told at once, since the slice sends in order of arrival. */
static void send_to_dram(struct model *m, struct request r, uint64_t arrival_ps)
{
    size_t index = add_request(m, r);

    if (m->c->dram_channels == m->c->l2_slices)
        serve_dram(m, index, arrival_ps);
    else
        schedule(m, arrival_ps, AT_DRAM, channel_of(m, r.what.line), index);
}

/* store: the request that waits for it, NULL for none. */
static void write_back(struct model *m, unsigned run, uint64_t line, uint32_t sectors,
                       uint64_t at_ps, const size_t *store)
{
    struct request r = {.run = run,
                        .what = {.line = line, .sectors = sectors},
                        .write_back = true,
                        .frees_store = store != NULL,
                        .store = store ? *store : 0};

    counters_of(m, &r)->dram_write_bytes += bytes_of(m, sectors);
    send_to_dram(m, r, at_ps);
}

static void fetch(struct model *m, unsigned run, uint64_t line, uint32_t sectors, uint64_t at_ps)
{
    struct request r = {.run = run, .what = {.line = line, .sectors = sectors}};

    counters_of(m, &r)->dram_read_bytes += bytes_of(m, sectors);
    counters_of(m, &r)->l2_misses += count_bits(sectors);
    send_to_dram(m, r, at_ps);
}

/* ---- L2 ---- */

static bool fetching(const struct model *m, const struct l2_line *l)
{
    for (unsigned s = 0; s < m->line_sectors; s++)
        if (l->state[s] == FETCHING)
            return true;
    return false;
}

/* The line that was used longest ago in the set, of those that wait for nothing; NULL if there is none. */
static struct l2_line *l2_oldest(struct model *m, unsigned slice, unsigned set)
{
    struct l2_line *best = NULL;

    for (size_t i = 0; i < m->l2.len; i++) {
        struct l2_line *l = &m->l2.at[i];

        if (l->slice == slice && l->set == set && !fetching(m, l) && (!best || l->used < best->used))
            best = l;
    }
    return best;
}

static bool l2_full(const struct model *m, unsigned slice, unsigned set)
{
    size_t n = 0;

    for (size_t i = 0; i < m->l2.len; i++)
        n += m->l2.at[i].slice == slice && m->l2.at[i].set == set;
    return n == m->c->l2_ways;
}

/* Whether something has to be written back. */
static bool l2_evict(struct model *m, unsigned run, struct l2_line *l, uint64_t at_ps,
                     const size_t *store)
{
    uint32_t dirty = 0;

    m->result->evicted++;
    for (unsigned s = 0; s < m->line_sectors; s++)
        dirty |= (uint32_t)l->dirty[s] << s;
    if (dirty)
        write_back(m, run, l->line, dirty, at_ps, store);
    return dirty != 0;
}

/* The line, with room made for it if it is not there; NULL if every line of its set waits for data. */
static struct l2_line *l2_line_for(struct model *m, unsigned run, uint64_t line, uint64_t at_ps,
                                   const size_t *store, bool *waits)
{
    unsigned slice = slice_of(m, line), set = l2_set_of(m, line);
    struct l2_line *l = l2_find(m, line);

    if (!l) {
        if (l2_full(m, slice, set)) {
            l = l2_oldest(m, slice, set);
            if (!l)
                return NULL;
            *waits = l2_evict(m, run, l, at_ps, store);
        } else {
            ADD(m->l2, (struct l2_line){0});
            l = &m->l2.at[m->l2.len - 1];
        }
        *l = (struct l2_line){.line = line, .slice = slice, .set = set};
    }
    l->used = ++m->uses;
    return l;
}

/* Loads and atomics. What is absent is fetched when the request has been served; what is known may be later than that. */
static void read_l2(struct model *m, size_t index, uint64_t at_ps)
{
    struct request *r = &m->requests.at[index];
    uint64_t ready_ps = at_ps;
    bool waits = false;
    struct l2_line *l = l2_line_for(m, r->run, r->what.line, at_ps, NULL, &waits);
    uint32_t absent = 0;

    r = &m->requests.at[index];
    if (!l) {
        m->result->retries++;
        schedule(m, at_ps > m->now_ps ? at_ps : at_ps + m->l2_latency_ps, AGAIN_AT_L2,
                 slice_of(m, r->what.line), index);
        return;
    }
    r->missing = 0;
    for (unsigned s = 0; s < m->line_sectors; s++) {
        if (!(r->what.sectors >> s & 1))
            continue;
        if (l->state[s] == KNOWN && l->ready_ps[s] > ready_ps)
            ready_ps = l->ready_ps[s];
        if (l->state[s] != KNOWN)
            r->missing |= UINT32_C(1) << s;
        if (l->state[s] == ABSENT) {
            absent |= UINT32_C(1) << s;
            l->state[s] = FETCHING;
        }
        l->dirty[s] = l->dirty[s] || r->kind != MEM_LOAD;
    }
    counters_of(m, r)->l2_hits += count_bits(r->what.sectors & ~absent);
    r->at_ps = ready_ps;
    if (!r->missing) {
        answer(m, index, ready_ps);
        return;
    }
    ADD(m->waiting, index);
    if (absent)
        fetch(m, r->run, r->what.line, absent, at_ps);
}

/* A store takes its place in L2 at once, beside what may be on its way; with no room in L2 it goes on to DRAM. */
static void write_l2(struct model *m, size_t index, uint64_t at_ps)
{
    const struct request r = m->requests.at[index];
    bool waits = false;
    struct l2_line *l;

    m->requests.at[index].at_ps = at_ps;
    l = l2_line_for(m, r.run, r.what.line, at_ps, &index, &waits);
    if (!l) {
        m->result->passed++;
        waits = true;
        write_back(m, r.run, r.what.line, r.what.sectors, at_ps, &index);
    }
    for (unsigned s = 0; l && s < m->line_sectors; s++) {
        if (!(r.what.sectors >> s & 1))
            continue;
        l->dirty[s] = true;
        if (l->state[s] == ABSENT) {
            l->state[s] = KNOWN;
            l->ready_ps[s] = at_ps;
        }
    }
    if (!waits)
        answer(m, index, at_ps);
}

/* The slice passes the bytes; an atomic holds it for as long as its lanes on one word take one after the other. */
static void arrive_at_l2(struct model *m, size_t index)
{
    const struct request r = m->requests.at[index];
    struct server *slice = &m->slices[slice_of(m, r.what.line)];
    uint64_t bytes = bytes_of(m, r.what.sectors), start_ps;
    uint64_t end_ps = serve(slice, m->now_ps, bytes, &start_ps);

    counters_of(m, &r)->l2_bytes += bytes;
    if (r.kind == MEM_ATOMIC || r.kind == MEM_ATOMIC_RETURN) {
        uint64_t held_ps = start_ps + r.what.serial * m->atomic_ps;

        if (held_ps > end_ps) {
            slice->since_ps += held_ps - end_ps;
            end_ps = held_ps;
        }
    }
    if (r.kind == MEM_STORE)
        write_l2(m, index, end_ps + m->l2_latency_ps);
    else
        read_l2(m, index, end_ps + m->l2_latency_ps);
}

/* ---- L1 and the load-store unit ---- */

static struct l1_line *l1_find(struct model *m, unsigned cu, uint64_t line)
{
    struct cu *u = &m->cus[cu];

    for (size_t i = 0; i < u->l1.len; i++)
        if (u->l1.at[i].line == line)
            return &u->l1.at[i];
    return NULL;
}

/* What is dirty in a line goes to L2. */
static void l1_clean(struct model *m, unsigned cu, struct l1_line *l, unsigned run, uint64_t cycle)
{
    const struct request r = {.what = {.line = l->line, .sectors = l->dirty},
                              .kind = MEM_STORE,
                              .cu = cu,
                              .run = run,
                              .leaves_l1 = true};

    if (!l->dirty)
        return;
    ADD(m->cus[cu].left, m->requests.len);
    send_to_l2(m, &r, cycle);
    l->dirty = 0;
    m->result->left++;
}

/* A line that has no sectors yet, in place of the one of its set that was used longest ago if the set is full. */
static struct l1_line *l1_new(struct model *m, unsigned cu, uint64_t line, unsigned run,
                              uint64_t cycle)
{
    struct cu *u = &m->cus[cu];
    struct l1_line *oldest = NULL;
    size_t in_set = 0;

    for (size_t i = 0; i < u->l1.len; i++) {
        if (l1_set_of(m, u->l1.at[i].line) != l1_set_of(m, line))
            continue;
        in_set++;
        if (!oldest || u->l1.at[i].used < oldest->used)
            oldest = &u->l1.at[i];
    }
    if (in_set < m->c->l1_ways) {
        ADD(u->l1, (struct l1_line){0});
        oldest = &u->l1.at[u->l1.len - 1];
    } else {
        l1_clean(m, cu, oldest, run, cycle);
    }
    *oldest = (struct l1_line){.line = line, .used = ++m->uses};
    return oldest;
}

/* A fill makes room for a line that is not there, if loads may, and is no use of one that is. */
static void l1_fill(struct model *m, unsigned cu, const struct request *r, uint64_t cycle)
{
    struct l1_line *l = l1_find(m, cu, r->what.line);

    if (!m->c->l1_enabled || (!l && !m->c->l1_allocate_on_load))
        return;
    if (!l)
        l = l1_new(m, cu, r->what.line, r->run, cycle);
    l->valid |= r->what.sectors;
}

/* The sectors of a line that are in L1; every look-up is a use, that of a load that finds no MSHR too. */
static uint32_t l1_look_up(struct model *m, unsigned cu, uint64_t line)
{
    struct l1_line *l = l1_find(m, cu, line);

    if (!l)
        return 0;
    l->used = ++m->uses;
    return l->valid;
}

/* Without L1 loads do not share MSHRs. */
static bool may_wait(const struct model *m, size_t access, size_t other)
{
    return m->c->l1_enabled || access == other;
}

static struct miss *find_miss(const struct model *m, struct cu *u, uint64_t line, size_t access)
{
    for (size_t i = 0; i < u->misses.len; i++)
        if (u->misses.at[i].line == line && may_wait(m, u->misses.at[i].access, access))
            return &u->misses.at[i];
    return NULL;
}

/* False if the line needs an MSHR and none is free, or has one to which no more loads may come. */
static bool look_up_line(struct model *m, size_t access, const struct mem_line *line, uint64_t cycle)
{
    struct mem_access *a = &m->accesses[access];
    struct mem_counters *counters = &m->result->counters[a->run];
    struct cu *u = &m->cus[a->cu];
    uint32_t missing = line->sectors & ~l1_look_up(m, a->cu, line->line), fresh;
    struct miss *miss = find_miss(m, u, line->line, access);

    if (missing && !miss) {
        if (u->misses.len == m->c->l1_mshrs) {
            m->result->held++;
            return false;
        }
        ADD(u->misses, ((struct miss){line->line, access, 0, 0}));
        miss = &u->misses.at[u->misses.len - 1];
    }
    if (missing && m->c->l1_mshr_loads && miss->loads == m->c->l1_mshr_loads) {
        m->result->full++;
        return false;
    }
    counters->l1_requests++;
    if (!missing) {
        counters->l1_hits++;
        if (a->ready_cycle < cycle + m->c->l1_latency)
            a->ready_cycle = cycle + m->c->l1_latency;
        return true;
    }
    fresh = missing & ~miss->sectors;
    m->result->merged += count_bits(missing & miss->sectors);
    miss->sectors |= missing;
    miss->loads++;
    ADD(u->wants, ((struct want){line->line, access, missing}));
    a->open++;
    if (fresh)
        send_to_l2(m,
                   &(struct request){.access = access,
                                     .what = {.line = line->line, .sectors = fresh},
                                     .kind = MEM_LOAD,
                                     .cu = a->cu,
                                     .run = a->run},
                   cycle);
    return true;
}

static uint64_t place_at(const struct model *m, uint64_t cycle)
{
    return cycle * m->c->l1_lines_per_cycle;
}

/* The unit is free in the cycle after its last look-up. */
static uint64_t free_cycle(const struct model *m, const struct cu *u)
{
    return (u->place + m->c->l1_lines_per_cycle - 1) / m->c->l1_lines_per_cycle;
}

/*
 * Looks up the lines of the load at hand, one place of the port each, until one has to wait for an MSHR. A load that had to wait and
 * then finds all in L1 has had its answer when it could go on.
 */
static void look_up(struct model *m, unsigned cu, uint64_t cycle)
{
    struct cu *u = &m->cus[cu];
    struct mem_access *a = &m->accesses[u->held_access];

    if (u->place < place_at(m, cycle))
        u->place = place_at(m, cycle);
    for (; u->held_line < a->nlines; u->held_line++, u->place++)
        if (!look_up_line(m, u->held_access, &a->lines[u->held_line],
                          u->place / m->c->l1_lines_per_cycle))
            return;
    u->held = false;
    if (cycle > a->cycle && a->fill_cycle < cycle)
        a->fill_cycle = cycle;
    a->unit_free = free_cycle(m, u);
}

static void issue_load(struct model *m, size_t access)
{
    struct mem_access *a = &m->accesses[access];
    struct cu *u = &m->cus[a->cu];

    u->held = true;
    u->held_access = access;
    u->held_line = 0;
    look_up(m, a->cu, a->cycle);
}

/*
 * Whether the line of a store is done in L1. It is where L1 writes back and has the line, or makes room for it. What is written is
 * there for loads, but for sectors that are on their way, which are when they come.
 */
static bool l1_store(struct model *m, const struct mem_access *a, const struct mem_line *line,
                     uint64_t cycle)
{
    struct l1_line *l = l1_find(m, a->cu, line->line);
    const struct miss *miss = find_miss(m, &m->cus[a->cu], line->line, 0);
    bool back = m->c->l1_write == L1_WRITE_BACK;

    if (a->kind != MEM_STORE || !m->c->l1_enabled || (!back && !m->c->l1_allocate_on_store))
        return false;
    if (!l && !m->c->l1_allocate_on_store)
        return false;
    if (!l)
        l = l1_new(m, a->cu, line->line, a->run, cycle);
    l->used = ++m->uses;
    l->valid |= line->sectors & ~(miss ? miss->sectors : 0);
    if (back)
        l->dirty |= line->sectors;
    m->result->kept += back;
    return back;
}

/* An atomic acts in L2, behind what is dirty in its line, and its sectors are no more in L1. */
static void l1_pass(struct model *m, const struct mem_access *a, const struct mem_line *line,
                    uint64_t cycle)
{
    struct l1_line *l = l1_find(m, a->cu, line->line);

    if (!l || a->kind == MEM_STORE)
        return;
    l1_clean(m, a->cu, l, a->run, cycle);
    l->valid &= ~line->sectors;
}

static void issue_through(struct model *m, size_t access)
{
    struct mem_access *a = &m->accesses[access];
    struct cu *u = &m->cus[a->cu];

    u->place = place_at(m, a->cycle);
    for (unsigned i = 0; i < a->nlines; i++, u->place++) {
        uint64_t cycle = u->place / m->c->l1_lines_per_cycle;

        if (l1_store(m, a, &a->lines[i], cycle))
            continue;
        l1_pass(m, a, &a->lines[i], cycle);
        a->open += a->kind == MEM_ATOMIC_RETURN;
        send_to_l2(
            m,
            &(struct request){
                .access = access, .what = a->lines[i], .kind = a->kind, .cu = a->cu, .run = a->run},
            cycle);
    }
    a->unit_free = free_cycle(m, u);
}

/* All that is dirty leaves, in order of sets and in a set in that of its ways. */
static void flush(struct model *m, size_t access)
{
    struct mem_access *a = &m->accesses[access];
    struct cu *u = &m->cus[a->cu];

    for (unsigned set = 0; set < m->l1_sets; set++)
        for (size_t i = 0; i < u->l1.len; i++)
            if (l1_set_of(m, u->l1.at[i].line) == set)
                l1_clean(m, a->cu, &u->l1.at[i], a->run, a->cycle);
    a->left = u->left.len;
}

/* A flush has effect when all that had left L1 by then has. */
static void find_flushed(struct model *m, struct mem_access *a)
{
    for (size_t i = 0; i < a->left; i++) {
        const struct request *r = &m->requests.at[m->cus[a->cu].left.at[i]];

        if (a->effect_ps < r->effect_ps)
            a->effect_ps = r->effect_ps;
    }
}

static void forget(struct model *m)
{
    m->l2.len = m->rows.len = 0;
    for (unsigned i = 0; i < m->c->compute_units; i++)
        m->cus[i].l1.len = 0;
}

static void issue(struct model *m, size_t access)
{
    struct mem_access *a = &m->accesses[access];
    const struct cu *u = &m->cus[a->cu];

    if (a->cold)
        forget(m);
    if (a->kind == MEM_FLUSH) {
        flush(m, access);
        return;
    }
    a->unit_taken = u->held || free_cycle(m, u) > a->cycle;
    if (a->kind == MEM_LOAD)
        issue_load(m, access);
    else
        issue_through(m, access);
}

static void line_done(struct model *m, size_t access, uint64_t cycle)
{
    struct mem_access *a = &m->accesses[access];

    a->open--;
    a->fill_cycle = cycle;
    if (a->ready_cycle < cycle)
        a->ready_cycle = cycle;
}

static void give_sectors(struct model *m, struct cu *u, const struct request *r, uint64_t cycle)
{
    size_t kept = 0;

    for (size_t i = 0; i < u->wants.len; i++) {
        struct want w = u->wants.at[i];

        if (w.line == r->what.line && may_wait(m, w.access, r->access))
            w.sectors &= ~r->what.sectors;
        if (w.sectors)
            u->wants.at[kept++] = w;
        else
            line_done(m, w.access, cycle);
    }
    u->wants.len = kept;
}

/* The MSHR is free when all that was asked for the line has come; then a load that is held goes on. */
static void arrive_at_cu(struct model *m, size_t index)
{
    const struct request r = m->requests.at[index];
    struct cu *u = &m->cus[r.cu];
    uint64_t cycle = mem_cycle_at(m->c->core_hz, m->now_ps);
    struct miss *miss;

    mem_log_add(&m->result->fills, (struct mem_event){.time_ps = m->now_ps,
                                                      .line = r.what.line,
                                                      .sectors = r.what.sectors,
                                                      .cu = r.cu,
                                                      .store = r.kind != MEM_LOAD});
    if (r.kind == MEM_ATOMIC_RETURN) {
        line_done(m, r.access, cycle);
        return;
    }
    l1_fill(m, r.cu, &r, cycle);
    give_sectors(m, u, &r, cycle);
    miss = find_miss(m, u, r.what.line, r.access);
    miss->sectors &= ~r.what.sectors;
    if (miss->sectors)
        return;
    *miss = u->misses.at[--u->misses.len];
    if (u->held)
        look_up(m, r.cu, cycle);
}

/* ---- one thing after the other ---- */

static bool before(const struct pending *a, const struct pending *b)
{
    if (a->time_ps != b->time_ps)
        return a->time_ps < b->time_ps;
    if (a->what != b->what)
        return a->what < b->what;
    if (a->unit != b->unit)
        return a->unit < b->unit;
    return a->order < b->order;
}

static size_t earliest(const struct model *m)
{
    size_t best = 0;

    for (size_t i = 1; i < m->pending.len; i++)
        if (before(&m->pending.at[i], &m->pending.at[best]))
            best = i;
    return best;
}

static void happen(struct model *m, size_t i)
{
    struct pending p = m->pending.at[i];

    m->pending.at[i] = m->pending.at[--m->pending.len];
    m->now_ps = p.time_ps;
    switch (p.what) {
    case AT_DRAM:
        serve_dram(m, p.request, p.time_ps);
        break;
    case AGAIN_AT_L2:
        read_l2(m, p.request, p.time_ps);
        break;
    case AT_L2:
        arrive_at_l2(m, p.request);
        break;
    case AT_CU:
        arrive_at_cu(m, p.request);
        break;
    }
}

/* What comes at an edge comes before what issues at it. */
static void run(struct model *m, size_t count)
{
    size_t next = 0;

    while (next < count || m->pending.len) {
        size_t i = m->pending.len ? earliest(m) : 0;
        uint64_t issue_ps =
            next < count ? mem_edge(m->c->core_hz, m->accesses[next].cycle) : UINT64_MAX;

        if (m->pending.len && m->pending.at[i].time_ps <= issue_ps) {
            happen(m, i);
        } else {
            m->now_ps = issue_ps;
            issue(m, next++);
        }
    }
}

static void make_servers(struct model *m)
{
    const struct sim_config *c = m->c;

    m->slices = table(c->l2_slices, sizeof *m->slices);
    m->channels = table(c->dram_channels, sizeof *m->channels);
    for (unsigned i = 0; i < c->l2_slices; i++)
        m->slices[i].rate = c->l2_hz * c->l2_bytes_per_cycle;
    for (unsigned i = 0; i < c->dram_channels; i++)
        m->channels[i].rate = c->dram_rate / c->dram_channels;
}

static void free_model(struct model *m)
{
    for (unsigned i = 0; i < m->c->compute_units; i++) {
        free(m->cus[i].l1.at);
        free(m->cus[i].misses.at);
        free(m->cus[i].wants.at);
        free(m->cus[i].left.at);
    }
    free(m->cus);
    free(m->slices);
    free(m->channels);
    free(m->l2.at);
    free(m->rows.at);
    free(m->requests.at);
    free(m->waiting.at);
    free(m->pending.at);
}

void mem_model_run(const struct sim_config *c, struct mem_access *accesses, size_t count,
                   struct mem_result *result)
{
    struct model m = {.c = c, .accesses = accesses, .result = result};

    memset(result, 0, sizeof *result);
    m.line_sectors = c->line_bytes / c->sector_bytes;
    m.l1_sets = c->l1_bytes / (c->l1_ways * c->line_bytes);
    m.l2_sets = c->l2_bytes / (c->l2_slices * c->l2_ways * c->line_bytes);
    m.noc_ps = mem_edge(c->core_hz, c->noc_latency);
    m.l2_latency_ps = mem_edge(c->l2_hz, c->l2_latency);
    m.atomic_ps = mem_edge(c->l2_hz, c->l2_atomic_cycles);
    m.dram_latency_ps = (uint64_t)c->dram_latency * 1000;
    make_servers(&m);
    m.cus = table(c->compute_units, sizeof *m.cus);
    run(&m, count);
    for (size_t i = 0; i < count; i++)
        find_flushed(&m, &accesses[i]);
    free_model(&m);
}
