#include "cf/units.h"

#define ROW(id, unit_name, unit_doc)                                                               \
    const char cf_##id##_name[] = unit_name;                                                       \
    const char cf_##id##_doc[] = unit_doc;
CF_UNITS(ROW)
#undef ROW

const struct cf_unit_ops *const cf_units[] = {
#define ROW(id, name, doc) &cf_##id,
    CF_UNITS(ROW)
#undef ROW
        NULL,
};

const struct param_choice cf_unit_choices[] = {
#define ROW(id, name, doc) {cf_##id##_name, cf_##id##_doc},
    CF_UNITS(ROW)
#undef ROW
        {NULL, NULL},
};
