/* heddle profile: where the time of a run goes, kernel by kernel and line by line. */
#include "host/cli/profile.h"

#include "host/cli/session.h"
#include "host/config/config.h"
#include "sim/base/nearest.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

const char *profile_colour(const char *code)
{
    return cli_colours(STDOUT_FILENO) ? code : "";
}

double profile_share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

void profile_paragraph(const char *lead, unsigned indent, const char *text)
{
    cli_paragraph(lead, indent, PROFILE_WIDTH, text);
}

/* ---- the report ---------------------------------------------------------------------------------- */

static bool shown(const struct cli_args *args, const struct profile_kernel *k)
{
    return !args->kernel || strcmp(args->kernel, k->name) == 0;
}

static int compare_times(const void *a, const void *b)
{
    const struct profile_kernel *x = *(struct profile_kernel *const *)a,
                                *y = *(struct profile_kernel *const *)b;

    if (x->time_ps != y->time_ps)
        return x->time_ps > y->time_ps ? -1 : 1;
    if (x->cycles != y->cycles)
        return x->cycles > y->cycles ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void print_list(const struct profile *p, struct profile_kernel *const *order,
                       const struct cli_args *args)
{
    uint64_t time_ps = 0;

    for (size_t i = 0; i < p->kernels.len; i++)
        time_ps += order[i]->time_ps;
    for (size_t i = 0; i < p->kernels.len; i++) {
        if (!shown(args, order[i]))
            continue;
        putchar('\n');
        profile_print_kernel(p, order[i], time_ps);
        putchar('\n');
        if (args->all)
            profile_print_source(order[i], p->config.wavefront_size);
        else
            profile_print_hot(order[i], p->config.wavefront_size, args->top);
    }
}

/* The kernel that was asked for did not run. */
static void print_unknown(const struct profile *p, const char *name)
{
    struct nearest near = nearest_start(name);
    struct text ran = {0};

    text_add(&ran, p->kernels.len ? "these have:" : "none has");
    for (size_t i = 0; i < p->kernels.len; i++) {
        nearest_offer(&near, p->kernels.at[i]->name);
        text_add(&ran, "%s %s", i ? "," : "", p->kernels.at[i]->name);
    }
    if (near.best)
        cli_warn("no kernel %s has run; did you mean %s?", name, near.best);
    else
        cli_warn("no kernel %s has run; %s", name, text_str(&ran));
    text_free(&ran);
}

static void print_time(const struct session *s)
{
    const struct result *r = &s->result;
    char time[32], kernels[32];

    cli_format_time(r->chosen.time_ps, time, sizeof time);
    cli_format_time(r->chosen.metrics.busy.kernel_ps, kernels, sizeof kernels);
    printf("%s on %s, %s: %s\n", r->workload, r->config_name,
           hd_config_param("host.scheduler")->choices[s->options.host.scheduler].name,
           result_status_names[r->status]);
    printf("%s%s took %s, with kernels on the device for %s of it.\n",
           r->chosen.name ? "Region " : "The program", r->chosen.name ? r->chosen.name : "", time,
           kernels);
}

static void print_profile(const struct session *s, const struct cli_args *args)
{
    const struct profile *p = s->profile;
    struct profile_kernel **order = malloc((p->kernels.len + 1) * sizeof(struct profile_kernel *));
    bool any = false;

    print_time(s);
    for (size_t i = 0; i < p->kernels.len; i++)
        any |= shown(args, p->kernels.at[i]);
    if (!p->kernels.len)
        printf("\nNo kernel ran in simulated time.\n");
    else if (!any)
        print_unknown(p, args->kernel);
    if (!order)
        return;
    for (size_t i = 0; i < p->kernels.len; i++)
        order[i] = p->kernels.at[i];
    qsort(order, p->kernels.len, sizeof *order, compare_times);
    print_list(p, order, args);
    free(order);
}

int cli_profile(const struct cli_args *args)
{
    struct cli_args with = *args;
    struct hd_error err;

    with.profile = true;
    if (args->timing == CLI_TIMING_ON)
        return session_main(&with, NULL, print_profile);
    hd_error_set(&err, HD_USAGE, "usage", NULL, "leave --timing off out",
                 "without time there is nothing to profile");
    return cli_fail(&err);
}
