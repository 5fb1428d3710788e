-- The record of runs: every experiment and every point of a grid has a row in a registry, an
-- SQLite file. The default is runs/registry.sqlite; PUSHDOWN_REGISTRY names another file, or is 'off'.
--
--   local record = runs.record{ experiment = 'demo', folder = 'runs/demo/1', options = { ... } }
--   record:finish{ result = { loss = 0.1 } }
--
-- pushdown.experiment does this for every script that it starts.
local complete = require 'pushdown.store.complete'
local files = require 'pushdown.files'
local interval = require 'pushdown.statistics.interval'
local metric = require 'pushdown.statistics.metric'
local metrics_of = require 'pushdown.store.metrics'
local pd = require 'pushdown'
local plan = require 'pushdown.store.plan'
local provenance = require 'pushdown.store.provenance'
local record = require 'pushdown.store.record'
local statistics = require 'pushdown.statistics'
local table_of = require 'pushdown.text.table'
local utc = require 'pushdown.text.utc'

local M = {}

local batch = 100  -- runs that are entered in one transaction

-- The path of the registry, or nil if runs are not recorded.
function M.path() return record.path() end

-- runs.open(path, options) -> Registry: opens the registry at the path, by default runs.path().
function M.open(path, options) return record.open(path, options) end

-- runs.record{options} -> Record: locks the folder for this process and enters the run in the registry.
-- record:finish{status=, result=, message=, seconds=} records its end, record:update(fields) replaces fields of its
-- row.
function M.record(fields) return record.record(fields) end

-- The numbers of every epoch of the training in a folder, in order, read from its metrics; empty if no epoch was
-- finished. Warns of damaged lines and leaves their epochs out.
function M.history(folder) return metrics_of.epochs(folder) end

