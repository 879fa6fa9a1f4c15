/*
 * The lane functions of isa/lanes.h for one width and one build. The Makefile compiles this file
 * once for each pair, with ISA_LANES_WIDTH and ISA_LANES_BUILD set. Each row of isa/opcodes.def
 * becomes a loop over the lanes around its body.
 */
#include "isa/lanes_builds.h"
#include "isa/rows.h"
#include "isa/semantics.h"
#include "isa/special.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

#define WIDTH ISA_LANES_WIDTH

/*
 * A source may be the destination or, where one of them is 64 bits, one half of it. Then word i
 * of a half meets word i alone, which is the same lane's, so lanes never depend on each other.
 */
#ifdef __clang__
#define LANES_INDEPENDENT _Pragma("clang loop vectorize(assume_safety) unroll(disable)")
/* Loops that call a function (fma without FMA) stay as they are. */
#pragma clang diagnostic ignored "-Wpass-failed"
#else
#define LANES_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* ---- operands by type: reading lane i of n, and writing it under the bits of keep ---------- */

typedef uint32_t lane_B32, lane_U32, lane_MASK, lane_NONE;
typedef int32_t lane_I32;
typedef float lane_F32;
typedef uint64_t lane_B64, lane_U64;
typedef int64_t lane_I64;
typedef double lane_F64;

#define LOAD_NONE(p, n, i) ((void)(p), 0u)
#define LOAD_B32(p, n, i) ((p)[i])
#define LOAD_U32(p, n, i) ((p)[i])
#define LOAD_MASK(p, n, i) ((p)[i])
#define LOAD_I32(p, n, i) ((int32_t)(p)[i])
#define LOAD_F32(p, n, i) sem_from_f32((p)[i])
#define LOAD_B64(p, n, i) ((p)[i] | (uint64_t)(p)[(n) + (i)] << 32)
#define LOAD_U64(p, n, i) LOAD_B64(p, n, i)
#define LOAD_I64(p, n, i) ((int64_t)LOAD_B64(p, n, i))
#define LOAD_F64(p, n, i) sem_from_f64(LOAD_B64(p, n, i))

#define BITS_B32(x) (x)
#define BITS_U32(x) (x)
#define BITS_I32(x) ((uint32_t)(x))
#define BITS_F32(x) sem_canonical_f32(x)
#define BITS_B64(x) (x)
#define BITS_U64(x) (x)
#define BITS_I64(x) ((uint64_t)(x))
#define BITS_F64(x) sem_canonical_f64(x)

#define MERGE(old, new, keep) ((old) ^ (((old) ^ (new)) & (keep)))
#define STORE_32(d, n, i, u) ((d)[i] = (u))
#define STORE_64(d, n, i, u) ((d)[i] = (uint32_t)(u), (d)[(n) + (i)] = (uint32_t)((u) >> 32))
#define STORE_SOME_32(d, n, i, u, keep) ((d)[i] = MERGE((d)[i], u, keep))
#define STORE_SOME_64(d, n, i, u, keep)                                                            \
    ((d)[i] = MERGE((d)[i], (uint32_t)(u), keep),                                                  \
     (d)[(n) + (i)] = MERGE((d)[(n) + (i)], (uint32_t)((u) >> 32), keep))

typedef uint32_t bits_B32, bits_U32, bits_I32, bits_F32;
typedef uint64_t bits_B64, bits_U64, bits_I64, bits_F64;
#define STORE_B32 STORE_32
#define STORE_U32 STORE_32
#define STORE_I32 STORE_32
#define STORE_F32 STORE_32
#define STORE_B64 STORE_64
#define STORE_U64 STORE_64
#define STORE_I64 STORE_64
#define STORE_F64 STORE_64
#define STORE_SOME_B32 STORE_SOME_32
#define STORE_SOME_U32 STORE_SOME_32
#define STORE_SOME_I32 STORE_SOME_32
#define STORE_SOME_F32 STORE_SOME_32
#define STORE_SOME_B64 STORE_SOME_64
#define STORE_SOME_U64 STORE_SOME_64
#define STORE_SOME_I64 STORE_SOME_64
#define STORE_SOME_F64 STORE_SOME_64

/* ---- one function for each row ----------------------------------------------------------- */

#define OPERANDS(n, i, atype, btype, ctype)                                                        \
    const lane_##atype A = LOAD_##atype(a, n, i);                                                  \
    const lane_##btype B = LOAD_##btype(b, n, i);                                                  \
    const lane_##ctype C = LOAD_##ctype(c, n, i);                                                  \
    (void)A, (void)B, (void)C;

#define FULL_FUNCTION(n, name, dtype, atype, btype, ctype, ...)                                    \
    static void full_##name(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c)  \
    {                                                                                              \
        LANES_INDEPENDENT                                                                          \
        for (unsigned i = 0; i < n; i++) {                                                         \
            OPERANDS(n, i, atype, btype, ctype)                                                    \
            const bits_##dtype result = BITS_##dtype((lane_##dtype)(__VA_ARGS__));                 \
            STORE_##dtype(d, n, i, result);                                                        \
        }                                                                                          \
    }

