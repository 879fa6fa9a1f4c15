/* The machine's configuration: the fields of sim/params.def and the rules between them. */
#ifndef HD_SIM_CONFIG_H
#define HD_SIM_CONFIG_H

#include "sim/base/param.h"

struct sim_config {
#define PARAM_FIELD_U32(field) uint32_t field;
#define PARAM_FIELD_U64(field) uint64_t field;
#define PARAM_FIELD_BOOL(field) bool field;
#define PARAM_FIELD_CHOICE(field) uint32_t field;
#define PARAM_FIELD_TEXT(field) char field[PARAM_TEXT_MAX];
#define PARAM(kind, field, path, unit, min, max, def, doc) PARAM_FIELD_##kind(field)
#include "sim/params.def"
#undef PARAM
#undef PARAM_FIELD_U32
#undef PARAM_FIELD_U64
#undef PARAM_FIELD_BOOL
#undef PARAM_FIELD_CHOICE
#undef PARAM_FIELD_TEXT
    /* Which of tm.detector and tm.serialise come before a kernel's directives: a bit each. */
    uint32_t tm_forced;
};

enum { SIM_FORCE_TM_DETECTOR = 1, SIM_FORCE_TM_SERIALISE = 2 };

/* Values of l1.write and l2.hash. */
enum { L1_WRITE_THROUGH, L1_WRITE_BACK };
enum { L2_HASH_XOR, L2_HASH_MODULO };

/* Values of tm.policy. */
enum { TM_POLICY_FIXED, TM_POLICY_AUTO };

extern const struct param_table sim_params;

/*
 * Checks the rules between parameters (a line is whole sectors, L2 divides among its slices, ...),
 * and that this version can do what is asked. HD_BAD_INPUT names the keys and the rule.
 */
enum hd_status sim_config_check(const struct sim_config *c, struct hd_error *err);

/* The forms (enum isa_form) in which kernels are taken: cf.form, or what the divergence unit runs;
 * 0 if they do not meet. */
unsigned sim_config_forms(const struct sim_config *c);

/* The most instructions that a compute unit issues in a cycle. */
uint32_t sim_config_issue_slots(const struct sim_config *c);

#endif
