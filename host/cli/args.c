#include "host/cli/args.h"

#include "host/results/record.h"
#include "host/results/trace.h"
#include "sim/base/nearest.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option_kind { OPT_FLAG, OPT_TEXT, OPT_LIST, OPT_U64, OPT_SECONDS, OPT_CHOICE };

struct option {
    const char *name;
    char letter; /* 0: none */
    enum option_kind kind;
    unsigned verbs;
    size_t offset;
    const char *value; /* what its value is called in the help */
    const char *doc;
    const char *const *choices;
};

static const char *const on_off[] = {"on", "off", NULL};
static const char *const checks[] = {"none", "tm", NULL};                    /* enum cli_check */
static const char *const lane_builds[] = {"auto", "baseline", "avx2", NULL}; /* enum isa_build */

#define AT(member) offsetof(struct cli_args, member)

/* The only list of options, in the order of the help. */
static const struct option options[] = {
    {"config", 'c', OPT_TEXT, CLI_POINTS, AT(config), "NAME|FILE", "GPU to simulate (default p100)",
     NULL},
    {"set", 's', OPT_LIST, CLI_POINTS | CLI_CONFIG, AT(set), "KEY=VALUE",
     "sets a parameter; may be repeated", NULL},
    {"arg", 'a', OPT_LIST, CLI_POINTS, AT(arg), "KEY=VALUE",
     "argument of the program; may be repeated", NULL},
    {"data", 0, OPT_LIST, CLI_SIMULATE, AT(data), "NAME=FILE",
     "file that the program may read or write; may be repeated", NULL},
    {"axis", 0, OPT_LIST, CLI_COMPARE, AT(axis), "KEY[=V1,V2,...]",
     "compares these values of a parameter, of arg.NAME or of config; may be repeated", NULL},
    {"out", 'o', OPT_TEXT, CLI_POINTS | CLI_ASM, AT(out), "FILE",
     "where the result goes (compare: FILE.jsonl or a folder; sweep: FILE.jsonl; asm: the "
     "assembled program)",
     NULL},
    {"trace", 't', OPT_TEXT, CLI_SIMULATE & ~CLI_TM_ADVISE, AT(trace), "FILE",
     "writes a timeline for ui.perfetto.dev (compare: of the last column)", NULL},
    {"trace-window", 0, OPT_TEXT, CLI_SIMULATE & ~CLI_TM_ADVISE, AT(trace_window), "A:B",
     "keeps what runs between A and B microseconds; either may be left out", NULL},
    {"trace-cap", 0, OPT_U64, CLI_SIMULATE & ~CLI_TM_ADVISE, AT(trace_cap), "BYTES",
     "how large the timeline may become (default 64 MiB)", NULL},
    {"trace-inst", 0, OPT_TEXT, CLI_RUN, AT(trace_inst), "KERNEL[:GROUP[:WAVE]]",
     "prints each instruction of a wavefront as it issues (-v: all lanes); a kernel is an id or a "
     "name",
     NULL},
    {"trace-inst-out", 0, OPT_TEXT, CLI_RUN, AT(trace_inst_out), "FILE",
     "where they go instead of where the program prints", NULL},
    {"detail", 0, OPT_CHOICE, CLI_POINTS, AT(detail), NULL,
     "rows in the result: none, 65536 of each list, all (default kernels; sweep: summary)",
     record_detail_names},
    {"timing", 0, OPT_CHOICE, CLI_POINTS, AT(timing), NULL, "off: values only, no time passes",
     on_off},
    {"seed", 0, OPT_U64, CLI_POINTS, AT(seed), "N", "seed of the run (default 1)", NULL},
    {"iterations", 0, OPT_U64, CLI_POINTS, AT(iterations), "N",
     "timed iterations of each region (default 1)", NULL},
    {"warmup", 0, OPT_U64, CLI_POINTS, AT(warmup), "N",
     "untimed iterations ahead of them (default 1)", NULL},
    {"check", 0, OPT_CHOICE, CLI_POINTS, AT(check), NULL,
     "tm: checks every conflict and commit of transactions against exact sets (exit 5)", checks},
    {"lanes", 0, OPT_CHOICE, CLI_POINTS, AT(lanes), NULL,
     "build of the lane functions; the result is the same", lane_builds},
    {"max-time", 0, OPT_SECONDS, CLI_POINTS, AT(max_time), "SECONDS",
     "stops the run after that time on this machine (exit 6; sweep: each point, explain: each run)",
     NULL},
    {"max-cycles", 0, OPT_U64, CLI_POINTS, AT(max_cycles), "N",
     "fails the run after that many core cycles (exit 4; 0: none)", NULL},
    {"max-instr", 0, OPT_U64, CLI_POINTS, AT(max_instr), "N",
     "fails the run after that many wavefront instructions (exit 4; 0: none)", NULL},
    {"allow-io", 0, OPT_FLAG, CLI_SIMULATE, AT(allow_io), NULL,
     "opens io and os to the program; the result then says unsafe", NULL},
    {"jobs", 'j', OPT_U64, CLI_SWEEP | CLI_EXPLAIN, AT(jobs), "N",
     "points or runs at a time, a process each (default: one a processor)", NULL},
    {"resume", 0, OPT_FLAG, CLI_SWEEP, AT(resume), NULL,
     "keeps the points of --out that are ok, and runs the others", NULL},
    {"dry-run", 0, OPT_FLAG, CLI_SWEEP, AT(dry_run), NULL, "prints the points and runs none", NULL},
    {"kernel", 'k', OPT_TEXT, CLI_PROFILE, AT(kernel), "NAME", "shows that kernel alone", NULL},
    {"top", 0, OPT_U64, CLI_PROFILE, AT(top), "N", "hot lines shown of each kernel (default 10)",
     NULL},
    {"all", 0, OPT_FLAG, CLI_PROFILE, AT(all), NULL, "shows the whole source of each kernel", NULL},
    {"json", 0, OPT_FLAG, CLI_LIST | CLI_EXPLAIN | CLI_TM_ADVISE, AT(json), NULL, "prints JSON",
     NULL},
    {"quiet", 'q', OPT_FLAG, CLI_ALL, AT(quiet), NULL, "prints no summary and no progress", NULL},
    {"verbose", 'v', OPT_FLAG, CLI_ALL, AT(verbose), NULL, "prints more", NULL},
    {"help", 'h', OPT_FLAG, CLI_ALL, AT(help), NULL, "prints this", NULL},
    {"version", 0, OPT_FLAG, CLI_ALL, AT(version), NULL, "prints the version", NULL},
};

