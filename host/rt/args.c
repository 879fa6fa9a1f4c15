/* Arguments of a call against the kernel's signature. */
#include "host/rt/runtime.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GIVEN_MAX = 96 };

static void describe(const struct hd_arg *arg, char *out)
{
    char type[16];

    switch (arg->kind) {
    case HD_ARG_INT:
        snprintf(out, GIVEN_MAX, "%" PRId64, arg->as.i);
        return;
    case HD_ARG_FLOAT:
        snprintf(out, GIVEN_MAX, "%.17g", arg->as.f);
        return;
    case HD_ARG_ARRAY:
        break;
    }
    if (!arg->as.array) {
        snprintf(out, GIVEN_MAX, "nil");
        return;
    }
    rt_type_describe(arg->as.array->type, true, type, sizeof type);
    snprintf(out, GIVEN_MAX, "%s %s (%.40s)",
             arg->as.array->freed ? "the freed array" : "the array", type, arg->as.array->name);
}

static enum hd_status refuse(const hd_kernel *k, unsigned i, const struct hd_arg *arg,
                             const char *why, struct hd_error *err)
{
    char expected[16], given[GIVEN_MAX];

    rt_type_describe(k->params[i].type, k->params[i].is_array, expected, sizeof expected);
    describe(arg, given);
    return hd_error_set(err, HD_BAD_INPUT, "argument", NULL, NULL,
                        "kernel %s, argument %u (%s): expected %s, given %s%s", k->kernel->name,
                        i + 1, k->params[i].name, expected, given, why);
}

/* ---- values -------------------------------------------------------------------------------------- */

static bool is_float(enum isa_type type)
{
    return type == T_F32 || type == T_F64;
}

static bool is_unsigned(enum isa_type type)
{
    return type == T_U8 || type == T_U16 || type == T_U32 || type == T_U64;
}

static bool integer_fits(enum isa_type type, int64_t value)
{
    unsigned bits = isa_type_bytes(type) * 8;

    if (is_unsigned(type))
        return value >= 0 && (bits == 64 || value >> bits == 0);
    return bits == 64 || (value >= -(INT64_C(1) << (bits - 1)) && value < INT64_C(1) << (bits - 1));
}

static uint64_t float_bits(enum isa_type type, double value)
{
    float narrow = (float)value;
    uint32_t word;
    uint64_t bits;

    if (type == T_F32) {
        memcpy(&word, &narrow, sizeof word);
        return word;
    }
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static enum hd_status bind_float(const hd_kernel *k, unsigned i, const struct hd_arg *arg,
                                 uint64_t *bits, struct hd_error *err)
{
    double value = arg->kind == HD_ARG_INT ? (double)arg->as.i : arg->as.f;

    if (k->params[i].type == T_F32 && isfinite(value) && isinf((float)value))
        return refuse(k, i, arg, ", which is past its range", err);
    *bits = float_bits(k->params[i].type, value);
    return HD_OK;
}

static enum hd_status bind_integer(const hd_kernel *k, unsigned i, const struct hd_arg *arg,
                                   uint64_t *bits, struct hd_error *err)
{
    enum isa_type type = k->params[i].type;
    unsigned width = isa_type_bytes(type) * 8;
    int64_t value;

    if (arg->kind == HD_ARG_INT) {
        value = arg->as.i;
    } else {
        /* 2^63 is the first double past int64_t; NaN fails each comparison. */
        if (!(arg->as.f >= -0x1p63 && arg->as.f < 0x1p63) || arg->as.f != floor(arg->as.f))
            return refuse(k, i, arg, "", err);
        value = (int64_t)arg->as.f;
    }
    if (!integer_fits(type, value))
        return refuse(k, i, arg, ", which is out of its range", err);
    *bits = width == 64 ? (uint64_t)value : (uint64_t)value & ((UINT64_C(1) << width) - 1);
    return HD_OK;
}

/* ---- arrays -------------------------------------------------------------------------------------- */

static enum hd_status bind_array(const hd_kernel *k, unsigned i, const struct hd_arg *arg,
                                 uint64_t *address, struct rt_computation *c, struct hd_error *err)
{
    hd_array *a = arg->as.array;

    if (!a || a->freed || a->type != k->params[i].type)
        return refuse(k, i, arg, "", err);
    if (a->rt != k->rt)
        return refuse(k, i, arg, " of another runtime", err);
    *address = k->rt->ops->array_address(k->rt->machine, a->id);
    c->arrays[c->narrays] = a;
    c->read_only[c->narrays++] = k->params[i].read_only;
    return HD_OK;
}

static enum hd_status bind(const hd_kernel *k, unsigned i, const struct hd_arg *arg,
                           uint64_t *value, struct rt_computation *c, struct hd_error *err)
{
    const struct rt_param *p = &k->params[i];

    if (p->is_array != (arg->kind == HD_ARG_ARRAY))
        return refuse(k, i, arg, "", err);
    if (p->is_array)
        return bind_array(k, i, arg, value, c, err);
    return is_float(p->type) ? bind_float(k, i, arg, value, err)
                             : bind_integer(k, i, arg, value, err);
}

enum hd_status args_bind(const hd_kernel *k, const struct hd_arg *args, unsigned nargs,
                         uint64_t *values, struct rt_computation *c, struct hd_error *err)
{
    enum hd_status status = HD_OK;

    if (nargs != k->nparams)
        return hd_error_set(err, HD_BAD_INPUT, "argument-count", NULL, NULL,
                            "kernel %s: expected %u arguments, given %u", k->kernel->name,
                            k->nparams, nargs);
    for (unsigned i = 0; i < nargs && status == HD_OK; i++)
        status = bind(k, i, &args[i], &values[i], c, err);
    return status;
}
