/* Streams, events, prefetches and copies by hand. */
#include "host/lua/stream.h"

#include "host/lua/array.h"

#include <inttypes.h>

struct lua_stream {
    struct handle h;
    hd_stream *s; /* NULL once freed */
    bool is_default;
};

struct lua_event {
    struct handle h;
    hd_event *e; /* NULL once freed */
};

hd_stream *stream_check(lua_State *L, int idx)
{
    const struct lua_stream *s = luaL_checkudata(L, idx, TYPE_STREAM);

    if (!s->s)
        script_error(L, "lua-stream-freed", FREED_HINT, "the stream was freed");
    return s->s;
}

hd_stream *stream_optional(lua_State *L, int idx)
{
    return lua_isnoneornil(L, idx) ? NULL : stream_check(L, idx);
}

static hd_event *event_check(lua_State *L, int idx)
{
    const struct lua_event *e = luaL_checkudata(L, idx, TYPE_EVENT);

    if (!e->e)
        script_error(L, "lua-event-freed", FREED_HINT, "the event was freed");
    return e->e;
}

void *stream_push(lua_State *L)
{
    return handle_new(L, TYPE_STREAM, sizeof(struct lua_stream), 0);
}

void stream_set(void *handle, hd_stream *s)
{
    ((struct lua_stream *)handle)->s = s;
}

/* ---- streams ---------------------------------------------------------------------------- */

static int gpu_stream(lua_State *L)
{
    struct lua_stream *s = handle_new(L, TYPE_STREAM, sizeof *s, 0);
    struct hd_error err;

    limits_hold(L, RECORD_BYTES);
    if (hd_stream_new(script_of(L)->rt, &s->s, &err) != HD_OK)
        return script_raise(L, &err);
    return 1;
}

static int gpu_default_stream(lua_State *L)
{
    struct lua_stream *s = handle_new(L, TYPE_STREAM, sizeof *s, 0);

    s->s = hd_default_stream(script_of(L)->rt);
    s->is_default = true;
    return 1;
}

static int stream_sync(lua_State *L)
{
    struct hd_error err;

    if (hd_stream_sync(script_of(L)->rt, stream_check(L, 1), &err) != HD_OK)
        return script_raise(L, &err);
    return 0;
}

static int stream_free(lua_State *L)
{
    hd_stream *owned = stream_check(L, 1);
    struct lua_stream *s = lua_touserdata(L, 1);
    struct hd_error err;

    if (s->is_default)
        return script_error(L, "lua-stream-default", NULL, "the default stream cannot be freed");
    if (hd_stream_free(script_of(L)->rt, owned, &err) != HD_OK)
        return script_raise(L, &err);
    s->s = NULL;
    return 0;
}

static int stream_close(lua_State *L)
{
    const struct lua_stream *s = luaL_checkudata(L, 1, TYPE_STREAM);

    return s->s && !s->is_default ? stream_free(L) : 0;
}

static int stream_wait(lua_State *L)
{
    hd_stream *s = stream_check(L, 1);
    struct hd_error err;

    if (hd_event_wait(script_of(L)->rt, s, event_check(L, 2), &err) != HD_OK)
        return script_raise(L, &err);
    return 0;
}

/* ---- events ----------------------------------------------------------------------------- */

static int gpu_event(lua_State *L)
{
    hd_stream *s = stream_optional(L, 1);
    struct lua_event *e = handle_new(L, TYPE_EVENT, sizeof *e, 0);
    struct hd_error err;

    limits_hold(L, RECORD_BYTES);
    if (hd_event_record(script_of(L)->rt, s, &e->e, &err) != HD_OK)
        return script_raise(L, &err);
    return 1;
}

static int gpu_new_event(lua_State *L)
{
    struct lua_event *e = handle_new(L, TYPE_EVENT, sizeof *e, 0);
    struct hd_error err;

    limits_hold(L, RECORD_BYTES);
    if (hd_event_new(script_of(L)->rt, &e->e, &err) != HD_OK)
        return script_raise(L, &err);
    return 1;
}

