#include "host/rt/capture.h"
#include "host/rt/library.h"

#include "sim/base/checked.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- life -------------------------------------------------------------------------------------- */

static enum hd_status machine_array(hd_array *a, struct hd_error *err)
{
    hd_runtime *rt = a->rt;
    struct sim_array_desc desc = {
        .name = a->name, .elem_bytes = isa_type_bytes(a->type), .kind = a->kind};

    if (a->count == 0)
        return hd_error_set(err, HD_BAD_INPUT, "array-empty", NULL, NULL,
                            "array %s has no elements; it needs at least 1", a->name);
    if (!u64_mul(a->count, desc.elem_bytes, &desc.bytes))
        return hd_error_set(err, HD_BAD_INPUT, "array-too-large", NULL, NULL,
                            "array %s of %" PRIu64 " elements of %u bytes is past 2^64 bytes",
                            a->name, a->count, desc.elem_bytes);
    if (rt->ops->array_new(rt->machine, &desc, &a->id, &rt->error) != HD_OK)
        return rt_failed(rt, err);
    return HD_OK;
}

static bool keep_array(hd_runtime *rt, hd_array *a)
{
    while (rt->uid_of_id.len <= a->id) {
        if (!vec_push(&rt->uid_of_id, 0))
            return false;
    }
    if (!vec_push(&rt->arrays, a))
        return false;
    rt->uid_of_id.at[a->id] = a->object.uid;
    return true;
}

static char *array_name(const char *given, uint32_t uid)
{
    char made[32];
    const char *name = given ? given : made;
    char *copy;

    snprintf(made, sizeof made, "array%" PRIu32, uid);
    copy = malloc(strlen(name) + 1);
    return copy ? strcpy(copy, name) : NULL;
}

static hd_array *array_alloc(hd_runtime *rt, enum isa_type type, uint64_t count, const char *name,
                             enum sim_array_kind kind)
{
    hd_array *a = calloc(1, sizeof *a);
    uint32_t uid = (uint32_t)rt->arrays.len;

    if (!a)
        return NULL;
    a->rt = rt;
    a->type = type;
    a->count = count;
    a->kind = kind;
    a->host_last = true;
    a->name = array_name(name, uid);
    dag_object_init(&a->object, uid);
    list_init(&a->attached);
    if (a->name)
        return a;
    free(a);
    return NULL;
}

static enum hd_status array_make(hd_runtime *rt, enum isa_type type, uint64_t count,
                                 const char *name, enum sim_array_kind kind, hd_array **out,
                                 struct hd_error *err)
{
    enum hd_status status;
    hd_array *a;

    *out = NULL;
    if (rt_poisoned(rt, err))
        return rt->poison.status;
    if (!rt_type_ok(type))
        return hd_error_set(err, HD_BAD_INPUT, "array-type", NULL, NULL,
                            "arrays have elements of i8 to f64, not %s", rt_type_name(type));
    a = array_alloc(rt, type, count, name, kind);
    if (!a)
        return rt_no_memory(rt, err);
    status = machine_array(a, err);
    if (status == HD_OK && !keep_array(rt, a))
        status = rt_no_memory(rt, err);
    if (status != HD_OK) {
        free(a->name);
        free(a);
        return status;
    }
    if (kind == SIM_MANAGED && !rt->attach)
        attach_to_all(a);
    *out = a;
    return HD_OK;
}

enum hd_status hd_array_new(hd_runtime *rt, enum isa_type type, uint64_t count, const char *name,
                            hd_array **out, struct hd_error *err)
{
    return array_make(rt, type, count, name, SIM_MANAGED, out, err);
}

enum hd_status hd_array_new_device(hd_runtime *rt, enum isa_type type, uint64_t count,
                                   const char *name, hd_array **out, struct hd_error *err)
{
    return array_make(rt, type, count, name, SIM_DEVICE, out, err);
}

enum hd_status hd_array_free(hd_runtime *rt, hd_array *a, struct hd_error *err)
{
    enum hd_status status;

    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = array_given(rt, a, "free", err);
    if (status == HD_OK)
        status = capture_refuses_array(rt, a, "freed", err);
    if (status == HD_OK)
        status = library_refuses(rt, "the free of an array", err);
    if (status == HD_OK)
        status = schedule_access(rt, a, false, RT_NO_NODE, err);
    if (status == HD_OK)
        status = rt_catch_up(rt, err);
    if (status != HD_OK)
        return status;
    /* A prefetch by hand is no computation: the machine alone knows that it is not done. */
    if (rt->ops->array_free(rt->machine, a->id, &rt->error) != HD_OK) {
        status = streams_sync_all(rt, err);
        if (status == HD_OK && rt->ops->array_free(rt->machine, a->id, &rt->error) != HD_OK)
            status = rt_failed(rt, err);
        if (status != HD_OK)
            return status;
    }
    list_remove(&a->attached);
    a->freed = true;
    return HD_OK;
}

