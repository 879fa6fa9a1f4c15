/* heddle tm-advise: which detector and serialisation suit the transactions of each kernel, and why. */
#include "host/cli/profile.h"
#include "host/cli/session.h"
#include "host/results/outfile.h"

#include <inttypes.h>
#include <string.h>

/* Conflicts of dcd-sm are those of the program: it has no aliases, and readers share. */
static const char *const run_with[] = {"tm.detector=dcd-sm", "tm.serialise=ascending-single"};

struct answer {
    struct tm_known known;
    struct tm_advice with_run, without_run;
};

static struct answer answer_of(const struct profile_kernel *k)
{
    const struct sim_counters *c = &k->sums;
    struct answer a = {.known = k->tx};

    a.without_run = tm_advise(&a.known);
    a.known.profile = (struct tm_profile){
        .commits = c->tx_commits,
        .aborts = c->tx_aborts,
        .true_conflicts = c->tx_true_conflicts,
        .false_conflicts = c->tx_false_conflicts,
        .read_read_conflicts = c->tx_read_read_conflicts,
        .begins = c->tx_begins,
        .wave_serial = c->tx_wave_serial,
        .group_serial = c->tx_group_serial,
        .cycles = c->tx_residency_cycles,
        .group_cycles = c->tx_cycles[SIM_TX_WORKGROUP_SERIAL] + c->tx_cycles[SIM_TX_QUIESCE],
    };
    a.with_run = tm_advise(&a.known);
    return a;
}

/* ---- as text ------------------------------------------------------------------------------------ */

static void print_code(const struct tm_known *n, double false_rate)
{
    char percent[16];

    cli_format_percent(false_rate, percent, sizeof percent);
    printf("  code       %" PRIu32 " transaction%s, accesses of up to %" PRIu32
           " words read and %" PRIu32 " written%s;\n",
           n->facts.transactions, n->facts.transactions == 1 ? "" : "s", n->facts.reads,
           n->facts.writes, n->facts.unbounded ? ", and more in loops" : "");
    printf("             lanes may read alone: %s, all that is read is written: %s;\n"
           "             %" PRIu64
           " bytes of local memory, so %s of accesses meet an alias in signatures\n",
           n->facts.reads_only ? "yes" : "no", n->facts.changes_all ? "yes" : "no", n->lds_bytes,
           percent);
}

static void print_run(const struct tm_profile *p)
{
    printf("  run        %" PRIu64 " commits, %" PRIu64 " aborts (%" PRIu64 " true, %" PRIu64
           " false conflicts),\n             %" PRIu64 " and %" PRIu64 " of %" PRIu64
           " attempts serialised in the wavefront and the work-group\n",
           p->commits, p->aborts, p->true_conflicts, p->false_conflicts, p->wave_serial,
           p->group_serial, p->begins);
}

static void print_cost(const struct profile_kernel *k, const struct tm_known *n, uint32_t detector)
{
    const struct tm_needs *needs = &k->tx_needs[detector];

    printf("  cost       %" PRIu32 " vector registers a work-item, %" PRIu32
           " scalar registers a wavefront,\n             %" PRIu64
           " bytes of local memory a work-group; %" PRIu32 " work-groups a compute unit, %" PRIu32
           " without transactions\n",
           needs->vregs, needs->sregs, needs->shadow_bytes, n->groups[detector], n->groups_without);
}

static void print_kernel(const struct profile_kernel *k)
{
    struct answer a = answer_of(k);
    const struct tm_advice *best = &a.with_run, *plain = &a.without_run;

    printf("\n%s (%s:%" PRIu32 ")\n", k->name, k->file, k->line);
    printf("  detector   %s: %s\n", tm_detector_choices[best->detector].name,
           tm_reason_docs[best->why_detector]);
    printf("  serialise  %s: %s\n", tm_serialise_choices[best->serialise].name,
           tm_reason_docs[best->why_serialise]);
    print_code(&a.known, best->false_rate);
    print_run(&a.known.profile);
    print_cost(k, &a.known, best->detector);
    printf("  auto       tm.policy=auto takes %s and %s, by the code alone\n",
           tm_detector_choices[plain->detector].name, tm_serialise_choices[plain->serialise].name);
    if (best->locks)
        printf("  locks      most attempts fail, and one wavefront at a time makes progress: try "
               "locks\n");
}

static void print_text(const struct profile *p)
{
    bool any = false;

    for (size_t i = 0; i < p->kernels.len; i++) {
        if (!p->kernels.at[i]->has_tx)
            continue;
        any = true;
        print_kernel(p->kernels.at[i]);
    }
    if (!any)
        printf("No kernel with transactions ran.\n");
}

/* ---- as JSON ------------------------------------------------------------------------------------ */

