-- ML: the classes of n documents with 200 features, by naive Bayes and by ridge regression, whose scores are added.
--
--     rr_1(x -> z) - rr_2(z -> r2) - rr_3(r2) -------------------- softmax(r2) -.
--                                                                                +- argmax(r1, r2 -> r) -- the host reads r
--     nb_1(x -> r1) - nb_2(-> amax) - nb_3(-> l) - nb_4(r1) ------ softmax(r1) -'
--
-- Both branches read x, which is sent once; r1 and r2 are written by the host before each iteration, so 80 n bytes go to the
-- device. In the published Python version only x is declared as read only, and that by rr_1 and nb_1. rr_1 uses 200 work-items,
-- whatever the grid. By hand there are two streams, one a branch; argmax is on that of the ridge regression.
--
-- Arguments
--   n        rows, the documents (2000); 16 or more
--   block    work-items of a work-group (256)
--   blocks   NB (as published: 32 on 8 and on 22 compute units, 64 on 56; otherwise 32)
--   features, classes  (200, 10)
--   samples  rows that are checked (60)
--   verify   checks them, some features, and the kernels rr_1_0 and rr_1_1, after the region (true)
--   and variant, const, reset, by_hand_prefetch: see workloads/lib/dag.lua. reset changes nothing here, for the kernels add to what it
--   writes.
--
-- Checked: features of z against mean and deviation in f64 by Welford's method; rows of r1 and r2 against shares in f64 that
-- are computed as 1 / sum of exp(other - own); the class of a row against the greatest sum of these, where the two best are further
-- apart than both may be off. rr_1_0 and rr_1_1, which no published run launches, must give the same z as rr_1.

local gpu = require "heddle"
local dag = require "dag"

local NB = {[8] = 32, [22] = 32, [56] = 64}
local b = dag.benchmark {n = 2000, max = 20000000, blocks = NB[gpu.config("compute_units")] or 32}
local n, block, blocks = b.n, b.block, b.blocks
local FEATURES, CLASSES = gpu.arg("features", 200, 1, 1000), gpu.arg("classes", 10, 2, 1000)
local samples = gpu.arg("samples", 60, 0, 1000000)
if n < 16 then error("--arg n=" .. n .. ": with fewer than 16 rows a feature may be the same in all", 0) end
if n * math.max(FEATURES, CLASSES) >= 1 << 32 then error("--arg n=" .. n .. ": an array has fewer than 2^32 elements", 0) end

local module = gpu.module "ml.hasm"
local rr_1 = b:kernel(module, "rr_1", "x: in i32[], y: inout f32[], rows: i32, features: i32")
local rr_1_0 = b:kernel(module, "rr_1_0", "x: in i32[], sums: inout f32[], squares: inout f32[], rows: i32, features: i32")
local rr_1_1 = b:kernel(module, "rr_1_1", "x: in i32[], y: inout f32[], sums: in f32[], squares: in f32[], rows: i32, features: i32")
local rr_2 = b:kernel(module, "rr_2", "x: in(cpp) f32[], p: in(cpp) f32[], z: inout f32[], size: i32, features: i32, classes: i32")
local rr_3 = b:kernel(module, "rr_3", "x: inout f32[], y: in(cpp) f32[], rows: i32, classes: i32")
local nb_1 = b:kernel(module, "nb_1", "x: in i32[], p: in(cpp) f32[], z: inout f32[], size: i32, features: i32, classes: i32")
local nb_2 = b:kernel(module, "nb_2", "x: in(cpp) f32[], y: inout f32[], rows: i32, classes: i32")
local nb_3 = b:kernel(module, "nb_3", "x: in(cpp) f32[], y: in(cpp) f32[], z: inout f32[], rows: i32, classes: i32")
local nb_4 = b:kernel(module, "nb_4", "x: inout f32[], y: inout f32[], rows: i32, classes: i32")
local softmax = b:kernel(module, "softmax", "x: inout f32[], rows: i32, classes: i32")
local argmax = b:kernel(module, "argmax", "x: in(cpp) f32[], y: in(cpp) f32[], z: inout i32[], rows: i32, classes: i32")

