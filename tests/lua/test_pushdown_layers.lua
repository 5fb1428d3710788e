-- Pushdown attention in scripts: strings with trees, training, measuring and the trees that a model finds.
local pd = require 'pushdown'
local test = require 'pushdown.test'

local grammar = pd.grammar.parse [[
S -> '(' R | '[' T
R -> S R | ')'
T -> S T | ']'
]]
local sampler = grammar:sampler { lengths = { 2, 10 } }

local function model_of(layers, more)
  return pd.model.language_model(pd.tables.merged({ architecture = 'transformer', alphabet = grammar:alphabet(),
    layers = layers, hidden = 16, heads = 2, feedforward = 16, seed = 1 }, more))
end
local pushdown = { kind = 'pushdown_attention', depths = 2 }

test('samplers keep the trees of their strings', function()
  local data = sampler:dataset(20, { trees = 'right', seed = 3 })
  test.equal(data:size(), 20)
  assert(tostring(data):find('with trees', 1, true))
  local strings, trees = data:strings(), data:trees()
  for i, tree in ipairs(trees) do
    test.equal(table.concat(tree:words(), ' '), strings[i])
    test.equal(tree:brackets(), tree:binarized():brackets())
    -- A closing bracket completes what its opening bracket begins.
    local open, expected = {}, {}
    for k, word in ipairs(tree:words()) do
      if word == '(' or word == '[' then
        open[#open + 1] = k
      else
        expected[table.remove(open) .. '-' .. k] = true
      end
    end
    for _, span in ipairs(tree:spans()) do expected[span[1] .. '-' .. span[2]] = nil end
    test.equal(next(expected), nil)
  end
  test.fails('the strings have no trees', function() data:without_trees():trees() end)
  local left = sampler:dataset(20, { trees = 'left', seed = 3 })
  test.equal(table.concat(left:strings(), '|'), table.concat(strings, '|'))
end)

test('a dataset of given trees has their words', function()
  local trees = pd.tree.parse '(S (A (X a) (X b) (X c)) (X d))'
  local function dataset(branching)
    return pd.task.dataset { alphabet = { 'a', 'b', 'c', 'd' }, trees = trees, branching = branching }
  end
  test.equal(dataset():strings()[1], 'a b c d')
  test.equal(dataset():trees()[1]:brackets(), '((a (b c)) d)')
  test.equal(dataset('left'):trees()[1]:brackets(), '(((a b) c) d)')
  local path = test.folder() .. '/trees.txt'
  dataset():save(path)
  test.equal(pd.task.load_dataset(path):trees()[1]:brackets(), '((a (b c)) d)')
  test.fails('give strings or trees, not both',
    pd.task.dataset, { alphabet = { 'a', 'b', 'c', 'd' }, trees = trees, strings = { 'a' } })
  test.fails("'d'", function() pd.task.dataset { alphabet = { 'a', 'b', 'c' }, trees = trees } end)
end)

test('a model learns strings with their trees, resumes, and finds the trees again', function()
  local train = sampler:dataset(300, { trees = 'right', seed = 1 })
  local valid = sampler:dataset(50, { trees = 'right', seed = 2 })
  local function trainer_of(folder, epochs)
    return pd.train.trainer { model = model_of { 'attention', pushdown }, train = train, valid = valid,
      epochs = epochs, optimizer = { kind = 'adam', learning_rate = 0.01 }, seed = 1, progress = false,
      run_folder = folder }
  end
  local folder = test.folder() .. '/run'
  local whole = trainer_of(folder .. '1', 4)
  for _ in whole:epochs() do end
  local history = whole:history()
  assert(history[4].cross_entropy < history[1].cross_entropy)
  assert(history[4].cross_entropy_difference > -0.02)
  -- In two parts, with the data from the run folder.
  for _ in trainer_of(folder .. '2', 2):epochs() do end
  local resumed = pd.train.resume(folder .. '2', { epochs = 4, progress = false })
  for _ in resumed:epochs() do end
  test.equal(resumed:history()[4].cross_entropy, history[4].cross_entropy)

  local model = pd.model.load(folder .. '1', { which = 'last' })
  local with = pd.train.evaluate(model, valid)
  test.near(with.cross_entropy, history[4].cross_entropy, 1e-6)
  -- The same sum, tree by tree, and never below the symbols alone.
  local sum, of_symbols = 0, 0
  for _, tree in ipairs(valid:trees()) do
    local symbols, attachments = model:tree_log_probability(tree)
    sum, of_symbols = sum - symbols - attachments, of_symbols - symbols
  end
  test.near(sum / valid:symbol_count(), with.cross_entropy, 1e-4)
  assert(of_symbols < sum)
  local without = pd.train.evaluate(model, valid:without_trees())
  assert(without.cross_entropy > 0)

  local found = {}
  for i, text in ipairs(valid:strings()) do
    local trees, values = model:trees(text)
    test.equal(#trees, 1)
    found[i] = trees[1]
    local symbols, attachments = model:tree_log_probability(trees[1])
    test.near(symbols + attachments, values[1], 1e-3)
    test.near(model:log_probability(text), symbols, 1e-3)
    local wide, wider = model:trees(text, { beam = 5 })
    assert(#wide <= 5 and wider[1] >= values[1] - 1e-3)
  end
  assert(pd.tree.score(found, valid:trees()):f1() > 60)
end)

test('models without trees learn from the same data', function()
  local train = sampler:dataset(50, { trees = 'right', seed = 1 })
  local function cross_entropy(data)
    local trainer = pd.train.trainer { model = model_of { 'attention' }, train = data, epochs = 2, seed = 1,
      progress = false }
    for _ in trainer:epochs() do end
    return trainer:history()[2].train_cross_entropy
  end
  test.equal(cross_entropy(train), cross_entropy(train:without_trees()))
end)

test('what cannot work says so', function()
  local train, m = sampler:dataset(20, { trees = 'right', seed = 1 }), model_of { pushdown }
  test.fails("the layer 'pushdown_attention' learns from strings with trees, and the training set has none",
    function() pd.train.trainer { model = m, train = train:without_trees() } end)
  test.fails('strings with trees are read as a whole; leave out chunk',
    pd.train.trainer, { model = m, train = train, chunk = 3 })
  test.fails('strings with trees are read as a whole; leave out chunk', pd.train.evaluate, m, train, { chunk = 3 })
  test.fails("trees need a transformer with a layer 'pushdown_attention', got a transformer of attention",
    function() model_of({ 'attention' }):trees '( )' end)
  test.fails('the empty string has no tree', function() m:trees '' end)
  test.fails("the layer 'pushdown_attention' learns from a Dataset of strings with trees, got a LabelledDataset",
    function()
      pd.train.trainer { model = pd.model.recognizer { alphabet = grammar:alphabet(), architecture = 'transformer',
        layers = { pushdown }, hidden = 8, heads = 2, seed = 1 },
        train = pd.task.labelled { grammar = grammar, lengths = { 2, 6 }, positives = 4, negatives = 4, seed = 1 } }
    end)
end)

test.finish()
