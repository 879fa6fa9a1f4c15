/* The six benchmarks as programs of rig.h: kernels in the order of the published host programs, with what their arguments declare. */
#ifndef HD_TESTS_RT_BENCHMARKS_H
#define HD_TESTS_RT_BENCHMARKS_H

#include <stddef.h>

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

struct benchmark_program {
    const char *name, *program;
};

static const struct benchmark_program benchmarks[] = {
    {"VEC", VEC_CODE},
    {"B&S", BS_CODE},
    {"IMG as in Python", IMG_PYTHON},
    {"IMG const", IMG_CONST},
    {"IMG with resets", IMG_RESETS},
    {"ML", ML_CODE},
    {"HITS", HITS_CODE ";" HITS_CODE "; read auth1; read hub1"},
    {"DL", DL_CODE},
};
static const size_t nbenchmarks = sizeof benchmarks / sizeof benchmarks[0];

#endif
