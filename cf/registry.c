#include "cf/units.h"

#include <stddef.h>

const struct cf_unit_ops *const cf_units[] = {
    &cf_any_branch,
    NULL,
};
