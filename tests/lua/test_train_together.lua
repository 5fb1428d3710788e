-- pd.train.together: the same numbers as separate training, ends, failures and bad input.
local pd = require 'pushdown'
local test = require 'pushdown.test'

local grammar = pd.grammar.load('marked_reversal')
local sampler = grammar:sampler { lengths = { 3, 9 } }
local train, valid = sampler:dataset(80, { seed = 1 }), sampler:dataset(20, { seed = 2 })

local function trainer(k, options)
  return pd.train.trainer(pd.tables.merged({ train = train, valid = valid, epochs = 1 + k, seed = k, progress = false,
    optimizer = { kind = 'adam', learning_rate = 0.01 * k },
    model = pd.model.language_model { alphabet = grammar:alphabet(), seed = k, controller = { kind = 'lstm',
    hidden = 5 }, stack = { kind = 'nondeterministic', states = 2, symbols = 2 } } }, options))
end

test('each trainer gets the same numbers as alone', function()
  local alone, group = {}, {}
  for k = 1, 3 do
    alone[k] = trainer(k)
    for _ in alone[k]:epochs() do end
    group[k] = trainer(k)
  end
  local rounds, last = 0, nil
  for epochs in pd.train.together(group) do
    rounds, last = rounds + 1, epochs
    test.equal(#epochs, 3)
    for k = 1, 3 do
      test.equal(epochs[k].epoch, math.min(rounds, 1 + k))
      test.equal(epochs[k].finished ~= nil, rounds >= 1 + k)
    end
  end
  test.equal(rounds, 4)
  for k = 1, 3 do
    test.equal(last[k].cross_entropy, alone[k]:history()[1 + k].cross_entropy)
    test.equal(group[k]:evaluate(valid).cross_entropy, alone[k]:evaluate(valid).cross_entropy)
  end
end)

test('run() restores the best parameters of every model', function()
  local failing = { optimizer = { kind = 'sgd', learning_rate = 1e38 }, clip_norm = 0 }
  local group = { trainer(1), trainer(2, failing), trainer(3) }
  local all = pd.train.together(group)
  local done = all:run()
  for _, k in ipairs { 1, 3 } do
    test.equal(done[k].parameters_of, 'best')
    test.equal(group[k]:evaluate(valid).cross_entropy, done[k].cross_entropy)
  end
  assert(done[2].error)
  assert(tostring(done):find('The models have the parameters of their best epochs.', 1, true), tostring(done))
  test.equal(all:run { restore = 'last' }[1].parameters_of, 'last')
  local history = group[1]:history()
  test.equal(group[1]:evaluate(valid).cross_entropy, history[#history].cross_entropy)
end)

test('a trainer that fails is reported and left out', function()
  local bad = trainer(2, { optimizer = { kind = 'sgd', learning_rate = 1e38 }, clip_norm = 0 })
  local told, rounds
  for epochs in pd.train.together { trainer(1), bad } do
    rounds = (rounds or 0) + 1
    told = epochs[2].error
    test.equal(epochs[1].epoch, rounds)
  end
  test.equal(rounds, 2)
  assert(told:find('diverged', 1, true), told)
  test.fails('diverged', function()
    for _ in pd.train.together { trainer(2, { optimizer = { kind = 'sgd', learning_rate = 1e38 },
      clip_norm = 0 }) } do end
  end)
end)

test('bad input is reported', function()
  test.fails('empty list', function() pd.train.together {} end)
  test.fails('Trainer', function() pd.train.together { trainer(1), 7 } end)
  test.fails('together', function() pd.train.together(trainer(1)) end)
  local one = trainer(1)
  test.fails('same model', function() for _ in pd.train.together { one, one } do end end)
end)

test.finish()
