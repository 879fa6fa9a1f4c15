/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing past U+10FFFF. */
#ifndef HD_HOST_RESULTS_UTF8_H
#define HD_HOST_RESULTS_UTF8_H

#include <stddef.h>

/* Bytes of the valid sequence that begins at `at` with `left` bytes to go, or 0. */
size_t utf8_sequence(const char *at, size_t left);

#endif
