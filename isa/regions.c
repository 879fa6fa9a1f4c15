#include "isa/regions.h"

#include "isa/asleep.h"
#include "isa/format.h"
#include "isa/liveness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum hd_status no_memory(struct hd_error *err)
{
    return hd_error_set(err, HD_INTERNAL, "out-of-memory", "", "",
                        "memory ran out looking at a kernel");
}

static enum hd_status refuse(const struct isa_program *program, uint32_t pc, struct hd_error *err,
                             const char *hint, const char *unit, const char *what)
{
    char place[300];

    isa_place(program, pc, place, sizeof place);
    return hd_error_set(err, HD_BAD_INPUT, "divergence-unit", place, hint,
                        "unit %s cannot run %s: %s", unit, isa_ops[program->insns[pc].op].name,
                        what);
}

/* ---- lanes apart ------------------------------------------------------------------------------ */

/* Ends in a region: lanes that slept go on alone, so that whoever is behind may be apart from those that ended later. */
static void spread_from_ends(const struct isa_insn *insns, uint32_t n, bool *apart)
{
    bool ended = false;

    for (uint32_t i = 0; i < n; i++) {
        ended |= apart[i] && insns[i].format == ISA_END;
        apart[i] |= ended;
    }
}

static void fill_apart(const uint32_t *from, uint32_t n, uint32_t *begins, bool *apart)
{
    uint32_t depth = 0;

    for (uint32_t i = 0; i < n; i++)
        if (from[i] < i) {
            begins[from[i]]++;
            begins[i]--;
        }
    for (uint32_t i = 0; i < n; i++) {
        depth += begins[i];
        apart[i] = depth > 0;
    }
}

bool isa_divergent_regions(const struct isa_program *program, const struct isa_kernel *kernel,
                           bool *apart)
{
    const struct isa_insn *insns = program->insns + kernel->first;
    uint32_t n = kernel->end - kernel->first;
    uint32_t *from, *begins;
    bool good;

    memset(apart, 0, n * sizeof *apart);
    if (kernel->forms != ISA_FORM_GOTO)
        return true;
    from = calloc(n, sizeof *from);
    begins = calloc(n, sizeof *begins);
    good = from && begins && isa_find_asleep(insns, kernel->first, n, ISA_ASLEEP_APART, from);

    if (good) {
        fill_apart(from, n, begins, apart);
        spread_from_ends(insns, n, apart);
    }
    free(from);
    free(begins);
    return good;
}

bool isa_crosses_lanes(const struct isa_insn *in)
{
    if (in->flags & (ISA_F_NOMASK | ISA_F_XLANE))
        return true;
    switch (in->format) {
    case ISA_REDUCE:
    case ISA_BRANCH_M:
    case ISA_WRITELANE:
    case ISA_SAVE_EXEC:
        return true;
    case ISA_MASK_OP:
        return in->d.kind == ISA_O_S;
    default:
        return false;
    }
}

enum hd_status isa_refuse_crossing(const struct isa_program *program,
                                   const struct isa_kernel *kernel, const char *unit,
                                   struct hd_error *err)
{
    uint32_t n = kernel->end - kernel->first;
    bool *apart = calloc(n, sizeof *apart);
    enum hd_status status = HD_OK;

    if (!apart || !isa_divergent_regions(program, kernel, apart))
        status = no_memory(err);
    for (uint32_t i = 0; i < n && status == HD_OK; i++) {
        const struct isa_insn *in = &program->insns[kernel->first + i];

        if (apart[i] && isa_crosses_lanes(in))
            status =
                refuse(program, in->pc, err, "move it out of the region, or choose goto-join", unit,
                       in->flags & ISA_F_NOMASK
                           ? "lanes may be apart here, and .nomask acts on all of them"
                           : "lanes may be apart here, and it depends on which are together");
    }
    free(apart);
    return status;
}

/* ---- ranges that forward branches on a mask skip ---------------------------------------------- */

struct ranges {
    const struct isa_program *program;
    const struct isa_insn *insns;
    uint32_t first, n;
    struct isa_scalars *live;
    uint32_t *branch; /* of each target: 1 + index of the first forward mask branch that leads there */
    uint32_t *inner; /* of each place: the nearest such target behind it whose range it is in */
    uint32_t *stack, depth;
    uint32_t *written; /* of each scalar: 1 + index of the last write so far */
};

static bool find_ranges(struct ranges *r)
{
    bool any = false;

    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t target = r->insns[i].target - r->first;

        if (r->insns[i].format != ISA_BRANCH_M || target <= i)
            continue;
        any = true;
        if (!r->branch[target])
            r->branch[target] = i + 1;
    }
    return any;
}

