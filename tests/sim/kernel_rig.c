#include "tests/sim/kernel_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void require(enum hd_status status, const struct hd_error *err)
{
    if (status != HD_OK)
        fail_msg("%s: %s (%s)", err->code, err->message, err->place);
}

static void set(struct krig *r, const char *key, const char *value)
{
    struct hd_error err;

    require(param_set(&sim_params, &r->config, key, value, "test", &err), &err);
}

static void on_kernel(void *user, const struct sim_kernel_record *k)
{
    struct krig *r = user;

    assert_true(r->nkernels < KRIG_RECORDS);
    r->kernels[r->nkernels++] = *k;
}

static void on_transfer(void *user, const struct sim_transfer_record *t)
{
    struct krig *r = user;

    assert_true(r->ntransfers < KRIG_RECORDS);
    r->transfers[r->ntransfers++] = *t;
}

static void on_print(void *user, const char *text)
{
    struct krig *r = user;
    size_t len = strlen(r->printed);

    snprintf(r->printed + len, sizeof r->printed - len, "%s\n", text);
}

static void start(struct krig *r)
{
    const struct sim_sink sink = {r, on_kernel, on_transfer, on_print};
    struct hd_error err;

    require(sim_new(&r->config, ISA_BUILD_AUTO, &r->m, &err), &err);
    sim_set_sink(r->m, &sink);
}

void krig_open(struct krig *r, ...)
{
    static const char *const base[] = {
        "compute_units",
        "1",
        "cu.simds",
        "1",
        "wavefront_size",
        "32",
        "clock.core_hz",
        "1000000000",
        "clock.l2_hz",
        "1000000000",
        "launch.latency_ns",
        "1000",
        NULL,
    };
    const char *key;
    va_list args;

    memset(r, 0, sizeof *r);
    param_defaults(&sim_params, &r->config);
    for (unsigned i = 0; base[i]; i += 2)
        set(r, base[i], base[i + 1]);
    va_start(args, r);
    while ((key = va_arg(args, const char *)))
        set(r, key, va_arg(args, const char *));
    va_end(args);
    start(r);
}

void krig_open_config(struct krig *r, const struct sim_config *c)
{
    memset(r, 0, sizeof *r);
    r->config = *c;
    start(r);
}

void krig_close(struct krig *r)
{
    sim_free(r->m);
    for (unsigned i = 0; i < r->nprograms; i++)
        isa_program_free(r->programs[i]);
}

uint32_t krig_array_named(struct krig *r, const char *name, uint64_t bytes)
{
    const struct sim_array_desc desc = {name, bytes, 4, SIM_MANAGED};
    struct hd_error err;
    uint32_t id;

    require(sim_array_new(r->m, &desc, &id, &err), &err);
    return id;
}

uint32_t krig_array(struct krig *r, uint64_t bytes)
{
    return krig_array_named(r, "a", bytes);
}

const struct isa_kernel *krig_assemble(struct krig *r, const char *text,
                                       const struct isa_program **program)
{
    struct hd_error err;
    struct isa_program *p;

    assert_true(r->nprograms < KRIG_PROGRAMS);
    require(isa_assemble_text("test.hasm", text, strlen(text), NULL, 0, &p, &err), &err);
    r->programs[r->nprograms++] = p;
    *program = p;
    return &p->kernels[0];
}

static enum hd_status submit(struct krig *r, const struct krig_launch *l, uint64_t *ticket)
{
    struct sim_cmd cmd = {.kind = SIM_KERNEL};
    uint64_t args[8];
    uint32_t arrays[8];
    bool writes[8];

    cmd.launch.kernel = krig_assemble(r, l->text, &cmd.launch.program);
    assert_int_equal(cmd.launch.kernel->nparams, l->nargs);
    for (unsigned i = 0; i < l->nargs; i++) {
        args[i] = l->args[i].is_array ? sim_array_address(r->m, (uint32_t)l->args[i].value)
                                      : l->args[i].value;
        if (l->args[i].is_array) {
            arrays[cmd.launch.narrays] = (uint32_t)l->args[i].value;
            writes[cmd.launch.narrays++] = !l->args[i].read_only;
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        cmd.launch.grid[i] = l->grid[0] ? l->grid[i] : 1;
        cmd.launch.block[i] = l->grid[0] ? l->block[i] : 1;
    }
    if (!l->grid[0]) {
        cmd.launch.grid[0] = l->groups ? l->groups : 1;
        cmd.launch.block[0] = l->threads ? l->threads : 1;
    }
    cmd.launch.dynamic_lds = l->dynamic_lds;
    cmd.launch.args = args;
    cmd.launch.arrays = arrays;
    cmd.launch.writes = writes;
    return sim_submit(r->m, l->queue, &cmd, ticket, &r->err);
}

uint64_t krig_submit(struct krig *r, const struct krig_launch *l)
{
    uint64_t ticket;

    require(submit(r, l, &ticket), &r->err);
    return ticket;
}

enum hd_status krig_try_run(struct krig *r, const struct krig_launch *l)
{
    uint64_t ticket;
    enum hd_status status = submit(r, l, &ticket);

    return status == HD_OK ? sim_wait(r->m, ticket, &r->err) : status;
}

const struct sim_kernel_record *krig_run(struct krig *r, const struct krig_launch *l)
{
    require(krig_try_run(r, l), &r->err);
    assert_true(r->nkernels > 0);
    return &r->kernels[r->nkernels - 1];
}

uint64_t krig_cycles(const struct sim_kernel_record *k)
{
    return (k->end_ps - k->start_ps) / 1000;
}
