#include "tests/rt/programs.h"

#include "sim/base/rng.h"
#include "tests/rt/fake_sim.h"
#include "tests/rt/hb_log.h"
#include "tests/rt/rig.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- programs ------------------------------------------------------------------------------------ */

/* Half of the arguments are written. One array may be given twice. */
static void random_launch(struct rng *rng, bool by_hand, struct stmt *s)
{
    s->nargs = (uint8_t)rng_below(rng, PROGRAM_ARGS + 1);
    s->us = (uint32_t)rng_below(rng, 60) + 1;
    for (unsigned i = 0; i < s->nargs; i++) {
        s->arrays[i] = (uint8_t)rng_below(rng, PROGRAM_ARRAYS);
        s->writes[i] = rng_below(rng, 2);
    }
    if (by_hand && rng_below(rng, 4) == 0)
        s->stream = (uint8_t)(rng_below(rng, 3) + 1);
}

void program_random(uint64_t seed, size_t n, struct program *out)
{
    static const enum stmt_kind kinds[20] = {[12] = STMT_READ, STMT_READ, STMT_READ, STMT_WRITE,
                                             STMT_WRITE,       STMT_FREE, STMT_SYNC, STMT_WORK};
    struct rng rng;
    bool by_hand;

    memset(out, 0, sizeof *out);
    rng_seed(&rng, seed);
    by_hand = rng_below(&rng, 3) == 0;
    out->n = n;
    out->link_ps = rng_below(&rng, 3) * 5000;
    out->move_ps = rng_below(&rng, 2) * 7000000;
    out->profile = (uint32_t)rng_below(&rng, 2);
    for (size_t i = 0; i < n; i++) {
        struct stmt *s = &out->at[i];

        s->kind = kinds[rng_below(&rng, 20)];
        if (s->kind == STMT_LAUNCH) {
            random_launch(&rng, by_hand, s);
            continue;
        }
        s->nargs = 1;
        s->arrays[0] = (uint8_t)rng_below(&rng, PROGRAM_ARRAYS);
        s->writes[0] = s->kind != STMT_READ;
        s->us = (uint32_t)rng_below(&rng, 100);
    }
}

void program_describe(const struct program *p, struct text *out)
{
    static const char *const words[] = {"", "read", "write", "free", "sync", "work"};
    static const char *const streams[] = {"", " on s1", " on s2", " on default"};

    for (size_t i = 0; i < p->n; i++) {
        const struct stmt *s = &p->at[i];

        if (s->kind != STMT_LAUNCH) {
            text_add(out, "%s %c; ", words[s->kind], 'a' + s->arrays[0]);
            continue;
        }
        text_add(out, "k");
        for (unsigned k = 0; k < s->nargs; k++)
            text_add(out, " %c=%c", 'a' + s->arrays[k], s->writes[k] ? 'w' : 'r');
        text_add(out, "%s @%" PRIu32 "; ", streams[s->stream], s->us);
    }
    text_add(out, "(link %" PRIu64 ", move %" PRIu64 ", profile %s)", p->link_ps, p->move_ps,
             rt_choices_profile[p->profile].name);
}

/* ---- combinations -------------------------------------------------------------------------------- */

static const uint32_t limits[] = {65536, 1, 2, 3};

static uint32_t names_in(const struct param_choice *choices)
{
    uint32_t n = 0;

    while (choices[n].name)
        n++;
    return n;
}

/* Takes the last digit off a number in the base of n. */
static uint32_t digit(size_t *number, uint32_t n)
{
    uint32_t d = (uint32_t)(*number % n);

    *number /= n;
    return d;
}

struct combination combination(size_t number)
{
    struct combination c;

    c.scheduler = digit(&number, names_in(rt_choices_scheduler));
    c.dependency = digit(&number, names_in(rt_choices_dependency));
    c.new_stream = digit(&number, names_in(rt_choices_new_stream));
    c.parent_stream = digit(&number, names_in(rt_choices_parent_stream));
    c.default_stream = digit(&number, names_in(rt_choices_default_stream));
    c.max_streams = limits[digit(&number, sizeof limits / sizeof *limits)];
    c.prefetch = digit(&number, 2);
    c.attach = digit(&number, 2);
    c.faults = digit(&number, 2);
    return c;
}

