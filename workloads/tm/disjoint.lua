-- Each work-item changes words of its own: no two meet, so that all a transaction takes is its overhead, and each abort a false one.
--
-- A section reads and writes each of the words.
--
-- Arguments: those of workloads/lib/tm.lua (variants tx, serial, coarse, fine, atomic, none; none is right here), rounds is sections of a
-- work-item, and
--   words   of a work-item (4)
--   layout  interleaved  the first words of all work-items, then the second ones: lanes in banks of their own
--           blocked      the words of a work-item beside each other
--
-- Checked: every word.

local gpu = require "heddle"
local tm = require "tm"

local b = tm.benchmark {variants = {"tx", "serial", "coarse", "fine", "atomic", "none"}, rounds = 2}
local words = gpu.arg("words", 4, 1, 64)
local interleaved = tm.choice("layout", {"interleaved", "blocked"}) == "interleaved"
local item_bytes, word_bytes = interleaved and 4 or 4 * words, interleaved and 4 * b.items or 4

local sums = gpu.array("u32", b.groups * b.items * words, "sums")

b:measure {
    kernels = "disjoint.hasm",
    signature = "sums: out u32[], words: i32, item_bytes: i32, word_bytes: i32, rounds: i32",
    arguments = {sums, words, item_bytes, word_bytes, b.rounds},
    lds = 4 * b.items * words, locks = b.items,
}

local expected = {}
for i = 0, b.groups * b.items * words - 1 do
    local word = interleaved and i // b.items % words or i % words
    expected[i + 1] = b.rounds * (word + 1)
end
gpu.check("words that are wrong", tm.unlike(sums, expected), 0)
