-- Compares updates of networks with peaked weights, like those of trained networks, with updates of fresh ones: the
-- least processor times of updates that alternate. `build/release/bench trained` runs it, on one thread.
-- A denormal number costs Intel's processors a hundred cycles (docs/adr/0021-denormals.md), so the ratio is at most
-- the bar there only if none reaches the arithmetic. AMD's processors hide them.
local pd = require 'pushdown'

local kScale, kBar, kRounds = 20, 1.1, 25

dofile(pd.root .. '/tests/lua/superposition_in_lua.lua')('bench_superposition', 20)
dofile(pd.root .. '/tests/lua/queue_in_lua.lua')('bench_queue', 20)

local grammar = pd.grammar.load 'unmarked_reversal'
local strings = grammar:sampler { lengths = { 80, 80 } }:dataset(20, { seed = 1 })
local labelled = pd.task.labelled { grammar = grammar, lengths = { 40, 40 }, positives = 100, negatives = 100,
  seed = 1 }

-- The weights hardly move, so that they stay as peaked as they are.
local function trainer(model, data, options)
  local all = { model = model, train = data, epochs = 1e6, seed = 1, progress = false, batch = 10,
    optimizer = { kind = 'adam', learning_rate = 1e-9 } }
  for key, value in pairs(options or {}) do all[key] = value end
  return pd.train.trainer(all)
end

local function language_model(stack, kernels)
  return trainer(pd.model.language_model { alphabet = grammar:alphabet(), seed = 3, kernels = kernels,
    controller = { kind = 'lstm', hidden = 20 }, stack = stack }, strings)
end

local function recognizer(options, training)
  local all = { alphabet = grammar:alphabet(), seed = 3 }
  for key, value in pairs(options) do all[key] = value end
  return trainer(pd.model.recognizer(all), labelled, training)
end

local function milliseconds(t)
  local start = os.clock()
  t:step()
  return 1000 * (os.clock() - start)
end

local worst = 0
local function compare(name, make)
  local fresh, trained = make(), make()
  local scaled = {}
  for key, tensor in pairs(trained:model():parameters()) do scaled[key] = tensor:detach() * kScale end
  trained:model():set_parameters(scaled)
  fresh:step()
  trained:step()
  local before, after = math.huge, math.huge
  for _ = 1, kRounds do
    before, after = math.min(before, milliseconds(fresh)), math.min(after, milliseconds(trained))
  end
  local ratio = after / before
  worst = math.max(worst, ratio)
  print(('trained model="%s" fresh_ms=%.3f peaked_ms=%.3f ratio=%.2f%s'):format(name, before, after, ratio,
    ratio > kBar and (' above the bar of %g'):format(kBar) or ''))
end

print(('Weights multiplied by %d against fresh ones; language models: n = 80, batch 10, LSTM with 20 hidden units; '
  .. 'recognizers: n = 40, batch 10; float32'):format(kScale))
for _, kind in ipairs(pd.stack.kinds()) do
  if not kind:find '^bench_' then
    compare(kind, function() return language_model { kind = kind } end)
  end
end
compare('nondeterministic, exponential', function()
  return language_model { kind = 'nondeterministic', normalized = false }
end)
compare('nondeterministic 3x3', function()
  return language_model { kind = 'nondeterministic', states = 3, symbols = 3 }
end)
compare('nondeterministic, window of 10', function()
  return language_model { kind = 'nondeterministic', window = 10 }
end)
compare('superposition, tensor operations', function() return language_model({ kind = 'superposition' }, false) end)
for _, kind in ipairs { 'bench_superposition', 'bench_queue' } do
  compare(kind:gsub('bench_', '') .. ' in Lua', function() return language_model { kind = kind } end)
end
for _, controller in ipairs { 'elman', 'mlstm' } do
  compare('recognizer, ' .. controller .. ', parallel_superposition', function()
    return recognizer { controller = { kind = controller, hidden = 8 },
      stack = { kind = 'parallel_superposition', no_op = true } }
  end)
end
for _, kind in ipairs { 'bptt', 'uoro' } do
  compare('nspda, ' .. kind, function()
    return recognizer({ architecture = 'nspda', states = 6 }, { learning = { kind = kind },
      optimizer = { kind = 'sgd', learning_rate = 1e-9 } })
  end)
end
compare('nnpda', function()
  return recognizer({ architecture = 'nnpda', states = 6 }, { optimizer = { kind = 'sgd', learning_rate = 1e-9 } })
end)
print(('trained worst_ratio=%.2f bar=%g'):format(worst, kBar))
