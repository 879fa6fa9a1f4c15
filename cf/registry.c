#include "cf/units.h"

#define ROW(id, unit_name, unit_doc)                                                               \
    const char cf_##id##_name[] = unit_name;                                                       \
    const char cf_##id##_doc[] = unit_doc;
CF_UNITS(ROW)
#undef ROW

#define OPS(id, name, doc) &cf_##id,
#define CHOICE(id, name, doc) {cf_##id##_name, cf_##id##_doc},

const struct cf_unit_ops *const cf_units[] = {CF_UNITS(OPS) NULL};

const struct param_choice cf_unit_choices[] = {CF_UNITS(CHOICE){NULL, NULL}};
