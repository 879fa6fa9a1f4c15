/*
 * The lines that an access to global memory touches, with their sectors. Accesses at a constant distance, and
 * those whose lines rise from lane to lane, need no look at the lines that were found before.
 */
#include "sim/access.h"

enum { HASH_PLACES = 256 }; /* by the upper 8 bits of a hash; four times what an access can fill */

static uint32_t sectors_of(const struct device *d, uint64_t address, uint64_t bytes)
{
    uint32_t first = (uint32_t)(address >> d->sector_shift) & (d->sectors_per_line - 1);
    uint32_t last = (uint32_t)((address + bytes - 1) >> d->sector_shift) & (d->sectors_per_line - 1);

    return (uint32_t)(bits_low(last + 1) & ~bits_low(first));
}

/* A dense range of bytes. */
static uint32_t range_lines(struct device *d, uint64_t address, uint64_t bytes)
{
    uint64_t line_bytes = UINT64_C(1) << d->line_shift;
    uint32_t n = 0;

    while (bytes) {
        uint64_t line = address >> d->line_shift << d->line_shift;
        uint64_t part = line + line_bytes - address < bytes ? line + line_bytes - address : bytes;

        d->lines[n++] = (struct line_request){line, sectors_of(d, address, part), 1};
        address += part;
        bytes -= part;
    }
    return n;
}

static inline uint64_t line_at(const struct device *d, uint64_t address)
{
    return address >> d->line_shift << d->line_shift;
}

/* The sectors of an access of a lane at the start of a line: it is aligned, so that those further on are as many. */
static inline uint32_t first_sectors(const struct device *d, const struct access *x)
{
    return (uint32_t)bits_low(x->bytes >> d->sector_shift > 1 ? x->bytes >> d->sector_shift : 1);
}

/*
 * The lines of the lanes up to the first whose line comes before that of the lane ahead of it; *rest is set to the
 * lanes from there on. Most accesses have none: rows of an image, columns of a matrix.
 */
static inline uint32_t rising_lines(struct device *d, const struct access *x, bool general,
                                    uint64_t *rest)
{
    const uint64_t line_bytes = UINT64_C(1) << d->line_shift;
    const unsigned sector_shift = d->sector_shift;
    struct lane_addresses at = lane_addresses(x, general);
    struct line_request *next = d->lines;
    uint32_t ones = first_sectors(d, x), sectors = 0;
    uint64_t lanes = x->active, line = line_at(d, address_of(at, bits_first(lanes)));

    for (; lanes; lanes &= lanes - 1) {
        uint64_t address = address_of(at, bits_first(lanes)), offset = address - line;

        if (offset >= line_bytes) {
            if (address < line)
                break;
            *next++ = (struct line_request){line, sectors, 1};
            line = address & -line_bytes;
            offset = address - line;
            sectors = 0;
        }
        sectors |= ones << (offset >> sector_shift);
    }
    *next++ = (struct line_request){line, sectors, 1};
    *rest = lanes;
    return (uint32_t)(next - d->lines);
}

/*
 * The lanes *rest of a general access as long as each is on the line of the lane before it, or on the one behind that in
 * the list, whose end leads to its start: a block of several columns goes through the same rows for each.
 */
static void repeated_lines(struct device *d, const struct access *x, uint32_t n, uint64_t *rest)
{
    uint32_t sectors = first_sectors(d, x), at = n - 1;

    for (; *rest; *rest &= *rest - 1) {
        uint64_t address = x->address[bits_first(*rest)], line = line_at(d, address);

        if (d->lines[at].line != line)
            at = at + 1 < n ? at + 1 : 0;
        if (d->lines[at].line != line)
            return;
        d->lines[at].sectors |= sectors << ((address - line) >> d->sector_shift);
    }
}

