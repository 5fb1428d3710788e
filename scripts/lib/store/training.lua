-- Adds the provenance and a registry row to the run of a trainer with a run folder, so that runs made at the prompt or
-- by a plain script are found like those of an experiment. The trainer calls these functions.
local files = require 'pushdown.files'
local metrics = require 'pushdown.store.metrics'
local pd = require 'pushdown'
local provenance = require 'pushdown.store.provenance'
local recording = require 'pushdown.store.record'
local store = require 'pushdown.store.folder'

local M = {}

local records = {}  -- by folder

-- The options of a run for its row, from config.json: "controller.hidden", "learning_rate", ...
function M.options_of(config)
  local options = {}
  local function add(name, value)
    if type(value) == 'table' and value.kind ~= nil then
      options[name] = value.kind
      for key, part in pairs(value) do
        if key ~= 'kind' and type(part) ~= 'table' then options[name .. '.' .. key] = part end
      end
    elseif type(value) ~= 'table' and value ~= nil then
      options[name] = value
    end
  end
  local model, trainer = config.model or {}, config.trainer or {}
  options.model = model.kind
  for _, key in ipairs { 'architecture', 'controller', 'stack', 'embedding' } do
    add(key, (model.options or {})[key])
  end
  for _, key in ipairs { 'batch', 'epochs', 'optimizer', 'objective', 'learning', 'curriculum' } do
    add(key, trainer[key])
  end
  options.learning_rate = type(trainer.optimizer) == 'table' and trainer.optimizer.learning_rate or nil
  return options
end

-- The name of a run that no experiment declared: its script, or the place where it was typed.
local function name_of_session()
  if package.loaded['pushdown.notebook'] then return 'notebook' end
  local words = rawget(_G, 'arg') or {}
  if not words[-1] then return 'prompt' end  -- the first word is the program's
  return (words[0]:gsub('^.*/', ''):gsub('%.lua$', ''))
end

-- The final numbers of a run: those of its best epoch, from metrics.jsonl.
local function result_of(folder)
  local history = metrics.epochs(folder)
  local last = history[#history]
  if not last then return nil end
  local best = last
  for _, epoch in ipairs(history) do
    if epoch.epoch == last.best_epoch then best = epoch end
  end
  local result = { epochs = #history, best_epoch = last.best_epoch, seconds = 0 }
  for key, value in pairs(best) do
    if type(value) == 'number' and result[key] == nil and key ~= 'epoch' and not key:find 'second' then
      result[key] = value
    end
  end
  for _, epoch in ipairs(history) do result.seconds = result.seconds + (epoch.seconds or 0) end
  return result
end

local function enter(folder, finished)
  -- A grid keeps the row of its worker, and a training inside an experiment belongs to that run.
  if os.getenv 'PUSHDOWN_RUN_LOCK' or recording.covers(folder) then return end
  local config = store.read_json(folder .. '/config.json') or {}
  local facts = provenance.facts()
  records[folder] = recording.record { folder = folder, training = true, experiment = name_of_session(),
    options = M.options_of(config), command = pd.process.command_line(), git = facts.git, seed = config.seed }
  if finished then M.ended(folder) end
end

-- training.begins(folder, finished): records a new run; training.resumed: a resumed one; training.saved: the folder
-- that a trainer without its own folder has written.
function M.begins(folder, finished)
  local config = store.read_json(folder .. '/config.json') or {}
  -- The folder of an experiment's run already has its provenance.
  if files.exists(folder .. '/experiment.json') then
    provenance.update(folder)
  else
    provenance.begin(folder, 'training ' .. tostring(config.run))
  end
  enter(folder, finished)
end
M.resumed, M.saved = M.begins, M.begins

-- training.ended(folder): records the end of training.
function M.ended(folder)
  if not files.exists(folder .. '/experiment.json') then provenance.finish(folder) end
  local record = records[folder]
  if not record then return end
  record:finish { result = result_of(folder) }
  if record.lock then record.lock:release() end
  record.lock = nil
end

return M
