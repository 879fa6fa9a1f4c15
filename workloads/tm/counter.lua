-- One counter that all work-items of a group count up, or a few: the most contention there is.
--
-- A section reads and writes the one word. In a wavefront all lanes meet, so that transactions end one by one.
--
-- Arguments: those of workloads/lib/tm.lua (variants tx, serial, coarse, fine, atomic, none), rounds is increments of a work-item, and
--   counters  counters of a group (1); work-item i takes counter i mod counters, the next one in the next round
--
-- Checked: each counter against the number of increments.

local gpu = require "heddle"
local tm = require "tm"

local b = tm.benchmark {variants = {"tx", "serial", "coarse", "fine", "atomic", "none"}, rounds = 1}
local counters = gpu.arg("counters", 1, 1, 4096)

local sums = gpu.array("u32", b.groups * counters, "sums")

b:measure {
    kernels = "counter.hasm", signature = "sums: out u32[], counters: i32, rounds: i32",
    arguments = {sums, counters, b.rounds},
    lds = 4 * counters, locks = counters,
}

local expected = {}
for i = 1, b.groups * counters do expected[i] = 0 end
for op = 0, b.ops - 1 do
    local group, round, item = op // b.group_ops, op % b.group_ops // b.items, op % b.items
    local at = group * counters + (item + round) % counters + 1
    expected[at] = expected[at] + 1
end
gpu.check("counters that are wrong", tm.unlike(sums, expected), 0)
