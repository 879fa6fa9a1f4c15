/* Code bytes to decoded instructions. */
#include "isa/load.h"

#include "isa/encode.h"
#include "isa/format.h"
#include "isa/transaction.h"
#include "isa/tx_facts.h"
#include "sim/base/checked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LITERAL_WORDS = 2 * ISA_MAX_WIDTH };

static enum hd_status damaged(struct hd_error *err, size_t pc, const char *why)
{
    char place[48];

    snprintf(place, sizeof place, "pc %zu", pc);
    return hd_error_set(err, HD_BAD_INPUT, "code-damaged", place, "assemble the source again",
                        "the code is damaged: %s", why);
}

static bool in_kernel(const struct isa_kernel *k, uint32_t pc)
{
    return pc >= k->first && pc < k->end;
}

/* Kernels lie behind each other in order, and cover the code. */
static bool kernels_in_order(const struct isa_program *p)
{
    uint32_t next = 0;

    for (size_t i = 0; i < p->nkernels; i++) {
        if (p->kernels[i].first != next || p->kernels[i].end <= next)
            return false;
        next = p->kernels[i].end;
    }
    return next == p->ninsns;
}

static enum hd_status decode_all(struct isa_program *p, const uint32_t *line_of, size_t nline_of,
                                 struct hd_error *err)
{
    size_t at = 0, pc = 0, cap = p->code_bytes / ISA_INSN_BYTES;
    const char *why;

    p->insns = calloc(cap ? cap : 1, sizeof *p->insns);
    if (!p->insns)
        return hd_no_memory(err, "the program");
    while (at < p->code_bytes) {
        struct isa_insn *in = &p->insns[pc];
        unsigned used = isa_decode(p->code + at, p->code_bytes - at, in, &why);

        if (!used)
            return damaged(err, pc, why);
        if ((isa_formats[in->format].extra & ISA_X_STRING) && in->imm >= p->nstrings)
            return damaged(err, pc, "a string's index is out of range");
        in->pc = (uint32_t)pc;
        in->line = pc < nline_of ? line_of[pc] : 0;
        if (in->line >= p->nlines && p->nlines)
            return damaged(err, pc, "a line's index is out of range");
        at += used;
        pc++;
    }
    p->ninsns = pc;
    return kernels_in_order(p) ? HD_OK : damaged(err, 0, "kernels do not cover the code");
}

static bool is_vector_literal(const struct isa_insn *in)
{
    bool vector = in->format == ISA_VALU || in->format == ISA_VSEL || in->format == ISA_VCMP ||
                  in->format == ISA_XLANE;

    return vector && (in->a.kind == ISA_O_IMM || in->b.kind == ISA_O_IMM || in->c.kind == ISA_O_IMM);
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* The distinct literals of vector operands, in order. */
static uint64_t *collect_literals(const struct isa_program *p, size_t *count)
{
    uint64_t *values = malloc((p->ninsns ? p->ninsns : 1) * sizeof *values);
    size_t n = 0, kept = 0;

    if (!values)
        return NULL;
    for (size_t i = 0; i < p->ninsns; i++)
        if (is_vector_literal(&p->insns[i]))
            values[n++] = p->insns[i].imm;
    qsort(values, n, sizeof *values, compare_u64);
    for (size_t i = 0; i < n; i++)
        if (!kept || values[kept - 1] != values[i])
            values[kept++] = values[i];
    *count = kept;
    return values;
}

static void fill_lanes(uint32_t *lanes, uint64_t value)
{
    for (unsigned i = 0; i < ISA_MAX_WIDTH; i++) {
        lanes[i] = (uint32_t)value;
        lanes[ISA_MAX_WIDTH + i] = (uint32_t)(value >> 32);
    }
}

static enum hd_status fill_literals(struct isa_program *p, struct hd_error *err)
{
    size_t count, bytes;
    uint64_t *values = collect_literals(p, &count);
    uint32_t *pool = NULL;

    if (!values)
        return hd_no_memory(err, "the program");
    if (!size_mul(count, LITERAL_WORDS * sizeof *pool, &bytes) ||
        (bytes && posix_memalign((void **)&pool, 64, bytes) != 0)) {
        free(values);
        return hd_no_memory(err, "the program");
    }
    p->pool = pool;
    for (size_t i = 0; i < count; i++)
        fill_lanes(pool + i * LITERAL_WORDS, values[i]);
    for (size_t i = 0; i < p->ninsns && count; i++) {
        struct isa_insn *in = &p->insns[i];
        const uint64_t *at;

        if (!is_vector_literal(in))
            continue;
        at = bsearch(&in->imm, values, count, sizeof *values, compare_u64);
        in->imm_vec = pool + (size_t)(at - values) * LITERAL_WORDS;
    }
    free(values);
    return HD_OK;
}

static bool writes_exec(const struct isa_program *p, const struct isa_kernel *k)
{
    for (uint32_t pc = k->first; pc < k->end; pc++)
        if (isa_writes_exec(&p->insns[pc]))
            return true;
    return false;
}

/* Marks the places where the instruction may lead, other than the next; false if one is outside the kernel. */
static bool mark_targets(const struct isa_kernel *k, const struct isa_insn *in, bool *starts)
{
    unsigned extra = isa_formats[in->format].extra;

    if (extra & ISA_X_TARGET) {
        if (!in_kernel(k, in->target))
            return false;
        starts[in->target] = true;
    }
    if ((extra & ISA_X_JIP) && in->jip != ISA_NO_PC) {
        if (!in_kernel(k, in->jip))
            return false;
        starts[in->jip] = true;
    }
    return true;
}

/* Scoreboard names and runs of one kernel; starts is room for a flag an instruction, all false. */
static enum hd_status finish_kernel(struct isa_program *p, struct isa_kernel *k, bool *starts,
                                    struct hd_error *err)
{
    bool with_exec = writes_exec(p, k);

    for (uint32_t pc = k->first; pc < k->end; pc++) {
        struct isa_insn *in = &p->insns[pc];

        isa_fill_scoreboard(in, with_exec);
        if (!mark_targets(k, in, starts))
            return damaged(err, pc, "a branch leaves its kernel");
    }
    isa_fill_runs(p->insns, k->first, k->end, starts);
    k->has_tx = isa_has_tx(p->insns + k->first, k->end - k->first);
    if (k->has_tx && (!isa_cut_runs(p->insns + k->first, k->end - k->first) ||
                      !isa_find_tx_facts(p->insns + k->first, k->first, k->end - k->first, &k->tx)))
        return hd_no_memory(err, "the program");
    return HD_OK;
}

enum hd_status isa_load(struct isa_program *program, const uint32_t *line_of, size_t nline_of,
                        struct hd_error *err)
{
    enum hd_status status = decode_all(program, line_of, nline_of, err);
    bool *starts;

    if (status != HD_OK)
        return status;
    status = fill_literals(program, err);
    if (status != HD_OK)
        return status;
    starts = calloc(program->ninsns ? program->ninsns : 1, sizeof *starts);
    if (!starts)
        return hd_no_memory(err, "the program");
    for (size_t i = 0; i < program->nkernels && status == HD_OK; i++)
        status = finish_kernel(program, &program->kernels[i], starts, err);
    free(starts);
    return status;
}
