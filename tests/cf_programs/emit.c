#include "tests/cf_programs/emit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *const cfp_emitter_names[CFP_EMITTERS] = {
    "predicated, sugar", "predicated, masks", "predicated-all", "exec", "goto",
};

void emit(struct emitter *e, const char *fmt, ...)
{
    char line[160];
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(line, sizeof line - 1, fmt, args);
    va_end(args);
    line[n] = '\n';
    text_add_bytes(&e->out->text, line, (size_t)n + 1);
    if (++e->out->nlines >= CFP_LINES)
        abort();
    e->out->node_of_line[e->out->nlines] = e->node;
}

void emit_label(struct emitter *e, unsigned label)
{
    emit(e, "L%u:", label);
}

bool emit_chance(struct emitter *e, unsigned percent)
{
    return rng_below(&e->rng, 100) < percent;
}

/* Chance is asked here or in emit_free, never in both: they are arguments of one call. */
const char *emit_soft(struct emitter *e)
{
    return e->all || e->nomask || !*e->pred || emit_chance(e, 50) ? e->pred : "";
}

const char *emit_free(struct emitter *e)
{
    return e->nomask && emit_chance(e, 25) ? ".nomask" : "";
}

/* An operand as text; four may be in use at a time. */
static const char *operand(char *out, size_t size, struct cfp_operand o)
{
    if (o.imm)
        snprintf(out, size, "bits(0x%x)", o.value);
    else
        snprintf(out, size, "v%u", V_VARS + o.value);
    return out;
}

static void emit_op(struct emitter *e, const struct cfp_node *n)
{
    const struct cfp_op *op = &cfp_ops[n->op];
    char a[24], b[24], c[24];

    operand(a, sizeof a, n->a);
    operand(b, sizeof b, n->b);
    operand(c, sizeof c, n->c);
    emit(e, "%s%s v%u, %s%s%s%s%s", e->pred, op->name, V_VARS + n->dst, a, op->args > 1 ? ", " : "",
         op->args > 1 ? b : "", op->args > 2 ? ", " : "", op->args > 2 ? c : "");
}

/* An address of word `n->b` mod 8 behind a byte: of the lane's own words, or of an atomic's class. */
static void address(struct emitter *e, const struct cfp_node *n, char *out, size_t size)
{
    bool shared = n->kind == CFP_ATOMIC;
    unsigned own = n->local ? 2 : 1, byte = shared ? 4u * n->op * CFP_CLASS_WORDS : 0;
    const char *array = n->local ? "" : shared ? "shared + " : "own + ";

    if (n->b.imm && !shared) {
        snprintf(out, size, "[%sv%u*4 + %u]", array, own, 4 * (n->b.value % CFP_OWN));
        return;
    }
    if (n->b.imm)
        emit(e, "%sv_mov_b32%s v40, %u", emit_soft(e), emit_free(e), n->b.value % CFP_CLASS_WORDS);
    else
        emit(e, "%sv_and_b32%s v40, v%u, 7", emit_soft(e), emit_free(e), V_VARS + n->b.value);
    if (!shared)
        emit(e, "%sv_add_u32%s v40, v40, v%u", emit_soft(e), emit_free(e), own);
    snprintf(out, size, "[%sv40*4 + %u]", array, byte);
}

static void emit_memory(struct emitter *e, const struct cfp_node *n)
{
    const char *space = n->local ? "local" : "global";
    char at[48];

    address(e, n, at, sizeof at);
    if (n->kind == CFP_LOAD)
        emit(e, "%s%s_load_b32 v%u, %s", e->pred, space, V_VARS + n->dst, at);
    else if (n->kind == CFP_STORE)
        emit(e, "%s%s_store_b%u %s, v%u", e->pred, space, 8u * n->bytes, at, V_VARS + n->a.value);
    else
        emit(e, "%s%s_%s %s, v%u", e->pred, space, cfp_atomics[n->op].name, at, V_VARS + n->a.value);
}

