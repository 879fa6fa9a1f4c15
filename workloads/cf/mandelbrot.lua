-- The Mandelbrot set as ISPC's example draws it: for each pixel the steps until z leaves the circle
-- of radius 2, or the limit. Lanes are pixels beside each other; each leaves the loop after a number
-- of steps of its own. The kernel is there in the forms predicated, exec and goto, and each
-- divergence unit takes the one that it runs.
--
-- Arguments
--   scale       1 is an image of 1536 by 1024 pixels, 16 the published one of 24576 by 16384 (0.25)
--   iterations  most steps of a pixel (512)
--   samples     pixels that are computed again by the host (512)
--
-- Checked: samples against the same steps one pixel at a time, with each operation rounded to f32;
-- pixels inside the cardioid and the disc at its left, which are in the set; and that the image is
-- its own mirror, which holds where the distance of rows is a power of two.

local gpu = require "heddle"

local scale = gpu.arg("scale", 0.25, 0.01, 32.0)
local most = gpu.arg("iterations", 512, 1, 1000000)
local samples = gpu.arg("samples", 512, 0, 1000000)

local function size(pixels) return (math.floor(pixels * scale) + 15) // 16 * 16 end
local w, h = size(1536), size(1024)

local function f32(x) return (string.unpack("<f", string.pack("<f", x))) end
local x0, y0, dx, dy = -2.0, -1.0, f32(3.0 / w), f32(2.0 / h)

local mandelbrot = gpu.module("mandelbrot.hasm"):kernel("mandelbrot",
    "steps: out i32[], w: i32, h: i32, most: i32, x0: f32, y0: f32, dx: f32, dy: f32")
local steps = gpu.array("i32", w * h, "steps")

gpu.region("main", {reset = function() steps:fill(-1) end}, function()
    mandelbrot({(w + 31) // 32, (h + 7) // 8}, {32, 8})(steps, w, h, most, x0, y0, dx, dy)
    gpu.check_true("the last pixel is written", steps[w * h - 1] >= 0)
end)

-- One pixel. Each operation on numbers of f32 is exact or rounded once in f64, which then rounds to
-- f32 as if it had been done there.
local function point(x, y) return f32(f32(x * dx) + x0), f32(f32(y * dy) + y0) end
local function steps_of(x, y)
    local cr, ci = point(x, y)
    local zr, zi = cr, ci
    for step = 0, most - 1 do
        local rr, ii = f32(zr * zr), f32(zi * zi)
        if f32(rr + ii) > 4 then return step end
        zi = f32(f32(2 * f32(zr * zi)) + ci)
        zr = f32(f32(rr - ii) + cr)
    end
    return most
end

-- In the cardioid, or in the disc of radius 1/4 around -1, and not just at the edge.
local function inside(x, y)
    local r, i = point(x, y)
    local q = (r - 0.25) ^ 2 + i * i
    return q * (q + r - 0.25) < 0.249 * i * i - 1e-4 or (r + 1) ^ 2 + i * i < 0.0624
end

local wrong, outside = 0, 0
for k = 0, samples - 1 do
    local at = k * 2654435761 % (w * h) -- spread over the image
    local x, y, got = at % w, at // w, steps[at]
    if got ~= steps_of(x, y) then wrong = wrong + 1 end
    if inside(x, y) and got ~= most then outside = outside + 1 end
end
gpu.check("samples that are wrong", wrong, 0)
gpu.check("samples in the set that leave", outside, 0)

local unlike = 0
for k = 1, math.min(h // 2 - 1, 8) do
    local row = k * (h // 2 - 1) // 8 + 1
    local this, that = steps:to_table(row * w, w), steps:to_table((h - row) * w, w)
    for x = 1, w do if this[x] ~= that[x] then unlike = unlike + 1 end end
end
if h & (h - 1) == 0 then gpu.check("pixels unlike their mirror image", unlike, 0) end
