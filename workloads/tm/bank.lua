-- Transfers between the accounts of a bank in local memory.
--
-- A section takes an amount from one account and adds it to another: 2 words read, both written.
--
-- Arguments: those of workloads/lib/tm.lua (variants tx, serial, coarse, fine, atomic, none), rounds is transfers of a work-item, and
--   accounts  accounts of a group (512); the fewer, the more transfers meet
--   hot       the first so many accounts take part in share percent of the transfers (0: none is preferred)
--   share     (50)
--
-- Checked: every balance, for additions may come in any order; and their sum, which no transfer changes.

local gpu = require "heddle"
local tm = require "tm"

local b = tm.benchmark {variants = {"tx", "serial", "coarse", "fine", "atomic", "none"}, rounds = 4}
local accounts = gpu.arg("accounts", 512, 2, 4096)
local hot = gpu.arg("hot", 0, 0, accounts)
local share = gpu.arg("share", 50, 0, 100)

local random = b:random(1)
local first, list, expected = {}, {}, {}
for i = 1, accounts do first[i] = 1000 + random(1000) end
for i = 0, b.groups * accounts - 1 do expected[i + 1] = first[i % accounts + 1] end

local function account()
    if hot > 0 and random(100) < share then return random(hot) end
    return random(accounts)
end

for op = 0, b.ops - 1 do
    local from, amount = account(), random(50)
    local to = (from + 1 + random(accounts - 1)) % accounts
    list[op + 1] = from | to << 12 | amount << 24
    local at = op // b.group_ops * accounts + 1
    expected[at + from] = expected[at + from] - amount & 0xffffffff
    expected[at + to] = expected[at + to] + amount & 0xffffffff
end

local transfers, start = tm.array("u32", list, "transfers"), tm.array("u32", first, "start")
local balances = gpu.array("u32", b.groups * accounts, "balances")

b:measure {
    kernels = "bank.hasm",
    signature = "transfers: in u32[], start: in u32[], balances: out u32[], accounts: i32, rounds: i32",
    arguments = {transfers, start, balances, accounts, b.rounds},
    lds = 4 * accounts, locks = accounts,
}

gpu.check("balances that are wrong", tm.unlike(balances, expected), 0)
local got, sum = balances:to_table(), 0
for i = 1, #got do sum = (sum + got[i] - first[(i - 1) % accounts + 1]) & 0xffffffff end
gpu.check("money made or lost", sum, 0)
