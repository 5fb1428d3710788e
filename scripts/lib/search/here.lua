-- The restarts of a search as trainers in this process.
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local pd = require 'pushdown'
local fail = require 'pushdown.search.plan'.fail

local M = { kind = 'restart' }

-- What the best epoch of the current stage has reached.
function M.default_metric(epoch)
  if epoch.best_accuracy then return 1 - epoch.best_accuracy end
  return epoch.best_cross_entropy - (epoch.lower_bound or 0)
end

function M:prepare(options)
  self.make, self.together, self.all = options.make, options.together, {}
  for restart = 1, options.restarts do self.all[restart] = { restart = restart } end
  self.plan = { restarts = options.restarts, rungs = json.list(self.rungs), keep = options.keep,
    solved = options.solved, metric = type(options.metric) == 'string' and options.metric or nil,
    better = options.better or 'lower', together = options.together }
end

function M:folder_of(restart) return ('%s/restart-%d'):format(self.folder, restart) end

-- The trainer of a restart, resumed if it has begun.
function M:trainer(restart)
  local folder = self:folder_of(restart)
  if files.exists(folder .. '/checkpoints/last.safetensors') then return pd.train.resume(folder) end
  local trainer = self.make(restart, folder)
  if type(trainer) ~= 'userdata' or not trainer.run_folder or trainer:run_folder() ~= folder then
    fail("make must return a trainer with run_folder = '%s'", folder)
  end
  return trainer
end

-- Takes over the newest metrics of a restart.
function M:note(one, epoch)
  one.epochs, one.stage, one.error = epoch.epoch or 0, epoch.stage, epoch.error
  if epoch.epoch then
    one.value, one.undefined = self:value_of(epoch, ('epoch %d of restart %d'):format(epoch.epoch, one.restart))
  end
  local stages = one.trainer:options().stages
  one.solved = not one.error and self:has_solved(one.value) and (not stages or one.stage == #stages) or nil
end

-- Makes the trainer of a restart, or resumes it.
function M:start(one)
  one.trainer = self:trainer(one.restart)
  local history = one.trainer:history()
  if #history > 0 then self:note(one, history[#history]) end
end

-- Trains a group of restarts side by side up to this epoch, or to their ends. Returns true at once if one is solved.
function M:train_group(group, epochs)
  for _, one in ipairs(group) do
    if not one.trainer then self:start(one) end
    one.began = true
  end
  self:plan_work(self.field)
  while true do
    local trainers, active, names = {}, {}, {}
    for _, one in ipairs(group) do
      if one.solved then return true end
      if not one.error and not one.trainer:finished() and one.epochs < (epochs or math.huge) then
        active[#active + 1], trainers[#trainers + 1] = one, one.trainer
        names[#names + 1] = self:name_of(one)
      end
    end
    if #active == 0 then return false end
    -- An error means that all of them have failed, or an interrupt, which ends the search.
    local ok, epochs_of = pcall(pd.train.together(trainers, { names = names }))
    if not ok and tostring(epochs_of):find 'interrupted' then error(epochs_of, 0) end
    for k, one in ipairs(active) do
      if ok then self:note(one, epochs_of[k]) else one.error = tostring(epochs_of) end
    end
  end
end

function M:name_of(one) return ('%srestart %d'):format(self.name and self.name .. ' ' or '', one.restart) end

-- Marks a restart that was dropped in the live view.
function M:left(one) pd._live.leave(self:name_of(one), ('left out after epoch %d'):format(one.dropped)) end

-- Tells the live view how many epochs of all restarts there are at most.
function M:plan_work(field)
  local first = field[1]
  for _, one in ipairs(field) do first = one.trainer and one or first end
  local last, total, count, at = first.trainer:options().epochs, 0, #field, 0
  for _, one in ipairs(self.all) do
    if one.dropped and one.began then total = total + one.epochs end
  end
  for k, epochs in ipairs(self.rungs) do
    if count > self.keep[k] then total, count, at = total + count * (epochs - at), self.keep[k], epochs end
  end
  pd._live.plan(total + count * math.max(last - at, 0))
end

-- Trains the field up to this epoch, or to its ends, one group after the other; returns at once if a restart is solved.
function M:train(field, epochs)
  local size = self.together or math.max(1, #field)
  self.field = field
  for first = 1, #field, size do
    local group = {}
    for k = first, math.min(first + size - 1, #field) do group[#group + 1] = field[k] end
    if self:train_group(group, epochs) then return end
  end
end

-- The trainer's model gets the parameters to which the value belongs: a metric of the search's own, unless it is called
-- best_*, is that of the newest epoch.
function M:result(best)
  local of_best = self.metric == M.default_metric or type(self.metric) == 'string' and self.metric:find '^best_'
  if of_best and best.trainer then best.trainer:restore() end
  return { restart = best.restart, trainer = best.trainer, folder = self:folder_of(best.restart), value = best.value,
    solved = best.solved or false, rows = self.all, ranked = self:ranked(), table = self.table }
end

return M
