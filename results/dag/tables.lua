-- TABLE.md: the numbers as tables to read.

local T = {}

local function number(v)
    if v == nil then return "" end
    if math.abs(v) >= 100 then return string.format("%.0f", v) end
    if math.abs(v) >= 10 then return string.format("%.1f", v) end
    return string.format("%.3f", v)
end

local function percent(v) return v and string.format("%+.0f %%", 100 * v) or "" end

local function yes(v)
    if v == nil then return "" end
    return v and "yes" or "no"
end

local function add(out, ...) out[#out + 1] = string.format(...) end

local function head(out, ...)
    local names = {...}
    out[#out + 1] = "| " .. table.concat(names, " | ") .. " |"
    out[#out + 1] = "|" .. string.rep("---|", #names)
end

local function score_part(out, score)
    add(out, "## Score\n")
    if not score.is_scored then add(out, "These runs are not of the scored sizes; the numbers show what the smaller ones give.\n") end
    head(out, "figure", "GPU", "cells", "within 25 %", "geometric mean, ours", "published", "error", "within 10 %", "Spearman", "0.7 or more")
    for _, figure in ipairs(score.figures) do
        add(out, "| %s | all | %d | %d (%s) | | | | | | |", figure.figure, figure.cells, figure.within, yes(figure.share_holds))
        for _, g in ipairs(figure.gpus) do
            add(out, "| %s | %s | | | %s | %s | %s | %s | %s | %s |", figure.figure, g.gpu, number(g.geomean_ours),
                number(g.geomean_published), percent(g.geomean_error), yes(g.geomean_holds), number(g.spearman), yes(g.order_holds))
        end
    end
    if score.trace then
        add(out, "\nKernels of the trace: median error %s over %d, wanted is 30 %% or less: %s.", percent(score.trace.median_error),
            score.trace.kernels, yes(score.trace.holds))
    end
    add(out, "")
end

local function claims_part(out, claims)
    add(out, "## Claims\n")
    head(out, "claim", "where", "measured", "holds")
    for _, c in ipairs(claims) do
        add(out, "| %s | %s | %s | %s |", c.claim, c.where, c.measured or "", yes(c.holds))
    end
    add(out, "")
    for _, c in ipairs(claims) do
        if c.breaches and #c.breaches > 0 then
            head(out, "slower", "GPU", "size", "block", "prefetch", "serial (ms)", "parallel (ms)", "serial bound by", "parallel bound by")
            for _, b in ipairs(c.breaches) do
                add(out, "| %s | %s | %d | %d | %s | %.3f | %.3f | %s | %s |", b.benchmark, b.gpu, b.size, b.block, yes(b.prefetch),
                    b.serial_ms, b.parallel_ms, b.serial_bound_by, b.parallel_bound_by)
            end
            add(out, "")
        end
    end
end

local titles = {
    {"11", "Figure 11: speedups and overlaps"}, {"7", "Figure 7: speedup over the serial scheduler"},
    {"1", "Figure 1: schedules by hand over serial, both native"}, {"8", "Figure 8: time by hand over the scheduler's"},
    {"9", "Figure 9: contention-free time over parallel time"}, {"12", "Figure 12: rates while kernels run, gtx1660s"},
    {"Table I", "Table I: memory of the arrays"}, {"trace", "Durations of kernels, gtx960"},
    {"attach", "Arrays attached to streams, and not"}, {"tiny", "Next to nothing to compute"},
}

local function figure_part(out, rows, figure, title)
    local some = {}
    for _, r in ipairs(rows) do
        if r.figure == figure then some[#some + 1] = r end
    end
    if #some == 0 then return end
    add(out, "## %s\n", title)
    head(out, "GPU", "benchmark", "size", "block", "metric", "published", "ours", "error", "scored")
    for _, r in ipairs(some) do
        local off = r.abs_error and string.format("%+.3f", r.abs_error) or percent(r.rel_error)
        add(out, "| %s | %s | %d | %s | %s | %s | %s | %s | %s |", r.gpu, r.benchmark, r.size, r.block, r.metric, number(r.published),
            number(r.ours), off, r.scored and "yes" or "")
    end
    add(out, "")
end

function T.text(f, score, claims, cost)
    local out = {}
    add(out, "# Published and ours\n")
    add(out, "Made by the sweep; what it all means is in [README.md](README.md). Errors are relative, those of overlaps differences.")
    add(out, "%d runs, %.0f minutes of one core, %.1f G instructions of wavefronts.\n", cost.runs, cost.seconds / 60, cost.instructions * 1e-9)
    score_part(out, score)
    claims_part(out, claims)
    for _, t in ipairs(titles) do figure_part(out, f.rows, t[1], t[2]) end
    local shown = math.min(20, #f.runs.failed)
    if shown > 0 then add(out, "## Runs without a result\n") end
    for i = 1, shown do add(out, "- %s: %s", f.runs.failed[i].run, f.runs.failed[i].error) end
    if #f.runs.failed > shown then add(out, "- and %d more", #f.runs.failed - shown) end
    return (table.concat(out, "\n"):gsub("\n+$", "") .. "\n")
end

return T
