-- dag: the frame of the published benchmarks of workloads/dag. A benchmark tells its calls once, in the order of its
-- host program, with the stream that each has in the hand-tuned version and the calls that it depends on. From that the
-- frame makes every variant.
--
--     local dag = require "dag"
--     local b = dag.benchmark {n = 1000000}                            -- reads the arguments below
--     local square = b:kernel(module, "square", "x: in(cpp) f32[], y: inout f32[], n: i32")
--     b:place(1, x, x1)
--     local sx = b:call(square, b.blocks, b.block, {x, x1, n}, {stream = 1})
--     ...
--     b:call(reduce, b.blocks, b.block, {x1, y1, z, n}, {stream = 1, after = {sx, sy}})
--     b:sync(1)
--     b:measure {inputs = ..., reset = ..., main = function(run) run(); gpu.check("z", z[0], ...) end}
--
-- Arguments of every benchmark, which are fields of b
--   n                 the published N
--   block             work-items of a one-dimensional work-group (256)
--   blocks            the published number of work-groups NB (8 times the compute units)
--   variant           auto     launches without a stream: the scheduler decides
--                     events   streams, events and prefetches by hand
--                     graph    one graph of explicit nodes and dependencies
--                     capture  graphs captured from the streams of events, one for each set of streams that wait
--                              for each other
--                     All but auto are meant for host.scheduler=serial-async, which adds no order of its own, and
--                     host.prefetch=off, for else all launches prefetch.
--   const             python | cpp: which of the published versions the signatures follow
--   reset             published | none: the inputs are written before each iteration, or before the first alone
--   verify            also checks large arrays, after the region (true)
--   by_hand_prefetch  events prefetches where the device has page faults (true); graphs never do
--   build_in_region   graphs are built in each iteration, and not once before the region (false)

local gpu = require "heddle"

local benchmark = {}
benchmark.__index = benchmark

local function choice(name, allowed)
    local value = gpu.arg(name, allowed[1])
    for _, one in ipairs(allowed) do
        if value == one then return value end
    end
    error("--arg " .. name .. "=" .. value .. ": it is one of " .. table.concat(allowed, ", "), 0)
end

local dag = {}

-- A benchmark with the arguments of the run. defaults: n, and, where they are not the usual ones, block, blocks, and the
-- largest n (max).
function dag.benchmark(defaults)
    local b = {
        n = gpu.arg("n", defaults.n, 1, defaults.max or 2000000000),
        block = gpu.arg("block", defaults.block or 256, 1),
        blocks = gpu.arg("blocks", defaults.blocks or 8 * gpu.config("compute_units"), 1),
        variant = choice("variant", {"auto", "events", "graph", "capture"}),
        const = choice("const", {"python", "cpp"}),
        reset = choice("reset", {"published", "none"}),
        verify = gpu.arg("verify", true),
        by_hand_prefetch = gpu.arg("by_hand_prefetch", true),
        build_in_region = gpu.arg("build_in_region", false),
        steps = {}, streams = {}, events = {}, graphs = {},
    }
    b.by_hand = b.variant == "events" or b.variant == "capture"
    b.in_graph = b.variant == "graph" or b.variant == "capture"
    return setmetatable(b, benchmark)
end

-- A kernel. in(cpp) in its signature is `in` with const=cpp and `inout` otherwise; in(python) likewise.
function benchmark:kernel(module, name, signature)
    local resolved = signature:gsub("in%((%a+)%)", function(const) return const == self.const and "in" or "inout" end)
    return module:kernel(name, resolved)
end

-- Stream i of the hand-tuned version; 0 is the default stream.
function benchmark:stream(i)
    if i == 0 then return gpu.default_stream() end
    while #self.streams < i do table.insert(self.streams, gpu.stream()) end
    return self.streams[i]
end

local function step(b, what)
    table.insert(b.steps, what)
    return what
end

-- The next call: a kernel with its shape and its arguments. how: stream, its stream by hand; after, the calls that it
-- depends on (all, those of its own stream too); lds, bytes of dynamic local memory. The result stands in `after`.
function benchmark:call(kernel, blocks, threads, arguments, how)
    local stream = self.by_hand and self:stream(how.stream) or nil
    for _, parent in ipairs(how.after or {}) do
        if parent.stream ~= how.stream then parent.awaited = true end
    end
    return step(self, {
        kind = "call", launch = kernel(blocks, threads, {lds = how.lds or 0, stream = stream}), arguments = arguments,
        stream = how.stream, after = how.after or {},
    })
end

-- By hand, where the device has page faults: these arrays go to it on this stream.
function benchmark:prefetch(stream, ...)
    step(self, {kind = "prefetch", stream = stream, arrays = {...}})
end

-- By hand, where it has none: these arrays belong to this stream alone, so that launches on others do not move them.
function benchmark:attach(stream, ...)
    step(self, {kind = "attach", stream = stream, arrays = {...}})
end

-- By hand: whichever the device is for.
function benchmark:place(stream, ...)
    self:attach(stream, ...)
    self:prefetch(stream, ...)
end

-- By hand: the host waits for the stream.
function benchmark:sync(stream)
    step(self, {kind = "sync", stream = stream})
end

