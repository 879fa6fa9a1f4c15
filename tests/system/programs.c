#include "tests/system/programs.h"

#include <inttypes.h>
#include <string.h>

const struct program_kernel_info program_kernels[PROGRAM_KERNELS] = {
    [PROGRAM_STEP] = {"step", 1, "x: inout u32[], n: i32, rounds: i32",
                      "x: u32[], n: i32, rounds: i32"},
    [PROGRAM_ADD] = {"add", 2, "x: in u32[], y: inout u32[], n: i32, rounds: i32",
                     "x: u32[], y: u32[], n: i32, rounds: i32"},
    [PROGRAM_MIX] = {"mix", 3, "x: const u32[], y: in u32[], z: inout u32[], n: i32, rounds: i32",
                     "x: in u32[], y: u32[], z: u32[], n: i32, rounds: i32"},
    [PROGRAM_SUM] = {"sum", 2, "x: in u32[], y: inout u32[], n: i32, rounds: i32",
                     "x: u32[], y: u32[], n: i32, rounds: i32"},
};

/* The loose signature of mix still says that x is read only. */
bool program_may_write(const struct program_stmt *s, unsigned i)
{
    bool last = i + 1 == program_kernels[s->kernel].narrays;

    return last || (s->loose && !(s->kernel == PROGRAM_MIX && i == 0));
}

static uint32_t below(struct rng *r, uint32_t n)
{
    return (uint32_t)rng_below(r, n);
}

/* ---- making ---- */

static void make_launch(const struct program *p, struct rng *r, struct program_stmt *s)
{
    s->kernel = (enum program_kernel)below(r, PROGRAM_KERNELS);
    s->loose = below(r, 4) == 0;
    s->count = PROGRAM_WORDS;
    for (unsigned i = 0; i < program_kernels[s->kernel].narrays; i++) {
        s->arrays[i] = (uint8_t)below(r, PROGRAM_ARRAYS);
        if (p->size[s->arrays[i]] < s->count)
            s->count = p->size[s->arrays[i]];
    }
    /* A sum into one of its own inputs would race. */
    if (s->kernel == PROGRAM_SUM && s->arrays[0] == s->arrays[1])
        s->arrays[1] = (uint8_t)((s->arrays[0] + 1) % PROGRAM_ARRAYS);
    if (s->kernel == PROGRAM_SUM)
        s->count = p->size[s->arrays[0]];
    if (below(r, 3) == 0)
        s->count = below(r, s->count + 1);
    s->value = below(r, 3) ? below(r, 8) : below(r, 60);
    s->blocks = 1 + below(r, 4);
    s->threads = 1 + below(r, 70);
}

static void make_access(const struct program *p, struct rng *r, struct program_stmt *s)
{
    uint32_t size = p->size[s->arrays[0] = (uint8_t)below(r, PROGRAM_ARRAYS)];

    s->value = (uint32_t)rng_next(r);
    s->first = s->kind == STMT_OVERWRITE && below(r, 2) ? 0 : below(r, size);
    s->count = s->first == 0 && below(r, 2) ? size : 1 + below(r, size - s->first);
}

static void make_stmt(const struct program *p, struct rng *r, struct program_stmt *s)
{
    static const uint8_t weights[] = {[STMT_LAUNCH] = 60,   [STMT_READ] = 12, [STMT_WRITE] = 10,
                                      [STMT_OVERWRITE] = 6, [STMT_RENEW] = 5, [STMT_WORK] = 7};
    uint32_t at = below(r, 100);

    *s = (struct program_stmt){0};
    while (at >= weights[s->kind])
        at -= weights[s->kind++];
    switch (s->kind) {
    case STMT_LAUNCH:
        make_launch(p, r, s);
        break;
    case STMT_RENEW:
        s->arrays[0] = (uint8_t)below(r, PROGRAM_ARRAYS);
        break;
    case STMT_WORK:
        s->value = below(r, 40000);
        break;
    default:
        make_access(p, r, s);
    }
}

