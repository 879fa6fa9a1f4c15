/*
 * How isa/lanes.c reads and writes operands of each type, for the width and build that it is
 * compiled for. Only for inclusion there.
 */
#ifndef HD_ISA_LANES_OPERANDS_H
#define HD_ISA_LANES_OPERANDS_H

#include "isa/rows.h"
#include "isa/semantics.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

#define WIDTH ISA_LANES_WIDTH

/* ---- operands by type -------------------------------------------------------------------- */

typedef uint32_t lane_B32, lane_U32, lane_MASK, lane_NONE;
typedef int32_t lane_I32;
typedef float lane_F32;
typedef uint64_t lane_B64, lane_U64;
typedef int64_t lane_I64;
typedef double lane_F64;

typedef uint32_t bits_B32, bits_U32, bits_I32, bits_F32, bits_MASK, bits_NONE;
typedef uint64_t bits_B64, bits_U64, bits_I64, bits_F64;

#define VALUE_NONE(u) (u)
#define VALUE_B32(u) (u)
#define VALUE_U32(u) (u)
#define VALUE_MASK(u) (u)
#define VALUE_I32(u) ((int32_t)(u))
#define VALUE_F32(u) sem_from_f32(u)
#define VALUE_B64(u) (u)
#define VALUE_U64(u) (u)
#define VALUE_I64(u) ((int64_t)(u))
#define VALUE_F64(u) sem_from_f64(u)

#define BITS_B32(x) (x)
#define BITS_U32(x) (x)
#define BITS_I32(x) ((uint32_t)(x))
#define BITS_F32(x) sem_canonical_f32(x)
#define BITS_B64(x) (x)
#define BITS_U64(x) (x)
#define BITS_I64(x) ((uint64_t)(x))
#define BITS_F64(x) sem_canonical_f64(x)

/* How a type stands in registers. */
#define SHAPE_NONE NONE
#define SHAPE_B32 32
#define SHAPE_U32 32
#define SHAPE_I32 32
#define SHAPE_F32 32
#define SHAPE_MASK 32
#define SHAPE_B64 64
#define SHAPE_U64 64
#define SHAPE_I64 64
#define SHAPE_F64 64

#define WIDE_NONE 0
#define WIDE_32 0
#define WIDE_64 1
#define IS_WIDE(type) ISA_PASTE(WIDE_, SHAPE_##type)

/* ---- lane by lane ------------------------------------------------------------------------ */

#define MERGE(old, new, keep) ((old) ^ (((old) ^ (new)) & (keep)))

#define LOAD_NONE(p, n, i) ((void)(p), 0u)
#define LOAD_32(p, n, i) ((p)[i])
#define LOAD_64(p, n, i) ((p)[i] | (uint64_t)(p)[(n) + (i)] << 32)
#define LOAD(type, p, n, i) ISA_PASTE(LOAD_, SHAPE_##type)(p, n, i)

#define STORE_32(d, n, i, u) ((d)[i] = (u))
#define STORE_64(d, n, i, u) ((d)[i] = (uint32_t)(u), (d)[(n) + (i)] = (uint32_t)((u) >> 32))
#define STORE(type, d, n, i, u) ISA_PASTE(STORE_, SHAPE_##type)(d, n, i, u)

#define STORE_SOME_32(d, n, i, u, keep) ((d)[i] = MERGE((d)[i], u, keep))
#define STORE_SOME_64(d, n, i, u, keep)                                                            \
    ((d)[i] = MERGE((d)[i], (uint32_t)(u), keep),                                                  \
     (d)[(n) + (i)] = MERGE((d)[(n) + (i)], (uint32_t)((u) >> 32), keep))
#define STORE_SOME(type, d, n, i, u, keep) ISA_PASTE(STORE_SOME_, SHAPE_##type)(d, n, i, u, keep)

/* ---- block by block ---------------------------------------------------------------------- */

/*
 * The two words of a 64-bit operand are far apart, and joining them in the order of the lanes costs
 * AVX2 more than most operations do. Opcodes with a 64-bit operand therefore go block by block,
 * with the lanes of a block in the order in which unpacking leaves them (0 1 4 5 2 3 6 7 with AVX2).
 */
