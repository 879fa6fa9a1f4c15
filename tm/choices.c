#include "tm/tm.h"

#define END                                                                                        \
    {                                                                                              \
        NULL, NULL                                                                                 \
    }

const struct param_choice tm_helper_choices[] = {
    {"per-bank", "32 bits of write signature for each bank: a scalar register a bank"},
    {"per-wavefront", "32 bits of write signature that hash row and bank: one scalar register"},
    END,
};

const struct param_choice tm_wg_hold_choices[] = {
    {"attempt", "the token goes back when the attempt of its one lane has committed"},
    {"wavefront", "the token is kept, lane after lane, until the transaction has committed"},
    END,
};

const struct param_choice tm_dcd_release_choices[] = {
    {"exact", "a record knows its readers, and forgets each one as it ends"},
    {"epoch", "a shared record stays until every attempt that ran while it was shared has ended"},
    END,
};

const struct param_choice tm_mcm_source_choices[] = {
    {"owner", "the owner record alone; without one the lane stays selected"},
    {"match", "without an owner record, the lanes of this wavefront that matched"},
    END,
};

const struct param_choice tm_multi_fail_choices[] = {
    {"wg", "any conflict among selected lanes leads to work-group serialisation"},
    {"wf", "conflicts within the wavefront lead to the selection of one lane first"},
    END,
};

const struct param_choice tm_global_store_choices[] = {
    {"trap", "a global store or atomic in a transaction ends the run"},
    {"allow", "it takes effect at once, in each attempt, aborted ones too"},
    END,
};

const struct param_choice tm_abort_model_choices[] = {
    {"log", "an abort reads the list of its words"},
    {"scan", "an abort reads all owner records, row by row"},
    {"ideal", "an abort takes no time"},
    END,
};