void emit_simple(struct emitter *e, const struct cfp_node *n)
{
    if (n->kind == CFP_OP)
        emit_op(e, n);
    else if (n->kind == CFP_BARRIER)
        emit(e, "%ss_barrier", e->pred);
    else
        emit_memory(e, n);
}

static void emit_compare(struct emitter *e, const char *mask, const struct cfp_compare *c)
{
    char a[24], b[24];

    emit(e, "%s%s%s %s, %s, %s", emit_soft(e), cfp_compares[c->op].name, emit_free(e), mask,
         operand(a, sizeof a, c->a), operand(b, sizeof b, c->b));
}

const char *emit_cond(struct emitter *e, const struct cfp_cond *c)
{
    const char *mask = e->vcc && emit_chance(e, 40) ? "vcc" : "m0";

    emit_compare(e, mask, &c->at[0]);
    if (c->join != CFP_ALONE) {
        emit_compare(e, "m1", &c->at[1]);
        emit(e, "m_%s %s, %s, m1", c->join == CFP_AND ? "and" : "or", mask, mask);
    }
    if (c->negate)
        emit(e, "m_not %s, %s", mask, mask);
    return mask;
}

void emit_trips_start(struct emitter *e, const struct cfp_node *n)
{
    unsigned trips = V_TRIPS + e->loops, most = V_MOST + e->loops;

    if (n->kind == CFP_REPEAT) {
        emit(e, "s_mov_b32 s%u, 0", S_COUNT + e->loops);
        return;
    }
    emit(e, "%sv_mov_b32%s v%u, 0", emit_soft(e), emit_free(e), trips);
    if (n->by_lane)
        emit(e, "%sv_and_b32%s v%u, v%u, 3", emit_soft(e), emit_free(e), most, V_VARS + n->dst);
    else
        emit(e, "%sv_mov_b32%s v%u, 0", emit_soft(e), emit_free(e), most);
    emit(e, "%sv_add_u32%s v%u, v%u, %u", emit_soft(e), emit_free(e), most, most, n->trips);
}

void emit_trip(struct emitter *e, const struct cfp_node *n)
{
    if (n->kind != CFP_REPEAT)
        emit(e, "%sv_add_u32%s v%u, v%u, 1", emit_soft(e), emit_free(e), V_TRIPS + e->loops,
             V_TRIPS + e->loops);
}

const char *emit_goes_on(struct emitter *e, const struct cfp_node *n)
{
    const char *mask = "m0";

    if (n->has_cond) {
        mask = emit_cond(e, &n->cond);
        emit(e, "%sv_cmp_lt_u32%s m2, v%u, v%u", emit_soft(e), emit_free(e), V_TRIPS + e->loops,
             V_MOST + e->loops);
        emit(e, "m_and %s, %s, m2", mask, mask);
    } else {
        emit(e, "%sv_cmp_lt_u32%s m0, v%u, v%u", emit_soft(e), emit_free(e), V_TRIPS + e->loops,
             V_MOST + e->loops);
    }
    return mask;
}

unsigned emit_group_if(struct emitter *e, const struct cfp_node *n)
{
    unsigned label = e->labels + 1;

    e->labels += 2;
    emit(e, "s_cmp_eq_u32 s50, %%group, %u", n->trips);
    emit(e, "s_branch_z s50, L%u", label);
    return label;
}

void emit_group_else(struct emitter *e, unsigned label)
{
    emit(e, "s_jump L%u", label + 1);
    emit_label(e, label);
}

void emit_group_end(struct emitter *e, const struct cfp_node *n, unsigned label)
{
    emit_label(e, n->orelse == CFP_NONE ? label : label + 1);
}

void emit_count(struct emitter *e, const struct cfp_node *n)
{
    unsigned count = S_COUNT + e->loops;

    emit(e, "s_add_u32 s%u, s%u, 1", count, count);
    emit(e, "s_cmp_lt_u32 s50, s%u, %u", count, n->trips);
}

