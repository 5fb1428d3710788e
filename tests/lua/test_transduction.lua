-- Transducers in scripts: pairs, models, training, evaluation, and pictures of their memories.
local pd = require 'pushdown'
local test = require 'pushdown.test'

local function pairs_of(kind, lowest, highest)
  return pd.task.transduction { kind = kind, symbols = 3, lengths = { lowest, highest } }
end

local function model(kind, of, more)
  return pd.model.transducer(pd.tables.merged({ pairs = of, controller = { kind = 'lstm', hidden = 16 },
    stack = { kind = kind, size = 8, pop_bias = -1 }, embedding = 8, output_embedding = 8, initial_state = 'learned',
    seed = 4 }, more))
end

test('a transducer learns to reverse short strings, and its writing gives the measured accuracy', function()
  local train = pairs_of('reversal', 1, 4)
  local m = model('stratification', train)
  local trainer = pd.train.trainer { model = m, train = train, test = pairs_of('reversal', 5, 6), epochs = 12,
    accuracy_every = 6, accuracy_pairs = 50, optimizer = { kind = 'rmsprop', learning_rate = 0.01 }, clip_norm = 1,
    stop_patience = 0, seed = 1, progress = false }
  local seen = {}
  for epoch in trainer:epochs() do
    assert(epoch.train_perplexity > 1)
    if epoch.coarse then seen[#seen + 1] = epoch end
  end
  test.equal(#seen, 2)
  assert(seen[2].train_coarse > 0.9, seen[2].train_coarse)
  assert(seen[2].fine <= 1 and seen[2].coarse <= seen[2].fine)
  local found = pd.train.evaluate(m, train, { pairs = 60, seed = 7 })
  test.equal(found.pairs, 60)
  test.equal(#found.wrong, 60 - math.floor(found.coarse * 60 + 0.5))
  local wrong = {}
  for _, pair in ipairs(found.wrong) do wrong[pair.source .. '|' .. pair.target] = true end
  for _, pair in ipairs(train:draw(30, { seed = 9 })) do
    local written = m:translate(pair.source)
    if not wrong[pair.source .. '|' .. pair.target] then
      assert(#written > 0 or pair.target == '', written)
    end
  end
  test.equal(m:translate { 'a1 a2', 'a3' }[2], m:translate 'a3')
  assert(m:log_probability('a1 a2', 'a2 a1') < 0)
end)

test('a transducer that writes along with its source learns the word problem of a group', function()
  local train = pd.task.transduction { kind = 'word_problem', group = 'z2', lengths = { 1, 6 } }
  local m = pd.model.transducer { pairs = train, controller = { kind = 'lstm', hidden = 16 }, output_embedding = 0,
    alignment = 'along', seed = 4 }
  local trainer = pd.train.trainer { model = m, train = train, epochs = 4, accuracy_every = 0, batch = 20,
    optimizer = { kind = 'adam', learning_rate = 0.02 }, stop_patience = 0, seed = 1, progress = false }
  for _ in trainer:epochs() do end
  local found = pd.train.evaluate(m, train, { pairs = 200, seed = 7 })
  assert(found.symbol_accuracy > 0.95, found.symbol_accuracy)
  test.near(found.symbol_accuracy, found.prediction_accuracy, 1e-12)
  test.equal(m:translate '1 0 1 1', '1 1 0 1')
  test.equal(#m:translate { '', '1' }[1], 0)
  test.fails('a target has as many symbols as its source, 2, got 1', function() m:log_probability('1 1', '0') end)
  test.fails("option 'group' must be s2 to s6, a3 to a6 or z2 to z1000, got 'd4'",
    pd.task.transduction, { kind = 'word_problem', group = 'd4' })
end)

test('pictures of the memory', function()
  for kind, rows in pairs { stratification = 3 + 1 + 6, stratification_queue = 3 + 1 + 6,
    stratification_deque = 6 + 1 + 12 } do
    local m = model(kind, pairs_of('copy', 1, 3))
    local run = m:strengths('a1 a2', 'a2 a1')
    local drawn = pd.plot.strengths_text { run = run, symbols = { '<s>', 'a1', 'a2', '|||', 'a2', 'a1' }, ascii = true,
      title = 'memory', columns = 80 }
    local _, lines = drawn:gsub('|\n', '')
    test.equal(lines, rows)
    assert(drawn:find('memory\n', 1, true) and drawn:find('strength: 0 to 1', 1, true), drawn)
    assert(not drawn:find('[\128-\255]'), drawn)
    local picture = pd.plot.strengths { run = run, what = kind == 'stratification_deque' and 'read_top' or 'read' }
    assert(picture:find('^<%?xml') or picture:find('^<svg'), picture:sub(1, 40))
    test.fails("option 'memory' must be 1 to 1", function() pd.plot.strengths { run = run, memory = 2 } end)
  end
  -- The vector that is pushed at step 2 is in the column of step 2 and in its own row.
  local bare = pd.stack.strengths { kind = 'stratification', push = pd.tensor { { 0, 1, 0 } },
    pop = pd.tensor { { 0, 0, 0 } }, vectors = pd.tensor { { { 1 }, { 1 }, { 1 } } } }
  local first = {}
  for name, tensor in pairs(bare) do first[name] = tensor[1] end
  local text = pd.plot.strengths_text { run = first, ascii = true, columns = 80 }
  assert(text:find('\n   2 |  ####|\n', 1, true), text)
end)

test('heat maps as text', function()
  test.equal(pd.plot.heat_text { values = { { 0, 0.5, 1 }, { 1, 0 / 0, 0 } }, y_labels = { 'up', 'x' }, ascii = true },
    'up | :#|\n x |#  |\n    from light to dark: 0 to 1\n')
  test.fails("option 'values' must be a list of lists", function() pd.plot.heat_text { values = 3 } end)
end)

test('invalid input', function()
  local train = pairs_of('copy', 1, 3)
  local m = model('stratification', train)
  test.fails("'b'", function() m:translate 'a1 b' end)
  test.fails('target_alphabet', function() pd.model.transducer { source_alphabet = { 'a' } } end)
  test.fails('not both', function() pd.model.transducer { pairs = train, source_alphabet = { 'a' } } end)
  test.fails('valid', function() pd.train.trainer { model = m, train = pairs_of('copy', 1, 3), valid = train } end)
  test.fails('decision', function() pd.train.evaluate(m, train, { decision = 'mean' }) end)
end)

test.finish()
