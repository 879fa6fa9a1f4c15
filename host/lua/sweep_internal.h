/* What the files of sweeps share. */
#ifndef HD_HOST_LUA_SWEEP_INTERNAL_H
#define HD_HOST_LUA_SWEEP_INTERNAL_H

#include "host/lua/internal.h"
#include "host/lua/sweep.h"

#include <cjson/cJSON.h>

#define KEY_SWEEP "heddle.sweep" /* in the registry: the table that the script returned */

struct sweep_script {
    struct script script;
    struct hd_script_options options;
    struct hd_script_info info;
};

/* Reads the table at the top of the stack into *sweep; raises what is wrong with it (sweep_read.c). */
void sweep_read(lua_State *L, struct hd_sweep *sweep);
/* Raises HD_BAD_INPUT at "file (where)"; hint may be NULL. */
int sweep_refuse(lua_State *L, const struct hd_sweep *sweep, const char *where, const char *hint,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/*
 * Pushes a value as Lua's: objects and arrays become tables, null nil (so that a list may have holes), whole numbers up to 2^53
 * integers.
 */
void sweep_push_json(lua_State *L, const cJSON *value);

#endif
