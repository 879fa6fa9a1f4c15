-- plot: from results to numbers, CSV and figures. For the post function of a sweep; it computes text and writes nothing itself.
--
--     local plot = require "plot"
--     post = function(results)
--         local gain = plot.speedup(results, {by = "host.scheduler", base = "serial-sync"})
--         return {
--             ["gain.csv"] = plot.csv(gain, {{"n", "arg.n"}, {"scheduler", "host.scheduler"}, {"speedup", "ratio"}}),
--             ["gain.vl.json"] = plot.json(plot.lines {data = gain, x = {"arg.n", log = true}, y = "ratio", color = "host.scheduler"}),
--         }
--     end
--
-- A row is a result object, or any table with names. A path names a value in it: an axis ("arg.n", "host.scheduler"), a key of the
-- result ("time_ns", "metrics.ipc", "regions.1.time_ns"), an argument or a configuration key; or it is a function of the row. A
-- value that is not there is nil, and is left out of means and figures; so is all that a run measured before it failed.

local P = {} -- the functions, for each other
local M = {} -- the same for others: a mistake is an error where they were called

local MISTAKE = {}

local function fail(...)
    error(setmetatable({text = "plot: " .. string.format(...)}, MISTAKE), 0)
end

local function give_back(ok, ...)
    if ok then return ... end
    local why = ...
    if type(why) == "table" and getmetatable(why) == MISTAKE then error(why.text, 2) end
    error(why, 0)
end

local function public(f)
    return function(...) return give_back(pcall(f, ...)) end
end

-- ---- values -----------------------------------------------------------------------------------

local function walk(at, path)
    if type(at) ~= "table" then return nil end
    local value = at[path]
    if value == nil then value = at[tonumber(path) or path] end
    if value ~= nil then return value end
    for dot in path:gmatch("()%.") do
        local head = path:sub(1, dot - 1)
        value = at[head]
        if value == nil and tonumber(head) then value = at[tonumber(head)] end
        value = walk(value, path:sub(dot + 1))
        if value ~= nil then return value end
    end
    return nil
end

-- What a run measures. One that failed on its way has measured a part, which is not to be compared with anything.
local measured = {}
for _, key in ipairs {"time_ns", "device_time_ns", "host_time_ns", "regions", "contention_free_ns", "critical_path", "overlap",
    "overlap_fig11", "kernels", "transfers", "dag", "metrics", "tm", "cf"} do
    measured[key] = true
end

local function is_partial(row, path)
    return (row.status == "failed" or row.status == "stopped") and measured[path:match("^[^.]*")]
end

-- The value of a row at a path, or nil.
function P.get(row, path)
    if type(path) == "function" then return path(row) end
    if type(path) ~= "string" then fail("a path is a string or a function, not a %s", type(path)) end
    if is_partial(row, path) then return nil end
    local axes = type(row.point) == "table" and row.point.axes
    if axes and axes[path] ~= nil then return axes[path] end
    if path == "config" and row.config_name ~= nil then return row.config_name end
    local value = walk(row, path)
    if value == nil and path:sub(1, 4) == "arg." then value = walk(row.args, path:sub(5)) end
    if value == nil then value = walk(row.config, path) end
    return value
end

-- The same value, and only then, makes the same text: 1 and "1" differ.
local function tag(value)
    if math.type(value) == "float" then return "number " .. string.format("%.17g", value) end
    return type(value) .. " " .. tostring(value)
end

local function signature(row, paths)
    local parts = {}
    for i, path in ipairs(paths) do
        local text = tag(P.get(row, path))
        parts[i] = #text .. ":" .. text
    end
    return table.concat(parts)
end

-- ---- lists of rows ------------------------------------------------------------------------------

local function matches(row, where)
    for path, wanted in pairs(where) do
        local value, found = P.get(row, path), false
        for _, w in ipairs(type(wanted) == "table" and wanted or {wanted}) do found = found or value == w end
        if not found then return false end
    end
    return true
end

