/*
 * The lane functions of isa/lanes.h for one width and one build. The Makefile compiles this file
 * once for each pair, with ISA_LANES_WIDTH and ISA_LANES_BUILD set. Each row of isa/opcodes.def
 * becomes a loop over the lanes around its body.
 */
#include "isa/lanes_builds.h"
#include "isa/lanes_operands.h"
#include "isa/special.h"

/*
 * A source may be the destination or, where one of them is 64 bits, one half of it. Then word i
 * of a half meets word i alone, which is the same lane's, so lanes never depend on each other.
 */
#ifdef __clang__
#define LANES_INDEPENDENT _Pragma("clang loop vectorize(assume_safety) unroll(disable)")
#define LANES_INDEPENDENT_SHORT LANES_INDEPENDENT
/* Loops that call a function (fma without FMA) stay as they are. */
#pragma clang diagnostic ignored "-Wpass-failed"
#else
#define LANES_INDEPENDENT _Pragma("GCC ivdep")
/* A loop as short as a block would be unrolled before it could be vectorised. */
#define LANES_INDEPENDENT_SHORT LANES_INDEPENDENT _Pragma("GCC unroll 1")
#endif

/* ---- one function for each row ----------------------------------------------------------- */

/* The body on operands that are given as bits. */
#define RESULT(dtype, atype, btype, ctype, x, y, z, ...)                                           \
    const lane_##atype A = VALUE_##atype(x);                                                       \
    const lane_##btype B = VALUE_##btype(y);                                                       \
    const lane_##ctype C = VALUE_##ctype(z);                                                       \
    (void)A, (void)B, (void)C;                                                                     \
    const bits_##dtype result = BITS_##dtype((lane_##dtype)(__VA_ARGS__));

/* Stores the result of each of n lanes with `store`, which sees i and result. */
#define LANE_LOOP(n, dtype, atype, btype, ctype, store, ...)                                       \
    LANES_INDEPENDENT                                                                              \
    for (unsigned i = 0; i < n; i++) {                                                             \
        RESULT(dtype, atype, btype, ctype, LOAD(atype, a, n, i), LOAD(btype, b, n, i),             \
               LOAD(ctype, c, n, i), __VA_ARGS__)                                                  \
        store;                                                                                     \
    }

/* A block is read whole before it is written, so that here too sources may be the destination. */
#define BLOCK_LOOP(to, dtype, atype, btype, ctype, ...)                                            \
    for (unsigned i = 0; i < WIDTH; i += BLOCK) {                                                  \
        bits_##atype x[BLOCK];                                                                     \
        bits_##btype y[BLOCK];                                                                     \
        bits_##ctype z[BLOCK];                                                                     \
        bits_##dtype results[BLOCK];                                                               \
                                                                                                   \
        READ(atype, x, a, i);                                                                      \
        READ(btype, y, b, i);                                                                      \
        READ(ctype, z, c, i);                                                                      \
        LANES_INDEPENDENT_SHORT                                                                    \
        for (unsigned j = 0; j < BLOCK; j++) {                                                     \
            RESULT(dtype, atype, btype, ctype, x[j], y[j], z[j], __VA_ARGS__)                      \
            results[j] = result;                                                                   \
        }                                                                                          \
        WRITE(dtype, to, i, results);                                                              \
    }

#define IS_BLOCKED(dtype, atype, btype)                                                            \
    (WIDTH > 1 && (IS_WIDE(dtype) || IS_WIDE(atype) || IS_WIDE(btype)))

#define VECTOR_FUNCTIONS(name, dtype, atype, btype, ctype, ...)                                    \
    static void full_##name(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c)  \
    {                                                                                              \
        if (IS_BLOCKED(dtype, atype, btype)) {                                                     \
            BLOCK_LOOP(d, dtype, atype, btype, ctype, __VA_ARGS__)                                 \
        } else {                                                                                   \
            LANE_LOOP(WIDTH, dtype, atype, btype, ctype, STORE(dtype, d, WIDTH, i, result),        \
                      __VA_ARGS__)                                                                 \
        }                                                                                          \
    }                                                                                              \
    static void some_##name(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,  \
                            const uint32_t *spread)                                                \
    {                                                                                              \
        if (IS_BLOCKED(dtype, atype, btype)) {                                                     \
            _Alignas(32) uint32_t words[2 * WIDTH];                                                \
                                                                                                   \
            BLOCK_LOOP(words, dtype, atype, btype, ctype, __VA_ARGS__)                             \
            for (unsigned i = 0; i < WIDTH; i++) {                                                 \
                d[i] = MERGE(d[i], words[i], spread[i]);                                           \
                if (IS_WIDE(dtype))                                                                \
                    d[WIDTH + i] = MERGE(d[WIDTH + i], words[WIDTH + i], spread[i]);               \
            }                                                                                      \
        } else {                                                                                   \
            LANE_LOOP(WIDTH, dtype, atype, btype, ctype,                                           \
                      STORE_SOME(dtype, d, WIDTH, i, result, spread[i]), __VA_ARGS__)              \
        }                                                                                          \
    }

