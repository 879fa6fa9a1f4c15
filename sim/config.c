#include "sim/config.h"

#include "cf/cf.h"
#include "sim/base/bits.h"
#include "sim/limits.h"
#include "sim/occupancy.h"
#include "sim/placement.h"
#include "sim/transactions.h"
#include "sim/wave_scheduler.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

/* ---- the parameter table --------------------------------------------------------------------- */

/* Forms by value of cf.form; auto is what the divergence unit runs. */
#define FORMS(_)                                                                                   \
    _("auto", 0, "what the divergence unit runs")                                                  \
    _("predicated", ISA_FORM_PREDICATED, "masks on what leaves a region; scalar branches skip")    \
    _("exec", ISA_FORM_EXEC, "EXEC saved and restored by code")                                    \
    _("goto", ISA_FORM_GOTO, "goto and join")                                                      \
    _("predicated-all", ISA_FORM_PREDICATED_ALL, "a mask on every vector instruction")

static const struct param_choice form_choices[] = {
#define ROW(name, bits, doc) {name, doc},
    FORMS(ROW)
#undef ROW
        {NULL, NULL},
};

static const unsigned form_bits[] = {
#define ROW(name, bits, doc) bits,
    FORMS(ROW)
#undef ROW
};

static const struct param_choice l1_write_choices[] = {
    [L1_WRITE_THROUGH] = {"write-through", "in L2; every store goes on to it"},
    [L1_WRITE_BACK] =
        {"write-back",
         "in L1; dirty sectors go to L2 when their line leaves, at fences and ends of kernels"},
    {NULL, NULL},
};

static const struct param_choice l2_hash_choices[] = {
    [L2_HASH_XOR] = {"xor", "the line's number with its upper bits folded in, modulo the slices"},
    [L2_HASH_MODULO] = {"modulo", "the line's number modulo the slices"},
    {NULL, NULL},
};

static const struct param_choice tm_policy_choices[] = {
    [TM_POLICY_FIXED] = {"fixed", "the parameters and directives say it"},
    [TM_POLICY_AUTO] =
        {"auto", "the code of each kernel says it, without a run; heddle tm-advise knows more"},
    {NULL, NULL},
};

/* The registry behind each CHOICE row, by its field. */
#define choices_wave_scheduler wave_scheduler_choices
#define choices_placement placement_choices
#define choices_divergence_unit cf_unit_choices
#define choices_cf_form form_choices
#define choices_l1_write l1_write_choices
#define choices_l2_hash l2_hash_choices
#define choices_tm_detector tm_detector_choices
#define choices_tm_serialise tm_serialise_choices
#define choices_tm_policy tm_policy_choices
#define choices_tm_helper tm_helper_choices
#define choices_tm_wg_hold tm_wg_hold_choices
#define choices_tm_dcd_release tm_dcd_release_choices
#define choices_tm_mcm_source tm_mcm_source_choices
#define choices_tm_multi_fail tm_multi_fail_choices
#define choices_tm_global_store tm_global_store_choices
#define choices_tm_abort_model tm_abort_model_choices

#define CHOICES_U32(field) NULL
#define CHOICES_U64(field) NULL
#define CHOICES_BOOL(field) NULL
#define CHOICES_TEXT(field) NULL
#define CHOICES_CHOICE(field) choices_##field

/* A default as text: of a text or choice it is a string already. `#def` is taken before `true` becomes 1. */
#define DEFAULT_U32(text, def) text
#define DEFAULT_U64(text, def) text
#define DEFAULT_BOOL(text, def) text
#define DEFAULT_TEXT(text, def) def
#define DEFAULT_CHOICE(text, def) def