#if WIDTH == 1
#define BLOCK 1

static inline void read_32(uint32_t *block, const uint32_t *p)
{
    *block = *p;
}

static inline void read_64(uint64_t *block, const uint32_t *low, const uint32_t *high)
{
    *block = *low | (uint64_t)*high << 32;
}

static inline void write_32(uint32_t *p, const uint32_t *block)
{
    *p = *block;
}

static inline void write_64(uint32_t *low, uint32_t *high, const uint64_t *block)
{
    *low = (uint32_t)*block;
    *high = (uint32_t)(*block >> 32);
}
#elif defined(__AVX2__)
#define BLOCK 8

static inline void read_32(uint32_t *block, const uint32_t *p)
{
    __m256i words = _mm256_loadu_si256((const __m256i *)(const void *)p);

    _mm256_storeu_si256((__m256i *)(void *)block, _mm256_permute4x64_epi64(words, 0xd8));
}

static inline void read_64(uint64_t *block, const uint32_t *low, const uint32_t *high)
{
    __m256i l = _mm256_loadu_si256((const __m256i *)(const void *)low);
    __m256i h = _mm256_loadu_si256((const __m256i *)(const void *)high);

    _mm256_storeu_si256((__m256i *)(void *)block, _mm256_unpacklo_epi32(l, h));
    _mm256_storeu_si256((__m256i *)(void *)(block + 4), _mm256_unpackhi_epi32(l, h));
}

static inline void write_32(uint32_t *p, const uint32_t *block)
{
    read_32(p, block);
}

static inline void write_64(uint32_t *low, uint32_t *high, const uint64_t *block)
{
    __m256 x = _mm256_loadu_ps((const float *)(const void *)block);
    __m256 y = _mm256_loadu_ps((const float *)(const void *)(block + 4));

    _mm256_storeu_ps((float *)(void *)low, _mm256_shuffle_ps(x, y, 0x88));
    _mm256_storeu_ps((float *)(void *)high, _mm256_shuffle_ps(x, y, 0xdd));
}
#else
#define BLOCK 4

static inline void read_32(uint32_t *block, const uint32_t *p)
{
    _mm_storeu_si128((__m128i *)(void *)block, _mm_loadu_si128((const __m128i *)(const void *)p));
}

static inline void read_64(uint64_t *block, const uint32_t *low, const uint32_t *high)
{
    __m128i l = _mm_loadu_si128((const __m128i *)(const void *)low);
    __m128i h = _mm_loadu_si128((const __m128i *)(const void *)high);

    _mm_storeu_si128((__m128i *)(void *)block, _mm_unpacklo_epi32(l, h));
    _mm_storeu_si128((__m128i *)(void *)(block + 2), _mm_unpackhi_epi32(l, h));
}

static inline void write_32(uint32_t *p, const uint32_t *block)
{
    read_32(p, block);
}

static inline void write_64(uint32_t *low, uint32_t *high, const uint64_t *block)
{
    __m128 x = _mm_loadu_ps((const float *)(const void *)block);
    __m128 y = _mm_loadu_ps((const float *)(const void *)(block + 2));

    _mm_storeu_ps((float *)(void *)low, _mm_shuffle_ps(x, y, 0x88));
    _mm_storeu_ps((float *)(void *)high, _mm_shuffle_ps(x, y, 0xdd));
}
#endif

#define READ_NONE(block, p, i) ((void)(p), memset(block, 0, sizeof(uint32_t) * BLOCK))
#define READ_32(block, p, i) read_32(block, (p) + (i))
#define READ_64(block, p, i) read_64(block, (p) + (i), (p) + WIDTH + (i))
#define READ(type, block, p, i) ISA_PASTE(READ_, SHAPE_##type)(block, p, i)

#define WRITE_32(p, i, block) write_32((p) + (i), block)
#define WRITE_64(p, i, block) write_64((p) + (i), (p) + WIDTH + (i), block)
#define WRITE(type, p, i, block) ISA_PASTE(WRITE_, SHAPE_##type)(p, i, block)

#endif
