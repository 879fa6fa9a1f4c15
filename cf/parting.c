#include "cf/parting.h"

#include "isa/liveness.h"

#include <stdlib.h>
#include <string.h>

static bool parts(const struct isa_insn *in, bool barriers)
{
    if (!in->pred)
        return false;
    return in->format == ISA_GOTO || in->format == ISA_GOTO_BACK ||
           (barriers && in->format == ISA_BARRIER);
}

static enum hd_status no_memory(const struct partings *p, struct hd_error *err)
{
    return hd_no_memory(err, "the control flow of kernel %s", p->kernel->name);
}

enum hd_status partings_find(struct partings *p, const char *unit, const struct isa_program *program,
                             const struct isa_kernel *kernel, bool barriers, struct hd_error *err)
{
    uint32_t n = 0;

    *p = (struct partings){.unit = unit, .program = program, .kernel = kernel};
    for (uint32_t pc = kernel->first; pc < kernel->end; pc++)
        n += parts(&program->insns[pc], barriers);
    if (!cfg_build(&p->g, program, kernel))
        return no_memory(p, err);
    p->at = calloc(n + 1u, sizeof *p->at);
    p->inside = calloc((n + 1u) * (size_t)p->g.flow.nblocks, sizeof *p->inside);
    if (!p->at || !p->inside)
        return no_memory(p, err);
    for (uint32_t pc = kernel->first; pc < kernel->end; pc++) {
        struct parting *at = &p->at[p->n];
        const struct isa_insn *in = &program->insns[pc];

        if (!parts(in, barriers))
            continue;
        at->pc = pc;
        at->block = isa_block_at(&p->g.flow, pc);
        at->inside = p->inside + (p->n + 1u) * (size_t)p->g.flow.nblocks;
        p->n++;
        partings_move(p, at,
                      in->format == ISA_BARRIER ? ISA_NO_PC : cfg_next_join(&p->g, at->block));
    }
    return HD_OK;
}

void partings_free(struct partings *p)
{
    cfg_free(&p->g);
    free(p->at);
    free(p->inside);
}

void partings_move(struct partings *p, struct parting *parting, uint32_t meet)
{
    const struct isa_block *k = &p->g.flow.blocks[parting->block];

    parting->meet = meet;
    memset(parting->inside, 0, p->g.flow.nblocks * sizeof *parting->inside);
    for (uint32_t i = 0; i < k->nsucc; i++)
        cfg_reach(&p->g, k->succ[i], meet, parting->inside);
}

void partings_note(const struct partings *p, struct cf_plan *plan)
{
    for (uint32_t i = 0; i < p->n; i++)
        plan->note[p->at[i].pc - plan->first] = p->at[i].meet;
}

/* ---- lanes ---- */

/* Its result depends on other lanes than those that it acts on, or on which ones these are. */
static bool crosses_lanes(const struct isa_insn *in)
{
    if (in->flags & (ISA_F_NOMASK | ISA_F_XLANE))
        return true;
    switch (in->format) {
    case ISA_REDUCE:
    case ISA_WRITELANE:
    case ISA_BRANCH_M:
        return true;
    case ISA_MASK_OP:
        return in->d.kind == ISA_O_S;
    default:
        return false;
    }
}

static const struct parting *parting_around(const struct partings *p, uint32_t block)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->at[i].inside[block])
            return &p->at[i];
    return NULL;
}

static enum hd_status refuse_lane_code(const struct partings *p, const struct parting *around,
                                       const struct isa_insn *in, struct hd_error *err)
{
    char place[256], since[256];

    isa_place(p->program, in->pc, place, sizeof place);
    isa_place(p->program, around->pc, since, sizeof since);
    return hd_error_set(
        err, HD_BAD_INPUT, "unit-lanes", place,
        "move it to where all lanes are together, or choose divergence.unit goto-join",
        "%s%s of kernel %s stands where lanes may be apart, since %s, and divergence.unit %s runs "
        "them one group after another",
        isa_ops[in->op].name, in->flags & ISA_F_NOMASK ? ".nomask" : "", p->kernel->name, since,
        p->unit);
}

enum hd_status partings_refuse_lanes(struct partings *p, struct hd_error *err)
{
    for (uint32_t b = 0; b < p->g.flow.nblocks; b++) {
        const struct parting *around = parting_around(p, b);

        for (uint32_t pc = p->g.flow.blocks[b].first; around && pc < p->g.flow.blocks[b].end; pc++) {
            const struct isa_insn *in = &p->program->insns[pc];

            if (crosses_lanes(in))
                return refuse_lane_code(p, around, in, err);
        }
    }
    return HD_OK;
}

