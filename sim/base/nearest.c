#include "sim/base/nearest.h"

#include "sim/base/param.h"

#include <string.h>

enum { MAX_LENGTH = 96, MAX_DISTANCE = 3 }; /* longer names are near to none */

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Edit distance with swaps of neighbours; three rows of the usual table are alive at a time. */
static unsigned edit_distance(const char *a, size_t na, const char *b, size_t nb)
{
    unsigned rows[3][MAX_LENGTH + 1];
    unsigned *before = rows[0], *last = rows[1], *row = rows[2];

    for (unsigned j = 0; j <= nb; j++)
        last[j] = j;
    for (unsigned i = 1; i <= na; i++) {
        unsigned *spare = before;

        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            row[j] = least(least(last[j], row[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        before = last;
        last = row;
        row = spare;
    }
    return last[nb];
}

struct nearest nearest_start(const char *typed)
{
    return (struct nearest){.typed = typed, .distance = MAX_DISTANCE + 1};
}

void nearest_offer(struct nearest *n, const char *name)
{
    size_t typed_len = strlen(n->typed), name_len = strlen(name);
    unsigned distance;

    if (typed_len > MAX_LENGTH || name_len > MAX_LENGTH)
        return;
    distance = edit_distance(n->typed, typed_len, name, name_len);
    if (distance >= n->distance || distance * 2 > name_len)
        return;
    n->best = name;
    n->distance = distance;
}

const char *name_nearest(const char *name, const char *const *names, size_t count)
{
    struct nearest n = nearest_start(name);

    for (size_t i = 0; i < count; i++)
        nearest_offer(&n, names[i]);
    return n.best;
}