static int event_record(lua_State *L)
{
    hd_event *e = event_check(L, 1);
    struct hd_error err;

    if (hd_event_put(script_of(L)->rt, e, stream_optional(L, 2), &err) != HD_OK)
        return script_raise(L, &err);
    return 0;
}

static int event_sync(lua_State *L)
{
    struct hd_error err;

    if (hd_event_sync(script_of(L)->rt, event_check(L, 1), &err) != HD_OK)
        return script_raise(L, &err);
    return 0;
}

static int event_done(lua_State *L)
{
    struct hd_error err;
    bool done;

    if (hd_event_done(script_of(L)->rt, event_check(L, 1), &done, &err) != HD_OK)
        return script_raise(L, &err);
    lua_pushboolean(L, done);
    return 1;
}

static int event_free(lua_State *L)
{
    hd_event *owned = event_check(L, 1);
    struct lua_event *e = lua_touserdata(L, 1);
    struct hd_error err;

    if (hd_event_free(script_of(L)->rt, owned, &err) != HD_OK)
        return script_raise(L, &err);
    e->e = NULL;
    limits_let_go(L, RECORD_BYTES);
    return 0;
}

static int event_close(lua_State *L)
{
    const struct lua_event *e = luaL_checkudata(L, 1, TYPE_EVENT);

    return e->e ? event_free(L) : 0;
}

/* ---- the device, and moving data ------------------------------------------------------------ */

static int gpu_sync(lua_State *L)
{
    struct hd_error err;

    if (!lua_isnoneornil(L, 1))
        return stream_sync(L);
    if (hd_device_sync(script_of(L)->rt, &err) != HD_OK)
        return script_raise(L, &err);
    return 0;
}

static int gpu_prefetch(lua_State *L)
{
    const struct lua_array *a = array_check_managed(L, 1);
    hd_stream *s = stream_optional(L, 2);
    struct hd_error err;

    if (hd_prefetch(script_of(L)->rt, a->a, s, &err) != HD_OK)
        return script_raise(L, &err);
    return 0;
}

static int gpu_attach(lua_State *L)
{
    static const char *const places[] = {[HD_ATTACH_ALL] = "all", [HD_ATTACH_HOST] = "host", NULL};
    const struct lua_array *a = array_check_managed(L, 1);
    const bool named = lua_type(L, 2) == LUA_TSTRING;
    const enum hd_attach where =
        named ? (enum hd_attach)luaL_checkoption(L, 2, NULL, places) : HD_ATTACH_STREAM;
    hd_stream *s = named ? NULL : stream_check(L, 2);
    struct hd_error err;

    if (hd_array_attach(script_of(L)->rt, a->a, where, s, &err) != HD_OK)
        return script_raise(L, &err);
    return 0;
}

static uint64_t count_option(lua_State *L, int idx, const char *key, lua_Integer min,
                             uint64_t otherwise)
{
    uint64_t n = otherwise;

    if (!lua_isnoneornil(L, idx)) {
        if (lua_getfield(L, idx, key) != LUA_TNIL)
            n = check_count(L, -1, min, key);
        lua_pop(L, 1);
    }
    return n;
}

static hd_stream *stream_option(lua_State *L, int idx)
{
    hd_stream *s = NULL;

    if (!lua_isnoneornil(L, idx)) {
        lua_getfield(L, idx, "stream");
        s = stream_optional(L, -1);
        lua_pop(L, 1);
    }
    return s;
}

static bool pageable_option(lua_State *L, int idx)
{
    bool pageable = false;

    if (!lua_isnoneornil(L, idx)) {
        if (lua_getfield(L, idx, "pinned") != LUA_TNIL) {
            if (!lua_isboolean(L, -1))
                script_error(L, "lua-option", NULL, "pinned must be true or false, got %s",
                             luaL_typename(L, -1));
            pageable = !lua_toboolean(L, -1);
        }
        lua_pop(L, 1);
    }
    return pageable;
}

/* The part of each array: by default from its start, and all that is left of `from`. */
static void check_part(lua_State *L, const struct lua_array *to, const struct lua_array *from,
                       struct hd_copy *copy)
{
    uint64_t room;

