-- Colouring of a graph: each vertex takes the least colour that none of its neighbours has. Every group colours the same graph in its own local memory.
--
-- A section reads the colours of the vertex and its neighbours and writes its own: degree + 1 words read, 1 of them written. Two work-items
-- meet if their vertices are neighbours, or, where reads meet, if they share one.
--
-- Arguments: those of workloads/lib/tm.lua (variants tx, serial, coarse, fine, none; no rounds), and
--   vertices  (256); work-item i colours the vertices i, i + items, ...
--   degree    most neighbours of a vertex (8)
--   graph     random  edges between random vertices, until most have that many
--             ring    the vertices up to degree / 2 away: neighbours in a wavefront, and in the next one's first lanes
--
-- Checked: every vertex has a colour, no two neighbours have the same, and none is greater than its vertex's neighbours are many, plus 1.

local gpu = require "heddle"
local tm = require "tm"

local b = tm.benchmark {
    variants = {"tx", "serial", "coarse", "fine", "none"}, per_cu = 0.5,
    unfit = {atomic = "a colour depends on those of all neighbours"},
}
local vertices = gpu.arg("vertices", 256, 2, 16384)
local degree = gpu.arg("degree", 8, 1, 30)
local graph = tm.choice("graph", {"random", "ring"})

local neighbours = {}
for v = 0, vertices - 1 do neighbours[v] = {} end

local function join(u, v)
    if u == v or #neighbours[u] == degree or #neighbours[v] == degree then return end
    for _, w in ipairs(neighbours[u]) do
        if v == w then return end
    end
    table.insert(neighbours[u], v)
    table.insert(neighbours[v], u)
end

local edges = {}
function edges.ring()
    for distance = 1, degree // 2 do
        for v = 0, vertices - 1 do join(v, (v + distance) % vertices) end
    end
end
function edges.random()
    local random = b:random(1)
    for _ = 1, vertices * degree do join(random(vertices), random(vertices)) end
end
edges[graph]()

local slots, list = degree + 1, {}
for v = 0, vertices - 1 do
    local row = {v}
    for _, w in ipairs(neighbours[v]) do table.insert(row, w) end
    while #row < slots do table.insert(row, v) end
    table.sort(row)
    for slot = 0, slots - 1 do list[slot * vertices + v + 1] = row[slot + 1] end
end

local adjacency = tm.array("i32", list, "adjacency")
local colours = gpu.array("i32", b.groups * vertices, "colours")

b:measure {
    kernels = "colouring.hasm",
    signature = "adjacency: in i32[], colours: out i32[], vertices: i32, slots: i32",
    arguments = {adjacency, colours, vertices, slots},
    lds = 4 * vertices, locks = vertices,
}

local alike, out_of_range = 0, 0
for group = 0, b.groups - 1 do
    local got = colours:to_table(group * vertices, vertices)
    for v = 0, vertices - 1 do
        local mine = got[v + 1]
        if mine < 1 or mine > #neighbours[v] + 1 then out_of_range = out_of_range + 1 end
        for _, w in ipairs(neighbours[v]) do
            if got[w + 1] == mine then alike = alike + 1 end
        end
    end
end
gpu.check("neighbours of one colour", alike, 0)
gpu.check("colours out of range", out_of_range, 0)
