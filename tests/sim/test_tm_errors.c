/* What kernels with transactions must not do, and machines that cannot run them: status, code, place, lane. */
#include "tests/sim/tm_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A kernel of some lines of local memory and body. */
static const char *kernel(char *out, size_t size, unsigned local, const char *head, const char *body)
{
    snprintf(out, size,
             ".kernel k\n%s.param out u32[]\n.local c %u\n    v_get_u32 v1, %%tid\n%s    s_end\n"
             ".endkernel\n",
             head, local, body);
    return out;
}

static enum hd_status try(struct krig *r, const char *text, uint32_t threads)
{
    uint32_t out = krig_array(r, 1024);

    return krig_try_run(
        r, &(struct krig_launch){
               .text = text, .threads = threads, .nargs = 1, .args = {KRIG_ARRAY(out)}});
}

/* What the verifier cannot know: lane 3 is the first that does it. */
static void test_forbidden(void **state)
{
    static const struct {
        const char *line, *code;
    } rows[] = {
        {"    @m0 global_store_b32 [out + v1*4], v1\n", "tx-global-store"},
        {"    @m0 global_atomic_add_u32 [out], v1\n", "tx-global-store"},
    };
    char text[1024], body[512];
    struct krig r;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(body, sizeof body, "    v_cmp_ge_u32 m0, v1, 3\n    tx.begin\n%s    tx.commit\n",
                 rows[i].line);
        krig_open(&r, NULL);
        assert_int_equal(try(&r, kernel(text, sizeof text, 64, "", body), 32), HD_SIM_FAILED);
        assert_string_equal(r.err.code, rows[i].code);
        assert_non_null(strstr(r.err.place, "test.hasm:7"));
        assert_non_null(strstr(r.err.place, "lane 3"));
        krig_close(&r);
    }
}

static void test_global_store_allowed(void **state)
{
    char text[1024];
    struct krig r;

    (void)state;
    krig_open(&r, "tm.global_store", "allow", NULL);
    assert_int_equal(
        try(&r,
            kernel(text, sizeof text, 64, "",
                   "    tx.begin\n    global_store_b32 [out + v1*4], v1\n    tx.commit\n"),
            32),
        HD_OK);
    krig_close(&r);
}

/* A goto whose lanes sleep past the commit: found where the commit is. */
static void test_asleep(void **state)
{
    char text[1024];
    struct krig r;

    (void)state;
    krig_open(&r, "divergence.unit", "exec-mask", NULL);
    assert_int_equal(try(&r,
                         kernel(text, sizeof text, 64, ".form exec\n",
                                "    tx.begin\n    v_cmp_lt_u32 vcc, v1, 4\n"
                                "    m_and exec, exec, vcc\n    tx.commit\n"),
                         32),
                     HD_SIM_FAILED);
    assert_string_equal(r.err.code, "tx-asleep");
    assert_non_null(strstr(r.err.place, "lane 4"));
    krig_close(&r);
}

#define TX "    tx.begin\n    local_load_b32 v0, [c]\n    tx.commit\n"

static void refused(struct krig *r, unsigned local, uint32_t threads, const char *code)
{
    char text[1024];

    assert_int_equal(try(r, kernel(text, sizeof text, local, "", TX), threads), HD_BAD_INPUT);
    assert_string_equal(r->err.code, code);
    assert_non_null(strstr(r->err.place, "kernel k (test.hasm:1)"));
    krig_close(r);
}

/* 256 items are what 8 bits can name; with 16-bit records 25.6 KiB of 64 are left. */
static void test_machines(void **state)
{
    struct krig r;

    (void)state;
    krig_open(&r, NULL);
    refused(&r, 64, 257, "tm-capacity");
    krig_open(&r, "lds.bytes", "65536", NULL);
    refused(&r, 26368, 32, "tm-shadow");
    for (unsigned i = 0; i < 3; i++) {
        static const char *const units[] = {"simt-stack", "min-pc", "barrier"};

        krig_open(&r, "divergence.unit", units[i], NULL);
        refused(&r, 64, 32, "tm-unit");
    }
}

static void test_directives(void **state)
{
    char text[1024];
    struct krig r;

    (void)state;
    krig_open(&r, NULL);
    assert_int_equal(try(&r, kernel(text, sizeof text, 64, ".tm_detector prw-sigg\n", TX), 32),
                     HD_BAD_INPUT);
    assert_string_equal(r.err.code, "tm-directive");
    assert_non_null(strstr(r.err.hint, "prw-sig"));
    krig_close(&r);
}

struct room {
    const char *head, *detector; /* directive; --set or configuration */
    bool forced;                 /* --set */
    unsigned local;
    const char *bits;
    uint32_t groups; /* that fit an empty compute unit */
    const char *limit;
};

static void check_room(const struct room *x)
{
    char text[1024];
    struct sim_config c;
    struct krig r;

    krig_open(&r, "cu.vector_register_words", "8192", "cu.scalar_register_words", "2048",
              "cu.wavefront_slots", "32", "lds.granule", "4", "lds.bytes", "65536",
              "tm.record_bits", x->bits, "tm.detector", x->detector, NULL);
    c = r.config;
    krig_close(&r);
    c.tm_forced = x->forced ? SIM_FORCE_TM_DETECTOR : 0;
    krig_open_config(&r, &c);
    assert_int_equal(try(&r, kernel(text, sizeof text, x->local, x->head, TX), 32), HD_OK);
    assert_int_equal(r.kernels[0].groups_per_cu, x->groups);
    assert_string_equal(r.kernels[0].limit, x->limit);
    krig_close(&r);
}

/*
 * 8192 words of vector registers: 2 a lane are 64 words, a granule of 256, so that 32 wavefronts fit; 10 a lane are 320
 * words, two granules, so that 16 do. 2048 scalar registers: 34 or more are 40 of them, 51 wavefronts. Local memory:
 * 4096 bytes x 2.5 are 10240, of which 6 fit 65536; x 3 are 12288, 5; x 2.25 are 9216, 7.
 */
static void test_room(void **state)
{
    static const struct room rows[] = {
        {"", "prw-sig", false, 64, "16", 16, "vector registers"},
        {"", "swo-sig", false, 64, "16", 16, "vector registers"},
        {"", "dcd", false, 64, "16", 32, "wavefronts"},
        {"", "dcd-sm", false, 64, "16", 32, "wavefronts"},
        {".tm_detector dcd\n", "prw-sig", false, 64, "16", 32, "wavefronts"},
        {".tm_detector dcd\n", "prw-sig", true, 64, "16", 16, "vector registers"},
        {"", "dcd", false, 4096, "16", 6, "local memory"},
        {"", "dcd", false, 4096, "32", 5, "local memory"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_room(&rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forbidden),  cmocka_unit_test(test_global_store_allowed),
        cmocka_unit_test(test_asleep),     cmocka_unit_test(test_machines),
        cmocka_unit_test(test_directives), cmocka_unit_test(test_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
