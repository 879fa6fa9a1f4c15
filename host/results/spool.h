/*
 * A list of records of any size, in order, that is kept in memory up to a bound and in an unnamed
 * temporary file past it: memory does not grow with what was recorded.
 */
#ifndef HD_HOST_RESULTS_SPOOL_H
#define HD_HOST_RESULTS_SPOOL_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SPOOL_MEMORY = 1 << 18 }; /* bytes kept in memory before they go to the file */

struct spool {
    uint64_t count; /* records */
    uint64_t filed; /* bytes in the file */
    FILE *file;
    unsigned char *memory;
    size_t used;
    int broken; /* errno of the first failure; later records are dropped */
};

/* A place between two records, good as the start or the end of a reader. */
struct spool_reader {
    struct spool *spool;
    uint64_t at, end;
};

void spool_free(struct spool *s);
/* len at most 64 KiB. A failure is kept in the spool and reported by spool_check(). */
void spool_add(struct spool *s, const void *record, size_t len);
/* Where the next record will begin. */
uint64_t spool_tell(const struct spool *s);
/* HD_BAD_INPUT with the reason if a record was lost, as on a full disk. */
enum hd_status spool_check(const struct spool *s, struct hd_error *err);

struct spool_reader spool_read(struct spool *s, uint64_t from, uint64_t to);
/* Copies the next record, of at most size bytes, and sets *len; false at the end. Nothing may be added while one reads. */
bool spool_next(struct spool_reader *r, void *record, size_t size, size_t *len);

#endif
