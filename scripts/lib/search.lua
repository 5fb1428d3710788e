-- Searches: several restarts of a training, or several points of a grid, of which only the best go on (successive
-- halving; Jamieson and Talwalkar, 2016), until one has learned the task.
--
--   local found = pd.search.run{ folder = 'runs/reversal', restarts = 12, rungs = { 4, 8, 12 }, solved = 0.01,
--     make = function(restart, folder)
--       return pd.train.trainer{ model = new_model(restart), train = train, valid = valid, run_folder = folder }
--     end }
--   print(found.restart, found.value, found.solved, found.folder)
--
--   local found = pd.search.run{ name = 'rates', folder = 'runs/rates', script = 'train.lua', rungs = { 3, 9 },
--     keep = 3, fixed = { epochs = 27 }, points = pd.grid.random{ count = 20, options = { ... } }, workers = 8 }
--
-- The first form trains side by side on the threads of this process (pd.train.together), the second one in the
-- processes or Slurm tasks of a grid (pd.grid.run). The folder has the run folders, search.json with the decisions so
-- far, and a table with a row for each candidate (search.txt, .csv, ...). A search that was stopped in any way
-- continues when it is started again.
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local live = require 'pushdown.text.live'
local metric_of = require 'pushdown.statistics.metric'
local pd = require 'pushdown'
local plan = require 'pushdown.search.plan'
local table_of = require 'pushdown.text.table'

local M = {}

local fail = plan.fail

local Search = {}
Search.__index = Search

-- The number of an epoch or a result by which candidates are compared, or nil and a reason if it is not finite. where:
-- their name in a message.
function Search:value_of(numbers, where)
  local metric = self.metric
  local value
  if type(metric) == 'function' then value = metric(numbers) else value = numbers[metric] end
  if type(value) ~= 'number' then
    fail("%s has no number %s", where, type(metric) == 'string' and "'" .. metric .. "'" or 'to compare; set metric')
  end
  if not metric_of.is_finite(value) then return nil, ('the value of %s is %s'):format(where, tostring(value)) end
  return value
end

function Search:has_solved(value)
  if not self.solved or not value then return false end
  if self.better == 'higher' then return value >= self.solved end
  return value <= self.solved
end

-- Whether candidate a is better than b.
function Search:order(a, b)
  if (a.error == nil) ~= (b.error == nil) then return a.error == nil end
  if (a.solved or false) ~= (b.solved or false) then return a.solved end
  if a.value ~= b.value then return metric_of.is_better(a.value, b.value, self.better) end
  return a.place < b.place
end

-- Sorts the candidates, the best ones first. One whose value is not finite has failed.
function Search:sort(field)
  for _, one in ipairs(field) do one.error = one.error or one.undefined end
  table.sort(field, function(a, b) return self:order(a, b) end)
end

local kept_fields = { 'restart', 'point', 'epochs', 'stage', 'value', 'dropped', 'error', 'solved' }

-- Takes over the decisions of an interrupted search with the same plan.
function Search:restore()
  local kept = plan.read(self.folder .. '/search.json', self.plan)
  for k, row in ipairs(kept and kept[self.kind .. 's'] or {}) do
    local one = self.all[k]
    for _, key in ipairs(kept_fields) do
      if one[key] == nil and (key ~= 'error' or row.dropped) then one[key] = row[key] end
    end
    one.epochs = row.epochs or 0
  end
end

-- Writes the decisions and the table.
function Search:write(winner)
  local list, rows, staged = {}, {}, false
  for k, one in ipairs(self.all) do
    list[k] = {}
    for _, key in ipairs(kept_fields) do list[k][key] = one[key] end
    staged = staged or one.stage ~= nil
    rows[k] = { [self.kind] = one[self.kind], [self.over] = one.epochs, stage = one.stage, value = one.value or '–',
      outcome = one == winner and (one.solved and 'solved' or 'best') or one.error and 'failed' or
      one.dropped and ('left out after %s %d'):format(self.over:gsub('s$', ''), one.dropped) or '' }
  end
  local state = { plan = self.plan, [self.kind .. 's'] = json.list(list) }
  files.write(self.folder .. '/search.json', json.encode(state, true) .. '\n')
  local columns = { self.kind, self.over, { 'value', format = '%.4f' }, 'outcome' }
  if staged then table.insert(columns, 3, 'stage') end
  self.table = table_of.new { columns = columns, rows = rows, title = self.name }
  self.table:save(self.folder .. '/search')
