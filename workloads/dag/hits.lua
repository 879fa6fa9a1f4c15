-- HITS: hubs and authorities of a graph by five steps of the power method. Each step, with a sparse matrix of ones:
--
--     spmv3(hub1 -> auth2) -- sum(auth2 -> auth_norm) -- divide(auth2, auth_norm -> auth1) --.
--                                                                                              +-- the host writes 0 to both
--     spmv3(auth1 -> hub2) -- sum(hub2 -> hub_norm) -- divide(hub2, hub_norm -> hub1) --------'    norms and both row counters
--
-- where a divide waits for the other spmv3, too, for that reads what the divide writes. The host reads auth1[0] and hub1[0] at the
-- end. As published, the same matrix stands for itself and for its transpose, in two copies; signatures of the Python
-- version let every kernel write all of its arrays; and the host writes everything before each iteration, 72 n bytes. Graphs
-- have a kernel, reset_kernel, in the place of the host's writes.
--
-- The published program starts from ones, which stay equal to each other and would hide wrong columns. Here both vectors
-- start from random numbers; no time depends on their values.
--
-- Arguments
--   n       rows of the matrix (40000)
--   degree  ones of a row (3), at most n
--   block   work-items of a work-group (256), a multiple of 4
--   blocks  work-groups of sum and divide (8 times the compute units, of 8 compute units 4 times: as published 32, 176, 448);
--           spmv3 has n / block
--   product spmv3 | spmv2 | spmv: the kernel of the products; the published one is spmv3 (hits.hasm says how they differ)
--   rows    rows that are compared after the region (64); of a matrix of at most 1024 all are
--   and variant, const, reset, verify, by_hand_prefetch: see workloads/lib/dag.lua
--
-- Checked: a row against the walks of five steps from it through the matrix, in f64; all rows by their
-- sum, which is 1; what the host read against what stands in the arrays.

local gpu = require "heddle"
local dag = require "dag"

local STEPS = 5
local cus = gpu.config("compute_units")

local b = dag.benchmark {n = 40000, max = 700000000, blocks = cus == 8 and 4 * cus or 8 * cus}
local n, block, blocks = b.n, b.block, b.blocks
local sampled = gpu.arg("rows", 64, 1, 100000)
local degree = gpu.arg("degree", 3, 1, 1000)
local product = gpu.arg("product", "spmv3")
local width = gpu.config("wavefront_size")
if n < degree then error("--arg n=" .. n .. ": a row has " .. degree .. " different columns", 0) end

local module = gpu.module "hits.hasm"
local matrix = "ptr: in(cpp) i32[], cols: in(cpp) i32[], vals: in(cpp) i32[], vec: in(cpp) f32[], out: inout f32[], n: i32"
local sum = b:kernel(module, "sum", "x: in(cpp) f32[], z: inout f32[], n: i32")
local divide = b:kernel(module, "divide", "x: in(cpp) f32[], y: inout f32[], z: in(cpp) f32[], n: i32")
local reset = module:kernel("reset_kernel", "a: inout f32[], b: inout f32[], c: inout i32[], d: inout i32[]")

local ptr, ptr2 = gpu.array("i32", n + 1, "ptr"), gpu.array("i32", n + 1, "ptr2")
local idx, idx2 = gpu.array("i32", degree * n, "idx"), gpu.array("i32", degree * n, "idx2")
local val, val2 = gpu.array("i32", degree * n, "val"), gpu.array("i32", degree * n, "val2")
local auth1, auth2 = gpu.array("f32", n, "auth1"), gpu.array("f32", n, "auth2")
local hub1, hub2 = gpu.array("f32", n, "hub1"), gpu.array("f32", n, "hub2")
local auth_norm, hub_norm = gpu.array("f32", 1, "auth_norm"), gpu.array("f32", 1, "hub_norm")
local row_cnt_1, row_cnt_2 = gpu.array("i32", 1, "row_cnt_1"), gpu.array("i32", 1, "row_cnt_2")

-- ---- the calls ----------------------------------------------------------------------------------------------------

local function host_writes()
    auth_norm[0] = 0
    hub_norm[0] = 0
    row_cnt_1[0] = 0
    row_cnt_2[0] = 0
end

