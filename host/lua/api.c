/* The table heddle, and the list of all functions for the manual. */
#include "host/lua/internal.h"

/* In the order of the manual. A group whose rows have no function only describes operators. */
static const struct api_row operators[] = {
    {"array", NULL, "[i]",
     "Element i, from 0: reads it, or writes it as array[i] = v. A computational element"},
    {"#array", NULL, "", "The number of elements"},
    {"kernel", NULL, "(blocks, threads [, lds | {lds=, stream=}])",
     "A launch: blocks and threads are numbers or {x, y, z}; lds is bytes of dynamic local memory"},
    {"launch", NULL, "(...)", "Calls the kernel with its arguments; may be called again"},
    {NULL, NULL, NULL, NULL},
};

static const struct group {
    const char *prefix;
    const struct api_row *rows;
} groups[] = {
    {"gpu.", arg_api},       {"gpu.", module_new_api}, {"module:", module_api},
    {"kernel:", kernel_api}, {"gpu.", array_new_api},  {"", operators},
    {"array:", array_api},   {"array:", bulk_api},     {"array:", npy_api},
    {"gpu.", region_api},    {"gpu.", check_api},      {"gpu.", stream_new_api},
    {"stream:", stream_api}, {"event:", event_api},    {"gpu.", graph_new_api},
    {"graph:", graph_api},   {"node:", node_api},      {"instance:", exec_api},
    {"gpu.", library_api},   {"gpu.", host_api},       {"", global_api},
};

static const struct api_row *const module_rows[] = {arg_api,       module_new_api, array_new_api,
                                                    region_api,    check_api,      stream_new_api,
                                                    graph_new_api, library_api,    host_api};

bool hd_script_api_row(size_t i, struct hd_script_api *out)
{
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        for (const struct api_row *row = groups[g].rows; row->name; row++) {
            if (i-- == 0) {
                *out = (struct hd_script_api){groups[g].prefix, row->name, row->args, row->doc};
                return true;
            }
        }
    }
    return false;
}

void api_add(lua_State *L, const struct api_row *rows)
{
    for (; rows->name; rows++) {
        lua_pushcfunction(L, rows->fn);
        lua_setfield(L, -2, rows->name);
    }
}

static int no_such_function(lua_State *L)
{
    return handle_unknown(L, 1, "heddle has no function", luaL_checkstring(L, 2));
}

static int read_only(lua_State *L)
{
    return script_error(L, "lua-read-only", NULL, "the functions of heddle cannot be changed");
}

void api_open(lua_State *L)
{
    array_open(L);
    kernel_open(L);
    stream_open(L);
    graph_open(L);
    library_open(L);
    lua_newtable(L);
    for (size_t i = 0; i < sizeof module_rows / sizeof module_rows[0]; i++)
        api_add(L, module_rows[i]);
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE); /* where tracebacks look for names */
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, "heddle");
    lua_pop(L, 1);
    sandbox_front(L, no_such_function, read_only);
}
