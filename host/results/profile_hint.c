/* What the numbers of a line say, in a sentence: only what arithmetic bears out. */
#include "host/results/profile.h"

#include "isa/format.h"
#include "isa/load.h"
#include "sim/base/bits.h"
#include "sim/base/text.h"

#include <inttypes.h>

enum { SOURCES_MAX = 3 }; /* lines named that a line waits for */

/* A hint has to be worth reading. */
static const double WASTE = 1.2;  /* sectors and passes over the least */
static const double HOT = 0.005;  /* of the kernel's cycles, for hints about waiting */
static const double SHARE = 0.02; /* of the kernel's sectors or passes, for hints about accesses */
static const double MOST = 0.4;   /* of the line's cycles, for what it waits for */
static const double FEW_LANES = 0.5; /* of a wavefront */

static const struct isa_insn *insn_at(const struct profile_kernel *k, uint32_t pc)
{
    return &k->program->insns[pc];
}

static const struct profile_insn *counts_at(const struct profile_kernel *k, uint32_t pc)
{
    return &k->insns[pc - k->kernel->first];
}

static void begin(struct text *out)
{
    if (out->len)
        text_add(out, "; ");
}

static double each(uint64_t sum, uint64_t n)
{
    return (double)sum / (double)n;
}

static const char *verb(const struct isa_insn *in)
{
    switch (in->format) {
    case ISA_GLOAD:
    case ISA_LLOAD:
        return "read";
    case ISA_GSTORE:
    case ISA_LSTORE:
        return "write";
    default:
        return "update";
    }
}

/* ---- accesses -------------------------------------------------------------------------------- */

/* The instruction of the line that wastes the most. */
static uint32_t most_wasteful(const struct profile_kernel *k, const struct profile_line *line,
                              const uint32_t *pcs)
{
    uint64_t most = 0;
    uint32_t best = pcs[0];

    for (uint32_t i = 0; i < line->instructions; i++) {
        const struct profile_counts *c = &counts_at(k, pcs[i])->counts;
        uint64_t waste = c->sectors - c->least_sectors + c->passes - c->least_passes;

        if (waste > most) {
            most = waste;
            best = pcs[i];
        }
    }
    return best;
}

static void hint_sectors(const struct profile_kernel *k, struct profile_line *line, uint32_t pc,
                         struct text *out)
{
    const struct profile_insn *n = counts_at(k, pc);
    const struct profile_counts *c = &n->counts;

    if ((double)c->sectors < WASTE * (double)c->least_sectors ||
        (double)c->sectors < SHARE * (double)k->counts.sectors)
        return;
    line->wasteful = true;
    begin(out);
    text_add(out, "%.3g sectors a request where %.3g would do: ", each(c->sectors, c->requests),
             each(c->least_sectors, c->requests));
    if (!n->distance.weight)
        text_add(out, "the lanes %s addresses that do not lie side by side", verb(insn_at(k, pc)));
    else if (n->distance.bytes == (int64_t)n->bytes)
        text_add(out, "the lanes lie side by side, but begin in the middle of a sector");
    else
        text_add(out, "neighbouring lanes %s addresses %" PRId64 " bytes apart",
                 verb(insn_at(k, pc)), n->distance.bytes);
}

static void hint_atomic(const struct profile_kernel *k, struct profile_line *line, uint32_t pc,
                        struct text *out)
{
    const struct profile_insn *n = counts_at(k, pc);

    if (insn_at(k, pc)->format != ISA_GATOMIC || !n->distance.weight || n->distance.bytes)
        return;
    line->wasteful = true;
    begin(out);
    text_add(out, "%.3g lanes update one word, one after the other",
             each(n->counts.lanes, n->counts.issues));
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

static void hint_passes(const struct profile *p, const struct profile_kernel *k,
                        struct profile_line *line, uint32_t pc, struct text *out)
{
    const struct profile_insn *n = counts_at(k, pc);
    const struct profile_counts *c = &n->counts;
    uint64_t distance = (uint64_t)(n->distance.bytes < 0 ? -n->distance.bytes : n->distance.bytes);
    uint64_t meet = common_divisor(distance / 4, p->config.lds_banks);