enum { NOPTIONS = sizeof options / sizeof *options };

/* ---- help ------------------------------------------------------------------------------------- */

static void option_head(const struct option *o, char *out, size_t size)
{
    char letter[8] = "";
    char value[64] = "";
    size_t i, n = 0;

    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    if (o->value)
        snprintf(value, sizeof value, " %s", o->value);
    for (i = 0; o->choices && o->choices[i]; i++)
        n += (size_t)snprintf(value + n, sizeof value - n, "%s%s", i ? "|" : " ", o->choices[i]);
    snprintf(out, size, "%4s--%s%s", letter, o->name, value);
}

void cli_print_options(const struct cli_verb *verb)
{
    char head[96];
    size_t i;

    for (i = 0; i < NOPTIONS; i++) {
        if (!(options[i].verbs & verb->bit))
            continue;
        option_head(&options[i], head, sizeof head);
        if (strlen(head) < 30)
            printf("  %-30s%s\n", head, options[i].doc);
        else
            printf("  %s\n  %30s%s\n", head, "", options[i].doc);
    }
}

/* ---- values -------------------------------------------------------------------------------------- */

static enum hd_status bad_value(const struct option *o, const char *value, const char *wanted,
                                struct hd_error *err)
{
    return hd_error_set(err, HD_USAGE, "usage", NULL, NULL, "--%s must be %s, not \"%s\"", o->name,
                        wanted, value);
}

static enum hd_status take_u64(const struct option *o, const char *value, uint64_t *out,
                               struct hd_error *err)
{
    char *end;

    errno = 0;
    *out = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || errno)
        return bad_value(o, value, "a whole number", err);
    return HD_OK;
}

static enum hd_status take_seconds(const struct option *o, const char *value, double *out,
                                   struct hd_error *err)
{
    char *end;

    *out = strtod(value, &end);
    if (end == value || *end || !isfinite(*out) || *out <= 0 || *out > 1e9)
        return bad_value(o, value, "a number of seconds above 0", err);
    return HD_OK;
}

static enum hd_status take_choice(const struct option *o, const char *value, uint32_t *out,
                                  struct hd_error *err)
{
    char names[96] = "";
    size_t n = 0;
    uint32_t i;

    for (i = 0; o->choices[i]; i++) {
        if (strcmp(o->choices[i], value) == 0) {
            *out = i;
            return HD_OK;
        }
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "", o->choices[i]);
    }
    return hd_error_set(err, HD_USAGE, "usage", NULL, NULL, "--%s must be one of %s, not \"%s\"",
                        o->name, names, value);
}

static enum hd_status take_value(struct cli_args *args, const struct option *o, const char *value,
                                 struct hd_error *err)
{
    void *field = (char *)args + o->offset;

    switch (o->kind) {
    case OPT_FLAG:
        *(bool *)field = true;
        return HD_OK;
    case OPT_TEXT:
        *(const char **)field = value;
        return HD_OK;
    case OPT_LIST:
        if (vec_push((struct cli_list *)field, value))
            return HD_OK;
        return hd_no_memory(err, "the command line");
    case OPT_U64:
        return take_u64(o, value, field, err);
    case OPT_SECONDS:
        return take_seconds(o, value, field, err);
    case OPT_CHOICE:
        return take_choice(o, value, field, err);
    }
    return HD_BROKEN(err, "option --%s is of no kind", o->name);
}

/* ---- parsing ----------------------------------------------------------------------------------------- */

static enum hd_status unknown_option(const struct cli_verb *verb, const char *word, size_t len,
                                     struct hd_error *err)
{
    char typed[64], hint[128];
    struct nearest near;
    size_t i;

