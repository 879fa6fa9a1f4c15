-- The score: the cells of cells.json against its acceptance, and the trace.

local plot = require "plot"

local S = {}

-- Ranks from 1, those of equal values being their mean.
local function ranks(values)
    local order, out = {}, {}
    for i in ipairs(values) do order[i] = i end
    table.sort(order, function(a, b) return values[a] < values[b] or values[a] == values[b] and a < b end)
    local first = 1
    while first <= #order do
        local last = first
        while last < #order and values[order[last + 1]] == values[order[first]] do last = last + 1 end
        for i = first, last do out[order[i]] = (first + last) / 2 end
        first = last + 1
    end
    return out
end

-- Spearman's coefficient: the correlation of the ranks. nil if all of one side are equal.
function S.spearman(a, b)
    local x, y = ranks(a), ranks(b)
    local mean = (#x + 1) / 2
    local xy, xx, yy = 0.0, 0.0, 0.0
    for i in ipairs(x) do
        xy = xy + (x[i] - mean) * (y[i] - mean)
        xx = xx + (x[i] - mean) ^ 2
        yy = yy + (y[i] - mean) ^ 2
    end
    return xx > 0 and yy > 0 and xy / math.sqrt(xx * yy) or nil
end

local function column(rows, name)
    local out = {}
    for i, row in ipairs(rows) do out[i] = row[name] end
    return out
end

local function of_cells(f, figure, gpu)
    return plot.select(f.rows, function(r)
        return r.figure == figure and r.cell and r.published and (not gpu or r.gpu == gpu)
    end)
end

-- At sizes of its own a run scores nothing; then all cells with a published number stand in, so that the numbers can be seen.
local function scored(f, rows)
    if f.size.scored ~= 1 then return rows end
    return plot.select(rows, function(r) return r.scored end)
end

local function figure_score(f, figure, limits, gpus)
    local rows, within = scored(f, of_cells(f, figure)), 0
    if #rows == 0 then return nil end
    for _, r in ipairs(rows) do within = within + (math.abs(r.rel_error) <= limits.error and 1 or 0) end
    local out = {figure = figure, cells = #rows, within = within, share = within / #rows, share_holds = within / #rows >= 2 / 3 - 1e-9,
        gpus = plot.array {}}
    for _, gpu in ipairs(gpus) do
        local some, all = scored(f, of_cells(f, figure, gpu)), of_cells(f, figure, gpu)
        if #some > 0 then
            local off = plot.geomean(some, "ours") / plot.geomean(some, "published") - 1
            local entry = {gpu = gpu, geomean_ours = plot.geomean(some, "ours"), geomean_published = plot.geomean(some, "published"),
                geomean_error = off, geomean_holds = math.abs(off) <= limits.geomean_error}
            if figure == "11" and #all > 2 then
                entry.spearman = S.spearman(column(all, "ours"), column(all, "published"))
                entry.order_holds = entry.spearman ~= nil and entry.spearman >= limits.order_spearman
            end
            table.insert(out.gpus, entry)
        end
    end
    return out
end

-- {figures = {...}, trace = {...}}
function S.score(f, limits, gpus)
    local out = {figures = plot.array {}, is_scored = f.size.scored == 1}
    for _, figure in ipairs {"11", "7"} do table.insert(out.figures, figure_score(f, figure, limits, gpus)) end
    local errors = {}
    local kernels = plot.select(f.rows, function(r) return r.figure == "trace" and r.rel_error end)
    for i, r in ipairs(scored(f, kernels)) do errors[i] = math.abs(r.rel_error) end
    if #errors > 0 then
        local median = plot.median(errors)
        out.trace = {kernels = #errors, median_error = median, holds = median <= limits.trace_median_error}
    end
    return out
end

return S
