/*
 * What the files of host/lua share. A Lua error is a longjmp, so a function that Lua calls holds nothing
 * across a call that may raise: what must be freed lies in a userdata that is made first.
 */
#ifndef HD_HOST_LUA_INTERNAL_H
#define HD_HOST_LUA_INTERNAL_H

#include "host/heddle.h"
#include "host/lua/script.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

/* ---- the run ----------------------------------------------------------------------------- */

struct limits {
    size_t memory, max_memory, peak_memory;
    uint64_t instructions, max_instructions;
    size_t refused; /* size of the allocation just refused, for which Lua now collects garbage */
    char refused_place[256];
    bool spent; /* the run is over: every further instruction raises an error */
};

struct script {
    hd_runtime *rt; /* NULL in a sweep, which runs nothing itself */
    const struct hd_script_options *o;
    struct hd_script_info *info;
    lua_State *L; /* the main thread; NULL until it is made */
    struct limits limits;
    struct hd_error
        why; /* the error that ends the run, once limits.spent; else the last that reached the top */
    struct hd_error raised; /* the last error that came from C, whose text is in the registry at KEY_RAISED */
    char folder[4096]; /* of the program, "." at least */
    char lib[4096];    /* of the shared modules */
    bool *data_used;   /* beside o->data */
    uint64_t serial;   /* of the next handle */
    bool in_region;
};

static inline struct script *script_of(lua_State *L)
{
    return *(struct script **)lua_getextraspace(L);
}

/* ---- the state (script.c) ------------------------------------------------------------------ */

/* Finds folder and lib. */
enum hd_status script_folders(struct script *s, struct hd_error *err);
/* Makes the state L with nothing in it; the caller closes it. */
enum hd_status script_open(struct script *s, struct hd_error *err);
/* Calls fn with data as its light userdata; an error of Lua comes back in *err, its traceback in s->info. */
enum hd_status script_protected(struct script *s, lua_CFunction fn, void *data,
                                struct hd_error *err);
/* Compiles the program's text and leaves the function on the stack; false with *syntax where it cannot be. */
bool script_load(lua_State *L, const char *text, size_t length, struct hd_error *syntax);

/* Keys of the registry. */
#define KEY_RAISED "heddle.raised"
#define KEY_MODULES "heddle.modules"
#define KEY_REGIONS "heddle.regions"

/* ---- limits (limits.c) -------------------------------------------------------------------- */

/* A lua_Alloc; ud is the struct script. */
void *limits_alloc(void *ud, void *at, size_t old_size, size_t new_size);
/* The error of a script that needs more memory, at the place of the last refusal. */
void limits_memory_error(const struct script *s, struct hd_error *err);
/* Starts counting instructions; coroutines inherit it. */
void limits_arm(lua_State *L);
/* Counts work done in C by the size of an argument as if it were instructions. */
void limits_charge(lua_State *L, uint64_t instructions);
/*
 * Counts memory that the runtime keeps for the script as if it were the script's: RECORD_BYTES for an array, a stream, an
 * event or a kernel, of which all but events stay until the run ends.
 */
enum { RECORD_BYTES = 512 };
void limits_hold(lua_State *L, size_t bytes);
void limits_let_go(lua_State *L, size_t bytes);
/* Ends the run with this error, which no pcall can hold, and raises it. */
int limits_end_run(lua_State *L, const struct hd_error *why);

/* ---- errors (error.c) ---------------------------------------------------------------------- */

/*
 * Raises *err as a Lua error: a string, so that scripts can read it; code, hint and place are found again when it
 * reaches the top. A failed simulation, an internal error and a stop end the run.
 */
