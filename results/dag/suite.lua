-- The published benchmarks: programs, sizes, and numbers of work-groups. Sizes are the paper's N, a side for IMG and DL.

local S = {}

S.gpus = {"gtx960", "gtx1660s", "p100"}
S.names = {"VEC", "B&S", "IMG", "ML", "HITS", "DL"}

-- warmup: iterations ahead of the measured one. HITS writes all that it reads anew, and its time is the same without.
-- n: of Figure 11. power: computations grow with n ^ power. step: sizes are multiples of it. blocks: the published NB.
-- eleven: block, and NB where it is not the usual one, of the runs of Figure 11.
local benchmarks = {
    VEC = {file = "vec", n = 120000000, power = 1, step = 1, blocks = {32, 176, 448}, eleven = {block = 32}},
    ["B&S"] = {file = "bs", n = 12000000, power = 1, step = 1, blocks = {32, 176, 448}, eleven = {block = 256, blocks = 32}},
    IMG = {file = "img", n = 4800, power = 2, step = 16, blocks = {12, 16, 32}, eleven = {block = 1024, blocks = 16}},
    ML = {file = "ml", n = 1200000, power = 1, step = 1, blocks = {32, 32, 64}, eleven = {block = 32, n = 300000}},
    HITS = {file = "hits", n = 20000000, power = 1, step = 1, blocks = {32, 176, 448}, eleven = {block = 32},
        warmup = 0},
    DL = {file = "dl", n = 7000, power = 2, step = 20, blocks = {16, 176, 448}, eleven = {block = 32, blocks = 12}},
}

local gpu_index = {}
for i, gpu in ipairs(S.gpus) do gpu_index[gpu] = i end

function S.warmup(name) return benchmarks[name].warmup or 1 end

function S.program(name) return benchmarks[name].file .. ".lua" end

-- The NB of a run of size n. The work-groups of DL cover more than its images, in three dimensions: NB goes down with the side, or there
-- would be next to nothing but empty work-groups.
function S.blocks(name, gpu, n)
    local b = benchmarks[name]
    local blocks = b.blocks[gpu_index[gpu]]
    if name == "DL" and n < b.n then blocks = math.max(8, math.floor(blocks * n / b.n)) end
    return blocks
end

-- The size with 1 / divisor of the computations of n, which is by default that of Figure 11.
function S.size(name, divisor, n)
    local b = benchmarks[name]
    n = n or b.n
    if divisor == 1 then return n end
    local part = n / divisor ^ (1 / b.power)
    return math.max(b.step, math.floor(part / b.step + 1e-9) * b.step)
end

-- By how much more there is to compute at n than at m.
function S.work(name, n, m) return (n / m) ^ benchmarks[name].power end

-- The cells of Figures 11 and 7 that have numbers of their own, as cells.json has them.
function S.cells()
    local out = {}
    for _, gpu in ipairs(S.gpus) do
        for _, name in ipairs(S.names) do
            local e = benchmarks[name].eleven
            out[#out + 1] = {figure = "11", gpu = gpu, benchmark = name, n = e.n or benchmarks[name].n,
                blocks = e.blocks or S.blocks(name, gpu, benchmarks[name].n), block = {e.block}}
        end
    end
    for _, gpu in ipairs(S.gpus) do
        for _, pair in ipairs {{"VEC", 80000000}, {"B&S", 8000000}, {"IMG", 3200}, {"HITS", 10000000}} do
            out[#out + 1] = {figure = "7", gpu = gpu, benchmark = pair[1], n = pair[2], blocks = S.blocks(pair[1], gpu, pair[2]),
                block = {32, 256}}
        end
    end
    return out
end

-- Launch shapes of the trace of the GTX 960, and the sizes that stand for its own.
S.trace = {
    {benchmark = "VEC", n = 80000000, blocks = 64, block = 32},
    {benchmark = "B&S", n = 1000000, blocks = 64, block = 256},
    {benchmark = "ML", n = 80000, blocks = 64, block = 32},
    {benchmark = "HITS", n = 1500000, blocks = 32, block = 32},
    {benchmark = "IMG", n = 4800, blocks = 16, block = 128},
}

-- How much of it all is run.
-- scored: divisor of the sizes of cells.json. main: of the other figures. sizes: of the claim about sizes. slower: of the grid in
-- which parallel must not lose; slower_of: of a benchmark that takes longer here than the others. tiny: where the scheduler's overhead shows.
S.sizes = {
    default = {scored = 1, main = 20, sizes = {80, 20, 5}, slower = {20, 5}, slower_of = {ML = {20}, HITS = {20, 10}}, tiny = 20000, blocks = {32, 128, 256, 1024}},
    large = {scored = 1, main = 5, sizes = {20, 5, 1}, slower = {20, 5}, slower_of = {ML = {20}}, tiny = 20000, blocks = {32, 128, 256, 1024}},
    quick = {scored = 400, main = 800, sizes = {1600, 800, 400}, slower = {800}, tiny = 20000, blocks = {32, 256}},
    smoke = {scored = 20000, main = 20000, sizes = {40000, 20000, 10000}, slower = {10000}, tiny = 100000, blocks = {32, 256},
        names = {"VEC"}},
}

return S