size_t combinations(void)
{
    return (size_t)names_in(rt_choices_scheduler) * names_in(rt_choices_dependency) *
           names_in(rt_choices_new_stream) * names_in(rt_choices_parent_stream) *
           names_in(rt_choices_default_stream) * (sizeof limits / sizeof *limits) * 8;
}

void combination_describe(const struct combination *c, struct text *out)
{
    text_add(out, "host.scheduler=%s host.dependency=%s host.new_stream=%s host.parent_stream=%s ",
             rt_choices_scheduler[c->scheduler].name, rt_choices_dependency[c->dependency].name,
             rt_choices_new_stream[c->new_stream].name,
             rt_choices_parent_stream[c->parent_stream].name);
    text_add(out, "host.default_stream=%s host.max_streams=%" PRIu32,
             rt_choices_default_stream[c->default_stream].name, c->max_streams);
    text_add(out, " host.prefetch=%s host.stream_attach=%s um.page_faults=%s",
             c->prefetch ? "on" : "off", c->attach ? "on" : "off", c->faults ? "on" : "off");
}

/* ---- a run --------------------------------------------------------------------------------------- */

/* What became of a statement. */
struct trail {
    uint64_t node, ticket; /* of a launch */
    size_t seen;           /* of an access or free: what the host had seen then */
    uint32_t lives[PROGRAM_ARGS];
};

struct run {
    const struct program *p;
    hd_runtime *rt;
    struct sim_machine *m;
    hd_module *module;
    hd_kernel *kernels[PROGRAM_ARGS + 1][1 << PROGRAM_ARGS]; /* by arguments and which are written */
    hd_array *arrays[PROGRAM_ARRAYS];
    uint64_t values[PROGRAM_ARRAYS]; /* as they must be */
    uint32_t freed[PROGRAM_ARRAYS];
    hd_stream *streams[2];
    struct trail trail[PROGRAM_MAX];
    uint64_t nodes;
    bool concurrent;
    bool racy; /* launches on streams of its own that the scheduler leaves to the program */
    struct text *wrong;
};

static const uint64_t elements[PROGRAM_ARRAYS] = {2, 16, 1000, 2, 300};

static bool went_wrong(const struct run *r, enum hd_status status, const struct hd_error *err)
{
    if (status != HD_OK)
        text_add(r->wrong, "%s: %s", err->code, err->message);
    return status != HD_OK;
}

static void on_kernel(void *user, const struct hd_kernel_row *row)
{
    struct run *r = user;

    for (size_t i = 0; i < r->p->n; i++) {
        if (r->p->at[i].kind == STMT_LAUNCH && r->trail[i].node == row->node)
            r->trail[i].ticket = row->r.ticket;
    }
}

static struct hd_options options_of(const struct program *p, const struct combination *c)
{
    struct hd_options o;

    hd_options_default(&o);
    o.host.scheduler = c->scheduler;
    o.host.dependency = c->dependency;
    o.host.new_stream = c->new_stream;
    o.host.parent_stream = c->parent_stream;
    o.host.default_stream = c->default_stream;
    o.host.max_streams = c->max_streams;
    o.host.prefetch = c->prefetch;
    o.host.stream_attach = c->attach;
    o.host.profile = p->profile;
    o.gpu.um_page_faults = c->faults;
    return o;
}

static bool start(struct run *r, const struct combination *c, bool drop_waits)
{
    struct hd_recorder rec = {.user = r, .kernel = on_kernel};
    struct hd_options o = options_of(r->p, c);
    struct hd_error err;

    r->m = fake_new();
    fake_set_values(r->m);
    fake_set_link(r->m, r->p->link_ps);
    fake_set_move(r->m, r->p->move_ps);
    if (drop_waits)
        fake_drop_waits(r->m);
    if (went_wrong(r, rt_new_on(&o, &fake_machine, r->m, &r->rt, &err), &err) ||
        went_wrong(r, module_adopt(r->rt, "run.hasm", rig_program(), &r->module, &err), &err))
        return false;
    r->concurrent = r->rt->scheduler->concurrent;
    for (size_t i = 0; i < r->p->n && !r->concurrent && !r->rt->scheduler->host_waits; i++)
        r->racy = r->racy || r->p->at[i].stream;
    hd_set_recorder(r->rt, &rec);
    return true;
}

static hd_array *array_of(struct run *r, unsigned a)
{
    struct hd_error err;

    if (!r->arrays[a])
        went_wrong(r, hd_array_new(r->rt, T_F32, elements[a], NULL, &r->arrays[a], &err), &err);
    return r->arrays[a];
}

