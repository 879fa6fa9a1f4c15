#include "isa/lanes.h"
#include "tests/bench/bench.h"

enum { REPEATS = 2000000, REGISTERS = 8 };

double bench_host_reference(void)
{
    const struct isa_lanes *lanes = isa_lanes_get(64, ISA_BUILD_AUTO);
    isa_full_fn *fma = lanes->rows[OP_v_fma_f32].full;
    _Alignas(64) uint32_t regs[REGISTERS][64];
    uint64_t start, best = UINT64_MAX;

    for (int r = 0; r < REGISTERS; r++)
        for (int i = 0; i < 64; i++)
            regs[r][i] = 0x3f000000u; /* 0.5 */
    for (int turn = 0; turn < 3; turn++) {
        start = bench_cpu_ns();
        for (int i = 0; i < REPEATS; i++)
            fma(regs[i % 6], regs[i % 6], regs[6], regs[7]);
        if (bench_cpu_ns() - start < best)
            best = bench_cpu_ns() - start;
    }
    return REPEATS * 1e9 / (double)best;
}