static const struct param rows[] = {
#define PARAM(kind, field, path, unit, min, max, def, doc)                                         \
    {PARAM_KIND_##kind,         path, unit, doc,                                                   \
     DEFAULT_##kind(#def, def), min,  max,  offsetof(struct sim_config, field),                    \
     CHOICES_##kind(field)},
#include "sim/params.def"
#undef PARAM
};

const struct param_table sim_params = {rows, sizeof rows / sizeof *rows};

unsigned sim_config_forms(const struct sim_config *c)
{
    unsigned runs = cf_units[c->divergence_unit]->forms;

    return form_bits[c->cf_form] ? form_bits[c->cf_form] & runs : runs;
}

uint32_t sim_config_issue_slots(const struct sim_config *c)
{
    uint32_t units = wave_schedulers[c->wave_scheduler]->rotates ? 1 : c->simds;

    return units * c->issue_width * (c->dual_issue ? 2 : 1);
}

/* ---- rules between parameters ----------------------------------------------------------------- */

struct quantity {
    const char *what; /* keys, or an expression of keys; NULL: a limit of this version */
    uint64_t n;
};

enum relation { POWER_OF_TWO, MULTIPLE_OF, AT_MOST };

struct rule {
    enum relation relation;
    struct quantity a, b;
};

static bool holds(const struct rule *r)
{
    switch (r->relation) {
    case POWER_OF_TWO:
        return bits_is_power_of_two(r->a.n);
    case MULTIPLE_OF:
        return r->a.n % r->b.n == 0;
    case AT_MOST:
        return r->a.n <= r->b.n;
    }
    return false;
}

static enum hd_status not_power_of_two(const struct rule *r, struct hd_error *err)
{
    unsigned below = bits_last(r->a.n);
    char hint[96];

    snprintf(hint, sizeof hint, "the nearest are %" PRIu64 " and %" PRIu64, UINT64_C(1) << below,
             UINT64_C(2) << below);
    return hd_error_set(err, HD_BAD_INPUT, "config-conflict", NULL, hint,
                        "%s is %" PRIu64 "; it must be a power of two", r->a.what, r->a.n);
}

static enum hd_status not_multiple(const struct rule *r, struct hd_error *err)
{
    uint64_t below = r->a.n - r->a.n % r->b.n;
    char hint[96];

    if (below)
        snprintf(hint, sizeof hint, "the nearest are %" PRIu64 " and %" PRIu64, below,
                 below + r->b.n);
    else
        snprintf(hint, sizeof hint, "the least is %" PRIu64, r->b.n);
    return hd_error_set(err, HD_BAD_INPUT, "config-conflict", NULL, hint,
                        "%s is %" PRIu64 "; it must be a multiple of %s, which is %" PRIu64,
                        r->a.what, r->a.n, r->b.what, r->b.n);
}

static enum hd_status too_large(const struct rule *r, struct hd_error *err)
{
    if (!r->b.what)
        return hd_error_set(err, HD_BAD_INPUT, "config-limit", NULL, NULL,
                            "%s is %" PRIu64 "; this version has room for %" PRIu64, r->a.what,
                            r->a.n, r->b.n);
    return hd_error_set(err, HD_BAD_INPUT, "config-conflict", NULL, NULL,
                        "%s is %" PRIu64 "; it must be at most %s, which is %" PRIu64, r->a.what,
                        r->a.n, r->b.what, r->b.n);
}

static enum hd_status check_rules(const struct rule *rules, size_t count, struct hd_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (holds(&rules[i]))
            continue;
        switch (rules[i].relation) {
        case POWER_OF_TWO:
            return not_power_of_two(&rules[i], err);
        case MULTIPLE_OF:
            return not_multiple(&rules[i], err);
        case AT_MOST:
            return too_large(&rules[i], err);
        }
    }
    return HD_OK;
}

#define CHECK_RULES(rules, err) check_rules((rules), sizeof(rules) / sizeof *(rules), (err))

static enum hd_status check_sizes(const struct sim_config *c, struct hd_error *err)
{
    const struct rule rules[] = {
        {POWER_OF_TWO, {"l1.sector_bytes", c->sector_bytes}, {0}},
        {POWER_OF_TWO, {"l1.line_bytes", c->line_bytes}, {0}},
        {POWER_OF_TWO, {"um.page_bytes", c->um_page_bytes}, {0}},
        {POWER_OF_TWO, {"um.prefetch_leaf_bytes", c->um_prefetch_leaf}, {0}},
        {POWER_OF_TWO, {"lds.banks", c->lds_banks}, {0}},
    };

