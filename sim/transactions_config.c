/* Which detector and serialisation a kernel's transactions have, and what they take of a compute unit. */
#include "sim/transactions.h"

#include "sim/advise.h"
#include "sim/base/nearest.h"
#include "sim/occupancy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Number of a name in a list of choices, -1 if it has none. */
static int choice_of(const struct param_choice *choices, const char *name)
{
    for (int i = 0; choices[i].name; i++)
        if (strcmp(choices[i].name, name) == 0)
            return i;
    return -1;
}

static uint32_t choose(const struct param_choice *choices, const char *directive, uint32_t config,
                       bool forced)
{
    int named = *directive && !forced ? choice_of(choices, directive) : -1;

    return named < 0 ? config : (uint32_t)named;
}

struct tm_params tx_fixed_params(const struct sim_config *c, const struct isa_kernel *k)
{
    return (struct tm_params){
        .detector = choose(tm_detector_choices, k->tm_detector, c->tm_detector,
                           c->tm_forced & SIM_FORCE_TM_DETECTOR),
        .serialise = choose(tm_serialise_choices, k->tm_serialise, c->tm_serialise,
                            c->tm_forced & SIM_FORCE_TM_SERIALISE),
        .helper = c->tm_helper,
        .wg_hold = c->tm_wg_hold,
        .dcd_release = c->tm_dcd_release,
        .mcm_source = c->tm_mcm_source,
        .multi_fail = c->tm_multi_fail,
        .global_store = c->tm_global_store,
        .abort_model = c->tm_abort_model,
        .owner_on_read = c->tm_owner_on_read,
        .early_exit = c->tm_early_exit,
        .broadcast_always = c->tm_broadcast_always,
        .strong = c->tm_strong,
        .classify = true,
        .pass_pipelined = c->tm_pass_pipelined,
        .record_bits = c->tm_record_bits,
        .hash_k = c->tm_hash_k,
        .checkpoint_cycles = c->tm_checkpoint_cycles,
        .banks = c->lds_banks,
        .lanes_per_pass = c->lds_lanes_per_pass,
        .signature_cycles = c->tm_signature_cycles,
        .slot_cycles = c->tm_slot_cycles,
        .broadcast_cycles = c->tm_broadcast_cycles,
        .lds_latency_cycles = c->lds_latency,
    };
}

struct tm_params tx_params(const struct sim_config *c, const struct sim_launch *l)
{
    const struct isa_kernel *k = l->kernel;
    struct tm_params p = tx_fixed_params(c, k);
    struct tm_known known;
    struct tm_advice advice;

    if (c->tm_policy == TM_POLICY_FIXED)
        return p;
    known = sim_tx_known(c, l);
    advice = tm_advise(&known);
    if (!*k->tm_detector && !(c->tm_forced & SIM_FORCE_TM_DETECTOR))
        p.detector = advice.detector;
    if (!*k->tm_serialise && !(c->tm_forced & SIM_FORCE_TM_SERIALISE))
        p.serialise = advice.serialise;
    return p;
}

struct tm_needs tx_needs(const struct sim_config *c, const struct sim_launch *l)
{
    struct tm_params p;

    if (!l->kernel->has_tx)
        return (struct tm_needs){0};
    p = tx_params(c, l);
    return tm_needs(&p, (size_t)l->kernel->lds_bytes + l->dynamic_lds);
}

/* ---- what cannot be run ---- */

static void kernel_place(const struct sim_launch *l, char *out, size_t size)
{
    const struct isa_program *p = l->program;
    const struct isa_line *line = l->kernel->line < p->nlines ? &p->lines[l->kernel->line] : NULL;

    snprintf(out, size, "kernel %s (%s:%" PRIu32 ")", l->kernel->name,
             line ? p->files[line->file] : "?", line ? line->line : 0);
}

static enum hd_status check_directive(const struct sim_launch *l, const char *key,
                                      const struct param_choice *choices, const char *name,
                                      struct hd_error *err)
{
    struct nearest near = nearest_start(name);
    char place[384], hint[128];

    if (!*name || choice_of(choices, name) >= 0)
        return HD_OK;
    for (const struct param_choice *c = choices; c->name; c++)
        nearest_offer(&near, c->name);
    snprintf(hint, sizeof hint, "%s%s", near.best ? "did you mean " : "heddle list policies has ",
             near.best ? near.best : "them");
    kernel_place(l, place, sizeof place);
    return hd_error_set(err, HD_BAD_INPUT, "tm-directive", place, hint, "there is no %s \"%s\"",
                        key, name);
}

static enum hd_status check_room(const struct sim_config *c, const struct sim_launch *l,
                                 struct hd_error *err)
{
    uint64_t bytes = (uint64_t)l->kernel->lds_bytes + l->dynamic_lds;
    uint64_t shadow = tx_needs(c, l).shadow_bytes;
    char place[384];

    if (occupancy_local(c, bytes + shadow) <= c->lds_bytes)
        return HD_OK;
    kernel_place(l, place, sizeof place);
    return hd_error_set(
        err, HD_BAD_INPUT, "tm-shadow", place, "use less local memory, or a smaller tm.record_bits",
        "%" PRIu64 " bytes of local memory and %" PRIu64
        " bytes of shadow memory for transactions are asked for, lds.bytes is %" PRIu32,
        bytes, shadow, c->lds_bytes);
}

static enum hd_status check_unit(const struct sim_config *c, const struct sim_launch *l,
                                 struct hd_error *err)
{
    const struct cf_unit_ops *unit = cf_units[c->divergence_unit];
    char place[384];

    if (unit->runs_transactions)
        return HD_OK;
    kernel_place(l, place, sizeof place);
    return hd_error_set(
        err, HD_BAD_INPUT, "tm-unit", place,
        "divergence units predication, any-branch, exec-mask and goto-join run them",
        "divergence unit %s runs no transactions", unit->name);
}

static enum hd_status check_params(const struct sim_config *c, const struct sim_launch *l,
                                   uint64_t items, struct hd_error *err)
{
    struct tm_params p = tx_params(c, l);
    unsigned waves = (unsigned)bits_ceil_div(items, c->wavefront_size);
    enum hd_status status;

    status = tm_check(&p, waves, c->wavefront_size, err);
    if (status != HD_OK && err)
        kernel_place(l, err->place, sizeof err->place);
    return status;
}

enum hd_status tx_check(const struct sim_config *c, const struct sim_launch *l, uint64_t items,
                        struct hd_error *err)
{
    const struct isa_kernel *k = l->kernel;
    enum hd_status status;

    if (!k->has_tx)
        return HD_OK;
    status = check_unit(c, l, err);
    if (status == HD_OK)
        status = check_directive(l, "tm.detector", tm_detector_choices, k->tm_detector, err);
    if (status == HD_OK)
        status = check_directive(l, "tm.serialise", tm_serialise_choices, k->tm_serialise, err);
    if (status == HD_OK)
        status = check_params(c, l, items, err);
    return status == HD_OK ? check_room(c, l, err) : status;
}
