/*
 * Which pages of a block come along with those that were faulted on. The block is a binary tree over
 * leaves of um.prefetch_leaf_bytes: the leaf of a fault comes whole, and so does every larger subtree
 * around it of which more than um.prefetch_percent would then be there.
 *
 * As in NVIDIA's open-gpu-kernel-modules, kernel-open/nvidia-uvm/uvm_perf_prefetch.c.
 */
#ifndef HD_SIM_PREFETCH_TREE_H
#define HD_SIM_PREFETCH_TREE_H

#include <stdint.h>

enum { BLOCK_PAGES_MAX = 512, BLOCK_WORDS = BLOCK_PAGES_MAX / 64 };

/* A bit a page of the block. */
struct block_pages {
    uint64_t bits[BLOCK_WORDS];
};

/*
 * npages: of the block, less in the last one of an array. leaf: pages, a power of two. `there` has the
 * pages that are on the device or on their way; those of `wanted`, the faults, are grown.
 */
void prefetch_tree_grow(struct block_pages *wanted, const struct block_pages *there,
                        uint32_t npages, uint32_t leaf, uint32_t percent);

#endif
