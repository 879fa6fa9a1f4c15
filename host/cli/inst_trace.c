#include "host/cli/inst_trace.h"

#include "host/cli/cli.h"
#include "host/cli/inst_values.h"
#include "host/results/outfile.h"
#include "host/results/result.h"
#include "isa/dis.h"
#include "sim/base/text.h"
#include "sim/time.h"

#include <inttypes.h>
#include <string.h>

enum {
    KERNELS_NAMED = 8, /* in the message that no such wavefront ran */
    PLACE_MAX = 40,    /* columns of a place */
    DIS_WIDTH = 40,    /* columns of an instruction */
};

/* KERNEL[:GROUP[:WAVEFRONT]] as the user wrote it. */
struct wanted {
    char name[ISA_NAME_MAX]; /* of a kernel, whose first launch is meant; "" for an id */
    uint64_t id, group;
    uint32_t wave;
};

/* An instruction that has issued, and whose results show once the wavefront does something else. */
struct pending {
    bool any;
    uint64_t cycle, lanes;
    uint32_t pc;
    int written;        /* columns of its instruction that are printed already */
    struct text access; /* what it touched */
};

struct kernel_seen {
    uint64_t id;
    char name[ISA_NAME_MAX];
};

struct inst_trace {
    struct wanted wanted;
    struct clock_domain core;
    unsigned width;
    bool all_lanes;
    FILE *to;
    struct out_file file; /* of --trace-inst-out */
    uint64_t ticket;      /* of the kernel that is meant; 0: not seen yet */
    uint64_t groups;      /* of it, seen so far */
    uint32_t waves;
    bool ran;
    int place_width;
    const struct isa_program *program; /* of it */
    struct pending pending;
    uint64_t stalls[SIM_NUM_STALLS]; /* since the instruction before */
    VEC(struct kernel_seen) seen;    /* the first KERNELS_NAMED */
    bool more_seen;
};

/* ---- the name of a wavefront ----------------------------------------------------------------- */

static bool number(const char **at, uint64_t *out)
{
    uint64_t n = 0;

    if (**at < '0' || **at > '9')
        return false;
    for (; **at >= '0' && **at <= '9'; ++*at)
        if (__builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(**at - '0'), &n))
            return false;
    *out = n;
    return true;
}

static bool part(const char **at, uint64_t max, uint64_t *out)
{
    if (!**at)
        return true;
    if (*(*at)++ != ':')
        return false;
    return number(at, out) && *out <= max;
}

static bool parse(const char *text, struct wanted *out)
{
    const char *at = text;
    size_t len = strcspn(text, ":");
    uint64_t wave = 0;

    memset(out, 0, sizeof *out);
    if (*at < '0' || *at > '9') {
        if (len == 0 || len >= sizeof out->name)
            return false;
        memcpy(out->name, text, len);
        at += len;
    } else if (!number(&at, &out->id)) {
        return false;
    }
    if (!part(&at, UINT64_MAX, &out->group) || !part(&at, UINT32_MAX, &wave) || *at)
        return false;
    out->wave = (uint32_t)wave;
    return true;
}

enum hd_status inst_trace_check(const struct cli_args *args, struct hd_error *err)
{
    struct wanted wanted;

    if (!args->trace_inst && args->trace_inst_out)
        return hd_error_set(err, HD_USAGE, "usage", NULL, "add --trace-inst KERNEL:GROUP:WAVEFRONT",
                            "--trace-inst-out says where a trace goes, but none is asked for");
    if (!args->trace_inst)
        return HD_OK;
    if (!parse(args->trace_inst, &wanted))
        return hd_error_set(err, HD_USAGE, "usage", NULL,
                            "write --trace-inst KERNEL:GROUP:WAVEFRONT, such as 0:3:1, with a "
                            "kernel's id or name; what is left out is 0",
                            "--trace-inst \"%s\" is no wavefront", args->trace_inst);
    if (args->timing != CLI_TIMING_ON)
        return hd_error_set(err, HD_USAGE, "usage", NULL, "leave --timing off out",
                            "--trace-inst needs time: nothing issues without");
    return HD_OK;
}

/* ---- printing -------------------------------------------------------------------------------- */

static void place_of(const struct isa_program *program, uint32_t pc, char *out, size_t size)
{
    const struct isa_line *line = &program->lines[program->insns[pc].line];

    snprintf(out, size, "%s:%" PRIu32, cli_base_name(program->files[line->file]), line->line);
}

/* The widest place of the kernel. */
static int place_width(const struct isa_program *program, const struct isa_kernel *kernel)
{
    size_t width = strlen("place");

    for (uint32_t pc = kernel->first; pc < kernel->end; pc++) {
        char place[PLACE_MAX];

        place_of(program, pc, place, sizeof place);
        if (strlen(place) > width)
            width = strlen(place);
    }
    return (int)width;
}

