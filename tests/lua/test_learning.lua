-- Learning algorithms, noise and annealing from Lua: training and bad input.
-- label: long
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

for _, kind in ipairs(pd.train.learning_algorithms()) do
  test(kind .. ' learns', function()
    local losses = {}
    local t = trainer{ learning = kind, epochs = 8, stop_patience = 0,
      optimizer = { kind = 'adam', learning_rate = 0.05 } }
    for epoch in t:epochs() do losses[#losses + 1] = epoch.train_loss end
    test.equal(#losses, 8)
    test.equal(losses[8] < 0.9 * losses[1], true)
  end)
end

test('online algorithms do not train transformers', function()
  local transformer = pd.model.recognizer{ alphabet = grammar:alphabet(),
    architecture = 'transformer', hidden = 6, heads = 2, feedforward = 5 }
  test.fails('lists of tensors',
    function() trainer{ model = transformer, learning = 'rtrl' }:step() end)
end)

test('the next symbol and the mean of all answers', function()
  local function model(more)
    return pd.model.recognizer(pd.tables.merged({ alphabet = grammar:alphabet(), seed = 3,
      controller = { kind = 'lstm', hidden = 6 }, next_symbol = true, decision = 'mean' }, more))
  end
  -- With only valid strings, the model learns what follows each symbol, and how often.
  local valid = data:valid_strings()
  local labels = {}
  for i = 1, valid:size() do labels[i] = true end
  local positives = pd.task.labelled_dataset { alphabet = grammar:alphabet(), strings = valid:strings(),
    labels = labels }
  local t = trainer { model = model(), train = positives, objective = 'joint', epochs = 60, stop_patience = 0,
    learning = { kind = 'tbptt', window = 3 }, optimizer = { kind = 'adam', learning_rate = 0.05 } }
  for _ in t:epochs() do end
  local after = t:model():next_symbols 'a a b b'
  test.equal(after:size(1), 5)
  test.equal(after:size(2), 3)
  assert(after[3][2]:item() > 0.8, 'b follows a a b')
  assert(after[4][3]:item() > 0.8, 'the end follows a a b b')

  local scores, sum = t:model():scores 'a b b', 0
  for i = 2, 5 do sum = sum + 1 / (1 + math.exp(-scores[i]:item())) end
  test.equal(t:model():accepts 'a b b', sum / 4 > 0.5)
  local m = model()
  local own, last = pd.train.evaluate(m, data), pd.train.evaluate(m, data, { decision = 'last' })
  test.equal(own.accuracy, pd.train.evaluate(m, data, { decision = 'mean' }).accuracy)
  test.equal(last.accuracy, pd.train.evaluate(model { decision = 'last' }, data).accuracy)

  -- The sets of next symbols of valid strings, which were the only training data.
  local known = pd.train.evaluate(t:model(), positives, { grammar = grammar })
  assert(known.next_symbol_accuracy >= 0.5, known.next_symbol_accuracy)
  test.equal(pd.train.evaluate(t:model(), positives, { grammar = grammar, threshold = 0.9 }).next_symbol_accuracy, 0)
  test.equal(pd.train.evaluate(t:model(), positives).next_symbol_accuracy, nil)
  local several = pd.train.evaluate(t:model(), data, { grammar = grammar, thresholds = { 0.9, 0, 0.02 },
    decisions = { 'every', 'last' }, threshold = 0.02 })
  test.equal(several.next_symbol_accuracies[1], 0)
  test.equal(several.next_symbol_accuracies[2],
    pd.train.evaluate(t:model(), data, { grammar = grammar }).next_symbol_accuracy)
  test.equal(several.next_symbol_accuracies[3], several.next_symbol_accuracy)
  for _, decision in ipairs { 'every', 'last' } do
    local alone = pd.train.evaluate(t:model(), data, { decision = decision })
    test.equal(several.decisions[decision].accuracy, alone.accuracy)
    test.equal(several.decisions[decision].missed, alone.missed)
    test.equal(#several.decisions[decision].bins, #alone.bins)
  end
  test.fails('decision must be one of', function() pd.train.evaluate(t:model(), data, { decisions = { 'best' } }) end)
  test.fails('thresholds must be numbers', function() pd.train.evaluate(t:model(), data, { thresholds = { 2 } }) end)
  assert(known.prefix_accuracy >= 0 and known.prefix_accuracy <= 1)
  local every = pd.train.evaluate(t:model(), positives, { decision = 'every' })
  assert(every.accuracy <= pd.train.evaluate(t:model(), positives, { decision = 'last' }).accuracy)
  local measured = trainer { model = model(), valid = data, grammar = grammar, epochs = 1 }
  for epoch in measured:epochs() do
    test.equal(type(epoch.next_symbol_accuracy), 'number')
    test.equal(type(epoch.prefix_accuracy), 'number')
  end
  local texts = pd.model.language_model { alphabet = grammar:alphabet(), seed = 1 }
  test.equal(pd.train.evaluate(texts, valid, { grammar = grammar }).next_symbol_accuracy, 0)
  test.fails('the data and the grammar have different symbols',
    pd.train.evaluate, texts, valid, { grammar = pd.grammar.load 'dyck' })

  test.fails('the model must have next_symbol = true', function() model { next_symbol = false }:next_symbols 'a' end)
  test.fails("unknown option 'decision'", function()
    pd.train.evaluate(pd.model.language_model { alphabet = grammar:alphabet(), seed = 1 }, data:valid_strings(),
      { decision = 'mean' })
  end)
  test.fails("needs a model with decision = 'last'", function()
    pd.model.extract_pda(pd.model.recognizer { alphabet = grammar:alphabet(), architecture = 'nspda', seed = 1,
      decision = 'mean' })
  end)
end)

test('the last score of an NSPDA decides as accepts does', function()
  local accepted, refused = 0, 0
  for seed = 1, 8 do
    local m = pd.model.recognizer { alphabet = { 'a', 'b' }, architecture = 'nspda', states = 3, seed = seed }
    for _, text in ipairs { 'a', 'b', 'a b', 'b a', 'a a b b', 'a b a b a' } do
      local scores = m:scores(text):to_table()
      test.equal(m:accepts(text), scores[#scores] > 0)
      if m:accepts(text) then accepted = accepted + 1 else refused = refused + 1 end
    end
  end
  assert(accepted > 0 and refused > 0)
end)

test.finish()
