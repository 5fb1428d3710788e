-- Searches: several restarts of a training in one process, of which only the best go on, until one has learned the
-- task.
--
--   local found = pd.search.run{ folder = 'runs/reversal', restarts = 12, rungs = { 4, 8, 12 }, solved = 0.01,
--     make = function(restart, folder)
--       return pd.train.trainer{ model = new_model(restart), train = train, valid = valid, run_folder = folder }
--     end }
--   print(found.restart, found.value, found.solved, found.folder)
--
-- The restarts train side by side on the threads of the session (pd.train.together). The folder has a run folder for
-- each restart, search.json with the decisions so far, and a table with a row for each restart (search.txt, .csv, ...).
-- A search that was stopped in any way continues when it is started again.
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local pd = require 'pushdown'
local report = require 'pushdown.report'

local M = {}

local function fail(...) error('[search.run] ' .. (...):format(select(2, ...)), 0) end

local types = { folder = 'string', restarts = 'number', make = 'function', rungs = 'table', keep = 'table',
  solved = 'number', by = 'function', name = 'string' }

local function whole(value, least) return type(value) == 'number' and value % 1 == 0 and value >= least end

local function check_options(given)
  if type(given) ~= 'table' then fail 'expected a table of options' end
  local known = {}
  for key in pairs(types) do known[#known + 1] = key end
  table.sort(known)
  for key, value in pairs(given) do
    if not types[key] then fail("unknown option '%s'; the options are %s", tostring(key), table.concat(known, ', ')) end
    if type(value) ~= types[key] then fail('%s must be a %s, got a %s', key, types[key], type(value)) end
  end
  for _, key in ipairs { 'folder', 'restarts', 'make' } do
    if given[key] == nil then fail('%s is missing', key) end
  end
  if not whole(given.restarts, 1) then fail('restarts must be an integer from 1, got %s', tostring(given.restarts)) end
  local rungs, keep = given.rungs or {}, given.keep
  for k, epochs in ipairs(rungs) do
    if not whole(epochs, 1) or k > 1 and epochs <= rungs[k - 1] then
      fail('rungs must be growing integers from 1, got %s', json.encode(json.list(rungs)))
    end
  end
  if keep and #keep ~= #rungs then fail('keep must have a number for each of the %d rungs, got %d', #rungs, #keep) end
  for k = 1, #rungs do
    local before = k == 1 and given.restarts or keep and keep[k - 1]
    if keep and (not whole(keep[k], 1) or keep[k] > before) then
      fail('keep[%d] must be an integer from 1 to %d, got %s', k, before, tostring(keep[k]))
    end
  end
end

-- The value of an epoch by which restarts are compared; smaller is better: what its best epoch of the current stage has
-- reached.
local function reached(epoch)
  if epoch.best_accuracy then return 1 - epoch.best_accuracy end
  return epoch.best_cross_entropy - (epoch.lower_bound or 0)
end

local Search = {}
Search.__index = Search

function Search:folder_of(restart) return ('%s/restart-%d'):format(self.folder, restart) end

-- The trainer of a restart, resumed if it has begun.
function Search:trainer(restart)
  local folder = self:folder_of(restart)
  if files.exists(folder .. '/checkpoints/last.safetensors') then return pd.train.resume(folder) end
  local trainer = self.make(restart, folder)
  if type(trainer) ~= 'userdata' or not trainer.run_folder or trainer:run_folder() ~= folder then
    fail("make must return a trainer with run_folder = '%s'", folder)
  end
  return trainer
end

-- Takes over the newest metrics of a restart.
function Search:note(one, epoch)
  one.epochs, one.stage, one.error = epoch.epoch or 0, epoch.stage, epoch.error
  if epoch.epoch then one.value = self.by(epoch) end
  local stages = one.trainer:options().stages
  one.solved = not one.error and self.solved ~= nil and one.value ~= nil and one.value <= self.solved and
    (not stages or one.stage == #stages)
end

-- Trains the restarts of the field up to this epoch, or to their ends; returns at once if one of them is solved.
function Search:train(field, epochs)
  while true do
    local trainers, active, names = {}, {}, {}
    for _, one in ipairs(field) do
      if one.solved then return end
      if not one.error and not one.trainer:finished() and one.epochs < epochs then
        active[#active + 1], trainers[#trainers + 1] = one, one.trainer
        names[#names + 1] = ('%srestart %d'):format(self.name and self.name .. ' ' or '', one.restart)
      end
    end
    if #active == 0 then return end
    -- An error means that all of them have failed, or an interrupt, which ends the search.
    local ok, epochs_of = pcall(pd.train.together(trainers, { names = names }))
    if not ok and tostring(epochs_of):find 'interrupted' then error(epochs_of, 0) end
    for k, one in ipairs(active) do
      if ok then self:note(one, epochs_of[k]) else one.error = tostring(epochs_of) end
    end
  end
end

local function better(a, b)
  if (a.error == nil) ~= (b.error == nil) then return a.error == nil end
  if a.solved ~= b.solved then return a.solved end
  if a.value and b.value and a.value ~= b.value then return a.value < b.value end
  if (a.value == nil) ~= (b.value == nil) then return a.value ~= nil end
  return a.restart < b.restart
end

-- The decisions of an interrupted search with the same plan.
function Search:restore()
  local path = self.folder .. '/search.json'
  if not files.exists(path) then return end
  local ok, kept = pcall(json.decode, files.read(path))
  if not ok or type(kept) ~= 'table' or type(kept.plan) ~= 'table' or type(kept.restarts) ~= 'table' then
    fail("'%s' is not the state of a search; remove it to start a new one", path)
  end
  if json.encode(kept.plan) ~= json.encode(self.plan) then
    fail("'%s' is the state of another search, %s instead of %s; choose another folder", path, json.encode(kept.plan),
      json.encode(self.plan))
  end
  for k, row in ipairs(kept.restarts) do
    if self.all[k] then self.all[k].dropped, self.all[k].value = row.dropped, row.value end
    if self.all[k] then self.all[k].epochs, self.all[k].stage = row.epochs or 0, row.stage end
  end
end

-- Writes the decisions and the table.
function Search:write(winner)
  local list, rows = {}, {}
  for k, one in ipairs(self.all) do
    list[k] = { restart = one.restart, epochs = one.epochs, stage = one.stage, value = one.value, dropped = one.dropped,
      error = one.error, solved = one.solved or nil }
    rows[k] = { one.restart, one.epochs, one.stage or '', one.value or '–',
      one == winner and (one.solved and 'solved' or 'best') or one.error and 'failed' or
      one.dropped and ('left out after epoch %d'):format(one.dropped) or '' }
  end
  local state = { plan = self.plan, restarts = json.list(list) }
  files.write(self.folder .. '/search.json', json.encode(state, true) .. '\n')
  report.table { columns = { 'restart', 'epochs', 'stage', { 'value', format = '%.4f' }, 'outcome' }, rows = rows }
    :save(self.folder .. '/search')
end

function Search:cut(field, epochs, kept)
  while kept > 1 and field[kept].error do kept = kept - 1 end
  local texts = {}
  for k, one in ipairs(field) do
    texts[k] = ('%s (%d)'):format(one.error and 'failed' or ('%.4f'):format(one.value), one.restart)
  end
  pd.log.info(('%sepoch %d, value (restart): %s; %d of %d go on'):format(self.name and self.name .. ': ' or '', epochs,
    table.concat(texts, ', '), kept, #field))
  for k = #field, kept + 1, -1 do field[k].dropped, field[k].trainer = epochs, nil; field[k] = nil end
  self:write()
end

-- search.run{folder =, restarts =, make =, rungs =, keep =, solved =, by =, name =} -> table: trains restarts 1 to
-- `restarts`. make(restart, folder) returns a trainer with that run folder. At the epochs `rungs` only the best go on:
-- half of them, or as many as the list `keep` says. The search ends when a restart reaches `solved` in its last stage,
-- or when the last ones have finished. Restarts are compared by what their best epoch has reached on the validation
-- strings: the cross-entropy above the lower bound, or 1 - accuracy; by(epoch) returns another number, where smaller is
-- better. The result has restart, trainer, folder, value and solved of the best restart, and rows with all restarts.
function M.run(options)
  check_options(options)
  local rungs = options.rungs or {}
  local self = setmetatable({ folder = options.folder, make = options.make, solved = options.solved,
    by = options.by or reached, name = options.name, all = {} }, Search)
  self.plan = { restarts = options.restarts, rungs = json.list(rungs), keep = options.keep, solved = options.solved }
  for restart = 1, options.restarts do self.all[restart] = { restart = restart, epochs = 0 } end
  files.make_folder(self.folder)
  self:restore()
  local field = {}
  for _, one in ipairs(self.all) do
    if not one.dropped then
      one.trainer = self:trainer(one.restart)
      local history = one.trainer:history()
      if #history > 0 then self:note(one, history[#history]) end
      field[#field + 1] = one
    end
  end
  for k, epochs in ipairs(rungs) do
    local kept = options.keep and options.keep[k] or math.max(1, math.floor(options.restarts / 2 ^ k))
    if #field > kept then
      self:train(field, epochs)
      table.sort(field, better)
      if field[1].solved then break end
      self:cut(field, epochs, kept)
    end
  end
  self:train(field, math.huge)
  table.sort(field, better)
  local best = field[1]
  if best.error then fail('every restart has failed; the last error is: %s', best.error) end
  self:write(best)
  return { restart = best.restart, trainer = best.trainer, folder = self:folder_of(best.restart), value = best.value,
    solved = best.solved or false, rows = self.all }
end

return M
