#include "tests/isa/mini.h"

#include "isa/asm.h"
#include "isa/format.h"
#include "sim/base/bits.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct isa_program *mini_assemble(const char *text)
{
    static const char *const dirs[] = {"workloads/lib"};
    struct isa_program *program;
    struct hd_error err;

    if (isa_assemble_text("t.hasm", text, strlen(text), dirs, 1, &program, &err) != HD_OK)
        fail_msg("%s: %s (%s) [%s]", err.place, err.message, err.hint, err.code);
    return program;
}

static void start_wave(struct mini *m, unsigned index)
{
    struct isa_wave *w = &m->waves[index];
    unsigned first = index * m->width, left = m->items - first;
    size_t words = (size_t)m->kernel->vregs * m->width;

    if (posix_memalign((void **)&w->v, 64, (words + 16) * sizeof *w->v) != 0)
        fail_msg("memory ran out");
    for (size_t i = 0; i < words; i++)
        w->v[i] = 0xdeadbeef;
    w->live = bits_low(left < m->width ? left : m->width);
    w->exec = bits_low(m->width);
    w->tx = ~UINT64_C(0);
    for (unsigned i = 0; i <= ISA_MASKS; i++)
        w->m[i] = UINT64_C(0xaaaaaaaaaaaaaaaa) & bits_low(m->width);
    for (unsigned i = 0; i < ISA_SCALAR_FILE; i++)
        w->s[i] = 0xdeadbeef;
    w->s[ISA_SV_GROUP_X] = w->s[ISA_SV_GROUP] = m->group;
    w->s[ISA_SV_GROUPS_X] = m->groups;
    w->s[ISA_SV_GROUPS_Y] = w->s[ISA_SV_GROUPS_Z] = 1;
    w->s[ISA_SV_GROUP_Y] = w->s[ISA_SV_GROUP_Z] = 0;
    w->s[ISA_SV_THREADS_X] = m->items;
    w->s[ISA_SV_THREADS_Y] = w->s[ISA_SV_THREADS_Z] = 1;
    w->s[ISA_SV_WAVE] = index;
    w->s[ISA_SV_WAVES] = m->nwaves;
    w->s[ISA_SV_WIDTH] = m->width;
    w->s[ISA_SV_LOCAL_BYTES] = m->kernel->lds_bytes;
    w->tid0 = first;
    w->spread_of = 0;
    memset(w->spread, 0, sizeof w->spread);
    m->pc[index] = m->kernel->first;
    for (unsigned i = 0; i < ISA_MAX_WIDTH; i++)
        m->until[index][i] = ISA_NO_PC;
}

struct mini *mini_new(const struct isa_program *program, const char *kernel, unsigned width,
                      unsigned items)
{
    struct mini *m = calloc(1, sizeof *m);

    assert_non_null(m);
    m->program = program;
    m->kernel = isa_find_kernel(program, kernel, ISA_FORM_ALL);
    assert_non_null(m->kernel);
    m->width = width;
    m->items = items;
    m->groups = 1;
    m->watch = ISA_NO_PC;
    m->nwaves = (items + width - 1) / width;
    assert_true(m->nwaves <= MINI_MAX_WAVES);
    for (unsigned i = 0; i < m->nwaves; i++)
        start_wave(m, i);
    return m;
}

void mini_param(struct mini *m, const char *name, uint64_t value)
{
    for (uint32_t i = 0; i < m->kernel->nparams; i++) {
        const struct isa_param *p = &m->kernel->params[i];

        if (strcmp(p->name, name) != 0)
            continue;
        for (unsigned w = 0; w < m->nwaves; w++) {
            m->waves[w].s[p->sreg] = (uint32_t)value;
            if (p->is_array || isa_type_words((enum isa_type)p->type) == 2)
                m->waves[w].s[p->sreg + 1] = (uint32_t)(value >> 32);
        }
        return;
    }
    fail_msg("no parameter %s", name);
}

static uint64_t address(const struct mini *m, const struct isa_wave *w, const struct isa_insn *in,
                        unsigned lane)
{
    const struct isa_address *a = &in->addr;
    uint64_t at = (uint64_t)(int64_t)a->disp;

    if (a->base.kind == ISA_O_S)
        at += w->s[a->base.index];
    if (a->base.words == 2)
        at += (uint64_t)w->s[a->base.index + 1] << 32;
    if (a->index.kind == ISA_O_V)
        at += (uint64_t)w->v[a->index.index * m->width + lane] * a->scale;
    if (a->index.words == 2)
        at += (uint64_t)w->v[(a->index.index + 1u) * m->width + lane] << 32;
    return at;
}

static void access_lane(struct mini *m, struct isa_wave *w, const struct isa_insn *in, unsigned lane)
{
    bool local = isa_formats[in->format].extra & ISA_X_LOCAL;
    bool load = in->format == ISA_GLOAD || in->format == ISA_LLOAD;
    unsigned bytes = isa_type_bytes((enum isa_type)in->dtype);
    uint64_t at = address(m, w, in, lane), limit = local ? m->kernel->lds_bytes : MINI_MEMORY;
    uint8_t *memory = local ? m->lds : m->memory;
    unsigned reg = load ? in->d.index : in->a.index;

    if (at % bytes || at + bytes > limit || bytes < 4) {
        m->wrong = local ? "a local access outside" : "a global access outside";
        return;
    }
    for (unsigned word = 0; word < bytes / 4; word++) {
        uint32_t *v = &w->v[(reg + word) * m->width + lane];

        if (load)
            memcpy(v, memory + at + 4 * word, 4);
        else
            memcpy(memory + at + 4 * word, v, 4);
    }
}

