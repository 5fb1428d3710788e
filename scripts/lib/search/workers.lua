-- The candidates of a search as runs of a grid: the points, or the restarts of the only point.
local declared_of = require 'pushdown.record.declared'
local fail = require 'pushdown.search.plan'.fail
local grid = require 'pushdown.grid'
local json = require 'pushdown.json'
local metric_of = require 'pushdown.statistics.metric'
local pd = require 'pushdown'
local runs = require 'pushdown.runs'
local store = require 'pushdown.store.folder'

local M = {}

local passed_on = { 'name', 'folder', 'script', 'flags', 'workers', 'executor', 'slurm', 'throttle', 'registry',
  'recorded', 'progress', 'changed', 'seeds' }

-- The value of `over` to which the last candidates train.
local function last_value(over, options, rungs)
  local declared = declared_of(grid.script_path(options.script))
  if not declared.may_change[over] then
    fail("%s must declare the option '%s' with may_change = true, which the rungs set", options.script, over)
  end
  for _, point in ipairs(options.points or {}) do
    if point[over] ~= nil then fail('a point sets %s, which the rungs set', over) end
  end
  local last = (options.fixed or {})[over] or declared.full[over]
  if last <= rungs[#rungs] then
    fail('the rungs must be below %s, the last value of %s (of fixed, or else the default of the script)',
      tostring(last), over)
  end
  return last
end

function M:prepare(options)
  if options.missing == 'leave' then fail "missing = 'leave' trains nothing, but a search has to train" end
  self.call, self.fixed, self.all = { failures = 'report' }, options.fixed, {}
  for _, key in ipairs(passed_on) do self.call[key] = options[key] end
  self.kind, self.repeats = options.points and 'point' or 'restart', options.restarts or 1
  self.last = #self.rungs > 0 and last_value(self.over, options, self.rungs) or (options.fixed or {})[self.over]
  local points = options.points or {}
  if options.points and #points == 0 then fail 'points must be a list of at least one point' end
  for k, point in ipairs(points) do self.all[k] = { point = grid.point_name(point), options = point } end
  for restart = 1, options.points and 0 or self.repeats do self.all[restart] = { restart = restart } end
  local names = json.list {}
  for k in ipairs(points) do names[k] = self.all[k].point end
  self.plan = { name = options.name, rungs = json.list(self.rungs), keep = options.keep, over = self.over,
    last = self.last, better = options.better or 'lower', points = names, restarts = self.repeats,
    solved = options.solved,
    metric = type(options.metric) == 'string' and options.metric or nil,
    seeds = options.seeds ~= 'own' and options.seeds or nil }
end

-- The value of the result in a run folder, or nil and a reason. JSON has null for NaN and infinity.
function M:value_in(folder)
  local result = store.read_json(folder .. '/result.json') or {}
  for key, value in pairs(result) do
    if value == json.null then result[key] = 0 / 0 end
  end
  if not self.metric then
    self.metric = runs.metric(result)
    self.better = self.better or self.metric and metric_of.better(self.metric)
  end
  return self:value_of(result, 'the result of ' .. folder)
end

-- Takes over the results of a candidate, once all its runs have ended; value: that of `over`.
function M:note_one(one, rows, value)
  local sum, count, best, message, undefined = 0, 0, nil, nil, nil
  for _, row in ipairs(rows) do
    if row.status ~= 'done' and row.status ~= 'failed' then return end
    local number
    if row.result then number, undefined = self:value_in(row.folder) end
    message = row.message or undefined or message
    if number then
      sum, count = sum + number, count + 1
      if metric_of.is_better(number, best, self.better) then
        one.restart, best = row.restart, number
      end
    end
  end
  one.value, one.error, one.epochs = nil, count == 0 and message or nil, value
  one.undefined = one.error and message == undefined and undefined or nil
  if count > 0 then one.value = sum / count end
  one.solved = self:has_solved(one.value) or nil
end

-- Takes over the results of all candidates. Returns whether one of them is solved.
function M:note(field, rows, value)
  local rows_of, solved = {}, false
  for _, row in ipairs(rows) do
    local key = row[self.kind]
    rows_of[key] = rows_of[key] or {}
    table.insert(rows_of[key], row)
  end
  for _, one in ipairs(field) do
    self:note_one(one, rows_of[one[self.kind]], value)
    solved = solved or one.solved or false
  end
  return solved
end

-- Trains the field up to this value of `over`, or to the end; returns at once if a candidate is solved.
function M:train(field, value)
  for _, one in ipairs(field) do
    if one.solved then return end
  end
  value = value or self.last
  local call = { points = {}, fixed = { [self.over] = value }, restarts = {} }
  for key, option in pairs(self.call) do call[key] = option end
  for key, option in pairs(self.fixed or {}) do
    if call.fixed[key] == nil then call.fixed[key] = option end
  end
  for k, one in ipairs(field) do
    if one.options then call.points[k] = one.options else call.restarts[k] = one.restart end
  end
  if self.kind == 'point' then call.restarts = self.repeats else call.points = { {} } end
  if self.solved then call.enough = function(rows) return self:note(field, rows, value) end end
  pd._live.tell(('%s: %d %s%s%s'):format(self.name, #field, self.kind, #field == 1 and '' or 's',
    value and (' up to %s = %s'):format(self.over, tostring(value)) or ''))
  self:note(field, grid.run(call), value)
end

function M:result(best)
  local point = best.point or grid.point_name {}
  return { point = best.options, restart = best.restart, folder = grid.run_folder(self.folder, point, best.restart),
    value = best.value, solved = best.solved or false, rows = self.all, ranked = self:ranked(), table = self.table }
end

return M
