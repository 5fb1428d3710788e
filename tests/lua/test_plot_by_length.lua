-- Measures of models by the length of the strings: the plot shows what pd.train.evaluate measures.
local test = require 'pushdown.test'
local pd = require 'pushdown'
local plot = require 'pushdown.plot'
local kind = require 'pushdown.plot.by_length'
local options = pd._options.declare('plot.by_length', unpack(kind.options))
local function lines_of(spec) return kind.lines_of(options(spec)) end

local grammar = pd.grammar.load 'marked_reversal'
local function model(seed) return pd.model.language_model { alphabet = grammar:alphabet(), seed = seed } end
local function recognizer(seed) return pd.model.recognizer { alphabet = grammar:alphabet(), seed = seed } end

test('language models, of the lengths that have strings', function()
  local one = model(1)
  local lines = lines_of({ models = one, grammar = 'marked_reversal', lengths = { 2, 9 }, strings = 5 })
  test.equal(table.concat(lines.series[1].x, ' '), '3 5 7 9')
  for i, length in ipairs { 3, 5, 7, 9 } do
    local data = grammar:sampler({ lengths = { length, length } }):dataset(5, { seed = 1 + length })
    test.equal(lines.series[1].y[i], pd.train.evaluate(one, data).cross_entropy_difference)
  end
end)

test('several models of a name are shown as mean with a band, and names are in order', function()
  local models = { b = { model(1), model(2) }, a = model(1) }
  local lines = lines_of({ models = models, grammar = grammar, lengths = { 3, 3 }, measure = 'cross_entropy' })
  test.equal(lines.series[1].name, 'a')
  local alone, both = lines.series[1], lines.series[2]
  local other = lines_of({ models = model(2), grammar = grammar, lengths = { 3, 3 },
    measure = 'cross_entropy' })
  local first, second = alone.y[1], other.series[1].y[1]
  test.near(both.y[1], (first + second) / 2, 1e-12)
  test.near(both.high[1] - both.y[1], math.abs(first - second) / math.sqrt(2), 1e-12)
  test.equal(alone.low, nil)
end)

test('recognizers, as a picture and as text', function()
  local spec = { models = { mine = recognizer(1) }, grammar = grammar, lengths = { 3, 7 }, title = 'By length' }
  local picture = plot.by_length(spec)
  assert(picture:find('accuracy', 1, true) and picture:find('By length', 1, true))
  assert(plot.by_length_text(spec):find('length', 1, true))
end)

test('the strings of a dataset, by the bins of evaluate', function()
  local strings = {}
  for length = 3, 9, 2 do
    for _, text in ipairs(grammar:sampler({ lengths = { length, length } }):dataset(7, { seed = 2 }):strings()) do
      strings[#strings + 1] = text
    end
  end
  local data = pd.task.dataset { alphabet = grammar:alphabet(), strings = strings }
  local models = { model(1), model(2), model(3) }
  local lines = lines_of({ models = { all = models }, data = data, bin_width = 2, lengths = { 4, 9 } })
  local x, means = {}, {}
  for i, one in ipairs(models) do
    for _, bin in ipairs(pd.train.evaluate(one, data, { bin_width = 2 }).bins) do
      local middle = (bin.shortest + bin.longest) / 2
      if middle >= 4 then
        if i == 1 then x[#x + 1] = middle end
        means[middle] = (means[middle] or 0) + bin.cross_entropy / 3
      end
    end
  end
  assert(#x > 1)
  test.equal(table.concat(lines.series[1].x, ' '), table.concat(x, ' '))
  for i, middle in ipairs(x) do test.near(lines.series[1].y[i], means[middle], 1e-12) end
end)

test('own strings have no lower bound, and labelled ones are classified', function()
  local own = pd.task.dataset { alphabet = grammar:alphabet(), strings = { '0', '0 1', '# 1' } }
  test.equal(lines_of({ models = model(1), data = own }).y_label, 'cross-entropy, nats per symbol')
  local labelled = pd.task.labelled { grammar = grammar, lengths = { 3, 9 }, positives = 20, negatives = 20, seed = 1 }
  local one = recognizer(1)
  local lines = lines_of({ models = one, data = labelled })
  local bins = pd.train.evaluate(one, labelled, { bin_width = 1 }).bins
  test.equal(#lines.series[1].x, #bins)
  for i, bin in ipairs(bins) do test.equal(lines.series[1].y[i], bin.accuracy) end
end)

test('transducers', function()
  local words = pd.task.pairs { { 'a b', 'b a' }, { 'a', 'a' }, { 'a a b', 'b a a' } }
  local one = pd.model.transducer { pairs = words, controller = { kind = 'lstm', hidden = 4 }, seed = 1 }
  local lines = lines_of({ models = one, data = words, strings = 30, seed = 4, measure = 'symbol_accuracy' })
  local bins = pd.train.evaluate(one, words, { bin_width = 1, pairs = 30, seed = 4 }).bins
  test.equal(#lines.series[1].y, #bins)
  for i, bin in ipairs(bins) do test.equal(lines.series[1].y[i], bin.symbol_accuracy) end
  test.fails('a transducer is measured on data', plot.by_length, { models = one, grammar = grammar })
end)

test('the band is a deviation or a confidence interval', function()
  local models = { model(1), model(2), model(3) }
  local function half(spread)
    local line = lines_of({ models = { all = models }, grammar = grammar, lengths = { 5, 5 }, spread = spread },
      'here').series[1]
    return line.high[1] - line.y[1]
  end
  test.near(half 'interval' / half 'deviation', 4.302652729911275 / math.sqrt(3), 1e-9)  -- t of 2 degrees of freedom
end)

test('mistakes', function()
  test.fails('there are no models', function() plot.by_length { models = {}, grammar = grammar } end)
  test.fails('a grammar or data is missing', function() plot.by_length { models = model(1) } end)
  test.fails('not a measure',
    plot.by_length, { models = model(1), grammar = grammar, lengths = { 3, 3 }, measure = 'acuracy' })
  test.fails("'x'", function() plot.by_length { models = { x = 5 }, grammar = grammar } end)
end)

test.finish()
