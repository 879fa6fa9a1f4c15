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

/* What hd_sweep_text() writes: a string itself, or another value in digits. */
enum { SWEEP_DIGITS = 40 };
const char *sweep_word(const struct hd_script_value *value, char digits[SWEEP_DIGITS]);

/* Reads the table at the top of the stack into *sweep; raises what is wrong with it (sweep_read.c). */
void sweep_read(lua_State *L, struct hd_sweep *sweep);
/* The same for its axes, which it looks up in the table at 1 (sweep_axes.c). */
void sweep_read_axes(lua_State *L, struct hd_sweep *sweep);
/* Raises HD_BAD_INPUT at "file (where)"; hint may be NULL. */
int sweep_refuse(lua_State *L, const struct hd_sweep *sweep, const char *where, const char *hint,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Raises an error unless the value at idx is a table. */
void sweep_check_table(lua_State *L, const struct hd_sweep *sweep, const char *where, int idx);
/* Raises an error, with the nearest known key, unless each key of the table at idx is known. */
void sweep_check_keys(lua_State *L, const struct hd_sweep *sweep, const char *where, int idx,
                      const char *const *known, size_t nknown);
/*
 * Pushes a userdata with the keys of the table at idx, in the order of their bytes. The strings are the table's, which must
 * stay as it is.
 */
const char **sweep_sorted_keys(lua_State *L, const struct hd_sweep *sweep, const char *where,
                               int idx, size_t *count);
/* The number, string or boolean at idx; *out owns a string. */
void sweep_take_value(lua_State *L, const struct hd_sweep *sweep, const char *where, int idx,
                      struct hd_script_value *out);

/*
 * Pushes a value as Lua's: objects and arrays become tables, null nil (so that a list may have holes), whole numbers up to 2^53
 * integers.
 */
void sweep_push_json(lua_State *L, const cJSON *value);

#endif
