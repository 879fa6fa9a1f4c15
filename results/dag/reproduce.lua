-- The sweep of one size: its points are the runs that the figures ask for, and its post makes tables, claims and pictures of their rows.
--
--     return require "reproduce" "default"

local plot = require "plot"
local suite = require "suite"
local Runs = require "runs"
local Figures = require "figures"
local claims = require "claims"
local pictures = require "pictures"
local score = require "score"
local tables = require "tables"

-- Everything that asks for runs. cells: cells.json, or nothing in the plan.
local function work_out(runs, size, published, cells)
    local f = Figures.new(runs, size, published)
    f:all(cells)
    local found, files = {}, pictures(f)
    for id, claim in pairs(claims) do
        local measured, holds, breaches = claim(f)
        found[id] = {measured = measured, holds = holds, breaches = breaches}
    end
    return f, found, files
end

-- The list in git is what counts: the plan must be of the same cells.
local function check_cells(cells)
    local planned = suite.cells()
    if #planned ~= #cells.cells then error("cells.json has other cells than suite.lua", 0) end
    for i, cell in ipairs(cells.cells) do
        for _, key in ipairs {"figure", "gpu", "benchmark", "n", "blocks"} do
            if planned[i][key] ~= cell[key] then
                error(string.format("cell %d of cells.json differs from suite.lua in %s", i, key), 0)
            end
        end
        if table.concat(planned[i].block, ",") ~= table.concat(cell.block, ",") then
            error(string.format("cell %d of cells.json differs from suite.lua in block", i), 0)
        end
    end
end

-- In the order of cells.json, with its texts.
local function list_claims(cells, found)
    local out = plot.array {}
    for _, claim in ipairs(cells.claims) do
        local f = found[claim.id] or error("no code measures the claim " .. claim.id, 0)
        out[#out + 1] = {id = claim.id, claim = claim.claim, where = claim.where, holds_if = claim.holds_if,
            measured = f.measured or plot.null, holds = f.holds, breaches = f.breaches and plot.array(f.breaches)}
        if f.holds == nil then out[#out].holds = plot.null end
    end
    return out
end

local COLUMNS = {"figure", "gpu", "benchmark", "size", "block", "metric", "published", "ours", "rel_error", "abs_error", "scored"}

local function program_of(row) return row.workload and row.workload:match("([^/]*)%.lua$") end

local RUN_COLUMNS = {
    {"id", "point.id"}, {"status", "status"}, {"program", program_of}, {"gpu", "config"}, {"n", "arg.n"}, {"block", "arg.block"},
    {"blocks", "arg.blocks"}, {"variant", "arg.variant"}, {"scheduler", "host.scheduler"}, {"prefetch", "host.prefetch"},
    {"profile", "host.profile"}, {"time_ms", "time_ns", 1e-6}, {"ct", "overlap.ct"}, {"tc", "overlap.tc"}, {"cc", "overlap.cc"},
    {"tot", "overlap.tot"}, {"h2d_bytes", "metrics.h2d_bytes"}, {"d2h_bytes", "metrics.d2h_bytes"},
    {"kernel_busy_ms", "metrics.kernel_busy_ns", 1e-6}, {"dram_gbps", "metrics.dram_gbps"}, {"l2_gbps", "metrics.l2_gbps"},
    {"wave_ipc", "metrics.wave_ipc"}, {"gflops32", "metrics.gflops32"}, {"gflops64", "metrics.gflops64"},
}

local function cost_of(results)
    local cost = {runs = #results, seconds = 0.0, instructions = 0}
    for _, row in ipairs(results) do
        cost.seconds = cost.seconds + (row.simulator.wall_s or 0)
        cost.instructions = cost.instructions + (row.simulator.wave_instr or 0)
    end
    return cost
end

local function table_rows(f)
    local rows = plot.array {}
    for i, row in ipairs(f.rows) do
        local out = {}
        for _, key in ipairs(COLUMNS) do out[key] = row[key] end
        if out.published == nil then out.published = plot.null end
        if out.rel_error == nil then out.rel_error = plot.null end
        rows[i] = out
    end
    return rows
end

return function(name)
    local size = suite.sizes[name]
    local planned = Runs.new()
    work_out(planned, size)

    local function post(results, inputs)
        check_cells(inputs.cells)
        local f, found, files = work_out(Runs.new(results), size, plot.read_csv(inputs.published), inputs.cells)
        local result = score.score(f, inputs.cells.acceptance, suite.gpus)
        local listed = list_claims(inputs.cells, found)
        files["table.json"] = plot.json {schema = "heddle.table/1", paper = "Parravicini et al., IPDPS 2021", rows = table_rows(f)}
        files["table.csv"] = plot.csv(f.rows, COLUMNS)
        files["claims.json"] = plot.json {schema = "heddle.claims/1", score = result, claims = listed}
        files["runs.csv"] = plot.csv(results, RUN_COLUMNS)
        for _, claim in ipairs(listed) do
            if claim.measured == plot.null then claim.measured = nil end
            if claim.holds == plot.null then claim.holds = nil end
        end
        files["TABLE.md"] = tables.text(f, result, listed, cost_of(results))
        return files
    end

    return {
        args = {verify = false},
        points = planned.points,
        inputs = {cells = "cells.json", published = "published.csv"},
        post = post,
    }
end