#define SCALAR_FUNCTION(name, dtype, atype, btype, ctype, ...)                                     \
    static void full_##name(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c)  \
    {                                                                                              \
        LANE_LOOP(1, dtype, atype, btype, ctype, STORE(dtype, d, 1, i, result), __VA_ARGS__)       \
    }

/* Bit i of the result is word i, which is all ones or zero. */
static inline uint64_t pack(const uint32_t *words)
{
    uint64_t bits = 0;

#if WIDTH == 1
    bits = words[0] & 1;
#elif defined(__AVX2__)
    for (unsigned i = 0; i < WIDTH; i += 8) {
        __m256i octet = _mm256_load_si256((const __m256i *)(const void *)(words + i));

        bits |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(octet)) << i;
    }
#else
    for (unsigned i = 0; i < WIDTH; i += 4) {
        __m128i quartet = _mm_load_si128((const __m128i *)(const void *)(words + i));

        bits |= (uint64_t)(uint32_t)_mm_movemask_ps(_mm_castsi128_ps(quartet)) << i;
    }
#endif
    return bits;
}

/* The truth of 64-bit operands is computed as 64 bits, of which the low words are then looked at. */
#define COMPARE_FUNCTION(name, atype, btype, ...)                                                  \
    static uint64_t cmp_##name(const uint32_t *a, const uint32_t *b)                               \
    {                                                                                              \
        _Alignas(32) uint32_t words[2 * WIDTH];                                                    \
        const uint32_t *const c = NULL;                                                            \
                                                                                                   \
        if (IS_BLOCKED(NONE, atype, btype)) {                                                      \
            BLOCK_LOOP(words, B64, atype, btype, NONE, (__VA_ARGS__) ? ~UINT64_C(0) : 0)           \
        } else {                                                                                   \
            LANE_LOOP(WIDTH, B32, atype, btype, NONE, words[i] = result, (__VA_ARGS__) ? ~0u : 0u) \
        }                                                                                          \
        return pack(words);                                                                        \
    }

/* Through a copy, since any lane of the destination may be a source. */
#define MOVE_LOOP(dtype, ...)                                                                      \
    for (unsigned i = 0; i < WIDTH; i++) {                                                         \
        const uint64_t LANE = i, B = b[i];                                                         \
        const uint64_t from = (__VA_ARGS__);                                                       \
        (void)LANE, (void)c;                                                                       \
        moved[i] = LOAD(dtype, a, WIDTH, from < WIDTH ? from : i);                                 \
    }

#define MOVE_FUNCTIONS(name, dtype, ...)                                                           \
    static void full_##name(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c)  \
    {                                                                                              \
        bits_##dtype moved[WIDTH];                                                                 \
                                                                                                   \
        MOVE_LOOP(dtype, __VA_ARGS__)                                                              \
        for (unsigned i = 0; i < WIDTH; i++)                                                       \
            STORE(dtype, d, WIDTH, i, moved[i]);                                                   \
    }                                                                                              \
    static void some_##name(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,  \
                            const uint32_t *spread)                                                \
    {                                                                                              \
        bits_##dtype moved[WIDTH];                                                                 \
                                                                                                   \
        MOVE_LOOP(dtype, __VA_ARGS__)                                                              \
        for (unsigned i = 0; i < WIDTH; i++)                                                       \
            STORE_SOME(dtype, d, WIDTH, i, moved[i], spread[i]);                                   \
    }

/* ---- which functions a format has -------------------------------------------------------- */

#define KIND_VALU ~, VECTOR
#define KIND_VSEL ~, VECTOR
#define KIND_XLANE ~, MOVE
#define KIND_VCMP ~, COMPARE
#define KIND_SALU ~, SCALAR

#define FUNCTIONS_NONE(...)
#define FUNCTIONS_VECTOR VECTOR_FUNCTIONS
#define FUNCTIONS_MOVE(name, dtype, atype, btype, ctype, ...)                                      \
    MOVE_FUNCTIONS(name, dtype, __VA_ARGS__)
#define FUNCTIONS_COMPARE(name, dtype, atype, btype, ctype, ...)                                   \
    COMPARE_FUNCTION(name, atype, btype, __VA_ARGS__)
#define FUNCTIONS_SCALAR SCALAR_FUNCTION

#define OP(name, format, cls, dtype, atype, btype, ctype, flags, doc, ...)                         \
    ISA_PASTE(FUNCTIONS_, ISA_KIND(KIND_, format))(name, dtype, atype, btype, ctype, __VA_ARGS__)
#include "isa/opcodes.def"
#undef OP

#define ROW_NONE(name) NULL, NULL, NULL
#define ROW_VECTOR(name) full_##name, some_##name, NULL
#define ROW_MOVE(name) full_##name, some_##name, NULL
#define ROW_COMPARE(name) NULL, NULL, cmp_##name
#define ROW_SCALAR(name) full_##name, NULL, NULL