/* Columns of a mask, and of the heading above it. */
static int mask_width(const struct inst_trace *t)
{
    return t->width / 4 > strlen("lanes") ? (int)(t->width / 4) : (int)strlen("lanes");
}

static void print_head(struct inst_trace *t, const struct hd_probe_event *e)
{
    t->place_width = place_width(e->program, e->kernel);
    fprintf(t->to,
            "wavefront %" PRIu32 " of work-group %" PRIu64 " of kernel %" PRIu64
            " (%s), on compute unit %" PRIu32 ", SIMD unit %" PRIu32 "\n"
            "%10s  %-16s  %5s  %-*s  %*s  %-*s  %s\n",
            e->wave, e->group, e->tag - 1, e->kernel->name, e->cu, e->simd, "cycle", "waited", "pc",
            t->place_width, "place", mask_width(t), "lanes", DIS_WIDTH, "instruction", "result");
}

/* How long it waited since the instruction before, and the reason of most of it. */
static void waited_text(struct inst_trace *t, char *out, size_t size)
{
    unsigned most = SIM_STALL_SCOREBOARD;
    uint64_t sum = 0;

    for (unsigned i = SIM_STALL_SCOREBOARD; i < SIM_NUM_STALLS; i++) {
        sum += t->stalls[i];
        if (t->stalls[i] > t->stalls[most])
            most = i;
    }
    memset(t->stalls, 0, sizeof t->stalls);
    if (sum)
        snprintf(out, size, "%" PRIu64 " %s", sum, result_stall_name(most));
    else
        snprintf(out, size, "-");
}

static void print_issue(struct inst_trace *t, uint32_t pc)
{
    struct text dis = {0};
    char waited[48], place[PLACE_MAX], mask[20];

    snprintf(mask, sizeof mask, "%0*" PRIx64, (int)(t->width / 4), t->pending.lanes);
    waited_text(t, waited, sizeof waited);
    place_of(t->program, pc, place, sizeof place);
    isa_disassemble_insn(t->program, &t->program->insns[pc], &dis);
    fprintf(t->to, "%10" PRIu64 "  %-16s  %5" PRIu32 "  %-*s  %*s  ", t->pending.cycle, waited, pc,
            t->place_width, place, mask_width(t), mask);
    t->pending.written = fprintf(t->to, "%s", text_str(&dis));
    text_free(&dis);
}

/* Register values are there once the wavefront goes on; regs is NULL if it never did. */
static void finish_pending(struct inst_trace *t, const struct isa_wave *regs)
{
    struct pending *p = &t->pending;
    struct text result = {0};

    if (!p->any)
        return;
    if (regs)
        inst_results(&t->program->insns[p->pc], regs, p->lanes, t->width, t->all_lanes, &result);
    else
        text_add(&result, "the run ended here");
    if (p->access.len)
        text_add(&result, "%s%s", result.len ? "; " : "", text_str(&p->access));
    if (result.len)
        fprintf(t->to, "%*s  %s", DIS_WIDTH > p->written ? DIS_WIDTH - p->written : 0, "",
                result.at);
    fputc('\n', t->to);
    text_free(&result);
    text_free(&p->access);
    p->any = false;
}

static void print_end(struct inst_trace *t, const struct hd_probe_event *e)
{
    char waited[48];

    waited_text(t, waited, sizeof waited);
    fprintf(t->to, "%10" PRIu64 "  %-16s  ends\n", clock_cycle_at(&t->core, e->time_ps), waited);
}

