/* The divergence units, one file each; cf/registry.c puts them in order. For the files of cf/ only. */
#ifndef HD_CF_UNITS_H
#define HD_CF_UNITS_H

#include "cf/cf.h"

extern const struct cf_unit_ops cf_any_branch;

#endif
