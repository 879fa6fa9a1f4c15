/*
 * What must move when a random program runs on a device without page faults: each page is followed
 * by itself. A launch brings the host's pages of what it sees; a kernel dirties all of the arrays
 * that it may write; a host access brings dirty pages back, but for those that it overwrites.
 */
#ifndef HD_TESTS_SYSTEM_PAGES_H
#define HD_TESTS_SYSTEM_PAGES_H

#include "tests/system/programs.h"

struct page_moves {
    uint64_t to_device, to_host; /* bytes */
    uint64_t touched; /* by the host, each access for itself: what can go to the device at most */
};

/*
 * With `all` a launch sees every array, else its arguments alone. Counts the program and a read of
 * every array at its end.
 */
struct page_moves program_moves(const struct program *p, uint32_t page_bytes, bool all);

#endif
