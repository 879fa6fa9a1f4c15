/*
 * Growable arrays. VEC(T) declares one: {.at, .len, .cap}, all zero when empty.
 *
 *     VEC(int) v = {0};
 *     if (!vec_push(&v, 3)) ...out of memory...
 *     vec_free(&v);
 */
#ifndef HD_SIM_BASE_VEC_H
#define HD_SIM_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define VEC(T)                                                                                     \
    struct {                                                                                       \
        T *at;                                                                                     \
        size_t len, cap;                                                                           \
    }

/* Makes room for want elements in all; false when memory is short (the array is unchanged). */
static inline bool vec_reserve_bytes(void **at, size_t *cap, size_t want, size_t elem)
{
    size_t grown = *cap ? *cap * 2 : 8;
    size_t bytes;
    void *p;

    if (want <= *cap)
        return true;
    if (grown < want)
        grown = want;
    if (__builtin_mul_overflow(grown, elem, &bytes))
        return false;
    p = realloc(*at, bytes);
    if (!p)
        return false;
    *at = p;
    *cap = grown;
    return true;
}

#define vec_reserve(v, want)                                                                       \
    vec_reserve_bytes((void **)&(v)->at, &(v)->cap, (want), sizeof *(v)->at)
#define vec_push(v, value)                                                                         \
    (vec_reserve((v), (v)->len + 1) ? ((v)->at[(v)->len++] = (value), true) : false)
/* Makes an array equal to another of the same type; false when memory is short. */
#define vec_copy(to, from)                                                                         \
    (vec_reserve((to), (from)->len)                                                                \
         ? ((from)->len ? (void)memcpy((to)->at, (from)->at, (from)->len * sizeof *(to)->at)       \
                        : (void)0,                                                                 \
            (to)->len = (from)->len, true)                                                         \
         : false)
#define vec_free(v) (free((v)->at), (v)->at = NULL, (v)->len = (v)->cap = 0)

#endif
