-- The pictures: Vega-Lite specifications with their data, and the same as SVG.

local plot = require "plot"
local svg = require "svg"
local suite = require "suite"
local with = require "runs".with

-- Two records for each row that has both numbers: published and ours.
local function beside(rows, metrics)
    local out = {}
    for _, row in ipairs(rows) do
        if metrics[row.metric] then
            for _, source in ipairs {"published", "ours"} do
                if row[source] then
                    out[#out + 1] = {gpu = row.gpu, benchmark = row.benchmark, metric = metrics[row.metric], size = row.size,
                        source = source, value = row[source]}
                end
            end
        end
    end
    return out
end

local function of_figure(f, figure, extra)
    return plot.select(f.rows, function(r)
        local same = r.figure == figure
        for key, value in pairs(extra or {}) do same = same and r[key] == value end
        return same
    end)
end

local BENCHMARK = {"benchmark", title = "benchmark"}
local SOURCE = {"source", title = "source", values = {"published", "ours"}}
local GPU = {"gpu", title = "GPU"}

local function both(files, name, figure)
    files[name .. ".vl.json"] = plot.json(figure)
    files[name .. ".svg"] = svg.draw(figure)
end

local function bars(files, name, o)
    if #o.data == 0 then return end
    o.x, o.color, o.column = o.x or BENCHMARK, o.color or SOURCE, o.column or GPU
    o.width = o.width or 40 * math.max(2, #plot.values(o.data, o.x[1]))
    both(files, name, plot.bars(o))
end

local function speedups(files, f)
    local y = {"value", title = "speedup over serial"}
    bars(files, "figure1", {title = "Figure 1: schedules by hand", data = beside(of_figure(f, "1"), {speedup_by_hand = "speedup"}),
        y = y, rule = 1})
    bars(files, "figure7", {title = "Figure 7: parallel against serial, mean over sizes of work-groups",
        data = beside(plot.select(of_figure(f, "7"), function(r) return not r.cell end), {speedup = "speedup"}), y = y, rule = 1})
    bars(files, "figure7-cells", {title = "Figure 7: at the sizes whose medians are printed",
        data = beside(plot.select(of_figure(f, "7"), function(r) return r.cell end), {speedup = "speedup"}), y = y, rule = 1})
    bars(files, "figure11", {title = "Figure 11: speedups", data = beside(of_figure(f, "11"), {speedup = "speedup"}), y = y, rule = 1})
end

local function figure_7_lines(files, f)
    local rows = of_figure(f, "7", {metric = "speedup_of_size"})
    local data = {}
    for _, r in ipairs(rows) do
        data[#data + 1] = {gpu = r.gpu, benchmark = r.benchmark, y = r.ours,
            share = suite.work(r.benchmark, r.size, suite.size(r.benchmark, 1))}
    end
    if #data > 0 then
        both(files, "figure7-sizes", plot.lines {title = "Figure 7: the speedup over the size of the input, work-groups of 32",
            data = data, x = {"share", title = "computations, 1: the size of Figure 11", log = true},
            y = {"y", title = "speedup over serial"}, color = BENCHMARK, column = GPU, width = 220, rule = 1})
    end
    local blocks = of_figure(f, "7", {metric = "speedup_of_block"})
    if #blocks > 0 then
        both(files, "figure7-blocks", plot.bars {title = "Figure 7: the speedup over the size of a work-group", data = blocks,
            x = BENCHMARK, y = {"ours", title = "speedup over serial"}, color = {"block", title = "work-items"}, column = GPU,
            width = 300, rule = 1})
    end
end

local function figure_8(files, f)
    for _, base in ipairs {"events", "graph", "capture"} do
        bars(files, "figure8-" .. base, {title = "Figure 8: against " .. base .. " by hand", rule = 1,
            data = beside(of_figure(f, "8"), {["speedup_over_" .. base] = base}), y = {"value", title = "time by hand / ours"}})
    end
end

local function figures_9_and_11(files, f)
    bars(files, "figure9", {title = "Figure 9: contention-free time over parallel time", rule = 1,
        data = beside(of_figure(f, "9"), {contention_free_over_parallel = "share"}), y = {"value", title = "share"}})
    for _, gpu in ipairs(suite.gpus) do
        bars(files, "figure11-overlap-" .. gpu, {title = "Figure 11: overlaps on " .. gpu,
            data = beside(of_figure(f, "11", {gpu = gpu}), {overlap_ct = "CT", overlap_tc = "TC", overlap_cc = "CC", overlap_tot = "TOT"}),
            y = {"value", title = "fraction"}, column = {"metric", title = "overlap"}})
    end
end

-- Gains, for rates of different units have no scale in common. The parallel rates are known from a draft alone, so that the serial ones of the
-- draft are what they are compared with.
local function figure_12(files, f)
    local data = {}
    for _, name in ipairs(f.names) do
        for _, h in ipairs {{"dram_gbps", "DRAM"}, {"l2_gbps", "L2"}, {"ipc", "IPC"}, {"gflops", "GFLOP/s"}} do
            local a = of_figure(f, "12", {benchmark = name, metric = "serial_" .. h[1]})[1]
            local b = of_figure(f, "12", {benchmark = name, metric = "parallel_" .. h[1]})[1]
            for _, source in ipairs {"published", "ours"} do
                local x, y = a and a[source], b and b[source]
                if source == "published" then
                    x = f:values("12", "gtx1660s", name, "serial_" .. h[1] .. "_draft")[1] or x
                end
                if x and y and x > 0 then
                    data[#data + 1] = {benchmark = name, rate = h[2], source = source, value = y / x}
                end
            end
        end
    end
    bars(files, "figure12", {title = "Figure 12: rates of the parallel over those of the serial schedule, gtx1660s", rule = 1,
        data = data, y = {"value", title = "parallel / serial"}, column = {"rate", title = "rate"}})
end

-- ---- pictures of one run --------------------------------------------------------------------------

-- Streams by the order in which they come.
local function stream_names()
    local names, count = {}, 0
    return function(stream)
        if not names[stream] then
            count = count + 1
            names[stream] = count
        end
        return names[stream]
    end
end

-- The computations of one iteration; of HITS those of the first of its five rounds, which end with writes of the host.
local function figure_6(files, f)
    for _, name in ipairs(f.names) do
        local row = f.runs:row {gpu = "p100", benchmark = name, n = suite.size(name, f.size.main), block = 32, detail = "kernels"}
        if row then
            local nodes, stream = {}, stream_names()
            for _, node in ipairs(row.dag.nodes) do
                if node.region == "main" and node.kind == "host_write" then break end
                if node.region == "main" and node.kind == "kernel" then
                    nodes[#nodes + 1] = {id = node.id, label = node.name, stream = stream(node.stream)}
                end
            end
            files["figure6-" .. suite.program(name):gsub("%.lua$", "") .. ".svg"] = svg.graph {
                title = name, nodes = nodes, edges = row.dag.edges, colors = plot.palette,
            }
        end
    end
end

local DIRECTIONS = {h2d = "to the device", d2h = "to the host"}

local function timeline(row, title)
    local spans, stream = {}, stream_names()
    for _, k in ipairs(row.kernels) do
        if k.region == "main" then
            spans[#spans + 1] = {lane = "stream " .. stream(k.stream), start = k.start_ns, finish = k.end_ns, what = "kernel", name = k.name}
        end
    end
    for _, t in ipairs(row.transfers) do
        if t.region == "main" then
            spans[#spans + 1] = {lane = DIRECTIONS[t.dir], start = t.start_ns, finish = t.end_ns, what = t.kind, name = t.array or t.kind}
        end
    end
    return plot.timeline {title = title, data = spans, lane = "lane", start = "start", finish = "finish", label = "name",
        color = {"what", title = "what"}, scale = 1e-6, unit = "ms"}
end

local function figure_10(files, f)
    for _, name in ipairs(f.names) do
        local run = f:main_run {gpu = "gtx1660s", benchmark = name, block = 32, detail = "kernels"}
        local row = f.runs:row(run)
        if row then
            both(files, "figure10-" .. suite.program(name):gsub("%.lua$", ""), timeline(row, name .. " on gtx1660s, parallel"))
        end
    end
end

local function trace(files, f)
    local data = {}
    for _, r in ipairs(of_figure(f, "trace")) do
        if r.published then data[#data + 1] = {kernel = r.metric:match("%.(.*)"), value = r.ours / r.published, gpu = r.gpu, source = "ours"} end
    end
    if #data > 0 then
        both(files, "trace", plot.bars {title = "Durations of kernels on gtx960: ours over those of the trace", data = data,
            x = {"kernel", title = "kernel"}, y = {"value", title = "ours / published"}, width = 62 * #data, rule = 1})
    end
end

-- {["NAME"] = text}
return function(f)
    local files = {}
    speedups(files, f)
    figure_7_lines(files, f)
    figure_8(files, f)
    figures_9_and_11(files, f)
    figure_12(files, f)
    figure_6(files, f)
    figure_10(files, f)
    trace(files, f)
    return files
end
