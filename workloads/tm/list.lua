-- A sorted list in local memory, into which work-items insert keys, or search it for some.
--
-- A section walks the list up to the key: it reads two words of each node in front, of its own node it writes two, and of another's one. Two work-items
-- meet if one inserts in front of where the other is; where reads meet, all do.
--
-- Arguments: those of workloads/lib/tm.lua (variants tx, serial, coarse, fine, atomic, none), rounds is inserts and searches of a work-item, and
--   length  keys at the start (30)
--   reads   percent of searches among what a work-item does (75)
--
-- Checked: the list is sorted and ends; it has every key of the start and every one inserted, once; searches find the keys of the start
-- and do not find those that nobody inserts.

local gpu = require "heddle"
local tm = require "tm"

local b = tm.benchmark {variants = {"tx", "serial", "coarse", "fine", "atomic", "none"}, rounds = 1, per_cu = 0.25}
local keys = gpu.arg("length", 30, 1, 4096)
local reads = gpu.arg("reads", 75, 0, 100)

local length, last = keys + 2, 0x7fffffff -- with the first and the last node
local data, search = 128, 1 << 31         -- as in list.hasm

-- Keys of the start are multiples of a step that spreads them among those of the tasks, which are the others.
local step = math.max(2, (b.group_ops + keys) // keys)
local function task_key(i) return i + i // (step - 1) + 1 end

local first = {}
for i = 0, length - 1 do
    first[2 * i + 1] = i == length - 1 and last or i * step
    first[2 * i + 2] = i == length - 1 and 0 or data + 8 * (i + 1)
end

local random = b:random(1)
local list, expected = {}, {} -- expected: what a search finds
for group = 0, b.groups - 1 do
    local order = {}
    for i = 0, b.group_ops - 1 do
        local j = random(i + 1)
        order[i] = order[j]
        order[j] = i
    end
    for i = 0, b.group_ops - 1 do
        local at, key = group * b.group_ops + i + 1, task_key(order[i])
        if random(100) < reads then
            expected[at] = random(2)
            if expected[at] == 1 then key = (1 + random(keys)) * step end
            key = key | search
        end
        list[at] = key
    end
end

local start, tasks = tm.array("u32", first, "start"), tm.array("u32", list, "tasks")
local nodes = gpu.array("u32", b.groups * 2 * (length + b.group_ops), "nodes")
local results = gpu.array("u32", b.ops, "results")

b:measure {
    kernels = "list.hasm",
    signature = "start: in u32[], tasks: in u32[], nodes: out u32[], results: out u32[], length: i32, rounds: i32",
    arguments = {start, tasks, nodes, results, length, b.rounds},
    lds = 8 * (length + b.group_ops), locks = length + b.group_ops,
}

local got, missing, unsorted, inserts = results:to_table(), 0, 0, 0
local wrong = 0
for at = 1, b.ops do
    if expected[at] and got[at] ~= expected[at] then wrong = wrong + 1 end
    if not expected[at] then inserts = inserts + 1 end
end

local found = 0
for group = 0, b.groups - 1 do
    local words = 2 * (length + b.group_ops)
    local memory = nodes:to_table(group * words, words)
    local wanted = {}
    for i = 1, keys do wanted[i * step] = true end
    for at = group * b.group_ops + 1, (group + 1) * b.group_ops do
        if not expected[at] then wanted[list[at]] = true end
    end
    local key, at = 0, memory[2]
    while at >= data and at % 8 == 0 and at < data + 4 * words do
        local next_key = memory[(at - data) // 4 + 1]
        if next_key <= key then
            unsorted = unsorted + 1
            break
        end
        key = next_key
        if wanted[key] then found = found + 1 end
        at = memory[(at - data) // 4 + 2]
    end
    if key ~= last or at ~= 0 then missing = missing + 1 end
end
gpu.check("keys in the lists", found, b.groups * keys + inserts)
gpu.check("lists out of order", unsorted, 0)
gpu.check("lists that do not end", missing, 0)
gpu.check("searches that find something else", wrong, 0)
