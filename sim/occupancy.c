/* Occupancy: what a work-group needs, how many a compute unit can hold, and what is left of it. */
#include "sim/occupancy.h"

#include "sim/base/checked.h"
#include "sim/transactions.h"

/* ---- what a wavefront and a work-group take ---- */

/* What a launch asks for: its own, and what its transactions take. */
struct needs {
    uint32_t vregs, sregs; /* of a work-item, of a wavefront */
    uint64_t local;        /* of a work-group */
};

static struct needs needs_of(const struct sim_config *c, const struct sim_launch *l)
{
    struct tm_needs tm = tx_needs(c, l);

    return (struct needs){l->kernel->vregs + tm.vregs, l->kernel->sregs + tm.sregs,
                          (uint64_t)l->kernel->lds_bytes + l->dynamic_lds + tm.shadow_bytes};
}

static uint32_t wave_vregs(const struct sim_config *c, const struct needs *n)
{
    return (uint32_t)bits_round_up((uint64_t)n->vregs * c->wavefront_size, c->vreg_granule);
}

static uint32_t wave_sregs(const struct sim_config *c, const struct needs *n)
{
    return c->sreg_words ? (uint32_t)bits_round_up(n->sregs, c->sreg_granule) : 0;
}

uint32_t occupancy_local(const struct sim_config *c, uint64_t bytes)
{
    uint64_t size = bits_round_up(bytes, c->lds_granule);

    if (c->lds_power_of_two && size && !bits_is_power_of_two(size))
        size = UINT64_C(2) << bits_last(size);
    return (uint32_t)size;
}

void occupancy_needs(const struct sim_config *c, const struct sim_launch *l, struct kernel_run *run)
{
    struct needs n = needs_of(c, l);

    run->vreg_words = wave_vregs(c, &n);
    run->sreg_words = wave_sregs(c, &n);
    run->lds_alloc = occupancy_local(c, n.local);
    run->lds_bytes = l->kernel->lds_bytes + l->dynamic_lds;
    run->one_simd = c->group_on_one_simd;
}

/* ---- checks of a launch ---- */

static enum hd_status too_much(struct hd_error *err, const char *code, const struct isa_kernel *k,
                               uint64_t asked, const char *unit, const char *key, uint64_t limit)
{
    return hd_error_set(err, HD_BAD_INPUT, code, NULL, NULL,
                        "%s: %llu %s asked for, the limit %s is %llu", k->name,
                        (unsigned long long)asked, unit, key, (unsigned long long)limit);
}

static enum hd_status check_shape(const struct sim_config *c, const struct sim_launch *l,
                                  uint64_t *items, struct hd_error *err)
{
    uint64_t groups = 1;

    *items = 1;
    for (unsigned i = 0; i < 3; i++) {
        if (!l->grid[i] || !l->block[i])
            return hd_error_set(err, HD_BAD_INPUT, "launch-empty", NULL, "use at least 1 of each",
                                "kernel %s: %s of a launch is 0 in dimension %c", l->kernel->name,
                                l->grid[i] ? "threads" : "blocks", "xyz"[i]);
        *items *= l->block[i];
        if (*items > c->group_items_max)
            return too_much(err, "launch-group-size", l->kernel, *items,
                            "work-items of a work-group", "cu.workgroup_items", c->group_items_max);
        if (!u64_mul(groups, l->grid[i], &groups) || groups > UINT32_MAX)
            return hd_error_set(err, HD_BAD_INPUT, "launch-grid-size", NULL, "use fewer work-groups",
                                "kernel %s: more than 2^32 - 1 work-groups", l->kernel->name);
    }
    return HD_OK;
}

static enum hd_status check_local(const struct sim_config *c, const struct sim_launch *l,
                                  struct hd_error *err)
{
    uint64_t bytes = (uint64_t)l->kernel->lds_bytes + l->dynamic_lds;

    if (bytes <= c->lds_group_max)
        return HD_OK;
    return hd_error_set(
        err, HD_BAD_INPUT, "launch-local-memory", NULL, NULL,
        "kernel %s: %llu bytes of local memory asked for (%u static, %u dynamic), the limit "
        "lds.bytes_per_workgroup is %u",
        l->kernel->name, (unsigned long long)bytes, l->kernel->lds_bytes, l->dynamic_lds,
        c->lds_group_max);
}

static enum hd_status check_form(const struct sim_config *c, const struct sim_launch *l,
                                 struct hd_error *err)
{
    const struct cf_unit_ops *unit = cf_units[c->divergence_unit];