uint64_t hd_array_bytes(const hd_runtime *rt)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < rt->arrays.len; i++)
        if (!rt->arrays.at[i]->freed)
            sum += rt->arrays.at[i]->count * isa_type_bytes(rt->arrays.at[i]->type);
    return sum;
}

uint64_t hd_array_count(const hd_array *a)
{
    return a->count;
}

enum isa_type hd_array_type(const hd_array *a)
{
    return a->type;
}

const char *hd_array_name(const hd_array *a)
{
    return a->name;
}

const char *hd_array_uid_name(const hd_runtime *rt, uint32_t uid)
{
    return uid < rt->arrays.len ? rt->arrays.at[uid]->name : "?";
}

enum hd_status array_given(const hd_runtime *rt, const hd_array *a, const char *what,
                           struct hd_error *err)
{
    if (!a)
        return hd_error_set(err, HD_BAD_INPUT, "array-nil", NULL, NULL,
                            "%s: expected an array, given nil", what);
    if (a->rt != rt)
        return hd_error_set(err, HD_BAD_INPUT, "array-foreign", NULL, NULL,
                            "%s: array %s was made by another runtime", what, a->name);
    if (a->freed)
        return hd_error_set(err, HD_BAD_INPUT, "array-freed", NULL, NULL,
                            "%s: array %s is used after it was freed", what, a->name);
    return HD_OK;
}

/* ---- host accesses ------------------------------------------------------------------------------- */

enum hd_status array_to_host(hd_array *a, uint64_t first, uint64_t count, enum hd_access how,
                             struct hd_error *err)
{
    hd_runtime *rt = a->rt;
    uint64_t elem = isa_type_bytes(a->type);
    struct sim_host_access access = {
        .array = a->id,
        .offset = first * elem,
        .bytes = count * elem,
        .write = how != HD_READ,
        .whole = how == HD_OVERWRITE,
        .untimed = !rt->timed,
    };
    enum hd_status status = rt_catch_up(rt, err);
    uint64_t ticket;

    if (status != HD_OK)
        return status;
    ticket = rt->ops->host_access(rt->machine, &access);
    return ticket ? rt_wait(rt, ticket, err) : HD_OK;
}

static enum hd_status check_access(const hd_runtime *rt, const hd_array *a, uint64_t first,
                                   uint64_t count, struct hd_error *err)
{
    enum hd_status status = array_given(rt, a, "host access", err);
    uint64_t end;

    if (status != HD_OK)
        return status;
    if (a->kind != SIM_MANAGED)
        return hd_error_set(err, HD_BAD_INPUT, "access-device-array", NULL,
                            "copy it to a managed array first",
                            "the host cannot reach the device array %s", a->name);
    if (!u64_add(first, count, &end) || end > a->count || count == 0)
        return hd_error_set(err, HD_BAD_INPUT, "access-range", NULL, "elements are counted from 0",
                            "array %s has %" PRIu64 " elements, not %" PRIu64
                            " from element %" PRIu64,
                            a->name, a->count, count, first);
    return HD_OK;
}

enum hd_status hd_array_access(hd_runtime *rt, hd_array *a, uint64_t first, uint64_t count,
                               enum hd_access how, void **data, struct hd_error *err)
{
    enum hd_status status;

    *data = NULL;
    if (rt_poisoned(rt, err))
        return rt->poison.status;
    status = check_access(rt, a, first, count, err);
    if (status == HD_OK)
        status = capture_refuses_array(rt, a, "accessed by the host", err);
    if (status == HD_OK)
        status = library_refuses(rt, "an access of the host", err);
    if (status != HD_OK)
        return status;
    rt->accessing = record_next_node(rt);
    rt_charge(rt, rt->cost->access);
    status = schedule_access(rt, a, how == HD_READ, rt->accessing, err);
    if (status == HD_OK)
        status = array_to_host(a, first, count, how, err);
    rt->accessing = RT_NO_NODE;
    if (status != HD_OK)
        return status;
    a->host_last = true;
    *data = (char *)rt->ops->array_data(rt->machine, a->id) + first * isa_type_bytes(a->type);
    return HD_OK;
}