int script_raise(lua_State *L, const struct hd_error *err);
/* The same with HD_BAD_INPUT and a text of its own; hint may be NULL. */
int script_error(lua_State *L, const char *code, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* A message handler: keeps error and traceback in the script. */
int script_on_error(lua_State *L);
/* "file:line" of the innermost Lua function that is running, or "". */
void script_place(lua_State *L, char *out, size_t size);
/* From a message of Lua's compiler, "file:line: text". */
void script_syntax_error(const char *message, struct hd_error *err);

/* ---- API tables ---------------------------------------------------------------------------- */

/* A row of a registration table: it makes the function and its entry in the manual. */
struct api_row {
    const char *name;
    lua_CFunction fn;
    const char *args, *doc;
};

/* Each ends with a row of NULLs. Those of the first two lines make the table heddle. */
extern const struct api_row arg_api[], array_new_api[], module_new_api[], region_api[], check_api[];
extern const struct api_row stream_new_api[], graph_new_api[], library_api[], host_api[];
extern const struct api_row array_api[], bulk_api[], npy_api[]; /* methods of an array */
extern const struct api_row module_api[], kernel_api[], stream_api[], event_api[];
extern const struct api_row graph_api[], node_api[], exec_api[];
extern const struct api_row global_api[]; /* globals that are not Lua's own */

/* Makes the table heddle, which is left on the stack, and the types of handles (api.c). */
void api_open(lua_State *L);
/* Adds the rows' functions to the table on top of the stack. */
void api_add(lua_State *L, const struct api_row *rows);

/* The hint of an error about a handle that was freed. */
#define FREED_HINT "it was freed before, by free() or at the end of the block of its <close>"

/* ---- handles (handle.c) ----------------------------------------------------------------------- */

/* Every userdata of ours starts so; its number orders it where tables with handles as keys are traversed. */
struct handle {
    uint64_t serial;
};

/* A new userdata of a type that handle_type() made, zeroed but for its number, on top of the stack. */
void *handle_new(lua_State *L, const char *type, size_t size, int user_values);
/*
 * Makes a type: methods from lists of rows (ended by NULL), metamethods from extra, each with the table of methods as its
 * first upvalue; hidden from scripts. Without an __index of its own an unknown method is an error.
 */
void handle_type(lua_State *L, const char *type, const struct api_row *const *methods,
                 const luaL_Reg *extra);
/* Pushes the method named by the string at idx 2 out of the first upvalue; an unknown one is an error with a suggestion. */
int handle_method(lua_State *L);
/* Raises the error for a name that is not in the table at idx; what is "array has no method" or alike. */
int handle_unknown(lua_State *L, int idx, const char *what, const char *name);
/* The number of the handle at idx; false if it is none. */
bool handle_serial(lua_State *L, int idx, uint64_t *serial);

/* The types also make the registry's key and the name in messages. */
#define TYPE_ARRAY "heddle.array"
#define TYPE_MODULE "heddle.module"
#define TYPE_KERNEL "heddle.kernel"
#define TYPE_LAUNCH "heddle.launch"
#define TYPE_STREAM "heddle.stream"
#define TYPE_EVENT "heddle.event"
#define TYPE_LIBRARY "heddle.library"
#define TYPE_GRAPH "heddle.graph"
#define TYPE_NODE "heddle.node"
#define TYPE_EXEC "heddle.instance"

/* Each makes its type. */
void array_open(lua_State *L);
void kernel_open(lua_State *L);
void stream_open(lua_State *L);
void graph_open(lua_State *L);
void library_open(lua_State *L);

/* ---- guards (guard.c) ------------------------------------------------------------------------- */

/*
 * Pushes a value that calls close(L, data) when the calling function ends, by return or by error.
 * close must not raise. Returns data: size bytes, zeroed.
 */
void *guard_push(lua_State *L, void (*close)(lua_State *L, void *data), size_t size);
/*
 * The same for what is only memory: where a limit of the script keeps release from being called, it
 * is when the script is over.
 */
void *guard_push_memory(lua_State *L, void (*release)(lua_State *L, void *data), size_t size);

/* ---- sandbox ------------------------------------------------------------------------------- */

/* Replaces the globals by the allowed ones (sandbox.c). */
void sandbox_open(lua_State *L);
/*
 * Replaces the table on top of the stack by an empty one before it, so that every assignment calls on_new, and
 * every name that is not there on_unknown; both get the table and the name, on_unknown the table behind.
 */
void sandbox_front(lua_State *L, lua_CFunction on_unknown, lua_CFunction on_new);
/* Pushes the value at idx as text without any address; may call __tostring (sandbox.c). */
const char *sandbox_text(lua_State *L, int idx, size_t *length);
int sandbox_print(lua_State *L);
int sorted_pairs(lua_State *L); /* sorted_pairs.c */
int sorted_next(lua_State *L);
int script_require(lua_State *L); /* require.c */

/* Wrappers of Lua's xpcall, coroutine.close and resume, which are their first upvalues; and coroutine.wrap (unwind.c). */
int unwind_xpcall(lua_State *L);
int unwind_close(lua_State *L);
int unwind_resume(lua_State *L);
int unwind_wrap(lua_State *L);

/* ---- files (file.c) ------------------------------------------------------------------------- */

enum { SCRIPT_FILE_MAX = 16 << 20 }; /* bytes of one source file */

/* Reads a whole text file. */
enum hd_status file_read(const char *path, struct text *out, struct hd_error *err);
/* The same for a path below a folder, following no symbolic link; *found is false if there is no such file. */
enum hd_status file_read_below(const char *folder, const char *relative, bool *found,
                               struct text *out, struct hd_error *err);
/* The folder part of a path, "." if it has none; false if it does not fit. */
bool file_folder(const char *path, char *out, size_t size);
/* A source text past a byte-order mark and a first line that starts with '#', whose newline stays. */
const char *file_chunk(const struct text *source, size_t *length);

/* ---- NAME=TEXT (named.c) ------------------------------------------------------------------------ */

/* Whether each is of that form and none comes twice; option is "--arg" or "--data". */
enum hd_status named_check(const char *const *list, size_t count, const char *option,
                           struct hd_error *err);
/* The text of that name, and where it stands; NULL if it is not there. */
const char *named_find(const char *const *list, size_t count, const char *name, size_t *index);
/* The length of the name of "NAME=TEXT". */
size_t named_length(const char *item);

/* Args and data that no gpu.arg, from_npy or to_npy asked for are mistakes (arg.c). */
enum hd_status script_check_unused(const struct script *s, struct hd_error *err);

/* ---- arguments of functions (check_args.c) ------------------------------------------------------------------ */

/* The optional array, stream, ... of a table of options; unknown keys are errors that name `known`, ended by NULL. */
void options_check(lua_State *L, int idx, const char *const *known);
/* A whole number of at least min at idx; what is for the message. */
uint64_t check_count(lua_State *L, int idx, lua_Integer min, const char *what);

#endif
