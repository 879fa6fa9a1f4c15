#include "tests/rt/hb_log.h"

#include <stdlib.h>
#include <string.h>

/* Sets of tickets, a bit each. */
struct hb_log {
    size_t words, ncmds, nseen;
    uint64_t *before; /* of each command */
    uint64_t *known;  /* to the host after each sight; the first set is before any */
};

static uint64_t *before_of(const struct hb_log *log, uint64_t ticket)
{
    return log->before + (ticket - 1) * log->words;
}

static uint64_t *known_after(const struct hb_log *log, size_t seen)
{
    return log->known + seen * log->words;
}

static bool has(const uint64_t *set, uint64_t ticket)
{
    return set[(ticket - 1) / 64] >> (ticket - 1) % 64 & 1;
}

static void unite(uint64_t *set, const uint64_t *with, size_t words)
{
    for (size_t i = 0; i < words; i++)
        set[i] |= with[i];
}

/* The command and all before it. */
static void add_command(const struct hb_log *log, uint64_t *set, uint64_t ticket)
{
    set[(ticket - 1) / 64] |= UINT64_C(1) << (ticket - 1) % 64;
    unite(set, before_of(log, ticket), log->words);
}

static void add_sight(const struct hb_log *log, size_t i, struct fake_sight s)
{
    uint64_t *set = known_after(log, i + 1);

    memcpy(set, known_after(log, i), log->words * sizeof *set);
    if (s.ticket)
        add_command(log, set, s.ticket);
    for (uint64_t t = 1; s.ticket == 0 && t <= s.last; t++)
        add_command(log, set, t);
}

static void fill(struct hb_log *log, const struct sim_machine *m)
{
    size_t sights = 0;
    uint64_t *last_of_queue = calloc(log->ncmds + 1, sizeof *last_of_queue);

    for (uint64_t t = 1; t <= log->ncmds; t++) {
        const struct fake_cmd *c = fake_cmd(m, t - 1);
        uint64_t *set = before_of(log, t);

        for (; sights < c->seen; sights++)
            add_sight(log, sights, fake_sight(m, sights));
        unite(set, known_after(log, c->seen), log->words);
        if (!c->fresh && last_of_queue[c->queue])
            add_command(log, set, last_of_queue[c->queue]);
        if (c->kind == SIM_WAIT)
            add_command(log, set, c->awaited);
        last_of_queue[c->queue] = t;
    }
    for (; sights < log->nseen; sights++)
        add_sight(log, sights, fake_sight(m, sights));
    free(last_of_queue);
}

struct hb_log *hb_log_new(const struct sim_machine *m)
{
    struct hb_log *log = calloc(1, sizeof *log);

    log->ncmds = fake_count(m);
    log->nseen = fake_seen(m);
    log->words = log->ncmds / 64 + 1;
    log->before = calloc((log->ncmds + 1) * log->words, sizeof *log->before);
    log->known = calloc((log->nseen + 1) * log->words, sizeof *log->known);
    fill(log, m);
    return log;
}

void hb_log_free(struct hb_log *log)
{
    free(log->before);
    free(log->known);
    free(log);
}

bool hb_log_before(const struct hb_log *log, uint64_t earlier, uint64_t later)
{
    return has(before_of(log, later), earlier);
}

bool hb_log_known(const struct hb_log *log, uint64_t ticket, size_t seen)
{
    return has(known_after(log, seen), ticket);
}