    return CHECK_RULES(rules, err);
}

/* Each SIMD unit owns an equal part of slots and registers, and a slot that no wavefront could have registers for
 * is a mistake in one of the two. */
static enum hd_status check_registers(const struct sim_config *c, struct hd_error *err)
{
    const uint64_t none = UINT64_MAX; /* what no limit is compared with */
    const struct rule rules[] = {
        {MULTIPLE_OF, {"cu.wavefront_slots", c->wave_slots}, {"cu.simds", c->simds}},
        {AT_MOST, {"cu.wavefront_slots / cu.simds", c->wave_slots / c->simds}, {NULL, SIMD_SLOTS_MAX}},
        {MULTIPLE_OF,
         {"cu.vector_register_words", c->vreg_words},
         {"cu.simds * cu.vector_register_granule", (uint64_t)c->simds * c->vreg_granule}},
        {AT_MOST,
         {"cu.wavefront_slots * cu.vector_register_granule",
          (uint64_t)c->wave_slots * c->vreg_granule},
         {"cu.vector_register_words", c->vreg_words}},
        {MULTIPLE_OF,
         {"cu.scalar_register_words", c->sreg_words},
         {"cu.simds * cu.scalar_register_granule", (uint64_t)c->simds * c->sreg_granule}},
        {AT_MOST,
         {"cu.wavefront_slots * cu.scalar_register_granule",
          (uint64_t)c->wave_slots * c->sreg_granule},
         {"cu.scalar_register_words", c->sreg_words ? c->sreg_words : none}},
        {AT_MOST,
         {"wavefront_size", c->wavefront_size},
         {"cu.wavefront_vector_register_words", c->wave_vreg_words ? c->wave_vreg_words : none}},
        {AT_MOST,
         {"cu.workgroup_wavefront_granule * cu.vector_register_granule",
          (uint64_t)c->group_wave_granule * c->vreg_granule},
         {"cu.workgroup_vector_register_words", c->group_vreg_words ? c->group_vreg_words : none}},
        {AT_MOST,
         {"cu.workgroup_vector_register_words", c->group_vreg_words},
         {"cu.vector_register_words", c->vreg_words}},
    };

    return CHECK_RULES(rules, err);
}

static enum hd_status check_local(const struct sim_config *c, struct hd_error *err)
{
    const struct rule rules[] = {
        {MULTIPLE_OF, {"lds.granule", c->lds_granule}, {"a bank's width in bytes", 4}},
        {MULTIPLE_OF, {"lds.bytes", c->lds_bytes}, {"lds.granule", c->lds_granule}},
        {AT_MOST, {"lds.bytes_per_workgroup", c->lds_group_max}, {"lds.bytes", c->lds_bytes}},
        {POWER_OF_TWO, {"lds.granule", c->lds_power_of_two ? c->lds_granule : 1}, {0}},
        {AT_MOST,
         {"lds.bytes_per_workgroup as it is allocated", occupancy_local(c, c->lds_group_max)},
         {"lds.bytes", c->lds_bytes}},
    };

    return CHECK_RULES(rules, err);
}

static enum hd_status check_shares(const struct sim_config *c, struct hd_error *err)
{
    uint32_t weights[SHARES_MAX], count;

    if (placement_shares(c->shares, weights, &count))
        return HD_OK;
    return hd_error_set(
        err, HD_BAD_INPUT, "config-shares", NULL, "for example 3:1",
        "launch.shares is \"%s\"; it must be up to %d whole numbers of 1 to %d with colons between",
        c->shares, SHARES_MAX, SHARE_MAX);
}