static void write_choice(struct json_writer *w, const char *key, const struct tm_advice *a)
{
    json_object(w, key);
    json_text(w, "detector", tm_detector_choices[a->detector].name);
    json_text(w, "detector_reason", tm_reason_docs[a->why_detector]);
    json_text(w, "serialise", tm_serialise_choices[a->serialise].name);
    json_text(w, "serialise_reason", tm_reason_docs[a->why_serialise]);
    json_bool(w, "locks", a->locks);
    json_end(w);
}

static void write_known(struct json_writer *w, const struct answer *a)
{
    const struct tm_known *n = &a->known;

    json_object(w, "code");
    json_u64(w, "transactions", n->facts.transactions);
    json_u64(w, "read_words", n->facts.reads);
    json_u64(w, "written_words", n->facts.writes);
    json_bool(w, "loops", n->facts.unbounded);
    json_bool(w, "reads_only", n->facts.reads_only);
    json_bool(w, "changes_all", n->facts.changes_all);
    json_u64(w, "local_bytes", n->lds_bytes);
    json_f64(w, "false_rate", a->with_run.false_rate);
    json_end(w);
    json_object(w, "run");
    json_u64(w, "commits", n->profile.commits);
    json_u64(w, "aborts", n->profile.aborts);
    json_u64(w, "wavefront_serialisations", n->profile.wave_serial);
    json_u64(w, "workgroup_serialisations", n->profile.group_serial);
    json_end(w);
}

static void write_cost(struct json_writer *w, const struct profile_kernel *k, const struct answer *a)
{
    uint32_t d = a->with_run.detector;

    json_object(w, "cost");
    json_u64(w, "vector_registers", k->tx_needs[d].vregs);
    json_u64(w, "scalar_registers", k->tx_needs[d].sregs);
    json_u64(w, "shadow_bytes", k->tx_needs[d].shadow_bytes);
    json_u64(w, "groups_per_cu", a->known.groups[d]);
    json_u64(w, "groups_per_cu_without", a->known.groups_without);
    json_end(w);
}

static void write_json(struct json_out to, const struct profile *p)
{
    struct json_writer w;

    json_start(&w, to, JSON_PRETTY);
    json_object(&w, NULL);
    json_array(&w, "kernels");
    for (size_t i = 0; i < p->kernels.len; i++) {
        const struct profile_kernel *k = p->kernels.at[i];
        struct answer a;

        if (!k->has_tx)
            continue;
        a = answer_of(k);
        json_object(&w, NULL);
        json_text(&w, "kernel", k->name);
        write_choice(&w, "advice", &a.with_run);
        write_choice(&w, "auto", &a.without_run);
        write_known(&w, &a);
        write_cost(&w, k, &a);
        json_end(&w);
    }
    json_end(&w);
    json_end(&w);
    json_finish(&w);
}

static enum hd_status write_file(const struct profile *p, const char *path, struct hd_error *err)
{
    struct out_file out;
    enum hd_status status = out_open(&out, path, err);

    if (status != HD_OK)
        return status;
    write_json(out_json(&out), p);
    return out_commit(&out, err);
}

/* ---- the verb ------------------------------------------------------------------------------------ */

static enum hd_status advise(struct session *s, const struct cli_args *args, struct hd_error *err)
{
    const struct session_changes changes = {run_with, sizeof run_with / sizeof *run_with};
    bool to_stdout = args->out && strcmp(args->out, "-") == 0;
    enum hd_status status = session_run(s, args, &changes, cli_stop_flag(args->max_time),
                                        to_stdout || args->json ? stderr : stdout, err);

    cli_stop_heeded();
    if (status != HD_OK || session_status(s) != HD_OK)
        return status;
    if (args->out)
        status = write_file(s->profile, args->out, err);
    if (args->json && !to_stdout)
        write_json(cli_stdout(), s->profile);
    else if (!args->quiet && !to_stdout)
        print_text(s->profile);
    return status;
}

static int run(const struct cli_args *args)
{
    struct hd_error err;
    struct session s;
    enum hd_status status;

    hd_error_clear(&err);
    if (session_check_args(args, &err) != HD_OK || out_probe(args->out, &err) != HD_OK)
        return cli_fail(&err);
    status = advise(&s, args, &err);
    if (status != HD_OK) {
        cli_fail(&err);
        session_traceback(&s);
    } else {
        session_complain(&s);
        status = session_status(&s);
    }
    session_free(&s);
    return cli_end((int)status);
}

int cli_tm_advise(const struct cli_args *args)
{
    struct cli_args with = *args;
    struct hd_error err;

    with.profile = true;
    if (args->timing == CLI_TIMING_ON)
        return run(&with);
    hd_error_set(&err, HD_USAGE, "usage", NULL, "leave --timing off out",
                 "without time no lane meets another as it would");
    return cli_fail(&err);
}
