-- Models by the length of the strings: what is drawn is what pd.train.evaluate measures.
local test = require 'pushdown.test'
local pd = require 'pushdown'
local plot = require 'pushdown.plot'
local lines_of = require 'pushdown.plot.by_length'

local grammar = pd.grammar.load 'marked_reversal'
local function model(seed) return pd.model.language_model { alphabet = grammar:alphabet(), seed = seed } end
local function recognizer(seed) return pd.model.recognizer { alphabet = grammar:alphabet(), seed = seed } end

test('language models, of the lengths that have strings', function()
  local one = model(1)
  local lines = lines_of({ models = one, grammar = 'marked_reversal', lengths = { 2, 9 }, strings = 5 }, 'here')
  test.equal(table.concat(lines.series[1].x, ' '), '3 5 7 9')
  for i, length in ipairs { 3, 5, 7, 9 } do
    local data = grammar:sampler({ lengths = { length, length } }):dataset(5, { seed = 1 + length })
    test.equal(lines.series[1].y[i], pd.train.evaluate(one, data).cross_entropy_difference)
  end
end)

test('several of a name are their mean with a band, and names are in order', function()
  local models = { b = { model(1), model(2) }, a = model(1) }
  local lines = lines_of({ models = models, grammar = grammar, lengths = { 3, 3 }, measure = 'cross_entropy' }, 'here')
  test.equal(lines.series[1].name, 'a')
  local alone, both = lines.series[1], lines.series[2]
  local other = lines_of({ models = model(2), grammar = grammar, lengths = { 3, 3 },
    measure = 'cross_entropy' }, 'here')
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

test('mistakes', function()
  test.fails('there are no models', function() plot.by_length { models = {}, grammar = grammar } end)
  test.fails('a grammar is missing', function() plot.by_length { models = model(1) } end)
  test.fails('no measure', function()
    plot.by_length { models = model(1), grammar = grammar, lengths = { 3, 3 }, measure = 'acuracy' }
  end)
  test.fails("did you mean 'models'", function() plot.by_length { model = model(1), grammar = grammar } end)
  test.fails("'x'", function() plot.by_length { models = { x = 5 }, grammar = grammar } end)
end)

test.finish()
