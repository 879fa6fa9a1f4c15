/* The oracle of tm/ beside a work-group's transactions, where the limits of the run ask for it. */
#include "sim/transactions.h"

bool tx_oracle_start(struct sim_machine *m, struct workgroup *g)
{
    unsigned width = m->lanes->width;

    g->checked = m->limits.check_tm;
    if (!g->checked)
        return true;
    if (!wave_room((void **)&g->oracle, &g->oracle_room,
                   tm_oracle_size(g->waves, width, g->lds_bytes)))
        return false;
    tm_oracle_init(g->oracle, g->run->tm, g->waves, width, g->lds_bytes, g->lds);
    return true;
}

static bool passed(struct sim_machine *m, const struct wavefront *w, enum hd_status status,
                   const struct hd_error *err)
{
    if (status != HD_OK)
        fault_internal(m, w, "%s: %s", err->code, err->message);
    return status == HD_OK;
}

bool tx_oracle_begin(struct sim_machine *m, struct wavefront *w, uint64_t exec,
                     const struct tm_out *out)
{
    const struct workgroup *g = w->group;
    struct hd_error err;

    return !g->checked ||
           passed(m, w, tm_oracle_begin(g->oracle, g->tm, w->regs.s[ISA_SV_WAVE], exec, out, &err),
                  &err);
}

bool tx_oracle_access(struct sim_machine *m, struct wavefront *w, uint64_t lanes,
                      const struct tm_ref *ref, const struct tm_out *out)
{
    const struct workgroup *g = w->group;
    struct hd_error err;

    return !g->checked || passed(m, w,
                                 tm_oracle_access(g->oracle, g->tm, w->regs.s[ISA_SV_WAVE], lanes,
                                                  ref, g->lds, out, &err),
                                 &err);
}

bool tx_oracle_commit(struct sim_machine *m, struct wavefront *w, const struct tm_out *out)
{
    const struct workgroup *g = w->group;
    struct hd_error err;

    return !g->checked ||
           passed(m, w,
                  tm_oracle_commit(g->oracle, g->tm, w->regs.s[ISA_SV_WAVE], g->lds, out, &err),
                  &err);
}

bool tx_oracle_stopped(struct sim_machine *m, struct wavefront *w, const struct tm_out *out)
{
    const struct workgroup *g = w->group;
    struct hd_error err;

    return !g->checked ||
           passed(m, w,
                  tm_oracle_stopped(g->oracle, g->tm, w->regs.s[ISA_SV_WAVE], g->lds, out, &err),
                  &err);
}

bool tx_oracle_plain(struct sim_machine *m, struct wavefront *w, uint64_t lanes,
                     const struct tm_ref *ref)
{
    const struct workgroup *g = w->group;
    struct hd_error err;

    return !g->checked ||
           passed(m, w, tm_oracle_plain(g->oracle, w->regs.s[ISA_SV_WAVE], lanes, ref, g->lds, &err),
                  &err);
}

void tx_oracle_finish(struct sim_machine *m, struct wavefront *w)
{
    const struct workgroup *g = w->group;
    struct hd_error err;

    (void)passed(m, w, tm_oracle_finish(g->oracle, g->tm, g->lds, &err), &err);
}
