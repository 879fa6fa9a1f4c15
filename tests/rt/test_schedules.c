/*
 * The schedules of the six benchmarks: edges, streams, waits and what each host access waits for. Expected texts were worked
 * out by hand from the rules in host/rt/README.md and agree with GrCUDA's own mock tests in the counts of streams.
 */
#include "tests/rt/benchmarks.h"
#include "tests/rt/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#define IMG_EDGES_HEAD                                                                             \
    "blurS->sobS[bS] blurL->sobL[bL] sobL->max[mL] sobL->min[mL] max->ext[mL+mx] min->ext[mL+mn] "

#define IMG_EDGES_MIDDLE "blurS->uns[image] blurL->uns[image] blurU->uns[image+bU] "

static const struct schedule {
    const char *name, *settings, *program, *edges, *schedule;
    unsigned streams, waits;
} schedules[] = {
    {"VEC", "", VEC_CODE, "sq1->red[x1] sq2->red[y1] red->read res[res]",
     "sq1 S1; sq2 S2; red S1 wait sq2; read res: sync S1", 2, 1},
    {"B&S", "", BS_CODE, "b0->read y0[y0] b1->read y1[y1] b9->read y9[y9]",
     "b0 S1; b1 S2; b2 S3; b3 S4; b4 S5; b5 S6; b6 S7; b7 S8; b8 S9; b9 S10; "
     "read y0: sync S1; read y1: sync S2; read y9: sync S10",
     10, 0},
    {"IMG as in Python", "", IMG_PYTHON,
     IMG_EDGES_HEAD IMG_EDGES_MIDDLE "ext->comb1[mL] uns->comb1[iu] sobS->comb2[bS+mS] "
                                     "comb1->comb2[i2] comb2->read i3[i3]",
     "blurS S1; blurL S2; blurU S3; sobS S1; sobL S2; max S2; min S4 wait sobL; ext S2 wait min; "
     "uns S3 wait blurS,blurL; comb1 S2 wait uns; comb2 S1 wait comb1; read i3: sync S1",
     4, 6},
    {"IMG const", "", IMG_CONST,
     IMG_EDGES_HEAD "blurU->uns[bU] ext->comb1[mL] uns->comb1[iu] sobS->comb2[mS] comb1->comb2[i2] "
                    "comb2->read i3[i3]",
     "blurS S1; blurL S2; blurU S3; sobS S1; sobL S2; max S2; min S4 wait sobL; ext S2 wait min; "
     "uns S3; comb1 S2 wait uns; comb2 S1 wait comb1; read i3: sync S1",
     4, 4},
    {"IMG with resets", "", IMG_RESETS,
     "reset0->reset1[i3] " IMG_EDGES_HEAD IMG_EDGES_MIDDLE
     "ext->comb1[mL] uns->comb1[iu] reset1->comb2[i3] sobS->comb2[bS+mS] comb1->comb2[i2] "
     "comb2->read i3[i3]",
     "reset0 S1; reset1 S1; blurS S2; blurL S3; blurU S4; sobS S2; sobL S3; max S3; "
     "min S5 wait sobL; ext S3 wait min; uns S4 wait blurS,blurL; comb1 S3 wait uns; "
     "comb2 S1 wait sobS,comb1; read i3: sync S1",
     5, 7},
    {"ML", "", ML_CODE,
     "rr1->rr2[z] nb1->nb2[r1] nb2->nb3[r1+amax] rr2->rr3[r2] nb3->nb4[r1+l] nb4->sm1[r1] "
     "rr3->sm2[r2] sm1->argmax[r1] sm2->argmax[r2] argmax->read r[r]",
     "rr1 S1; nb1 S2; rr2 S1; nb2 S2; nb3 S2; rr3 S1; nb4 S2; sm1 S2; sm2 S1; "
     "argmax S2 wait sm2; read r: sync S2",
     2, 1},
    {"ML no-const", "host.dependency=no-const", ML_CODE,
     "rr1->nb1[x] rr1->rr2[z] nb1->nb2[r1] nb2->nb3[r1+amax] rr2->rr3[r2] nb3->nb4[r1+l] "
     "nb4->sm1[r1] rr3->sm2[r2] sm1->argmax[r1] sm2->argmax[r2] argmax->read r[r]",
     "rr1 S1; nb1 S1; rr2 S2 wait rr1; nb2 S1; nb3 S1; rr3 S2; nb4 S1; sm1 S1; sm2 S2; "
     "argmax S1 wait sm2; read r: sync S1",
     2, 2},
    {"HITS", "", HITS_CODE ";" HITS_CODE "; read auth1; read hub1",
     "spA->sumA[auth2] spH->sumH[hub2] spH->divA[auth1] sumA->divA[auth2+an] spA->divH[hub1] "
     "sumH->divH[hub2+hn] divA->write an[an] divH->write hn[hn] "
     "spA->sumA[auth2] spH->sumH[hub2] spH->divA[auth1] sumA->divA[auth2+an] spA->divH[hub1] "
     "sumH->divH[hub2+hn] divA->write an[an] divH->write hn[hn]",
     "spA S1; spH S2; sumA S1; sumH S2; divA S1 wait spH; divH S2 wait spA; write an: sync S1; "
     "write hn: sync S2; write rc1; write rc2; spA S3; spH S4; sumA S3; sumH S4; divA S3 wait spH; "
     "divH S4 wait spA; write an: sync S3; write hn: sync S4; write rc1; write rc2; "
     "read auth1; read hub1",
     4, 4},
    {"DL", "", DL_CODE,
     "cx1->px[x1] cy1->py[y1] px->cx2[x11] py->cy2[y11] cx2->cat[x2] cy2->cat[y2] cat->dot[z] "
     "dot->read res[res]",
     "cx1 S1; cy1 S2; px S1; py S2; cx2 S1; cy2 S2; cat S1 wait cy2; dot S1; read res: sync S1", 2,
     1},
};

