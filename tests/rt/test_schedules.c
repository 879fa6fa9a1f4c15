/*
 * The schedules of the six benchmarks: edges, streams, waits and what each host access waits for. Expected texts were worked
 * out by hand from the rules in host/rt/README.md and agree with GrCUDA's own mock tests in the counts of streams.
 */
#include "tests/rt/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>

#define VEC_CODE "sq1 x=w x1=w; sq2 y=w y1=w; red x1=r y1=r res=w; read res"

#define BS_CODE                                                                                    \
    "b0 x0=r y0=w; b1 x1=r y1=w; b2 x2=r y2=w; b3 x3=r y3=w; b4 x4=r y4=w; b5 x5=r y5=w;"          \
    "b6 x6=r y6=w; b7 x7=r y7=w; b8 x8=r y8=w; b9 x9=r y9=w;"                                      \
    "read y0; read y1; read y9"

#define IMG_BLURS "blurS image=r bS=w kS=r; blurL image=r bL=w kL=r; blurU image=r bU=w kU=r;"
#define IMG_TAIL "comb1 iu=r bL=r mL=r i2=w; comb2 i2=r bS=r mS=r i3=w; read i3"
#define IMG_EXTREMES "max mL=r mx=w; min mL=r mn=w; ext mL=w mn=r mx=r;"
#define IMG_PYTHON                                                                                 \
    IMG_BLURS "sobS bS=w mS=w; sobL bL=w mL=w;" IMG_EXTREMES "uns image=w bU=w iu=w;" IMG_TAIL
#define IMG_CONST                                                                                  \
    IMG_BLURS "sobS bS=r mS=w; sobL bL=r mL=w;" IMG_EXTREMES "uns image=r bU=r iu=w;" IMG_TAIL
#define IMG_RESETS "reset0 i3=w; reset1 i3=w;" IMG_PYTHON

#define ML_CODE                                                                                    \
    "rr1 x=r z=w; nb1 x=r flp=w r1=w; rr2 z=w rc=w r2=w; nb2 r1=w amax=w; nb3 r1=w amax=w l=w;"    \
    "rr3 r2=w ic=w; nb4 r1=w l=w; sm1 r1=w; sm2 r2=w; argmax r1=w r2=w r=w; read r"

#define HITS_CODE                                                                                  \
    "spA rc1=w p2=w i2=w v2=w hub1=w auth2=w; spH rc2=w p=w i=w v=w auth1=w hub2=w;"               \
    "sumA auth2=w an=w; sumH hub2=w hn=w; divA auth2=w auth1=w an=w; divH hub2=w hub1=w hn=w;"     \
    "write an; write hn; write rc1; write rc2"

#define DL_CODE                                                                                    \
    "cx1 x1=w x=w k1=r; cy1 y1=w y=w k3=r; px x11=w x1=r; py y11=w y1=r; cx2 x2=w x11=w k2=r;"     \
    "cy2 y2=w y11=w k4=r; cat z=w x2=r y2=r; dot z=r dw=r res=w; read res"

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
        cmocka_unit_test(test_benchmark_schedules),
        cmocka_unit_test(test_schedules_do_not_depend_on_attachment),
        cmocka_unit_test(test_stream_counts_by_policy),
        cmocka_unit_test(test_hits_reuses_two_streams),
    };

    return cmocka_run_group_tests_name("schedules", tests, NULL, NULL);
}
