#include "isa/verify.h"

#include "isa/asleep.h"
#include "isa/dataflow.h"
#include "isa/format.h"
#include "isa/verify_internal.h"
#include "sim/base/vec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct isa_finding *verify_add(struct verifier *v, enum isa_verdict verdict, const char *code,
                               uint32_t pc, const char *hint, const char *fmt, ...)
{
    struct isa_finding f = {.verdict = verdict, .code = code, .check = "", .hint = hint, .pc = pc};
    va_list args;

    va_start(args, fmt);
    vsnprintf(f.text, sizeof f.text, fmt, args);
    va_end(args);
    if (!vec_push(v->out, f)) {
        v->out->failed = true;
        return NULL;
    }
    return &v->out->at[v->out->len - 1];
}

unsigned verify_line(const struct verifier *v, uint32_t pc)
{
    const struct isa_program *p = v->program;
    uint32_t line = p->insns[pc].line;

    return line < p->nlines ? p->lines[line].line : 0;
}

static void check_register(struct verifier *v, uint32_t pc, const struct isa_operand *o)
{
    const struct isa_kernel *k = v->kernel;
    unsigned end = o->index + o->words;

    if (o->kind == ISA_O_V && end > k->vregs)
        verify_add(v, ISA_CERTAIN, "verify-register", pc, "raise .vregs",
                   "v%u is past the %u vector registers of kernel `%s`", end - 1, k->vregs, k->name);
    if (o->kind == ISA_O_S && o->index < ISA_MAX_SREGS && end > k->sregs)
        verify_add(v, ISA_CERTAIN, "verify-register", pc, "raise .sregs",
                   "s%u is past the %u scalar registers of kernel `%s`", end - 1, k->sregs, k->name);
}

static void check_registers(struct verifier *v, const struct isa_insn *in)
{
    for (enum isa_slot slot = ISA_SLOT_D; slot < ISA_NUM_SLOTS; slot++)
        check_register(v, in->pc, isa_slot_of(in, slot));
    check_register(v, in->pc, &in->addr.base);
    check_register(v, in->pc, &in->addr.index);
}

static void check_exec(struct verifier *v, const struct isa_insn *in)
{
    if (isa_writes_exec(in) && !(v->kernel->forms & ISA_FORM_EXEC))
        verify_add(v, ISA_CERTAIN, "verify-exec", in->pc, "write .form exec, or use predicates",
                   "EXEC is written in kernel `%s`, which has form %s", v->kernel->name,
                   isa_form_name(v->kernel->forms) ? isa_form_name(v->kernel->forms)
                                                   : "none that allows it");
}

static enum isa_type memory_type(const struct isa_insn *in)
{
    return (enum isa_type)in->dtype;
}

/* A local address that is a constant: what is wrong with it is wrong in every run. */
static void check_constant_local(struct verifier *v, const struct isa_insn *in)
{
    unsigned bytes = isa_type_bytes(memory_type(in));
    int64_t at = in->addr.disp;

    if (at % (int64_t)bytes)
        verify_add(v, ISA_CERTAIN, "verify-local-alignment", in->pc,
                   "align the address to the size of the word",
                   "local address %lld is no multiple of %u", (long long)at, bytes);
    else if (at < 0 || (at + bytes > v->kernel->lds_bytes && !v->reads_local_bytes))
        verify_add(v, ISA_CERTAIN, "verify-local-range", in->pc,
                   "raise .lds; a kernel that reads %local_bytes may go behind its own",
                   "local address %lld is outside the %u bytes of kernel `%s`", (long long)at,
                   v->kernel->lds_bytes, v->kernel->name);
}

static void check_memory(struct verifier *v, const struct isa_insn *in)
{
    unsigned extra = isa_formats[in->format].extra;
    bool local = extra & ISA_X_LOCAL;
    struct isa_finding *f;

    if (!(extra & ISA_X_ADDRESS))
        return;
    if (local && in->addr.base.kind == ISA_O_NONE && in->addr.index.kind == ISA_O_NONE) {
        check_constant_local(v, in);
        return;
    }
    f = verify_add(v, ISA_UNKNOWN, local ? "verify-local-access" : "verify-global-access", in->pc,
                   "", "the address of %s is known at run time only", isa_ops[in->op].name);
    if (f)
        f->check = local ? "outside-local, misaligned" : "outside-arrays, misaligned";
}

static void check_last(struct verifier *v)
{
    const struct isa_insn *last = &v->program->insns[v->kernel->end - 1];

    if (isa_goes_on(last))
        verify_add(v, ISA_CERTAIN, "verify-runs-off", last->pc, "end the kernel with s_end",
                   "kernel `%s` can run off its end", v->kernel->name);
}

/* depth[pc - first]: mask branches that may skip, or repeat, pc. */
static void count_divergence(const struct verifier *v, int *depth)
{
    uint32_t first = v->kernel->first;

    for (uint32_t pc = first; pc < v->kernel->end; pc++) {
        const struct isa_insn *in = &v->program->insns[pc];

        if (in->format != ISA_BRANCH_M)
            continue;
        uint32_t from = in->target > pc ? pc + 1 : in->target,
                 to = in->target > pc ? in->target : pc;

        depth[from - first]++;
        depth[to - first]--;
    }
    for (uint32_t i = 1; i < v->kernel->end - first; i++)
        depth[i] += depth[i - 1];
}