local x, z = gpu.array("i32", n * FEATURES, "x"), gpu.array("f32", n * FEATURES, "z")
local r1, r2, r = gpu.array("f32", n * CLASSES, "r1"), gpu.array("f32", n * CLASSES, "r2"), gpu.array("i32", n, "r")
local amax, l = gpu.array("f32", n, "amax"), gpu.array("f32", n, "l")
local feature_weights, ridge_weights = gpu.array("f32", CLASSES * FEATURES, "p"), gpu.array("f32", CLASSES * FEATURES, "c")
local prior, intercept = gpu.array("f32", CLASSES, "prior"), gpu.array("f32", CLASSES, "intercept")
local priors = gpu.array("f32", n * CLASSES, "priors")

x:random(1, 0, 9)
feature_weights:random(2)
ridge_weights:random(3)
prior:random(4)
intercept:random(5)
local one = prior:to_table()
local rows_of_one = {}
for i = 0, math.min(n, 1024) * CLASSES - 1 do rows_of_one[i + 1] = one[i % CLASSES + 1] end
for i = 0, n - 1, 1024 do
    priors:from(i + 1024 <= n and rows_of_one or table.move(rows_of_one, 1, (n - i) * CLASSES, 1, {}), i * CLASSES)
end

local function call(kernel, arguments, stream, after)
    return b:call(kernel, blocks, block, arguments, {stream = stream, after = after})
end

b:attach(1, z, ridge_weights, r2, intercept)
b:attach(2, feature_weights, r1, amax, l)
b:prefetch(2, r1)
b:prefetch(1, r2, r)
local scaled = call(rr_1, {x, z, n, FEATURES}, 1)
local likely = call(nb_1, {x, feature_weights, r1, n, FEATURES, CLASSES}, 2)
local ridge = call(rr_2, {z, ridge_weights, r2, n, FEATURES, CLASSES}, 1, {scaled})
local greatest = call(nb_2, {r1, amax, n, CLASSES}, 2, {likely})
local logs = call(nb_3, {r1, amax, l, n, CLASSES}, 2, {greatest})
local shifted = call(rr_3, {r2, intercept, n, CLASSES}, 1, {ridge})
local shares = call(nb_4, {r1, l, n, CLASSES}, 2, {logs})
local bayes = call(softmax, {r1, n, CLASSES}, 2, {shares})
local linear = call(softmax, {r2, n, CLASSES}, 1, {shifted})
call(argmax, {r1, r2, r, n, CLASSES}, 1, {linear, bayes})
b:sync(1)

b:measure {
    reset = function()
        r1:copy_from(priors)
        r2:fill(0)
    end,
    main = function(run)
        run()
        gpu.check_true("r[0] is a class", r[0] >= 0 and r[0] < CLASSES)
    end,
}

-- ---- the same in f64 ----------------------------------------------------------------------------------------------

local UNIT = 2.0 ^ -24

local worst = {}
local function compare(what, got, expected, bound)
    local error = math.abs(got - expected) / bound
    worst[what] = math.max(worst[what] or 0, error == error and error or math.huge)
end

-- Feature j of z. The sums of x and of x^2 are exact in f32 below 2^24; above, each of the n additions may round. A
-- quotient is off by 2 units, the root and each other step by one; the variance is a difference.
local function check_feature(what, j)
    local values, mean, squares = x:to_table(j * n, n), 0.0, 0.0
    for i, v in ipairs(values) do
        local delta = v - mean
        mean = mean + delta / i
        squares = squares + delta * (v - mean)
    end
    local variance = squares / n
    local raw = variance + mean * mean
    local off_mean = ((mean * n < 2 ^ 24 and 0 or n) + 2) * UNIT
    local off_raw = ((raw * n < 2 ^ 24 and 0 or n) + 2) * UNIT
    local off_deviation = (off_raw * raw + 2 * off_mean * mean * mean) / (2 * variance) + 2 * UNIT
    local deviation = math.sqrt(variance)
    for k = 0, math.min(n, 100) - 1 do
        local i = k * 2654435761 % n
        local expected = (values[i + 1] - mean) / deviation
        compare(what, z[j * n + i], expected,
            (mean * off_mean + math.abs(values[i + 1] - mean) * UNIT) / deviation + math.abs(expected) * (off_deviation + 3 * UNIT) + UNIT)
    end
