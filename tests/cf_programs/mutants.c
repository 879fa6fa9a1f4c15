#include "tests/cf_programs/mutants.h"

#include "cf/units.h"

#include <string.h>

/* ---- the list of units, with those that are wrong ---- */

#define ROW(id, unit_name, unit_doc)                                                               \
    const char cf_##id##_name[] = unit_name;                                                       \
    const char cf_##id##_doc[] = unit_doc;
CF_UNITS(ROW)
#undef ROW

enum {
#define ROW(id, name, unit, emitter) id,
    UNIT_MUTANTS(ROW)
#undef ROW
        NUNITS
};

static struct cf_unit_ops wrong[NUNITS] = {
#define ROW(id, mutant, unit, emitter) {.name = mutant, .doc = ""},
    UNIT_MUTANTS(ROW)
#undef ROW
};

#define OPS(id, name, doc) &cf_##id,
#define WRONG(id, name, unit, emitter) &wrong[id],
#define CHOICE(id, name, doc) {cf_##id##_name, cf_##id##_doc},
#define WRONG_CHOICE(id, name, unit, emitter) {name, ""},

const struct cf_unit_ops *const cf_units[] = {CF_UNITS(OPS) UNIT_MUTANTS(WRONG) NULL};

const struct param_choice cf_unit_choices[] = {CF_UNITS(CHOICE)
                                                   UNIT_MUTANTS(WRONG_CHOICE){NULL, NULL}};

static const struct {
    const char *name, *unit;
    enum cfp_emitter emitter;
    void (*mutate)(struct cf_unit_ops *ops);
} units[NUNITS] = {
#define ROW(id, name, unit, emitter) {name, unit, emitter, mutate_##id},
    UNIT_MUTANTS(ROW)
#undef ROW
};

static const struct cf_unit_ops *find_unit(const char *name)
{
    for (size_t i = 0; cf_units[i]; i++)
        if (strcmp(cf_units[i]->name, name) == 0)
            return cf_units[i];
    return NULL;
}

void mutants_make(void)
{
    for (unsigned i = 0; i < NUNITS; i++) {
        const struct cf_unit_ops *base = find_unit(units[i].unit);

        if (!base)
            continue;
        wrong[i] = *base;
        wrong[i].name = units[i].name;
        units[i].mutate(&wrong[i]);
    }
}

/* ---- changed programs ---- */

/* Calls change() for the instructions of some formats. */
static void each(struct isa_program *p, uint32_t formats, void (*change)(struct isa_insn *in))
{
    for (size_t i = 0; i < p->ninsns; i++)
        if (formats >> p->insns[i].format & 1)
            change(&p->insns[i]);
}

#define FORMAT(f) (UINT32_C(1) << ISA_##f)

static void drop_predicate(struct isa_insn *in)
{
    in->pred = 0;
}

static void unmasked_stores(struct isa_program *p)
{
    each(p, FORMAT(GSTORE) | FORMAT(LSTORE) | FORMAT(GATOMIC) | FORMAT(LATOMIC), drop_predicate);
}

static void unmasked_writes(struct isa_program *p)
{
    each(p, FORMAT(VALU), drop_predicate);
}

/* d = a & ~b becomes d = a: lanes that leave stay in, or an else has the lanes of its if. */
static void keep_lanes(struct isa_insn *in)
{
    if (in->op == OP_m_andn)
        in->op = OP_m_mov;
}

static void lanes_never_leave(struct isa_program *p)
{
    each(p, FORMAT(MASK_OP), keep_lanes);
}

/* One lane decides for all, or all must agree. */
static void swap_any_and_all(struct isa_insn *in)
{
    static const uint16_t pairs[][2] = {{OP_s_branch_any, OP_s_branch_all},
                                        {OP_s_branch_none, OP_s_branch_notall}};

    for (unsigned i = 0; i < 2; i++) {
        if (in->op != pairs[i][0])
            continue;
        in->op = pairs[i][1];
        in->flags = isa_ops[in->op].flags;
        return;
    }
}

static void branches_on_all(struct isa_program *p)
{
    each(p, FORMAT(BRANCH_M), swap_any_and_all);
}

static void plain_and(struct isa_insn *in)
{
    if (in->d.kind == ISA_O_EXEC && in->op == OP_m_and)
        in->op = OP_m_mov;
}

static void exec_not_narrowed(struct isa_program *p)
{
    each(p, FORMAT(MASK_OP), plain_and);
}

static void flip(struct isa_insn *in)
{
    in->pred_not = !in->pred_not;
}

static void gotos_inverted(struct isa_program *p)
{
    each(p, FORMAT(GOTO), flip);
}

static void back_gotos_inverted(struct isa_program *p)
{
    each(p, FORMAT(GOTO_BACK), flip);
}

static const struct mutant rewrites[] = {
    {"predicated: stores and atomics without their mask", {"any-branch", CFP_MASKS}, unmasked_stores},
    {"predicated, sugar: the same", {"any-branch", CFP_SUGAR}, unmasked_stores},
    {"predicated: vector writes without their mask", {"any-branch", CFP_MASKS}, unmasked_writes},
    {"predicated: lanes that leave stay in their mask", {"any-branch", CFP_MASKS}, lanes_never_leave},
    {"predicated, sugar: the same", {"any-branch", CFP_SUGAR}, lanes_never_leave},
    {"predicated: branches on all instead of any", {"any-branch", CFP_MASKS}, branches_on_all},
    {"predicated-all: vector writes without their mask",
     {"predication", CFP_PREDICATED_ALL},
     unmasked_writes},
    {"exec: lanes that leave stay in EXEC", {"exec-mask", CFP_EXEC}, lanes_never_leave},
    {"exec: EXEC is not narrowed, but replaced", {"exec-mask", CFP_EXEC}, exec_not_narrowed},
    {"goto: predicates inverted", {"simt-stack", CFP_GOTO}, gotos_inverted},
    {"goto: predicates of goto.b inverted", {"goto-join", CFP_GOTO}, back_gotos_inverted},
};

/* ---- all of them ---- */

unsigned mutants_list(struct mutant *out, unsigned most)
{
    unsigned n = 0;

    for (unsigned i = 0; i < NUNITS && n < most; i++)
        if (wrong[i].step)
            out[n++] = (struct mutant){units[i].name, {units[i].name, units[i].emitter}, NULL};
    for (size_t i = 0; i < sizeof rewrites / sizeof *rewrites && n < most; i++)
        if (find_unit(rewrites[i].way.unit))
            out[n++] = rewrites[i];
    return n;
}
