#include "tests/rt/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ------------------------------------------------------------------------------------- */

struct hd_options rig_options(const char *settings)
{
    struct hd_options o;
    struct hd_error err;
    char copy[512], *save = NULL;

    hd_options_default(&o);
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *s = strtok_r(copy, " ", &save); s; s = strtok_r(NULL, " ", &save)) {
        char *value = strchr(s, '=');
        bool host = strncmp(s, "host.", 5) == 0;

        assert_non_null(value);
        *value++ = '\0';
        if (strcmp(s, "timing") == 0)
            o.timing = strcmp(value, "on") == 0;
        else if (param_set(host ? &rt_params : &sim_params, host ? (void *)&o.host : (void *)&o.gpu,
                           s, value, "test", &err) != HD_OK)
            fail_msg("%s", err.message);
    }
    return o;
}

/* ---- a program of kernels that take 0 to 8 arrays ---------------------------------------------------- */

struct isa_program *rig_program(void)
{
    struct isa_program *p = calloc(1, sizeof *p);

    assert_non_null(p);
    p->nkernels = 9;
    p->kernels = calloc(p->nkernels, sizeof *p->kernels);
    assert_non_null(p->kernels);
    for (uint32_t k = 0; k < p->nkernels; k++) {
        struct isa_kernel *kernel = &p->kernels[k];

        snprintf(kernel->name, sizeof kernel->name, "k%u", k);
        kernel->forms = ISA_FORM_ALL;
        kernel->nparams = k;
        for (uint32_t i = 0; i < k; i++) {
            snprintf(kernel->params[i].name, sizeof kernel->params[i].name, "p%u", i);
            kernel->params[i].type = T_F32;
            kernel->params[i].is_array = true;
        }
    }
    return p;
}

/* ---- the recorder ---------------------------------------------------------------------------------- */

struct rig_stmt *rig_stmt_of(const struct rig *r, uint64_t node)
{
    for (size_t i = 0; i < r->stmts.len; i++) {
        if (r->stmts.at[i].node == node)
            return &r->stmts.at[i];
    }
    return NULL;
}

struct rig_stmt *rig_stmt(const struct rig *r, const char *name)
{
    for (size_t i = 0; i < r->stmts.len; i++) {
        if (strcmp(r->stmts.at[i].name, name) == 0)
            return &r->stmts.at[i];
    }
    fail_msg("no statement %s", name);
    return NULL;
}

static void on_kernel(void *user, const struct hd_kernel_row *row)
{
    struct rig *r = user;
    struct rig_stmt *s = rig_stmt_of(r, row->node);

    assert_true(vec_push(&r->rows, *row));
    if (s) {
        s->hb.start_ps = row->r.start_ps;
        s->hb.end_ps = row->r.end_ps;
    }
}

static void on_transfer(void *user, const struct hd_transfer_row *row)
{
    struct rig *r = user;

    assert_true(vec_push(&r->transfers, *row));
}

static void on_node(void *user, const struct hd_node_row *row)
{
    struct rig *r = user;

    assert_true(vec_push(&r->nodes, *row));
}

static void on_edge(void *user, const struct hd_edge_row *row)
{
    static const char *const kinds[] = {"raw", "war", "waw", "order"};
    struct rig *r = user;
    const struct rig_stmt *from = rig_stmt_of(r, row->from), *to = rig_stmt_of(r, row->to);

    assert_true(vec_push(&r->edges, *row));
    if (!from || !to)
        return;
    text_add(&r->edge_text, "%s%s->%s[", r->edge_text.len ? " " : "", from->name, to->name);
    for (uint32_t i = 0; i < row->narrays; i++)
        text_add(&r->edge_text, "%s%s", i ? "+" : "", hd_array_uid_name(r->rt, row->array_uids[i]));
    text_add(&r->edge_text, "]");
    text_add(&r->edge_kinds, "%s%s", r->edge_kinds.len ? " " : "", kinds[row->kind]);
}

static void on_region(void *user, const struct hd_region_row *row)
{
    struct rig *r = user;

    assert_true(vec_push(&r->regions, *row));
}

static void on_check(void *user, const struct hd_check *check)
{
    struct rig *r = user;

    assert_true(vec_push(&r->checks, *check));
}

/* ---- life ---------------------------------------------------------------------------------------- */