end

-- scores[j] as shares: exp(scores[j]) over the sum of these.
local function as_shares(scores)
    local result = {}
    for j = 1, CLASSES do
        local sum = 0.0
        for k = 1, CLASSES do sum = sum + math.exp(scores[k] - scores[j]) end
        result[j] = 1 / sum
    end
    return result
end

local function products(row, weights, start)
    local result, size = {}, 0.0
    for j = 1, CLASSES do
        local sum, sizes = start[j], math.abs(start[j])
        for q = 1, FEATURES do
            local term = row[q] * weights[(j - 1) * FEATURES + q]
            sum, sizes = sum + term, sizes + math.abs(term)
        end
        result[j], size = sum, math.max(size, sizes)
    end
    return result, size
end

-- A sum of terms of this size, one rounding each, is off by at most `scores`. A share moves by at most twice what the scores
-- are off, where that is small, and has some 20 roundings of its own (exponentials within 6 units, sums, a quotient).
local function off_shares(scores) return 2 * scores + 30 * UNIT end

local function best_of(scores)
    local best = 1
    for j = 2, CLASSES do
        if scores[j] > scores[best] then best = j end
    end
    return best
end

local p, c, bias = feature_weights:to_table(), ridge_weights:to_table(), intercept:to_table()
local wrong, close = 0, 0

local function check_row(i)
    local likelihood, size = products(x:to_table(i * FEATURES, FEATURES), p, one)
    -- The shares of naive Bayes are exp(score - l); l is off by as much as a score, and has roundings of its size.
    local off_log = off_shares((FEATURES + 4) * UNIT * size)
    local off_bayes = off_shares(off_log)
    local direct, top = as_shares(likelihood), best_of(likelihood)
    local from_bayes = as_shares(direct)
    compare("amax", amax[i], likelihood[top], off_log)
    compare("l", l[i], likelihood[top] - math.log(direct[top]), off_log)
    local scores, other_size = products(z:to_table(i * FEATURES, FEATURES), c, bias)
    local off_ridge = off_shares((FEATURES + 2) * UNIT * other_size)
    local from_ridge = as_shares(scores)
    local got_bayes, got_ridge = r1:to_table(i * CLASSES, CLASSES), r2:to_table(i * CLASSES, CLASSES)
    local best, class, second = -1, 0, -1
    for j = 1, CLASSES do
        compare("r1", got_bayes[j], from_bayes[j], off_bayes)
        compare("r2", got_ridge[j], from_ridge[j], off_ridge)
        local sum = from_bayes[j] + from_ridge[j]
        if sum > best then best, class, second = sum, j - 1, best
        elseif sum > second then second = sum end
    end
    if best - second <= 2 * (off_bayes + off_ridge) then close = close + 1
    elseif r[i] ~= class then wrong = wrong + 1 end
end

-- The variant of rr_1 in two kernels, with work-groups of one feature by 32 rows as the published code has them, in
-- fewer columns, so that they go round for small n.
local function check_parts()
    local sums, squares = gpu.array("f32", FEATURES, "sums"), gpu.array("f32", FEATURES, "squares")
    z:fill(-99)
    rr_1_0({8, 1}, {1, 32})(x, sums, squares, n, FEATURES)
    rr_1_1({8, 1}, {1, 32})(x, z, sums, squares, n, FEATURES)
    for _, j in ipairs {0, FEATURES // 2, FEATURES - 1} do check_feature("z by rr_1_1", j) end
    gpu.check_true("all of z is written", z:min() > -99)
end

if b.verify then
    for _, j in ipairs {0, FEATURES // 4, FEATURES // 2, FEATURES - 1} do check_feature("z", j) end
    for k = 0, math.min(samples, n) - 1 do check_row(k < 2 and k * (n - 1) or k * 2654435761 % n) end
    gpu.check("rows in a wrong class", wrong, 0)
    gpu.check_true("rows whose two best classes are too close to tell: " .. close .. " of " .. samples, 4 * close <= samples)
    check_parts()
    for name, error in pairs(worst) do gpu.check("error of " .. name .. " over its bound", error, 0, 1) end
end
