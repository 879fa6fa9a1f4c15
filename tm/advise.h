/* Which detector and serialisation suit the transactions of a kernel. A pure function of what is known of it. */
#ifndef HD_TM_ADVISE_H
#define HD_TM_ADVISE_H

#include "isa/isa.h"
#include "tm/tm.h"

enum { TM_PRW_SIG, TM_SWO_SIG, TM_DCD, TM_DCD_SM, TM_NUM_DETECTORS }; /* rows of the registry */

/* What a run with transactions counted; all 0: there was none. */
struct tm_profile {
    uint64_t commits, aborts;                                      /* lanes */
    uint64_t true_conflicts, false_conflicts, read_read_conflicts; /* lanes */
    uint64_t begins, wave_serial, group_serial;                    /* attempts */
    uint64_t cycles,
        group_cycles; /* wavefront-cycles in transactions; in the work-group's serialisation */
};

struct tm_known {
    struct isa_tx_facts facts;
    uint32_t groups[TM_NUM_DETECTORS]; /* work-groups a compute unit holds with each; 0: it does not fit */
    uint32_t groups_without;           /* and without any */
    uint32_t items, banks;             /* of a work-group; of local memory */
    uint64_t lds_bytes;
    struct tm_profile profile;
};

/* Rows of the table in tm/README.md. */
enum tm_reason {
    TM_BY_REGISTERS,
    TM_BY_READERS,
    TM_BY_FOOTPRINT,
    TM_BY_CONTENTION,
    TM_BY_READ_SET,
    TM_BY_CHANGES,
    TM_BY_RARE_SERIAL,
    TM_BY_READ_ONLY,
    TM_BY_CONFLICTS,
    TM_BY_NOTHING,
    TM_NUM_REASONS,
};
extern const char *const tm_reason_docs[TM_NUM_REASONS];

struct tm_advice {
    uint32_t detector, serialise; /* rows of the registry */
    enum tm_reason why_detector, why_serialise;
    bool locks;        /* a lock is likely to be faster; only known from a run */
    double false_rate; /* expected of an access of the signatures, by aliases alone */
};

/*
 * The choice; the static part alone if no run is known. The run must have had dcd-sm, whose conflicts are those of the program, and
 * ascending-single.
 */
struct tm_advice tm_advise(const struct tm_known *known);

#endif
