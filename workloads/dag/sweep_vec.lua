-- VEC over sizes and schedulers: what overlapping transfers with kernels gains, and from which size on.
--
--     heddle sweep workloads/dag/sweep_vec.lua --out vec.jsonl
--
-- Beside vec.jsonl it writes
--   sweep_vec.csv      the time of each point, and the speedup over serial-sync
--   sweep_vec.vl.json  the speedups as a figure (Vega-Lite)

local plot = require "plot"

local function post(results)
    local gain = plot.speedup(results, {by = "host.scheduler", base = "serial-sync"})
    return {
        ["sweep_vec.csv"] = plot.csv(gain, {
            {"n", "arg.n"}, {"scheduler", "host.scheduler"}, {"time_us", "time_ns", 1e-3}, {"speedup", "ratio"},
        }),
        ["sweep_vec.vl.json"] = plot.json(plot.lines {
            title = "VEC: speedup over serial-sync",
            data = gain,
            x = {"arg.n", title = "elements of a vector", log = true},
            y = {"ratio", title = "speedup"},
            color = {"host.scheduler", title = "scheduler"},
            rule = 1,
        }),
    }
end

return {
    workload = "vec.lua",
    config = "p100",
    args = {verify = false},
    axes = {
        {key = "arg.n", values = {1000, 10000, 100000, 1000000}},
        {key = "host.scheduler", values = {"serial-sync", "serial-async", "parallel-async"}},
    },
    post = post,
}