-- Each has its rows in its own way: fours of lanes that come for them, wavefronts, and work-items.
local products = {
    spmv3 = {signature = "counter: inout i32[], " .. matrix, groups = (n + block - 1) // block, counts = true, multiple = 4},
    spmv2 = {signature = matrix, groups = (n + block // width - 1) // math.max(block // width, 1), multiple = width},
    spmv = {signature = matrix, groups = blocks, multiple = 1},
}
local chosen = products[product]
if not chosen then error("--arg product=" .. product .. ": it is one of spmv3, spmv2, spmv", 0) end
if block % chosen.multiple ~= 0 then
    error("--arg block=" .. block .. ": " .. product .. " needs a multiple of " .. chosen.multiple, 0)
end
local spmv = b:kernel(module, product, chosen.signature)

local function multiply(stream, after, counter, ...)
    local arguments = chosen.counts and {counter, ...} or {...}
    return b:call(spmv, chosen.groups, block, arguments, {stream = stream, lds = 4 * block, after = after})
end

-- What the last step ends with and the next begins behind: in a graph a call, else nothing, for the host has waited.
local zeroed = {}
-- By hand the vectors are prefetched for each step; without page faults what one stream alone uses belongs to it.
b:attach(1, ptr2, idx2, val2, auth2, auth_norm, row_cnt_1)
b:attach(2, ptr, idx, val, hub2, hub_norm, row_cnt_2)
for _ = 1, STEPS do
    b:prefetch(1, auth1, auth2, auth_norm)
    b:prefetch(2, hub1, hub2, hub_norm)
    local spmv_a = multiply(1, zeroed, row_cnt_1, ptr2, idx2, val2, hub1, auth2, n)
    local spmv_h = multiply(2, zeroed, row_cnt_2, ptr, idx, val, auth1, hub2, n)
    local sum_a = b:call(sum, blocks, block, {auth2, auth_norm, n}, {stream = 1, after = {spmv_a}})
    local sum_h = b:call(sum, blocks, block, {hub2, hub_norm, n}, {stream = 2, after = {spmv_h}})
    local divide_a = b:call(divide, blocks, block, {auth2, auth1, auth_norm, n}, {stream = 1, after = {sum_a, spmv_h}})
    local divide_h = b:call(divide, blocks, block, {hub2, hub1, hub_norm, n}, {stream = 2, after = {sum_h, spmv_a}})
    if b.in_graph then
        zeroed = {b:call(reset, 1, 1, {auth_norm, hub_norm, row_cnt_1, row_cnt_2}, {stream = 1, after = {divide_a, divide_h}})}
    else
        b:sync(1)
        b:sync(2)
        b:host(host_writes)
    end
end

-- ---- the data -----------------------------------------------------------------------------------------------------

-- The c-th column of a row is random among the columns c, c + degree, ..., so that a row has none twice. The last columns,
-- fewer than degree, are in no row.
ptr:iota(0, degree)
idx:random(1, 0, n // degree - 1):map(("%d * x + i %% %d"):format(degree, degree))
val:fill(1)
ptr2:copy_from(ptr)
idx2:copy_from(idx)
val2:copy_from(val)

-- Both copies are the same, so each is written from the other.
local function write_again(one, other)
    one:copy_from(other)
    other:copy_from(one)
end

local function start(auth, hub)
    auth:random(2, 0.5, 1.5)
    hub:random(3, 0.5, 1.5)
end

local first_auth, first_hub = {}, {}

b:measure {
    inputs = function()
        write_again(ptr, ptr2)
        write_again(idx, idx2)
        write_again(val, val2)
    end,
    reset = function()
        start(auth1, hub1)
        auth2:fill(0)
        hub2:fill(0)
        host_writes()
    end,
    main = function(run)
        run()
        table.insert(first_auth, auth1[0])
        table.insert(first_hub, hub1[0])
    end,
}

-- ---- checks -------------------------------------------------------------------------------------------------------

-- Relative errors. A product adds terms of one sign, in a rounding less than there are, and a division has one; a sum has as
-- many as an element passes additions in its item, the lanes and the wavefronts. What a step divides by is one number
-- for all rows, and what goes on is divided by its own sum again: only the last sum is off from 1.
local waves = blocks * ((block + width - 1) // width)
local additions = (n + blocks * block - 1) // (blocks * block) + math.ceil(math.log(width, 2)) + waves
local unit = 2.0 ^ -24
local row_error = (degree * STEPS + 1) * unit
local sum_error = (additions + 2) * unit

for i = 1, #first_auth do
    gpu.check("auth1[0] of iteration " .. i, first_auth[i] / auth1[0], 1, 2 * (row_error + sum_error))
    gpu.check("hub1[0] of iteration " .. i, first_hub[i] / hub1[0], 1, 2 * (row_error + sum_error))
end

-- The sum over all walks of `steps` steps from a row of what the vector has where they end. reached[s] keeps those of s steps.
local function walks(vector, reached, steps, row)
    if steps == 0 then return vector[row] end
    local known = reached[steps][row]
    if known then return known end
    local total = 0.0
    for k = degree * row, degree * row + degree - 1 do total = total + walks(vector, reached, steps - 1, idx[k]) end
    reached[steps][row] = total
    return total
end

-- Rows of the result are to each other as their walks: their ratios to those of row 0 are compared, and the largest
-- error is checked.
local function check_rows(name, result, vector, rows)
    local reached, worst = {}, 0.0
    for s = 1, STEPS do reached[s] = {} end
    local scale = walks(vector, reached, STEPS, 0) / result[0]
    for _, row in ipairs(rows) do
        local off = math.abs(result[row] * scale / walks(vector, reached, STEPS, row) - 1)
        worst = math.max(worst, off == off and off or math.huge)
    end
    gpu.check("rows of " .. name .. ": largest error", worst, 0, 2 * row_error)
    gpu.check("sum of " .. name, result:sum(), 1, sum_error)
end

if b.verify then
    local rows, every = {}, n <= 1024
    for i = 1, every and n or sampled do rows[i] = every and i - 1 or math.random(0, n - 1) end
    if not every then rows[#rows] = n - 1 end
    gpu.check("the matrix, still", idx:dot(val2), idx2:sum())
    start(auth2, hub2)
    -- STEPS is odd: authorities come from the hubs that the iteration began with.
    check_rows("auth1", auth1, hub2, rows)
    check_rows("hub1", hub1, auth2, rows)
end
