-- IMG: an image sharpened at its edges and softened elsewhere, by three blurs of it, two of which also give the masks.
--
--     blur(image -> small) ---- sobel(-> mask_small) ----------------------------------------------------------------.
--     blur(image -> large) ---- sobel(-> mask_large) -+- maximum -.                                                   |
--                                                     '- minimum -+- extend(mask_large) -.                            |
--     blur(image -> soft) ----- unsharpen(image, soft -> sharp) -------------------------+- combine(-> image2) -------+- combine(-> image3)
--
-- The host reads one pixel of image3. Images have n by n pixels; NB / 2 by NB / 2 work-groups of 8 by 8 work-items make blurs and
-- masks, NB of `block` work-items the rest. In the published Python version sobel and unsharpen may write all of their
-- arrays, so that unsharpen waits for every blur. Its iterations begin with two launches of reset_image for no elements
-- at all, which stand in the graph all the same.
--
-- By hand there are five streams, one each for the blurs, and one each for maximum and minimum, without the empty launches.
--
-- Arguments
--   n             rows and columns (320); 2 or more
--   block         work-items of a one-dimensional work-group (256)
--   blocks        NB (as published: 12 on 8 compute units, 16 on 22, 32 on 56; otherwise 12)
--   empty_resets  the two empty launches, in variant auto (true)
--   samples       pixels that are checked (150)
--   verify        checks them, and maximum and minimum over the whole image, after the region (true)
--   and variant, const, reset, by_hand_prefetch: see workloads/lib/dag.lua. The published reset clears image3 on the host and,
--   as the C++ version does, once more on the device, where it then stays; without it image3 is left as it was.
--
-- Checked: each array at pixels spread over the image, corners and edges among them, against the same step in f64 from the
-- arrays that went into it, with separable filters; the extremes exactly against bulk operations.

local gpu = require "heddle"
local dag = require "dag"

local NB = {[8] = 12, [22] = 16, [56] = 32}
local b = dag.benchmark {n = 320, max = 46000, blocks = NB[gpu.config("compute_units")] or 12}
local n, block, blocks = b.n, b.block, b.blocks
local empty_resets = gpu.arg("empty_resets", true)
local samples = gpu.arg("samples", 150, 0, 1000000)
local pixels, amount = n * n, 0.5
if n < 2 then error("--arg n=1: the mask of one pixel has no range to be extended over", 0) end

local module = gpu.module "img.hasm"
local blur = b:kernel(module, "gaussian_blur",
    "image: in f32[], result: inout f32[], rows: i32, cols: i32, weights: in f32[], diameter: i32")
local sobel = b:kernel(module, "sobel", "image: in(cpp) f32[], result: inout f32[], rows: i32, cols: i32")
local maximum = b:kernel(module, "maximum", "in: in f32[], out: inout f32[], n: i32")
local minimum = b:kernel(module, "minimum", "in: in f32[], out: inout f32[], n: i32")
local extend = b:kernel(module, "extend", "x: inout f32[], minimum: in f32[], maximum: in f32[], n: i32")
local unsharpen = b:kernel(module, "unsharpen", "x: in(cpp) f32[], y: in(cpp) f32[], res: inout f32[], amount: f32, n: i32")
local combine = b:kernel(module, "combine", "x: in f32[], y: in f32[], mask: in f32[], res: inout f32[], n: i32")
local reset_image = b:kernel(module, "reset_image", "x: inout f32[], n: i32")

local function picture(name) return gpu.array("f32", pixels, name) end
local image, image2, image3 = picture "image", picture "image2", picture "image3"
local mask_small, mask_large, sharp = picture "mask_small", picture "mask_large", picture "sharp"
local greatest, least = gpu.array("f32", 1, "maximum"), gpu.array("f32", 1, "minimum")