static inline uint32_t line_hash(uint64_t line)
{
    return (uint32_t)(line * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

/* The lines of the lanes `rest` of a general access, behind the n that are there. Returns how many there are then. */
static uint32_t more_lines(struct device *d, const struct access *x, uint64_t rest, uint32_t n)
{
    uint8_t place[HASH_PLACES] = {0}; /* 1 + index in d->lines */
    uint32_t sectors = first_sectors(d, x);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t h = line_hash(d->lines[i].line);

        while (place[h])
            h = (h + 1) % HASH_PLACES;
        place[h] = (uint8_t)(i + 1);
    }
    for (; rest; rest &= rest - 1) {
        uint64_t address = x->address[bits_first(rest)], line = line_at(d, address);
        uint32_t h = line_hash(line);

        while (place[h] && d->lines[place[h] - 1].line != line)
            h = (h + 1) % HASH_PLACES;
        if (!place[h]) {
            d->lines[n] = (struct line_request){line, 0, 1};
            place[h] = (uint8_t)++n;
        }
        d->lines[place[h] - 1].sectors |= sectors << ((address - line) >> d->sector_shift);
    }
    return n;
}

/* A line for each lane, of an access whose distance is that of lines or more: columns of a matrix. */
static uint32_t spread_lines(struct device *d, const struct access *x)
{
    const uint64_t line_bytes = UINT64_C(1) << d->line_shift;
    const unsigned sector_shift = d->sector_shift;
    struct line_request *next = d->lines;
    uint32_t ones = first_sectors(d, x);

    for (uint64_t lanes = x->active; lanes; lanes &= lanes - 1) {
        uint64_t address = x->first + bits_first(lanes) * x->stride;
        uint64_t offset = address & (line_bytes - 1);

        *next++ = (struct line_request){address - offset, ones << (offset >> sector_shift), 1};
    }
    return (uint32_t)(next - d->lines);
}

/* The lines in order of the first lane that touches each. */
static uint32_t lane_lines(struct device *d, const struct access *x)
{
    uint64_t rest;
    uint32_t n;

    if (x->pattern != ISA_GENERAL && x->stride >= UINT64_C(1) << d->line_shift)
        return spread_lines(d, x);
    if (x->pattern != ISA_GENERAL)
        return rising_lines(d, x, false, &rest);
    n = rising_lines(d, x, true, &rest);
    repeated_lines(d, x, n, &rest);
    return rest ? more_lines(d, x, rest, n) : n;
}

/* The line of d->lines that an address is in. */
static struct line_request *line_of(struct device *d, uint32_t nlines, uint64_t address)
{
    uint64_t line = address >> d->line_shift << d->line_shift;
    uint32_t i = 0;

    while (i + 1 < nlines && d->lines[i].line != line)
        i++;
    return &d->lines[i];
}

/* Atomics on one address follow each other: for each line, the most lanes on one of its words. */
static void count_serial(struct device *d, const struct access *x, uint32_t nlines)
{
    struct {
        uint64_t address;
        uint16_t lanes;
    } word[ISA_MAX_WIDTH];
    uint8_t place[HASH_PLACES] = {0}; /* 1 + index in word */
    uint32_t n = 0;

    for (uint64_t rest = x->active; rest; rest &= rest - 1) {
        uint64_t address = lane_address(x, bits_first(rest));
        uint32_t h = (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 56);

        while (place[h] && word[place[h] - 1].address != address)
            h = (h + 1) % HASH_PLACES;
        if (!place[h]) {
            word[n].address = address;
            word[n].lanes = 0;
            place[h] = (uint8_t)++n;
        }
        word[place[h] - 1].lanes++;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct line_request *line = word[i].lanes > 1 ? line_of(d, nlines, word[i].address) : NULL;

        if (line && line->serial < word[i].lanes)
            line->serial = word[i].lanes;
    }
}

uint32_t access_lines(struct device *d, const struct access *x)
{
    unsigned first = bits_first(x->active), last = bits_last(x->active);
    uint32_t n;

    if (x->pattern == ISA_UNIFORM)
        n = range_lines(d, x->first, x->bytes);
    else if (x->pattern == ISA_AFFINE && x->stride == x->bytes &&
             x->active == bits_low(last + 1) - bits_low(first))
        n = range_lines(d, lane_address(x, first), (last - first + 1) * x->bytes);
    else
        n = lane_lines(d, x);
    if (x->in->format == ISA_GATOMIC)
        count_serial(d, x, n);
    return n;
}
