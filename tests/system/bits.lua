-- Prints a hash of the results of each opcode in bits.hasm, and of each function that the host computes. The
-- operands are random bits, so that NaNs, infinities and denormals are among them, and for f32 also numbers of
-- ordinary size. Nothing is checked here: compilers.sh compares what different builds print.

local gpu = require "heddle"
local n = gpu.arg("n", 40000, 1)
local module = gpu.module "bits.hasm"

local function operands(bits, seed)
    local array = gpu.array("u" .. bits, n)
    if bits == 32 then return array:random(seed, 0, 0xffffffff) end
    return array:random(seed, 0, -1)
end

local function print_hashes(bits, arrays, names)
    local signature = ("x: in u@[], y: in u@[], z: in u@[], r: out u@[], n: i32"):gsub("@", bits)
    local r = gpu.array("u" .. bits, n)
    for name in names:gmatch "%S+" do
        name = name .. "_f" .. bits
        module:kernel(name, signature)((n + 255) // 256, 256)(arrays[1], arrays[2], arrays[3], r, n)
        gpu.print(name, r:hash())
    end
end

local common = "add mul div min sqrt rint fract rcp rsqrt fma"
local any32 = {operands(32, 1), operands(32, 2), operands(32, 3)}
print_hashes(32, any32, common .. " exp2 log2 sin cos cvt_i32")
print_hashes(64, {operands(64, 4), operands(64, 5), operands(64, 6)}, common)

-- Bits of numbers from 2^-15 to 2^16, of both signs.
for k, array in ipairs(any32) do
    array:random(6 + k, 0x38000000, 0x47ffffff)
    if k > 1 then array:map("x + 2^31 * (i % 2)") end
end
print_hashes(32, any32, common .. " exp2 log2 sin cos cvt_i32")

for _, of in ipairs {"exp(x)", "log(x)", "sin(x)", "cos(x)", "sqrt(x)", "x^2.5"} do
    for _, kind in ipairs {"f32", "f64"} do
        local x <close> = gpu.array(kind, n)
        gpu.print(of, kind, x:random(20, 0.001, 80):map(of):hash())
    end
end
for _, name in ipairs {"exp", "log", "sin", "cos"} do
    gpu.print("math." .. name, ("%a"):format(math[name](1.1)))
end
