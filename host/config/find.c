#include "host/config/find.h"

#include "host/rt/data_dirs.h"
#include "sim/base/nearest.h"
#include "sim/base/text.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char suffix[] = ".json";

bool config_is_file(const char *name)
{
    size_t len = strlen(name);

    return strchr(name, '/') ||
           (len > sizeof suffix - 1 && strcmp(name + len - (sizeof suffix - 1), suffix) == 0);
}

static enum hd_status no_such_preset(const char *name, struct hd_error *err)
{
    struct config_names names = {0};
    struct nearest near = nearest_start(name);
    struct text list = {0}, hint = {0};
    enum hd_status status;
    size_t i;

    config_list(&names);
    for (i = 0; i < names.len; i++) {
        nearest_offer(&near, names.at[i]);
        text_add(&list, "%s%s", i ? ", " : "", names.at[i]);
    }
    if (near.best)
        text_add(&hint, "did you mean \"%s\"? ", near.best);
    text_add(&hint, "a file is written with a '/' or ends in .json");
    status = hd_error_set(err, HD_BAD_INPUT, "config-not-found", NULL, text_str(&hint),
                          "there is no configuration \"%s\"; presets: %s", name,
                          names.len ? text_str(&list) : "none was found");
    config_names_free(&names);
    text_free(&list);
    text_free(&hint);
    return status;
}

enum hd_status config_find(const char *name_or_file, char **path, struct hd_error *err)
{
    char candidate[PATH_MAX + 64];
    struct data_dirs dirs;
    size_t i;

    *path = NULL;
    if (config_is_file(name_or_file)) {
        *path = strdup(name_or_file);
        return *path ? HD_OK : hd_no_memory(err, "the name of a configuration");
    }
    data_dirs_find("configs", &dirs);
    for (i = 0; i < dirs.len; i++) {
        int n = snprintf(candidate, sizeof candidate, "%s/%s%s", dirs.at[i], name_or_file, suffix);

        if (n > 0 && (size_t)n < sizeof candidate && access(candidate, R_OK) == 0) {
            *path = strdup(candidate);
            return *path ? HD_OK : hd_no_memory(err, "the name of a configuration");
        }
    }
    return no_such_preset(name_or_file, err);
}

/* ---- the list ------------------------------------------------------------------------------ */

static bool has_name(const struct config_names *names, const char *name)
{
    size_t i;

    for (i = 0; i < names->len; i++)
        if (strcmp(names->at[i], name) == 0)
            return true;
    return false;
}

/* Adds the stem of a file NAME.json; other files are left out. */
static bool add_name(struct config_names *out, const char *file)
{
    size_t len = strlen(file);
    char *name;

    if (*file == '.' || !config_is_file(file))
        return true;
    name = strdup(file);
    if (!name)
        return false;
    name[len - (sizeof suffix - 1)] = '\0';
    if (has_name(out, name)) {
        free(name);
        return true;
    }
    if (vec_push(out, name))
        return true;
    free(name);
    return false;
}

static bool add_dir(struct config_names *out, const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    bool ok = true;

    while (dir && ok && (entry = readdir(dir)) != NULL)
        ok = add_name(out, entry->d_name);
    if (dir)
        closedir(dir);
    return ok;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool config_list(struct config_names *out)
{
    struct data_dirs dirs;
    bool ok = true;
    size_t i;

    data_dirs_find("configs", &dirs);
    for (i = 0; ok && i < dirs.len; i++)
        ok = add_dir(out, dirs.at[i]);
    if (out->len)
        qsort(out->at, out->len, sizeof *out->at, by_name);
    return ok;
}

void config_names_free(struct config_names *names)
{
    size_t i;

    for (i = 0; i < names->len; i++)
        free(names->at[i]);
    vec_free(names);
}
