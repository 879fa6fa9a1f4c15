/* Notes on kernels, and what is said of lanes that wait. */
#include "cf/cf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum hd_status cf_prepare(const struct cf_unit_ops *unit, const struct isa_program *program,
                          const struct isa_kernel *kernel, struct cf_plan **out,
                          struct hd_error *err)
{
    size_t bytes = (kernel->end - kernel->first) * sizeof(uint32_t);
    struct cf_plan *plan;
    enum hd_status status;

    *out = NULL;
    if (!unit->prepare || kernel->first == kernel->end)
        return HD_OK;
    plan = malloc(sizeof *plan + bytes);
    if (!plan)
        return hd_no_memory(err, "the control flow of kernel %s", kernel->name);
    plan->first = kernel->first;
    memset(plan->note, 0xff, bytes);
    status = unit->prepare(program, kernel, plan, err);
    if (status == HD_OK)
        *out = plan;
    else
        free(plan);
    return status;
}

static const char *const wait_text[] = {
    [CF_WAIT_ASLEEP] = "sleep until the join at",
    [CF_WAIT_MEETING] = "wait for the others at the join at",
    [CF_WAIT_TURN] = "wait for their turn at",
    [CF_WAIT_BARRIER] = "wait at the barrier at",
};

void cf_describe_waits(const struct cf_unit_ops *unit, const void *state,
                       const struct isa_program *program, char *out, size_t size)
{
    struct cf_wait sets[CF_MAX_WAITS];
    unsigned n = unit->waits(state, sets);
    size_t len = 0;

    out[0] = '\0';
    for (unsigned i = 0; i < n && len < size; i++) {
        char place[160];

        isa_place(program, sets[i].at, place, sizeof place);
        len += (size_t)snprintf(out + len, size - len, "%slanes 0x%" PRIx64 " %s %s", i ? "; " : "",
                                sets[i].lanes, wait_text[sets[i].kind], place);
    }
}
