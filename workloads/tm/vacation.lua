-- A travel agency, after STAMP's vacation: customers ask for cars, flights and rooms, and book the dearest of each kind that has places left.
--
-- A section reads the free places and the price of each row that it asks for; if it books it writes the free places of up to three of them, and adds the
-- prices to the customer's bill: 2 * queries + 1 words read, up to 4 of them written.
--
-- Arguments: those of workloads/lib/tm.lua (variants tx, serial, coarse, fine, none; fine locks all rows and the customer), rounds is sections of a
-- work-item, and
--   relations  rows of each of the three tables (64); the fewer, the more sections meet
--   customers  (256)
--   queries    rows that a section asks for (4), 1 to 8
--   places     most free places of a row at the start (20)
--   browse     percent of sections that do not book (20)
--
-- Checked: free places at the end and booked ones add up to those of the start, and are not negative; bills are the prices of what their customers
-- booked; a row that a section found was one that it asked for.

local gpu = require "heddle"
local tm = require "tm"

local b = tm.benchmark {
    variants = {"tx", "serial", "coarse", "fine", "none"}, rounds = 1,
    unfit = {atomic = "what is booked depends on several rows"},
}
local relations = gpu.arg("relations", 64, 1, 4096)
local customers = gpu.arg("customers", 256, 1, 4096)
local queries = gpu.arg("queries", 4, 1, 8)
local places = gpu.arg("places", 20, 0, 1000000)
local browse = gpu.arg("browse", 20, 0, 100)

local random = b:random(1)
local row_count, width, look = 3 * relations, queries + 1, 1 << 31
local first, list, asked = {}, {}, {}
for i = 0, row_count - 1 do
    first[2 * i + 1] = random(places + 1)
    first[2 * i + 2] = 1 + random(1000)
end
for op = 0, b.ops - 1 do
    local ask = {}
    for k = 1, queries do ask[k] = (op + k) % 3 * relations + random(relations) end
    table.sort(ask)
    asked[op] = ask
    ask[width] = random(customers) | (random(100) < browse and look or 0)
    for k = 1, width do list[(op // b.items * width + k - 1) * b.items + op % b.items + 1] = ask[k] end
end

local start, tasks = tm.array("u32", first, "start"), tm.array("u32", list, "tasks")
local rows = gpu.array("u32", b.groups * 2 * row_count, "rows")
local bills = gpu.array("u32", b.groups * customers, "bills")
local results = gpu.array("i32", 3 * b.ops, "results")

b:measure {
    kernels = "vacation.hasm",
    signature = "start: in u32[], tasks: in u32[], rows: out u32[], bills: out u32[], results: out i32[], "
        .. "relations: i32, customers: i32, queries: i32, rounds: i32",
    arguments = {start, tasks, rows, bills, results, relations, customers, queries, b.rounds},
    lds = 8 * row_count + 4 * customers, locks = row_count + customers,
}

-- Books what the results say. Gives the rows and bills that must be there then, and how many results were not asked for.
local function replay()
    local free, bill, strange, found = {}, {}, 0, results:to_table()
    for i = 0, b.groups * 2 * row_count - 1 do free[i + 1] = first[i % (2 * row_count) + 1] end
    for i = 1, b.groups * customers do bill[i] = 0 end
    for op = 0, b.ops - 1 do
        local group, ask = op // b.group_ops, asked[op]
        for kind = 0, 2 do
            local row = found[(op // b.items * 3 + kind) * b.items + op % b.items + 1]
            local known = row < 0
            for k = 1, queries do known = known or ask[k] == row and row // relations == kind end
            if not known then
                strange = strange + 1
            elseif row >= 0 and ask[width] < look then
                local at, to = group * 2 * row_count + 2 * row + 1, group * customers + ask[width] + 1
                free[at] = free[at] - 1
                bill[to] = bill[to] + first[2 * row + 2]
            end
        end
    end
    return free, bill, strange
end

local free, bill, strange = replay()
local overbooked = 0
for i = 1, #free do
    if free[i] < 0 then overbooked = overbooked + 1 end
end
gpu.check("rows that are wrong", tm.unlike(rows, free), 0)
gpu.check("rows that are overbooked", overbooked, 0)
gpu.check("bills that are wrong", tm.unlike(bills, bill), 0)
gpu.check("rows found that nobody asked for", strange, 0)
