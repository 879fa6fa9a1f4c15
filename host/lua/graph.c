/* Graphs by hand: nodes, instances, launches. */
#include "host/lua/array.h"
#include "host/lua/kernel.h"
#include "host/lua/stream.h"

struct lua_graph {
    struct handle h;
    hd_graph *g; /* NULL once freed */
};

enum { NODE_GRAPH = 1 }; /* user values of a node */

struct lua_node {
    struct handle h;
    uint32_t node;
};

struct lua_exec {
    struct handle h;
    hd_graph_exec *x; /* NULL once freed */
    size_t bytes;
};

enum { NODE_BYTES = 2048 }; /* that the runtime keeps for a node, in a graph or an instance */

static struct lua_graph *graph_check(lua_State *L, int idx)
{
    struct lua_graph *g = luaL_checkudata(L, idx, TYPE_GRAPH);

    if (!g->g)
        script_error(L, "lua-graph-freed", FREED_HINT, "the graph was freed");
    return g;
}

static struct lua_exec *exec_check(lua_State *L, int idx)
{
    struct lua_exec *x = luaL_checkudata(L, idx, TYPE_EXEC);

    if (!x->x)
        script_error(L, "lua-graph-freed", FREED_HINT, "the instantiated graph was freed");
    return x;
}

static int gpu_graph(lua_State *L)
{
    struct lua_graph *g = handle_new(L, TYPE_GRAPH, sizeof *g, 0);
    struct hd_error err;

    limits_hold(L, RECORD_BYTES);
    if (hd_graph_new(script_of(L)->rt, &g->g, &err) != HD_OK)
        return script_raise(L, &err);
    return 1;
}

/* ---- capture ------------------------------------------------------------------------------ */

static void end_capture(lua_State *L, void *data)
{
    const bool *goes_on = data;

    if (*goes_on)
        hd_capture_abort(script_of(L)->rt);
}

/* An error in the function ends the capture, too. */
static int gpu_capture(lua_State *L)
{
    hd_runtime *rt = script_of(L)->rt;
    hd_stream *s = stream_check(L, 1);
    struct lua_graph *g;
    struct hd_error err;
    bool *goes_on;

    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    g = handle_new(L, TYPE_GRAPH, sizeof *g, 0);
    limits_hold(L, RECORD_BYTES);
    goes_on = guard_push(L, end_capture, sizeof *goes_on);
    if (hd_capture_begin(rt, s, &err) != HD_OK)
        return script_raise(L, &err);
    *goes_on = true;
    lua_pushvalue(L, 2);
    lua_call(L, 0, 0);
    *goes_on = false;
    if (hd_capture_end(rt, &g->g, &err) != HD_OK)
        return script_raise(L, &err);
    limits_hold(L, (size_t)hd_graph_size(g->g) * NODE_BYTES);
    lua_pushvalue(L, 3);
    return 1;
}

/* ---- nodes ------------------------------------------------------------------------------- */

/* The number of the node at idx, which must be of the graph at 1; what is for the message. */
static uint32_t node_check(lua_State *L, int idx, const char *what)
{
    const struct lua_node *n = luaL_testudata(L, idx, TYPE_NODE);
    bool same;

    if (!n)
        script_error(L, "lua-graph-node", "kernel, copy and empty return nodes",
                     "%s must be a node, got %s", what, luaL_typename(L, idx));
    lua_getiuservalue(L, idx, NODE_GRAPH);
    same = lua_rawequal(L, -1, 1);
    lua_pop(L, 1);
    if (!same)
        script_error(L, "lua-graph-node", NULL, "%s is a node of another graph", what);
    return n->node;
}

struct deps {
    uint32_t *nodes;
    size_t count;
};

/* The list of nodes at idx, or none; pushes the memory that holds them. */
static struct deps check_deps(lua_State *L, int idx)
{
    struct deps d = {NULL, 0};

    if (lua_isnoneornil(L, idx)) {
        lua_pushnil(L);
        return d;
    }
    luaL_checktype(L, idx, LUA_TTABLE);
    d.count = (size_t)lua_rawlen(L, idx);
    limits_charge(L, d.count);
    d.nodes = lua_newuserdatauv(L, (d.count + 1) * sizeof *d.nodes, 0);
    for (size_t i = 0; i < d.count; i++) {
        lua_rawgeti(L, idx, (lua_Integer)i + 1);
        d.nodes[i] = node_check(L, lua_gettop(L), "a dependency");
        lua_pop(L, 1);
    }
    return d;
}

