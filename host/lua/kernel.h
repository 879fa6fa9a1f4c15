/* Launches as userdata. */
#ifndef HD_HOST_LUA_KERNEL_H
#define HD_HOST_LUA_KERNEL_H

#include "host/lua/internal.h"

/* The launch at idx with all that is above it on the stack as its arguments, which are stored in args; mistakes are errors. */
struct hd_launch launch_check(lua_State *L, int idx, struct hd_arg args[ISA_MAX_PARAMS]);

#endif