/* The configuration that the paper measures, and every choice is documented. */
static void test_defaults(void **state)
{
    static const struct param_choice *const lists[] = {
        rt_choices_scheduler,     rt_choices_dependency,     rt_choices_new_stream,
        rt_choices_parent_stream, rt_choices_default_stream, rt_choices_profile};
    struct hd_options o;

    (void)state;
    hd_options_default(&o);
    assert_string_equal(rt_choices_scheduler[o.host.scheduler].name, "parallel-async");
    assert_string_equal(rt_choices_dependency[o.host.dependency].name, "with-const");
    assert_string_equal(rt_choices_new_stream[o.host.new_stream].name, "always-new");
    assert_string_equal(rt_choices_parent_stream[o.host.parent_stream].name, "disjoint");
    assert_true(o.host.prefetch);
    assert_false(o.host.stream_attach);
    assert_string_equal(rt_choices_profile[o.host.profile].name, "native");
    assert_string_equal(rt_choices_default_stream[o.host.default_stream].name, "legacy");
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        for (const struct param_choice *c = lists[i]; c->name; c++)
            assert_true(strlen(c->doc) > 10);
    }
}

static void run_schedule(const struct schedule *s)
{
    struct rig *r = rig_new(s->settings);

    rig_run(r, s->program);
    assert_string_equal(text_str(&r->edge_text), s->edges);
    assert_string_equal(text_str(&r->schedule), s->schedule);
    assert_int_equal(rig_streams_used(r), s->streams);
    assert_int_equal(r->nwaits, s->waits);
    assert_int_equal(hd_finish(r->rt, NULL), HD_OK);
    rig_check_order(r, s->name);
    rig_free(r);
}

static void test_benchmark_schedules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof schedules / sizeof schedules[0]; i++)
        run_schedule(&schedules[i]);
}

/* With page faults and no attachment, which is Pascal and later, the choices are the same. */
static void test_schedules_do_not_depend_on_attachment(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof schedules / sizeof schedules[0]; i++) {
        struct schedule s = schedules[i];
        char settings[128];

        snprintf(settings, sizeof settings, "%s um.page_faults=on host.prefetch=off", s.settings);
        s.settings = settings;
        run_schedule(&s);
    }
}