/* A node of the graph at 1. */
static struct lua_node *push_node(lua_State *L)
{
    struct lua_node *n = handle_new(L, TYPE_NODE, sizeof *n, 1);

    limits_hold(L, NODE_BYTES);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, NODE_GRAPH);
    return n;
}

/* Pushes the launch at 2 and the arguments in the list at 3, as for a call. */
static int push_call(lua_State *L)
{
    const int at = lua_gettop(L) + 1;
    lua_Unsigned count;

    luaL_checkudata(L, 2, TYPE_LAUNCH);
    luaL_checktype(L, 3, LUA_TTABLE);
    count = lua_rawlen(L, 3);
    if (count > ISA_MAX_PARAMS)
        script_error(L, "lua-launch-count", NULL, "a kernel takes at most %d arguments",
                     ISA_MAX_PARAMS);
    luaL_checkstack(L, ISA_MAX_PARAMS + 10, NULL);
    lua_pushvalue(L, 2);
    for (lua_Unsigned i = 1; i <= count; i++)
        lua_rawgeti(L, 3, (lua_Integer)i);
    return at;
}

static int graph_kernel(lua_State *L)
{
    hd_graph *g = graph_check(L, 1)->g;
    struct hd_arg args[ISA_MAX_PARAMS];
    struct hd_launch l;
    struct lua_node *n;
    struct hd_error err;
    struct deps d;

    lua_settop(L, 4);
    l = launch_check(L, push_call(L), args);
    d = check_deps(L, 4);
    n = push_node(L);
    if (hd_graph_kernel(script_of(L)->rt, g, &l, d.nodes, d.count, &n->node, &err) != HD_OK)
        return script_raise(L, &err);
    return 1;
}

static int graph_copy(lua_State *L)
{
    hd_graph *g = graph_check(L, 1)->g;
    struct hd_copy copy;
    struct lua_node *n;
    struct hd_error err;
    struct deps d;

    lua_settop(L, 5);
    d = check_deps(L, 5);
    n = push_node(L);
    lua_remove(L, 1); /* to, from, options, list, its numbers, node */
    copy = copy_check(L, false);
    if (hd_graph_copy(script_of(L)->rt, g, &copy, d.nodes, d.count, &n->node, &err) != HD_OK)
        return script_raise(L, &err);
    lua_settop(L, 6);
    return 1;
}

static int graph_empty(lua_State *L)
{
    hd_graph *g = graph_check(L, 1)->g;
    struct deps d = check_deps(L, 2);
    struct lua_node *n = push_node(L);
    struct hd_error err;

    if (hd_graph_empty(script_of(L)->rt, g, d.nodes, d.count, &n->node, &err) != HD_OK)
        return script_raise(L, &err);
    return 1;
}

/* The graph takes the place of the node at 1, so that others can be compared with it. */
static int node_after(lua_State *L)
{
    const uint32_t node = ((const struct lua_node *)luaL_checkudata(L, 1, TYPE_NODE))->node;
    const int count = lua_gettop(L);
    struct hd_error err;
    hd_graph *g;

    lua_getiuservalue(L, 1, NODE_GRAPH);
    lua_replace(L, 1);
    g = graph_check(L, 1)->g;
    for (int i = 2; i <= count; i++) {
        uint32_t on = node_check(L, i, "a dependency");

        if (hd_graph_depend(script_of(L)->rt, g, node, on, &err) != HD_OK)
            return script_raise(L, &err);
    }
    return 0;
}

static int node_text(lua_State *L)
{
    const struct lua_node *n = luaL_checkudata(L, 1, TYPE_NODE);
    const struct lua_graph *g;
    char name[128];

    lua_getiuservalue(L, 1, NODE_GRAPH);
    g = lua_touserdata(L, -1);
    if (!g->g) {
        lua_pushliteral(L, "node of a freed graph");
        return 1;
    }
    hd_graph_node_name(g->g, n->node, name, sizeof name);
    lua_pushstring(L, name);
    return 1;
}

/* ---- graphs and instances ---------------------------------------------------------------------- */

static int graph_instantiate(lua_State *L)
{
    hd_graph *g = graph_check(L, 1)->g;
    struct lua_exec *x = handle_new(L, TYPE_EXEC, sizeof *x, 0);
    const size_t bytes = RECORD_BYTES + (size_t)hd_graph_size(g) * NODE_BYTES;
    struct hd_error err;

    limits_hold(L, bytes);
    x->bytes = bytes;
    if (hd_graph_instantiate(script_of(L)->rt, g, &x->x, &err) != HD_OK) {
        limits_let_go(L, bytes);
        return script_raise(L, &err);
    }
    return 1;
}