void program_make(struct program *p, uint64_t seed)
{
    struct rng r;

    memset(p, 0, sizeof *p);
    rng_seed(&r, seed);
    p->seed = seed;
    for (unsigned i = 0; i < PROGRAM_ARRAYS; i++)
        p->size[i] = 1 + (below(&r, 3) ? below(&r, 200) : below(&r, PROGRAM_WORDS));
    p->nstmts = 4 + below(&r, PROGRAM_STMTS - 3);
    for (unsigned i = 0; i < p->nstmts; i++)
        make_stmt(p, &r, &p->stmts[i]);
}

/* ---- showing ---- */

static void print_launch(const struct program_stmt *s, FILE *out)
{
    const struct program_kernel_info *k = &program_kernels[s->kernel];

    fprintf(out, "%s(%" PRIu32 ", %" PRIu32 ")(", k->name, s->blocks, s->threads);
    for (unsigned i = 0; i < k->narrays; i++)
        fprintf(out, "a%u, ", s->arrays[i]);
    fprintf(out, "n=%" PRIu32 ", rounds=%" PRIu32 ")%s\n", s->count, s->value,
            s->loose ? " loose" : "");
}

void program_print(const struct program *p, FILE *out)
{
    static const char *const names[STMT_KINDS] = {"launch",    "read",  "write",
                                                  "overwrite", "renew", "work"};

    fprintf(out, "program %" PRIu64 ":", p->seed);
    for (unsigned i = 0; i < PROGRAM_ARRAYS; i++)
        fprintf(out, " a%u[%" PRIu32 "]", i, p->size[i]);
    fprintf(out, "\n");
    for (unsigned i = 0; i < p->nstmts; i++) {
        const struct program_stmt *s = &p->stmts[i];

        fprintf(out, "%3u  ", i);
        if (s->kind == STMT_LAUNCH)
            print_launch(s, out);
        else if (s->kind == STMT_WORK)
            fprintf(out, "work %" PRIu32 " ns\n", s->value);
        else
            fprintf(out, "%s a%u[%" PRIu32 " + %" PRIu32 "] %" PRIu32 "\n", names[s->kind],
                    s->arrays[0], s->first, s->count, s->value);
    }
}

/* ---- values ---- */

static void launch_values(const struct program_stmt *s, struct program_values *v)
{
    uint32_t *x = v->words[s->arrays[0]], *y = v->words[s->arrays[1]], *z = v->words[s->arrays[2]];

    for (uint32_t i = 0; i < s->count; i++) {
        switch (s->kernel) {
        case PROGRAM_STEP:
            x[i] = 5 * x[i] + 3;
            break;
        case PROGRAM_ADD:
            y[i] = y[i] + 3 * x[i];
            break;
        case PROGRAM_MIX:
            z[i] = z[i] ^ (x[i] + 2 * y[i]);
            break;
        default:
            y[0] = y[0] + x[i];
        }
    }
}

uint64_t program_digest(const uint32_t *words, uint32_t count)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (uint32_t i = 0; i < count; i++)
        h = (h ^ words[i]) * UINT64_C(0x100000001b3);
    return h;
}

void program_values(const struct program *p, struct program_values *v)
{
    memset(v, 0, sizeof *v);
    for (unsigned i = 0; i < p->nstmts; i++) {
        const struct program_stmt *s = &p->stmts[i];
        uint32_t *words = v->words[s->arrays[0]];

        switch (s->kind) {
        case STMT_LAUNCH:
            launch_values(s, v);
            break;
        case STMT_READ:
            v->reads[i] = program_digest(words + s->first, s->count);
            break;
        case STMT_WRITE:
        case STMT_OVERWRITE:
            for (uint32_t k = 0; k < s->count; k++)
                words[s->first + k] = s->value + k;
            break;
        case STMT_RENEW:
            memset(words, 0, sizeof v->words[0]);
            break;
        default:
            break;
        }
    }
}
