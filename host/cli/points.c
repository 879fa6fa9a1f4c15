#include "host/cli/points.h"

#include "host/config/config.h"
#include "host/config/find.h"

#include <stdlib.h>
#include <string.h>

static void point_free(struct point *p)
{
    size_t i;

    for (i = 0; i < p->nchanges; i++)
        free(p->changes[i]);
    free(p->label);
}

void points_free(struct points *p)
{
    size_t i;

    for (i = 0; i < p->len; i++)
        point_free(&p->at[i]);
    vec_free(p);
}

void point_take(struct point *p, const struct session *s)
{
    const struct result *r = &s->result;

    p->ran = true;
    p->status = r->status;
    p->time_ps = r->chosen.time_ps;
    p->device_time_ps = r->chosen.device_time_ps;
    p->contention_free_ps = r->contention_free_ps;
    p->checks_passed = r->checks_passed;
    p->checks_failed = r->checks_failed;
    p->overlap = r->chosen.overlap;
    p->metrics = r->chosen.metrics;
}

static bool add_change(struct point *p, const char *key, size_t key_len, const char *value,
                       size_t value_len)
{
    struct text t = {0};

    text_add_bytes(&t, key, key_len);
    text_add_bytes(&t, "=", 1);
    text_add_bytes(&t, value, value_len);
    if (t.failed) {
        text_free(&t);
        return false;
    }
    p->changes[p->nchanges++] = t.at;
    return true;
}

/* ---- schedulers --------------------------------------------------------------------------------- */

static bool add_scheduler(struct points *out, const char *label, const char *scheduler,
                          const char *prefetch)
{
    struct point p;

    memset(&p, 0, sizeof p);
    p.label = strdup(label);
    if (p.label &&
        add_change(&p, "host.scheduler", strlen("host.scheduler"), scheduler, strlen(scheduler)) &&
        add_change(&p, "host.prefetch", strlen("host.prefetch"), prefetch, strlen(prefetch)) &&
        vec_push(out, p))
        return true;
    point_free(&p);
    return false;
}

enum hd_status points_schedulers(struct points *out, bool page_faults, struct hd_error *err)
{
    if ((!page_faults || add_scheduler(out, "serial-sync-no-prefetch", "serial-sync", "off")) &&
        add_scheduler(out, "serial-sync", "serial-sync", "on") &&
        add_scheduler(out, "parallel-async", "parallel-async", "on"))
        return HD_OK;
    return hd_no_memory(err, "the points");
}

/* ---- axes ------------------------------------------------------------------------------------------ */

struct axis {
    const char *key;
    size_t key_len;
    struct config_names values;
};

static bool add_value(struct axis *a, const char *value, size_t len)
{
    char *copy = strndup(value, len);

    if (copy && vec_push(&a->values, copy))
        return true;
    free(copy);
    return false;
}

static bool key_is(const struct axis *a, const char *key)
{
    return a->key_len == strlen(key) && memcmp(a->key, key, a->key_len) == 0;
}

/* All values of a choice, of a switch, or all presets. */
static enum hd_status take_all_values(struct axis *a, const struct param *row, struct hd_error *err)
{
    const struct param_choice *c;

    if (key_is(a, "config"))
        return config_list(&a->values) ? HD_OK : hd_no_memory(err, "the points");
    if (row && row->kind == PARAM_KIND_CHOICE) {
        for (c = row->choices; c->name; c++)
            if (!add_value(a, c->name, strlen(c->name)))
                return hd_no_memory(err, "the points");
        return HD_OK;
    }
    if (row && row->kind == PARAM_KIND_BOOL)
        return add_value(a, "on", 2) && add_value(a, "off", 3) ? HD_OK
                                                               : hd_no_memory(err, "the points");
    return hd_error_set(err, HD_USAGE, "usage", NULL, "write --axis KEY=V1,V2,...",
                        "--axis %.*s needs its values", (int)a->key_len, a->key);
}

