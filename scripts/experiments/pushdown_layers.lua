-- Pushdown Layers (Murty, Sharma, Andreas and Manning 2023) on a Dyck language: a transformer of attention layers, and
-- one whose last layers are pushdown_attention and learn from the trees of the strings. Both are tested on strings that
-- are longer, and on strings that are nested deeper, than those of training.
--
--   pushdown pushdown_layers --seeds 3
local experiment = require 'pushdown.experiment'
local pd = require 'pushdown'
local statistics = require 'pushdown.statistics'

local options, run = experiment.start {
  name = 'pushdown_layers/dyck',
  doc = 'Closing brackets in long and deep strings: pushdown attention and plain attention.',
  options = {
    { 'types', 4, 'types of brackets', minimum = 1, maximum = 9 },
    { 'lengths', { 2, 24 }, 'shortest and longest string of training' },
    { 'long', { 42, 60 }, 'shortest and longest of the long test strings' },
    { 'deep', { 36, 48 }, 'shortest and longest of the deep test strings, which are nested to half their length' },
    { 'strings', 2000, 'training strings', minimum = 10 },
    { 'test_strings', 100, 'strings of each test', minimum = 1 },
    { 'epochs', 20, 'passes over the training strings', minimum = 1 },
    { 'batch', 20, 'strings in one update', minimum = 1 },
    { 'layers', 2, 'layers of both models', minimum = 1 },
    { 'pushdown_layers', 1, 'how many of them, the last ones, are pushdown_attention', minimum = 1 },
    { 'depths', 2, 'depths that the layer tells apart', minimum = 2 },
    { 'positions', 'relative', 'encoding of positions of both models',
      choices = { 'none', 'sinusoidal', 'rotary', 'alibi', 'relative' } },
    { 'hidden', 32, 'size of the vectors', minimum = 4 },
    { 'heads', 4, 'attention heads', minimum = 1 },
    { 'learning_rate', 3e-3, 'of Adam', minimum = 0, type = 'number' },
    { 'seeds', 3, 'trainings of each model', minimum = 1 },
  },
  quick = { strings = 500, test_strings = 40, epochs = 10, seeds = 1 },
  smoke = { lengths = { 2, 8 }, long = { 12, 14 }, deep = { 10, 12 }, strings = 60, test_strings = 4, epochs = 2,
    hidden = 8, heads = 2, seeds = 1 },
}

-- Every bracket is one phrase with what it contains, so that a closing bracket completes the tree up to its opening
-- bracket, and only there: the attachments of a string follow from its beginning.
local balanced, nested, closing = { 'S -> ' }, { 'S -> ' }, {}
for i = 1, options.types do
  local bar = i == 1 and '' or ' | '
  balanced[1] = ("%s%s'(%d' R%d"):format(balanced[1], bar, i, i)
  balanced[#balanced + 1] = ("R%d -> S R%d | ')%d'"):format(i, i, i)
  nested[1] = ("%s%s'(%d' S ')%d' | '(%d' ')%d'"):format(nested[1], bar, i, i, i, i)
  closing[i] = ')' .. i
end
local grammar = pd.grammar.parse(table.concat(balanced, '\n'))
local function drawn(from, lengths, count, seed)
  return from:sampler { lengths = lengths }:dataset(count, { trees = 'right', seed = seed })
end
local tests = {
  { name = 'same lengths', data = drawn(grammar, options.lengths, options.test_strings, 101) },
  { name = 'longer', data = drawn(grammar, options.long, options.test_strings, 102) },
  { name = 'deeper', data = drawn(pd.grammar.parse(nested[1]), options.deep, options.test_strings, 103) },
}

local function model_of(pushdown, seed)
  local layers = {}
  for i = 1, options.layers do
    layers[i] = pushdown and i > options.layers - options.pushdown_layers
      and { kind = 'pushdown_attention', depths = options.depths } or 'attention'
  end
  return pd.model.language_model { architecture = 'transformer', alphabet = grammar:alphabet(), layers = layers,
    positions = options.positions, hidden = options.hidden, heads = options.heads, feedforward = 2 * options.hidden,
    seed = seed }
end

-- The share of closing brackets that the model finds more probable than the other closing brackets at their places.
local function closing_accuracy(model, data)
  local alphabet, right, all = model:alphabet():symbols(), 0, 0
  local ids = {}
  for id, symbol in ipairs(alphabet) do ids[symbol] = id end
  for _, text in ipairs(data:strings()) do
    local logits, t = model:logits(text):to_table(), 0
    for symbol in text:gmatch '%S+' do
      t = t + 1
      if symbol:sub(1, 1) == ')' then
        local best = closing[1]
        for _, other in ipairs(closing) do
          if ids[other] and logits[t][ids[other]] > logits[t][ids[best]] then best = other end
        end
        right, all = right + (best == symbol and 1 or 0), all + 1
      end
    end
  end
  return right / all
end

local function found_trees(model, data)
  local trees = {}
  for i, text in ipairs(data:strings()) do trees[i] = model:trees(text)[1] end
  return pd.tree.score(trees, data:trees()):f1()
end

local rows, result = {}, {}
for _, kind in ipairs { 'attention', 'pushdown' } do
  local values, seconds = {}, 0
  for seed = 1, options.seeds do
    local model = model_of(kind == 'pushdown', seed)
    local trainer = pd.train.trainer { model = model, epochs = options.epochs, batch = options.batch, seed = seed,
      train = drawn(grammar, options.lengths, options.strings, 10 + seed), clip_norm = 1,
      valid = drawn(grammar, options.lengths, options.test_strings, 50 + seed),
      optimizer = { kind = 'adam', learning_rate = options.learning_rate } }
    local begun = os.clock()
    for _ in trainer:epochs() do end
    seconds = seconds + os.clock() - begun
    for _, of in ipairs(tests) do
      values[of.name] = values[of.name] or { accuracy = {}, f1 = {} }
      table.insert(values[of.name].accuracy, 100 * closing_accuracy(model, of.data))
      if kind == 'pushdown' then table.insert(values[of.name].f1, found_trees(model, of.data)) end
    end
    result.parameters = model:parameter_count()
  end
  for _, of in ipairs(tests) do
    local mean, deviation, least, greatest = statistics(values[of.name].accuracy)
    local f1 = statistics(values[of.name].f1)
    rows[#rows + 1] = { kind, of.name, options.seeds, mean, deviation, least, greatest, f1, seconds / options.seeds }
    result[('%s %s'):format(kind, of.name)] = mean
  end
end

run:table('dyck', {
  title = ('Closing brackets, %d types, that are more probable than the others; trained on %d to %d symbols.'):format(
    options.types, options.lengths[1], options.lengths[2]),
  columns = { 'model', 'test', 'n', { 'closing brackets %', format = '%.1f' }, { 'deviation', format = '%.1f' },
    { 'least', format = '%.1f' }, { 'greatest', format = '%.1f' }, { 'trees F1 %', format = '%.1f' },
    { 'training s', format = '%.0f' } },
  rows = rows })
run:finish(result)
