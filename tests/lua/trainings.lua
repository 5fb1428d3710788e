-- For tests of trainings that stop: a small training of every class of data, and all results of one as a text.
local pd = require 'pushdown'
local files = require 'pushdown.files'

local M = {}

local function grammar() return pd.grammar.load 'marked_reversal' end

function M.strings(shortest, longest, count, seed)
  return grammar():sampler { lengths = { shortest, longest } }:dataset(count, { seed = seed })
end

-- Returns the options of a trainer of strings; k determines data, model and learning rate.
function M.language(k)
  return { train = M.strings(3, 11, 160, k), valid = M.strings(3, 11, 30, k + 1), batch = 4, epochs = 4,
    optimizer = { kind = 'adam', learning_rate = 0.003 * k },
    model = pd.model.language_model { alphabet = grammar():alphabet(), seed = k,
      controller = { kind = 'lstm', hidden = 8 }, stack = { kind = 'nondeterministic', states = 2, symbols = 2 } } }
end

local function recognition(learning, epochs)
  local data = pd.task.labelled { grammar = pd.grammar.load 'dyck', lengths = { 2, 10 }, positives = 40, negatives = 40,
    seed = 3 }
  return { train = data, learning = { kind = learning }, batch = 4, epochs = epochs,
    model = pd.model.recognizer { alphabet = data:alphabet(), seed = 2, controller = { kind = 'elman', hidden = 6 },
      stack = { kind = 'superposition', size = 3 } } }
end

-- Each returns the options of a trainer.
M.kinds = {
  language_model = function() return M.language(1) end,
  bptt = function() return recognition('bptt', 9) end,
  uoro = function() return recognition('uoro', 2) end,
  transducer = function()
    local pairs_of = pd.task.transduction { kind = 'reversal', symbols = 3, lengths = { 1, 5 } }
    return { train = pairs_of, test = pairs_of, epochs = 2, model = pd.model.transducer { pairs = pairs_of, seed = 4,
      controller = { kind = 'lstm', hidden = 8 }, stack = { kind = 'stratification', size = 4 } } }
  end,
  running_text = function()
    local text = pd.task.running_text { alphabet = { 'x', 'y', 'z' }, words = ('x y z y z z '):rep(250) }
    return { train = text, valid = text, batch = 4, chunk = 6, epochs = 3, model = pd.model.language_model {
      alphabet = text:alphabet(), seed = 1, end_symbol = false, controller = { kind = 'lstm', hidden = 8 },
      stack = { kind = 'superposition', size = 3 } } }
  end,
  transformer = function()
    return { train = M.strings(3, 9, 60, 1), valid = M.strings(3, 9, 20, 2), batch = 4, epochs = 5,
      model = pd.model.language_model { alphabet = grammar():alphabet(), seed = 1, architecture = 'transformer',
        hidden = 8, heads = 2, feedforward = 16, layers = { 'attention', 'superposition' }, dropout = 0.1 } }
  end,
  -- Weights of three dimensions, which noise needs.
  second_order = function()
    local data = pd.task.labelled { grammar = pd.grammar.load 'an_bn', lengths = { 1, 6 }, positives = 12,
      negatives = 12, distinct = 'negatives', seed = 1 }
    return { train = data, epochs = 3, batch = 4, stop_accuracy = 0, optimizer = { kind = 'sgd', learning_rate = 0.05 },
      model = pd.model.recognizer { alphabet = data:alphabet(), seed = 3,
        controller = { kind = 'second_order', hidden = 3 }, stack = { kind = 'superposition', size = 2 } } }
  end,
  stages = function()
    local function stage(shortest, longest, epochs)
      return { train = M.strings(shortest, longest, 40, longest), valid = M.strings(shortest, longest, 20, longest + 1),
        epochs = epochs }
    end
    return { stages = { stage(3, 5, 2), stage(3, 9, 1), stage(9, 11, 2) }, model = pd.model.language_model {
      alphabet = grammar():alphabet(), seed = 3, controller = { kind = 'lstm', hidden = 5 } } }
  end,
}

-- The trainer of options, with a run folder or none.
function M.trainer(options, folder)
  -- A kill before the first checkpoint leaves a folder that cannot be resumed.
  return pd.train.trainer(pd.tables.merged({ overwrite = folder ~= nil or nil, run_folder = folder, seed = 7,
    progress = false, checkpoint_every = 5, log_every = 3 }, options))
end

-- All results of a training without its times: weights, metrics, and the lines of metrics.jsonl if it has a run folder.
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
  local folder, lines = trainer:run_folder(), 0
  for line in (folder and files.read(folder .. '/metrics.jsonl') or ''):gmatch '[^\n]+' do
    lines = lines + 1
    add((line:gsub('"seconds":[^,}]*', ''):gsub('"updates_per_second":[^,}]*', '')), 'line ' .. lines)
  end
  table.sort(parts)
  return table.concat(parts, '\n') .. '\n'
end

return M