static hd_kernel *kernel_of(struct run *r, const struct stmt *s)
{
    unsigned writes = 0;
    hd_kernel **k;
    struct text signature = {0};
    struct hd_error err;
    char name[8];

    for (unsigned i = 0; i < s->nargs; i++)
        writes |= (unsigned)s->writes[i] << i;
    k = &r->kernels[s->nargs][writes];
    if (*k)
        return *k;
    snprintf(name, sizeof name, "k%u", s->nargs);
    for (unsigned i = 0; i < s->nargs; i++)
        text_add(&signature, "%sp%u: %s f32[]", i ? ", " : "", i, s->writes[i] ? "inout" : "in");
    went_wrong(r, hd_kernel_get(r->rt, r->module, name, text_str(&signature), k, &err), &err);
    text_free(&signature);
    return *k;
}

static hd_stream *stream_of(struct run *r, unsigned number)
{
    struct hd_error err;

    if (!number)
        return NULL;
    if (number == 3)
        return hd_default_stream(r->rt);
    if (!r->streams[number - 1])
        went_wrong(r, hd_stream_new(r->rt, &r->streams[number - 1], &err), &err);
    return r->streams[number - 1];
}

static void expect_launch(struct run *r, const struct stmt *s, uint64_t tag)
{
    uint64_t digest = fake_mix(0, tag);

    for (unsigned i = 0; i < s->nargs; i++)
        digest = fake_mix(digest, r->values[s->arrays[i]]);
    for (unsigned i = 0; i < s->nargs; i++) {
        if (s->writes[i])
            r->values[s->arrays[i]] = fake_mix(digest, i);
    }
}

static void run_launch(struct run *r, const struct stmt *s, struct trail *t)
{
    struct hd_arg args[PROGRAM_ARGS];
    struct hd_launch l = {
        .grid = {(uint64_t)s->us * 1000}, .block = {64}, .args = args, .nargs = s->nargs};
    struct hd_error err;

    l.kernel = kernel_of(r, s);
    l.stream = stream_of(r, s->stream);
    for (unsigned i = 0; i < s->nargs; i++)
        args[i] = (struct hd_arg){HD_ARG_ARRAY, {.array = array_of(r, s->arrays[i])}};
    t->node = r->nodes++;
    went_wrong(r, hd_launch_kernel(r->rt, &l, &err), &err);
    expect_launch(r, s, t->node + 1);
}

static void run_access(struct run *r, const struct stmt *s, size_t number)
{
    unsigned a = s->arrays[0];
    enum hd_access how = s->kind == STMT_READ ? HD_READ : number % 2 ? HD_WRITE : HD_OVERWRITE;
    struct hd_error err;
    void *data;

    r->nodes++;
    if (went_wrong(r, hd_array_access(r->rt, array_of(r, a), 0, elements[a], how, &data, &err), &err))
        return;
    if (s->kind == STMT_WRITE)
        r->values[a] = *(uint64_t *)data = number + 1;
    else if (*(uint64_t *)data != r->values[a] && !r->racy)
        text_add(r->wrong, "statement %zu reads other bytes", number);
}

static void run_free(struct run *r, unsigned a)
{
    struct hd_error err;

    if (!r->arrays[a])
        return;
    went_wrong(r, hd_array_free(r->rt, r->arrays[a], &err), &err);
    r->arrays[a] = NULL;
    r->values[a] = 0;
    r->freed[a]++;
}

static void run_stmt(struct run *r, size_t number)
{
    const struct stmt *s = &r->p->at[number];
    struct trail *t = &r->trail[number];
    struct hd_error err;

    for (unsigned i = 0; i < s->nargs; i++)
        t->lives[i] = r->freed[s->arrays[i]];
    switch (s->kind) {
    case STMT_LAUNCH:
        run_launch(r, s, t);
        break;
    case STMT_READ:
    case STMT_WRITE:
        run_access(r, s, number);
        break;
    case STMT_FREE:
        run_free(r, s->arrays[0]);
        break;
    case STMT_SYNC:
        went_wrong(r, hd_device_sync(r->rt, &err), &err);
        break;
    case STMT_WORK:
        went_wrong(r, hd_host_work(r->rt, (uint64_t)s->us * 1000000, &err), &err);
        break;
    }
    t->seen = fake_seen(r->m);
}

/* ---- what is wrong ------------------------------------------------------------------------------- */

