#include "tests/system/pages.h"

#include <string.h>

enum { PAGES_MAX = 4 };

enum page { PAGE_UNTOUCHED, PAGE_HOST, PAGE_CLEAN, PAGE_DIRTY };

struct model {
    const struct program *p;
    uint32_t page_bytes;
    uint8_t page[PROGRAM_ARRAYS][PAGES_MAX];
    struct page_moves moves;
};

static unsigned pages_of_array(const struct model *m, unsigned array)
{
    return (4 * m->p->size[array] + m->page_bytes - 1) / m->page_bytes;
}

static void bring(struct model *m, unsigned array)
{
    for (unsigned i = 0; i < pages_of_array(m, array); i++) {
        if (m->page[array][i] == PAGE_HOST)
            m->moves.to_device += m->page_bytes;
        if (m->page[array][i] != PAGE_DIRTY)
            m->page[array][i] = PAGE_CLEAN;
    }
}

static void launch(struct model *m, const struct program_stmt *s, bool all)
{
    const struct program_kernel_info *k = &program_kernels[s->kernel];

    for (unsigned i = 0; i < PROGRAM_ARRAYS; i++)
        if (all)
            bring(m, i);
    for (unsigned i = 0; i < k->narrays; i++)
        bring(m, s->arrays[i]);
    for (unsigned i = 0; i < k->narrays; i++)
        if (program_may_write(s, i))
            memset(m->page[s->arrays[i]], PAGE_DIRTY, sizeof m->page[0]);
}

static void access(struct model *m, unsigned array, uint32_t first, uint32_t count, bool overwrite)
{
    for (unsigned i = 0; i < pages_of_array(m, array); i++) {
        uint32_t begin = i * m->page_bytes / 4, end = begin + m->page_bytes / 4;

        end = end < m->p->size[array] ? end : m->p->size[array];
        if (first >= end || first + count <= begin)
            continue;
        m->moves.touched += m->page_bytes;
        if (m->page[array][i] == PAGE_DIRTY && !(overwrite && first <= begin && end <= first + count))
            m->moves.to_host += m->page_bytes;
        m->page[array][i] = PAGE_HOST;
    }
}

struct page_moves program_moves(const struct program *p, uint32_t page_bytes, bool all)
{
    struct model m = {.p = p, .page_bytes = page_bytes};

    for (unsigned i = 0; i < p->nstmts; i++) {
        const struct program_stmt *s = &p->stmts[i];

        if (s->kind == STMT_LAUNCH)
            launch(&m, s, all);
        else if (s->kind == STMT_RENEW)
            memset(m.page[s->arrays[0]], PAGE_UNTOUCHED, sizeof m.page[0]);
        else if (s->kind != STMT_WORK)
            access(&m, s->arrays[0], s->first, s->count, s->kind == STMT_OVERWRITE);
    }
    for (unsigned i = 0; i < PROGRAM_ARRAYS; i++)
        access(&m, i, 0, p->size[i], false);
    return m.moves;
}
