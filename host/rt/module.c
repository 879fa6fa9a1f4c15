#include "host/rt/data_dirs.h"
#include "host/rt/runtime.h"

#include "isa/asm.h"

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
    if (m)
        m->path = malloc(strlen(path) + 1);
    if (!m || !m->path || !vec_push(&rt->modules, m)) {
        if (m)
            free(m->path);
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

const struct isa_program *hd_module_program(const hd_module *m)
{
    return m->program;
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

static enum hd_status no_form(const hd_module *m, const char *name, struct hd_error *err)
{
    return hd_error_set(
        err, HD_BAD_INPUT, "kernel-form", m->path,
        "choose a divergence.unit that runs the kernel's form, or write the kernel in another",
        "no kernel %s in %s has a control-flow form that this configuration runs", name, m->path);
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
        return no_form(m, name, err);
    k = calloc(1, sizeof *k);
    if (!k)
        return rt_no_memory(rt, err);
    k->rt = rt;
    k->program = m->program;
    k->kernel = found;
    status = signature_parse(k, signature, err);
    if (status == HD_OK && !vec_push(&rt->kernels, k))
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
