/* The lists of detectors and of serialisations, ordered by hand. The number of a row is its value in tm_params. */
#include "tm/detector.h"

#define TM_DETECTORS(_)                                                                            \
    _(prw_sig, "prw-sig",                                                                          \
      "filters of reads and writes together, private to a work-item; any match is a conflict")     \
    _(swo_sig, "swo-sig",                                                                          \
      "the same with a write signature of each wavefront beside; loads meet writers only")         \
    _(dcd, "dcd", "a directory in shadow memory: a word belongs to the first who touches it")      \
    _(dcd_sm, "dcd-sm", "a directory with shared and modified words: readers share")

#define TM_SERIALISATIONS(_)                                                                       \
    _("ascending-single", "one lane at a time, the lowest first", false, false)                    \
    _("descending-single", "one lane at a time, the highest first", true, false)                   \
    _("ascending-multiple", "the lanes that lost to no lower one together", false, true)           \
    _("descending-multiple", "the lanes that lost to no higher one together", true, true)

#define OPS(id, name, doc) &tm_##id,
#define CHOICE(id, name, doc) {name, doc},
#define ORDER(name, doc, descending, multiple) {descending, multiple},
#define ORDER_CHOICE(name, doc, descending, multiple) {name, doc},

const struct tm_detector *const tm_detectors[] = {TM_DETECTORS(OPS) NULL};

const struct param_choice tm_detector_choices[] = {TM_DETECTORS(CHOICE){NULL, NULL}};

const struct tm_order tm_orders[] = {TM_SERIALISATIONS(ORDER)};

const struct param_choice tm_serialise_choices[] = {TM_SERIALISATIONS(ORDER_CHOICE){NULL, NULL}};
