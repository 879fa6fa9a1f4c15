/* Figures 2, 3 and 4 of the paper on GrCUDA's scheduler (Parravicini et al., IPDPS 2021): dependency sets after each call, and streams. */
#include "tests/rt/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct step {
    const char *call, *sets;
};

static struct rig *run_steps(const struct step *steps, size_t n)
{
    struct rig *r = rig_new("um.page_faults=on host.prefetch=off");

    for (size_t i = 0; i < n; i++) {
        struct text sets = {0};

        rig_run(r, steps[i].call);
        rig_sets(r, &sets);
        assert_string_equal(text_str(&sets), steps[i].sets);
        text_free(&sets);
    }
    return r;
}

#define RUN(...)                                                                                   \
    run_steps((const struct step[]){__VA_ARGS__},                                                  \
              sizeof((const struct step[]){__VA_ARGS__}) / sizeof(struct step))

static void expect(struct rig *r, const char *edges, const char *schedule)
{
    assert_string_equal(text_str(&r->edge_text), edges);
    assert_string_equal(text_str(&r->schedule), schedule);
    assert_int_equal(hd_finish(r->rt, NULL), HD_OK);
    rig_check_order(r, edges);
    rig_free(r);
}

#define FIGURE_2                                                                                   \
    "FC X=r Y=w @100; NB Y=r R1=w @300; NO Y=r Z=w @100; RI Z=r R2=w @100; EN R1=r R2=r R=w @50; " \
    "read R"

/* Two branches between a first and a last kernel. */
static void test_figure_2(void **state)
{
    struct rig *r = rig_new("um.page_faults=on host.prefetch=off");
    struct rig *serial = rig_new("um.page_faults=on host.scheduler=serial-sync host.prefetch=off");

    (void)state;
    rig_run(r, FIGURE_2);
    rig_run(serial, FIGURE_2);
    assert_true(rig_stmt(r, "NO")->hb.start_ps < rig_stmt(r, "NB")->hb.end_ps);
    assert_true(rig_stmt(r, "RI")->hb.end_ps < rig_stmt(r, "NB")->hb.end_ps);
    assert_true(hd_host_time(r->rt) < hd_host_time(serial->rt));
    assert_string_equal(text_str(&serial->schedule), "FC S0; NB S0; NO S0; RI S0; EN S0; read R");
    rig_free(serial);
    expect(r, "FC->NB[Y] FC->NO[Y] NO->RI[Z] NB->EN[R1] RI->EN[R2] EN->read R[R]",
           "FC S1; NB S1; NO S2 wait FC; RI S2; EN S1 wait RI; read R: sync S1");
}

/* A: a reader leaves the writer's set as it is. */
static void test_figure_3_a(void **state)
{
    (void)state;
    expect(RUN({"K1 X=w Y=w", "K1{X,Y}"}, {"K2 X=r Z=w", "K1{X,Y} K2{X,Z}"}), "K1->K2[X]",
           "K1 S1; K2 S1");
}

/* B: a second writer waits for the reader only, and takes X out of both sets. */
static void test_figure_3_b(void **state)
{
    (void)state;
    expect(RUN({"K1 X=w Y=w", "K1{X,Y}"}, {"K2 X=r Z=w", "K1{X,Y} K2{X,Z}"},
               {"K3 X=w W=w", "K1{Y} K2{Z} K3{X,W}"}),
           "K1->K2[X] K2->K3[X]", "K1 S1; K2 S1; K3 S1");
}

/* C: a second reader depends on the writer alone, on a stream of its own. */
static void test_figure_3_c(void **state)
{
    (void)state;
    expect(RUN({"K1 X=w Y=w", "K1{X,Y}"}, {"K2 X=r Z=w", "K1{X,Y} K2{X,Z}"},
               {"K3 X=r W=w", "K1{X,Y} K2{X,Z} K3{X,W}"}),
           "K1->K2[X] K1->K3[X]", "K1 S1; K2 S1; K3 S2 wait K1");
}

/* As the text goes on from C: one more reader depends on K1, a writer on both readers, and all sets change. */
static void test_figure_3_after_c(void **state)
{
    (void)state;
    expect(RUN({"K1 X=w Y=w; K2 X=r Z=w; K3 X=r W=w", "K1{X,Y} K2{X,Z} K3{X,W}"},
               {"K4 X=r V=w", "K1{X,Y} K2{X,Z} K3{X,W} K4{X,V}"}),
           "K1->K2[X] K1->K3[X] K1->K4[X]", "K1 S1; K2 S1; K3 S2 wait K1; K4 S3 wait K1");
    expect(RUN({"K1 X=w Y=w; K2 X=r Z=w; K3 X=r W=w", "K1{X,Y} K2{X,Z} K3{X,W}"},
               {"K4 X=w V=w", "K1{Y} K2{Z} K3{W} K4{X,V}"}),
           "K1->K2[X] K1->K3[X] K2->K4[X] K3->K4[X]", "K1 S1; K2 S1; K3 S2 wait K1; K4 S1 wait K3");
}

/* VEC: two streams, one event; the read of Z ends all, and nothing depends on them any more. */
static void test_figure_4(void **state)
{
    (void)state;
    expect(RUN({"K1a X=w", "K1a{X}"}, {"K1b Y=w", "K1a{X} K1b{Y}"},
               {"K2 X=r Y=r Z=w", "K1a{X} K1b{Y} K2{X,Y,Z}"}, {"read Z", ""}, {"K3 X=w", "K3{X}"}),
           "K1a->K2[X] K1b->K2[Y] K2->read Z[Z]",
           "K1a S1; K1b S2; K2 S1 wait K1b; read Z: sync S1; K3 S3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figure_2),         cmocka_unit_test(test_figure_3_a),
        cmocka_unit_test(test_figure_3_b),       cmocka_unit_test(test_figure_3_c),
        cmocka_unit_test(test_figure_3_after_c), cmocka_unit_test(test_figure_4),
    };

    return cmocka_run_group_tests_name("figures", tests, NULL, NULL);
}