struct rig *rig_new(const char *settings)
{
    struct rig *r = calloc(1, sizeof *r);
    struct hd_options o = rig_options(settings);
    struct hd_recorder rec = {.user = r,
                              .kernel = on_kernel,
                              .transfer = on_transfer,
                              .node = on_node,
                              .edge = on_edge,
                              .region = on_region,
                              .check = on_check};
    struct hd_error err;

    assert_non_null(r);
    r->machine = fake_new();
    assert_non_null(r->machine);
    assert_int_equal(rt_new_on(&o, &fake_machine, r->machine, &r->rt, &err), HD_OK);
    assert_int_equal(module_adopt(r->rt, "rig.hasm", rig_program(), &r->module, &err), HD_OK);
    hd_set_recorder(r->rt, &rec);
    return r;
}

void rig_free(struct rig *r)
{
    hd_runtime_free(r->rt);
    vec_free(&r->stmts);
    vec_free(&r->kernels);
    vec_free(&r->nodes);
    vec_free(&r->edges);
    vec_free(&r->rows);
    vec_free(&r->transfers);
    vec_free(&r->regions);
    vec_free(&r->checks);
    text_free(&r->schedule);
    text_free(&r->edge_text);
    text_free(&r->edge_kinds);
    free(r);
}

hd_array *rig_array(struct rig *r, const char *name)
{
    struct rig_array *a = &r->arrays[r->narrays];
    struct hd_error err;

    for (unsigned i = 0; i < r->narrays; i++) {
        if (strcmp(r->arrays[i].name, name) == 0)
            return r->arrays[i].array;
    }
    assert_true(r->narrays < RIG_ARRAYS);
    snprintf(a->name, sizeof a->name, "%s", name);
    assert_int_equal(hd_array_new(r->rt, T_F32, RIG_ELEMENTS, name, &a->array, &err), HD_OK);
    r->narrays++;
    return a->array;
}

static hd_stream *rig_stream(struct rig *r, const char *name)
{
    struct rig_stream *s = &r->streams[r->nstreams];
    struct hd_error err;

    if (strcmp(name, "default") == 0)
        return hd_default_stream(r->rt);
    for (unsigned i = 0; i < r->nstreams; i++) {
        if (strcmp(r->streams[i].name, name) == 0)
            return r->streams[i].stream;
    }
    snprintf(s->name, sizeof s->name, "%s", name);
    assert_int_equal(hd_stream_new(r->rt, &s->stream, &err), HD_OK);
    r->nstreams++;
    return s->stream;
}

hd_kernel *rig_kernel(struct rig *r, const char *modes)
{
    size_t nparams = strlen(modes);
    char name[32];
    struct text sig = {0};
    struct hd_error err;
    hd_kernel *k = NULL;

    for (size_t i = 0; i < r->kernels.len && !k; i++) {
        const hd_kernel *c = r->kernels.at[i];
        bool same = c->nparams == nparams;

        for (unsigned p = 0; p < c->nparams && same; p++)
            same = c->params[p].read_only == (modes[p] == 'r');
        if (same)
            return r->kernels.at[i];
    }
    snprintf(name, sizeof name, "k%zu", nparams);
    for (size_t i = 0; modes[i]; i++)
        text_add(&sig, "%sp%zu: %s f32[]", i ? ", " : "", i, modes[i] == 'r' ? "in" : "inout");
    if (hd_kernel_get(r->rt, r->module, name, text_str(&sig), &k, &err) != HD_OK)
        fail_msg("%s", err.message);
    text_free(&sig);
    assert_true(vec_push(&r->kernels, k));
    return k;
}

/* ---- statements ------------------------------------------------------------------------------------ */

static uint32_t stream_of_ticket(const struct rig *r, uint64_t ticket)
{
    uint32_t queue = fake_cmd(r->machine, ticket - 1)->queue;

    return r->rt->streams.number_of_queue.at[queue];
}

static const char *kernel_of_ticket(const struct rig *r, uint64_t ticket)
{
    const struct rig_stmt *s = rig_stmt_of(r, fake_cmd(r->machine, ticket - 1)->tag - 1);

    return s ? s->name : "?";
}

