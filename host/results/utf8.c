#include "host/results/utf8.h"

#include <stdbool.h>

static bool in(unsigned char byte, unsigned low, unsigned high)
{
    return byte >= low && byte <= high;
}

/* The table of RFC 3629: what the second byte may be depends on the first. */
size_t utf8_sequence(const char *at, size_t left)
{
    const unsigned char *b = (const unsigned char *)at;
    unsigned low = 0x80, high = 0xbf;
    size_t len, i;

    if (left == 0)
        return 0;
    if (b[0] < 0x80)
        return 1;
    len = in(b[0], 0xc2, 0xdf) ? 2 : in(b[0], 0xe0, 0xef) ? 3 : in(b[0], 0xf0, 0xf4) ? 4 : 0;
    if (len == 0 || left < len)
        return 0;
    if (b[0] == 0xe0)
        low = 0xa0;
    else if (b[0] == 0xed)
        high = 0x9f;
    else if (b[0] == 0xf0)
        low = 0x90;
    else if (b[0] == 0xf4)
        high = 0x8f;
    if (!in(b[1], low, high))
        return 0;
    for (i = 2; i < len; i++)
        if (!in(b[i], 0x80, 0xbf))
            return 0;
    return len;
}