end

-- All candidates, the best ones first: those that were left out later before those that were left out earlier, and
-- failed ones last.
function Search:ranked()
  local list = { unpack(self.all) }
  table.sort(list, function(a, b)
    local one, two = a.dropped or math.huge, b.dropped or math.huge
    if (a.error == nil) == (b.error == nil) and one ~= two then return one > two end
    return self:order(a, b)
  end)
  return list
end

-- Leaves out all but the best candidates of the sorted field.
function Search:cut(field, epochs, kept)
  while kept > 1 and field[kept].error do kept = kept - 1 end
  local left = {}
  for k = 1, kept do left[k] = tostring(field[k][self.kind]) end
  pd._live.tell(('%s%d of %d %ss go on after %s %s: %s'):format(self.name and self.name .. ': ' or '', kept, #field,
    self.kind, self.over:gsub('s$', ''), epochs, table.concat(left, ', ')))
  for k = #field, kept + 1, -1 do
    field[k].dropped, field[k].trainer = epochs, nil
    if self.left then self:left(field[k]) end
    field[k] = nil
  end
  self:write()
end

-- Trains the candidates and leaves out the worse ones. Returns those that are left at the end, or that have all failed,
-- the best one first.
function Search:halve()
  local field = {}
  for _, one in ipairs(self.all) do
    if not one.dropped then field[#field + 1] = one end
  end
  for k, epochs in ipairs(self.rungs) do
    if #field > self.keep[k] then
      self:train(field, epochs)
      self:sort(field)
      if field[1].solved or field[1].error then return field end
      self:cut(field, epochs, self.keep[k])
    end
  end
  self:train(field)
  self:sort(field)
  return field
end

-- Returns the candidates that are left at the end, the best one first. If the values of all that went on have become
-- undefined, the best one of those that were left out goes on in their place.
function Search:reduce()
  while true do
    local field, spare = self:halve(), self:ranked()[1]
    if not field[1].undefined or spare.error then return field end
    for _, one in ipairs(field) do one.dropped = one.epochs end
    spare.dropped = nil
    pd._live.tell(('%s%s %s goes on again, because %s'):format(self.name and self.name .. ': ' or '', self.kind,
      tostring(spare[self.kind]), field[1].undefined))
    self:write()
  end
end

-- search.run{options} -> table: with make, trains restarts 1 to `restarts` side by side, or `together` at a time. With
-- script, trains a script as grid.run does, with its options. The candidates are then the points, compared by the mean
-- over their restarts, or without points the restarts.
--
-- At the epochs `rungs` only the best candidates go on: half of them, one in `keep`, or the numbers of the list `keep`.
-- The search ends when a candidate reaches `solved`, or when the last ones have finished. The default of metric is what
-- the best epoch has reached on validation strings, the cross-entropy above the lower bound or 1 - accuracy; of a
-- result, the number that `pushdown runs list` shows. The name of a metric says which values are better, as in
-- runs.by_point, or else `better`. A candidate whose value is NaN or infinite has failed.
--
-- The result has restart, folder, value and solved of the best candidate, rows with all of them, ranked with the same
-- from the best one on, and a table of them; in this process also its trainer, whose model has the parameters to which
-- the value belongs (without a metric of your own, those of the best epoch), with points its point (the table of
-- options), where restart is the best one of that point.
function M.run(given)
  local options = plan.options(given)
  local form = options.make and require 'pushdown.search.here' or require 'pushdown.search.workers'
  local self = setmetatable({ folder = options.folder, name = options.name, solved = options.solved,
    better = options.better, over = options.over, rungs = options.rungs },
    { __index = function(_, key) return form[key] or Search[key] end })
  self.metric = options.metric or self.default_metric
  self:prepare(options)
  self.keep = plan.counts(#self.all, self.rungs, options.keep)
  for place, one in ipairs(self.all) do one.place, one.epochs = place, 0 end
  files.make_folder(self.folder)
  if options.changed ~= 'rerun' then self:restore() end
  local field
  pd.log.if_interrupted(("pd.search.run with the same options continues the search in '%s'"):format(self.folder),
    function()
      live.during(self.name or ('%d %ss'):format(#self.all, self.kind), function() field = self:reduce() end)
    end)
  local best = field[1]
  if best.error then
    fail('every %s%s has failed; the last error is: %s', self.kind, #field < #self.all and ' that went on' or '',
      best.error)
  end
  self:write(best)
  return self:result(best)
end

return M
