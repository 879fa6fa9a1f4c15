#include "host/rt/config.h"

#include "host/heddle.h"
#include "host/rt/policies.h"

#include <string.h>

/* The registry behind each CHOICE row, by its field. */
#define CHOICES_U32(field) NULL
#define CHOICES_U64(field) NULL
#define CHOICES_BOOL(field) NULL
#define CHOICES_CHOICE(field) rt_choices_##field

/* A default as text: that of a choice is a string already. `#def` is taken before `true` becomes 1. */
#define DEFAULT_U32(text, def) text
#define DEFAULT_U64(text, def) text
#define DEFAULT_BOOL(text, def) text
#define DEFAULT_CHOICE(text, def) def

static const struct param rows[] = {
#define PARAM(kind, field, path, unit, min, max, def, doc)                                         \
    {PARAM_KIND_##kind,         path, unit, doc,                                                   \
     DEFAULT_##kind(#def, def), min,  max,  offsetof(struct rt_config, field),                     \
     CHOICES_##kind(field)},
#include "host/rt/params.def"
#undef PARAM
};

const struct param_table rt_params = {rows, sizeof rows / sizeof rows[0]};

void hd_options_default(struct hd_options *o)
{
    memset(o, 0, sizeof *o);
    param_defaults(&sim_params, &o->gpu);
    param_defaults(&rt_params, &o->host);
    o->lanes = ISA_BUILD_AUTO;
    o->timing = true;
    o->seed = 1;
}