#define SOME_FUNCTION(n, name, dtype, atype, btype, ctype, ...)                                    \
    static void some_##name(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,  \
                            const uint32_t *spread)                                                \
    {                                                                                              \
        LANES_INDEPENDENT                                                                          \
        for (unsigned i = 0; i < n; i++) {                                                         \
            OPERANDS(n, i, atype, btype, ctype)                                                    \
            const bits_##dtype result = BITS_##dtype((lane_##dtype)(__VA_ARGS__));                 \
            STORE_SOME_##dtype(d, n, i, result, spread[i]);                                        \
        }                                                                                          \
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

#define COMPARE_FUNCTION(name, atype, btype, ...)                                                  \
    static uint64_t cmp_##name(const uint32_t *a, const uint32_t *b)                               \
    {                                                                                              \
        _Alignas(32) uint32_t words[WIDTH];                                                        \
                                                                                                   \
        LANES_INDEPENDENT                                                                          \
        for (unsigned i = 0; i < WIDTH; i++) {                                                     \
            const lane_##atype A = LOAD_##atype(a, WIDTH, i);                                      \
            const lane_##btype B = LOAD_##btype(b, WIDTH, i);                                      \
            words[i] = (__VA_ARGS__) ? ~0u : 0u;                                                   \
        }                                                                                          \
        return pack(words);                                                                        \
    }

/* The lane that lane i reads: its own where the computed one is outside the wavefront. */
#define MOVE_LOOP(dtype, ...)                                                                      \
    for (unsigned i = 0; i < WIDTH; i++) {                                                         \
        const uint64_t LANE = i, B = b[i];                                                         \
        const uint64_t from = (__VA_ARGS__);                                                       \
        (void)LANE, (void)c;                                                                       \
        moved[i] = LOAD_##dtype(a, WIDTH, from < WIDTH ? from : i);                                \
    }

/* Through a copy, since any lane of the destination may be a source. */
#define MOVE_FUNCTIONS(name, dtype, ...)                                                           \
    static void full_##name(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c)  \
    {                                                                                              \
        bits_##dtype moved[WIDTH];                                                                 \
                                                                                                   \
        MOVE_LOOP(dtype, __VA_ARGS__)                                                              \
        for (unsigned i = 0; i < WIDTH; i++)                                                       \
            STORE_##dtype(d, WIDTH, i, moved[i]);                                                  \
    }                                                                                              \
    static void some_##name(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,  \
                            const uint32_t *spread)                                                \
    {                                                                                              \
        bits_##dtype moved[WIDTH];                                                                 \
                                                                                                   \
        MOVE_LOOP(dtype, __VA_ARGS__)                                                              \
        for (unsigned i = 0; i < WIDTH; i++)                                                       \
            STORE_SOME_##dtype(d, WIDTH, i, moved[i], spread[i]);                                  \
    }

/* ---- which functions a format has -------------------------------------------------------- */

#define KIND_VALU ~, VECTOR
#define KIND_VSEL ~, VECTOR
#define KIND_XLANE ~, MOVE
#define KIND_VCMP ~, COMPARE
#define KIND_SALU ~, SCALAR

#define FUNCTIONS_NONE(...)
#define FUNCTIONS_VECTOR(name, dtype, atype, btype, ctype, ...)                                    \
    FULL_FUNCTION(WIDTH, name, dtype, atype, btype, ctype, __VA_ARGS__)                            \
    SOME_FUNCTION(WIDTH, name, dtype, atype, btype, ctype, __VA_ARGS__)
#define FUNCTIONS_MOVE(name, dtype, atype, btype, ctype, ...)                                      \
    MOVE_FUNCTIONS(name, dtype, __VA_ARGS__)
#define FUNCTIONS_COMPARE(name, dtype, atype, btype, ctype, ...)                                   \
    COMPARE_FUNCTION(name, atype, btype, __VA_ARGS__)
#define FUNCTIONS_SCALAR(name, dtype, atype, btype, ctype, ...)                                    \
    FULL_FUNCTION(1, name, dtype, atype, btype, ctype, __VA_ARGS__)

#define OP(name, format, cls, dtype, atype, btype, ctype, flags, doc, ...)                         \
    ISA_PASTE(FUNCTIONS_, ISA_KIND(KIND_, format))(name, dtype, atype, btype, ctype, __VA_ARGS__)
#include "isa/opcodes.def"
#undef OP

#define ROW_NONE(name) {NULL, NULL, NULL}
#define ROW_VECTOR(name) {full_##name, some_##name, NULL}
#define ROW_MOVE(name) {full_##name, some_##name, NULL}
#define ROW_COMPARE(name) {NULL, NULL, cmp_##name}
#define ROW_SCALAR(name) {full_##name, NULL, NULL}

static const struct isa_lane_row rows[ISA_NUM_OPS] = {
#define OP(name, format, ...) [OP_##name] = ISA_PASTE(ROW_, ISA_KIND(KIND_, format))(name),
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
};
