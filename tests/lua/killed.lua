-- The process that tests/lua/test_kills.lua kills. killed.lua KIND FOLDER begins a small training of that kind or
-- resumes the one in the folder. At the end it writes its exact fingerprint next to the folder.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'

local M = {}

local function grammar() return pd.grammar.load 'marked_reversal' end

local function with(options, folder, epochs)
  -- A kill before the first checkpoint leaves a folder that cannot be resumed.
  options.overwrite = true
  options.run_folder, options.epochs, options.seed, options.progress = folder, epochs, 7, false
  options.checkpoint_every, options.log_every = 5, 3
  return pd.train.trainer(options)
end

local function language(folder, k)
  local sampler = grammar():sampler { lengths = { 3, 11 } }
  return with({ train = sampler:dataset(160, { seed = k }), valid = sampler:dataset(30, { seed = k + 1 }), batch = 4,
    optimizer = { kind = 'adam', learning_rate = 0.003 * k },
    model = pd.model.language_model { alphabet = grammar():alphabet(), seed = k,
      controller = { kind = 'lstm', hidden = 8 }, stack = { kind = 'nondeterministic', states = 2, symbols = 2 } } },
    folder, 6)
end

local function recognizer(folder, learning, epochs)
  local data = pd.task.labelled { grammar = pd.grammar.load 'dyck', lengths = { 2, 10 }, positives = 40, negatives = 40,
    seed = 3 }
  return with({ train = data, learning = { kind = learning }, batch = 4,
    model = pd.model.recognizer { alphabet = data:alphabet(), seed = 2, controller = { kind = 'elman', hidden = 6 },
      stack = { kind = 'superposition', size = 3 } } }, folder, epochs)
end

-- Each makes a trainer with the folder as its run folder.
M.kinds = {
  language_model = function(folder) return language(folder, 1) end,
  bptt = function(folder) return recognizer(folder, 'bptt', 15) end,
  uoro = function(folder) return recognizer(folder, 'uoro', 2) end,
  transducer = function(folder)
    local pairs_of = pd.task.transduction { kind = 'reversal', symbols = 3, lengths = { 1, 5 } }
    return with({ train = pairs_of, test = pairs_of, model = pd.model.transducer { pairs = pairs_of, seed = 4,
      controller = { kind = 'lstm', hidden = 8 }, stack = { kind = 'stratification', size = 4 } } }, folder, 2)
  end,
  running_text = function(folder)
    local text = pd.task.running_text { alphabet = { 'x', 'y', 'z' }, words = ('x y z y z z '):rep(250) }
    return with({ train = text, valid = text, batch = 4, chunk = 6, model = pd.model.language_model {
      alphabet = text:alphabet(), seed = 1, end_symbol = false, controller = { kind = 'lstm', hidden = 8 },
      stack = { kind = 'superposition', size = 3 } } }, folder, 4)
  end,
  transformer = function(folder)
    local sampler = grammar():sampler { lengths = { 3, 9 } }
    return with({ train = sampler:dataset(60, { seed = 1 }), valid = sampler:dataset(20, { seed = 2 }), batch = 4,
      model = pd.model.language_model { alphabet = grammar():alphabet(), seed = 1, architecture = 'transformer',
        hidden = 8, heads = 2, feedforward = 16, layers = { 'attention', 'superposition' }, dropout = 0.1 } },
      folder, 8)
  end,
}

-- All results of a training without its times: weights, metrics, and the lines of metrics.jsonl.
function M.fingerprint(trainer)
  local parts = {}
  local function add(value, path)
    if type(value) == 'table' then
      local keys = {}
      for key in pairs(value) do keys[#keys + 1] = key end
      table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
      for _, key in ipairs(keys) do
        if key ~= 'seconds' and key ~= 'updates_per_second' then add(value[key], path .. '.' .. tostring(key)) end
      end
    else
      parts[#parts + 1] = type(value) == 'number' and ('%s=%.17g'):format(path, value) or path .. '=' .. tostring(value)
    end
  end
  add(trainer:history(), 'history')
  for name, tensor in pairs(trainer:model():parameters()) do add(tensor:to_table(), 'parameter ' .. tostring(name)) end
  local lines = 0
  for line in files.read(trainer:run_folder() .. '/metrics.jsonl'):gmatch '[^\n]+' do
    lines = lines + 1
    add((line:gsub('"seconds":[^,}]*', ''):gsub('"updates_per_second":[^,}]*', '')), 'line ' .. lines)
  end
  table.sort(parts)
  return table.concat(parts, '\n') .. '\n'
end

-- Trains from the state of the folder to the end. Returns the fingerprint.
function M.run(kind, folder)
  local function one(make, place)
    if files.exists(place .. '/checkpoints/last.safetensors') then
      return pd.train.resume(place, { progress = false })
    end
    return make(place)
  end
  if kind == 'together' then
    local all = {}
    for k = 1, 3 do all[k] = one(function(place) return language(place, k) end, folder .. '/' .. k) end
    for _ in pd.train.together(all) do end
    local texts = {}
    for k, trainer in ipairs(all) do texts[k] = M.fingerprint(trainer) end
    return table.concat(texts)
  end
  local trainer = one(M.kinds[kind], folder)
  for _ in trainer:epochs() do end
  return M.fingerprint(trainer)
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
