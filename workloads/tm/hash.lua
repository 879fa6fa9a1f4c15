-- A hash table with chains in local memory: each work-item inserts keys at the heads of their chains.
--
-- A section loads the bucket's head, makes it the link of the new node, and puts the node there: 1 word read that is shared,
-- 1 written, and 2 of the node's own. Two work-items meet if their keys share a bucket.
--
-- Arguments: those of workloads/lib/tm.lua (variants tx, serial, coarse, fine, atomic, none), rounds is inserts of a work-item, and
--   buckets  chains (256); the fewer, the more meet
--
-- Checked: every node is in a chain, once, and that of its key; the heads belong to the group; every chain ends.

local gpu = require "heddle"
local tm = require "tm"

local b = tm.benchmark {variants = {"tx", "serial", "coarse", "fine", "atomic", "none"}, rounds = 4}
local buckets = gpu.arg("buckets", 256, 1, 65536)

local random = b:random(1)
local list = {}
for i = 1, b.ops do list[i] = random(1 << 32) end

local keys = tm.array("u32", list, "keys")
local heads = gpu.array("u32", b.groups * buckets, "heads")
local nodes = gpu.array("u32", 2 * b.ops, "nodes")

b:measure {
    kernels = "hash.hasm",
    signature = "keys: in u32[], heads: out u32[], nodes: out u32[], buckets: i32, rounds: i32",
    arguments = {keys, heads, nodes, buckets, b.rounds},
    lds = 4 * buckets + 8 * b.group_ops, locks = buckets,
}

local function bucket_of(key) return ((key * 0x9e3779b1 & 0xffffffff) >> 8) % buckets end

local seen, misplaced, torn, found = {}, 0, 0, 0
local got_heads, got_nodes = heads:to_table(), nodes:to_table()
for group = 0, b.groups - 1 do
    local first = group * b.group_ops
    for bucket = 0, buckets - 1 do
        local at = got_heads[group * buckets + bucket + 1]
        while at ~= 0 do
            local node = first + at
            if at > b.group_ops or seen[node] then
                torn = torn + 1
                break
            end
            seen[node] = true
            found = found + 1
            local key = got_nodes[2 * node - 1]
            if key ~= list[node] or bucket_of(key) ~= bucket then misplaced = misplaced + 1 end
            at = got_nodes[2 * node]
        end
    end
end
gpu.check("nodes in the chains", found, b.ops)
gpu.check("nodes in a wrong chain", misplaced, 0)
gpu.check("chains that meet others", torn, 0)
