/* The heddle command: one verb a file, and the table that lists them. */
#include "host/cli/cli.h"

#include "host/results/result.h"
#include "sim/base/nearest.h"

#include <cjson/cJSON.h>
#include <lua.h>
#include <signal.h>
#include <string.h>

static const struct cli_verb verbs[] = {
    {"run", CLI_RUN, 1, 1, "WORKLOAD.lua [options]",
     "runs a host program on a simulated GPU and writes what happened", "",
     "heddle run workloads/dag/vec.lua --config p100 --arg n=1000000 --out vec.json", cli_run},
    {"compare", CLI_COMPARE, 1, 1, "WORKLOAD.lua [options]",
     "runs it under the serial and the parallel scheduler, or under the values of axes",
     "Without axes the columns are serial without prefetch, where the device has page faults, "
     "serial,\n"
     "and parallel.\n"
     "With --out FILE.jsonl each result is a line of that file, with --out FOLDER a file in it.\n",
     "heddle compare workloads/dag/vec.lua --axis host.scheduler --axis arg.n=1000000,4000000",
     cli_compare},
    {"sweep", CLI_SWEEP, 1, 1, "SWEEP.lua [options]",
     "runs a host program over all combinations of the values of axes",
     "SWEEP.lua returns {workload = \"vec.lua\", config = \"p100\", set = {}, args = {}, axes = "
     "{{key = \"arg.n\",\nvalues = {1000, 10000}}, {key = \"host.scheduler\", values = {...}}}, "
     "post = function(results) ... end};\nhost/lua/README.md has all of it. A point that fails is "
     "a "
     "row with its error, and the sweep goes on.\nExit status: 0 all points are ok, 1 a check "
     "failed, 4 a point failed otherwise, 6 stopped (--resume goes on).\n",
     "heddle sweep workloads/dag/sweep_vec.lua -j 2 --out vec.jsonl", cli_sweep},
    {"profile", CLI_PROFILE, 1, 1, "WORKLOAD.lua [options]",
     "runs it and says where the time goes: kernel by kernel, and line by line of their source",
     "Cycles are those of wavefronts, and count where a wavefront waits: at the instruction that "
     "it\n"
     "waits to issue, or at the barrier or fence. With --out the result holds all lines.\n",
     "heddle profile workloads/dag/matmul.lua --top 5", cli_profile},
    {"explain", CLI_EXPLAIN, 1, 1, "WORKLOAD.lua [options]",
     "runs it and says what bounds it: where the time goes, what another schedule or a faster part "
     "of the machine would gain",
     "The program runs again under the serial and the parallel scheduler, and with each part of "
     "the machine "
     "twice and\ninfinitely fast: about 20 runs, in processes (-j). With --out the result holds "
     "all numbers, "
     "and which\nparameters each of these runs changes; --json prints these alone.\n",
     "heddle explain workloads/dag/vec.lua --config gtx1660s --out vec.json", cli_explain},
    {"tm-advise", CLI_TM_ADVISE, 1, 1, "WORKLOAD.lua [options]",
     "runs it once and says which detector and serialisation suit the transactions of each kernel",
     "The run has tm.detector=dcd-sm and tm.serialise=ascending-single, whose conflicts are those "
     "of "
     "the program.\ntm.policy=auto decides by the code of a kernel alone. --out and --json write "
     "the advice as JSON.\n",
     "heddle tm-advise workloads/tm/hash.lua --config hd7970", cli_tm_advise},
    {"asm", CLI_ASM, 1, 1, "FILE.hasm [options]", "assembles a file and says what its kernels need",
     "With -v each instruction is listed. What --out writes, dis and check read.\n",
     "heddle asm workloads/dag/vec.hasm", cli_asm},
    {"dis", CLI_DIS, 1, 1, "FILE.hasm", "prints what a file assembles to, without sugar and macros",
     "", "heddle dis workloads/dag/vec.hasm", cli_dis},
    {"check", CLI_CHECK, 1, 1, "FILE.hasm", "says what is wrong with a file before it runs", "",
     "heddle check workloads/dag/vec.hasm", cli_check},
    {"config", CLI_CONFIG, 1, 2, "list | show NAME|FILE | check NAME|FILE | schema",
     "lists, shows and checks configurations, and prints their JSON Schema", "",
     "heddle config show p100 --set l1.enabled=off", cli_config},
    {"list", CLI_LIST, 0, 1,
     "[configs | schedulers | policies | divergence-units | parameters | opcodes | api | KEY]",
     "lists the names that configurations and programs may use; of a KEY with choices, these", "",
     "heddle list policies", cli_list},
    {"result", CLI_RESULT, 1, 1, "schema", "prints the JSON Schema of results", "",
     "heddle result schema", cli_result},
};

