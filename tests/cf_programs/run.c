#include "tests/cf_programs/run.h"

#include "cf/cf.h"
#include "isa/asm.h"
#include "isa/wave.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_UNITS = 48, MOST_INSTRUCTIONS = 2000000 };

const struct cfp_way cfp_ways[] = {
    {"any-branch", CFP_SUGAR},
    {"any-branch", CFP_MASKS},
    {"predication", CFP_SUGAR},
    {"predication", CFP_MASKS},
    {"predication", CFP_PREDICATED_ALL},
    {"exec-mask", CFP_EXEC},
    {"goto-join", CFP_GOTO},
    {"simt-stack", CFP_GOTO},
    {"min-pc", CFP_GOTO},
    {"barrier", CFP_GOTO},
};
const unsigned cfp_nways = sizeof cfp_ways / sizeof *cfp_ways;

const unsigned cfp_widths[CFP_WIDTHS] = {8, 16, 32, 64};

enum { OWN, SHARED, VARS, DUMP, ARRAYS };

struct machine {
    struct sim_machine *m;
    uint32_t array[ARRAYS];
};

struct cfp_rig {
    struct machine machines[MAX_UNITS][CFP_WIDTHS];
    struct cfp_text text;
    /* the run in hand */
    const struct cfp_run *run;
    const struct isa_program *program;
    struct machine *machine;
    struct cfp_effects seen;
    uint32_t idle_line; /* of an instruction that no lane was on for; 0: none */
};

struct cfp_rig *cfp_rig_new(void)
{
    return calloc(1, sizeof(struct cfp_rig));
}

static void forget(struct machine *m)
{
    sim_free(m->m);
    m->m = NULL;
}

void cfp_rig_free(struct cfp_rig *r)
{
    for (unsigned u = 0; u < MAX_UNITS; u++)
        for (unsigned w = 0; w < CFP_WIDTHS; w++)
            forget(&r->machines[u][w]);
    text_free(&r->text.text);
    free(r);
}

/* ---- machines ---- */

static enum cfp_outcome refused(const struct hd_error *err, char why[256])
{
    snprintf(why, 256, "%.40s: %.140s (%.60s)", err->code, err->message, err->place);
    return CFP_REFUSED;
}

static bool make_machine(struct machine *m, const char *unit, unsigned width, struct hd_error *err)
{
    static const size_t words[ARRAYS] = {CFP_MAX_ITEMS * CFP_OWN, CFP_SHARED,
                                         CFP_MAX_ITEMS * CFP_VARS, CFP_MAX_GROUPS * CFP_SHARED};
    static const char *const names[ARRAYS] = {"own", "shared", "vars", "dump"};
    const char *const settings[][2] = {
        {"divergence.unit", unit}, {"compute_units", "1"}, {"lds.bytes", "65536"}};
    struct sim_config config;
    char text[16];

    param_defaults(&sim_params, &config);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (param_set(&sim_params, &config, settings[i][0], settings[i][1], "test", err))
            return false;
    snprintf(text, sizeof text, "%u", width);
    if (param_set(&sim_params, &config, "wavefront_size", text, "test", err) ||
        sim_new(&config, ISA_BUILD_AUTO, &m->m, err))
        return false;
    for (unsigned i = 0; i < ARRAYS; i++) {
        const struct sim_array_desc desc = {names[i], 4 * words[i], 4, SIM_MANAGED};

        if (sim_array_new(m->m, &desc, &m->array[i], err))
            return false;
    }
    return true;
}

static unsigned unit_index(const char *name)
{
    unsigned i = 0;

    while (cf_units[i] && strcmp(cf_units[i]->name, name) != 0)
        i++;
    if (i >= MAX_UNITS)
        abort();
    return i;
}

static bool find_machine(struct cfp_rig *r, struct hd_error *err)
{
    unsigned u = unit_index(r->run->way.unit), w = 0;

    while (cfp_widths[w] != r->run->width)
        w++;
    r->machine = &r->machines[u][w];
    return r->machine->m || make_machine(r->machine, r->run->way.unit, r->run->width, err);
}

/* ---- effects ---- */