-- Weights of a blur: exp(-((x - m)^2 + (y - m)^2) / (2 sigma^2)) over their sum, with m = diameter / 2, which for an odd
-- diameter is not its middle. They are a product of one factor a row and one a column.
local function filter(name, diameter, sigma)
    local factors, sum, rounded = {}, 0.0, {}
    for x = 0, diameter - 1 do
        factors[x + 1] = math.exp(-0.5 * (x - diameter / 2) ^ 2 / sigma ^ 2)
        sum = sum + factors[x + 1]
    end
    for x = 1, diameter do factors[x] = factors[x] / sum end
    for x = 1, diameter do
        for y = 1, diameter do rounded[#rounded + 1] = factors[x] * factors[y] end
    end
    local weights = gpu.array("f32", diameter * diameter, name)
    weights:from(rounded)
    return {diameter = diameter, factors = factors, weights = weights, result = picture(name)}
end

local small, large, soft = filter("small", 3, 1), filter("large", 5, 10), filter("soft", 3, 5)
image:random(1)

local grid, tile = {math.max(1, blocks // 2), math.max(1, blocks // 2)}, {8, 8}

local function call_blur(f, stream)
    return b:call(blur, grid, tile, {image, f.result, n, n, f.weights, f.diameter}, {stream = stream, lds = 4 * f.diameter * f.diameter})
end
local function call_line(kernel, arguments, stream, after)
    return b:call(kernel, blocks, block, arguments, {stream = stream, after = after})
end

b:attach(1, small.result, mask_small, image3)
b:attach(2, large.result, mask_large, image2)
b:attach(3, soft.result, sharp)
if empty_resets and b.variant == "auto" then
    b:call(reset_image, blocks, block, {image3, 0}, {stream = 1})
    b:call(reset_image, grid, tile, {image3, 0}, {stream = 1})
end
local blur_small, blur_large, blur_soft = call_blur(small, 1), call_blur(large, 2), call_blur(soft, 3)
local edges_small = b:call(sobel, grid, tile, {small.result, mask_small, n, n}, {stream = 1, after = {blur_small}})
local edges_large = b:call(sobel, grid, tile, {large.result, mask_large, n, n}, {stream = 2, after = {blur_large}})
local max = call_line(maximum, {mask_large, greatest, pixels}, 5, {edges_large})
local min = call_line(minimum, {mask_large, least, pixels}, 4, {edges_large})
local extended = call_line(extend, {mask_large, least, greatest, pixels}, 2, {max, min})
local sharpened = call_line(unsharpen, {image, soft.result, sharp, amount, pixels}, 3, {blur_soft})
local combined = call_line(combine, {sharp, large.result, mask_large, image2, pixels}, 2, {extended, sharpened})
b:attach(1, image2)
b:prefetch(1, image3)
call_line(combine, {image2, small.result, mask_small, image3, pixels}, 1, {edges_small, combined})
b:sync(1)

b:measure {
    inputs = function()
        image3:fill(0)
        reset_image(blocks, block)(image3, pixels)
        gpu.sync()
    end,
    reset = function()
        greatest[0] = 0
        least[0] = 0
    end,
    main = function(run)
        run()
        gpu.check_true("a pixel is in the range", math.abs(image3[0]) < 12)
    end,
}

-- ---- the same steps in f64 ----------------------------------------------------------------------------------------

-- Pixels around (i, j), 0 outside the image, as a function of the distance.
local function around(array, i, j, radius)
    local rows = {}
    local first = math.max(0, j - radius)
    local count = math.min(n - 1, j + radius) - first + 1
    for x = -radius, radius do
        if i + x >= 0 and i + x < n then rows[x] = array:to_table((i + x) * n + first, count) end
    end
    return function(x, y) return rows[x] and rows[x][j + y - first + 1] or 0 end
end

-- A filter that is a product: along the rows with `across`, then the results with `down`.
local function separable(at, radius, down, across)
    local sum = 0.0
    for x = -radius, radius do
        local line = 0.0
        for y = -radius, radius do line = line + across[y + radius + 1] * at(x, y) end
        sum = sum + down[x + radius + 1] * line
    end
    return sum
end

local smooth, slope = {1, 2, 1}, {-1, 0, 1}
local function gradient(at)
    return math.sqrt(separable(at, 1, slope, smooth) ^ 2 + separable(at, 1, smooth, slope) ^ 2)
end

local function extended_by(mask, low, high) return math.min(5 * (mask - low) / (high - low), 1) end

-- Units of 2^-24 by which the steps may be off. A sum of products with k roundings is off by at most k units of the sum of
-- their sizes: at most 1 in a blur, whose weights add up to 1 (and are rounded, too), and 8 in a gradient, whose
-- length is below 12 and takes 5 roundings more, so 8 * 9 units for each part of it. The mask is at most 5 before it is cut, with
-- one rounding each for two differences, the 5, and 2 for the quotient. unsharpen's parts are below 1.5, combine's below 12.
local UNIT = 2.0 ^ -24
local off = {gradient = 8 * 9 * math.sqrt(2) + 5 * 12, unsharpen = 4, combine = 4 * 12}
local function off_blur(f) return f.diameter ^ 2 + 2 end

local worst = {}
local function compare(what, got, expected, units)
    local error = math.abs(got - expected) / (units * UNIT)
    worst[what] = math.max(worst[what] or 0, error == error and error or math.huge)
end

local function check_pixel(i, j)
    local at = i * n + j
    for name, f in pairs {small = small, large = large, soft = soft} do
        compare(name, f.result[at], separable(around(image, i, j, f.diameter // 2), f.diameter // 2, f.factors, f.factors), off_blur(f))
    end
    compare("mask_small", mask_small[at], gradient(around(small.result, i, j, 1)), off.gradient)
    local low, high = least[0], greatest[0]
    compare("mask_large", mask_large[at], extended_by(gradient(around(large.result, i, j, 1)), low, high),
        5 * (off.gradient + 2 * 12) / (high - low) + 5 * 4)
    compare("sharp", sharp[at], math.max(0, math.min(1, image[at] * (1 + amount) - soft.result[at] * amount)), off.unsharpen)
    local m = mask_large[at]
    compare("image2", image2[at], sharp[at] * m + large.result[at] * (1 - m), off.combine)
    m = mask_small[at]
    compare("image3", image3[at], image2[at] * m + small.result[at] * (1 - m), off.combine)
end

-- The extremes of the gradient over the whole image, where that is not too much for the host.
local function check_extremes()
    local high, rows = 0.0, {}
    local zero = table.move({}, 1, 0, 1)
    local function row(i) return i >= 0 and i < n and large.result:to_table(i * n, n) or zero end
    rows[-1], rows[0], rows[1] = row(-1), row(0), row(1)
    for i = 0, n - 1 do
        for j = 1, n do
            high = math.max(high, gradient(function(x, y) return rows[x][j + y] or 0 end))
        end
        rows[-1], rows[0], rows[1] = rows[0], rows[1], row(i + 2)
    end
    gpu.check("maximum", greatest[0], high, off.gradient * UNIT)
    gpu.check("minimum", least[0], 0)
end

-- maximum and minimum from what is beyond them, and once from what is not, on an image with numbers of both signs.
local function check_bulk()
    image2:random(2, -30, -10)
    local high, low = image2:max(), image2:min()
    for _, one in ipairs {{maximum, -1000, high}, {maximum, -5, -5}, {minimum, 1000, low}, {minimum, -40, -40}} do
        greatest[0] = one[2]
        one[1](blocks, block)(image2, greatest, pixels)
        gpu.check("an extreme", greatest[0], one[3])
    end
    image3:fill(1)
    reset_image(blocks, block)(image3, pixels - 1)
    gpu.check("elements that are not reset", image3:sum(), 1)
end

if b.verify then
    for _, i in ipairs {0, 1, n - 2, n - 1} do
        for _, j in ipairs {0, 1, n - 2, n - 1} do
            if i >= 0 and j >= 0 and i < n and j < n then check_pixel(i, j) end
        end
    end
    for k = 1, samples do
        local at = k * 2654435761 % pixels -- spread over the image
        check_pixel(at // n, at % n)
    end
    for name, error in pairs(worst) do gpu.check("error of " .. name .. " over its bound", error, 0, 1) end
    if n <= 512 then check_extremes() end
    check_bulk()
end
