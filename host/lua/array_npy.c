/* from_npy and to_npy: files that the command names by --data, and no others. */
#include "host/lua/array.h"
#include "host/lua/npy.h"

static const char *check_data(lua_State *L, int idx)
{
    const struct script *s = script_of(L);
    const char *name = luaL_checkstring(L, idx);
    size_t index;
    const char *path = named_find(s->o->data, s->o->ndata, name, &index);

    if (!path)
        script_error(L, "lua-data", lua_pushfstring(L, "give it with --data %s=FILE", name),
                     "there is no data '%s'", name);
    s->data_used[index] = true;
    return path;
}

static int array_from_npy(lua_State *L)
{
    const struct lua_array *a = array_check_managed(L, 1);
    const char *path = check_data(L, 2);
    struct hd_error err;
    enum hd_status status;
    void *data;
    FILE *f;

    if (npy_open(path, a->type, a->count, &f, &err) != HD_OK)
        return script_raise(L, &err);
    status = hd_array_access(script_of(L)->rt, a->a, 0, a->count, HD_OVERWRITE, &data, &err);
    if (status == HD_OK)
        status = npy_read(f, path, a->type, a->count, data, &err);
    fclose(f);
    if (status != HD_OK)
        return script_raise(L, &err);
    lua_settop(L, 1);
    return 1;
}

static int array_to_npy(lua_State *L)
{
    const struct lua_array *a = array_check_managed(L, 1);
    const char *path = check_data(L, 2);
    struct hd_error err;

    if (npy_write(path, a->type, a->count, array_access(L, a, 0, a->count, HD_READ), &err) != HD_OK)
        return script_raise(L, &err);
    lua_settop(L, 1);
    return 1;
}

const struct api_row npy_api[] = {
    {"from_npy", array_from_npy, "(name)",
     "Reads the .npy file of --data name=FILE: the array's type and count, little-endian"},
    {"to_npy", array_to_npy, "(name)", "Writes the array to the file of --data name=FILE"},
    {NULL, NULL, NULL, NULL},
};
