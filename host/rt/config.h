/* The host's configuration: the fields of host/rt/params.def. */
#ifndef HD_HOST_RT_CONFIG_H
#define HD_HOST_RT_CONFIG_H

#include "sim/base/param.h"

struct rt_config {
#define PARAM_FIELD_U32(field) uint32_t field;
#define PARAM_FIELD_U64(field) uint64_t field;
#define PARAM_FIELD_BOOL(field) bool field;
#define PARAM_FIELD_CHOICE(field) uint32_t field;
#define PARAM(kind, field, path, unit, min, max, def, doc) PARAM_FIELD_##kind(field)
#include "host/rt/params.def"
#undef PARAM
#undef PARAM_FIELD_U32
#undef PARAM_FIELD_U64
#undef PARAM_FIELD_BOOL
#undef PARAM_FIELD_CHOICE
};

extern const struct param_table rt_params;

#endif