enum { NVERBS = sizeof verbs / sizeof *verbs };

static void print_help(void)
{
    size_t i;

    puts("heddle: a cycle-level GPU simulator\n\nusage: heddle VERB ...\n");
    for (i = 0; i < NVERBS; i++)
        printf("  %-9s %s\n", verbs[i].name, verbs[i].doc);
    puts(
        "\nheddle VERB --help says more, heddle --version which version this is.\n\n"
        "exit status: 0 all is well, 1 a check of the program failed, 2 wrong usage, 3 bad input,\n"
        "4 the simulated program failed, 5 an internal error, 6 stopped");
}

static void print_verb_help(const struct cli_verb *v)
{
    printf("usage: heddle %s %s\n\n%s.\n%s\n", v->name, v->usage, v->doc, v->more);
    cli_print_options(v);
    printf("\nexample:\n  %s\n", v->example);
}

static void print_version(void)
{
    printf("heddle %s\n%s, cJSON %s, compiler %s\nMIT licence\n", HD_VERSION, LUA_RELEASE,
           cJSON_Version(), __VERSION__);
}

static const struct cli_verb *find_verb(const char *name)
{
    size_t i;

    for (i = 0; i < NVERBS; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

static int unknown_verb(const char *name)
{
    struct nearest near = nearest_start(name);
    struct hd_error err;
    char hint[64];
    size_t i;

    for (i = 0; i < NVERBS; i++)
        nearest_offer(&near, verbs[i].name);
    if (near.best)
        snprintf(hint, sizeof hint, "did you mean heddle %s?", near.best);
    else
        snprintf(hint, sizeof hint, "heddle --help lists the verbs");
    hd_error_set(&err, HD_USAGE, "usage", NULL, hint, "there is no heddle %s", name);
    return cli_fail(&err);
}

/* "help VERB" is "VERB --help". */
static int run_help(int argc, char *const *argv)
{
    const struct cli_verb *verb = argc > 2 ? find_verb(argv[2]) : NULL;

    if (argc > 2 && !verb)
        return unknown_verb(argv[2]);
    if (verb)
        print_verb_help(verb);
    else
        print_help();
    return cli_end(HD_OK);
}

static int run_verb(const struct cli_verb *verb, int argc, char *const *argv)
{
    struct cli_args args;
    struct hd_error err;
    int status = HD_OK;

    hd_error_clear(&err);
    if (cli_parse(&args, verb, argc, argv, 2, &err) != HD_OK)
        status = cli_fail(&err);
    else if (args.help)
        print_verb_help(verb);
    else if (args.version)
        print_version();
    else
        status = verb->run(&args);
    cli_args_free(&args);
    return cli_end(status);
}

int main(int argc, char *argv[])
{
    const char *first = argc > 1 ? argv[1] : NULL;
    const struct cli_verb *verb;
    struct hd_error err;

    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file past the limit of its size is a write that fails */
    if (!first) {
        hd_error_set(&err, HD_USAGE, "usage", NULL, "heddle --help lists the verbs",
                     "no verb was given");
        return cli_fail(&err);
    }
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0)
        return run_help(1, argv);
    if (strcmp(first, "help") == 0)
        return run_help(argc, argv);
    if (strcmp(first, "--version") == 0) {
        print_version();
        return cli_end(HD_OK);
    }
    verb = find_verb(first);
    return verb ? run_verb(verb, argc, argv) : unknown_verb(first);
}
