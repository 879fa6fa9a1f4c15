local gpu = require "heddle"
local n = gpu.arg("n", 8, 1, 1000)
local x, y = gpu.array("f32", n), gpu.array("i32", n)
gpu.region("main", { reset = function() x:fill("min(i, 3) * -2^0.5 + sin(pi) % n"); y[0] = 7 end }, function()
  for i = 0, 3 do x[i] = x[i] + i end
  x:map("x * x - abs(x)")
  gpu.check("first", y[0], 7, 0)
end)
print(x:sum(), #x, tostring(x), string.format("%5.2f", math.log(8, 2)), pcall(error, { 1 }))