    if ((double)c->passes < WASTE * (double)c->least_passes ||
        (double)c->passes < SHARE * (double)k->counts.passes)
        return;
    line->wasteful = true;
    begin(out);
    text_add(out, "%.3g passes an access where %.3g would do: ", each(c->passes, c->local_accesses),
             each(c->least_passes, c->local_accesses));
    if (!n->distance.weight)
        text_add(out, "lanes meet on a bank");
    else if (distance == 0)
        text_add(out, "the lanes update one word");
    else if (meet > 1)
        text_add(out,
                 "neighbouring lanes %s words %" PRIu64 " bytes apart, so that lanes %" PRIu64
                 " apart are on one of the %" PRIu32 " banks",
                 verb(insn_at(k, pc)), distance, p->config.lds_banks / meet, p->config.lds_banks);
    else
        text_add(out, "neighbouring lanes %s words %" PRIu64 " bytes apart", verb(insn_at(k, pc)),
                 distance);
}

/* Of a branch the active lanes are those that take it. */
static void hint_lanes(const struct profile *p, const struct profile_kernel *k,
                       const struct profile_line *line, uint32_t pc, struct text *out)
{
    const struct profile_counts *c = &line->counts;
    uint32_t width = p->config.wavefront_size;

    if (!c->issues || insn_at(k, pc)->cls == ISA_C_BRANCH ||
        (double)c->lanes >= FEW_LANES * (double)c->issues * width ||
        (double)c->issues < SHARE * (double)k->counts.issues)
        return;
    begin(out);
    text_add(out, "%.3g of %" PRIu32 " lanes are active", each(c->lanes, c->issues), width);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static bool writes(const struct isa_insn *in, uint16_t reg)
{
    for (unsigned i = 0; i < in->nset; i++)
        if (in->set[i] == reg)
            return true;
    return false;
}

/* The last of the instructions [from, end) that writes the register. */
static const struct isa_insn *last_writer(const struct profile_kernel *k, uint32_t from,
                                          uint32_t end, uint16_t reg)
{
    for (uint32_t at = end; at > from; at--)
        if (writes(insn_at(k, at - 1), reg))
            return insn_at(k, at - 1);
    return NULL;
}

static bool goes_back(const struct isa_insn *in)
{
    return (isa_formats[in->format].extra & ISA_X_TARGET) && in->target <= in->pc;
}

/*
 * The instruction that most likely wrote the register: the one before pc in the text; if that stands
 * ahead of a loop around pc, and the loop writes the register further down, the one there.
 */
static const struct isa_insn *writer_of(const struct profile_kernel *k, uint32_t pc, uint16_t reg)
{
    const struct isa_insn *before = last_writer(k, k->kernel->first, pc, reg);

    for (uint32_t at = pc; at < k->kernel->end; at++) {
        const struct isa_insn *back = insn_at(k, at), *around;

        if (!goes_back(back) || back->target > pc || (before && before->pc >= back->target))
            continue;
        around = last_writer(k, pc, at + 1, reg);
        if (around)
            return around;
    }
    return before;
}

/* Whether a wait for a result of the instruction is booked under the reason. */
static bool books(const struct isa_insn *in, enum sim_stall reason)
{
    if (reason == SIM_STALL_MEMORY)
        return in->cls == ISA_C_MEM;
    if (reason == SIM_STALL_LDS)
        return in->cls == ISA_C_LDS;
    return in->cls != ISA_C_MEM && in->cls != ISA_C_LDS;
}

struct sources {
    uint32_t line[SOURCES_MAX]; /* indices in isa_program.lines */
    unsigned n;
    bool more;
};

static bool same_place(const struct profile_kernel *k, uint32_t a, uint32_t b)
{
    const struct isa_line *x = &k->program->lines[a], *y = &k->program->lines[b];

    return x->file == y->file && x->line == y->line;
}

static void add_source(const struct profile_kernel *k, struct sources *s, uint32_t line)
{
    for (unsigned i = 0; i < s->n; i++)
        if (same_place(k, s->line[i], line))
            return;
    if (s->n < SOURCES_MAX)
        s->line[s->n++] = line;
    else
        s->more = true;
}

/* Of registers that are overwritten nothing is said: it is seldom they that take the time. */
static void find_sources(const struct profile_kernel *k, uint32_t pc, enum sim_stall reason,
                         struct sources *s)
{
    uint16_t regs[ISA_SB_MAX_WAIT];
    unsigned n = counts_at(k, pc)->counts.stalls[reason] ? isa_sources(insn_at(k, pc), regs) : 0;

    for (unsigned i = 0; i < n; i++) {
        const struct isa_insn *from = writer_of(k, pc, regs[i]);

        if (from && books(from, reason))
            add_source(k, s, from->line);
    }
}

static void name_sources(const struct profile_kernel *k, const struct profile_line *line,
                         const struct sources *s, struct text *out)
{
    for (unsigned i = 0; i < s->n; i++) {
        const struct isa_line *l = &k->program->lines[s->line[i]];
        const char *file = k->program->files[l->file];

        text_add(out, "%s", i == 0 ? "" : i + 1 == s->n && !s->more ? " and " : ", ");
        if (strcmp(file, line->file) != 0)
            text_add(out, "%s:", file);
        text_add(out, "%" PRIu32, l->line);
    }
    if (s->more)
        text_add(out, " and others");
}

/* The reason that takes most of the line's cycles, if it is one that has a source. */
static bool main_wait(const struct profile_line *line, enum sim_stall *reason)
{
    static const enum sim_stall with_source[] = {SIM_STALL_MEMORY, SIM_STALL_LDS,
                                                 SIM_STALL_SCOREBOARD};
    double cycles = (double)profile_cycles(&line->counts);

    for (size_t i = 0; i < sizeof with_source / sizeof *with_source; i++) {
        *reason = with_source[i];
        if ((double)line->counts.stalls[*reason] >= MOST * cycles)
            return true;
    }
    return false;
}

static void hint_wait(const struct profile_kernel *k, const struct profile_line *line,
                      const uint32_t *pcs, struct text *out)
{
    struct sources s = {0};
    enum sim_stall reason;

    if ((double)profile_cycles(&line->counts) < HOT * (double)k->cycles || !main_wait(line, &reason))
        return;
    for (uint32_t i = 0; i < line->instructions; i++)
        find_sources(k, pcs[i], reason, &s);
    if (!s.n)
        return;
    begin(out);
    text_add(out, "waits for %s line%s ",
             reason == SIM_STALL_MEMORY ? "the global access of"
             : reason == SIM_STALL_LDS  ? "the local access of"
                                        : "the result of",
             s.n > 1 ? "s" : "");
    name_sources(k, line, &s, out);
}

static void hint_mshr(const struct profile *p, const struct profile_kernel *k,
                      const struct profile_line *line, struct text *out)
{
    double cycles = (double)profile_cycles(&line->counts);

    if (cycles < HOT * (double)k->cycles ||
        (double)line->counts.stalls[SIM_STALL_MSHR] < MOST * cycles)
        return;
    begin(out);
    text_add(out, "all %" PRIu32 " MSHRs of the L1 are taken", p->config.l1_mshrs);
}

void profile_hint(const struct profile *p, const struct profile_kernel *k,
                  struct profile_line *line, const uint32_t *pcs, struct text *out)
{
    uint32_t pc = most_wasteful(k, line, pcs);

    if (!profile_cycles(&line->counts))
        return;
    if (counts_at(k, pc)->counts.requests) {
        hint_sectors(k, line, pc, out);
        hint_atomic(k, line, pc, out);
    }
    if (counts_at(k, pc)->counts.local_accesses)
        hint_passes(p, k, line, pc, out);
    hint_lanes(p, k, line, pc, out);
    hint_wait(k, line, pcs, out);
    hint_mshr(p, k, line, out);
}
