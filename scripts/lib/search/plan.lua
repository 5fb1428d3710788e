-- The options of a search, and the settings that a continued search must repeat.
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local store = require 'pushdown.store.folder'

local M = {}

function M.fail(...) error('[search.run] ' .. (...):format(select(2, ...)), 0) end
local fail = M.fail

local shared = { folder = 'string', restarts = 'number', rungs = 'table', keep = 'number or table', solved = 'number',
  metric = 'string or function', better = 'string', name = 'string' }
local of_form = {
  make = { make = 'function', together = 'number' },
  script = { script = 'string', points = 'table', fixed = 'table', flags = 'table', over = 'string', workers = 'number',
    executor = 'string', slurm = 'table', throttle = 'number', registry = 'string', recorded = 'string',
    progress = 'boolean', changed = 'string', missing = 'string' },
}

local function whole(value, least) return type(value) == 'number' and value % 1 == 0 and value >= least end

local function check_types(given, own)
  local known = {}
  for _, types in ipairs { shared, own } do
    for key in pairs(types) do known[#known + 1] = key end
  end
  table.sort(known)
  for key, value in pairs(given) do
    local expected = shared[key] or own[key]
    if not expected then fail("unknown option '%s'; the options are %s", tostring(key), table.concat(known, ', ')) end
    if not expected:find(type(value), 1, true) then fail('%s must be a %s, got a %s', key, expected, type(value)) end
  end
end

-- plan.check(given): raises an error if an option of a search is wrong.
function M.check(given)
  if type(given) ~= 'table' then fail 'expected a table of options' end
  local both = given.make ~= nil and given.script ~= nil
  if not both then check_types(given, given.make and of_form.make or of_form.script) end
  if both or not given.make and not given.script then
    fail 'expected make, a function that returns a trainer, or script, the path of a script to train'
  end
  for _, key in ipairs { 'folder', given.script and 'name' or 'restarts' } do
    if given[key] == nil then fail('%s is missing', key) end
  end
  if given.restarts and not whole(given.restarts, 1) then
    fail('restarts must be an integer from 1, got %s', tostring(given.restarts))
  end
  if given.together and not whole(given.together, 1) then
    fail('together must be an integer from 1, got %s', tostring(given.together))
  end
  if given.better and given.better ~= 'lower' and given.better ~= 'higher' then
    fail("better must be 'lower' or 'higher', got '%s'", given.better)
  end
  for k, epochs in ipairs(given.rungs or {}) do
    if not whole(epochs, 1) or k > 1 and epochs <= given.rungs[k - 1] then
      fail('rungs must be growing integers from 1, got %s', json.encode(json.list(given.rungs)))
    end
  end
end

-- plan.counts(total, rungs, keep) -> the number of candidates that go on after each rung.
function M.counts(total, rungs, keep)
  keep = keep or 2
  local counts = {}
  if type(keep) == 'number' then
    if keep <= 1 or keep ~= keep then fail('keep must be larger than 1, got %s', tostring(keep)) end
    for k = 1, #rungs do counts[k] = math.max(1, math.floor((counts[k - 1] or total) / keep)) end
    return counts
  end
  if #keep ~= #rungs then fail('keep must have a number for each of the %d rungs, got %d', #rungs, #keep) end
  for k, count in ipairs(keep) do
    local before = keep[k - 1] or total
    if not whole(count, 1) or count > before then
      fail('keep[%d] must be an integer from 1 to %d, got %s', k, before, tostring(count))
    end
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
