/* Streams as userdata. */
#ifndef HD_HOST_LUA_STREAM_H
#define HD_HOST_LUA_STREAM_H

#include "host/lua/internal.h"

/* The stream at idx; one that was freed is an error. */
hd_stream *stream_check(lua_State *L, int idx);
/* The same, or NULL, the default stream, if there is none. */
hd_stream *stream_optional(lua_State *L, int idx);
/* Pushes a stream that counts as freed until it is set, as it does when it is set to NULL again. */
void *stream_push(lua_State *L);
void stream_set(void *handle, hd_stream *s);
/* The copy to the array at 1 from the one at 2 with the options at 3, if there are any. */
struct hd_copy copy_check(lua_State *L, bool with_stream);

#endif
