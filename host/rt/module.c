#include "host/rt/data_dirs.h"
#include "host/rt/runtime.h"

#include "cf/cf.h"
#include "isa/asm.h"
#include "isa/format.h"
#include "sim/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hd_module *find_module(const hd_runtime *rt, const char *path)
{
    for (size_t i = 0; i < rt->modules.len; i++) {
        if (strcmp(rt->modules.at[i]->path, path) == 0)
            return rt->modules.at[i];
    }
    return NULL;
}

enum hd_status module_adopt(hd_runtime *rt, const char *path, struct isa_program *program,
                            hd_module **out, struct hd_error *err)
{
    hd_module *m = calloc(1, sizeof *m);

    *out = NULL;
    if (m) {
        m->path = malloc(strlen(path) + 1);
        m->history = history_new(program);
    }
    if (!m || !m->path || !m->history || !vec_push(&rt->modules, m)) {
        if (m) {
            free(m->path);
            history_free(m->history, program);
        }
        free(m);
        isa_program_free(program);
        return rt_no_memory(rt, err);
    }
    m->rt = rt;
    strcpy(m->path, path);
    m->program = program;
    *out = m;
    return HD_OK;
}

enum hd_status hd_module_load(hd_runtime *rt, const char *path, hd_module **out,
                              struct hd_error *err)
{
    struct data_dirs library;
    struct isa_program *program;
    enum hd_status status;

    *out = NULL;
    if (rt_poisoned(rt, err))
        return rt->poison.status;
    *out = find_module(rt, path);
    if (*out)
        return HD_OK;
    data_dirs_find("workloads/lib", &library);
    status = isa_assemble_file(path, library.at, library.len, &program, err);
    return status == HD_OK ? module_adopt(rt, path, program, out, err) : status;
}

/* ---- kernels ------------------------------------------------------------------------------------ */

static enum hd_status no_kernel(const hd_module *m, const char *name, struct hd_error *err)
{
    const struct isa_program *p = m->program;
    const char *names[64], *nearest;
    size_t n = 0;
    char hint[ISA_NAME_MAX + 32] = "";

    for (size_t i = 0; i < p->nkernels && n < sizeof names / sizeof names[0]; i++)
        names[n++] = p->kernels[i].name;
    nearest = name_nearest(name, names, n);
    if (nearest)
        snprintf(hint, sizeof hint, "did you mean %s?", nearest);
    return hd_error_set(err, HD_BAD_INPUT, "kernel-unknown", m->path, hint,
                        "there is no kernel %s in %s", name, m->path);
}

/* Which units run a form. */
static void add_units(struct text *out, unsigned form)
{
    const char *before = "";

    for (size_t i = 0; cf_units[i]; i++) {
        if (!(cf_units[i]->forms & form))
            continue;
        text_add(out, "%s%s", before, cf_units[i]->name);
        before = " or ";
    }
    if (!*before)
        text_add(out, "no unit");
}

/* The forms of a set, with the units that run each or without. */
static void add_forms(struct text *out, unsigned forms, bool units)
{
    const char *before = "";

    for (unsigned form = 1; form < ISA_FORM_ALL; form <<= 1) {
        if (!(forms & form))
            continue;
        text_add(out, "%s%s", before, isa_form_name(form));
        if (units) {
            text_add(out, ": ");
            add_units(out, form);
        }
        before = units ? "; " : " or ";
    }
}

static unsigned forms_of(const struct isa_program *p, const char *name)
{
    unsigned forms = 0;

    for (size_t i = 0; i < p->nkernels; i++)
        if (strcmp(p->kernels[i].name, name) == 0)
            forms |= p->kernels[i].forms;
    return forms;
}

static enum hd_status no_form(const hd_runtime *rt, const hd_module *m, const char *name,
                              unsigned wanted, struct hd_error *err)
{
    const char *unit = cf_units[rt->options.gpu.divergence_unit]->name;
    unsigned there = forms_of(m->program, name);
    struct text have = {0}, want = {0}, hint = {0};
    enum hd_status status;

    add_forms(&have, there, false);
    add_forms(&want, wanted, false);
    text_add(&hint,
             "--set divergence.unit=UNIT takes another form; units of those that there are: ");
    add_forms(&hint, there, true);
    status = hd_error_set(err, HD_BAD_INPUT, "kernel-form", m->path, text_str(&hint),
                          "kernel %s is there in form %s, but divergence.unit=%s takes %s", name,
                          text_str(&have), unit, text_str(&want));
    text_free(&have);
    text_free(&want);
    text_free(&hint);
    return status;
}

enum hd_status hd_kernel_get(hd_runtime *rt, hd_module *m, const char *name, const char *signature,
                             hd_kernel **out, struct hd_error *err)
{
    unsigned forms = sim_config_forms(&rt->options.gpu);
    const struct isa_kernel *found;
    enum hd_status status;
    hd_kernel *k;

    *out = NULL;
    if (rt_poisoned(rt, err))
        return rt->poison.status;
    found = isa_find_kernel(m->program, name, forms);
    if (!found)
        return no_kernel(m, name, err);
    if (!(found->forms & forms))
        return no_form(rt, m, name, forms, err);
    k = calloc(1, sizeof *k);
    if (!k)
        return rt_no_memory(rt, err);
    k->rt = rt;
    k->program = m->program;
    k->kernel = found;
    status = signature_parse(k, signature, err);
    if (status == HD_OK &&
        (!history_open(m->history, m->program, found) || !vec_push(&rt->kernels, k)))
        status = rt_no_memory(rt, err);
    if (status != HD_OK) {
        free(k);
        return status;
    }
    *out = k;
    return HD_OK;
}

const char *hd_kernel_name(const hd_kernel *k)
{
    return k->kernel->name;
}

unsigned hd_kernel_params(const hd_kernel *k)
{
    return k->nparams;
}
