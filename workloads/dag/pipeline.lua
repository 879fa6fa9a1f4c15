-- Branches of small kernels that share the device. Each branch takes its array through two stages
-- that depend on each other; branches do not depend on each other, and a tree of joins adds them
-- up:
--
--     steps(a1 -> b1) -- steps(b1 -> a1) --.
--                                           +-- join(a1, a2) --.
--     steps(a2 -> b2) -- steps(b2 -> a2) --'                    +-- join(a1, a3) -- the host reads a1
--     steps(a3 -> b3) -- steps(b3 -> a3) --.                    |
--                                           +-- join(a3, a4) --'
--     steps(a4 -> b4) -- steps(b4 -> a4) --'
--
-- One kernel fills a part of the device only: with 7 work-groups it takes 7 of the 56 compute units
-- of p100, so that 8 branches fit beside each other. A serial schedule runs them one after the
-- other.
--
-- Arguments
--   branches  (8)
--   n         elements of each branch (1792)
--   block     work-items of a work-group (128)
--   blocks    work-groups of each kernel (7)
--   steps     steps of each stage, a multiple of 8 (4096)
--
-- Checked: every element, against the closed form of the generator's steps.

local gpu = require "heddle"

local branches = gpu.arg("branches", 8, 1, 64)
local n = gpu.arg("n", 1792, 1, 1000000000)
local block = gpu.arg("block", 128, 1)
local blocks = gpu.arg("blocks", 7, 1)
local steps = gpu.arg("steps", 4096, 8, 1000000000)
if steps % 8 ~= 0 then error("steps is no multiple of 8: " .. steps) end

local module = gpu.module "pipeline.hasm"
local stage = module:kernel("steps", "x: in u32[], y: out u32[], n: i32, eights: i32")
local join = module:kernel("join", "x: inout u32[], y: in u32[], n: i32")

local a, b = {}, {}
for i = 1, branches do
    a[i] = gpu.array("u32", n, "a" .. i)
    b[i] = gpu.array("u32", n, "b" .. i)
end

-- Steps are affine, and so is any number of them: s -> factor s + offset, found by squaring. All of
-- the branches together are affine in the index, too.
local MASK = 0xffffffff
local function power(factor, offset, count)
    local f, o = 1, 0
    while count > 0 do
        if count % 2 == 1 then f, o = f * factor & MASK, (o * factor + offset) & MASK end
        offset = (offset * factor + offset) & MASK
        factor = factor * factor & MASK
        count = count // 2
    end
    return f, o
end

local factor, offset = power(1664525, 1013904223, 2 * steps)
local first = 0
for i = 1, branches do first = (first + factor * (i * n) + offset) & MASK end
local slope = branches * factor & MASK

gpu.region("main", {reset = function()
    for i = 1, branches do a[i]:iota(i * n) end
end}, function()
    for i = 1, branches do stage(blocks, block)(a[i], b[i], n, steps // 8) end
    for i = 1, branches do stage(blocks, block)(b[i], a[i], n, steps // 8) end
    local distance = 1
    while distance < branches do
        for i = 1, branches - distance, 2 * distance do join(blocks, block)(a[i], a[i + distance], n) end
        distance = 2 * distance
    end
    gpu.check("a1[0]", a[1][0], first)
end)

local wrong = 0
for at = 0, n - 1, 4096 do
    local part = a[1]:to_table(at, math.min(4096, n - at))
    for i, value in ipairs(part) do
        if value ~= (first + slope * (at + i - 1)) & MASK then wrong = wrong + 1 end
    end
end
gpu.check("elements that are wrong", wrong, 0)