-- The rows for which where(row) is true, or whose values are those of where = {path = value or {values}}.
function P.select(rows, where)
    local out = {}
    for _, row in ipairs(rows) do
        if type(where) == "function" then
            if where(row) then out[#out + 1] = row end
        elseif matches(row, where) then
            out[#out + 1] = row
        end
    end
    return out
end

-- {key = {value of each path}, rows = {...}} for each combination of values, in the order in which they come first.
function P.group(rows, ...)
    local paths, groups, known = {...}, {}, {}
    for _, row in ipairs(rows) do
        local name = signature(row, paths)
        local group = known[name]
        if not group then
            group = {key = {}, rows = {}}
            for i, path in ipairs(paths) do group.key[i] = P.get(row, path) end
            known[name] = group
            groups[#groups + 1] = group
        end
        group.rows[#group.rows + 1] = row
    end
    return groups
end

-- The values of a path in a list, each once, in the order in which they come first.
function P.values(rows, path)
    local out, seen = {}, {}
    for _, row in ipairs(rows) do
        local value = P.get(row, path)
        if value ~= nil and not seen[value] then
            seen[value] = true
            out[#out + 1] = value
        end
    end
    return out
end

local function numbers(list, path)
    local out = {}
    for _, item in ipairs(list) do
        local value = item
        if type(item) == "table" then value = P.get(item, path) end
        if value ~= nil then
            if type(value) ~= "number" then fail("%s is a %s and not a number", tostring(path), type(value)) end
            out[#out + 1] = value
        end
    end
    return out
end

-- The geometric mean of a list of numbers, or of a path over rows; nil of none.
function P.geomean(list, path)
    local values, sum = numbers(list, path), 0.0
    if #values == 0 then return nil end
    for _, value in ipairs(values) do
        if not (value > 0) then fail("a geometric mean is of numbers above 0, not of %s", tostring(value)) end
        sum = sum + math.log(value)
    end
    return math.exp(sum / #values)
end

-- The arithmetic mean, likewise.
function P.mean(list, path)
    local values, sum = numbers(list, path), 0.0
    if #values == 0 then return nil end
    for _, value in ipairs(values) do sum = sum + value end
    return sum / #values
end

-- The lower median, likewise.
function P.median(list, path)
    local values = numbers(list, path)
    table.sort(values)
    return values[(#values + 1) // 2]
end

local function check_options(name, o, known)
    if type(o) ~= "table" then fail("%s needs a table of options", name) end
    for key in pairs(o) do
        if not known[key] then
            local names = {}
            for k in pairs(known) do names[#names + 1] = k end
            fail("%s has no option '%s'; it has %s", name, tostring(key), table.concat(names, ", "))
        end
    end
end

-- One record for each combination of values of the paths in by: those values under their paths, the value that fn makes of the
-- rows' values, and how many there were. o = {by = {paths}, value = path, fn = plot.geomean}.
function P.aggregate(rows, o)
    check_options("aggregate", o, {by = true, value = true, fn = true})
    local out = {}
    for _, group in ipairs(P.group(rows, table.unpack(o.by))) do
        local record = {count = #numbers(group.rows, o.value), value = (o.fn or P.geomean)(group.rows, o.value)}
        for i, path in ipairs(o.by) do record[path] = group.key[i] end
        out[#out + 1] = record
    end
    return out
end

-- ---- ratios --------------------------------------------------------------------------------------

local function other_axes(row, by)
    local paths = {}
    if type(row.point) ~= "table" then fail("rows that are of no sweep need match = {paths}") end
    if row.point.axes[by] == nil then fail("the sweep has no axis '%s'", tostring(by)) end
    for path in pairs(row.point.axes) do
        if path ~= by then paths[#paths + 1] = path end
    end
    return paths
end

local function ratios(rows, o, name, divide)
    check_options(name, o, {by = true, base = true, value = true, match = true})
    local value, bases = o.value or "time_ns", {}
    local function key(row) return signature(row, o.match or other_axes(row, o.by)) end
    for _, row in ipairs(rows) do
        if P.get(row, o.by) == o.base then
            if bases[key(row)] then fail("two rows are the base of one ratio; match = {paths} tells them apart") end
            bases[key(row)] = row
        end
    end
    local out = {}
    for i, row in ipairs(rows) do
        local base = bases[key(row)]
        local own, theirs = P.get(row, value), base and P.get(base, value)
        local copy = {}
        for k, v in pairs(row) do copy[k] = v end
        copy.ratio = nil
        if own and theirs then copy.ratio = divide(theirs, own) end
        out[i] = copy
    end
    return out
end

-- Copies of the rows with ratio = value of the base row / own value: above 1 is faster, if the value is a time. The base row of
-- a row agrees with it in all other axes (or in the paths of match) and has the value base at the path by.
-- o = {by = path, base = value [, value = "time_ns"] [, match = {paths}]}. Where either is missing there is no ratio.
function P.speedup(rows, o)
    return ratios(rows, o, "speedup", function(base, own) return base / own end)
end

-- The same the other way round: own value / value of the base row.
function P.relative(rows, o)
    return ratios(rows, o, "relative", function(base, own) return own / base end)
end

-- ---- text ----------------------------------------------------------------------------------------

-- The shortest decimal that reads back as the same number.
local function digits(value)
    if math.type(value) == "integer" then return string.format("%d", value) end
    for precision = 15, 17 do
        local text = string.format("%." .. precision .. "g", value)
        if tonumber(text) == value then return text end
    end
    return "" -- not a number
end

local function is_finite(value)
    return value == value and value > -math.huge and value < math.huge
end

local function cell(value)
    if value == nil then return "" end
    if type(value) == "table" then fail("a cell holds one value, not a table") end
    if type(value) == "number" then return is_finite(value) and digits(value) or "" end
    local text = tostring(value)
    if text:find('[",\r\n]') then text = '"' .. text:gsub('"', '""') .. '"' end
    return text
end

local function check_scale(name, scale)
    if scale ~= nil and type(scale) ~= "number" then fail("the scale of %s is a %s and not a number", name, type(scale)) end
end

-- A column is "path", or {name, path [, scale]}.
local function column(c)
    if type(c) == "string" then return c, c, nil end
    if type(c) ~= "table" or type(c[1]) ~= "string" then fail("a column is a path or {name, path [, scale]}") end
    check_scale(c[1], c[3])
    return c[1], c[2] or c[1], c[3]
end

-- Neither 1e-3 nor most values are exact: 15 digits are what both hold, so that 39004.876 becomes 39.004876.
local function scaled(value, scale)
    if not scale or value == nil then return value end
    local product = value * scale
    if math.type(product) == "integer" or not is_finite(product) then return product end
    return tonumber(string.format("%.15g", product)) + 0.0
end

-- CSV (RFC 4180, but lines end in a newline alone): a header, and a line for each row; what is missing is empty.
function P.csv(rows, columns)
    local lines, names = {}, {}
    for i, c in ipairs(columns) do names[i] = cell((column(c))) end
    lines[1] = table.concat(names, ",")
    for _, row in ipairs(rows) do
        local cells = {}
        for i, c in ipairs(columns) do
            local _, path, scale = column(c)
            cells[i] = cell(scaled(P.get(row, path), scale))
        end
        lines[#lines + 1] = table.concat(cells, ",")
    end
    return table.concat(lines, "\n") .. "\n"
end

-- The fields of one line of CSV from `at` on, and where the next line begins.
local function read_line(text, at)
    local fields = {}
    repeat
        local field, stop
        if text:sub(at, at) == '"' then
            local from = at + 1
            repeat
                local quote = text:find('"', from, true) or fail("a quote in the CSV has no end")
                from = quote + 2
            until text:sub(quote + 1, quote + 1) ~= '"'
            field, stop = text:sub(at + 1, from - 3):gsub('""', '"'), from - 1
            field = tostring(field)
        else
            stop = text:find("[,\n]", at) or #text + 1
            field = text:sub(at, stop - 1)
        end
        fields[#fields + 1] = field
        at = stop + 1
    until text:sub(stop, stop) ~= ","
    return fields, at
end

-- The other way round: a record for each line, with the names of the first. What reads as a number is one, and what is empty nil.
function P.read_csv(text)
    local names, at = read_line(text, 1)
    local out = {}
    while at <= #text do
        local fields, record = nil, {}
        fields, at = read_line(text, at)
        for i, name in ipairs(names) do
            local field = fields[i]
            if field and field ~= "" then record[name] = tonumber(field) or field end
        end
        out[#out + 1] = record
    end
    return out
end

local ARRAY = {}
P.null = setmetatable({}, {__name = "null"})

-- Marks a table as a list even if it is empty.
function P.array(list)
    return setmetatable(list, ARRAY)
end

local escapes = {['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t"}

local function quote(text)
    if not utf8.len(text) then fail("a text is not UTF-8") end
    return '"' .. text:gsub('[%c"\\]', function(c) return escapes[c] or string.format("\\u%04x", c:byte()) end) .. '"'
end

local encode

-- Deeper than any figure: a table that holds itself.
local DEPTH = 100

local function encode_list(list, indent)
    local parts, flat = {}, true
    for i, value in ipairs(list) do
        parts[i] = encode(value, indent .. "  ")
        flat = flat and (type(value) ~= "table" or value == P.null)
    end
    if flat then return "[" .. table.concat(parts, ", ") .. "]" end
    return "[\n" .. indent .. "  " .. table.concat(parts, ",\n" .. indent .. "  ") .. "\n" .. indent .. "]"
end

local function encode_object(object, indent)
    local parts, flat = {}, true
    for key, value in pairs(object) do
        if type(key) ~= "string" then fail("an object has a %s as a key", type(key)) end
        parts[#parts + 1] = quote(key) .. ": " .. encode(value, indent .. "  ")
        flat = flat and (type(value) ~= "table" or value == P.null)
    end
    if flat then return "{" .. table.concat(parts, ", ") .. "}" end
    return "{\n" .. indent .. "  " .. table.concat(parts, ",\n" .. indent .. "  ") .. "\n" .. indent .. "}"
end

function encode(value, indent)
    if value == P.null then return "null" end
    if type(value) == "number" then return is_finite(value) and digits(value) or "null" end
    if type(value) == "string" then return quote(value) end
    if type(value) == "boolean" then return tostring(value) end
    if type(value) ~= "table" then fail("a %s is no JSON", type(value)) end
    if #indent > 2 * DEPTH then fail("tables are more than %d deep in each other", DEPTH) end
    if getmetatable(value) == ARRAY or #value > 0 then return encode_list(value, indent) end
    return encode_object(value, indent)
end

-- JSON, with the keys of objects in the order of their bytes.
function P.json(value)
    return encode(value, "") .. "\n"
end

-- ---- figures -------------------------------------------------------------------------------------

-- Okabe and Ito's colours, which the colour-blind can tell apart; black is for what is drawn over them.
P.palette = {"#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442"}

-- A field of a figure: "path", or {path, title =, unit =, scale =, log =, type =, values =}.
local field_options = {[1] = true, title = true, unit = true, scale = true, log = true, type = true, values = true}

local function new_field(name, given)
    if type(given) ~= "table" then given = {given} end
    check_options("field " .. name, given, field_options)
    local path = given[1]
    if type(path) ~= "string" and type(path) ~= "function" then fail("field %s needs a path", name) end
    check_scale("field " .. name, given.scale)
    local title = given.title or (type(path) == "string" and path or name)
    if given.unit then title = title .. " (" .. given.unit .. ")" end
    return {name = name, path = path, title = title, scale = given.scale, log = given.log, type = given.type,
        values = given.values}
end

-- Numbers on an axis that is a scale, anything else side by side.
local function kind_of(field, records)
    if field.type then return field.type end
    for _, record in ipairs(records) do
        if type(record[field.name]) ~= "number" then return "nominal" end
    end
    return "quantitative"
end

local function distinct(field, records)
    local values = field.values or P.values(records, field.name)
    local out = P.array {}
    for i, value in ipairs(values) do out[i] = value end
    return out
end

local function axis_of(field, records)
    local encoding = {field = field.name, type = kind_of(field, records), title = field.title}
    if encoding.type == "quantitative" then
        if field.log then
            encoding.scale = {type = "log"}
            encoding.axis = {format = "~s"}
        end
    else
        encoding.sort = distinct(field, records)
        encoding.axis = {labelAngle = 0}
    end
    return encoding
end

local function color_of(field, records)
    local domain, range = distinct(field, records), P.array {}
    if #domain > #P.palette then
        fail("%d values of %s: more than %d colours cannot be told apart", #domain, field.title, #P.palette)
    end
    for i = 1, #domain do range[i] = P.palette[i] end
    return {field = field.name, type = "nominal", title = field.title, scale = {domain = domain, range = range}}
end

-- A record for each row that has all of the fields.
local function records_of(rows, fields)
    local records = P.array {}
    for _, row in ipairs(rows) do
        local record, whole = {}, true
        for _, field in ipairs(fields) do
            local value = scaled(P.get(row, field.path), field.scale)
            if type(value) == "number" and not is_finite(value) then value = nil end
            if type(value) == "table" then fail("%s is a table and no value for a figure", field.title) end
            if field.type == "quantitative" and value ~= nil and type(value) ~= "number" then
                fail("%s is a %s and not a number", field.title, type(value))
            end
            record[field.name] = value
            whole = whole and value ~= nil
        end
        if whole then records[#records + 1] = record end
    end
    return records
end

local options = {data = true, x = true, y = true, color = true, column = true, title = true, width = true, height = true,
    rule = true}

local stacked_options = {data = true, x = true, parts = true, unit = true, y_title = true, column = true, title = true,
    width = true, height = true, normalize = true, scale = true}

local function figure(o, records, mark, encoding)
    local view = {mark = mark, encoding = encoding}
    local spec = {
        ["$schema"] = "https://vega.github.io/schema/vega-lite/v5.json",
        data = {values = records},
        title = o.title,
        config = {view = {stroke = P.null}, axis = {grid = true}},
    }
    local inner = view
    if o.rule then
        inner = {layer = P.array {view, {mark = {type = "rule", strokeDash = P.array {4, 4}}, encoding = {y = {datum = o.rule}}}}}
    end
    if encoding.column then
        spec.facet = {column = encoding.column}
        encoding.column = nil
        spec.spec = inner
    else
        for key, value in pairs(inner) do spec[key] = value end
    end
    inner.width, inner.height = o.width or 360, o.height or 240
    if not spec.spec then spec.width, spec.height = inner.width, inner.height end
    return spec
end

local function column_of(field, records)
    return {field = field.name, type = "nominal", title = field.title, sort = distinct(field, records)}
end

local function chart(name, o, mark, shape)
    check_options(name, o, options)
    if not (o.data and o.x and o.y) then fail("%s needs data, x and y", name) end
    local fields = {new_field("x", o.x), new_field("y", o.y)}
    if o.color then fields[#fields + 1] = new_field("color", o.color) end
    if o.column then fields[#fields + 1] = new_field("column", o.column) end
    local records = records_of(o.data, fields)
    local encoding = {}
    shape(fields[1], fields[2])
    for _, field in ipairs(fields) do
        local make = field.name == "color" and color_of or field.name == "column" and column_of or axis_of
        encoding[field.name] = make(field, records)
    end
    return figure(o, records, mark, encoding)
end

-- Bars beside each other: one group for each x, one bar in it for each color.
-- o = {data = rows, x = field, y = field [, color = field] [, column = field: one panel for each] [, title =] [, width =]
-- [, height =] [, rule = a number: a dashed line at that y]}.
function P.bars(o)
    local spec = chart("bars", o, {type = "bar"}, function(x, y)
        if y.log then fail("bars stand on 0, which a logarithmic axis has not") end
        x.type = x.type or "ordinal"
        y.type = "quantitative"
    end)
    local view = spec.spec or spec
    local encoding = view.encoding or view.layer[1].encoding
    if encoding.color then encoding.xOffset = {field = "color", type = "nominal", sort = encoding.color.scale.domain} end
    return spec
end

-- Lines with a mark at each point; options as for bars.
function P.lines(o)
    local spec = chart("lines", o, {type = "line", point = true}, function(_, y) y.type = "quantitative" end)
    local view = spec.spec or spec
    local encoding = view.encoding or view.layer[1].encoding
    if encoding.color then
        encoding.strokeDash = {field = "color", type = "nominal", title = encoding.color.title,
            scale = {domain = encoding.color.scale.domain}}
    end
    return spec
end

-- One bar for each x, of parts on top of each other, such as the reasons of stalls.
-- o = {data = rows, x = field, parts = {{name, path}, ...} [, scale =] [, unit =] [, y_title =] [, normalize = true: shares of 1]
-- [, column =] [, title =] [, width =] [, height =]}.
function P.stacked(o)
    check_options("stacked", o, stacked_options)
    if not (o.data and o.x and o.parts) then fail("stacked needs data, x and parts") end
    check_scale("the parts", o.scale)
    local names, rows = {}, {}
    for i, part in ipairs(o.parts) do names[i] = (column(part)) end
    for _, row in ipairs(o.data) do
        for _, part in ipairs(o.parts) do
            local name, path = column(part)
            rows[#rows + 1] = {row = row, part = name, value = scaled(P.get(row, path), o.scale)}
        end
    end
    local x = new_field("x", o.x)
    local path = x.path
    x.path = function(entry) return P.get(entry.row, path) end
    x.type = x.type or "ordinal"
    local y = new_field("y", {"value", title = o.y_title or "value", unit = o.unit, type = "quantitative"})
    local color = new_field("color", {"part", title = "part", values = names})
    local fields = {x, y, color}
    if o.column then
        local panel = new_field("column", o.column)
        local inner = panel.path
        panel.path = function(entry) return P.get(entry.row, inner) end
        fields[4] = panel
    end
    local records = records_of(rows, fields)
    local encoding = {x = axis_of(x, records), y = axis_of(y, records), color = color_of(color, records)}
    encoding.y.stack = o.normalize and "normalize" or "zero"
    if fields[4] then encoding.column = column_of(fields[4], records) end
    return figure(o, records, {type = "bar"}, encoding)
end

local timeline_options = {data = true, lane = true, start = true, finish = true, color = true, label = true, title = true,
    width = true, height = true, unit = true, scale = true}

-- What ran when: one line for each lane, a bar from start to finish for each row.
-- o = {data = rows, lane = path, start = path, finish = path, color = field [, label = path] [, scale =] [, unit =] [, title =]
-- [, width =] [, height =]}.
function P.timeline(o)
    check_options("timeline", o, timeline_options)
    if not (o.data and o.lane and o.start and o.finish and o.color) then
        fail("timeline needs data, lane, start, finish and color")
    end
    local x = new_field("x", {o.start, title = "time", unit = o.unit, scale = o.scale, type = "quantitative"})
    local fields = {x, new_field("x2", {o.finish, scale = o.scale, type = "quantitative"}),
        new_field("lane", {o.lane, type = "nominal"}), new_field("color", o.color)}
    if o.label then fields[5] = new_field("label", {o.label}) end
    local records = records_of(o.data, fields)
    local lane = axis_of(fields[3], records)
    lane.title = P.null
    local encoding = {x = axis_of(x, records), x2 = {field = "x2"}, y = lane, color = color_of(fields[4], records)}
    o = {title = o.title, width = o.width or 720, height = o.height or 26 * #encoding.y.sort}
    return figure(o, records, {type = "bar"}, encoding)
end

for name, value in pairs(P) do M[name] = type(value) == "function" and public(value) or value end

return M
