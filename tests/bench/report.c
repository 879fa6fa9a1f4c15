#include "tests/bench/bench.h"

#include <inttypes.h>
#include <math.h>

static const char *const unit_names[] = {
    [BENCH_WAVE_INSTR] = "wavefront instr",
    [BENCH_LINES] = "line requests",
    [BENCH_LANE_OPS] = "lane operations",
};

static double per_s(const struct bench_speed *s)
{
    return (double)s->units * 1e9 / (double)s->ns;
}

static double geomean(const struct bench_result *results, size_t count, bool timed)
{
    double sum = 0;
    int n = 0;

    for (size_t i = 0; i < count; i++) {
        if (results[i].width != 64 || !results[i].row->in_geomean)
            continue;
        sum += log(per_s(timed ? &results[i].timed : &results[i].values));
        n++;
    }
    return n ? exp(sum / n) : 0;
}

void bench_table(const struct bench_result *results, size_t count, double host_ref, struct text *out)
{
    double scale = host_ref / BENCH_REFERENCE;

    text_add(out, "%-10s %5s %12s %10s %10s %8s  M of\n", "row", "width", "instr", "timed/s",
             "values/s", "floor");
    for (size_t i = 0; i < count; i++) {
        const struct bench_result *r = &results[i];

        text_add(out, "%-10s %5" PRIu32 " %12" PRIu64 " %10.2f %10.2f ", r->row->name, r->width,
                 r->timed.wave_instr, per_s(&r->timed) / 1e6, per_s(&r->values) / 1e6);
        if (r->width == 64)
            text_add(out, "%8.2f", r->row->floor * scale / 1e6);
        else
            text_add(out, "%8s", "");
        text_add(out, "  %s\n", unit_names[r->row->unit]);
    }
    text_add(
        out,
        "geometric mean at width 64: %.2f M timed (floor %.2f), %.2f M values only (floor %.2f)\n",
        geomean(results, count, true) / 1e6, BENCH_FLOOR_TIMED * scale / 1e6,
        geomean(results, count, false) / 1e6, BENCH_FLOOR_VALUES * scale / 1e6);
    text_add(
        out,
        "host reference: %.2f M multiply-adds of 64 lanes a second; floors are scaled by %.2f\n",
        host_ref / 1e6, scale);
}

void bench_json(const struct bench_result *results, size_t count, double host_ref, struct text *out)
{
    text_add(out, "{\"rows\": [");
    for (size_t i = 0; i < count; i++) {
        const struct bench_result *r = &results[i];

        text_add(out,
                 "%s\n  {\"name\": \"%s\", \"width\": %" PRIu32
                 ", \"unit\": \"%s\", \"wave_instr\": %" PRIu64 ", \"units\": %" PRIu64
                 ", \"timed_per_s\": %.0f, \"values_per_s\": %.0f, \"ns_timed\": %" PRIu64
                 ", \"ns_values\": %" PRIu64 "}",
                 i ? "," : "", r->row->name, r->width, unit_names[r->row->unit], r->timed.wave_instr,
                 r->timed.units, per_s(&r->timed), per_s(&r->values), r->timed.ns, r->values.ns);
    }
    text_add(out, "\n],\n\"geomean\": {\"timed_per_s\": %.0f, \"values_per_s\": %.0f},\n",
             geomean(results, count, true), geomean(results, count, false));
    text_add(out, "\"host_ref_per_s\": %.0f}\n", host_ref);
}
