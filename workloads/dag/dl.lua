-- DL: a small network on two images of n by n pixels that share nothing until its last layer:
--
--     conv2d(x -> x1) -- mean_pooling(x1 -> x11) -- conv2d(x11 -> x2) --.
--                                                                        +-- concat(x2, y2 -> z) -- dot_product(z, dense_weights -> res)
--     conv2d(y -> y1) -- mean_pooling(y1 -> y11) -- conv2d(y11 -> y2) --'
--
-- and the host reads res. Convolutions have windows of 3 by 3 at distance 2, with 8 and 16 channels of results, and pooling has
-- windows of 5 by 5. x and y are written by the host before each iteration, 8 n^2 bytes; weights are sent once. A convolution and
-- a pooling leave the last rows and columns of their result as they are, 0. By hand each image is on a stream, and the first
-- waits for the second.
--
-- Arguments
--   n       rows and columns of the images (300), a multiple of 20: the rows of the published kernels' results are a window's
--           distance apart, which has to divide them
--   block   work-items of a work-group of concat and dot_product (256); those of the others are 8 by 8 and 4 by 4 by 4
--   blocks  the published NB (8 times the compute units, of 8 compute units twice: as published 16, 176, 448; for n below 3000,
--           the smallest published, in proportion, but 16 at least): work-groups of concat and dot_product; convolutions have
--           NB/2 by NB/2, poolings NB/4 by NB/4 by NB/4, of which most are empty
--   pixels  of x2 and y2, compared after the region (20)
--   gap     takes the means of the channels of x2 and y2 after the region, by the suite's kernel that its network does not use (false)
--   and variant, const, reset, verify, by_hand_prefetch: see workloads/lib/dag.lua
--
-- Checked: pixels of x2 and y2 against the network in f64 from its input up to them; z and res against x2, y2 and sums in f64.

local gpu = require "heddle"
local dag = require "dag"

local K, STRIDE, POOL, KN1, KN2 = 3, 2, 5, 8, 16
local SMALLEST = 3000
local cus = gpu.config("compute_units")
local published_blocks = cus == 8 and 2 * cus or 8 * cus
local scaled_n = math.min(gpu.arg("n", 300), SMALLEST)

