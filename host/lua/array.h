/* Arrays as userdata; what the files of their methods share. */
#ifndef HD_HOST_LUA_ARRAY_H
#define HD_HOST_LUA_ARRAY_H

#include "host/lua/element.h"
#include "host/lua/internal.h"

struct lua_array {
    struct handle h;
    hd_array *a; /* NULL once freed */
    const struct element_type *type;
    uint64_t count;
    bool device;
};

/* The array at idx; one that was freed is an error. */
struct lua_array *array_check(lua_State *L, int idx);
/* The same, but a device array, which the host cannot reach, is an error too. */
struct lua_array *array_check_managed(lua_State *L, int idx);

/* Pushes a description for messages: "f32[10] x". */
const char *array_push_text(lua_State *L, const struct lua_array *a);

/* hd_array_access, whose error it raises. */
void *array_access(lua_State *L, const struct lua_array *a, uint64_t first, uint64_t count,
                   enum hd_access how);

/* The number at idx as an element; one that the type does not hold is an error. */
union element array_check_element(lua_State *L, int idx, const struct element_type *t);
void array_push_element(lua_State *L, const struct element_type *t, union element value);

#endif