static enum hd_status check_memory(const struct sim_config *c, struct hd_error *err)
{
    const struct rule rules[] = {
        {MULTIPLE_OF, {"l1.line_bytes", c->line_bytes}, {"l1.sector_bytes", c->sector_bytes}},
        {AT_MOST,
         {"l1.line_bytes / l1.sector_bytes", c->line_bytes / c->sector_bytes},
         {NULL, SECTORS_MAX}},
        {MULTIPLE_OF,
         {"l1.bytes", c->l1_bytes},
         {"l1.ways * l1.line_bytes", (uint64_t)c->l1_ways * c->line_bytes}},
        {MULTIPLE_OF,
         {"l2.bytes", c->l2_bytes},
         {"l2.slices * l2.ways * l1.line_bytes",
          (uint64_t)c->l2_slices * c->l2_ways * c->line_bytes}},
        {AT_MOST,
         {"compute_units * l1.bytes", (uint64_t)c->compute_units * c->l1_bytes},
         {NULL, L1_BYTES_MAX}},
        {AT_MOST,
         {"compute_units * l1.mshrs", (uint64_t)c->compute_units * c->l1_mshrs},
         {NULL, MSHRS_MAX}},
        {AT_MOST,
         {"l2.bytes / l1.sector_bytes", c->l2_bytes / c->sector_bytes},
         {NULL, L2_SECTORS_MAX}},
        {MULTIPLE_OF, {"l2.slices", c->l2_slices}, {"dram.channels", c->dram_channels}},
        {MULTIPLE_OF, {"dram.row_bytes", c->dram_row_bytes}, {"l1.line_bytes", c->line_bytes}},
        {MULTIPLE_OF, {"dram.bytes", c->dram_bytes}, {"um.page_bytes", c->um_page_bytes}},
        {MULTIPLE_OF, {"um.chunk_bytes", c->um_chunk_bytes}, {"um.page_bytes", c->um_page_bytes}},
    };

    return CHECK_RULES(rules, err);
}

static enum hd_status check_l1(const struct sim_config *c, struct hd_error *err)
{
    if (!c->l1_enabled || c->l1_allocate_on_load || c->l1_allocate_on_store)
        return HD_OK;
    return hd_error_set(err, HD_BAD_INPUT, "config-conflict", NULL,
                        "l1.enabled=off is a machine without L1",
                        "l1.allocate_on_load and l1.allocate_on_store are off; nothing would "
                        "come into L1");
}

static enum hd_status check_form(const struct sim_config *c, struct hd_error *err)
{
    if (sim_config_forms(c))
        return HD_OK;
    return hd_error_set(err, HD_BAD_INPUT, "config-conflict", NULL,
                        "cf.form auto takes what the unit runs",
                        "cf.form is \"%s\", which divergence.unit \"%s\" does not run",
                        form_choices[c->cf_form].name, cf_units[c->divergence_unit]->name);
}

static enum hd_status check_ranges(const struct sim_config *c, struct hd_error *err)
{
    return param_check(&sim_params, c, err);
}

static enum hd_status check_width(const struct sim_config *c, struct hd_error *err)
{
    if (bits_is_power_of_two(c->wavefront_size) && c->wavefront_size >= 8)
        return HD_OK;
    return hd_error_set(err, HD_BAD_INPUT, "config-wavefront-size", NULL, NULL,
                        "wavefront_size is %" PRIu32 "; it must be 8, 16, 32 or 64",
                        c->wavefront_size);
}

/* The smallest work-group; whether a kernel's own fits shows at its launch. */
static enum hd_status check_transactions(const struct sim_config *c, struct hd_error *err)
{
    static const struct isa_kernel no_directives = {.has_tx = true};
    struct tm_params p = tx_fixed_params(c, &no_directives);

    return tm_check(&p, 1, c->wavefront_size, err);
}

enum hd_status sim_config_check(const struct sim_config *c, struct hd_error *err)
{
    enum hd_status (*const checks[])(const struct sim_config *, struct hd_error *) = {
        check_ranges, check_width, check_sizes,  check_registers, check_local,
        check_memory, check_l1,    check_shares, check_form,      check_transactions,
    };

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        enum hd_status status = checks[i](c, err);

        if (status)
            return status;
    }
    return HD_OK;
}
