/*
 * The contention-free time of the six published benchmarks' DAGs against the formulas of the paper's own evaluation script
 * (github.com/AlbertoParravicini/grcuda): there each is written out by hand as maxima and sums.
 */
#include "host/results/ideal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES_MAX = 64, ROUNDS = 100 };

/* Kernels are named by the letters of `nodes`, the host's accesses are '.'; edges are pairs of letters, or of a letter and the number of the access. */
struct shape {
    const char *name, *nodes;
    const char *edges; /* "ac bc": from a to c, from b to c; "c0": to the host's first access */
    uint64_t (*formula)(const uint64_t *t);
};

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- the formulas: t by order of the letters ----------------------------------------------------------- */

/* a, b squares, c reduce */
static uint64_t vec(const uint64_t *t)
{
    return most(t[0], t[1]) + t[2];
}

static uint64_t bs(const uint64_t *t)
{
    uint64_t longest = 0;

    for (int i = 0; i < 10; i++)
        longest = most(longest, t[i]);
    return longest;
}

/* a-c blurs (small, large, unsharpen), d, e sobel small and large, f maximum, g minimum, h extend, i unsharpen, j, k combine */
static uint64_t img(const uint64_t *t)
{
    uint64_t large = t[1] + t[4] + most(t[5], t[6]) + t[7];

    return t[10] + most(t[0] + t[3], t[9] + most(t[2] + t[8], large));
}

/* a rr_1, b nb_1, c rr_2, d nb_2, e nb_3, f rr_3, g nb_4, h softmax of nb, i softmax of rr, j argmax */
static uint64_t ml(const uint64_t *t)
{
    return most(t[0] + t[2] + t[5] + t[8], t[1] + t[3] + t[4] + t[6] + t[7]) + t[9];
}

/* Each of two rounds: a, b spmv, c, d sum, e, f divide */
static uint64_t hits(const uint64_t *t)
{
    uint64_t sum = 0;

    for (int i = 0; i < 2; i++, t += 6)
        sum += most(t[4] + most(t[0] + t[2], t[1]), t[5] + most(t[1] + t[3], t[0]));
    return sum;
}

/* a, b conv 1, c, d pool, e, f conv 2, g concat, h dot */
static uint64_t dl(const uint64_t *t)
{
    return most(t[0] + t[2] + t[4], t[1] + t[3] + t[5]) + t[6] + t[7];
}

static const struct shape shapes[] = {
    {"VEC", "abc.", "ac bc c0", vec},
    {"B&S", "abcdefghij..........", "a0 b1 c2 d3 e4 f5 g6 h7 i8 j9", bs},
    {"IMG", "abcdefghijk.", "ad be ef eg fh gh ci ij hj jk dk k0", img},
    {"ML", "abcdefghij.", "ac cf fi bd de eg gh hj ij j0", ml},
    {"HITS", "abcdef..ghijkl..", "ac bd ce be df af e0 f1 gi hj ik hk jl gl k2 l3", hits},
    {"DL", "abcdefgh.", "ac bd ce df eg fg gh h0", dl},
};

/* ---- the timeline ---------------------------------------------------------------------------------------- */

static uint64_t node_of(const struct shape *s, char name)
{
    int access = name - '0';
    const char *at = strchr(s->nodes, name);

    if (at)
        return (uint64_t)(at - s->nodes);
    for (at = s->nodes; *at; at++)
        if (*at == '.' && access-- == 0)
            return (uint64_t)(at - s->nodes);
    fail_msg("%s has no node %c", s->name, name);
    return 0;
}

static uint64_t measured(const struct shape *s, const uint64_t *times, size_t n)
{
    struct span_node nodes[NODES_MAX];
    struct span_edge edges[NODES_MAX];
    struct timeline t = {.nodes = nodes, .edges = edges};

    for (const char *at = s->nodes; *at; at++, t.nnodes++)
        nodes[t.nnodes] = (struct span_node){t.nnodes, *at == '.', true};
    for (const char *at = s->edges; *at; at += at[2] ? 3 : 2)
        edges[t.nedges++] = (struct span_edge){node_of(s, at[0]), node_of(s, at[1])};
    return contention_free(&t, times, n);
}

static void test_the_published_formulas(void **state)
{
    const unsigned seed = 20210520;

    (void)state;
    print_message("seed %u\n", seed);
    srand(seed);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int round = 0; round < ROUNDS; round++) {
            uint64_t times[NODES_MAX], wanted, got;
            size_t n = 0;

            for (const char *at = shapes[i].nodes; *at; at++)
                if (*at != '.')
                    times[n++] = (uint64_t)(rand() % 1000) + 1;
            wanted = shapes[i].formula(times);
            got = measured(&shapes[i], times, n);
            if (got != wanted)
                fail_msg("%s, round %d: %llu, wanted %llu", shapes[i].name, round,
                         (unsigned long long)got, (unsigned long long)wanted);
        }
}

/*
 * Python's signatures say that unsharpen may write the image, so that it waits for all three blurs: the chain of a blur of the small window and
 * unsharpen, which the formula leaves out, may then be the longest.
 */
static void test_the_image_with_the_edges_of_python(void **state)
{
    static const struct shape python = {"IMG", "abcdefghijk.",
                                        "ad be ef eg ai bi ci fh gh ij hj jk dk k0", NULL};
    const uint64_t times[] = {50, 1, 1, 1, 1, 1, 1, 1, 20, 3, 4};

    (void)state;
    assert_int_equal(measured(&shapes[2], times, 11), 4 + 50 + 1);
    assert_int_equal(measured(&python, times, 11), 50 + 20 + 3 + 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_published_formulas),
        cmocka_unit_test(test_the_image_with_the_edges_of_python),
    };

    return cmocka_run_group_tests_name("contention_free", tests, NULL, NULL);
}
