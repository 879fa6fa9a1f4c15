local gpu = require "heddle"
gpu.arg("n", 1)
local s, x, d = gpu.stream(), gpu.array("u8", 64), gpu.device_array("u8", 64)
for k, v in pairs({ b = 1, a = 2 }) do print(k, v) end
gpu.copy(d, x, { stream = s })
s:sync()
local ok, why = pcall(gpu.module, "none.hasm")
coroutine.wrap(function() coroutine.yield(ok) end)()