    if (l->kernel->forms & unit->forms)
        return HD_OK;
    return hd_error_set(err, HD_BAD_INPUT, "launch-form", NULL,
                        "write the kernel in a form that the unit runs",
                        "kernel %s is in a control-flow form that divergence unit %s does not run",
                        l->kernel->name, unit->name);
}

/*
 * The limits on what one lane, one wavefront and one work-group may ask for. CUDA counts a block's
 * warps up to a multiple of cu.workgroup_wavefront_granule before it looks at the registers of a
 * block (cuda_occupancy.h, "regsAssumedPerCTA").
 */
static enum hd_status check_registers(const struct sim_config *c, const struct isa_kernel *k,
                                      const struct needs *n, uint64_t waves, struct hd_error *err)
{
    uint64_t wave = (uint64_t)n->vregs * c->wavefront_size,
             group = bits_round_up(waves, c->group_wave_granule) * wave_vregs(c, n);

    if (n->vregs > c->vregs_max)
        return too_much(err, "launch-registers", k, n->vregs, "vector registers",
                        "cu.vector_registers_max", c->vregs_max);
    if (c->wave_vreg_words && wave > c->wave_vreg_words)
        return too_much(err, "launch-registers", k, wave, "words of vector registers a wavefront",
                        "cu.wavefront_vector_register_words", c->wave_vreg_words);
    if (c->group_vreg_words && group > c->group_vreg_words)
        return too_much(err, "launch-registers", k, group, "words of vector registers a work-group",
                        "cu.workgroup_vector_register_words", c->group_vreg_words);
    return HD_OK;
}

/* ---- how many fit ---- */

/* One resource of a compute unit. */
struct limit {
    const char *name, *key;
    bool of_simd;        /* each SIMD unit owns an equal part; `each` is of a wavefront */
    uint64_t each, have; /* each: of a work-group otherwise */
};

static uint64_t groups_within(const struct sim_config *c, const struct limit *l, uint64_t waves)
{
    uint64_t per_simd;

    if (!l->of_simd)
        return l->have / l->each;
    per_simd = l->have / c->simds / l->each;
    return c->group_on_one_simd ? per_simd / waves * c->simds : per_simd * c->simds / waves;
}

static enum hd_status never_fits(const struct sim_config *c, const struct isa_kernel *k,
                                 const struct limit *l, uint64_t waves, struct hd_error *err)
{
    uint64_t need = l->of_simd ? l->each * waves : l->each;

    if (need > l->have)
        return too_much(err, "launch-never-fits", k, need, l->name, l->key, l->have);
    return hd_error_set(
        err, HD_BAD_INPUT, "launch-never-fits", NULL, "use smaller work-groups or fewer registers",
        "%s: a SIMD unit has room for %llu of the %llu wavefronts of a work-group "
        "(%s: %llu a wavefront; %s is %llu, over %u SIMD units)",
        k->name, (unsigned long long)(l->have / c->simds / l->each), (unsigned long long)waves,
        l->name, (unsigned long long)l->each, l->key, (unsigned long long)l->have, c->simds);
}

static enum hd_status count_groups(const struct sim_config *c, const struct sim_launch *l,
                                   const struct needs *n, uint64_t waves, struct occupancy *out,
                                   struct hd_error *err)
{
    const struct limit limits[] = {
        {"wavefronts", "cu.wavefront_slots", true, 1, c->wave_slots},
        {"workgroups", "cu.workgroup_slots", false, 1, c->group_slots},
        {"barriers", "cu.barrier_slots", false, waves > 1 && c->barrier_slots, c->barrier_slots},
        {"vector registers", "cu.vector_register_words", true, wave_vregs(c, n), c->vreg_words},
        {"scalar registers", "cu.scalar_register_words", true, wave_sregs(c, n), c->sreg_words},
        {"local memory", "lds.bytes", false, occupancy_local(c, n->local), c->lds_bytes},
    };

    *out = (struct occupancy){UINT32_MAX, (uint32_t)waves, ""};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        uint64_t groups;

        if (!limits[i].each)
            continue;
        groups = groups_within(c, &limits[i], waves);
        if (!groups)
            return never_fits(c, l->kernel, &limits[i], waves, err);
        if (groups < out->groups) {
            out->groups = (uint32_t)groups;
            out->limit = limits[i].name;
        }
    }
    return HD_OK;
}

enum hd_status occupancy_check(const struct sim_config *c, const struct sim_launch *l,
                               struct occupancy *out, struct hd_error *err)
{
    struct needs n;
    enum hd_status status;
    uint64_t items, waves;