/* " S2 wait a,b" from the commands since first_cmd. */
static void describe_launch(struct rig *r, size_t first_cmd)
{
    size_t waits = 0;

    text_add(&r->schedule, " S%u", r->nodes.at[r->nodes.len - 1].stream);
    for (size_t i = first_cmd; i < fake_count(r->machine); i++) {
        const struct fake_cmd *c = fake_cmd(r->machine, i);

        if (c->kind != SIM_WAIT)
            continue;
        text_add(&r->schedule, "%s%s", waits++ ? "," : " wait ", kernel_of_ticket(r, c->awaited));
        r->nwaits++;
    }
}

/* ": sync S1,S2" from the waits since first_wait, those for pages apart. */
static void describe_access(struct rig *r, size_t first_wait)
{
    size_t n = 0;

    for (size_t i = first_wait; i < fake_waits(r->machine); i++) {
        uint64_t ticket = fake_wait(r->machine, i);

        if (ticket && fake_cmd(r->machine, ticket - 1)->of_host)
            continue;
        text_add(&r->schedule, "%s", n++ ? "," : ": sync ");
        if (ticket)
            text_add(&r->schedule, "S%u", stream_of_ticket(r, ticket));
        else
            text_add(&r->schedule, "all");
    }
}

/* Adds the statement, whose node the next call makes. */
static struct rig_stmt *add_stmt(struct rig *r, const char *name, bool kernel)
{
    struct rig_stmt s = {.node = r->rt->next_node, .kernel = kernel};

    snprintf(s.name, sizeof s.name, "%s", name);
    if (r->rt->quiet)
        s.node = RT_NO_NODE - 1;
    assert_true(vec_push(&r->stmts, s));
    text_add(&r->schedule, "%s%s", r->schedule.len ? "; " : "", name);
    return &r->stmts.at[r->stmts.len - 1];
}

static void note_access(struct rig_stmt *s, const hd_array *a, bool write)
{
    if (s->hb.naccesses < HB_MAX_ACCESSES)
        s->hb.accesses[s->hb.naccesses++] = (struct hb_access){a->object.uid, write};
}

static void run_launch(struct rig *r, const char *name, char **save)
{
    struct hd_arg args[8];
    struct hd_launch l = {.grid = {1000000, 0, 0}, .block = {64, 0, 0}, .args = args};
    char modes[9] = "";
    struct rig_stmt *s = add_stmt(r, name, true);
    size_t first_cmd = fake_count(r->machine);
    struct hd_error err;

    for (char *w = strtok_r(NULL, " ", save); w; w = strtok_r(NULL, " ", save)) {
        char *mode = strchr(w, '=');

        if (strcmp(w, "on") == 0) {
            l.stream = rig_stream(r, strtok_r(NULL, " ", save));
        } else if (*w == '@') {
            l.grid[0] = strtoull(w + 1, NULL, 10) * 1000;
        } else {
            assert_non_null(mode);
            *mode = '\0';
            modes[l.nargs] = mode[1];
            args[l.nargs] = (struct hd_arg){HD_ARG_ARRAY, {.array = rig_array(r, w)}};
            note_access(s, args[l.nargs].as.array, mode[1] == 'w');
            l.nargs++;
        }
    }
    l.kernel = rig_kernel(r, modes);
    if (hd_launch_kernel(r->rt, &l, &err) != HD_OK)
        fail_msg("%s: %s", name, err.message);
    if (!r->rt->quiet)
        describe_launch(r, first_cmd);
}

static void run_access(struct rig *r, const char *word, char **save)
{
    const char *array = strtok_r(NULL, " ", save);
    hd_array *a = rig_array(r, array);
    size_t first_wait = fake_waits(r->machine);
    bool write = strcmp(word, "write") == 0;
    char name[2 * RIG_NAME];
    struct rig_stmt *s;
    struct hd_error err;
    void *data;

    snprintf(name, sizeof name, "%s %s", word, array);
    s = add_stmt(r, name, false);
    note_access(s, a, write);
    if (hd_array_access(r->rt, a, 0, RIG_ELEMENTS, write ? HD_WRITE : HD_READ, &data, &err) != HD_OK)
        fail_msg("%s: %s", name, err.message);
    s = &r->stmts.at[r->stmts.len - 1];
    s->hb.start_ps = s->hb.end_ps = hd_host_time(r->rt);
    describe_access(r, first_wait);
}