-- The number by which results are compared by default: its key, or nil.
function M.metric(result)
  local names = {}
  for key, value in pairs(result) do
    if type(value) == 'number' and not key:find '^train_' then names[#names + 1] = key end
  end
  return metric.main(names)
end

-- A run that is marked as running but has no process any more is lost.
local function note_loss(row)
  if row.status == 'running' and pd.process.locked(row.folder) == false then row.status = 'lost' end
end

-- runs.find(filter, path) -> rows of the registry, see Registry:find; none if there is no registry.
-- A run that is marked as running but has no process any more gets the status 'lost'. 'running' in a
-- filter means runs that have a process.
function M.find(filter, path)
  path = path or M.path()
  if not path or not files.exists(path) then return {} end
  local asked, wanted = {}, nil
  for key, value in pairs(filter or {}) do asked[key] = value end
  if asked.status then
    wanted = {}
    local statuses = {}
    for _, status in ipairs(type(asked.status) == 'table' and asked.status or { asked.status }) do
      wanted[status] = true
      statuses[#statuses + 1] = status == 'lost' and 'running' or status
    end
    asked.status = statuses
    asked.limit = nil  -- lost runs are only known afterwards
  end
  local rows = {}
  for _, row in ipairs(M.open(path, { must_exist = true }):find(asked)) do
    note_loss(row)
    if filter and filter.limit and #rows == filter.limit then break end
    if not wanted or wanted[row.status] then rows[#rows + 1] = row end
  end
  return rows
end

local files_of_runs = { ['experiment.json'] = true, ['config.json'] = true, ['result.json'] = true }

-- The fields of a run without a record, from the other files of its folder.
local function without_record(folder)
  local row = { folder = folder }
  complete(row)
  local starts = (provenance.read(folder) or { starts = {} }).starts
  local first, last = starts[1] or {}, starts[#starts] or {}
  row.attempts, row.created, row.started = #starts, utc(first.started), utc(last.started)
  row.finished, row.host = utc(last.finished), type(last.machine) == 'table' and last.machine.host or nil
  row.status = row.result and 'done' or pd.process.locked(folder) and 'running' or 'interrupted'
  return row
end

-- An error of the core without the place of the call.
local function reason(problem) return (tostring(problem):gsub('^[^%s:]*:%d+: ', '')) end

-- Adds the runs in and below a folder to `rows`, by folder, and to `refused` the reasons why others are left out. A run
-- without a record also has the fields of the plan of its grid.
local function add_runs_below(top, rows, refused)
  local grids, recorded = {}, {}
  for _, path in ipairs(pd.file.files(top)) do
    local name = files.name(path)
    local folder = (top .. '/' .. path):sub(1, -#name - 2)
    local is_run = name == 'run.json' or files_of_runs[name] and pd.file.kind(folder .. '/run.lock') == 'file'
    if is_run and not rows[folder] and not recorded[folder] then
      recorded[folder] = pd.file.kind(folder .. '/run.json') ~= nil
      local ok, row = pcall(recorded[folder] and pd.registry.record or without_record, folder)
      if ok then row.folder, rows[folder] = folder, row else refused[#refused + 1] = reason(row) end
    elseif name == plan.file then
      grids[#grids + 1] = folder
    end
  end
  for _, grid in ipairs(grids) do
    for _, run in ipairs(plan.read(grid) or {}) do
      local folder = grid .. '/' .. run.folder
      if not recorded[folder] then
        rows[folder] = rows[folder] or { folder = folder }
        for key, value in pairs(run) do
          if rows[folder][key] == nil then rows[folder][key] = value end
        end
      end
    end
  end
end

-- The runs in and below these folders, the oldest first, by their records in their folders, and a list of reasons why
-- others are left out.
local function runs_below(folders)
  local by_folder, rows, refused = {}, {}, {}
  for _, folder in ipairs(folders) do add_runs_below(pd.file.real_path(folder), by_folder, refused) end
  for _, row in pairs(by_folder) do rows[#rows + 1] = row end
  table.sort(rows, function(a, b)
    local one, two = a.created or 0, b.created or 0
    if one ~= two then return one < two end
    return a.folder < b.folder
  end)
  return rows, refused
end

-- runs.below(folder) -> rows, list of reasons: the runs in and below a folder without any registry, the oldest first.
-- The reasons tell which runs were left out.
function M.below(folder)
  local rows, refused = runs_below { folder }
  for _, row in ipairs(rows) do note_loss(row) end
  return rows, refused
end

-- runs.index(folders, path) -> number of runs, list of reasons: enters the runs in and below these folders in a
-- registry, by their records in their folders. The reasons tell which runs were left out.
function M.index(folders, path)
  local rows, refused = runs_below(folders)
  local registry, count = M.open(path), #rows
  for first = 1, #rows, batch do
    local some = { unpack(rows, first, math.min(first + batch - 1, #rows)) }
    if not pcall(registry.add, registry, some) then
      for _, row in ipairs(some) do
        local ok, problem = pcall(registry.add, registry, { row })
        if not ok then count, refused[#refused + 1] = count - 1, ('%s: %s'):format(row.folder, reason(problem)) end
      end
    end
  end
  return count, refused
end

-- runs.value(row, key): a column, an option or a number of the result, such as 'seed', 'learning_rate',
-- 'options.size', 'result.loss' or 'loss'; nil if the run has none.
function M.value(row, key)
  local options, result = row.options or {}, row.result or {}
  local part, name = key:match('^(%w+)%.(.+)$')
  if part == 'options' then return options[name] end
  if part == 'result' then return result[name] end
  if row[key] ~= nil then return row[key] end
  if options[key] ~= nil then return options[key] end
  return result[key]
end

-- The rows as a table for a terminal or a file.
local function rows_text(rows)
  if #rows == 0 then return 'No runs are recorded here.' end
  local lines = {}
  for i, row in ipairs(rows) do
    local key = row.result and M.metric(row.result)
    lines[i] = { row.id, row.grid or row.experiment or row.folder, row.point or '', row.status,
      row.started and os.date('%Y-%m-%d %H:%M', math.floor(row.started)) or '',
      key and ('%s %.5g'):format(key:gsub('_', ' '), row.result[key]) or '' }
  end
  local shown = table_of.new { columns = { 'id', 'run', 'point', 'status', 'started', 'result' }, rows = lines }
  return (shown:text(pd.process.columns 'stdout'):gsub('\n$', ''))
end

-- runs.list(filter, path) -> rows of the registry as of runs.find, the newest first, which the prompt and print show as
-- a table. `pushdown runs list` and :runs have more columns and options.
function M.list(filter, path)
  local asked = { descending = true }
  for key, value in pairs(filter or {}) do asked[key] = value end
  return setmetatable(M.find(asked, path), { __tostring = rows_text })
end

local no_results = { seed = true, restart = true }

-- runs.result_keys(rows) -> list, set: the numbers in the results of the runs, without those that only repeat an
-- option, the most informative first.
function M.result_keys(rows)
  local known, keys = {}, {}
  for _, row in ipairs(rows) do
    for key, value in pairs(row.result or {}) do
      local option = (row.options or {})[key]
      if not known[key] and type(value) == 'number' and option ~= value and not no_results[key] then
        known[key], keys[#keys + 1] = true, key
      end
    end
  end
  return metric.sorted(keys), known
end

-- The points of the runs, with the finite values of the metrics in their finished runs.
local function points_of(rows, keys)
  local points, known = {}, {}
  for _, row in ipairs(rows) do
    if row.grid then
      local folder = row.folder:gsub('/[^/]*$', '')
      local point = known[folder]
      if not point then
        point = { grid = row.grid, point = row.point, folder = folder:gsub('/[^/]*$', ''), runs = 0, done = 0,
          failed = 0, values = {}, metrics = {} }
        for _, key in ipairs(keys) do point.values[key] = {} end
        known[folder] = point
        points[#points + 1] = point
      end
      point.runs = point.runs + 1
      if row.status == 'failed' then point.failed = point.failed + 1 end
      if row.status == 'done' then
        point.done = point.done + 1
        for _, key in ipairs(keys) do
          local value = (row.result or {})[key]
          if metric.is_finite(value) then table.insert(point.values[key], value) end
        end
      end
    end
  end
  return points
end

-- runs.by_point(rows, metrics, better) -> list of {grid, folder, point, runs, done, failed, metrics = {[key] =
-- {count, mean, deviation, interval, least, greatest, better, best}}}, sorted by the mean of the first metric, the best
-- first; points without it come last. The name of a metric says which values are better: 'lower' of losses,
-- cross-entropies, differences, perplexities and errors, 'higher' of accuracies, scores and the like. `better` says it
-- for the first metric, and for others whose names do not. Where neither says it, better and best are nil, and the
-- points are sorted from the least mean on.
-- deviation: the sample standard deviation; interval: half the width of the 95 % confidence interval of the mean
-- (Student's t). count: the finished runs with a finite value. Runs in different folders are different points, so that
-- a small grid and a full one never mix.
function M.by_point(rows, keys, better)
  local points, ways = points_of(rows, keys), {}
  for k, key in ipairs(keys) do ways[key] = k == 1 and better or metric.better(key) or better end
  for _, point in ipairs(points) do
    for key, values in pairs(point.values) do
      if #values > 0 then
        local mean, deviation, least, greatest = statistics(values)
        local best
        if ways[key] then best = ways[key] == 'higher' and greatest or least end
        point.metrics[key] = { count = #values, mean = mean, deviation = deviation,
          interval = interval(#values, deviation), least = least, greatest = greatest, better = ways[key], best = best }
      end
    end
    point.values = nil
  end
  local function mean_of(point) return (point.metrics[keys[1]] or {}).mean end
  table.sort(points, function(a, b)
    if a.grid ~= b.grid then return a.grid < b.grid end
    if a.folder ~= b.folder then return a.folder < b.folder end
    local one, two = mean_of(a), mean_of(b)
    if one ~= two then return metric.is_better(one, two, ways[keys[1]]) end
    return a.point < b.point
  end)
  return points
end

return M
