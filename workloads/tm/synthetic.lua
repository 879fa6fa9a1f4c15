-- Sections of a size of one's choice on random words of local memory, some of which are hot.
--
-- A section accesses words in random order: it reads all of them and writes some, whose numbers it increments. With length, work that depends on what was read
-- stands between accesses.
--
-- Arguments: those of workloads/lib/tm.lua (variants tx, serial, coarse, fine, none; fine locks all words of a section, in the order of their addresses),
-- rounds is sections of a work-item, and
--   reads   words that are read alone (4)
--   writes  words that are read and written (2); together at most 16
--   hot     hot words (16)
--   cold    all others (1008)
--   share   percent of accesses that go to hot ones (10)
--   length  operations between two accesses (0)
--
-- Checked: every number, for increments may come in any order.

local gpu = require "heddle"
local tm = require "tm"

local b = tm.benchmark {
    variants = {"tx", "serial", "coarse", "fine", "none"}, rounds = 1,
    unfit = {atomic = "what is read and what is written belongs together"},
}
local reads = gpu.arg("reads", 4, 0, 16)
local writes = gpu.arg("writes", 2, 0, 16)
local hot = gpu.arg("hot", 16, 0, 16384)
local cold = gpu.arg("cold", 1008, 0, 16384)
local share = gpu.arg("share", 10, 0, 100)
local length = gpu.arg("length", 0, 0, 1000000)

local count, words, data = reads + writes, hot + cold, 128 -- data as in sync.hasm
if count < 1 or count > 16 then error("--arg reads and writes: together they are 1 to 16 words", 0) end
if words < 1 then error("--arg hot and cold: there is no word", 0) end
if hot == 0 then share = 0 elseif cold == 0 then share = 100 end

local random = b:random(1)
local list, expected = {}, {}
for i = 1, b.groups * words do expected[i] = 0 end

local function shuffle(row)
    for i = #row, 2, -1 do
        local j = 1 + random(i)
        row[i], row[j] = row[j], row[i]
    end
end

for op = 0, b.ops - 1 do
    local row, group = {}, op // b.group_ops
    for k = 1, count do
        local word = random(100) < share and random(hot) or cold > 0 and hot + random(cold) or random(hot)
        local write = k > reads and 1 or 0
        row[k] = data + 4 * word + write
        expected[group * words + word + 1] = expected[group * words + word + 1] + write
    end
    shuffle(row)
    if b.fine then table.sort(row) end
    for k = 1, count do list[(op // b.items * count + k - 1) * b.items + op % b.items + 1] = row[k] end
end

-- A word that a section has twice is incremented once for each.
local accesses = tm.array("u32", list, "accesses")
local values = gpu.array("u32", b.groups * words, "values")

b:measure {
    kernels = "synthetic.hasm",
    signature = "accesses: in u32[], values: out u32[], words: i32, count: i32, length: i32, rounds: i32",
    arguments = {accesses, values, words, count, length, b.rounds},
    lds = 4 * words, locks = words,
}

gpu.check("numbers that are wrong", tm.unlike(values, expected), 0)