/* ---- scalars ---- */

static struct isa_scalars scalars_written(const struct partings *p, const bool *inside)
{
    struct isa_scalars s = {{0}};

    for (uint32_t b = 0; b < p->g.flow.nblocks; b++)
        for (uint32_t pc = p->g.flow.blocks[b].first; inside[b] && pc < p->g.flow.blocks[b].end;
             pc++) {
            struct isa_scalars w = isa_scalars_written(&p->program->insns[pc]);

            isa_scalars_add(&s, &w);
        }
    return s;
}

/* Where another group may run when a block ends: a pc at which its scalars are needed, or ISA_NO_PC. */
static uint32_t goes_on_later(const struct partings *p, const struct isa_block *k,
                              const bool *changes)
{
    const struct isa_insn *last = &p->program->insns[k->end - 1];

    if (changes && changes[last->pc - p->kernel->first])
        return last->target;
    return last->format == ISA_BARRIER && k->end < p->g.flow.end ? k->end : ISA_NO_PC;
}

static enum hd_status refuse_scalar(const struct partings *p, const struct parting *parting,
                                    uint32_t pc, unsigned scalar, struct hd_error *err)
{
    char place[256], since[256], reg[8];

    isa_place(p->program, pc, place, sizeof place);
    isa_place(p->program, parting->pc, since, sizeof since);
    isa_scalar_name(scalar, reg);
    return hd_error_set(err, HD_BAD_INPUT, "unit-scalars", place,
                        "keep the value in a vector register, or choose another divergence.unit",
                        "%s of kernel %s is needed here, where divergence.unit %s may run another "
                        "group of lanes that writes it; they part at %s",
                        reg, p->kernel->name, p->unit, since);
}

struct scalar_check {
    struct isa_scalars *live; /* by pc - kernel->first */
    bool *ways[2];            /* by block: where those are that go either way, until they meet */
    const bool *changes;
};

/* Those on way `mine` need a scalar where those on the other may run and write it. */
static enum hd_status check_way(const struct partings *p, const struct scalar_check *c,
                                const struct parting *parting, unsigned mine, struct hd_error *err)
{
    struct isa_scalars written = scalars_written(p, c->ways[1 - mine]);

    for (uint32_t b = 0; b < p->g.flow.nblocks; b++) {
        uint32_t pc = goes_on_later(p, &p->g.flow.blocks[b], c->changes);
        const struct isa_scalars *needed;

        if (!c->ways[mine][b] || pc == ISA_NO_PC)
            continue;
        needed = &c->live[pc - p->kernel->first];
        for (unsigned k = 0; k < ISA_SCALARS; k++)
            if (isa_scalars_has(needed, k) && isa_scalars_has(&written, k))
                return refuse_scalar(p, parting, pc, k, err);
    }
    return HD_OK;
}

static enum hd_status check_scalars(const struct partings *p, const struct scalar_check *c,
                                    const struct parting *parting, struct hd_error *err)
{
    const struct isa_block *k = &p->g.flow.blocks[parting->block];
    enum hd_status status;

    for (unsigned i = 0; i < 2; i++) {
        memset(c->ways[i], 0, p->g.flow.nblocks * sizeof *c->ways[i]);
        cfg_reach(&p->g, k->succ[i < k->nsucc ? i : 0], parting->meet, c->ways[i]);
    }
    status = check_way(p, c, parting, 0, err);
    return status ? status : check_way(p, c, parting, 1, err);
}

enum hd_status partings_refuse_scalars(struct partings *p, const bool *changes, struct hd_error *err)
{
    uint32_t n = p->kernel->end - p->kernel->first;
    struct scalar_check c = {.changes = changes, .live = calloc(n, sizeof *c.live)};
    bool *blocks = calloc(2 * (size_t)p->g.flow.nblocks, sizeof *blocks);
    enum hd_status status = blocks && c.live ? HD_OK : no_memory(p, err);

    if (status == HD_OK) {
        isa_find_live(p->program->insns + p->kernel->first, n, c.live);
        c.ways[0] = blocks;
        c.ways[1] = blocks + p->g.flow.nblocks;
    }
    for (uint32_t i = 0; i < p->n && status == HD_OK; i++)
        status = check_scalars(p, &c, &p->at[i], err);
    free(c.live);
    free(blocks);
    return status;
}
