-- Successive halving (Jamieson and Talwalkar, 2016): trains all points of a grid for a few epochs, the best of them for
-- more epochs, and so on to the last rung. halving.json in the grid's folder keeps the points that continued, rung by
-- rung, so that a search that was stopped in any way continues when it is started again.
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local runs = require 'pushdown.runs'

local function fail(...) error('[grid.halving] ' .. (...):format(select(2, ...)), 0) end

local own = { rungs = 'table', keep = 'number', over = 'string', metric = 'string', better = 'string' }

local function check_rungs(rungs)
  if type(rungs) ~= 'table' or #rungs < 2 then fail 'rungs must be a list of at least two numbers: {3, 9, 27}' end
  for i, value in ipairs(rungs) do
    if type(value) ~= 'number' or value < 1 or value ~= math.floor(value) or i > 1 and value <= rungs[i - 1] then
      fail('rungs must be growing integers from 1, got %s', json.encode(rungs))
    end
  end
end

-- The options of the search, and the grid.run arguments that all rungs share.
local function read_options(given)
  if type(given) ~= 'table' or given[1] then fail 'expected a table with the options of one grid' end
  local search, call = {}, {}
  for key, value in pairs(given) do
    if own[key] and type(value) ~= own[key] then fail('%s must be a %s, got %s', key, own[key], type(value)) end
    if own[key] then search[key] = value else call[key] = value end
  end
  search.keep, search.over, search.better = search.keep or 3, search.over or 'epochs', search.better or 'lower'
  check_rungs(search.rungs)
  if search.keep <= 1 then fail('keep must be larger than 1, got %s', tostring(search.keep)) end
  if search.better ~= 'lower' and search.better ~= 'higher' then
    fail("better must be 'lower' or 'higher', got '%s'", search.better)
  end
  if type(call.points) ~= 'table' or #call.points < 2 then fail 'points must be a list of at least two points' end
  if type(call.folder) ~= 'string' then fail 'folder is missing' end
  if call.missing == 'leave' then fail "missing = 'leave' trains nothing, but a search has to train" end
  if (call.fixed or {})[search.over] ~= nil then fail('fixed sets %s, which the rungs set', search.over) end
  for _, point in ipairs(call.points) do
    if point[search.over] ~= nil then fail('a point sets %s, which the rungs set', search.over) end
  end
  call.failures = call.failures or 'report'
  return search, call
end

-- The finished rungs in halving.json; empty for a new search. plan: the settings that must be the same.
local function done_before(path, plan)
  if not files.exists(path) then return {} end
  local kept = runs.read_json(path)
  if not kept or type(kept.plan) ~= 'table' or type(kept.rungs) ~= 'table' then
    fail('%s is not the state of a search; remove it to start a new search', path)
  end
  for key, value in pairs(plan) do
    if json.encode(kept.plan[key]) ~= json.encode(value) then
      fail('%s is the state of another search: its %s differ; choose another folder, or remove the file to start again',
        path, key)
    end
  end
  return kept.rungs
end

-- The mean of the metric over the finished restarts of each point, best first. Points without a mean are left out.
local function ranking(rows, search)
  local list, by_name = {}, {}
  for _, row in ipairs(rows) do
    local metric = row.result and (search.metric or runs.metric(row.result))
    local value = metric and row.result[metric]
    if row.result and search.metric and type(value) ~= 'number' then
      fail("the result of %s has no number '%s'", row.folder, search.metric)
    end
    if type(value) == 'number' and value == value then
      local entry = by_name[row.point]
      if not entry then
        entry = { point = row.point, sum = 0, count = 0, place = #list + 1 }
        by_name[row.point], list[#list + 1] = entry, entry
      end
      entry.sum, entry.count = entry.sum + value, entry.count + 1
    end
  end
  for _, entry in ipairs(list) do entry.score = entry.sum / entry.count end
  table.sort(list, function(a, b)
    if a.score ~= b.score then return (a.score < b.score) == (search.better == 'lower') end
    return a.place < b.place
  end)
  return list
end

local function keep_best(rows, search, total, value)
  local ranked, points = ranking(rows, search), {}
  if #ranked == 0 then fail('no point has a result after %s = %d', search.over, value) end
  for i, entry in ipairs(ranked) do points[i] = { point = entry.point, score = entry.score } end
  return { value = value, points = points, kept = math.min(math.max(1, math.floor(total / search.keep)), #points) }
end

-- The rows of one rung: `call` with these points, and `over` set to `value`.
local function run_rung(grid, call, points, over, value)
  local of_run = {}
  for key, option in pairs(call) do of_run[key] = option end
  of_run.points, of_run.fixed = points, { [over] = value }
  for key, option in pairs(call.fixed or {}) do of_run.fixed[key] = option end
  return grid.run(of_run)
end

-- halving(grid, given) -> rows of the last rung. See grid.halving.
return function(grid, given)
  local search, call = read_options(given)
  local path, points, names, by_name = call.folder .. '/halving.json', call.points, json.list {}, {}
  for i, point in ipairs(points) do
    names[i] = grid.point_name(point)
    by_name[names[i]] = point
  end
  local plan = { name = call.name, rungs = json.list(search.rungs), keep = search.keep, over = search.over,
    better = search.better, points = names, restarts = call.restarts or 1, metric = search.metric or json.null }
  local rungs = call.changed == 'rerun' and {} or done_before(path, plan)
  local rows
  for k, value in ipairs(search.rungs) do
    local last = k == #search.rungs
    if last or not rungs[k] then
      print(('Rung %d of %d: %d points, %s = %d'):format(k, #search.rungs, #points, search.over, value))
      rows = run_rung(grid, call, points, search.over, value)
      rungs[k] = keep_best(rows, search, #points, value)
      if last then rungs[k].kept = 1 end
      files.write(path, json.encode({ plan = plan, rungs = json.list(rungs) }, true) .. '\n')
    end
    points = {}
    for i = 1, rungs[k].kept do points[i] = by_name[rungs[k].points[i].point] end
  end
  rows.rungs = rungs
  return rows
end
