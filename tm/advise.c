/* The decision between detectors and serialisations: the rows of the table in tm/README.md, first match first. */
#include "tm/advise.h"

enum { ASCENDING_SINGLE, DESCENDING_SINGLE, ASCENDING_MULTIPLE, DESCENDING_MULTIPLE };

enum { FILTER_BITS = 8, BANK_WORDS_MAX = 4 };

/*
 * From the training points of tests/tm/heldout.json: of their runs with dcd-sm, 6.6 lanes and more abort for one that commits where dcd is the
 * faster, and at most 2.9 where dcd-sm is.
 */
static const double CONTENDED = 4.4;
static const double FALSE_RATE_MAX = 0.2, SERIAL_MIN = 0.01, LOCKS_ABORTS = 10, LOCKS_GROUP = 0.3;

const char *const tm_reason_docs[TM_NUM_REASONS] = {
    [TM_BY_REGISTERS] = "the registers of signatures would lower the occupancy: a directory",
    [TM_BY_READERS] = "lanes may read without writing: readers must not meet each other",
    [TM_BY_FOOTPRINT] = "many words or aliases: a directory, which has none",
    [TM_BY_CONTENTION] = "many lanes lose to writers: conflicts must show at the read",
    [TM_BY_READ_SET] = "words are read that are not written: readers must not meet each other",
    [TM_BY_CHANGES] = "few words, and all that are read are written: conflicts show at the read",
    [TM_BY_RARE_SERIAL] = "hardly an attempt is serialised",
    [TM_BY_READ_ONLY] = "lanes that only read go well together",
    [TM_BY_CONFLICTS] = "selected lanes would meet again",
    [TM_BY_NOTHING] = "nothing speaks against the simplest",
};

static double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static double power(double x, uint64_t n)
{
    double y = 1;

    for (; n; n >>= 1, x *= x)
        if (n & 1)
            y *= x;
    return y;
}

static bool was_profiled(const struct tm_known *k)
{
    return k->profile.begins > 0;
}

/* The distinct words that the filters tell apart: 8 rows of the banks. Less local memory has no aliases. */
static double predicted_false(const struct tm_known *k)
{
    uint64_t words = k->lds_bytes / 4, apart = (uint64_t)FILTER_BITS * k->banks,
             marked = (uint64_t)(k->facts.reads + k->facts.writes) * (k->items ? k->items - 1 : 0);
    double alias;

    if (words <= apart)
        return 0;
    alias = 1 - (double)apart / (double)words; /* of those in one filter bit, the other words */
    return (1 - power(1 - 1 / (double)apart, marked)) * alias;
}

static bool keeps_occupancy(const struct tm_known *k, unsigned detector)
{
    return k->groups[detector] > 0 && k->groups[detector] >= k->groups[TM_DCD];
}

static bool is_large(const struct tm_known *k, double false_rate)
{
    return k->facts.unbounded || false_rate > FALSE_RATE_MAX ||
           k->facts.reads + k->facts.writes > BANK_WORDS_MAX * k->banks;
}

static bool is_contended(const struct tm_known *k)
{
    return ratio(k->profile.aborts, k->profile.commits) > CONTENDED;
}

/* Without a run, by what the code says. */
static unsigned best_directory(const struct tm_known *k)
{
    if (was_profiled(k))
        return is_contended(k) ? TM_DCD : TM_DCD_SM;
    return k->facts.changes_all ? TM_DCD : TM_DCD_SM;
}

static void set_detector(struct tm_advice *a, unsigned detector, enum tm_reason why)
{
    a->detector = detector;
    a->why_detector = why;
}

static void choose_detector(const struct tm_known *k, struct tm_advice *a)
{
    bool prw = keeps_occupancy(k, TM_PRW_SIG), swo = keeps_occupancy(k, TM_SWO_SIG),
         changes = k->facts.changes_all;
    unsigned directory = best_directory(k);

    if (!prw && !swo)
        set_detector(a, directory, TM_BY_REGISTERS);
    else if (is_large(k, a->false_rate))
        set_detector(a, directory, TM_BY_FOOTPRINT);
    else if (is_contended(k) && !changes)
        set_detector(a, TM_DCD, TM_BY_CONTENTION);
    else if (k->facts.reads_only)
        set_detector(a, swo ? TM_SWO_SIG : TM_DCD_SM, TM_BY_READERS);
    else if (!changes)
        set_detector(a, swo ? TM_SWO_SIG : TM_DCD_SM, TM_BY_READ_SET);
    else
        set_detector(a, prw ? TM_PRW_SIG : TM_DCD, TM_BY_CHANGES);
}

static void set_serialise(struct tm_advice *a, unsigned serialise, enum tm_reason why)
{
    a->serialise = serialise;
    a->why_serialise = why;
}

static void choose_serialise(const struct tm_known *k, struct tm_advice *a)
{
    const struct tm_profile *p = &k->profile;

    if (k->facts.reads_only && k->facts.writes == 0)
        set_serialise(a, ASCENDING_MULTIPLE, TM_BY_READ_ONLY);
    else if (!was_profiled(k))
        set_serialise(a, ASCENDING_SINGLE, TM_BY_NOTHING);
    else if (ratio(p->wave_serial + p->group_serial, p->begins) < SERIAL_MIN)
        set_serialise(a, ASCENDING_SINGLE, TM_BY_RARE_SERIAL);
    else
        set_serialise(a, ASCENDING_SINGLE, TM_BY_CONFLICTS);
}

struct tm_advice tm_advise(const struct tm_known *known)
{
    const struct tm_profile *p = &known->profile;
    struct tm_advice a = {.false_rate = predicted_false(known)};

    choose_detector(known, &a);
    choose_serialise(known, &a);
    a.locks = ratio(p->aborts, p->commits) > LOCKS_ABORTS &&
              ratio(p->group_cycles, p->cycles) > LOCKS_GROUP;
    return a;
}
