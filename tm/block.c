/* Parameters, and how the block is laid out. */
#include "tm/block.h"
#include "tm/detector.h"

#include <string.h>

void tm_defaults(struct tm_params *params)
{
    *params = (struct tm_params){
        .broadcast_always = true,
        .classify = true,
        .record_bits = 16,
        .hash_k = 1,
        .banks = 32,
        .lanes_per_pass = 32,
        .signature_cycles = 1,
        .slot_cycles = 1,
        .broadcast_cycles = 1,
        .lds_latency_cycles = 2,
    };
}

/* ---- checks ---- */

struct range {
    const char *name;
    uint32_t value, min, max;
};

static uint32_t choices(const struct param_choice *list)
{
    uint32_t n = 0;

    while (list[n].name)
        n++;
    return n - 1;
}

static enum hd_status check_ranges(const struct tm_params *p, struct hd_error *err)
{
    const struct range rows[] = {
        {"detector", p->detector, 0, choices(tm_detector_choices)},
        {"serialise", p->serialise, 0, choices(tm_serialise_choices)},
        {"helper", p->helper, 0, choices(tm_helper_choices)},
        {"wg_hold", p->wg_hold, 0, choices(tm_wg_hold_choices)},
        {"dcd_release", p->dcd_release, 0, choices(tm_dcd_release_choices)},
        {"mcm_source", p->mcm_source, 0, choices(tm_mcm_source_choices)},
        {"multi_fail", p->multi_fail, 0, choices(tm_multi_fail_choices)},
        {"abort_model", p->abort_model, 0, choices(tm_abort_model_choices)},
        {"hash_k", p->hash_k, 1, 2},
        {"number of banks", p->banks, 1, TM_BANKS_MAX},
        {"number of lanes_per_pass", p->lanes_per_pass, 1, TM_LANES_MAX},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value < rows[i].min || rows[i].value > rows[i].max)
            return hd_error_set(err, HD_BAD_INPUT, "tm-parameter", NULL, NULL,
                                "transactions: %s %u is not from %u to %u", rows[i].name,
                                rows[i].value, rows[i].min, rows[i].max);
    if (p->record_bits != 8 && p->record_bits != 16 && p->record_bits != 32)
        return hd_error_set(err, HD_BAD_INPUT, "tm-parameter", NULL, NULL,
                            "tm.record_bits is %u; an owner record has 8, 16 or 32 bits",
                            p->record_bits);
    if (p->record_bits == 8 && (!tm_detectors[p->detector]->signature || p->owner_on_read))
        return hd_error_set(err, HD_BAD_INPUT, "tm-parameter", NULL, "take tm.record_bits 16",
                            "tm.record_bits is 8, room for an owner alone; %s needs its state too",
                            p->owner_on_read ? "tm.owner_on_read"
                                             : tm_detector_choices[p->detector].name);
    return HD_OK;
}

enum hd_status tm_check(const struct tm_params *params, unsigned wavefronts, unsigned width,
                        struct hd_error *err)
{
    /* Of 8 bits one value says that there is no owner. */
    unsigned most = TM_ITEMS_MAX - (params->record_bits == 8);
    enum hd_status status = check_ranges(params, err);

    if (status)
        return status;
    if (!bits_is_power_of_two(width) || width < 8 || width > TM_LANES_MAX)
        return hd_error_set(err, HD_BAD_INPUT, "tm-capacity", NULL, NULL,
                            "transactions: a wavefront has 8, 16, 32 or 64 lanes, not %u", width);
    if (wavefronts < 1 || wavefronts > most / width)
        return hd_error_set(err, HD_BAD_INPUT, "tm-capacity", NULL,
                            params->record_bits == 8
                                ? "launch smaller work-groups, or take tm.record_bits 16"
                                : "launch work-groups of at most 256 work-items",
                            "transactions: %u wavefronts of %u lanes are more than the %u "
                            "work-items that an owner record of %u bits tells apart",
                            wavefronts, width, most, params->record_bits);
    return HD_OK;
}