static void check_barriers(struct verifier *v)
{
    uint32_t first = v->kernel->first, n = v->kernel->end - first;
    int *depth = calloc(n + 1, sizeof *depth);
    bool *apart = calloc(n + 1, sizeof *apart);

    if (!depth || !apart || !isa_find_apart(v->program, v->kernel, apart)) {
        v->out->failed = true;
        n = 0;
    }
    if (n)
        count_divergence(v, depth);
    for (uint32_t i = 0; i < n; i++) {
        const struct isa_insn *in = &v->program->insns[first + i];

        if (in->format == ISA_BARRIER && (in->pred || depth[i] > 0 || apart[i]))
            verify_add(
                v, ISA_POSSIBLE, "verify-barrier", in->pc, "move it out of the region",
                "the barrier may be in a divergent region: a wavefront arrives with any lane, or "
                "skips it");
    }
    free(depth);
    free(apart);
}

/* A vector register, memory or output that the instruction changes. */
static bool has_effect_on_lanes(const struct isa_insn *in)
{
    return in->d.kind == ISA_O_V || in->format == ISA_PRINT ||
           (isa_formats[in->format].extra & ISA_X_ADDRESS);
}

/* predicated-all: masks alone tell lanes apart. A region without branches is not to be seen, but for loops. */
static void check_all_masked(struct verifier *v)
{
    uint32_t loop = ISA_NO_PC; /* head of the outermost loop around this instruction */

    if (v->kernel->forms != ISA_FORM_PREDICATED_ALL)
        return;
    for (uint32_t pc = v->kernel->end; pc-- > v->kernel->first;) {
        const struct isa_insn *in = &v->program->insns[pc];
        bool branch = in->format == ISA_BRANCH_M;

        if (branch && in->target > pc)
            verify_add(v, ISA_CERTAIN, "verify-form", pc, "leave it out, or write .form predicated",
                       "a forward branch on a mask in form predicated-all");
        if (branch && in->target <= pc && in->target < loop)
            loop = in->target;
        if (loop != ISA_NO_PC && pc >= loop && !in->pred && has_effect_on_lanes(in))
            verify_add(v, ISA_CERTAIN, "verify-form", pc, "give it the mask of the loop",
                       "%s without a mask, in a loop of form predicated-all", isa_ops[in->op].name);
        if (pc == loop)
            loop = ISA_NO_PC;
    }
}

static void report_unwritten(void *user, uint32_t pc, unsigned name)
{
    struct verifier *v = user;

    if (name < ISA_SB_S)
        verify_add(v, ISA_POSSIBLE, "verify-unwritten", pc,
                   "write it first; registers start with unspecified values",
                   "v%u is read, and no way leads here on which it was written", name);
    else if (name == ISA_SB_M + ISA_VCC)
        verify_add(v, ISA_POSSIBLE, "verify-unwritten", pc, "compare into it first",
                   "vcc is read, and no way leads here on which it was written");
    else
        verify_add(v, ISA_POSSIBLE, "verify-unwritten", pc, "write it first",
                   "m%u is read, and no way leads here on which it was written", name - ISA_SB_M);
}

static void check_kernel(struct verifier *v)
{
    for (uint32_t pc = v->kernel->first; pc < v->kernel->end; pc++) {
        const struct isa_insn *in = &v->program->insns[pc];
        const struct isa_operand *sources[] = {&in->a, &in->b, &in->c, &in->addr.base};

        for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
            v->reads_local_bytes |=
                sources[i]->kind == ISA_O_S && sources[i]->index == ISA_SV_LOCAL_BYTES;
    }
    for (uint32_t pc = v->kernel->first; pc < v->kernel->end; pc++) {
        const struct isa_insn *in = &v->program->insns[pc];

        check_registers(v, in);
        check_exec(v, in);
        check_memory(v, in);
    }
    check_last(v);
    verify_gotos(v);
    verify_transactions(v);
    check_barriers(v);
    check_all_masked(v);
    if (!isa_find_unwritten(v->program, v->kernel, report_unwritten, v))
        v->out->failed = true;
}

/* A total order, so that it does not depend on how qsort treats equals. */
static int by_pc(const void *a, const void *b)
{
    const struct isa_finding *x = a, *y = b;

    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    if (x->verdict != y->verdict)
        return x->verdict < y->verdict ? -1 : 1;
    return strcmp(x->text, y->text);
}

void isa_verify(const struct isa_program *program, struct isa_findings *out)
{
    for (size_t i = 0; i < program->nkernels; i++) {
        struct verifier v = {program, &program->kernels[i], out, false};

        check_kernel(&v);
    }
    if (out->len)
        qsort(out->at, out->len, sizeof *out->at, by_pc);
}

void isa_findings_free(struct isa_findings *findings)
{
    vec_free(findings);
}

enum hd_status isa_verify_refuse(const struct isa_program *program, struct hd_error *err)
{
    struct isa_findings all = {0};
    enum hd_status status = HD_OK;
    char place[300];

    isa_verify(program, &all);
    if (all.failed)
        status = hd_no_memory(err, "the verifier");
    for (size_t i = 0; i < all.len && status == HD_OK; i++) {
        if (all.at[i].verdict != ISA_CERTAIN)
            continue;
        isa_place(program, all.at[i].pc, place, sizeof place);
        status = hd_error_set(err, HD_BAD_INPUT, all.at[i].code, place, all.at[i].hint, "%s",
                              all.at[i].text);
    }
    isa_findings_free(&all);
    return status;
}