local b = dag.benchmark {
    n = 300, max = 40000,
    blocks = math.min(published_blocks, math.max(16, published_blocks * scaled_n // SMALLEST)),
}
local n, block, blocks = b.n, b.block, b.blocks
local pixels = gpu.arg("pixels", 20, 1, 10000)
local take_means = gpu.arg("gap", false)
if n % 20 ~= 0 then error("--arg n=" .. n .. ": no multiple of 20", 0) end

local module = gpu.module "dl.hasm"
local conv2d = b:kernel(module, "conv2d", "out: inout f32[], x: in(cpp) f32[], kernels: in f32[], "
    .. "n: i32, m: i32, l: i32, k: i32, k_out: i32, stride: i32")
local mean_pooling = b:kernel(module, "mean_pooling",
    "out: inout f32[], x: in f32[], n: i32, m: i32, l: i32, k: i32, stride: i32")
local concat = b:kernel(module, "concat", "z: inout f32[], x: in f32[], y: in f32[], n: i32")
local dot_product = b:kernel(module, "dot_product", "x: in f32[], y: in f32[], z: inout f32[], n: i32")

-- Rows of the images behind the first convolution, the pooling and the second.
local n1 = n // STRIDE
local n11 = n1 // POOL
local n2 = n11 // STRIDE
local length = n2 * n2 * KN2

-- An image's arrays on their way, its weights, and its stream by hand.
local function new_branch(name, stream, first, second)
    return {
        name = name, stream = stream,
        input = gpu.array("f32", n * n, name),
        conv1 = gpu.array("f32", n1 * n1 * KN1, name .. "1"),
        pooled = gpu.array("f32", n11 * n11 * KN1, name .. "11"),
        conv2 = gpu.array("f32", length, name .. "2"),
        weights1 = gpu.array("f32", K * K * KN1, first),
        weights2 = gpu.array("f32", K * K * KN1 * KN2, second),
    }
end

local x, y = new_branch("x", 1, "kernel_1", "kernel_2"), new_branch("y", 2, "kernel_3", "kernel_4")
local z, dense_weights = gpu.array("f32", 2 * length, "z"), gpu.array("f32", 2 * length, "dense_weights")
local res = gpu.array("f32", 1, "res")

-- ---- the calls ----------------------------------------------------------------------------------------------------

local function each(call) return call(x), call(y) end

local function convolve(branch, out, input, weights, size, channels, kernels, after)
    local half = math.max(blocks // 2, 1)
    return b:call(conv2d, {half, half}, {8, 8}, {out, input, weights, size, size, channels, K, kernels, STRIDE},
        {stream = branch.stream, lds = 4 * K * K * channels * kernels, after = after})
end

local function pool(branch, after)
    local quarter = math.max(blocks // 4, 1)
    return b:call(mean_pooling, {quarter, quarter, quarter}, {4, 4, 4},
        {branch.pooled, branch.conv1, n1, n1, KN1, POOL, POOL}, {stream = branch.stream, after = after})
end

-- As published: both prefetches are on the default stream; without page faults what one stream alone uses belongs to it, and
-- y2 is not of these.
b:prefetch(0, x.input, y.input)
each(function(branch) b:attach(branch.stream, branch.input, branch.conv1, branch.weights1, branch.weights2) end)
b:attach(x.stream, x.conv2)
local first, last = {}, {}
each(function(branch) first[branch] = convolve(branch, branch.conv1, branch.input, branch.weights1, n, 1, KN1) end)
each(function(branch) last[branch] = pool(branch, {first[branch]}) end)
each(function(branch)
    last[branch] = convolve(branch, branch.conv2, branch.pooled, branch.weights2, n11, KN1, KN2, {last[branch]})
end)
local joined = b:call(concat, blocks, block, {z, x.conv2, y.conv2, length}, {stream = 1, after = {last[x], last[y]}})
b:call(dot_product, blocks, block, {z, dense_weights, res, 2 * length}, {stream = 1, after = {joined}})
b:sync(1)

-- ---- measuring ----------------------------------------------------------------------------------------------------

for i, branch in ipairs {x, y} do
    branch.weights1:random(10 + i, -1, 1)
    branch.weights2:random(20 + i, -1, 1)
end
dense_weights:random(30, -1 / (2 * length), 1 / (2 * length))

local results = {}

b:measure {
    inputs = function()
        x.input:random(1)
        y.input:random(2)
    end,
    reset = function() res[0] = 0 end,
    main = function(run)
        run()
        table.insert(results, res[0])
    end,
}

-- ---- checks -------------------------------------------------------------------------------------------------------

-- Values go with a bound of the error of their f32. A sum of k terms, one after the other, each a product rounded with
-- its addition, is off by at most k units of the sum of its terms' sizes, for small k.
local UNIT = 2.0 ^ -24

-- Rows and columns that a window at this distance fills of a result.
local function filled(size, window, stride) return (size + stride - 1) // stride - window // 2 end

-- What a layer leaves at a pixel: {value, error} for each channel.
local function convolved_once(branch, i, j)
    local out, window = {}, {}
    for r = i * STRIDE, i * STRIDE + K - 1 do
        for c = j * STRIDE, j * STRIDE + K - 1 do table.insert(window, branch.input[r * n + c]) end
    end
    for channel = 0, KN1 - 1 do
        local value, sizes = 0.0, 0.0
        for w, pixel in ipairs(window) do
            local term = pixel * branch.known_weights1[channel * K * K + w]
            value, sizes = value + term, sizes + math.abs(term)
        end
        out[channel] = {math.max(value, 0), K * K * UNIT * sizes}
    end
    return out
end

local function pooled(branch, i, j)
    local out = {}
    local rows = filled(n1, POOL, POOL)
    for channel = 0, KN1 - 1 do out[channel] = {0.0, 0.0} end
    if i >= rows or j >= rows then return out end
    for r = i * POOL, i * POOL + POOL - 1 do
        for c = j * POOL, j * POOL + POOL - 1 do
            local inside = math.max(r, c) < filled(n, K, STRIDE)
            for channel, one in pairs(inside and convolved_once(branch, r, c) or {}) do
                out[channel][1], out[channel][2] = out[channel][1] + one[1], out[channel][2] + one[2]
            end
        end
    end
    local count = POOL * POOL
    for _, sum in pairs(out) do
        sum[1], sum[2] = sum[1] / count, sum[2] / count + (count + 1) * UNIT * sum[1] / count
    end
    return out
end

local function convolved_twice(branch, i, j)
    local out = {}
    local rows = filled(n11, K, STRIDE)
    if i >= rows or j >= rows then return out end
    local window = {}
    for r = i * STRIDE, i * STRIDE + K - 1 do
        for c = j * STRIDE, j * STRIDE + K - 1 do table.insert(window, pooled(branch, r, c)) end
    end
    for kernel = 0, KN2 - 1 do
        local value, error, sizes, w = 0.0, 0.0, 0.0, kernel * K * K * KN1
        for _, pixel in ipairs(window) do
            for channel = 0, KN1 - 1 do
                local weight = branch.known_weights2[w + 1]
                value = value + weight * pixel[channel][1]
                sizes = sizes + math.abs(weight * pixel[channel][1])
                error, w = error + math.abs(weight) * pixel[channel][2], w + 1
            end
        end
        out[kernel] = {math.max(value, 0), error + K * K * KN1 * UNIT * (sizes + error)}
    end
    return out
end

-- The largest error of the pixel's channels, in bounds.
local function error_of_pixel(branch, i, j)
    local worst, expected = 0.0, convolved_twice(branch, i, j)
    for kernel = 0, KN2 - 1 do
        local want = expected[kernel] or {0.0, 0.0}
        local off = math.abs(branch.conv2[kernel + KN2 * (j + n2 * i)] - want[1])
        if off ~= 0 then worst = math.max(worst, off <= want[2] and off / want[2] or math.huge) end
    end
    return worst
end

local function check_branch(branch)
    branch.known_weights1, branch.known_weights2 = branch.weights1:to_table(), branch.weights2:to_table()
    branch.conv2:sum() -- brings all of it to the host
    local worst = error_of_pixel(branch, 0, 0)
    for _ = 2, pixels do
        worst = math.max(worst, error_of_pixel(branch, math.random(0, n2 - 1), math.random(0, n2 - 1)))
    end
    gpu.check_true("pixels of " .. branch.name .. "2, error at most its bound", worst <= 1)
end

-- A result passes so many additions: over the item's elements, the lanes, and the wavefronts; and one more rounding where its
-- product is added.
local width = gpu.config("wavefront_size")
local waves = blocks * ((block + width - 1) // width)
local additions = (2 * length + blocks * block - 1) // (blocks * block) + math.ceil(math.log(width, 2)) + waves

-- z has no negative numbers.
local function check_result()
    local expected = z:dot(dense_weights)
    local sizes = z:dot(dense_weights:map("abs(x)"))
    for i, result in ipairs(results) do
        gpu.check("res of iteration " .. i, (result - expected) / math.max(sizes, 2.0 ^ -1000), 0, (additions + 1) * UNIT)
    end
end

local function check_gap(gap, branch)
    local means = gpu.array("f32", KN2, branch.name .. "3")
    local half = math.max(blocks // 2, 1)
    gap({half, half}, {8, 8}, 4 * KN2)(means, branch.conv2, n2, n2, KN2)
    -- At most all additions of all work-items, in any order; a sum's terms are not negative.
    local tolerance = (n2 * n2 + half * half + 2) * UNIT
    for channel = 0, KN2 - 1 do
        local sum = 0.0
        for pixel = 0, n2 * n2 - 1 do sum = sum + branch.conv2[pixel * KN2 + channel] end
        local mean = sum / (n2 * n2)
        gpu.check(("mean of channel %d of %s2"):format(channel, branch.name), means[channel] - mean, 0, tolerance * mean)
    end
end

if b.verify then
    check_branch(x)
    check_branch(y)
    local both = x.conv2:sum() + y.conv2:sum()
    gpu.check("z, as x2 and y2 together", z:sum() / math.max(both, 2.0 ^ -1000), both > 0 and 1 or 0, 2.0 ^ -53 * 4 * length)
    for _ = 1, pixels do
        local i = math.random(0, length - 1)
        gpu.check_true("z has x2 in front, y2 behind", z[i] == x.conv2[i] and z[length + i] == y.conv2[i])
    end
    check_result()
end
if take_means then
    local gap = module:kernel("gap", "out: inout f32[], x: in f32[], n: i32, m: i32, l: i32")
    check_gap(gap, x)
    check_gap(gap, y)
end