static int graph_free(lua_State *L)
{
    struct lua_graph *g = graph_check(L, 1);
    const size_t bytes = (size_t)hd_graph_size(g->g) * NODE_BYTES;
    hd_graph *owned = g->g;
    struct hd_error err;

    if (hd_graph_free(script_of(L)->rt, owned, &err) != HD_OK)
        return script_raise(L, &err);
    g->g = NULL;
    limits_let_go(L, bytes);
    return 0;
}

static int graph_close(lua_State *L)
{
    const struct lua_graph *g = luaL_checkudata(L, 1, TYPE_GRAPH);

    return g->g ? graph_free(L) : 0;
}

static int graph_size(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)hd_graph_size(graph_check(L, 1)->g));
    return 1;
}

static int exec_launch(lua_State *L)
{
    hd_graph_exec *x = exec_check(L, 1)->x;
    hd_stream *s = stream_optional(L, 2);
    struct hd_error err;

    if (hd_graph_launch(script_of(L)->rt, x, s, &err) != HD_OK)
        return script_raise(L, &err);
    return 0;
}

static int exec_free(lua_State *L)
{
    struct lua_exec *x = exec_check(L, 1);
    hd_graph_exec *owned = x->x;
    struct hd_error err;

    if (hd_graph_exec_free(script_of(L)->rt, owned, &err) != HD_OK)
        return script_raise(L, &err);
    x->x = NULL;
    limits_let_go(L, x->bytes - RECORD_BYTES);
    return 0;
}

static int exec_close(lua_State *L)
{
    const struct lua_exec *x = luaL_checkudata(L, 1, TYPE_EXEC);

    return x->x ? exec_free(L) : 0;
}

const struct api_row graph_new_api[] = {
    {"graph", gpu_graph, "()", "A graph by hand, without nodes"},
    {"capture", gpu_capture, "(stream, function)",
     "The graph of what the function calls on the stream, and on streams that wait for an event "
     "recorded "
     "on a captured one; nothing of it runs. The first stream must wait for the others in the end"},
    {NULL, NULL, NULL, NULL},
};

const struct api_row graph_api[] = {
    {"kernel", graph_kernel, "(launch, {argument, ...} [, {node, ...}])",
     "A node that calls kernel(blocks, threads) with these arguments after the nodes listed; "
     "returns "
     "the node"},
    {"copy", graph_copy, "(to, from [, {count=, to_first=, from_first=, pinned=} [, {node, ...}]])",
     "A node that copies as gpu.copy does"},
    {"empty", graph_empty, "([{node, ...}])", "A node that does nothing: for others to wait for"},
    {"instantiate", graph_instantiate, "()",
     "What can be launched: the graph as it is now, with its arguments and shapes. A cycle is an "
     "error"},
    {"free", graph_free, "()",
     "Frees the graph; what was instantiated stays. `local g <close>` does so too"},
    {NULL, NULL, NULL, NULL},
};

const struct api_row node_api[] = {
    {"after", node_after, "(node, ...)", "Lets the node wait for others, too"},
    {NULL, NULL, NULL, NULL},
};

const struct api_row exec_api[] = {
    {"launch", exec_launch, "([stream])",
     "Launches the graph on a stream, by default the default stream: it starts after what is there "
     "and "
     "after its last launch, and what comes later on the stream waits for all of it"},
    {"free", exec_free, "()",
     "Frees it; what was launched still runs. `local x <close>` does so too"},
    {NULL, NULL, NULL, NULL},
};

void graph_open(lua_State *L)
{
    static const struct api_row *const graph_methods[] = {graph_api, NULL};
    static const struct api_row *const node_methods[] = {node_api, NULL};
    static const struct api_row *const exec_methods[] = {exec_api, NULL};
    static const luaL_Reg graph_extra[] = {
        {"__close", graph_close}, {"__len", graph_size}, {NULL, NULL}};
    static const luaL_Reg node_extra[] = {{"__tostring", node_text}, {NULL, NULL}};
    static const luaL_Reg exec_extra[] = {{"__close", exec_close}, {NULL, NULL}};

    handle_type(L, TYPE_GRAPH, graph_methods, graph_extra);
    handle_type(L, TYPE_NODE, node_methods, node_extra);
    handle_type(L, TYPE_EXEC, exec_methods, exec_extra);
}