-- What the host does between calls, outside of graphs: accesses to arrays. By hand it waits for the streams first, with sync.
function benchmark:host(run)
    step(self, {kind = "host", run = run})
end

-- ---- how the variants run the steps -------------------------------------------------------------------------------

local auto, events = {}, {}

function auto.call(_, s) s.launch(table.unpack(s.arguments)) end

local function record(b, stream)
    local event = gpu.event(b:stream(stream))
    table.insert(b.events, event)
    return event
end

-- An event is recorded right behind its call, so that nothing later on that stream is waited for.
function events.call(b, s)
    for _, parent in ipairs(s.after) do
        if parent.stream ~= s.stream then b:stream(s.stream):wait(parent.event) end
    end
    s.launch(table.unpack(s.arguments))
    if s.awaited then s.event = record(b, s.stream) end
end

function events.prefetch(b, s)
    if not (gpu.config("um.page_faults") and b.by_hand_prefetch) then return end
    for _, array in ipairs(s.arrays) do gpu.prefetch(array, b:stream(s.stream)) end
end

function events.attach(b, s)
    if gpu.config("um.page_faults") then return end
    for _, array in ipairs(s.arrays) do gpu.attach(array, b:stream(s.stream)) end
end

function events.sync(b, s) b:stream(s.stream):sync() end

function auto.host(_, s) s.run() end
events.host = auto.host

local function play(b, how)
    for _, s in ipairs(b.steps) do
        if how[s.kind] then how[s.kind](b, s) end
    end
end

-- Iterations leave no events behind; called outside the timed part.
local function forget_events(b)
    for _, event in ipairs(b.events) do event:free() end
    b.events = {}
end

-- ---- graphs -------------------------------------------------------------------------------------------------------

local function calls(b)
    local list = {}
    for _, s in ipairs(b.steps) do
        if s.kind == "call" then table.insert(list, s) end
    end
    return list
end

-- Streams to the first of those that wait for each other, directly or by way of others.
local function connected(b)
    local first = {}
    for _, s in ipairs(calls(b)) do
        first[s.stream] = first[s.stream] or s.stream
        for _, parent in ipairs(s.after) do
            local here, there = first[s.stream], first[parent.stream]
            for stream, root in pairs(first) do
                if root == math.max(here, there) then first[stream] = math.min(here, there) end
            end
        end
    end
    return first
end

-- A capture begins on one stream, which the others of the set follow and end in.
local function capture(b, set)
    return gpu.capture(b:stream(set.stream), function()
        local begin = #set.others > 0 and record(b, set.stream)
        for _, other in ipairs(set.others) do b:stream(other):wait(begin) end
        for _, s in ipairs(set.calls) do events.call(b, s) end
        for _, other in ipairs(set.others) do
            if not set.last[other].awaited then b:stream(set.stream):wait(record(b, other)) end
        end
    end)
end

local build = {}

function build.graph(b)
    local graph = gpu.graph()
    for _, s in ipairs(calls(b)) do
        local parents = {}
        for i, parent in ipairs(s.after) do parents[i] = parent.node end
        s.node = graph:kernel(s.launch, s.arguments, parents)
    end
    return {{graph = graph, stream = 1}}
end

function build.capture(b)
    local first, sets, order = connected(b), {}, {}
    for _, s in ipairs(calls(b)) do
        local root = first[s.stream]
        local set = sets[root]
        if not set then
            set = {stream = root, others = {}, calls = {}, last = {}}
            sets[root] = set
            table.insert(order, set)
        end
        if s.stream ~= root and not set.last[s.stream] then table.insert(set.others, s.stream) end
        set.last[s.stream] = s
        table.insert(set.calls, s)
    end
    for _, set in ipairs(order) do set.graph = capture(b, set) end
    return order
end

local function build_graphs(b)
    b.graphs = build[b.variant](b)
    for _, g in ipairs(b.graphs) do g.exec = g.graph:instantiate() end
end

local function free_graphs(b)
    for _, g in ipairs(b.graphs) do
        g.exec:free()
        g.graph:free()
    end
    b.graphs = {}
end

local function launch_graphs(b)
    if #b.graphs == 0 then build_graphs(b) end
    for _, g in ipairs(b.graphs) do g.exec:launch(b:stream(g.stream)) end
    for _, g in ipairs(b.graphs) do b:stream(g.stream):sync() end
end

-- ---- measuring ----------------------------------------------------------------------------------------------------

-- Measures region main. inputs writes the arrays that the published reset writes for the kernels to read; reset writes
-- what the kernels add to, or whatever else each iteration needs; both run untimed. main(run) is timed: run() makes the
-- calls, and what the host reads follows.
function benchmark:measure(part)
    local written = false
    local function run()
        if self.in_graph then
            launch_graphs(self)
        else
            play(self, self.variant == "auto" and auto or events)
        end
    end
    if self.in_graph and not self.build_in_region then build_graphs(self) end
    gpu.region("main", {reset = function()
        forget_events(self)
        if self.build_in_region then free_graphs(self) end
        if part.inputs and (self.reset == "published" or not written) then part.inputs() end
        written = true
        if part.reset then part.reset() end
    end}, function()
        part.main(run)
    end)
end

return dag
