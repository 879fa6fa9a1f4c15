-- A step of k-means in whole numbers: each point goes to the nearest centre, whose count and sums of features in local memory it adds to.
--
-- Finding the centre is outside of the section, which reads and writes features + 1 words that lie beside each other: the largest footprint
-- of these programs. Two work-items meet if their points are of one cluster.
--
-- Arguments: those of workloads/lib/tm.lua (variants tx, serial, coarse, fine, atomic, none), rounds is points of a work-item, and
--   clusters  (5); the fewer, the more points meet
--   features  of a point (8); Rodinia's input has 34
--
-- Checked: every count and sum, for additions may come in any order.

local gpu = require "heddle"
local tm = require "tm"

local b = tm.benchmark {variants = {"tx", "serial", "coarse", "fine", "atomic", "none"}, rounds = 1}
local clusters = gpu.arg("clusters", 5, 1, 256)
local features = gpu.arg("features", 8, 1, 256)

-- Points lie around the centres, so that clusters are of about one size.
local random = b:random(1)
local centre, list, expected = {}, {}, {}
for i = 1, clusters * features do centre[i] = random(256) end
for i = 1, b.groups * clusters * (features + 1) do expected[i] = 0 end

local function nearest(point)
    local best, least
    for c = 0, clusters - 1 do
        local distance = 0
        for f = 1, features do
            local d = point[f] - centre[c * features + f]
            distance = distance + d * d
        end
        if not least or distance < least then best, least = c, distance end
    end
    return best
end

for op = 0, b.ops - 1 do
    local around, point = random(clusters), {}
    local at = op // b.items * b.items * features + op % b.items
    for f = 1, features do
        point[f] = centre[around * features + f] + random(129) - 64
        list[at + (f - 1) * b.items + 1] = point[f]
    end
    local row = (op // b.group_ops * clusters + nearest(point)) * (features + 1) + 1
    expected[row] = expected[row] + 1
    for f = 1, features do expected[row + f] = expected[row + f] + point[f] end
end

local points, centres = tm.array("i32", list, "points"), tm.array("i32", centre, "centres")
local sums = gpu.array("i32", b.groups * clusters * (features + 1), "sums")

b:measure {
    kernels = "kmeans.hasm",
    signature = "points: in i32[], centres: in i32[], sums: out i32[], clusters: i32, features: i32, rounds: i32",
    arguments = {points, centres, sums, clusters, features, b.rounds},
    lds = 4 * clusters * (2 * features + 1), locks = clusters,
}

gpu.check("counts and sums that are wrong", tm.unlike(sums, expected), 0)