    status = check_shape(c, l, &items, err);
    if (status == HD_OK)
        status = check_local(c, l, err);
    if (status == HD_OK)
        status = check_form(c, l, err);
    if (status == HD_OK)
        status = tx_check(c, l, items, err);
    if (status != HD_OK)
        return status;
    n = needs_of(c, l);
    waves = bits_ceil_div(items, c->wavefront_size);
    status = check_registers(c, l->kernel, &n, waves, err);
    return status == HD_OK ? count_groups(c, l, &n, waves, out, err) : status;
}

/* ---- what is left of a compute unit ---- */

void room_init(const struct sim_config *c, struct cu *cu)
{
    cu->nsimds = c->simds;
    cu->free_groups = c->group_slots;
    cu->free_barriers = c->barrier_slots ? c->barrier_slots : c->group_slots;
    cu->free_waves = c->wave_slots;
    cu->free_vregs = c->vreg_words;
    cu->free_sregs = c->sreg_words;
    cu->free_lds = c->lds_bytes;
    for (uint32_t i = 0; i < c->simds; i++) {
        cu->simds[i].free_slots = c->wave_slots / c->simds;
        cu->simds[i].free_vregs = c->vreg_words / c->simds;
        cu->simds[i].free_sregs = c->sreg_words / c->simds;
    }
}

/* Wavefronts of the run that a SIMD unit has room for. */
static uint32_t simd_room(const struct simd *s, const struct kernel_run *run)
{
    uint32_t waves = s->free_slots;

    if (run->vreg_words && s->free_vregs / run->vreg_words < waves)
        waves = s->free_vregs / run->vreg_words;
    if (run->sreg_words && s->free_sregs / run->sreg_words < waves)
        waves = s->free_sregs / run->sreg_words;
    return waves;
}

bool group_fits(const struct cu *cu, const struct kernel_run *run)
{
    uint32_t waves = run->occupancy.waves_per_group, sum = 0;

    if (cu->free_groups < 1 || cu->free_barriers < (waves > 1) || cu->free_lds < run->lds_alloc ||
        cu->free_waves < waves || cu->free_vregs < waves * run->vreg_words ||
        cu->free_sregs < waves * run->sreg_words)
        return false;
    for (uint32_t i = 0; i < cu->nsimds; i++) {
        uint32_t room = simd_room(&cu->simds[i], run);

        sum = run->one_simd ? (room > sum ? room : sum) : sum + room;
    }
    return sum >= waves;
}

void room_take_group(struct cu *cu, const struct kernel_run *run)
{
    uint32_t waves = run->occupancy.waves_per_group;

    cu->free_groups--;
    cu->free_barriers -= waves > 1;
    cu->free_waves -= waves;
    cu->free_vregs -= waves * run->vreg_words;
    cu->free_sregs -= waves * run->sreg_words;
    cu->free_lds -= run->lds_alloc;
}

uint32_t room_simd(const struct cu *cu, const struct kernel_run *run)
{
    uint32_t waves = run->one_simd ? run->occupancy.waves_per_group : 1, best = 0,
             fewest = UINT32_MAX;

    for (uint32_t i = 0; i < cu->nsimds; i++) {
        uint32_t used = bits_count(cu->simds[i].used);

        if (used < fewest && simd_room(&cu->simds[i], run) >= waves) {
            best = i;
            fewest = used;
        }
    }
    return best;
}

void room_take_wave(struct cu *cu, uint32_t simd, struct workgroup *g)
{
    struct simd *s = &cu->simds[simd];

    s->free_slots--;
    s->free_vregs -= g->run->vreg_words;
    s->free_sregs -= g->run->sreg_words;
    g->on_simd[simd]++;
}

void room_give(struct cu *cu, struct workgroup *g)
{
    const struct kernel_run *run = g->run;
    uint32_t waves = run->occupancy.waves_per_group;

    cu->free_groups++;
    cu->free_barriers += waves > 1;
    cu->free_waves += waves;
    cu->free_vregs += waves * run->vreg_words;
    cu->free_sregs += waves * run->sreg_words;
    cu->free_lds += run->lds_alloc;
    for (uint32_t i = 0; i < cu->nsimds; i++) {
        struct simd *s = &cu->simds[i];

        s->free_slots += g->on_simd[i];
        s->free_vregs += g->on_simd[i] * run->vreg_words;
        s->free_sregs += g->on_simd[i] * run->sreg_words;
        g->on_simd[i] = 0;
    }
}