/* The nearest end of a range around each instruction, UINT32_MAX outside of all. */
static void find_inner(struct ranges *r)
{
    uint32_t depth = 0;

    for (uint32_t i = r->n; i-- > 0;) {
        while (depth && r->branch[r->stack[depth - 1]] > i)
            depth--;
        r->inner[i] = depth ? r->stack[depth - 1] : UINT32_MAX;
        if (r->branch[i])
            r->stack[depth++] = i;
    }
}

/* A scalar that the range in front of target `end` writes and that is read from there on; ISA_SCALARS if none. */
static unsigned written_and_live(const struct ranges *r, uint32_t end)
{
    unsigned s = 0;

    while (s < ISA_SCALARS && !(isa_scalars_has(&r->live[end], s) && r->written[s] > r->branch[end]))
        s++;
    return s;
}

static enum hd_status check_end(const struct ranges *r, uint32_t end, const char *unit,
                                struct hd_error *err)
{
    unsigned s = written_and_live(r, end);
    char what[120], name[8];

    if (s == ISA_SCALARS)
        return HD_OK;
    isa_scalar_name(s, name);
    snprintf(what, sizeof what, "no branch skips it, so that %s changes though no lane asks for it",
             name);
    return refuse(r->program, r->first + r->written[s] - 1, err,
                  "write a register of its own inside, or choose any-branch", unit, what);
}

/* Keeps stack[] the forward mask branches before i, with the last one on top whose range i is in. */
static void follow_ranges(struct ranges *r, uint32_t i)
{
    while (r->depth && r->insns[r->stack[r->depth - 1]].target - r->first <= i)
        r->depth--;
    if (r->insns[i].format == ISA_BRANCH_M && r->insns[i].target > r->insns[i].pc)
        r->stack[r->depth++] = i;
}

/* A scalar branch that leads out of a range around it, or an end of all lanes in one. */
static enum hd_status check_way_out(struct ranges *r, uint32_t i, const char *unit,
                                    struct hd_error *err)
{
    const struct isa_insn *in = &r->insns[i];
    uint32_t end = r->inner[i], target = in->target - r->first;
    bool scalar = in->format == ISA_JUMP || in->format == ISA_BRANCH_S;

    follow_ranges(r, i);
    if (end == UINT32_MAX)
        return HD_OK;
    if (in->format == ISA_END && !in->pred)
        return refuse(r->program, in->pc, err, "give it the mask, or choose any-branch", unit,
                      "no branch skips it, so that all lanes end though none asks for it");
    if (scalar && (target > end || target <= r->stack[r->depth - 1]))
        return refuse(r->program, in->pc, err, "branch on a mask, or choose any-branch", unit,
                      "it leads out of a range that no branch skips");
    return HD_OK;
}

static enum hd_status check_ranges(struct ranges *r, const char *unit, struct hd_error *err)
{
    enum hd_status status = HD_OK;

    find_inner(r);
    isa_find_live(r->insns, r->n, r->live);
    for (uint32_t i = 0; i < r->n && status == HD_OK; i++) {
        struct isa_scalars w = isa_scalars_written(&r->insns[i]);

        if (r->branch[i])
            status = check_end(r, i, unit, err);
        if (status == HD_OK)
            status = check_way_out(r, i, unit, err);
        for (unsigned s = 0; s < ISA_SCALARS; s++)
            if (isa_scalars_has(&w, s))
                r->written[s] = i + 1;
    }
    return status;
}

enum hd_status isa_refuse_skipped(const struct isa_program *program, const struct isa_kernel *kernel,
                                  const char *unit, struct hd_error *err)
{
    struct ranges r = {.program = program,
                       .insns = program->insns + kernel->first,
                       .first = kernel->first,
                       .n = kernel->end - kernel->first};
    uint32_t written[ISA_SCALARS] = {0};
    enum hd_status status = HD_OK;

    r.live = calloc(r.n, sizeof *r.live);
    r.branch = calloc(r.n, sizeof *r.branch);
    r.inner = calloc(r.n, sizeof *r.inner);
    r.stack = calloc(r.n, sizeof *r.stack);
    r.written = written;
    if (!r.live || !r.branch || !r.inner || !r.stack)
        status = no_memory(err);
    else if (find_ranges(&r))
        status = check_ranges(&r, unit, err);
    free(r.live);
    free(r.branch);
    free(r.inner);
    free(r.stack);
    return status;
}
