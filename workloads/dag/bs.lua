-- B&S: the prices of European call options by Black and Scholes, in f64, for ten arrays of prices of a stock.
--
-- Ten computations that do not depend on each other:
--
--     bs(x0 -> y0) -- the host reads y0[0]
--     ...
--     bs(x9 -> y9) -- the host reads y9[0]
--
-- All x are written by the host before each iteration, so 80 n bytes go to the device. By hand each pair of arrays is on a
-- stream of its own, and the host waits for one stream after the other, each before it reads, while the next ones go on.
--
-- Arguments
--   n       elements of each of the arrays (100000)
--   block   work-items of a work-group (256)
--   blocks  work-groups of each kernel (8 times the compute units)
--   random  prices are random, and not all 60 (true)
--   spread  random prices are 60 and up to so much more or less (0.5)
--   verify  also compares up to 1000 elements of each y, and the range of all, after the region (true)
--   and variant, const, reset, by_hand_prefetch, build_in_region: see workloads/lib/dag.lua
--
-- Checked: elements against the same formula on the host, and against one that knows the normal distribution's
-- integral as a series; all elements against the prices at the ends of the range of x, with which they grow.

local gpu = require "heddle"
local dag = require "dag"

local b = dag.benchmark {n = 100000}
local n = b.n
local random = gpu.arg("random", true)
local spread = gpu.arg("spread", 0.5, 0.001, 59.0)

local ARRAYS = 10
local RATE, VOLATILITY, TIME, STRIKE = 0.08, 0.3, 1.0, 60.0
local low, high = STRIKE - spread, STRIKE + spread

local bs = b:kernel(gpu.module "bs.hasm", "bs", "x: in(cpp) f64[], y: inout f64[], n: i32, r: f64, v: f64, t: f64, k: f64")

local x, y = {}, {}
for i = 1, ARRAYS do
    x[i], y[i] = gpu.array("f64", n, "x" .. i - 1), gpu.array("f64", n, "y" .. i - 1)
end

-- The integral by the kernel's formula (M. Abramowitz, I. Stegun, 26.2.17), which is less than 7.5e-8 off.
local function integral_by_formula(d)
    local k = 1 / (1 + 0.2316419 * math.abs(d))
    local sum = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    local tail = 0.39894228040143267794 * math.exp(-0.5 * d * d) * sum
    return d > 0 and 1 - tail or tail
end

-- The integral by its series, to the last bits for d of some units (26.2.11).
local function integral_by_series(d)
    local term, sum, odd = d, 0, 1
    while sum + term ~= sum do
        sum, odd = sum + term, odd + 2
        term = term * d * d / odd
    end
    return 0.5 + sum * math.exp(-0.5 * d * d) / math.sqrt(2 * math.pi)
end

local discounted = STRIKE * math.exp(-RATE * TIME)

local function price(stock, integral)
    local deviation = VOLATILITY * math.sqrt(TIME)
    local d = (math.log(stock / STRIKE) + (RATE + 0.5 * VOLATILITY ^ 2) * TIME) / deviation
    return stock * integral(d) - discounted * integral(d - deviation)
end

-- A price is a difference of two parts, and each has the relative error of its integral. An error of the logarithm is
-- divided by the deviation, 0.3; each error of d moves an integral by less than half of itself. With these factors the
-- roundings of the kernel and of the host, functions counted for two, come to less than 100.
local size = high + discounted
local rounding, approximation = 100 * 2.0 ^ -53 * size, 7.5e-8 * size

local function near(got, expected, tolerance) return math.abs(got - expected) <= tolerance end

for i = 1, ARRAYS do
    b:place(i, x[i], y[i])
    b:call(bs, b.blocks, b.block, {x[i], y[i], n, RATE, VOLATILITY, TIME, STRIKE}, {stream = i})
end

local expected = {}

b:measure {
    inputs = function()
        for i = 1, ARRAYS do
            if random then x[i]:random(i, low, high) else x[i]:fill(STRIKE) end
            expected[i] = price(x[i][0], integral_by_formula)
        end
    end,
    main = function(run)
        run()
        for i = 1, ARRAYS do gpu.check_true("y" .. i - 1 .. "[0]", near(y[i][0], expected[i], rounding)) end
    end,
}

if b.verify then
    local step = (n + 999) // 1000
    local first, last = price(low, integral_by_series) - approximation, price(high, integral_by_series) + approximation
    local off, far, outside = 0, 0, 0
    for i = 1, ARRAYS do
        for at = n - 1, 0, -step do
            local stock, got = x[i][at], y[i][at]
            if not near(got, price(stock, integral_by_formula), rounding) then off = off + 1 end
            if not near(got, price(stock, integral_by_series), approximation) then far = far + 1 end
        end
        if not (y[i]:min() >= first and y[i]:max() <= last) then outside = outside + 1 end
    end
    gpu.check("elements that differ from the formula", off, 0)
    gpu.check("elements that differ from the series", far, 0)
    gpu.check("arrays with elements out of range", outside, 0)
end
