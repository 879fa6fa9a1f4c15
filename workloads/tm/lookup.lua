-- Searches of a sorted table in local memory: most sections, by default all, do not write.
--
-- A section searches the table by halves and reads the pair of numbers that belongs to the key; some move 1 from the first to the second. It reads log2(entries)
-- keys, which are the same for all at first, and 2 words; 2 words are written, or none. Where reads meet all work-items do; else two that have the same
-- key, if one of them moves.
--
-- Arguments: those of workloads/lib/tm.lua (variants tx, serial, coarse, fine, atomic, none; fine locks the entry alone, and only behind the search, for keys do not
-- change; none is right where nobody moves), rounds is searches of a work-item, and
--   entries  of the table, a power of two (256)
--   reads    percent of tasks that do not move (100)
--
-- Checked: the pairs at the end; the entry that each search found; and the sum that it saw, which no move changes.

local gpu = require "heddle"
local tm = require "tm"

local b = tm.benchmark {variants = {"tx", "serial", "coarse", "fine", "atomic", "none"}, rounds = 2}
local entries = gpu.arg("entries", 256, 1, 4096)
local reads = gpu.arg("reads", 100, 0, 100)
if entries & (entries - 1) ~= 0 then error("--arg entries=" .. entries .. ": it is a power of two", 0) end

local random = b:random(1)
local key, first, list, expected, found = {}, {}, {}, {}, {}
for i = 0, entries - 1 do
    key[i + 1] = (i > 0 and key[i] or 0) + 1 + random(1000)
    first[2 * i + 1] = 20000 + random(1000)
    first[2 * i + 2] = 30000 - first[2 * i + 1]
end
for group = 0, b.groups - 1 do
    local at = group * 2 * entries
    for i = 1, 2 * entries do expected[at + i] = first[i] end
    for op = group * b.group_ops + 1, (group + 1) * b.group_ops do
        local entry = random(entries)
        list[op], found[op] = key[entry + 1], 30000 << 16 | entry
        if random(100) >= reads then
            list[op] = list[op] | 1 << 31
            expected[at + 2 * entry + 1] = expected[at + 2 * entry + 1] - 1
            expected[at + 2 * entry + 2] = expected[at + 2 * entry + 2] + 1
        end
    end
end

local keys, start = tm.array("u32", key, "keys"), tm.array("u32", first, "start")
local tasks, results = tm.array("u32", list, "tasks"), gpu.array("u32", b.ops, "results")
local pairs_at_end = gpu.array("u32", b.groups * 2 * entries, "pairs")

b:measure {
    kernels = "lookup.hasm",
    signature = "keys: in u32[], start: in u32[], tasks: in u32[], pairs: out u32[], results: out u32[], entries: i32, rounds: i32",
    arguments = {keys, start, tasks, pairs_at_end, results, entries, b.rounds},
    lds = 12 * entries, locks = entries,
}

gpu.check("numbers that are wrong", tm.unlike(pairs_at_end, expected), 0)
gpu.check("searches that saw something else", tm.unlike(results, found), 0)
