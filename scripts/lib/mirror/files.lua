-- Trainings for programs that show them: event files for TensorBoard, offline runs for Weights & Biases. mirror.export
-- writes one file of a run. The file of a training at work (the option mirror of pd.train.trainer, or PUSHDOWN_MIRROR)
-- grows with every epoch.
--
--   mirror.export({ kind = 'tensorboard', folder = 'logs' }, row)
local facts_of = require 'pushdown.mirror.facts'
local files = require 'pushdown.files'
local histories = require 'pushdown.runs.history'
local pd = require 'pushdown'
local runs = require 'pushdown.runs'
local tables = require 'pushdown.tables'

local M = { kinds = { 'tensorboard', 'wandb' } }

local programs = { tensorboard = require 'pushdown.mirror.tensorboard', wandb = require 'pushdown.mirror.wandb' }

-- mirror.target('tensorboard:logs') -> {kind =, folder =}; other texts are an error.
function M.target(text)
  local kind, folder = text:match('^([^:]+):(.+)$')
  for _, known in ipairs(M.kinds) do
    if kind == known then return { kind = kind, folder = folder } end
  end
  local near = kind and pd._text.nearest(kind, M.kinds)
  error(("[mirror] expected 'tensorboard:FOLDER' or 'wandb:FOLDER', got '%s'%s"):format(text,
    near and (", did you mean '%s'?"):format(near) or ''), 0)
end

local function is_number(_, value) return type(value) == 'number' end

-- The measured numbers of an epoch, by name.
local function measured(entry)
  return tables.named(entry, function(name, value) return is_number(name, value) and histories.is_measured(name) end)
end

-- Calls visit(entry, time) for the epochs of a training. Their times are the begin of the run and the seconds of
-- training and validation since then. Returns the time of the last one.
local function each_epoch(folder, started, visit)
  local time = started
  histories.each(folder, function(entry)
    if entry.event ~= 'epoch' or not tonumber(entry.epoch) then return end
    time = time + (tonumber(entry.seconds) or 0)
    visit(entry, time)
  end)
  return time
end

-- Writes a whole file, and removes those of earlier starts of the run.
local function write(target, path, parts)
  local full = target.folder .. '/' .. path
  local place, name = full:match('^(.*)/([^/]+)$')
  files.make_folder(place)
  pd.file.write(full, table.concat(parts))
  local own = programs[target.kind].own
  for _, other in ipairs(pd.file.list(place)) do
    if other ~= name and own(other) then assert(os.remove(place .. '/' .. other)) end
  end
  return full
end

-- mirror.export(target, row, registry) -> number of epochs: writes the run of a row of the registry.
function M.export(target, row, registry)
  local facts = facts_of(row.folder, row, registry)
  local encoder = programs[target.kind].encoder(facts)
  local parts, count = { encoder:begin() }, 0
  local time = each_epoch(row.folder, facts.started, function(entry, at)
    count = count + 1
    parts[#parts + 1] = encoder:epoch(entry.epoch, at, measured(entry))
  end)
  if row.status ~= 'waiting' and row.status ~= 'running' then
    parts[#parts + 1] = encoder:finish(time, row.status, tables.named(row.result or {}, is_number))
  end
  write(target, encoder:path(facts.started), parts)
  return count
end

-- ---- Trainings at work ----

local open = {}  -- by run folder

local function give_up(folder, problem)
  open[folder] = nil
  pd.log.warn(("the training in '%s' is no longer mirrored: %s"):format(folder, tostring(problem)))
end

-- mirror.begins(folder, text): the training in this run folder is mirrored from now on; what it did before is in the
-- mirror, too. The trainer calls this and the next two. What cannot be written costs a warning.
function M.begins(folder, text)
  local target = M.target(text)
  local ok, problem = pcall(function()
    local facts = facts_of(folder, nil, runs.path())
    local encoder = programs[target.kind].encoder(facts)
    local state = { encoder = encoder, epoch = 0, at = 0 }
    local parts = { encoder:begin() }
    state.time = each_epoch(folder, facts.started, function(entry, time)
      parts[#parts + 1] = encoder:epoch(entry.epoch, time, measured(entry))
      state.epoch = entry.epoch
    end)
    state.path = write(target, encoder:path(pd.process.now()), parts)
    state.file = assert(io.open(state.path, 'ab'))
    open[folder] = state
  end)
  if not ok then give_up(folder, problem) end
end

local function append(state, bytes)
  assert(state.file:write(bytes))
  assert(state.file:flush())
end

-- mirror.epoch(folder): an epoch came to its end.
function M.epoch(folder)
  local state = open[folder]
  if not state then return end
  local ok, problem = pcall(function()
    -- An epoch that was made update by update is in the file as well.
    state.at = histories.each(folder, function(entry)
      if entry.event ~= 'epoch' or not tonumber(entry.epoch) or entry.epoch <= state.epoch then return end
      state.epoch = entry.epoch
      append(state, state.encoder:epoch(entry.epoch, pd.process.now(), measured(entry)))
    end, state.at) or state.at
  end)
  if not ok then give_up(folder, problem) end
end

-- mirror.ended(folder): training is over.
function M.ended(folder)
  local state = open[folder]
  if not state then return end
  open[folder] = nil
  local ok, problem = pcall(function()
    append(state, state.encoder:finish(pd.process.now(), 'done', {}))
    state.file:close()
  end)
  if not ok then give_up(folder, problem) end
end

return M
