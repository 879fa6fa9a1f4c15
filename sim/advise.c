#include "sim/advise.h"
#include "sim/occupancy.h"
#include "sim/transactions.h"

/* The launch with another detector; below 0: without transactions. */
static uint32_t groups_with(const struct sim_config *c, const struct sim_launch *l, int detector)
{
    struct sim_config config = *c;
    struct isa_kernel kernel = *l->kernel;
    struct sim_launch launch = *l;
    struct occupancy o;
    struct hd_error ignored;

    config.tm_policy = TM_POLICY_FIXED;
    config.tm_detector = detector < 0 ? 0 : (uint32_t)detector;
    config.tm_forced |= SIM_FORCE_TM_DETECTOR;
    kernel.has_tx &= detector >= 0;
    launch.kernel = &kernel;
    hd_error_clear(&ignored);
    return occupancy_check(&config, &launch, &o, &ignored) == HD_OK ? o.groups : 0;
}

struct tm_known sim_tx_known(const struct sim_config *c, const struct sim_launch *l)
{
    struct tm_known known = {.facts = l->kernel->tx, .banks = c->lds_banks};

    known.items = l->block[0] * l->block[1] * l->block[2];
    known.lds_bytes = (uint64_t)l->kernel->lds_bytes + l->dynamic_lds;
    known.groups_without = groups_with(c, l, -1);
    for (unsigned i = 0; i < TM_NUM_DETECTORS; i++)
        known.groups[i] = groups_with(c, l, (int)i);
    return known;
}

struct tm_needs sim_tx_needs(const struct sim_config *c, const struct sim_launch *l,
                             uint32_t detector)
{
    struct tm_params p = tx_fixed_params(c, l->kernel);

    p.detector = detector;
    return tm_needs(&p, (size_t)l->kernel->lds_bytes + l->dynamic_lds);
}