static void test_stream_counts_by_policy(void **state)
{
    static const struct {
        const char *program, *dependency, *parent;
        size_t streams;
    } rows[] = {
        {IMG_PYTHON, "with-const", "disjoint", 4},
        {IMG_PYTHON, "no-const", "disjoint", 3},
        {IMG_PYTHON, "with-const", "same-as-parent", 3},
        {IMG_PYTHON, "no-const", "same-as-parent", 1},
        {ML_CODE, "no-const", "same-as-parent", 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char settings[128];
        struct rig *r;

        snprintf(settings, sizeof settings, "host.dependency=%s host.parent_stream=%s",
                 rows[i].dependency, rows[i].parent);
        r = rig_new(settings);
        rig_run(r, rows[i].program);
        assert_int_equal(rig_streams_used(r), rows[i].streams);
        assert_int_equal(hd_finish(r->rt, NULL), HD_OK);
        rig_check_order(r, settings);
        /* The final read has finished all: every stream is free, and those of always-new are gone. */
        assert_int_equal(r->rt->streams.nactive, 0);
        assert_int_equal(r->rt->streams.automatic, 0);
        rig_free(r);
    }
}

/* Two streams, whatever the policies; from the third iteration on same-as-parent is on one of them. */
#define HITS_MOCK                                                                                  \
    "sA a1=r a2=w; sH a3=r a4=w; nA a2=r a5=w; nH a4=r a6=w; dA a2=r a5=r a3=w; dH a4=r a6=r "     \
    "a1=w;"

static void hits_mock(const char *dependency, const char *new_stream, const char *parent)
{
    char settings[128];
    struct rig *r;
    size_t first;

    snprintf(settings, sizeof settings,
             "host.dependency=%s host.new_stream=%s host.parent_stream=%s", dependency, new_stream,
             parent);
    r = rig_new(settings);
    rig_run(r, HITS_MOCK HITS_MOCK);
    first = r->nodes.len;
    for (int i = 2; i < 10; i++)
        rig_run(r, HITS_MOCK);
    for (size_t i = first + 1; i < r->nodes.len && strcmp(parent, "same-as-parent") == 0; i++)
        assert_int_equal(r->nodes.at[i].stream, r->nodes.at[first].stream);
    rig_run(r, "read a3; read a1");
    assert_int_equal(rig_streams_used(r), 2);
    assert_int_equal(r->rt->streams.nactive, 0);
    assert_int_equal(hd_finish(r->rt, NULL), HD_OK);
    rig_check_order(r, settings);
    rig_free(r);
}

static void test_hits_mock_takes_two_streams(void **state)
{
    static const char *const dependencies[] = {"with-const", "no-const"};
    static const char *const new_streams[] = {"always-new", "fifo", "reuse"};
    static const char *const parents[] = {"disjoint", "same-as-parent"};

    (void)state;
    for (size_t i = 0; i < 12; i++)
        hits_mock(dependencies[i % 2], new_streams[i / 4], parents[i / 2 % 2]);
}

static void test_hits_reuses_two_streams(void **state)
{
    static const char *const policies[] = {"reuse", "fifo"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char settings[64];
        struct rig *r;

        snprintf(settings, sizeof settings, "host.new_stream=%s", policies[i]);
        r = rig_new(settings);
        rig_run(r, HITS_CODE ";" HITS_CODE ";" HITS_CODE);
        assert_int_equal(rig_streams_used(r), 2);
        assert_int_equal(r->rt->streams.automatic, 2);
        rig_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_benchmark_schedules),
        cmocka_unit_test(test_schedules_do_not_depend_on_attachment),
        cmocka_unit_test(test_stream_counts_by_policy),
        cmocka_unit_test(test_hits_mock_takes_two_streams),
        cmocka_unit_test(test_hits_reuses_two_streams),
    };

    return cmocka_run_group_tests_name("schedules", tests, NULL, NULL);
}
