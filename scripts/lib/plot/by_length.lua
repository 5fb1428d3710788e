-- Measures models on strings of each length: one line for each model, or for the mean of several of one name.
local check = require 'pushdown.plot.figure'.check
local interval = require 'pushdown.statistics.interval'
local lines = require 'pushdown.plot.lines'
local pd = require 'pushdown'
local rows = require 'pushdown.plot.rows'
local statistics = require 'pushdown.statistics'

local labels = {
  cross_entropy_difference = 'cross-entropy above the lower bound, nats per symbol',
  cross_entropy = 'cross-entropy, nats per symbol', perplexity = 'perplexity', accuracy = 'accuracy',
  error = 'error, %', set_accuracy = 'strings whose next symbols are all predicted',
  coarse = 'strings translated without a mistake', fine = 'symbols before the first mistake',
  symbol_accuracy = 'symbol accuracy',
}
local measures = { LanguageModel = 'cross_entropy_difference', Recognizer = 'accuracy', Transducer = 'coarse' }
local where = 'plot.by_length'

local function is_model(value)
  return type(value) == 'userdata' and (pcall(function() return value.parameters end))
end

-- {name=, models=} of every line: in the given order for a list, else sorted by name.
local function groups_of(given)
  if is_model(given) then return { { name = nil, models = { given } } } end
  local groups = {}
  for name, models in pairs(given) do
    if is_model(models) then models = { models } end
    check(type(models) == 'table' and #models > 0, where, "models['%s'] must be a model or a list of models, got %s",
      tostring(name), type(models))
    for i, model in ipairs(models) do
      check(is_model(model), where, "models['%s'][%d] must be a model, got %s", tostring(name), i, type(model))
    end
    groups[#groups + 1] = { name = tostring(name), models = models, key = name }
  end
  table.sort(groups, function(a, b)
    if type(a.key) == type(b.key) then return a.key < b.key end
    return type(a.key) == 'number'
  end)
  check(#groups > 0, where, 'there are no models')
  return groups
end

-- {length=, results=f} of every length for which the grammar has strings; f(model) returns the results.
local function lengths_of_grammar(spec, kind)
  local grammar = spec.grammar
  check(kind ~= 'Transducer', where, 'a transducer is measured on data, not on a grammar')
  if type(grammar) == 'string' then grammar = pd.grammar.load(grammar) end
  local count, seed = spec.strings or 20, spec.seed
  local all = {}
  for _, length in ipairs(grammar:sampler({ lengths = spec.lengths or { 1, 40 } }):lengths()) do
    local data
    if kind == 'Recognizer' then
      local half = math.ceil(count / 2)
      data = pd.task.labelled { grammar = grammar, lengths = { length, length }, positives = half, negatives = half,
        distinct = 'none', seed = seed + length }
    else
      data = grammar:sampler({ lengths = { length, length } }):dataset(count, { seed = seed + length })
    end
    all[#all + 1] = { length = length, results = function(model)
      return pd.train.evaluate(model, data, { bin_width = length + 1 })
    end }
  end
  check(#all > 0, where, 'the grammar has no strings of these lengths')
  return all
end

-- The same for the bins of a dataset. Each model is evaluated once.
local function lengths_of_data(spec, kind, models)
  local options = { bin_width = spec.bin_width or 1 }
  if kind == 'Transducer' then options.pairs, options.seed = spec.strings or 1000, spec.seed end
  local bins, all, lengths = {}, {}, spec.lengths or { 0, math.huge }
  for _, model in ipairs(models) do
    bins[model] = {}
    for _, bin in ipairs(pd.train.evaluate(model, spec.data, options).bins or {}) do
      local middle = (bin.shortest + bin.longest) / 2
      if middle >= lengths[1] and middle <= lengths[2] then
        if model == models[1] then
          all[#all + 1] = { length = middle, results = function(of) return bins[of][middle] or {} end }
        end
        bins[model][middle] = bin
      end
    end
  end
  check(#all > 0, where, 'the data has no strings of these lengths')
  return all
end

-- Half the height of the band around a mean of several values.
local function spread_of(spec, count, deviation)
  return spec.spread == 'interval' and interval(count, deviation) or deviation or 0
end

local drawn = setmetatable({}, { __mode = 'k' })  -- the measurements for a table of options

-- Converts the options of plot.by_length to those of plot.lines.
local function lines_of(spec)
  if drawn[spec] then return drawn[spec] end
  local groups, all = groups_of(spec.models), {}
  for _, group in ipairs(groups) do
    for _, model in ipairs(group.models) do all[#all + 1] = model end
  end
  local kind = tostring(all[1]):match '^%a+'
  local range = spec.lengths
  check(not range or #range == 2 and range[1] <= range[2], where,
    "option 'lengths' must be {lowest, highest} with 0 <= lowest <= highest")
  check(spec.grammar ~= nil or spec.data ~= nil, where, 'a grammar or data is missing')
  check(spec.grammar == nil or spec.data == nil, where, 'expected a grammar or data, got both')
  check(spec.bin_width == nil or spec.data ~= nil, where, 'bin_width is an option for data')
  local measure = spec.measure or measures[kind]
  local points = spec.data ~= nil and lengths_of_data(spec, kind, all) or lengths_of_grammar(spec, kind)
  if not spec.measure and kind == 'LanguageModel' and not points[1].results(all[1])[measure] then
    measure = 'cross_entropy'  -- of own strings no lower bound is known
  end
  local series = {}
  for _, group in ipairs(groups) do
    local line = { name = group.name, x = {}, y = {}, low = #group.models > 1 and {} or nil,
      high = #group.models > 1 and {} or nil }
    for i, point in ipairs(points) do
      local values = {}
      for k, model in ipairs(group.models) do
        values[k] = point.results(model)[measure]
        check(type(values[k]) == 'number', where, "'%s' is not a measure of %s", tostring(measure), tostring(model))
      end
      local mean, deviation = statistics(values)
      line.x[i], line.y[i] = point.length, mean
      if line.low then
        local half = spread_of(spec, #values, deviation)
        line.low[i], line.high[i] = mean - half, mean + half
      end
    end
    series[#series + 1] = line
  end
  local chart = { series = series, y_label = spec.y_label or labels[measure] or measure }
  for key, value in pairs(spec) do chart[key] = chart[key] or value end
  drawn[spec] = chart
  return chart
end

return { lines_of = lines_of, options = { {
  { 'models', nil, 'a model, or {name = model, ...}; a list of models under a name is shown as its mean with a band',
    type = 'LanguageModel or Recognizer or Transducer or table', required = true },
  { 'grammar', nil, 'the grammar of the strings, or its name', type = 'Grammar or text' },
  { 'data', nil, 'in place of a grammar: strings, for a transducer pairs',
    type = 'Dataset or LabelledDataset or Pairs' },
  { 'lengths', nil, 'shortest and longest length, by default {1, 40} of a grammar and all of data',
    type = 'list of integers', minimum = 0 },
  { 'strings', nil, 'number of strings of each length (20) drawn from the grammar, or of pairs that a transducer '
    .. 'translates (1000)', type = 'integer', minimum = 1 },
  { 'bin_width', nil, 'lengths in a bin of data (1)', type = 'integer', minimum = 1 },
  { 'measure', nil, 'a field of pd.train.evaluate, by default cross_entropy_difference of language models, accuracy of '
    .. 'recognizers, coarse (the share of strings without a mistake) of transducers', type = 'text' },
  { 'seed', 1, 'random seed of the strings', minimum = 0 },
  { 'spread', 'deviation', 'the band: one standard deviation, or the 95 % confidence interval',
    choices = { 'deviation', 'interval' } },
}, rows.reference, rows.axes, rows.labels 'length', rows.picture, rows.size(640, 400), rows.text },
  svg = function(spec) return lines.svg(lines_of(spec)) end,
  text = function(spec) return lines.text(lines_of(spec)) end }
