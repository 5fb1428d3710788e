-- Learning algorithms, noise and annealing from Lua: training, going on after a stop, bad input.
local pd = require 'pushdown'
local test = require 'pushdown.test'

local grammar = pd.grammar.load('an_bn')
local data = pd.task.labelled{ grammar = grammar, lengths = { 1, 6 }, positives = 12,
  negatives = 12, distinct = 'negatives', seed = 1 }

local function trainer(options)
  local all = { train = data, epochs = 3, batch = 4, seed = 1, progress = false, stop_accuracy = 0,
    optimizer = { kind = 'sgd', learning_rate = 0.05 } }
  all.model = pd.model.recognizer{ alphabet = grammar:alphabet(), seed = 3,
    controller = { kind = 'second_order', hidden = 3 }, stack = { kind = 'superposition', size = 2 } }
  for key, value in pairs(options) do all[key] = value end
  return pd.train.trainer(all)
end

local function numbers(t)
  local all = {}
  for name, tensor in pairs(t:model():parameters()) do all[name] = tensor:to_table() end
  return all
end

local function same(a, b)
  for name, values in pairs(a) do test.near(values, b[name], 0) end
end

local algorithms = { 'bptt', 'rtrl', 'uoro', 'tbptt' }

test('the algorithms are listed and described', function()
  local names = pd.train.learning_algorithms()
  for _, name in ipairs(algorithms) do
    local found = false
    for _, other in ipairs(names) do found = found or other == name end
    test.equal(found, true)
  end
  test.equal(pd.train.describe_learning('tbptt'):find('window', 1, true) ~= nil, true)
end)

for _, kind in ipairs(algorithms) do
  test(kind .. ' learns', function()
    local losses = {}
    local t = trainer{ learning = kind, epochs = 8, stop_patience = 0,
      optimizer = { kind = 'adam', learning_rate = 0.05 } }
    for epoch in t:epochs() do losses[#losses + 1] = epoch.train_loss end
    test.equal(#losses, 8)
    test.equal(losses[8] < 0.9 * losses[1], true)
  end)

  test(kind .. ' trains, stops and goes on with the same numbers', function()
    local options = { learning = kind, noise = { share = 0.2, first_epoch = 2 },
      annealing = { kind = 'stochastic', spread = 0.3 } }
    local whole, stopped = trainer(options), trainer(options)
    for _ in whole:epochs() do end
    for _ = 1, 8 do stopped:step() end
    local folder = os.tmpname()
    os.remove(folder)
    stopped:save(folder)
    local resumed = pd.train.resume(folder)
    for _ in resumed:epochs() do end
    for _ in stopped:epochs() do end
    same(numbers(whole), numbers(resumed))
    same(numbers(whole), numbers(stopped))
    os.execute('rm -r ' .. folder)
  end)
end

test('wrong options say what is right', function()
  test.fails("did you mean 'rtrl'", function() trainer{ learning = 'rtlr' } end)
  test.fails('window', function() trainer{ learning = { kind = 'tbptt', window = 0 } } end)
  test.fails('spread', function() trainer{ annealing = { kind = 'stochastic', spread = 2 } } end)
  test.fails('share', function() trainer{ noise = { share = 2 } } end)
  local elman = pd.model.recognizer{ alphabet = grammar:alphabet(),
    controller = { kind = 'elman', hidden = 3 } }
  test.fails('three or four dimensions',
    function() trainer{ model = elman, noise = { share = 0.1 } } end)
  local transformer = pd.model.recognizer{ alphabet = grammar:alphabet(),
    architecture = 'transformer', hidden = 6, heads = 2, feedforward = 5 }
  test.fails('list of tensors',
    function() trainer{ model = transformer, learning = 'rtrl' }:step() end)
end)

test('what there is describes itself', function()
  for _, kind in ipairs(pd.train.annealings()) do
    assert(pd.train.describe_annealing(kind):find(kind, 1, true))
  end
  for _, kind in ipairs(pd.train.learning_algorithms()) do
    assert(pd.train.describe_learning(kind):find(kind, 1, true))
  end
  for _, kind in ipairs(pd.train.objectives()) do
    assert(pd.train.describe_objective(kind):find(kind, 1, true))
  end
  assert(pd.train.describe_noise():find('share', 1, true))
  test.fails("did you mean 'stochastic'", function() pd.train.describe_annealing 'stochastik' end)
end)

test.finish()