    copy->to_first = count_option(L, 3, "to_first", 0, 0);
    copy->from_first = count_option(L, 3, "from_first", 0, 0);
    if (copy->to_first >= to->count || copy->from_first >= from->count)
        script_error(L, "lua-array-count", NULL,
                     "the first element of the copy is outside its array");
    room = from->count - copy->from_first;
    copy->count = count_option(L, 3, "count", 1, room);
    if (copy->count > room || copy->count > to->count - copy->to_first)
        script_error(L, "lua-array-count", NULL,
                     "cannot copy %" PRIu64 " elements: there are %" PRIu64
                     " to copy and room for %" PRIu64,
                     copy->count, room, to->count - copy->to_first);
}

struct hd_copy copy_check(lua_State *L, bool with_stream)
{
    static const char *const options[] = {"stream",     "count",  "to_first",
                                          "from_first", "pinned", NULL};
    const struct lua_array *to = array_check(L, 1), *from = array_check(L, 2);
    struct hd_copy copy = {.to = to->a, .from = from->a};

    if (!lua_isnoneornil(L, 3))
        options_check(L, 3, with_stream ? options : options + 1);
    check_part(L, to, from, &copy);
    copy.pageable = pageable_option(L, 3);
    copy.stream = with_stream ? stream_option(L, 3) : NULL;
    return copy;
}

static int gpu_copy(lua_State *L)
{
    const struct hd_copy copy = copy_check(L, true);
    struct hd_error err;

    if (hd_copy(script_of(L)->rt, &copy, &err) != HD_OK)
        return script_raise(L, &err);
    return 0;
}

const struct api_row stream_new_api[] = {
    {"stream", gpu_stream, "()", "A new stream, for launches with {stream=}, prefetches and copies"},
    {"default_stream", gpu_default_stream, "()",
     "The default stream; a launch without {stream=} leaves the choice to the scheduler"},
    {"event", gpu_event, "([stream])",
     "An event that is done when all before it on the stream is; by default the default stream"},
    {"new_event", gpu_new_event, "()",
     "An event that is not recorded yet; waiting for it is an error until it is"},
    {"sync", gpu_sync, "([stream])", "Waits for a stream, by default for the whole device"},
    {"prefetch", gpu_prefetch, "(array [, stream])",
     "Moves an array to the device, in the order of the stream"},
    {"attach", gpu_attach, "(array, stream | \"all\" | \"host\")",
     "Who sees the array on a device without page faults, where a launch first moves all that its "
     "stream sees: one stream, all, or none. A launch moves its own arguments in any case"},
    {"copy", gpu_copy, "(to, from [, {count=, to_first=, from_first=, pinned=, stream=}])",
     "Copies elements between a device array and a managed one, in the order of the stream; pinned "
     "= false takes the rate of pageable host memory"},
    {NULL, NULL, NULL, NULL},
};

const struct api_row stream_api[] = {
    {"sync", stream_sync, "()", "Waits for all that is on the stream"},
    {"wait", stream_wait, "(event)", "What comes after on the stream starts after the event"},
    {"free", stream_free, "()",
     "Frees the stream when its work is done; `local s <close>` does so too"},
    {NULL, NULL, NULL, NULL},
};

const struct api_row event_api[] = {
    {"record", event_record, "([stream])",
     "Records the event, perhaps again: who waits already waits for the earlier record"},
    {"sync", event_sync, "()", "Waits for the event"},
    {"done", event_done, "()", "Whether it is done"},
    {"free", event_free, "()", "Frees the event; `local e <close>` does so too"},
    {NULL, NULL, NULL, NULL},
};

void stream_open(lua_State *L)
{
    static const struct api_row *const stream_methods[] = {stream_api, NULL};
    static const struct api_row *const event_methods[] = {event_api, NULL};
    static const luaL_Reg stream_extra[] = {{"__close", stream_close}, {NULL, NULL}};
    static const luaL_Reg event_extra[] = {{"__close", event_close}, {NULL, NULL}};

    handle_type(L, TYPE_STREAM, stream_methods, stream_extra);
    handle_type(L, TYPE_EVENT, event_methods, event_extra);
}