/* In the goto form nothing that acts on lanes issues without any, for a goto or join has led past it. */
static void on_issue(struct cfp_rig *r, const struct hd_probe_event *e)
{
    const struct isa_insn *in = &r->program->insns[e->pc];

    if (in->format == ISA_JOIN || in->format == ISA_GOTO || in->format == ISA_GOTO_BACK ||
        (e->regs->live & e->regs->exec) || r->idle_line)
        return;
    r->idle_line = r->program->lines[in->line].line;
}

static void on_event(void *user, const struct hd_probe_event *e)
{
    struct cfp_rig *r = user;
    const struct isa_insn *in = &r->program->insns[e->pc];
    uint16_t node = r->text.node_of_line[r->program->lines[in->line].line];
    bool local = e->kind == HD_PROBE_LOCAL, atomic;
    uint64_t base;

    if (e->kind == HD_PROBE_ISSUE) {
        on_issue(r, e);
        return;
    }
    if (node == CFP_NO_NODE || in->format == ISA_GLOAD || in->format == ISA_LLOAD)
        return;
    atomic = in->format == ISA_GATOMIC;
    base = local ? 0 : sim_array_address(r->machine->m, r->machine->array[atomic ? SHARED : OWN]);
    for (unsigned lane = 0; lane < r->run->width; lane++) {
        uint64_t item = e->group * r->run->program->threads + e->wave * r->run->width + lane;
        uint64_t mask = e->bytes < 4 ? (UINT64_C(1) << 8 * e->bytes) - 1 : UINT32_MAX;

        if (!(e->lanes >> lane & 1) || item >= CFP_MAX_ITEMS || r->seen.n[item] == CFP_EFFECTS)
            continue;
        r->seen.at[item][r->seen.n[item]++] =
            (struct cfp_effect){node, local, (uint32_t)(e->address[lane] - base),
                                (uint32_t)(e->regs->v[in->a.index * r->run->width + lane] & mask)};
    }
}

static enum cfp_outcome compare_effects(const struct cfp_rig *r, char why[256])
{
    const struct cfp_effects *want = &r->run->expected->effects, *have = &r->seen;

    for (uint32_t i = 0; i < r->run->program->groups * r->run->program->threads; i++) {
        uint32_t most = want->n[i] > have->n[i] ? want->n[i] : have->n[i];

        for (uint32_t k = 0; k < most; k++) {
            const struct cfp_effect none = {CFP_NO_NODE, false, 0, 0};
            const struct cfp_effect *w = k < want->n[i] ? &want->at[i][k] : &none;
            const struct cfp_effect *h = k < have->n[i] ? &have->at[i][k] : &none;

            if (w->node == h->node && w->local == h->local && w->place == h->place &&
                w->value == h->value)
                continue;
            snprintf(why, 256,
                     "work-item %u, effect %u: node %d puts 0x%x at %u, not node %d 0x%x at %u", i,
                     k, (int16_t)h->node, h->value, h->place, (int16_t)w->node, w->value, w->place);
            return CFP_DIFFERS;
        }
    }
    return CFP_SAME;
}

/* ---- memory ---- */

static void fill(struct machine *m, unsigned array, const uint32_t *from, size_t bytes)
{
    memcpy(sim_array_data(m->m, m->array[array]), from, bytes);
}

static void fill_memory(struct cfp_rig *r, struct cfp_memory *start)
{
    cfp_memory_start(r->run->program, start);
    fill(r->machine, OWN, start->own, sizeof start->own);
    fill(r->machine, SHARED, start->shared, sizeof start->shared);
    fill(r->machine, VARS, start->vars, sizeof start->vars);
    fill(r->machine, DUMP, start->dump, sizeof start->dump);
}

static enum cfp_outcome compare_array(const struct cfp_rig *r, unsigned array, const char *name,
                                      const uint32_t *want, size_t bytes, char why[256])
{
    const uint32_t *have = sim_array_data(r->machine->m, r->machine->array[array]);

    for (size_t i = 0; i < bytes / 4; i++) {
        if (have[i] == want[i])
            continue;
        snprintf(why, 256, "%s[%zu] is 0x%x, not 0x%x", name, i, have[i], want[i]);
        return CFP_DIFFERS;
    }
    return CFP_SAME;
}

