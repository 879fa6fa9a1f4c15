-- The numbers behind the figures: asks for runs, and makes rows {figure, gpu, benchmark, size, block, metric, published, ours, rel_error,
-- scored} of what comes back. What has not run is left out.

local plot = require "plot"
local suite = require "suite"
local contention_free = require "contention"
local with = require "runs".with

local F = {}
F.__index = F

-- size: a row of suite.sizes. published: rows of published.csv, or none.
function F.new(runs, size, published)
    return setmetatable({runs = runs, size = size, published = published or {}, rows = {}, names = size.names or suite.names}, F)
end

-- ---- what was published -------------------------------------------------------------------------

-- The values of one metric; of one size if it is given.
function F:values(figure, gpu, benchmark, metric, size)
    local out = {}
    for _, row in ipairs(self.published) do
        if tostring(row.figure) == figure and row.gpu == gpu and row.benchmark == benchmark and row.metric == metric and
            (not size or row.size == size) then out[#out + 1] = row.value end
    end
    return out
end

-- Their geometric mean, or nil: one number for all sizes.
function F:mean(figure, gpu, benchmark, metric, size)
    return plot.geomean(self:values(figure, gpu, benchmark, metric, size))
end

-- The mean over sizes of the quotients of two printed medians.
function F:mean_ratio(gpu, benchmark, over, under, figures)
    local ratios = {}
    for _, row in ipairs(self.published) do
        if tostring(row.figure) == figures[1] and row.gpu == gpu and row.benchmark == benchmark and row.metric == over then
            local other = self:values(figures[2], gpu, benchmark, under, row.size)[1]
            if other then ratios[#ratios + 1] = row.value / other end
        end
    end
    return plot.geomean(ratios)
end

-- ---- what is ours -------------------------------------------------------------------------------

function F:add(row)
    if row.ours == nil then return end
    if row.published and row.published ~= 0 then row.rel_error = row.ours / row.published - 1 end
    row.scored = row.scored or false
    self.rows[#self.rows + 1] = row
end

local function ratio(a, b) return a and b and b > 0 and a / b or nil end

-- The geometric mean over blocks of fn(run); nil where one is missing.
local function over_blocks(run, blocks, fn)
    local values = {}
    for _, block in ipairs(blocks) do values[#values + 1] = fn(with(run, {block = block})) end
    return #values == #blocks and plot.geomean(values) or nil
end

-- Serial without prefetch over parallel with it.
function F:speedup(run)
    local serial = self.runs:time(with(run, {scheduler = "serial-sync", prefetch = false}))
    return ratio(serial, self.runs:time(with(run, {scheduler = "parallel-async", prefetch = true})))
end

function F:pairs()
    local out = {}
    for _, gpu in ipairs(suite.gpus) do
        for _, name in ipairs(self.names) do out[#out + 1] = {gpu = gpu, benchmark = name} end
    end
    return out
end

function F:main_run(pair)
    return with(pair, {n = suite.size(pair.benchmark, self.size.main)})
end

local ONE, TWO = {32}, {32, 256}

-- ---- Figures 7 and 11 -----------------------------------------------------------------------------

local function cell_run(self, cell)
    return {benchmark = cell.benchmark, gpu = cell.gpu, n = suite.size(cell.benchmark, self.size.scored, cell.n), blocks = cell.blocks}
end

local function listed(self, cell)
    for _, name in ipairs(self.names) do
        if name == cell.benchmark then return true end
    end
    return false
end

-- scored: cells.json's, which is the same list with what was published. It is only scored at its own sizes.
function F:cells(scored)
    for i, cell in ipairs(suite.cells()) do
        if listed(self, cell) then
            local run, known = cell_run(self, cell), scored and scored[i] or {}
            local published = known.published
            if type(published) == "table" then published = published[1] / published[2] end
            local ours = over_blocks(run, cell.block, function(r) return self:speedup(r) end)
            self:add {figure = cell.figure, gpu = cell.gpu, benchmark = cell.benchmark, size = run.n,
                block = table.concat(cell.block, ","), metric = "speedup", published = published, ours = ours,
                scored = known.scored and self.size.scored == 1, cell = true}
            if cell.figure == "11" then self:overlaps(cell, with(run, {block = cell.block[1]})) end
        end
    end
end

function F:overlaps(cell, run)
    local row = self.runs:row(run)
    for _, name in ipairs {"ct", "tc", "cc", "tot"} do
        local published = self:values("11", cell.gpu, cell.benchmark, "overlap_" .. name)[1] -- may be 0
        local ours = row and row.overlap_fig11[name]
        self:add {figure = "11", gpu = cell.gpu, benchmark = cell.benchmark, size = run.n, block = tostring(run.block),
            metric = "overlap_" .. name, published = published, ours = ours,
            abs_error = ours and published and ours - published}
    end
end

-- The rest of Figure 7: sizes, and blocks at the main size. The published number is that of all sizes.
function F:figure_7()
    for _, pair in ipairs(self:pairs()) do
        local published = self:mean_ratio(pair.gpu, pair.benchmark, "serial_ms", "parallel_ms", {"7", "8"})
        local run = self:main_run(pair)
        self:add {figure = "7", gpu = pair.gpu, benchmark = pair.benchmark, size = run.n,
            block = table.concat(self.size.blocks, ","), metric = "speedup", published = published,
            ours = over_blocks(run, self.size.blocks, function(r) return self:speedup(r) end)}
        for _, block in ipairs(self.size.blocks) do
            self:add {figure = "7", gpu = pair.gpu, benchmark = pair.benchmark, size = run.n, block = tostring(block),
                metric = "speedup_of_block", ours = self:speedup(with(run, {block = block}))}
        end
        for _, n in ipairs(self:three_sizes(pair.benchmark)) do
            self:add {figure = "7", gpu = pair.gpu, benchmark = pair.benchmark, size = n, block = "32",
                metric = "speedup_of_size", ours = self:speedup(with(pair, {n = n, block = 32}))}
        end
    end
end

-- The largest one of ML is that of its cell, which has run already.
function F:three_sizes(benchmark)
    local out = {}
    for i, divisor in ipairs(self.size.sizes) do out[i] = suite.size(benchmark, divisor) end
    if benchmark == "ML" then out[#out] = suite.size("ML", self.size.scored, 300000) end
    return out
end

-- ---- Figures 1 and 8 ------------------------------------------------------------------------------

local BASES = {{"events", ONE}, {"graph", ONE}, {"capture", ONE}}

-- Streams and graphs by hand, as in C++: the costs of a native run time, and no automatic prefetch.
function F.by_hand(run, variant)
    return with(run, {variant = variant, scheduler = "serial-async", prefetch = false, profile = "native"})
end

function F:figure_1()
    for _, pair in ipairs(self:pairs()) do
        local run = self:main_run(pair)
        self:add {figure = "1", gpu = pair.gpu, benchmark = pair.benchmark, size = run.n, block = "32",
            metric = "speedup_by_hand", published = self:mean("1", pair.gpu, pair.benchmark, "speedup_by_hand"),
            ours = over_blocks(run, ONE, function(r)
                local serial = with(r, {scheduler = "serial-sync", prefetch = false, profile = "native"})
                return ratio(self.runs:time(serial), self.runs:time(F.by_hand(r, "events")))
            end)}
    end
end

function F:figure_8()
    for _, pair in ipairs(self:pairs()) do
        local run = self:main_run(pair)
        for _, base in ipairs(BASES) do
            local metric = "speedup_over_" .. base[1]
            self:add {figure = "8", gpu = pair.gpu, benchmark = pair.benchmark, size = run.n,
                block = table.concat(base[2], ","), metric = metric,
                published = self:mean("8", pair.gpu, pair.benchmark, metric),
                ours = over_blocks(run, base[2], function(r)
                    return ratio(self.runs:time(F.by_hand(r, base[1])), self.runs:time(r))
                end)}
        end
    end
end

-- ---- Figure 9 -------------------------------------------------------------------------------------

function F:contention_free(run)
    local serial = self.runs:row(with(run, {scheduler = "serial-sync", detail = "kernels"}))
    local parallel = self.runs:row(with(run, {detail = "kernels"}))
    local ideal = serial and parallel and contention_free(serial, parallel)
    return ideal and ideal / parallel.time_ns
end

function F:figure_9()
    for _, pair in ipairs(self:pairs()) do
        local run, metric = self:main_run(pair), "contention_free_over_parallel"
        self:add {figure = "9", gpu = pair.gpu, benchmark = pair.benchmark, size = run.n, block = "32,256", metric = metric,
            published = self:mean("9", pair.gpu, pair.benchmark, metric) or
                self:mean_ratio(pair.gpu, pair.benchmark, "contention_free_ms", "parallel_ms", {"9", "8"}),
            ours = over_blocks(run, TWO, function(r) return self:contention_free(r) end)}
    end
end

-- ---- Figure 12 ------------------------------------------------------------------------------------

local GIB = 1e9 / 2 ^ 30

local HARDWARE = {
    {"dram_gbps", function(m) return m.dram_gbps * GIB end},
    {"l2_gbps", function(m) return m.l2_gbps * GIB end},
    {"ipc", function(m) return m.wave_ipc end},
    {"gflops", function(m) return m.gflops32 + m.gflops64 end},
}

-- Rates over the time in which kernels run. The serial run prefetches: page faults would be in that time, and are not in the
-- published one.
function F:hardware(run, scheduler)
    local row = self.runs:row(with(run, {scheduler = scheduler}))
    local out = {}
    for _, h in ipairs(HARDWARE) do out[h[1]] = row and h[2](row.metrics) end
    return out
end

function F:figure_12()
    for _, name in ipairs(self.names) do
        local run = self:main_run {gpu = "gtx1660s", benchmark = name}
        run.block = 32
        for _, who in ipairs {{"serial", "serial-sync"}, {"parallel", "parallel-async"}} do
            local measured = self:hardware(run, who[2])
            for _, h in ipairs(HARDWARE) do
                self:add {figure = "12", gpu = "gtx1660s", benchmark = name, size = run.n, block = "32",
                    metric = who[1] .. "_" .. h[1],
                    published = self:mean("12", "gtx1660s", name, who[1] .. "_" .. h[1]), ours = measured[h[1]]}
            end
        end
    end
end

-- ---- the trace ------------------------------------------------------------------------------------

-- The mean duration of a kernel in one iteration, in milliseconds.
function F.duration(row, kernel)
    local sum, count = 0.0, 0
    for _, k in ipairs(row and row.kernels or {}) do
        if k.region == "main" and k.name == kernel then sum, count = sum + (k.end_ns - k.start_ns), count + 1 end
    end
    return count > 0 and sum / count * 1e-6 or nil
end

-- The trace of the GTX 960. Kernels are as long as at the published size: time is linear in the computations.
function F:trace(scored)
    for _, shape in ipairs(suite.trace) do
        if listed(self, shape) then
            local run = with(shape, {gpu = "gtx960", detail = "kernels", n = suite.size(shape.benchmark, self.size.scored, shape.n)})
            local row = {}
            for _, scheduler in ipairs {"serial-sync", "parallel-async"} do
                row[scheduler] = self.runs:row(with(run, {scheduler = scheduler}))
            end
            for _, known in ipairs(scored or {}) do
                if known.benchmark == shape.benchmark then
                    local ours = F.duration(row[known.scheduler], known.kernel)
                    local more = suite.work(known.benchmark, known.published_size, run.n)
                    self:add {figure = "trace", gpu = "gtx960", benchmark = known.benchmark, size = run.n,
                        block = tostring(known.block), metric = "kernel_ms." .. known.kernel, published = known.published_ms,
                        ours = ours and ours * more, scored = known.scored ~= false and self.size.scored == 1}
                end
            end
        end
    end
end

-- ---- beside the figures ---------------------------------------------------------------------------

-- Memory of the arrays at published sizes: it grows as the computations do, so that a smaller run stands for them.
function F:table_1()
    for _, name in ipairs(self.names) do
        local row = self.runs:row(self:main_run {gpu = "gtx960", benchmark = name, block = 32})
        for _, gpu in ipairs(suite.gpus) do
            for _, known in ipairs(self.published) do
                if known.figure == "Table I" and known.gpu == gpu and known.benchmark == name then
                    local n = suite.size(name, self.size.main)
                    local ours = row and row.array_bytes * suite.work(name, known.size, n) * 1e-9
                    self:add {figure = "Table I", gpu = gpu, benchmark = name, size = known.size, block = "32",
                        metric = "memory_gb", published = known.value, ours = ours}
                end
            end
        end
    end
end

-- Arrays attached to streams or not, and what the scheduler costs where there is next to nothing to compute.
function F:extras()
    for _, gpu in ipairs {"gtx1660s", "p100"} do
        local run = self:main_run {gpu = gpu, benchmark = "VEC", block = 32}
        local on = with(run, {set = {["host.stream_attach"] = true}})
        self:add {figure = "attach", gpu = gpu, benchmark = "VEC", size = run.n, block = "32",
            metric = "time_attached_over_not", ours = ratio(self.runs:time(on), self.runs:time(run))}
    end
    for _, pair in ipairs(self:pairs()) do
        local run = with(pair, {n = suite.size(pair.benchmark, self.size.tiny), block = 32})
        local serial = self.runs:time(with(run, {scheduler = "serial-sync", prefetch = false}))
        local time = self.runs:time(run)
        local row = {figure = "tiny", gpu = pair.gpu, benchmark = pair.benchmark, size = run.n, block = "32"}
        self:add(with(row, {metric = "parallel_ms", ours = time and time * 1e-6}))
        self:add(with(row, {metric = "speedup", ours = ratio(serial, time)}))
        self:add(with(row, {metric = "time_over_native", ours = ratio(time, self.runs:time(with(run, {profile = "native"})))}))
        self:add(with(row, {metric = "time_over_by_hand", ours = ratio(time, self.runs:time(F.by_hand(run, "events")))}))
    end
end

-- ---- all ------------------------------------------------------------------------------------------

-- cells: cells.json, or nothing in the plan.
function F:all(cells)
    self:cells(cells and cells.cells)
    self:trace(cells and cells.trace)
    self:figure_7()
    self:figure_1()
    self:figure_8()
    self:figure_9()
    self:figure_12()
    self:table_1()
    self:extras()
end

return F
