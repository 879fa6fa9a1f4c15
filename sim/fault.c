/* What is said of a wavefront that failed. */
#include "sim/device.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static void dump_masks(struct text *t, const struct wavefront *w)
{
    const struct isa_wave *r = &w->regs;

    text_add(t, "live 0x%016" PRIx64 "  EXEC 0x%016" PRIx64 "  VCC 0x%016" PRIx64 "\n", r->live,
             r->exec, r->m[ISA_VCC]);
    for (unsigned i = 0; i < ISA_MASKS; i++)
        text_add(t, "m%-2u 0x%016" PRIx64 "%s", i, r->m[i], i % 4 == 3 ? "\n" : "  ");
}

static void dump_waits(struct text *t, const struct sim_machine *m, const struct wavefront *w)
{
    char waits[1024];

    cf_describe_waits(m->device->cf, w->cf, w->run->program, waits, sizeof waits);
    if (*waits)
        text_add(t, "%s\n", waits);
}

static void dump_scalars(struct text *t, const struct wavefront *w)
{
    uint32_t n = w->run->kernel->sregs;

    for (uint32_t i = 0; i < n; i++)
        text_add(t, "s%-3u 0x%08" PRIx32 "%s", i, w->regs.s[i],
                 i % 8 == 7 || i + 1 == n ? "\n" : "  ");
}

static void dump_vectors(struct text *t, const struct wavefront *w, unsigned width)
{
    for (uint32_t reg = 0; reg < w->run->kernel->vregs; reg++) {
        for (unsigned lane = 0; lane < width; lane++) {
            if (lane % 8 == 0)
                text_add(t, "v%-3" PRIu32 " lane %2u:", reg, lane);
            text_add(t, " %08" PRIx32 "%s", w->regs.v[(size_t)reg * width + lane],
                     lane % 8 == 7 ? "\n" : "");
        }
    }
}

/* What a fault is called, but for its text. */
struct fault {
    enum hd_status status;
    int lane;
    const char *code, *hint;
};

static void raise(struct sim_machine *m, const struct wavefront *w, const struct fault *f,
                  const char *message)
{
    const struct isa_kernel *k = w->run->kernel;
    char place[384], source[192], who[32] = "";

    if (m->fault.status != HD_OK)
        return;
    isa_place(w->run->program, w->next->pc, source, sizeof source);
    if (f->lane >= 0)
        snprintf(who, sizeof who, " lane %d", f->lane);
    snprintf(place, sizeof place,
             "kernel %s group %" PRIu64 " wavefront %" PRIu32 "%s pc %" PRIu32 " (%s)", k->name,
             w->group->index, w->regs.s[ISA_SV_WAVE], who, w->next->pc - k->first, source);
    machine_fail(m, f->status, f->code, place, f->hint, "%s", message);
    text_add(&m->dump, "%s: %s\n", place, message);
    dump_masks(&m->dump, w);
    dump_waits(&m->dump, m, w);
    dump_scalars(&m->dump, w);
    dump_vectors(&m->dump, w, m->lanes->width);
}

void fault_raise(struct sim_machine *m, const struct wavefront *w, int lane, const char *code,
                 const char *hint, const char *fmt, ...)
{
    const struct fault f = {HD_SIM_FAILED, lane, code, hint};
    char message[512];
    va_list args;

    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    raise(m, w, &f, message);
}

void fault_internal(struct sim_machine *m, const struct wavefront *w, const char *fmt, ...)
{
    const struct fault f = {HD_INTERNAL, -1, "internal", NULL};
    char message[512];
    va_list args;

    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    raise(m, w, &f, message);
}