static bool has_value(const struct axis *a, const char *value, size_t len)
{
    size_t i;

    for (i = 0; i < a->values.len; i++)
        if (strlen(a->values.at[i]) == len && memcmp(a->values.at[i], value, len) == 0)
            return true;
    return false;
}

static enum hd_status take_values(struct axis *a, const char *list, struct hd_error *err)
{
    for (;;) {
        size_t len = strcspn(list, ",");

        if (len == 0)
            return hd_error_set(err, HD_USAGE, "usage", NULL, NULL,
                                "--axis %.*s has an empty value", (int)a->key_len, a->key);
        if (has_value(a, list, len))
            return hd_error_set(err, HD_USAGE, "usage", NULL, NULL,
                                "--axis %.*s has the value %.*s twice", (int)a->key_len, a->key,
                                (int)len, list);
        if (!add_value(a, list, len))
            return hd_no_memory(err, "the points");
        if (!list[len])
            return HD_OK;
        list += len + 1;
    }
}

static enum hd_status parse_axis(struct axis *a, const char *text, struct hd_error *err)
{
    const struct param *row;
    char key[128];

    a->key = text;
    a->key_len = strcspn(text, "=");
    snprintf(key, sizeof key, "%.*s", (int)a->key_len, text);
    row = hd_config_param(key);
    if (!row && strcmp(key, "config") != 0 && strncmp(key, "arg.", 4) != 0)
        return hd_config_unknown(key, "--axis", err);
    if (!text[a->key_len])
        return take_all_values(a, row, err);
    return take_values(a, text + a->key_len + 1, err);
}

/* The point number i of the cross product. */
static enum hd_status add_point(struct points *out, const struct axis *axes, size_t naxes, size_t i,
                                struct hd_error *err)
{
    size_t value[AXES_MAX], a = naxes;
    struct text label = {0};
    struct point p;
    bool ok = true;

    memset(&p, 0, sizeof p);
    while (a-- > 0) {
        value[a] = i % axes[a].values.len;
        i /= axes[a].values.len;
    }
    for (a = 0; a < naxes && ok; a++) {
        const char *v = axes[a].values.at[value[a]];

        text_add(&label, "%s%.*s=%s", a ? " " : "", (int)axes[a].key_len, axes[a].key, v);
        ok = add_change(&p, axes[a].key, axes[a].key_len, v, strlen(v));
    }
    p.label = label.failed ? NULL : label.at;
    if (ok && p.label && vec_push(out, p))
        return HD_OK;
    point_free(&p);
    return hd_no_memory(err, "the points");
}

static enum hd_status multiply(struct points *out, const struct axis *axes, size_t naxes,
                               struct hd_error *err)
{
    enum hd_status status = HD_OK;
    size_t n = 1, i;

    for (i = 0; i < naxes; i++) {
        if (axes[i].values.len == 0)
            return hd_error_set(err, HD_USAGE, "usage", NULL, NULL, "--axis %.*s has no values",
                                (int)axes[i].key_len, axes[i].key);
        n *= axes[i].values.len;
        if (n > POINTS_MAX)
            return hd_error_set(err, HD_USAGE, "usage", NULL, NULL,
                                "the axes have more than %d points", POINTS_MAX);
    }
    out->axes = naxes;
    for (i = 0; i < n && status == HD_OK; i++)
        status = add_point(out, axes, naxes, i, err);
    return status;
}

enum hd_status points_axes(struct points *out, const struct cli_list *axes, struct hd_error *err)
{
    struct axis parsed[AXES_MAX];
    enum hd_status status = HD_OK;
    size_t i;

    if (axes->len > AXES_MAX)
        return hd_error_set(err, HD_USAGE, "usage", NULL, NULL, "more than %d axes", AXES_MAX);
    memset(parsed, 0, sizeof parsed);
    for (i = 0; i < axes->len && status == HD_OK; i++)
        status = parse_axis(&parsed[i], axes->at[i], err);
    if (status == HD_OK)
        status = multiply(out, parsed, axes->len, err);
    for (i = 0; i < axes->len; i++)
        config_names_free(&parsed[i].values);
    return status;
}