static void access_memory(struct mini *m, struct isa_wave *w, const struct isa_insn *in)
{
    for (uint64_t lanes = isa_active(w, in); lanes; lanes &= lanes - 1)
        access_lane(m, w, in, bits_first(lanes));
}

/* ---- the goto form ---------------------------------------------------------------------------- */

/* EXEC may be empty in other forms. */
static bool all_asleep(const struct mini *m, const struct isa_wave *w)
{
    return m->kernel->forms == ISA_FORM_GOTO && !(w->live & w->exec);
}

static void go_to(struct mini *m, unsigned index, const struct isa_insn *in, uint32_t pc)
{
    if (pc == ISA_NO_PC) {
        m->wrong = "no lane is awake, and no JIP";
        return;
    }
    m->pc[index] = pc;
    for (unsigned i = 0; i < m->width; i++)
        if (m->until[index][i] > in->pc && m->until[index][i] < pc)
            m->wrong = "passes over a join where a lane sleeps";
}

static void sleep_until(struct mini *m, unsigned index, uint64_t lanes, uint32_t join)
{
    m->waves[index].exec &= ~lanes;
    for (; lanes; lanes &= lanes - 1)
        m->until[index][bits_first(lanes)] = join;
}

static void step_goto(struct mini *m, unsigned index, const struct isa_insn *in)
{
    struct isa_wave *w = &m->waves[index];
    uint64_t awake = w->live & w->exec, taken = isa_active(w, in);
    bool back = in->format == ISA_GOTO_BACK;

    sleep_until(m, index, back ? awake & ~taken : taken, back ? in->jip : in->target);
    if (back)
        go_to(m, index, in, taken ? in->target : in->jip);
    else if (taken == awake)
        go_to(m, index, in, in->jip);
}

static void step_join(struct mini *m, unsigned index, const struct isa_insn *in)
{
    struct isa_wave *w = &m->waves[index];

    for (unsigned i = 0; i < m->width; i++) {
        if (m->until[index][i] != in->pc)
            continue;
        m->until[index][i] = ISA_NO_PC;
        w->exec |= UINT64_C(1) << i;
    }
    if (w->live & w->exec)
        return;
    m->hops++;
    go_to(m, index, in, in->jip);
}

static void step_jump(struct mini *m, unsigned index, const struct isa_insn *in)
{
    struct isa_wave *w = &m->waves[index];
    bool is_goto = in->format == ISA_GOTO || in->format == ISA_GOTO_BACK;

    if (m->scalar && is_goto)
        m->pc[index] = isa_active(w, in) ? in->target : m->pc[index];
    else if (is_goto)
        step_goto(m, index, in);
    else if (isa_branch_taken(w, in))
        go_to(m, index, in, in->target);
}

static void step_end(struct mini *m, unsigned index, const struct isa_insn *in)
{
    struct isa_wave *w = &m->waves[index];

    w->live &= ~isa_active(w, in);
    if (w->live && all_asleep(m, w))
        m->wrong = "a lane sleeps where the last one ends";
}

/* One instruction of a wavefront; false when it stops at a barrier or has ended. */
static bool step(struct mini *m, unsigned index, const struct isa_lanes *lanes)
{
    struct isa_wave *w = &m->waves[index];
    const struct isa_insn *in = &m->program->insns[m->pc[index]++];

    m->steps++;
    m->watched |= in->pc == m->watch;
    if (m->apart && in->format != ISA_JOIN && w->live & ~w->exec && !m->apart[in->pc])
        m->wrong = "a lane sleeps where lanes are together";
    if (in->format != ISA_JOIN && all_asleep(m, w)) {
        m->wrong = "an instruction where no lane is awake";
        return false;
    }
    if (isa_formats[in->format].extra & ISA_X_RUN)
        isa_exec(w, in, 1, lanes);
    else if (isa_formats[in->format].extra & ISA_X_ADDRESS)
        access_memory(m, w, in);
    else if (isa_formats[in->format].extra & ISA_X_TARGET)
        step_jump(m, index, in);
    else if (in->format == ISA_JOIN && !m->scalar)
        step_join(m, index, in);
    else if (in->format == ISA_END)
        step_end(m, index, in);
    else if (in->format == ISA_ASSERT && isa_active(w, in) & ~isa_read_mask(w, in, in->a))
        m->wrong = m->program->strings[in->imm];
    else if (in->format == ISA_BARRIER && isa_active(w, in))
        m->at_barrier[index] = true;
    return w->live && !m->at_barrier[index];
}

void mini_run(struct mini *m, unsigned long max_steps)
{
    const struct isa_lanes *lanes = isa_lanes_get(m->width, ISA_BUILD_AUTO);
    bool any = true;

    while (any && !m->wrong) {
        any = false;
        for (unsigned i = 0; i < m->nwaves; i++) {
            while (m->waves[i].live && !m->wrong && step(m, i, lanes))
                if (m->steps > max_steps)
                    m->wrong = "too many steps";
        }
        for (unsigned i = 0; i < m->nwaves; i++) {
            any |= m->waves[i].live != 0;
            m->at_barrier[i] = false;
        }
    }
}

uint32_t mini_reg(const struct mini *m, unsigned item, unsigned reg)
{
    return m->waves[item / m->width].v[reg * m->width + item % m->width];
}

void mini_free(struct mini *m)
{
    for (unsigned i = 0; i < m->nwaves; i++)
        free(m->waves[i].v);
    free(m);
}
