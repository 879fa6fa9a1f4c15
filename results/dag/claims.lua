-- The claims of the paper, measured: each function gives what was found, as text, and whether the claim holds by the criterion of
-- cells.json; nil if too little has run. All runs are asked for in any case, also where there is nothing yet: that makes the plan.

local plot = require "plot"
local suite = require "suite"
local with = require "runs".with

local C = {}

local MS = 1e6 -- in nanoseconds
local TWO = {32, 256}
local FAULTING = {"gtx1660s", "p100"}

local function percent(share) return string.format("%.0f %%", 100 * share) end

-- How many of a list pass; nil of none.
local function share(list, passes)
    if #list == 0 then return nil end
    local count = 0
    for _, item in ipairs(list) do count = count + (passes(item) and 1 or 0) end
    return count / #list, count
end

local function most(list, passes, text)
    local part, count = share(list, passes)
    if not part then return nil end
    return string.format("%s for %d of %d", text, count, #list), part >= 2 / 3 - 1e-9
end

local function serial(run, prefetch) return with(run, {scheduler = "serial-sync", prefetch = prefetch}) end
local function parallel(run, prefetch) return with(run, {scheduler = "parallel-async", prefetch = prefetch}) end

-- The times of both; nil unless both have run.
local function times(f, a, b)
    local x, y = f.runs:time(a), f.runs:time(b)
    if x and y then return x, y end
    return nil
end

local function pick(f, wanted)
    local out = {}
    for _, row in ipairs(f.rows) do
        local same = true
        for key, value in pairs(wanted) do same = same and row[key] == value end
        if same then out[#out + 1] = row end
    end
    return out
end

local function is_named(f, name)
    for _, n in ipairs(f.names) do
        if n == name then return true end
    end
    return false
end

-- ---- speed ----------------------------------------------------------------------------------------

C["geomean"] = function(f)
    local cells, parts, holds = pick(f, {figure = "11", metric = "speedup"}), {}, true
    for _, case in ipairs {{"all", 1.44}, {"gtx960", 1.25}, {"p100", 1.61}} do
        local mean = plot.geomean(plot.select(cells, function(r) return case[1] == "all" or r.gpu == case[1] end), "ours")
        if not mean or #cells < 18 then return nil end
        parts[#parts + 1] = string.format("%s %.2f (published %.2f)", case[1], mean, case[2])
        holds = holds and math.abs(mean / case[2] - 1) <= 0.10
    end
    return table.concat(parts, ", "), holds
end

-- Where the time of a run goes: the sums of its critical path by what bounds it, largest first.
local function bound_by(row)
    local sums, names = {}, {}
    for _, step in ipairs(row.critical_path) do
        local name = step.bounded_by or step.resource
        if not sums[name] then
            sums[name] = 0.0
            names[#names + 1] = name
        end
        sums[name] = sums[name] + step.end_ns - step.start_ns
    end
    table.sort(names, function(a, b) return sums[a] > sums[b] or sums[a] == sums[b] and a < b end)
    local parts = {}
    for i = 1, math.min(3, #names) do parts[i] = string.format("%s %.3f ms", names[i], sums[names[i]] / MS) end
    return table.concat(parts, ", ")
end

local function slower_grid(f)
    local out = {}
    for _, pair in ipairs(f:pairs()) do
        for _, divisor in ipairs(f.size.slower_of and f.size.slower_of[pair.benchmark] or f.size.slower) do
            for _, block in ipairs(TWO) do
                out[#out + 1] = with(pair, {n = suite.size(pair.benchmark, divisor), block = block})
            end
        end
    end
    return out
end

C["never-slower"] = function(f)
    local count, breaches = 0, {}
    for _, run in ipairs(slower_grid(f)) do
        for _, case in ipairs {{true, 1.01}, {false, 1.05}} do
            local a, b = serial(run, case[1]), parallel(run, case[1])
            local x, y = times(f, a, b)
            if x and x >= 5 * MS then
                count = count + 1
                if y > case[2] * x then
                    breaches[#breaches + 1] = {gpu = run.gpu, benchmark = run.benchmark, size = run.n, block = run.block,
                        prefetch = case[1], serial_ms = x / MS, parallel_ms = y / MS,
                        serial_bound_by = bound_by(f.runs:row(a)), parallel_bound_by = bound_by(f.runs:row(b))}
                end
            end
        end
    end
    if count == 0 then return nil end
    return string.format("%d of %d are slower", #breaches, count), #breaches == 0, breaches
end

C["size"] = function(f)
    local spreads = {}
    for _, pair in ipairs(f:pairs()) do
        local values = {}
        for _, n in ipairs(f:three_sizes(pair.benchmark)) do
            local run = with(pair, {n = n, block = 32})
            local x, y = times(f, serial(run, false), parallel(run, true))
            if x and x >= 5 * MS then values[#values + 1] = x / y end
        end
        if #values > 1 then
            table.sort(values)
            spreads[#spreads + 1] = values[#values] / values[1]
        end
    end
    return most(spreads, function(s) return s <= 1.25 end, "largest speedup at most 1.25 of the smallest")
end

-- {serial = {times by block}, parallel = {...}} at the main size.
local function by_block(f, pair)
    local out = {serial = {}, parallel = {}}
    for i, block in ipairs(f.size.blocks) do
        local run = with(f:main_run(pair), {block = block})
        out.serial[i], out.parallel[i] = times(f, serial(run, false), parallel(run, true))
    end
    return #out.serial == #f.size.blocks and out or nil
end

local function spread(list) return math.max(table.unpack(list)) / math.min(table.unpack(list)) end

C["block"] = function(f)
    local found = {}
    for _, pair in ipairs(f:pairs()) do found[#found + 1] = by_block(f, pair) end
    return most(found, function(t) return spread(t.parallel) < spread(t.serial) end, "smaller spread for parallel")
end

C["block-32"] = function(f)
    local found = {}
    for _, pair in ipairs(f:pairs()) do found[#found + 1] = by_block(f, pair) end
    return most(found, function(t)
        local best, first = 0, t.serial[1] / t.parallel[1]
        for i in ipairs(t.serial) do best = math.max(best, t.serial[i] / t.parallel[i]) end
        return first >= 0.99 * best
    end, "the speedup at 32 is the best")
end

-- ---- page faults ------------------------------------------------------------------------------------

C["no-prefetch"] = function(f)
    local parts, holds = {}, true
    for _, gpu in ipairs(FAULTING) do
        local ratios = {}
        for _, name in ipairs(f.names) do
            for _, block in ipairs(TWO) do
                local run = with(f:main_run {gpu = gpu, benchmark = name}, {block = block})
                local x, y = times(f, serial(run, false), parallel(run, false))
                if x then ratios[#ratios + 1] = x / y end
            end
        end
        local mean = plot.geomean(ratios)
        if mean then
            parts[#parts + 1] = string.format("%s %.3f", gpu, mean)
            holds = holds and mean > 1
        end
    end
    if #parts < #FAULTING then return nil end
    return table.concat(parts, ", "), holds
end

-- The time in which at least one of the faults waits, is handled, or moves its pages.
local function union(faults)
    table.sort(faults, function(a, b) return a.queued_ns < b.queued_ns end)
    local sum, finish = 0.0, -math.huge
    for _, s in ipairs(faults) do
        if s.end_ns > finish then
            sum = sum + s.end_ns - math.max(s.queued_ns, finish)
            finish = s.end_ns
        end
    end
    return sum
end

C["fault-handler"] = function(f)
    local parts, wanted, holds = {}, 0, true
    for _, gpu in ipairs(FAULTING) do
        for _, name in ipairs {"VEC", "B&S"} do
            if is_named(f, name) then
                local run = with(f:main_run {gpu = gpu, benchmark = name}, {block = 32})
                local row = f.runs:row(with(parallel(run, false), {detail = "kernels"}))
                local fast = f.runs:time(parallel(run, true))
                wanted = wanted + 1
                if row and fast then
                    local faults = plot.select(row.transfers, function(t)
                        return t.region == "main" and t.kind == "fault" and t.dir == "h2d"
                    end)
                    local loss, busy = row.time_ns / fast, union(faults) / row.time_ns
                    parts[#parts + 1] = string.format("%s on %s: %.2f times as long, faults in %s of it (%s)", name, gpu, loss,
                        percent(busy), bound_by(row))
                    holds = holds and loss >= 1.5 and busy >= 0.7
                end
            end
        end
    end
    if #parts < wanted then return nil end
    return table.concat(parts, "; "), holds
end

-- ---- contention, overlap, hardware ------------------------------------------------------------------------

C["contention-free"] = function(f)
    local rows = pick(f, {figure = "9"})
    local others = plot.select(rows, function(r) return r.benchmark ~= "B&S" end)
    local bs = plot.select(rows, function(r) return r.benchmark == "B&S" end)
    local middle = plot.median(others, "ours")
    if not middle or #bs == 0 then return nil end
    local highest = 0
    for _, r in ipairs(bs) do highest = math.max(highest, r.ours) end
    return string.format("median %.2f, B&S at most %.2f", middle, highest),
        middle >= 0.6 and middle <= 0.85 and highest < middle / 2
end

C["bs-overlap"] = function(f)
    local function overlap(gpu, name)
        local row = pick(f, {figure = "11", gpu = gpu, benchmark = "B&S", metric = "overlap_" .. name})[1]
        return row and row.ours
    end
    local tc, ct, p100 = overlap("gtx1660s", "tc"), overlap("gtx1660s", "ct"), overlap("p100", "ct")
    if not (tc and ct and p100) then return nil end
    return string.format("TC %.2f and CT %.2f on the GTX 1660 Super, CT %.2f on the P100", tc, ct, p100),
        tc > 0.8 and ct < 0.5 and p100 > 0.7
end

local function dram_gain(f, name)
    if not is_named(f, name) then return nil end
    local run = with(f:main_run {gpu = "gtx1660s", benchmark = name}, {block = 32})
    local a, b = f:hardware(run, "serial-sync").dram_gbps, f:hardware(run, "parallel-async").dram_gbps
    return a and b and b / a
end

C["vec-dram"] = function(f)
    local gain = dram_gain(f, "VEC")
    if not gain then return nil end
    return string.format("%.3f", gain), gain >= 0.95 and gain <= 1.05
end

C["ml-img-dram"] = function(f)
    local ml, img = dram_gain(f, "ML"), dram_gain(f, "IMG")
    if not (ml and img) then return nil end
    return string.format("ML %.2f, IMG %.2f", ml, img), ml >= 1.1 and img >= 1.1
end

-- ---- against schedules by hand -----------------------------------------------------------------------------

C["graphs"] = function(f)
    local rows = plot.select(f.rows, function(r)
        return r.figure == "8" and (r.metric == "speedup_over_graph" or r.metric == "speedup_over_capture")
    end)
    local text, holds = most(rows, function(r) return r.ours >= 0.95 end, "0.95 or more")
    local lowest = math.huge
    for _, r in ipairs(rows) do
        if r.gpu ~= "gtx960" and (r.benchmark == "VEC" or r.benchmark == "B&S") then lowest = math.min(lowest, r.ours) end
    end
    if not text or lowest == math.huge then return nil end
    return text .. string.format("; VEC and B&S at least %.2f where there are page faults", lowest), holds and lowest >= 1.5
end

local function main_runs(f)
    local out = {}
    for _, pair in ipairs(f:pairs()) do out[#out + 1] = with(f:main_run(pair), {block = 32}) end
    return out
end

local function tiny_runs(f)
    local out = {}
    for _, pair in ipairs(f:pairs()) do
        out[#out + 1] = with(pair, {n = suite.size(pair.benchmark, f.size.tiny), block = 32})
    end
    return out
end

-- The scheduler and the schedule by hand with the costs of a native run time and the same prefetch, which is none: by hand, as published, HITS
-- prefetches its vectors and not the matrices, DL on another stream, and IMG one image.
local function same_prefetch(f, run)
    local hand = f.by_hand(run, "events")
    if run.gpu ~= "gtx960" then hand.set = {["arg.by_hand_prefetch"] = false} end
    return with(run, {profile = "native", prefetch = false}), hand
end

C["by-hand"] = function(f)
    local found, worst = {}, nil
    for _, run in ipairs(main_runs(f)) do
        local x, y = times(f, same_prefetch(f, run))
        if x then
            local case = {run = run, off = x / y - 1}
            found[#found + 1] = case
            if not worst or math.abs(case.off) > math.abs(worst.off) then worst = case end
        end
    end
    if not worst then return nil end
    local part, count = share(found, function(c) return math.abs(c.off) <= 0.02 end)
    return string.format("within 2 %% for %d of %d; furthest off %+.1f %% (%s on %s)", count, #found, 100 * worst.off,
        worst.run.benchmark, worst.run.gpu), part == 1
end

-- What the calls cost is what the time grows by when they are charged, all else being the same. Where the difference to the schedule by hand is
-- less than 2 % of the time it says nothing.
C["host-cost"] = function(f)
    local found = {}
    for _, list in ipairs {main_runs(f), tiny_runs(f)} do
        for _, run in ipairs(list) do
            local ours, hand = same_prefetch(f, run)
            local charged, native = times(f, with(ours, {profile = "grcuda"}), ours)
            local by_hand = f.runs:time(hand)
            if charged and by_hand and charged - by_hand > 0.02 * by_hand then
                found[#found + 1] = (charged - native) / (charged - by_hand)
            end
        end
    end
    local part, count = share(found, function(c) return math.abs(c - 1) <= 0.10 end)
    if not part then return nil end
    return string.format("within 10 %% for %d of the %d whose difference is above 2 %%", count, #found), part == 1
end

C["overhead"] = function(f)
    local count, worst, where = 0, 0, nil
    for _, run in ipairs(main_runs(f)) do
        local y, x = times(f, run, with(run, {profile = "native"}))
        if y and y >= 5 * MS and not (run.benchmark == "IMG" and y < 15 * MS) then
            count = count + 1
            if y / x > worst then worst, where = y / x, run end
        end
    end
    if count == 0 then return nil end
    return string.format("at most %.3f in %d runs (%s on %s)", worst, count, where.benchmark, where.gpu), worst <= 1.1
end

-- ---- the link -----------------------------------------------------------------------------------------

C["small-copies"] = function(f)
    local small, large = {bytes = 0, ns = 0.0}, {bytes = 0, ns = 0.0}
    for _, pair in ipairs(f:pairs()) do
        local row = f.runs:row(with(f:main_run(pair), {block = 32, detail = "kernels"}))
        for _, t in ipairs(row and row.transfers or {}) do
            local class = t.region == "main" and (t.bytes <= 65536 and small or t.bytes >= 1048576 and large)
            if class then class.bytes, class.ns = class.bytes + t.bytes, class.ns + t.end_ns - t.start_ns end
        end
    end
    if small.ns == 0 or large.ns == 0 then return nil end
    local a, b = small.bytes / small.ns, large.bytes / large.ns
    return string.format("%.1f GB/s up to 64 KiB, %.1f GB/s from 1 MiB on", a, b), a < b / 2
end

C["pcie4"] = function(f)
    if not is_named(f, "B&S") then return nil end
    local run = with(f:main_run {gpu = "p100", benchmark = "B&S"}, {block = 256, blocks = 32})
    local twice = with(run, {set = {["link.h2d_bytes_per_second"] = 23400000000, ["link.d2h_bytes_per_second"] = 25800000000}})
    local x, y = times(f, run, twice)
    if not x then return nil end
    return string.format("%.2f times as fast", x / y), x / y >= 1.3
end

return C
