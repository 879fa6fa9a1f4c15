#include "tests/cf/unit_rig.h"

#include "isa/asm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const struct cf_unit_ops *unit_find(const char *name)
{
    for (size_t i = 0; cf_units[i]; i++)
        if (strcmp(cf_units[i]->name, name) == 0)
            return cf_units[i];
    fail_msg("no unit %s", name);
    return NULL;
}

static void require(enum hd_status status, const struct hd_error *err)
{
    if (status != HD_OK)
        fail_msg("%s: %s (%s)", err->code, err->message, err->place);
}

void unit_rig_open(struct unit_rig *r, const char *unit, const char *text, unsigned width,
                   uint64_t live)
{
    struct hd_error err;
    size_t bytes;

    memset(r, 0, sizeof *r);
    r->unit = unit_find(unit);
    r->lanes = isa_lanes_get(width, ISA_BUILD_AUTO);
    assert_non_null(r->lanes);
    require(isa_assemble_text("test.hasm", text, strlen(text), NULL, 0, &r->program, &err), &err);
    r->kernel = &r->program->kernels[0];
    assert_true(r->kernel->vregs <= UNIT_RIG_VREGS);
    require(cf_prepare(r->unit, r->program, r->kernel, &r->plan, &err), &err);
    bytes = r->unit->size(r->program, width);
    assert_int_equal(bytes % 8, 0);
    r->state = malloc(bytes);
    assert_non_null(r->state);
    /* What start() does not set must not matter. */
    memset(r->state, 0xa5, bytes);
    r->w.v = r->v;
    r->w.live = live;
    r->w.tx = UINT64_MAX;
    r->limit = UNIT_RIG_TRACE;
    r->unit->start(r->state, r->kernel->first, live);
}

void unit_rig_close(struct unit_rig *r)
{
    free(r->state);
    free(r->plan);
    isa_program_free(r->program);
}

uint32_t *unit_rig_v(struct unit_rig *r, unsigned reg, unsigned lane)
{
    return &r->v[reg * r->lanes->width + lane];
}

static void step_control(struct unit_rig *r, const struct isa_insn *in)
{
    uint64_t active = r->w.live & r->w.exec & r->w.tx, taken;

    if (in->format == ISA_GOTO || in->format == ISA_GOTO_BACK)
        taken = isa_active(&r->w, in);
    else if (in->format == ISA_JOIN)
        taken = 0;
    else
        taken = isa_branch_taken(&r->w, in) ? UINT64_MAX : 0;
    r->unit->step(r->state, r->plan, in, active, taken, &r->cost);
    r->hops += r->cost.hop;
    r->divergent += r->cost.divergent;
    r->skipped += r->cost.skipped;
}

/* One instruction at r->pc; true if the unit says where to go on. */
static bool step(struct unit_rig *r, const struct isa_insn *in)
{
    uint64_t active = isa_active(&r->w, in);

    switch (in->format) {
    case ISA_JUMP:
    case ISA_BRANCH_S:
    case ISA_BRANCH_M:
    case ISA_GOTO:
    case ISA_GOTO_BACK:
    case ISA_JOIN:
        step_control(r, in);
        return true;
    case ISA_END:
        r->w.live &= ~active;
        if (active)
            r->unit->lanes(r->state, in->pc, active, CF_ENDED);
        return active != 0;
    case ISA_BARRIER:
        if (active)
            r->unit->lanes(r->state, in->pc, active, CF_AT_BARRIER);
        return active != 0;
    case ISA_TXBEGIN:
    case ISA_TXCOMMIT:
        r->border(r, in);
        return false;
    default:
        isa_exec(&r->w, in, 1, r->lanes);
        if (isa_writes_exec(in)) {
            assert_true(r->unit->set_exec(r->state, r->w.exec));
            r->w.exec = r->unit->exec(r->state);
        }
        return false;
    }
}

/* Sets of waiting lanes are disjoint, and none of them is about to run. */
static void check_waits(struct unit_rig *r, uint64_t running)
{
    struct cf_wait sets[CF_MAX_WAITS];
    unsigned n = r->unit->waits(r->state, sets);
    uint64_t seen = running;

    assert_true(n <= CF_MAX_WAITS);
    for (unsigned i = 0; i < n; i++) {
        assert_true(sets[i].lanes != 0);
        assert_true((sets[i].lanes & seen) == 0);
        assert_true((sets[i].lanes & ~r->w.live) == 0);
        seen |= sets[i].lanes;
    }
}

enum cf_next unit_rig_run(struct unit_rig *r)
{
    const struct isa_insn *in;
    uint64_t lanes;
    enum cf_next next;

    while ((next = r->unit->pick(r->state, &r->pc, &lanes)) == CF_GO) {
        r->w.exec = r->unit->exec(r->state);
        assert_true((r->w.exec & r->w.live) == (lanes & r->w.live));
        if (r->unit->forms == ISA_FORM_GOTO)
            check_waits(r, r->w.exec & r->w.live);
        do {
            assert_true(r->pc < r->kernel->end);
            in = &r->program->insns[r->pc];
            if (r->issued == r->limit)
                fail_msg("still running after %u instructions, at pc %u", r->issued, r->pc);
            if (r->before)
                r->before(r);
            if (r->issued < UNIT_RIG_TRACE) {
                r->trace[r->issued].pc = r->pc - r->kernel->first;
                r->trace[r->issued].exec = r->w.exec;
            }
            r->issued++;
            r->pc++;
        } while (!step(r, in));
        if (r->cost.trouble)
            return CF_GO;
        if (r->unit->used(r->state) > r->most_used)
            r->most_used = r->unit->used(r->state);
        assert_true(r->most_used <= r->unit->size(r->program, r->lanes->width));
        assert_int_equal(r->unit->used(r->state) % 8, 0);
    }
    return next;
}

void unit_rig_release(struct unit_rig *r)
{
    r->unit->lanes(r->state, r->pc - 1, r->w.live, CF_RELEASED);
}