struct tm_needs tm_needs(const struct tm_params *params, size_t lds_bytes)
{
    const struct tm_detector *d = tm_detectors[params->detector];
    uint64_t row = (uint64_t)params->banks * 4, rows = bits_ceil_div(lds_bytes, row);
    struct tm_needs n = {0};

    if (d->signature)
        n.vregs = (uint32_t)bits_ceil_div((uint64_t)TM_FILTER_BITS * params->banks, 32);
    if (d->helper)
        n.sregs = params->helper == TM_HELPER_PER_BANK ? params->banks : 1;
    n.shadow_bytes = rows * row + bits_ceil_div(rows * params->record_bits, 32) * row;
    return n;
}

/* ---- layout ---- */

static uint64_t place(uint64_t *size, bool wanted, uint64_t bytes)
{
    uint64_t at = *size;

    if (!wanted)
        return 0;
    *size += bits_round_up(bytes, 8);
    return at;
}

static bool keeps_readers(const struct tm_params *p)
{
    const struct tm_detector *d = tm_detectors[p->detector];

    return d->shares ? p->dcd_release == TM_RELEASE_EXACT || p->classify
                     : d->signature && p->classify;
}

static struct tm_tables lay_out(const struct tm_params *p, uint64_t wavefronts, uint64_t width,
                                uint64_t words)
{
    const struct tm_detector *d = tm_detectors[p->detector];
    uint64_t items = wavefronts * width, size = bits_round_up(sizeof(struct tm_wg), 32);
    bool readers = keeps_readers(p), epoch = d->shares && p->dcd_release == TM_RELEASE_EPOCH;
    struct tm_tables at;

    at.who = place(&size, d->signature, p->banks * TM_FILTER_BITS * sizeof(struct tm_set));
    at.readers = place(&size, readers, words * sizeof(struct tm_set));
    at.regions = place(&size, readers, items * sizeof(struct tm_set));
    at.read_by = place(&size, readers, wavefronts * bits_ceil_div(words, 64) * 8);
    at.touched = place(&size, d->signature, items * 16);
    at.helper = place(&size, d->helper, wavefronts * p->banks * 4);
    at.head = place(&size, true, items * 4);
    at.next = place(&size, true, words * 4);
    at.record = place(&size, true, words * sizeof(struct tm_record));
    at.backup = place(&size, true, words * 4);
    at.pending = place(&size, epoch, words * 4);
    at.next_held = place(&size, epoch, words * 4);
    at.size = size;
    return at;
}

size_t tm_size(const struct tm_params *params, unsigned wavefronts, unsigned width, size_t lds_bytes)
{
    return lay_out(params, wavefronts, width, bits_ceil_div(lds_bytes, 4)).size;
}

/* Field by field where there are gaps, so that the block has no bytes of chance. */
static void copy_params(struct tm_params *to, const struct tm_params *from)
{
    size_t flags_end = offsetof(struct tm_params, classify) + sizeof(bool);

    memcpy(to, from, sizeof *to);
    memset((uint8_t *)to + flags_end, 0, offsetof(struct tm_params, record_bits) - flags_end);
}

void tm_init(struct tm_wg *block, const struct tm_params *params, unsigned wavefronts,
             unsigned width, size_t lds_bytes)
{
    uint64_t words = bits_ceil_div(lds_bytes, 4);
    struct tm_tables at = lay_out(params, wavefronts, width, words);

    memset(block, 0, at.size);
    copy_params(&block->p, params);
    block->at = at;
    block->wavefronts = wavefronts;
    block->width = width;
    block->words = (uint32_t)words;
    block->map_words = (uint32_t)bits_ceil_div(words, 64);
    block->rows = (uint32_t)bits_ceil_div(words, params->banks);
    block->bank_reciprocal = fastmod_make(params->banks).reciprocal;
    block->banks_shift = bits_is_power_of_two(params->banks);
    block->bank_shift = bits_first(params->banks);
    block->readers_kept = keeps_readers(params);
    while (words > (uint64_t)TM_REGIONS << block->region_shift)
        block->region_shift++;
    block->token = -1;
}
