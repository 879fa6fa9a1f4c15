/* The array functions of sim/sim.h. */
#include "sim/attach.h"
#include "sim/base/bits.h"
#include "sim/demand.h"
#include "sim/machine.h"
#include "sim/pages.h"
#include "sim/um.h"

#include <inttypes.h>

static uint64_t page_rounded(const struct sim_machine *m, uint64_t bytes)
{
    return bits_ceil_div(bytes, m->memory.page_bytes) * m->memory.page_bytes;
}

/* Bounded first, so that rounding up to pages cannot overflow. */
static enum hd_status place_on_device(struct sim_machine *m, const struct sim_array_desc *desc,
                                      struct hd_error *err)
{
    uint64_t bytes = desc->bytes;

    if (bytes <= m->config.dram_bytes)
        bytes = page_rounded(m, bytes);
    return um_make_room(m, desc->name, bytes, err);
}

static void take_room(struct sim_machine *m, struct sim_array *a)
{
    a->device_pages = a->npages;
    m->memory.device_bytes += page_rounded(m, a->bytes);
    m->memory.explicit_bytes += page_rounded(m, a->bytes);
}

enum hd_status sim_array_new(struct sim_machine *m, const struct sim_array_desc *desc, uint32_t *id,
                             struct hd_error *err)
{
    enum hd_status status = HD_OK;

    if (desc->kind == SIM_DEVICE)
        status = place_on_device(m, desc, err);
    if (!status)
        status = memory_add(&m->memory, desc, id, err);
    if (status)
        return status;
    if (desc->kind == SIM_DEVICE)
        take_room(m, &m->memory.arrays.at[*id]);
    demand_array_made(m);
    return HD_OK;
}

enum hd_status sim_array_free(struct sim_machine *m, uint32_t id, struct hd_error *err)
{
    const struct sim_array *a = memory_array(&m->memory, id);

    if (!a)
        return hd_error_set(err, HD_BAD_INPUT, "array-unknown", NULL, NULL,
                            "array %" PRIu32 " does not exist, or was freed", id);
    if (a->in_flight > 0)
        return hd_error_set(err, HD_BAD_INPUT, "array-in-flight", NULL,
                            "wait for what uses the array first",
                            "array %s is freed while a command that uses it is pending", a->name);
    if (a->kind == SIM_DEVICE)
        m->memory.explicit_bytes -= page_rounded(m, a->bytes);
    memory_remove(&m->memory, id);
    return HD_OK;
}

void *sim_array_data(struct sim_machine *m, uint32_t id)
{
    return m->memory.arrays.at[id].data;
}

uint64_t sim_array_address(const struct sim_machine *m, uint32_t id)
{
    return m->memory.arrays.at[id].base;
}

void sim_array_attach(struct sim_machine *m, uint32_t id, int32_t queue_or_attach)
{
    if (!attach_set(&m->memory, id, queue_or_attach))
        machine_out_of_memory(m);
}

int32_t sim_array_attached(const struct sim_machine *m, uint32_t id)
{
    return m->memory.arrays.at[id].attached;
}

void sim_array_advise(struct sim_machine *m, uint32_t id, enum sim_advice advice)
{
    m->memory.arrays.at[id].read_mostly = advice == SIM_ADVISE_READ_MOSTLY;
}

void sim_um_totals(const struct sim_machine *m, struct sim_um_totals *out)
{
    *out = m->memory.totals;
}

void sim_array_residency(const struct sim_machine *m, uint32_t id, struct sim_residency *out)
{
    pages_count(&m->memory.arrays.at[id], out);
}