static void begin_pending(struct inst_trace *t, const struct hd_probe_event *e)
{
    t->pending.any = true;
    t->pending.cycle = clock_cycle_at(&t->core, e->time_ps);
    t->pending.lanes = e->lanes;
    t->pending.pc = e->pc;
    print_issue(t, e->pc);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Remembers which kernels there are, for the message that this one is none of them. */
static void see_kernel(struct inst_trace *t, const struct hd_probe_event *e)
{
    struct kernel_seen k = {.id = e->tag - 1};

    if (e->group || e->wave)
        return;
    snprintf(k.name, sizeof k.name, "%s", e->kernel->name);
    if (t->seen.len < KERNELS_NAMED)
        (void)vec_push(&t->seen, k);
    else
        t->more_seen = true;
}

static void on_start(struct inst_trace *t, const struct hd_probe_event *e)
{
    const struct wanted *w = &t->wanted;

    see_kernel(t, e);
    if (!t->ticket && (*w->name ? strcmp(w->name, e->kernel->name) == 0 : e->tag == w->id + 1))
        t->ticket = e->ticket;
    if (e->ticket != t->ticket)
        return;
    if (t->groups <= e->group)
        t->groups = e->group + 1;
    if (t->waves <= e->wave)
        t->waves = e->wave + 1;
    if (e->group != w->group || e->wave != w->wave)
        return;
    t->ran = true;
    t->program = e->program;
    print_head(t, e);
}

static void on_event(void *user, const struct hd_probe_event *e)
{
    struct inst_trace *t = user;

    if (e->kind == HD_PROBE_WAVE_START)
        on_start(t, e);
    if (e->ticket != t->ticket || e->group != t->wanted.group || e->wave != t->wanted.wave)
        return;
    switch (e->kind) {
    case HD_PROBE_STALL:
        t->stalls[e->reason] += e->cycles;
        break;
    case HD_PROBE_ISSUE:
        finish_pending(t, e->regs);
        begin_pending(t, e);
        break;
    case HD_PROBE_GLOBAL:
    case HD_PROBE_LOCAL:
        inst_access(e, &t->pending.access);
        break;
    case HD_PROBE_WAVE_END:
        finish_pending(t, e->regs);
        print_end(t, e);
        break;
    case HD_PROBE_WAVE_START:
    case HD_PROBE_REQUEST:
    case HD_PROBE_FILL:
    case HD_PROBE_L1_HIT:
    case HD_PROBE_TX_BEGIN:
    case HD_PROBE_TX_CONFLICT:
    case HD_PROBE_TX_COMMIT:
    case HD_PROBE_TX_RETRY:
        break;
    }
}

struct hd_probe inst_trace_probe(struct inst_trace *t)
{
    return (struct hd_probe){
        .user = t,
        .fn = on_event,
        .wants = HD_PROBE_WANT(HD_PROBE_WAVE_START) | HD_PROBE_WANT(HD_PROBE_WAVE_END) |
                 HD_PROBE_WANT(HD_PROBE_ISSUE) | HD_PROBE_WANT(HD_PROBE_STALL) |
                 HD_PROBE_WANT(HD_PROBE_GLOBAL) | HD_PROBE_WANT(HD_PROBE_LOCAL),
    };
}

/* ---- begin and end --------------------------------------------------------------------------- */

enum hd_status inst_trace_new(const struct cli_args *args, const struct sim_config *config,
                              FILE *prints, struct inst_trace **out, struct hd_error *err)
{
    struct inst_trace *t;
    enum hd_status status = HD_OK;

    *out = NULL;
    if (!args->trace_inst)
        return HD_OK;
    t = calloc(1, sizeof *t);
    if (!t)
        return hd_no_memory(err, "the trace");
    (void)parse(args->trace_inst, &t->wanted);
    t->core = clock_make(config->core_hz);
    t->width = config->wavefront_size;
    t->all_lanes = args->verbose;
    t->to = prints;
    if (args->trace_inst_out) {
        status = out_open(&t->file, args->trace_inst_out, err);
        t->to = t->file.file;
    }
    if (status == HD_OK)
        *out = t;
    else
        free(t);
    return status;
}

void inst_trace_end(struct inst_trace *t)
{
    finish_pending(t, NULL);
}

static enum hd_status no_kernel(const struct inst_trace *t, struct hd_error *err)
{
    struct text hint = {0};

    for (size_t i = 0; i < t->seen.len; i++)
        text_add(&hint, "%s%" PRIu64 " (%s)", i ? ", " : "kernels of this run: ", t->seen.at[i].id,
                 t->seen.at[i].name);
    text_add(&hint, "%s", t->seen.len ? t->more_seen ? ", and more" : "" : "no kernel ran");
    if (*t->wanted.name)
        hd_error_set(err, HD_USAGE, "usage", NULL, text_str(&hint),
                     "--trace-inst: no kernel %s has run", t->wanted.name);
    else
        hd_error_set(err, HD_USAGE, "usage", NULL, text_str(&hint),
                     "--trace-inst: no kernel with id %" PRIu64 " has run", t->wanted.id);
    text_free(&hint);
    return HD_USAGE;
}

static enum hd_status no_wavefront(const struct inst_trace *t, struct hd_error *err)
{
    char hint[160];

    snprintf(hint, sizeof hint,
             "work-groups 0 to %" PRIu64 " of that kernel ran, with wavefronts 0 to %" PRIu32
             " each",
             t->groups - 1, t->waves - 1);
    return hd_error_set(err, HD_USAGE, "usage", NULL, hint,
                        "--trace-inst: wavefront %" PRIu32 " of work-group %" PRIu64
                        " has never run",
                        t->wanted.wave, t->wanted.group);
}

enum hd_status inst_trace_commit(struct inst_trace *t, struct hd_error *err)
{
    if (!t->ticket)
        return no_kernel(t, err);
    if (!t->ran)
        return no_wavefront(t, err);
    return t->file.file ? out_commit(&t->file, err) : HD_OK;
}

void inst_trace_free(struct inst_trace *t)
{
    if (!t)
        return;
    out_abandon(&t->file);
    text_free(&t->pending.access);
    vec_free(&t->seen);
    free(t);
}
