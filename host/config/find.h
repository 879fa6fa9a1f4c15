/* Where presets are: files NAME.json in the folder configs. */
#ifndef HD_HOST_CONFIG_FIND_H
#define HD_HOST_CONFIG_FIND_H

#include "sim/base/error.h"
#include "sim/base/vec.h"

struct config_names {
    char **at;
    size_t len, cap;
};

/* Whether a configuration is named by its file: there is a '/' in it, or it ends in ".json". */
bool config_is_file(const char *name);

/*
 * The path of a configuration: a name with a '/' or ending in ".json" is a file, another a preset, looked for in
 * the folders configs of host/rt/data_dirs.h; the first that has it counts. *path is the caller's (free). HD_BAD_INPUT
 * lists the presets there are.
 */
enum hd_status config_find(const char *name_or_file, char **path, struct hd_error *err);

/* The names of all presets, sorted, each once. False when memory is short. */
bool config_list(struct config_names *out);
void config_names_free(struct config_names *names);

#endif
