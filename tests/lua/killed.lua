-- The process that tests/lua/test_kills.lua kills. killed.lua KIND FOLDER begins a small training of that kind or
-- resumes the one in the folder. At the end it writes its exact fingerprint next to the folder.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local trainings = dofile(pd.root .. '/tests/lua/trainings.lua')

local M = {}

-- Trains from the state of the folder to the end. Returns the fingerprint.
function M.run(kind, folder)
  local function one(options, place)
    if files.exists(place .. '/checkpoints/last.safetensors') then
      return pd.train.resume(place, { progress = false })
    end
    return trainings.trainer(options, place)
  end
  if kind == 'together' then
    local all = {}
    for k = 1, 3 do all[k] = one(trainings.language(k), folder .. '/' .. k) end
    for _ in pd.train.together(all) do end
    local texts = {}
    for k, trainer in ipairs(all) do texts[k] = trainings.fingerprint(trainer) end
    return table.concat(texts)
  end
  local trainer = one(trainings.kinds[kind](), folder)
  for _ in trainer:epochs() do end
  return trainings.fingerprint(trainer)
end

-- A grid of three runs of two kinds on two workers. Its script is this file.
function M.grid(folder)
  local rows = require 'pushdown.grid'.run { name = 'killed', script = pd.root .. '/tests/lua/killed.lua',
    folder = folder, workers = 2, restarts = 1, failures = 'report', progress = false,
    points = { { kind = 'language_model' }, { kind = 'bptt' }, { kind = 'transformer' } } }
  local texts = {}
  for i, row in ipairs(rows) do
    if row.status ~= 'done' then return nil end
    texts[i] = row.point .. '\n' .. files.read(row.folder .. '/fingerprint')
  end
  return table.concat(texts)
end

if arg[1] and not arg[1]:find '^%-' then
  local kind, folder = arg[1], arg[2]
  local text
  if kind == 'grid' then text = M.grid(folder) else text = M.run(kind, folder) end
  if not text then os.exit(3) end
  files.write(folder .. '.fingerprint', text)
else
  -- A run of the grid.
  local options, run = experiment.start { name = 'killed', doc = 'A training that is killed.',
    options = { { 'kind', 'bptt', 'its kind' }, { 'seed', 0, 'of the grid' }, { 'restart', 1, 'of the grid' } },
    smoke = {} }
  files.write(run.folder .. '/fingerprint', M.run(options.kind, run.folder .. '/training'))
  run:finish { done = true }
end
