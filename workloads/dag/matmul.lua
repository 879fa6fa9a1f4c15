-- The product of two square matrices, c = a * b, in tiles of 16 by 16 through local memory.
--
-- Arguments
--   n       rows and columns (256); any number, edges are masked
--   verify  compares c with a and b after the region (true)
--
-- Checked by Freivalds' method: c r = a (b r) for a random vector r. Elements are small integers,
-- so every number on both sides is an integer that f32 (in the kernel: below 2^24) and f64 (in the
-- check: below 2^53) hold exactly, and the two must be equal. A row of c that is wrong passes for
-- at most one of the 2^16 values of some element of r.

local gpu = require "heddle"

local TILE = 16
local n = gpu.arg("n", 256, 1, 8192)
local verify = gpu.arg("verify", true)

local matmul = gpu.module("matmul.hasm"):kernel("matmul", "a: in f32[], b: in f32[], c: out f32[], n: i32")
local a, b, c = gpu.array("f32", n * n, "a"), gpu.array("f32", n * n, "b"), gpu.array("f32", n * n, "c")
local tiles = (n + TILE - 1) // TILE
local expected

gpu.region("main", {reset = function()
    a:random(1, -8, 9):map("floor(x)")
    b:random(2, -8, 9):map("floor(x)")
    c:fill(-1)
    expected = 0.0
    for k = 0, n - 1 do expected = expected + a[k] * b[k * n] end
end}, function()
    matmul({tiles, tiles}, {TILE, TILE})(a, b, c, n)
    gpu.check("c[0]", c[0], expected)
end)

-- The product of a matrix and a vector, row by row.
local function times(matrix, vector)
    local product = {}
    for i = 1, n do
        local row, sum = matrix:to_table((i - 1) * n, n), 0.0
        for k = 1, n do sum = sum + row[k] * vector[k] end
        product[i] = sum
    end
    return product
end

if verify then
    local r, wrong = {}, 0
    for i = 1, n do r[i] = math.random(0, 65535) end
    local left, right = times(c, r), times(a, times(b, r))
    for i = 1, n do
        if left[i] ~= right[i] then wrong = wrong + 1 end
    end
    gpu.check("rows of c that are wrong", wrong, 0)
end