static const struct isa_lane_row rows[ISA_NUM_OPS] = {
#define OP(name, format, ...) [OP_##name] = {ISA_PASTE(ROW_, ISA_KIND(KIND_, format))(name)},
#include "isa/opcodes.def"
#undef OP
};

/* ---- masks and index vectors ------------------------------------------------------------- */

static void spread(uint32_t *out, uint64_t mask)
{
    static const uint32_t bit[32] = {
        1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
        1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
        1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
        1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31,
    };

    for (unsigned half = 0; half < WIDTH; half += 32) {
        uint32_t bits = (uint32_t)(mask >> half);

        LANES_INDEPENDENT
        for (unsigned i = 0; i < (WIDTH < 32 ? WIDTH : 32); i++)
            out[half + i] = (bits & bit[i]) ? ~0u : 0u;
    }
}

static void broadcast(uint32_t *out, uint32_t value)
{
    for (unsigned i = 0; i < WIDTH; i++)
        out[i] = value;
}

static enum isa_pattern classify(const uint32_t *index, uint32_t *stride)
{
    const uint32_t first = index[0], step = WIDTH > 1 ? index[WIDTH > 1] - first : 0;
    uint32_t off = 0;

    /* The last lane tells most general vectors apart, and those that wrap. */
    if ((uint64_t)first + (uint64_t)(WIDTH - 1) * step != index[WIDTH - 1])
        return ISA_GENERAL;
    for (unsigned i = 0; i < WIDTH; i++)
        off |= index[i] ^ (first + i * step);
    if (off)
        return ISA_GENERAL;
    *stride = step;
    return step ? ISA_AFFINE : ISA_UNIFORM;
}

static struct isa_span span(const uint32_t *index, const uint32_t *spread)
{
    uint32_t low = UINT32_MAX, high = 0, bits = 0;

    for (unsigned i = 0; i < WIDTH; i++) {
        uint32_t word = index[i] & spread[i], least = index[i] | ~spread[i];

        low = least < low ? least : low;
        high = word > high ? word : high;
        bits |= word;
    }
    return (struct isa_span){low, high, bits};
}

static void addresses(uint64_t *out, const uint32_t *index, uint64_t base, unsigned shift)
{
    for (unsigned i = 0; i < WIDTH; i++)
        out[i] = base + ((uint64_t)index[i] << shift);
}

/*
 * Eight lanes at a time, by how they lie. Plain loads beat the gather instruction, which processors
 * with the mitigation of CVE-2022-40982 run slowly.
 */
static void gather(uint32_t *d, const uint8_t *base, const uint32_t *offset, const uint8_t *kinds)
{
    enum { GROUP = WIDTH < 8 ? WIDTH : 8 };

    for (unsigned i = 0; i < WIDTH; i += GROUP) {
        uint32_t word;

        switch (kinds[i / GROUP]) {
        case ISA_AFFINE:
            memcpy(d + i, base + offset[i], GROUP * sizeof *d);
            break;
        case ISA_UNIFORM:
            memcpy(&word, base + offset[i], sizeof word);
            for (unsigned k = 0; k < GROUP; k++)
                d[i + k] = word;
            break;
        default:
            for (unsigned k = i; k < i + GROUP; k++)
                memcpy(&d[k], base + offset[k], sizeof *d);
        }
    }
}

static void gather_kinds(uint8_t *kinds, const uint32_t *offset)
{
    enum { GROUP = WIDTH < 8 ? WIDTH : 8 };

    for (unsigned i = 0; i < WIDTH; i += GROUP) {
        bool uniform = true, block = true;

        for (unsigned k = 1; k < GROUP; k++) {
            uniform = uniform && offset[i + k] == offset[i];
            block = block && offset[i + k] == offset[i] + 4 * k;
        }
        kinds[i / GROUP] = uniform ? ISA_UNIFORM : block ? ISA_AFFINE : ISA_GENERAL;
    }
}

static bool at_distances(const uint32_t *a, uint32_t first, const uint32_t *distance)
{
    uint32_t off = 0;

    for (unsigned i = 0; i < WIDTH; i++)
        off |= (a[i] - first) ^ distance[i];
    return off == 0;
}

#define TEXT_OF(token) #token
#define BUILD_NAME(build) TEXT_OF(build)
#define PASTED_NAME(width, build) isa_lanes_w##width##_##build
#define OBJECT_NAME(width, build) PASTED_NAME(width, build)

const struct isa_lanes OBJECT_NAME(ISA_LANES_WIDTH, ISA_LANES_BUILD) = {
    .width = WIDTH,
    .build = BUILD_NAME(ISA_LANES_BUILD),
    .rows = rows,
    .spread = spread,
    .broadcast = broadcast,
    .classify = classify,
    .span = span,
    .addresses = addresses,
    .gather = gather,
    .gather_kinds = gather_kinds,
    .at_distances = at_distances,
};