static void run_free(struct rig *r, const char *array)
{
    struct hd_error err;

    for (unsigned i = 0; i < r->narrays; i++) {
        if (strcmp(r->arrays[i].name, array) != 0)
            continue;
        if (hd_array_free(r->rt, r->arrays[i].array, &err) != HD_OK)
            fail_msg("free %s: %s", array, err.message);
        r->arrays[i] = r->arrays[--r->narrays];
        return;
    }
}

static void run_statement(struct rig *r, char *text)
{
    char *save = NULL;
    const char *word = strtok_r(text, " ", &save), *rest;
    struct hd_error err;

    if (!word)
        return;
    if (strcmp(word, "read") == 0 || strcmp(word, "write") == 0) {
        run_access(r, word, &save);
    } else if (strcmp(word, "free") == 0) {
        run_free(r, strtok_r(NULL, " ", &save));
    } else if (strcmp(word, "sync") == 0) {
        rest = strtok_r(NULL, " ", &save);
        assert_int_equal(rest ? hd_stream_sync(r->rt, rig_stream(r, rest), &err)
                              : hd_device_sync(r->rt, &err),
                         HD_OK);
    } else {
        run_launch(r, word, &save);
    }
}

void rig_run(struct rig *r, const char *program)
{
    char *copy = malloc(strlen(program) + 1), *save = NULL;

    assert_non_null(copy);
    strcpy(copy, program);
    for (char *s = strtok_r(copy, ";", &save); s; s = strtok_r(NULL, ";", &save))
        run_statement(r, s);
    free(copy);
}

/* ---- what came out --------------------------------------------------------------------------------- */

void rig_frontier(const struct rig *r, struct text *out)
{
    const struct list *head = &r->rt->dag.frontier;

    for (struct list *l = head->next; l != head; l = l->next) {
        const struct dag_vertex *v = LIST_ITEM(l, struct dag_vertex, in_frontier);

        text_add(out, "%s%s", out->len ? " " : "", rig_stmt_of(r, v->node)->name);
    }
}

void rig_sets(const struct rig *r, struct text *out)
{
    const struct list *head = &r->rt->dag.frontier;

    for (struct list *l = head->next; l != head; l = l->next) {
        const struct dag_vertex *v = LIST_ITEM(l, struct dag_vertex, in_frontier);
        unsigned n = 0;

        text_add(out, "%s%s{", out->len ? " " : "", rig_stmt_of(r, v->node)->name);
        for (uint32_t i = 0; i < v->nuses; i++) {
            if (v->uses[i].active)
                text_add(out, "%s%s", n++ ? "," : "",
                         hd_array_uid_name(r->rt, v->uses[i].object->uid));
        }
        text_add(out, "}");
    }
}

void rig_check_order(struct rig *r, const char *what)
{
    struct hb_node *nodes = calloc(r->stmts.len + 1, sizeof *nodes);
    size_t a = 0, b = 0, bad;

    assert_non_null(nodes);
    for (size_t i = 0; i < r->stmts.len; i++)
        nodes[i] = r->stmts.at[i].hb;
    bad = hb_violations(nodes, r->stmts.len, &a, &b);
    free(nodes);
    if (bad)
        fail_msg("%s: %zu pairs out of order, first %s (%zu) and %s (%zu)", what, bad,
                 r->stmts.at[a].name, a, r->stmts.at[b].name, b);
}

size_t rig_streams_used(const struct rig *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->nodes.len; i++) {
        bool seen = r->nodes.at[i].kind != HD_NODE_KERNEL;

        for (size_t j = 0; j < i && !seen; j++)
            seen = r->nodes.at[j].kind == HD_NODE_KERNEL &&
                   r->nodes.at[j].stream == r->nodes.at[i].stream;
        n += !seen;
    }
    return n;
}

uint64_t rig_count(uint64_t count)
{
    const char *soak = getenv("HEDDLE_SOAK");

    return count * (soak ? strtoull(soak, NULL, 10) : 1);
}

/* ---- seeds --------------------------------------------------------------------------------------- */

int rig_seed_setup(void **state)
{
    *state = calloc(1, sizeof(uint64_t));
    return *state ? 0 : -1;
}

int rig_seed_teardown(void **state)
{
    print_message("last seed %" PRIu64 "\n", *rig_seed(state));
    free(*state);
    return 0;
}

uint64_t *rig_seed(void **state)
{
    return *state;
}