    snprintf(typed, sizeof typed, "%.*s", (int)len, word);
    near = nearest_start(typed);
    for (i = 0; i < NOPTIONS; i++)
        if (options[i].verbs & verb->bit)
            nearest_offer(&near, options[i].name);
    if (near.best)
        snprintf(hint, sizeof hint, "did you mean --%s?", near.best);
    else
        snprintf(hint, sizeof hint, "heddle %s --help lists the options", verb->name);
    return hd_error_set(err, HD_USAGE, "usage", NULL, hint, "%s has no option --%s", verb->name,
                        typed);
}

static const struct option *find_long(const struct cli_verb *verb, const char *name, size_t len)
{
    size_t i;

    for (i = 0; i < NOPTIONS; i++)
        if ((options[i].verbs & verb->bit) && strlen(options[i].name) == len &&
            memcmp(options[i].name, name, len) == 0)
            return &options[i];
    return NULL;
}

static const struct option *find_letter(const struct cli_verb *verb, char letter)
{
    size_t i;

    for (i = 0; i < NOPTIONS; i++)
        if ((options[i].verbs & verb->bit) && options[i].letter == letter)
            return &options[i];
    return NULL;
}

struct parser {
    struct cli_args *args;
    const struct cli_verb *verb;
    int argc, at;
    char *const *argv;
    struct hd_error *err;
};

/* The option's value is behind '=' or the next word. */
static enum hd_status take_option(struct parser *p, const struct option *o, const char *inlined)
{
    if (o->kind == OPT_FLAG && inlined)
        return hd_error_set(p->err, HD_USAGE, "usage", NULL, NULL, "--%s takes no value", o->name);
    if (o->kind != OPT_FLAG && !inlined) {
        if (p->at >= p->argc)
            return hd_error_set(p->err, HD_USAGE, "usage", NULL, NULL, "--%s needs a value",
                                o->name);
        inlined = p->argv[p->at++];
    }
    return take_value(p->args, o, inlined, p->err);
}

static enum hd_status take_long(struct parser *p, const char *word)
{
    const char *equals = strchr(word, '=');
    size_t len = equals ? (size_t)(equals - word) : strlen(word);
    const struct option *o = find_long(p->verb, word, len);

    if (!o)
        return unknown_option(p->verb, word, len, p->err);
    return take_option(p, o, equals ? equals + 1 : NULL);
}

/* One letter: "-q", "-o FILE" or "-oFILE". */
static enum hd_status take_letter(struct parser *p, const char *word)
{
    const struct option *o = find_letter(p->verb, word[0]);
    char hint[64];

    if (o && (o->kind != OPT_FLAG || !word[1]))
        return take_option(p, o, word[1] ? word + 1 : NULL);
    snprintf(hint, sizeof hint, "heddle %s --help lists the options", p->verb->name);
    return hd_error_set(p->err, HD_USAGE, "usage", NULL, hint, "%s has no option -%s",
                        p->verb->name, word);
}

static enum hd_status take_word(struct parser *p, const char *word)
{
    if (p->args->words.len == p->verb->words_max)
        return hd_error_set(p->err, HD_USAGE, "usage", NULL, p->verb->example,
                            "what is \"%s\" to mean?", word);
    if (!vec_push(&p->args->words, word))
        return hd_no_memory(p->err, "the command line");
    return HD_OK;
}

/* A sweep's script may say the seed and the detail too, so that it must be seen whether they were given. */
static void set_defaults(struct cli_args *args, const struct cli_verb *verb)
{
    memset(args, 0, sizeof *args);
    args->detail = verb->bit == CLI_SWEEP ? UINT32_MAX : RECORD_KERNELS;
    args->trace_cap = TRACE_CAP_DEFAULT;
    args->seed = verb->bit == CLI_SWEEP ? UINT64_MAX : 1;
    args->top = 10;
    args->iterations = args->warmup = UINT64_MAX;
}

enum hd_status cli_parse(struct cli_args *out, const struct cli_verb *verb, int argc,
                         char *const *argv, int first, struct hd_error *err)
{
    struct parser p = {out, verb, argc, first, argv, err};
    enum hd_status status = HD_OK;
    bool only_words = false;

    set_defaults(out, verb);
    while (status == HD_OK && p.at < argc) {
        const char *word = argv[p.at++];

        if (only_words || word[0] != '-' || !word[1])
            status = take_word(&p, word);
        else if (strcmp(word, "--") == 0)
            only_words = true;
        else if (word[1] == '-')
            status = take_long(&p, word + 2);
        else
            status = take_letter(&p, word + 1);
    }
    if (status == HD_OK && !out->help && !out->version && out->words.len < verb->words_min)
        status = hd_error_set(err, HD_USAGE, "usage", NULL, verb->example, "heddle %s needs %s",
                              verb->name, verb->usage);
    return status;
}

void cli_args_free(struct cli_args *args)
{
    vec_free(&args->words);
    vec_free(&args->set);
    vec_free(&args->arg);
    vec_free(&args->data);
    vec_free(&args->axis);
}
