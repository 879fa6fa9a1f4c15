-- The contention-free time: the longest path of the parallel run's graph with the times that its elements have in a serial run. The
-- same as heddle compare works out (host/results/README.md), from two rows of a sweep.

local function by_id(a, b) return a.id < b.id end

-- The nodes and kernels of region main's first iteration.
local function region_of(row)
    local nodes, spans = {}, {}
    for _, node in ipairs(row.dag.nodes) do
        if node.region == "main" and node.iteration == 0 then nodes[#nodes + 1] = node end
    end
    table.sort(nodes, by_id)
    local function add(span, id, kernel)
        local s = spans[id] or {queued = math.huge, finish = 0}
        s.queued = math.min(s.queued, span.queued_ns)
        if kernel then s.finish = math.max(s.finish, span.end_ns) end
        spans[id] = s
    end
    for _, kernel in ipairs(row.kernels) do
        if kernel.region == "main" and kernel.iteration == 0 then add(kernel, kernel.id, true) end
    end
    for _, transfer in ipairs(row.transfers) do
        if transfer.region == "main" and transfer.iteration == 0 and transfer.node then add(transfer, transfer.node) end
    end
    return nodes, spans
end

-- From the end of the kernel before it to its own; after an access of the host from where it was handed in.
local function element_times(row)
    local nodes, spans = region_of(row)
    local first = row.critical_path[1]
    local times, from, after_host = {}, first and first.start_ns or 0.0, false
    for _, node in ipairs(nodes) do
        local span = spans[node.id]
        if node.kind ~= "kernel" then
            after_host = true
        elseif span and span.finish > 0 then
            if #times > 0 and after_host then from = span.queued end
            times[#times + 1] = math.max(0, span.finish - from)
            from, after_host = span.finish, false
        end
    end
    return times
end

local function parents_of(row)
    local parents = {}
    for _, edge in ipairs(row.dag.edges) do
        parents[edge.to] = parents[edge.to] or {}
        table.insert(parents[edge.to], edge.from)
    end
    return parents
end

-- In nanoseconds; nil if the rows do not have the same kernels. Both need detail = "kernels".
return function(serial, parallel)
    local times, parents = element_times(serial), parents_of(parallel)
    local done, after_host, last, kernel = {}, 0.0, 0.0, 0
    local nodes = region_of(parallel)
    for _, node in ipairs(nodes) do
        local finish = after_host
        for _, parent in ipairs(parents[node.id] or {}) do finish = math.max(finish, done[parent] or 0) end
        if node.kind == "kernel" then
            kernel = kernel + 1
            if not times[kernel] then return nil end
            finish = finish + times[kernel]
        else
            after_host = finish
        end
        done[node.id], last = finish, math.max(last, finish)
    end
    if kernel ~= #times then return nil end
    return last
end