static void emit_prologue(struct emitter *e, const char *form)
{
    emit(e, ".kernel k");
    emit(e, ".form %s", form);
    emit(e, ".param own u32[]");
    emit(e, ".param shared u32[]");
    emit(e, ".param vars u32[]");
    emit(e, ".param dump u32[]");
    emit(e, ".vregs 48");
    emit(e, ".lds %u", 4 * (CFP_SHARED + CFP_OWN * CFP_MAX_ITEMS));
    emit(e, "v_get_u32 v0, %%gid");
    emit(e, "v_get_u32 v3, %%tid");
    emit(e, "v_shl_b32 v1, v0, 3");
    emit(e, "v_shl_b32 v2, v3, 3");
    emit(e, "v_add_u32 v2, v2, %u", CFP_SHARED);
    emit(e, "v_mov_b32 v4, v0");
    emit(e, "v_mul_u32 v5, v0, 0x9e3779b1");
    emit(e, "v_add_u32 v5, v5, 0x%x", (uint32_t)e->p->seed);
    emit(e, "v_shr_b32 v6, v5, 13");
    emit(e, "v_and_b32 v7, v0, 3");
    emit(e, "v_mov_b32 v8, %u", (uint32_t)e->p->seed & 7);
    emit(e, "v_shr_b32 v9, v5, 29");
    emit(e, "v_cvt_f32_i32 v10, v6");
    emit(e, "v_sub_f32 v10, v10, 262144.0");
    emit(e, "v_mul_f32 v10, v10, 0.0000152587890625");
    emit(e, "v_sqrt_f32 v10, v10");
    emit(e, "v_cvt_f32_i32 v11, v7");
    emit(e, "v_sub_f32 v11, v11, 1.0");
    emit(e, "v_mov_b32 v12, v5");
}

void emit_epilogue(struct emitter *e, const char *except)
{
    const char *at = except ? "@!" : "", *mask = except ? except : "", *space = except ? " " : "";

    emit(e, "v_mul_u32 v40, v0, %u", CFP_VARS);
    for (unsigned k = 0; k < CFP_VARS; k++)
        emit(e, "%s%s%sglobal_store_b32 [vars + v40*4 + %u], v%u", at, mask, space, 4 * k,
             V_VARS + k);
    emit(e, "s_barrier");
    emit(e, "v_cmp_lt_u32 m0, v3, %u", CFP_SHARED);
    if (except)
        emit(e, "m_andn m0, m0, %s", except);
    emit(e, "@m0 local_load_b32 v41, [v3*4]");
    emit(e, "v_mov_b32 v40, %%group");
    emit(e, "v_mad_u32 v40, v40, %u, v3", CFP_SHARED);
    emit(e, "@m0 global_store_b32 [dump + v40*4], v41");
    emit(e, "s_end");
}

void cfp_emit(const struct cfp_program *p, enum cfp_emitter emitter, struct cfp_text *out)
{
    static const struct {
        const char *form;
        void (*body)(struct emitter *e);
        bool all, vcc, nomask;
    } rows[CFP_EMITTERS] = {
        [CFP_SUGAR] = {"predicated", emit_sugar, false, false, false},
        [CFP_MASKS] = {"predicated", emit_masks, false, true, false},
        [CFP_PREDICATED_ALL] = {"predicated-all", emit_masks, true, true, false},
        [CFP_EXEC] = {"exec", emit_exec, false, true, true},
        [CFP_GOTO] = {"goto", emit_goto, false, true, false},
    };
    struct emitter e = {.p = p, .out = out, .node = CFP_NO_NODE, .pred = ""};

    e.all = rows[emitter].all;
    e.vcc = rows[emitter].vcc;
    e.nomask = rows[emitter].nomask;
    rng_seed_pair(&e.rng, p->seed, emitter);
    text_free(&out->text);
    out->text = (struct text){0};
    out->nlines = 0;
    emit_prologue(&e, rows[emitter].form);
    rows[emitter].body(&e);
    emit(&e, ".endkernel");
}
