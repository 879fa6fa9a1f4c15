-- svg: draws what plot makes, and graphs of computations, as SVG text. The same input gives the same bytes.
--
--     local plot, svg = require "plot", require "svg"
--     local figure = plot.bars {data = rows, x = "gpu", y = "speedup", color = "benchmark"}
--     return {["speedup.vl.json"] = plot.json(figure), ["speedup.svg"] = svg.draw(figure)}
--
-- draw(figure)  a figure of plot.bars, lines, stacked or timeline, with the same data, axes, panels and colours
-- graph(o)      computations as circles, one column a stream, with an arrow for each dependency

local M = {}

local INK, GRAY, GRID = "#222222", "#666666", "#dddddd"
local FONT = 11
local DASHES = {"", "6 3", "2 2", "8 3 2 3", "4 4", "1 3", "10 4"}

-- ---- text -------------------------------------------------------------------------------------

-- A coordinate: at most two decimals, and none that are 0.
local function at(v)
    local text = string.format("%.2f", v):gsub("0+$", ""):gsub("%.$", "")
    return text == "-0" and "0" or text
end

local entities = {["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;"}

local function safe(text)
    return (tostring(text):gsub('[&<>"]', entities))
end

-- As wide as a common sans-serif font makes it, more or less.
local function width_of(text, size)
    return (utf8.len(tostring(text)) or #tostring(text)) * (size or FONT) * 0.56
end

local Page = {}
Page.__index = Page

local function new_page()
    return setmetatable({lines = {}}, Page)
end

function Page:add(...)
    self.lines[#self.lines + 1] = string.format(...)
end

-- o: anchor, size, color, weight, turn (in degrees)
function Page:text(x, y, text, o)
    o = o or {}
    self:add('<text x="%s" y="%s" font-size="%s" fill="%s"%s%s%s>%s</text>', at(x), at(y), at(o.size or FONT), o.color or INK,
        o.anchor and string.format(' text-anchor="%s"', o.anchor) or "", o.weight and ' font-weight="' .. o.weight .. '"' or "",
        o.turn and string.format(' transform="rotate(%s %s %s)"', at(o.turn), at(x), at(y)) or "", safe(text))
end

function Page:line(x1, y1, x2, y2, color, dash)
    self:add('<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="%s"%s/>', at(x1), at(y1), at(x2), at(y2), color,
        dash and dash ~= "" and string.format(' stroke-dasharray="%s"', dash) or "")
end

-- Ink or white, whichever is easier to read on the colour.
local function text_on(color)
    local light = 0.0
    for i, weight in ipairs {0.299, 0.587, 0.114} do light = light + weight * tonumber(color:sub(2 * i, 2 * i + 1), 16) end
    return light > 140 and INK or "#ffffff"
end

-- With a title, which a browser shows under the pointer.
function Page:rect(x, y, w, h, color, title)
    local tip = title and string.format("><title>%s</title></rect>", safe(title)) or "/>"
    self:add('<rect x="%s" y="%s" width="%s" height="%s" fill="%s"%s', at(x), at(y), at(w), at(h), color, tip)
end

function Page:finish(width, height)
    local head = string.format('<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" ' ..
        'font-family="Helvetica, Arial, sans-serif">\n<rect width="100%%" height="100%%" fill="#ffffff"/>\n',
        at(width), at(height), at(width), at(height))
    return head .. table.concat(self.lines, "\n") .. "\n</svg>\n"
end

-- ---- scales -------------------------------------------------------------------------------------

local prefixes = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}}

local function tick_text(v)
    for _, p in ipairs(prefixes) do
        if math.abs(v) >= p[1] then return string.format("%.4g%s", v / p[1], p[2]) end
    end
    return string.format("%.4g", v)
end

-- The step of 1, 2 or 5 times a power of ten that gives at most so many of them.
local function nice_step(span, most)
    local step = 10.0 ^ math.floor(math.log(span / most, 10))
    for _, factor in ipairs {1, 2, 5, 10} do
        if span / (step * factor) <= most then return step * factor end
    end
    return step * 10
end

local function linear(low, high, most)
    if not (high > low) then high = low + 1 end
    local step = nice_step(high - low, most)
    local first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    local scale = {low = first * step, high = last * step, ticks = {}}
    for i = first, last do scale.ticks[#scale.ticks + 1] = i * step end
    function scale.place(v) return (v - scale.low) / (scale.high - scale.low) end
    return scale
end

local function logarithmic(low, high)
    local first, last = math.floor(math.log(low, 10) + 1e-9), math.ceil(math.log(high, 10) - 1e-9)
    if last == first then last = first + 1 end
    local scale = {low = 10.0 ^ first, high = 10.0 ^ last, ticks = {}}
    for e = first, last do
        for _, factor in ipairs(last - first <= 2 and {1, 2, 5} or {1}) do
            if e < last or factor == 1 then scale.ticks[#scale.ticks + 1] = factor * 10.0 ^ e end
        end
    end
    function scale.place(v) return (math.log(v, 10) - first) / (last - first) end
    return scale
end

local function bands(values)
    local scale = {values = values, index = {}}
    for i, v in ipairs(values) do scale.index[v] = i end
    scale.band = 1 / math.max(1, #values)
    function scale.place(v) return (scale.index[v] - 0.5) * scale.band end
    return scale
end

local function range_of(records, ...)
    local low, high = math.huge, -math.huge
    for _, record in ipairs(records) do
        for _, name in ipairs {...} do
            local v = record[name]
            if type(v) == "number" then low, high = math.min(low, v), math.max(high, v) end
        end
    end
    if low > high then return 0, 1 end
    return low, high
end

local function scale_of(encoding, records, names, from_zero, most)
    if encoding.type ~= "quantitative" then return bands(encoding.sort) end
    local low, high = range_of(records, table.unpack(names))
    if encoding.scale and encoding.scale.type == "log" then return logarithmic(low, high) end
    if from_zero then low, high = math.min(low, 0), math.max(high, 0) end
    return linear(low, high, most)
end

-- ---- marks --------------------------------------------------------------------------------------

-- A panel is where its records are drawn: x, y, w, h, and the scales.
local function px(panel, v) return panel.x + panel.w * panel.xs.place(v) end
local function py(panel, v) return panel.y + panel.h * (1 - panel.ys.place(v)) end

local function tip(record)
    local parts = {}
    for _, name in ipairs {"column", "color", "x", "lane", "label"} do
        if record[name] ~= nil then parts[#parts + 1] = tostring(record[name]) end
    end
    local value = record.y
    if type(value) == "number" then parts[#parts + 1] = string.format("%.6g", value) end
    return table.concat(parts, " ")
end

local marks = {}

function marks.bar(page, panel, view)
    local stacked, done = view.stack ~= nil, {}
    local inner = view.offsets and math.max(1, #view.offsets.values) or 1
    local band = panel.w * panel.xs.band * 0.84
    for _, r in ipairs(panel.records) do
        local left = px(panel, r.x) - band / 2
        local low, high = 0, r.y
        if stacked then
            low = done[r.x] or 0
            high = low + r.y
            done[r.x] = high
        end
        local shift = view.offsets and (view.offsets.index[r.color] - 1) * band / inner or 0
        local y1, y2 = py(panel, math.max(low, high)), py(panel, math.min(low, high))
        page:rect(left + shift, y1, band / inner * 0.96, y2 - y1, view.color(r), tip(r))
    end
end

function marks.line(page, panel, view)
    local series, order = {}, {}
    for _, r in ipairs(panel.records) do
        local key = r.color == nil and "" or r.color
        if not series[key] then
            series[key] = {}
            order[#order + 1] = key
        end
        local s = series[key]
        s[#s + 1] = r
    end
    for _, key in ipairs(order) do
        local points, s = {}, series[key]
        if panel.xs.ticks then table.sort(s, function(a, b) return a.x < b.x end) end
        for i, r in ipairs(s) do points[i] = at(px(panel, r.x)) .. "," .. at(py(panel, r.y)) end
        local dash = view.dash(s[1])
        page:add('<polyline points="%s" fill="none" stroke="%s" stroke-width="1.6"%s/>', table.concat(points, " "),
            view.color(s[1]), dash ~= "" and string.format(' stroke-dasharray="%s"', dash) or "")
        for _, r in ipairs(s) do
            page:add('<circle cx="%s" cy="%s" r="2.8" fill="%s"><title>%s</title></circle>', at(px(panel, r.x)),
                at(py(panel, r.y)), view.color(r), safe(tip(r)))
        end
    end
end

function marks.span(page, panel, view)
    local height = panel.h * panel.ys.band * 0.76
    for _, r in ipairs(panel.records) do
        local left, right = px(panel, r.x), px(panel, r.x2)
        local top = panel.y + panel.h * panel.ys.place(r.lane) - height / 2
        page:rect(left, top, math.max(0.4, right - left), height, view.color(r), string.format("%s %.6g to %.6g", tip(r), r.x, r.x2))
        if r.label and width_of(r.label, 9) < right - left - 3 then
            page:text((left + right) / 2, top + height / 2 + 3, r.label, {anchor = "middle", size = 9, color = text_on(view.color(r))})
        end
    end
end

-- ---- axes ---------------------------------------------------------------------------------------

local function draw_y(page, panel, encoding, first)
    if panel.ys.ticks then
        for _, v in ipairs(panel.ys.ticks) do
            local y = py(panel, v)
            page:line(panel.x, y, panel.x + panel.w, y, GRID)
            if first then page:text(panel.x - 6, y + 4, tick_text(v), {anchor = "end"}) end
        end
    elseif first then
        for _, v in ipairs(panel.ys.values) do
            page:text(panel.x - 6, panel.y + panel.h * panel.ys.place(v) + 4, v, {anchor = "end"})
        end
    end
    if first and type(encoding.title) == "string" then
        page:text(panel.x - panel.left + FONT + 3, panel.y + panel.h / 2, encoding.title, {anchor = "middle", turn = -90})
    end
end

local function draw_x(page, panel, encoding)
    local base = panel.y + panel.h
    page:line(panel.x, base, panel.x + panel.w, base, GRAY)
    if panel.xs.ticks then
        for _, v in ipairs(panel.xs.ticks) do
            page:line(px(panel, v), base, px(panel, v), base + 4, GRAY)
            page:text(px(panel, v), base + 16, tick_text(v), {anchor = "middle"})
        end
    else
        for _, v in ipairs(panel.xs.values) do
            local name = type(v) == "number" and tick_text(v) or v
            page:text(px(panel, v), base + 16, name, {anchor = "middle"})
        end
    end
    if type(encoding.title) == "string" then page:text(panel.x + panel.w / 2, base + 33, encoding.title, {anchor = "middle"}) end
end

local function left_margin(scale, titled)
    local widest = 0
    for _, v in ipairs(scale.ticks or scale.values) do
        widest = math.max(widest, width_of(scale.ticks and tick_text(v) or v))
    end
    return widest + 12 + (titled and FONT + 8 or 0)
end

local function draw_legend(page, x, y, color, dashed)
    if color.title then page:text(x, y, color.title, {weight = "bold"}) end
    for i, v in ipairs(color.scale.domain) do
        local top = y + i * 17
        if dashed then
            page:line(x, top - 4, x + 18, top - 4, color.scale.range[i], DASHES[i])
            page:add('<circle cx="%s" cy="%s" r="2.8" fill="%s"/>', at(x + 9), at(top - 4), color.scale.range[i])
        else
            page:rect(x, top - 10, 12, 12, color.scale.range[i])
        end
        page:text(x + (dashed and 24 or 18), top, v)
    end
end

local function legend_width(color)
    local widest = width_of(color.title or "")
    for _, v in ipairs(color.scale.domain) do widest = math.max(widest, width_of(v) + 26) end
    return widest + 24
end

-- ---- figures --------------------------------------------------------------------------------------

local function view_of(figure)
    local view, rule = figure.spec or figure, nil
    if view.layer then
        rule = view.layer[2].encoding.y.datum
        return view.layer[1], view, rule
    end
    return view, view, nil
end

local function color_index(encoding)
    local index = {}
    if encoding.color then
        for i, v in ipairs(encoding.color.scale.domain) do index[v] = i end
    end
    return index
end

-- Sums of what is stacked, for the range of the axis.
local function stack_heights(records)
    local sums, out = {}, {}
    for _, r in ipairs(records) do
        local key = tostring(r.column) .. "\0" .. tostring(r.x)
        if not sums[key] then
            sums[key] = {y = 0.0}
            out[#out + 1] = sums[key]
        end
        sums[key].y = sums[key].y + r.y
    end
    return out, sums
end

local function normalized(records)
    local _, sums = stack_heights(records)
    local out = {}
    for i, r in ipairs(records) do
        local copy = {}
        for k, v in pairs(r) do copy[k] = v end
        local sum = sums[tostring(r.column) .. "\0" .. tostring(r.x)].y
        copy.y = sum > 0 and r.y / sum or 0
        out[i] = copy
    end
    return out
end

local function pick(records, column)
    local out = {}
    for _, r in ipairs(records) do
        if r.column == column then out[#out + 1] = r end
    end
    return out
end

-- The scales of all panels, so that they can be compared.
local function scales(encoding, mark, records, rule)
    local heights = encoding.y.stack and stack_heights(records) or records
    if rule then
        heights = table.move(heights, 1, #heights, 1, {})
        heights[#heights + 1] = {y = rule}
    end
    local ys = scale_of(encoding.y, heights, {"y"}, true, 6)
    local xs = scale_of(encoding.x, records, {"x", "x2"}, mark == "span", 8)
    return xs, ys
end

-- The SVG of a figure that plot has made.
function M.draw(figure)
    local view, inner, rule = view_of(figure)
    local encoding, page = view.encoding, new_page()
    local mark = encoding.x2 and "span" or view.mark.type
    local draw_mark = marks[mark] or error("svg: there is no mark " .. tostring(mark), 2)
    local records = figure.data.values
    if encoding.y.stack == "normalize" then records = normalized(records) end
    local index = color_index(encoding)
    local xs, ys = scales(encoding, mark, records, rule)
    local columns = figure.facet and figure.facet.column.sort or {false}
    local left, top = left_margin(ys, type(encoding.y.title) == "string"), 12 + (figure.title and 22 or 0) + (figure.facet and 18 or 0)
    local w, h, x = inner.width, inner.height, left
    local how = {stack = encoding.y.stack, offsets = encoding.xOffset and bands(encoding.color.scale.domain)}
    function how.color(r) return encoding.color and encoding.color.scale.range[index[r.color]] or "#0072B2" end
    function how.dash(r) return encoding.color and DASHES[index[r.color]] or "" end
    for i, column in ipairs(columns) do
        local panel = {x = x, y = top, w = w, h = h, xs = xs, ys = ys, left = left,
            records = figure.facet and pick(records, column) or records}
        draw_y(page, panel, encoding.y, i == 1)
        draw_mark(page, panel, how)
        if rule then page:line(x, py(panel, rule), x + w, py(panel, rule), INK, "4 4") end
        draw_x(page, panel, encoding.x)
        if figure.facet then page:text(x + w / 2, top - 6, column, {anchor = "middle", weight = "bold"}) end
        x = x + w + 28
    end
    if figure.title then page:text(left, 18, figure.title, {size = 14, weight = "bold"}) end
    local total = x
    if encoding.color then
        draw_legend(page, x + 4, top + 8, encoding.color, mark == "line")
        total = x + legend_width(encoding.color)
    end
    local legend_height = encoding.color and top + 24 + 17 * #encoding.color.scale.domain or 0
    return page:finish(math.max(total, figure.title and left + width_of(figure.title, 14) or 0),
        math.max(top + h + 44, legend_height))
end

-- ---- graphs -----------------------------------------------------------------------------------------

local STEP_Y, RADIUS = 56, 15

-- A node comes after its parents and after the one before it in its stream.
local function rows_of(nodes, edges)
    local parents, row, last, deepest = {}, {}, {}, 0
    for _, e in ipairs(edges) do
        parents[e.to] = parents[e.to] or {}
        table.insert(parents[e.to], e.from)
    end
    for _, n in ipairs(nodes) do
        local r = (last[n.stream] or 0) + 1
        for _, p in ipairs(parents[n.id] or {}) do r = math.max(r, (row[p] or 0) + 1) end
        row[n.id], last[n.stream] = r, r
        deepest = math.max(deepest, r)
    end
    return row, deepest
end

-- A straight line in one column if there is nothing between, else a curve beside it.
local function draw_edge(page, a, b, waits)
    local bend = a.x == b.x and b.row - a.row > 1
    local mid = (a.y + b.y) / 2
    local path
    if bend then
        path = string.format("M%s %s C%s %s %s %s %s %s", at(a.x + 10), at(a.y + 11), at(a.x + 44), at(a.y + 30), at(b.x + 44),
            at(b.y - 30), at(b.x + 12), at(b.y - 13))
    else
        path = string.format("M%s %s C%s %s %s %s %s %s", at(a.x), at(a.y + RADIUS), at(a.x), at(mid + 4), at(b.x), at(mid - 4),
            at(b.x), at(b.y - RADIUS - 3))
    end
    page:add('<path d="%s" fill="none" stroke="%s" stroke-width="1.3"%s marker-end="url(#arrow)"/>', path, GRAY,
        waits and ' stroke-dasharray="4 3"' or "")
end

-- o = {nodes = {{id, label, stream}, ...} in the order of the calls, edges = {{from, to}, ...}, title =, colors = {...}}.
-- A dashed arrow leads from one stream to another, where an event is waited for.
function M.graph(o)
    local page, row, deepest = new_page(), rows_of(o.nodes, o.edges)
    local columns, names, place, top, step = {}, {}, {}, 40, 92
    for _, n in ipairs(o.nodes) do
        step = math.max(step, 2 * RADIUS + 10 + width_of(n.label))
        if not columns[n.stream] then
            names[#names + 1] = n.stream
            columns[n.stream] = #names
        end
    end
    for _, n in ipairs(o.nodes) do
        place[n.id] = {x = step * (columns[n.stream] - 0.5) + 8, y = top + STEP_Y * (row[n.id] - 0.5), row = row[n.id],
            stream = n.stream}
    end
    page:add('<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">' ..
        '<path d="M0 0 L8 4 L0 8 z" fill="%s"/></marker></defs>', GRAY)
    for _, e in ipairs(o.edges) do
        local a, b = place[e.from], place[e.to]
        if a and b then draw_edge(page, a, b, a.stream ~= b.stream) end
    end
    for _, n in ipairs(o.nodes) do
        local p, colors = place[n.id], o.colors
        page:add('<circle cx="%s" cy="%s" r="%d" fill="%s"><title>%s</title></circle>', at(p.x), at(p.y), RADIUS,
            colors[(columns[n.stream] - 1) % #colors + 1], safe("stream " .. tostring(n.stream)))
        page:text(p.x + RADIUS + 3, p.y + 4, n.label)
    end
    for i, name in ipairs(names) do
        page:text(step * (i - 0.5) + 8, top - 2, "stream " .. tostring(name), {anchor = "middle", color = GRAY})
    end
    if o.title then page:text(8, 18, o.title, {size = 14, weight = "bold"}) end
    local last = 0
    for _, n in ipairs(o.nodes) do last = math.max(last, place[n.id].x + RADIUS + 8 + width_of(n.label)) end
    return page:finish(math.max(last + 4, o.title and 16 + width_of(o.title, 14) or 0), top + STEP_Y * deepest + 8)
end

return M
