-- Runs, named by what they are: figures ask for them, which makes the plan before anything has run, and finds the rows after.
--
-- A run is {benchmark, gpu, n, block [, blocks] [, variant] [, scheduler = "parallel-async"] [, prefetch = true] [, profile =
-- "grcuda"] [, detail] [, set = {KEY = value}]}.

local suite = require "suite"

local Runs = {}
Runs.__index = Runs

-- What the run sets. Where there are no page faults prefetch changes nothing, so that both are one run.
local function point_of(run)
    local point = {
        workload = "../../workloads/dag/" .. suite.program(run.benchmark),
        config = run.gpu,
        warmup = suite.warmup(run.benchmark),
        ["arg.n"] = run.n,
        ["arg.block"] = run.block,
        ["arg.blocks"] = run.blocks or suite.blocks(run.benchmark, run.gpu, run.n),
        ["arg.variant"] = run.variant or "auto",
        ["host.scheduler"] = run.scheduler or "parallel-async",
        ["host.prefetch"] = run.gpu == "gtx960" or run.prefetch ~= false,
        ["host.profile"] = run.profile or "grcuda",
    }
    for key, value in pairs(run.set or {}) do point[key] = value end
    return point
end

local function name_of(point)
    local parts = {}
    for key, value in pairs(point) do
        if key ~= "detail" then parts[#parts + 1] = key .. "=" .. tostring(value) end
    end
    return table.concat(parts, " ")
end

-- Without results the runs that are asked for become the plan.
function Runs.new(results)
    local rows = results and {}
    local self = setmetatable({points = {}, index = {}, rows = rows, failed = {}}, Runs)
    for _, row in ipairs(results or {}) do rows[name_of(row.point.axes)] = row end
    return self
end

local order = {summary = 1, kernels = 2, full = 3}

local function plan(self, run, name, point)
    local at = self.index[name]
    if not at then
        at = #self.points + 1
        self.index[name], self.points[at] = at, point
        point.detail = run.detail or "summary"
    elseif run.detail and order[run.detail] > order[self.points[at].detail] then
        self.points[at].detail = run.detail
    end
end

-- The row of a run that ended well, or nil.
function Runs:row(run)
    local point = point_of(run)
    local name = name_of(point)
    if not self.rows then
        plan(self, run, name, point)
        return nil
    end
    local row = self.rows[name]
    if row and (row.status == "ok" or row.status == "check_failed") then return row end
    if not self.failed[name] then
        self.failed[name] = true
        self.failed[#self.failed + 1] = {run = name, error = row and row.error and row.error.message or "it has not run"}
    end
    return nil
end

function Runs:time(run)
    local row = self:row(run)
    return row and row.time_ns
end

-- Copies of a run with other things set.
function Runs.with(run, changes)
    local out = {}
    for key, value in pairs(run) do out[key] = value end
    for key, value in pairs(changes) do out[key] = value end
    return out
end

return Runs
