-- tm: the frame of the benchmarks of workloads/tm: their arguments, their random inputs, and the region. A benchmark has one
-- kernel a variant, named like it, in the file beside it (sync.hasm has what they share).
--
--     local tm = require "tm"
--     local b = tm.benchmark {variants = {"tx", "serial", "none"}, unfit = {atomic = "two words change"}, rounds = 4}
--     b:measure {kernels = "hash.hasm", signature = "keys: in u32[], n: i32", arguments = {keys, n}, lds = 4 * n}
--     gpu.check("nodes that are lost", lost, 0)
--
-- Arguments of every benchmark, which are fields of b
--   variant  tx      a transaction
--            serial  one work-item of the group at a time, in the order of their ids
--            coarse  one lock a work-group
--            fine    a lock for each thing that changes
--            atomic  no section, but atomic instructions
--            none    no section at all: what is lost between the work-items is found by the checks
--            Those that fit; the first of the benchmark's is the default
--   groups   work-groups, each with local memory of its own; b.per_cu a compute unit
--   items    work-items of a work-group (256, the most that transactions tell apart)
--   rounds   sections of a work-item, one after the other
--   seed     of the inputs (1); the run's seed counts too

local gpu = require "heddle"

local tm = {}
local benchmark = {}
benchmark.__index = benchmark

local words = {tx = true, serial = true, coarse = true, fine = true, atomic = true, none = true}

local function variant_of(o)
    local asked = gpu.arg("variant", o.variants[1])
    for _, one in ipairs(o.variants) do
        if asked == one then return asked end
    end
    local why = words[asked] and o.unfit and o.unfit[asked]
    error("--arg variant=" .. asked .. ": " .. (why and "does not fit here: " .. why or "there is no such variant")
        .. "; it is one of " .. table.concat(o.variants, ", "), 0)
end

-- A benchmark with the arguments of the run. o: variants; unfit, why others do not fit; rounds (nil: it has none) and per_cu, the defaults.
function tm.benchmark(o)
    local b = {
        variant = variant_of(o),
        groups = gpu.arg("groups", math.ceil((o.per_cu or 1) * gpu.config("compute_units")), 1, 65536),
        items = gpu.arg("items", 256, 1, 256),
        rounds = o.rounds and gpu.arg("rounds", o.rounds, 1, 4096) or 1,
        seed = gpu.arg("seed", 1),
    }
    b.fine = b.variant == "fine"
    b.ops = b.groups * b.rounds * b.items -- sections of all work-items
    b.group_ops = b.rounds * b.items
    return setmetatable(b, benchmark)
end

-- A value from a few, the first by default.
function tm.choice(name, allowed)
    local value = gpu.arg(name, allowed[1])
    for _, one in ipairs(allowed) do
        if value == one then return value end
    end
    error("--arg " .. name .. "=" .. value .. ": it is one of " .. table.concat(allowed, ", "), 0)
end

-- A function that gives random whole numbers from 0 to n - 1; streams with different numbers differ (splitmix64).
function benchmark:random(stream)
    local state = self.seed * 0x2545f4914f6cdd1d + stream * 0x632be59bd9b4e019 + tm.run_seed
    return function(n)
        state = state + 0x9e3779b97f4a7c15
        local z = (state ~ (state >> 30)) * 0xbf58476d1ce4e5b9
        z = (z ~ (z >> 27)) * 0x94d049bb133111eb
        return ((z ~ (z >> 31)) >> 1) % n
    end
end
tm.run_seed = math.random(0)

-- The place among all sections of one of a group's: b.items of each round, round after round.
function benchmark:op(group, round, item)
    return (group * self.rounds + round) * self.items + item
end

-- An array of u32 or i32 with the values of a list.
function tm.array(type, list, name)
    return gpu.array(type, #list, name):from(list)
end

-- Measures region main: one launch. part: kernels, the file; signature and arguments; lds, bytes of local memory behind the
-- lock's; locks, of how many words more variant fine has need.
function benchmark:measure(part)
    local kernel = gpu.module(part.kernels):kernel(self.variant, part.signature)
    local lds = part.lds + (self.fine and 4 * part.locks or 0)
    local launch = kernel(self.groups, self.items, {lds = lds})
    gpu.region("main", function()
        launch(table.unpack(part.arguments))
        gpu.sync()
    end)
end

-- How many elements differ from a list's.
function tm.unlike(array, list)
    local got, wrong = array:to_table(), 0
    for i = 1, #list do
        if got[i] ~= list[i] then wrong = wrong + 1 end
    end
    return wrong
end

return tm