static bool on_default(const struct run *r, const struct stmt *s)
{
    return s->stream == 3 || (s->stream == 0 && !r->concurrent);
}

/* One of two launches is on the default stream, which is ordered with all others. */
static bool ordered_by_default(const struct run *r, const struct stmt *a, const struct stmt *b)
{
    return r->rt->legacy && a->kind == STMT_LAUNCH && b->kind == STMT_LAUNCH &&
           on_default(r, a) != on_default(r, b);
}

/* Without page faults the host must not touch what a kernel may see either. */
static bool conflict(const struct run *r, size_t i, size_t j)
{
    const struct stmt *a = &r->p->at[i], *b = &r->p->at[j];
    bool touch = r->rt->attach && b->kind != STMT_LAUNCH;

    if (ordered_by_default(r, a, b))
        return true;
    if (r->racy && b->kind == STMT_LAUNCH)
        return false;
    for (unsigned k = 0; k < a->nargs; k++) {
        for (unsigned l = 0; l < b->nargs; l++) {
            if (a->arrays[k] == b->arrays[l] && r->trail[i].lives[k] == r->trail[j].lives[l] &&
                (a->writes[k] || b->writes[l] || touch))
                return true;
        }
    }
    return false;
}

static void check_pair(const struct run *r, const struct hb_log *log, size_t i, size_t j)
{
    enum stmt_kind kind = r->p->at[j].kind;
    const struct trail *a = &r->trail[i], *b = &r->trail[j];
    bool ordered;

    if (r->p->at[i].kind != STMT_LAUNCH || kind == STMT_SYNC || kind == STMT_WORK ||
        !conflict(r, i, j))
        return;
    ordered = kind == STMT_LAUNCH ? hb_log_before(log, a->ticket, b->ticket)
                                  : hb_log_known(log, a->ticket, b->seen);
    if (!ordered && !r->wrong->len)
        text_add(r->wrong, "statement %zu is not ordered after %zu", j, i);
}

static void check_order(const struct run *r)
{
    struct hb_log *log = hb_log_new(r->m);

    for (size_t j = 0; j < r->p->n; j++) {
        for (size_t i = 0; i < j; i++)
            check_pair(r, log, i, j);
    }
    hb_log_free(log);
}

static void check_end(struct run *r)
{
    const struct hd_runtime *rt = r->rt;

    for (unsigned a = 0; a < PROGRAM_ARRAYS; a++) {
        const hd_array *array = r->arrays[a];

        if (array && !r->racy && *(uint64_t *)rt->ops->array_data(r->m, array->id) != r->values[a])
            text_add(r->wrong, "array %c has other bytes at the end", 'a' + a);
    }
    if (rt->dag.nlive || rt->dag.bytes || rt->dag.nfrontier || rt->streams.nactive)
        text_add(r->wrong, "something is left in the graph");
    if (rt->streams.automatic > rt->options.host.max_streams)
        text_add(r->wrong, "%u streams are past the limit", rt->streams.automatic);
}

void program_run(const struct program *p, const struct combination *c, bool drop_waits,
                 struct text *wrong)
{
    struct run *r = calloc(1, sizeof *r);
    struct hd_error err;

    r->p = p;
    r->wrong = wrong;
    if (start(r, c, drop_waits)) {
        for (size_t i = 0; i < p->n && !wrong->len; i++)
            run_stmt(r, i);
        went_wrong(r, hd_finish(r->rt, &err), &err);
        if (!wrong->len)
            check_end(r);
        if (!wrong->len)
            check_order(r);
    }
    hd_runtime_free(r->rt);
    free(r);
}

static bool is_wrong(const struct program *p, const struct combination *c, bool drop_waits)
{
    struct text wrong = {0};
    bool bad;

    program_run(p, c, drop_waits, &wrong);
    bad = wrong.len > 0;
    text_free(&wrong);
    return bad;
}

static void leave_out(struct program *p, size_t i)
{
    memmove(&p->at[i], &p->at[i + 1], (p->n - i - 1) * sizeof p->at[0]);
    p->n--;
}

void program_shrink(struct program *p, const struct combination *c, bool drop_waits)
{
    bool shrunk = true;

    while (shrunk) {
        shrunk = false;
        for (size_t i = p->n; i-- > 0;) {
            struct program less = *p;

            leave_out(&less, i);
            if (is_wrong(&less, c, drop_waits)) {
                *p = less;
                shrunk = true;
            }
        }
    }
}
