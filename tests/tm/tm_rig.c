#include "tests/tm/tm_rig.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t named(const struct param_choice *list, const char *name)
{
    for (uint32_t i = 0; list[i].name; i++)
        if (strcmp(list[i].name, name) == 0)
            return i;
    fail_msg("no choice %s", name);
    return 0;
}

void rig_open(struct tm_rig *r, const char *detector, const char *serialise, unsigned wavefronts,
              unsigned width)
{
    memset(r, 0, sizeof *r);
    tm_defaults(&r->p);
    r->p.detector = named(tm_detector_choices, detector);
    r->p.serialise = named(tm_serialise_choices, serialise);
    r->wavefronts = wavefronts;
    r->width = width;
    rig_start(r);
}

void rig_start(struct tm_rig *r)
{
    size_t size = tm_size(&r->p, r->wavefronts, r->width, RIG_LDS);

    assert_int_equal(tm_check(&r->p, r->wavefronts, r->width, NULL), HD_OK);
    free(r->wg);
    r->wg = malloc(size);
    assert_non_null(r->wg);
    memset(r->wg, 0xa5, size);
    tm_init(r->wg, &r->p, r->wavefronts, r->width, RIG_LDS);
}

void rig_close(struct tm_rig *r)
{
    free(r->wg);
}

enum tm_what rig_begin(struct tm_rig *r, unsigned wf, uint64_t exec)
{
    tm_begin(r->wg, wf, exec, &r->out);
    return r->out.what;
}

enum tm_what rig_commit(struct tm_rig *r, unsigned wf)
{
    tm_commit(r->wg, wf, r->lds, &r->out);
    return r->out.what;
}

enum tm_what rig_stopped(struct tm_rig *r, unsigned wf)
{
    tm_stopped(r->wg, wf, r->lds, &r->out);
    return r->out.what;
}

void rig_at(struct tm_rig *r, unsigned lane, uint32_t word)
{
    r->address[lane] = word * 4;
}

static uint64_t add(uint16_t op, uint64_t memory, uint64_t a, uint64_t c)
{
    (void)op, (void)c;
    return memory + a;
}

static struct tm_ref reference(struct tm_rig *r, enum tm_kind kind, uint32_t bytes)
{
    return (struct tm_ref){.kind = kind,
                           .bytes = bytes,
                           .address = r->address,
                           .value = r->value,
                           .out = r->got,
                           .apply = add};
}

enum tm_what rig_access(struct tm_rig *r, unsigned wf, enum tm_kind kind, uint64_t lanes,
                        uint32_t bytes)
{
    struct tm_ref ref = reference(r, kind, bytes);

    tm_access(r->wg, wf, lanes, &ref, r->lds, &r->out);
    return r->out.what;
}

bool rig_load(struct tm_rig *r, unsigned wf, unsigned lane, uint32_t word)
{
    rig_at(r, lane, word);
    rig_access(r, wf, TM_LOAD, UINT64_C(1) << lane, 4);
    return r->out.done >> lane & 1;
}

bool rig_store(struct tm_rig *r, unsigned wf, unsigned lane, uint32_t word, uint32_t value)
{
    rig_at(r, lane, word);
    r->value[lane] = value;
    rig_access(r, wf, TM_STORE, UINT64_C(1) << lane, 4);
    return r->out.done >> lane & 1;
}

enum tm_what rig_plain(struct tm_rig *r, unsigned wf, enum tm_kind kind, uint32_t word)
{
    struct tm_ref ref = reference(r, kind, 4);

    rig_at(r, 0, word);
    tm_plain(r->wg, wf, 1, &ref, &r->out);
    return r->out.what;
}

uint32_t rig_word(const struct tm_rig *r, uint32_t word)
{
    uint32_t v;

    memcpy(&v, r->lds + (size_t)word * 4, 4);
    return v;
}

bool rig_is_clean(const struct tm_rig *r)
{
    size_t size = tm_size(&r->p, r->wavefronts, r->width, RIG_LDS);
    struct tm_wg *fresh = malloc(size);
    bool same;

    assert_non_null(fresh);
    tm_init(fresh, &r->p, r->wavefronts, r->width, RIG_LDS);
    same = memcmp(fresh, r->wg, size) == 0;
    free(fresh);
    return same;
}
