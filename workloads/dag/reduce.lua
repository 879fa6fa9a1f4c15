-- The sum of a vector in two stages: each work-group sums its share through local memory and
-- barriers, then one work-group sums the sums.
--
-- Arguments
--   n       elements (1000000)
--   block   work-items of a work-group (256); any number that the device takes
--   blocks  work-groups of the first stage (224)
--
-- Checked: the sum against the one in f64 on the host.

local gpu = require "heddle"

local n = gpu.arg("n", 1000000, 1, 2000000000)
local block = gpu.arg("block", 256, 1)
local blocks = gpu.arg("blocks", 224, 1)

local reduce = gpu.module("two_stage.hasm"):kernel("reduce", "x: in f32[], sums: out f32[], n: i32")
local x, sums, total = gpu.array("f32", n, "x"), gpu.array("f32", blocks, "sums"), gpu.array("f32", 1, "total")
local expected = 0

-- Each element passes at most this many additions; all are of one sign, so each adds half a unit in
-- the last place at most.
local function additions(n, blocks)
    return (n + blocks * block - 1) // (blocks * block) + math.ceil(math.log(block, 2))
end
local tolerance = (additions(n, blocks) + additions(blocks, 1)) * 2.0 ^ -24

gpu.region("main", {reset = function()
    x:random(1)
    expected = x:sum()
    sums:fill(0)
    total[0] = 0
end}, function()
    reduce(blocks, block, 4 * block)(x, sums, n)
    reduce(1, block, 4 * block)(sums, total, blocks)
    gpu.check("total", total[0], expected, tolerance)
end)
