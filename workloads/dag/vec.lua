-- VEC: the sum of the differences of two squared vectors, z = sum of x[i]^2 - y[i]^2.
--
-- Two kernels that do not depend on each other, and one that needs both:
--
--     square(x -> x1) --.
--                        +-- reduce(x1, y1 -> z) -- the host reads z
--     square(y -> y1) --'
--
-- x and y are written by the host before each iteration, so 8 n bytes go to the device. By hand x, x1 and z are on
-- one stream, y and y1 on another, which the first waits for.
--
-- Arguments
--   n       elements of each vector (1000000)
--   block   work-items of a work-group (256)
--   blocks  work-groups of each kernel (8 times the compute units: 448 on p100)
--   verify  also compares every element of x1 and y1 with values computed on the host, after the region (true)
--   and variant, const, reset, by_hand_prefetch, build_in_region: see workloads/lib/dag.lua
--
-- Checked: z against -3 times the sum of 1/k^2 for k = 1..n; x1 and y1 bit by bit.

local gpu = require "heddle"
local dag = require "dag"

local b = dag.benchmark {n = 1000000}
local n, block, blocks = b.n, b.block, b.blocks

local module = gpu.module "vec.hasm"
local square = b:kernel(module, "square", "x: in(cpp) f32[], y: inout f32[], n: i32")
local reduce = b:kernel(module, "reduce", "x: in f32[], y: in f32[], z: inout f32[], n: i32")

local x, y = gpu.array("f32", n, "x"), gpu.array("f32", n, "y")
local x1, y1 = gpu.array("f32", n, "x1"), gpu.array("f32", n, "y1")
local z = gpu.array("f32", 1, "z")

-- The sum of 1/k^2 for k = 1..n: its first terms, smallest first, and from there to n by the
-- Euler-Maclaurin formula, whose first omitted term, 1/(42 m^7), is below the rounding of the sum.
local function sum_of_inverse_squares(n)
    local m, sum = math.min(n, 1000), 0.0
    for k = m, 1, -1 do sum = sum + 1 / (k * k) end
    local function rest(k) return 1 / k - 1 / (2 * k ^ 2) + 1 / (6 * k ^ 3) - 1 / (30 * k ^ 5) end
    return sum + (rest(m) - rest(n))
end

-- y = 2 x exactly, so each term is -3 x1 with four roundings (x, x^2, y^2, the difference), all
-- terms have one sign, and an element passes at most this many additions: over the item's elements,
-- the lanes, and the wavefronts.
local width = gpu.config("wavefront_size")
local waves = blocks * ((block + width - 1) // width)
local additions = (n + blocks * block - 1) // (blocks * block) + math.ceil(math.log(width, 2)) + waves
local tolerance = (additions + 4) * 2.0 ^ -24

b:place(1, x, x1)
b:place(2, y, y1)
b:prefetch(1, z)
local x_squared = b:call(square, blocks, block, {x, x1, n}, {stream = 1})
local y_squared = b:call(square, blocks, block, {y, y1, n}, {stream = 2})
b:call(reduce, blocks, block, {x1, y1, z, n}, {stream = 1, after = {x_squared, y_squared}})
b:sync(1)

b:measure {
    inputs = function()
        x:fill("1/(i+1)")
        y:fill("2/(i+1)")
    end,
    reset = function() z[0] = 0 end,
    main = function(run)
        run()
        gpu.check("z", z[0], -3 * sum_of_inverse_squares(n), tolerance)
    end,
}

if b.verify then
    -- The product of two f32 is exact in f64, so that map rounds it once, as the kernel does.
    gpu.check_true("x1 = x^2", x:map("x*x"):hash() == x1:hash())
    gpu.check_true("y1 = y^2", y:map("x*x"):hash() == y1:hash())
end