static enum cfp_outcome compare_memory(const struct cfp_rig *r, char why[256])
{
    const struct cfp_memory *m = &r->run->expected->memory;
    const struct {
        const char *name;
        const uint32_t *words;
        size_t bytes;
    } rows[ARRAYS] = {{"own", m->own, sizeof m->own},
                      {"shared", m->shared, sizeof m->shared},
                      {"vars", m->vars, sizeof m->vars},
                      {"dump", m->dump, sizeof m->dump}};

    for (unsigned i = 0; i < ARRAYS; i++)
        if (compare_array(r, i, rows[i].name, rows[i].words, rows[i].bytes, why))
            return CFP_DIFFERS;
    return CFP_SAME;
}

/* ---- runs ---- */

static enum hd_status launch(struct cfp_rig *r, struct hd_error *err)
{
    static const bool writes[ARRAYS] = {true, true, true, true};
    struct sim_cmd cmd = {.kind = SIM_KERNEL};
    uint64_t args[ARRAYS], ticket;
    enum hd_status status;

    for (unsigned i = 0; i < ARRAYS; i++)
        args[i] = sim_array_address(r->machine->m, r->machine->array[i]);
    cmd.launch = (struct sim_launch){
        .program = r->program,
        .kernel = &r->program->kernels[0],
        .grid = {r->run->program->groups, 1, 1},
        .block = {r->run->program->threads, 1, 1},
        .args = args,
        .arrays = r->machine->array,
        .writes = writes,
        .narrays = ARRAYS,
    };
    status = sim_submit(r->machine->m, 0, &cmd, &ticket, err);
    return status ? status : sim_wait(r->machine->m, ticket, err);
}

/* An endless loop becomes a fault where it can be told: with a limit nothing is computed ahead. */
static void set_mode(struct cfp_rig *r, enum sim_mode mode)
{
    struct hd_probe watch = {r, on_event,
                             HD_PROBE_WANT(HD_PROBE_GLOBAL) | HD_PROBE_WANT(HD_PROBE_LOCAL)};
    const struct hd_probe none = {0};
    struct sim_limits limits = {0};
    struct sim_counters total;

    if (r->run->way.emitter == CFP_GOTO)
        watch.wants |= HD_PROBE_WANT(HD_PROBE_ISSUE);
    sim_totals(r->machine->m, &total);
    if (mode == SIM_TIMED)
        limits.max_instructions =
            total.wave_instr +
            (r->run->most_instructions ? r->run->most_instructions : MOST_INSTRUCTIONS);
    sim_set_limits(r->machine->m, &limits);
    sim_set_probe(r->machine->m, mode == SIM_TIMED ? &watch : &none);
    sim_set_mode(r->machine->m, mode);
}

static enum cfp_outcome run_mode(struct cfp_rig *r, enum sim_mode mode, char why[256])
{
    struct cfp_memory start;
    struct hd_error err;
    enum cfp_outcome outcome;
    enum hd_status status;

    if (!find_machine(r, &err)) {
        forget(r->machine);
        return refused(&err, why);
    }
    fill_memory(r, &start);
    memset(r->seen.n, 0, sizeof r->seen.n);
    r->idle_line = 0;
    set_mode(r, mode);
    status = launch(r, &err);
    if (status != HD_OK) {
        refused(&err, why);
        forget(r->machine);
        return status == HD_BAD_INPUT ? CFP_REFUSED : CFP_FAULT;
    }
    if (r->idle_line) {
        snprintf(why, 256, "line %u issues with no lane", r->idle_line);
        return CFP_DIFFERS;
    }
    outcome = mode == SIM_TIMED ? compare_effects(r, why) : CFP_SAME;
    return outcome ? outcome : compare_memory(r, why);
}

enum cfp_outcome cfp_run(struct cfp_rig *r, const struct cfp_run *run, char why[256])
{
    struct isa_program *program;
    enum cfp_outcome outcome;
    struct hd_error err;

    r->run = run;
    cfp_emit(run->program, run->way.emitter, &r->text);
    if (isa_assemble_text("program.hasm", text_str(&r->text.text), r->text.text.len, NULL, 0,
                          &program, &err))
        return refused(&err, why);
    if (run->rewrite)
        run->rewrite(program);
    r->program = program;
    outcome = run_mode(r, SIM_TIMED, why);
    if (outcome == CFP_SAME)
        outcome = run_mode(r, SIM_VALUES, why);
    isa_program_free(program);
    return outcome;
}
