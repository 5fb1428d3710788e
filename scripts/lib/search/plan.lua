-- The options of a search, and the settings that a continued search must repeat.
local files = require 'pushdown.files'
local grid_rows = require 'pushdown.grid.rows'
local join = require 'pushdown.experiment'.join_options
local json = require 'pushdown.json'
local metric_of = require 'pushdown.statistics.metric'
local pd = require 'pushdown'
local store = require 'pushdown.store.folder'

local M = {}

function M.fail(...) error('[search.run] ' .. (...):format(select(2, ...)), 0) end
local fail = M.fail

local shared = {
  { 'folder', nil, 'folder of the run folders, the decisions and the table', type = 'text', required = true },
  { 'restarts', nil, 'number of restarts, also of each point', type = 'integer', minimum = 1 },
  { 'rungs', {}, 'epochs after which only the best candidates go on, growing', type = 'list of integers',
    minimum = 1 },
  { 'keep', 2, 'one in this number of candidates goes on after a rung; or their numbers, one for each rung',
    type = 'number or list of integers', minimum = 1 },
  { 'solved', nil, 'a candidate that reaches this ends the search (a restart in its last stage)', type = 'number' },
  { 'metric', nil, 'name of the number of an epoch or of a result that decides, or a function of it that returns the '
    .. 'number', type = 'text or function' },
  { 'better', nil, 'which numbers are better; the default: what the name of the metric says', type = 'text',
    choices = { 'lower', 'higher' } },
  { 'name', nil, 'name of the search, and of the grid of a script', type = 'text' },
}
local of_make = {
  { 'make', nil, 'make(restart, folder) returns a trainer with that run folder', type = 'function' },
  { 'together', nil, 'restarts that train side by side; the default: all', type = 'integer', minimum = 1 },
}
-- Those of a grid that are not among the shared ones, but failed runs are never errors and searches have an end.
local of_script = { { 'over', 'epochs', 'the option of the script that the rungs set; it may change when a run is '
  .. 'resumed, and its end is fixed[over] or its default' } }
local optional = { script = true, points = true }
local known = { failures = true, enough = true }
for _, row in ipairs(shared) do known[row[1]] = true end
for _, row in ipairs(join(grid_rows.grid, grid_rows.call)) do
  if optional[row[1]] then row = { row[1], nil, row[3], type = row.type } end
  if not known[row[1]] then of_script[#of_script + 1] = row end
end

local resolve = pd._options.declare('search.run', shared, of_make, of_script)

-- plan.options(given) -> the options of a search. Raises an error if one is wrong.
function M.options(given)
  local options = resolve(given)
  if (given.make == nil) == (given.script == nil) then
    fail 'expected make, a function that returns a trainer, or script, the path of a script to train'
  end
  for _, row in ipairs(given.make and of_script or of_make) do
    if given[row[1]] ~= nil then
      fail("option '%s' is for searches with %s", row[1], given.make and 'script' or 'make')
    end
  end
  local needed = given.script and 'name' or 'restarts'
  if given[needed] == nil then fail("option '%s' is missing", needed) end
  for k, epochs in ipairs(options.rungs) do
    if k > 1 and epochs <= options.rungs[k - 1] then
      fail('rungs must be growing integers from 1, got %s', json.encode(json.list(options.rungs)))
    end
  end
  local metric = options.metric
  if metric and not options.better then
    options.better = type(metric) == 'string' and metric_of.better(metric) or nil
    if not options.better then
      fail("option 'better' is missing: expected 'lower' or 'higher', because %s does not say which values are better",
        type(metric) == 'string' and ("the name '%s'"):format(metric) or 'a function')
    end
  end
  return options
end

-- plan.counts(total, rungs, keep) -> the number of candidates that go on after each rung.
function M.counts(total, rungs, keep)
  local counts = {}
  if type(keep) == 'number' then
    if keep <= 1 then fail('keep must be larger than 1, got %s', tostring(keep)) end
    for k = 1, #rungs do counts[k] = math.max(1, math.floor((counts[k - 1] or total) / keep)) end
    return counts
  end
  if #keep ~= #rungs then fail('keep must have a number for each of the %d rungs, got %d', #rungs, #keep) end
  for k, count in ipairs(keep) do
    local before = keep[k - 1] or total
    if count > before then fail('keep[%d] must be an integer from 1 to %d, got %s', k, before, tostring(count)) end
  end
  return keep
end

-- plan.read(path, plan) -> the state of a search that was made by this plan, or nil if there is none.
function M.read(path, plan)
  if not files.exists(path) then return nil end
  local kept = store.read_json(path)
  if not kept or type(kept.plan) ~= 'table' then
    fail("'%s' is not the state of a search; remove it to start a new one", path)
  end
  local keys, differ = {}, {}
  for _, part in ipairs { kept.plan, plan } do
    for key in pairs(part) do keys[key] = true end
  end
  for key in pairs(keys) do
    local before, now = kept.plan[key], plan[key]
    if json.encode(before == nil and json.null or before) ~= json.encode(now == nil and json.null or now) then
      differ[#differ + 1] = key
    end
  end
  table.sort(differ)
  if #differ > 0 then
    fail("'%s' is the state of another search: its %s differ; choose another folder, or remove the file to start again",
      path, table.concat(differ, ', '))
  end
  return kept
end

return M
