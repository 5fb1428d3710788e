-- How well models do on strings of each length: one line for each model, or for the mean of several of one name.
local check = require 'pushdown.plot.figure'.check
local statistics = require 'pushdown.statistics'

local labels = {
  cross_entropy_difference = 'cross-entropy above the lower bound, nats per symbol',
  cross_entropy = 'cross-entropy, nats per symbol', perplexity = 'perplexity', accuracy = 'accuracy',
  error = 'error, %', set_accuracy = 'strings whose next symbols are all predicted',
}

local function is_model(value)
  return type(value) == 'userdata' and (pcall(function() return value.parameters end))
end

-- {name=, models=} of every line, in the order given, or by name.
local function groups_of(given, where)
  check(type(given) == 'table' or is_model(given), where, 'models must be a model, or a table of models, got %s',
    type(given))
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

-- {length=, data=} of every length that has strings.
local function data_of(spec, recognizes, where)
  local pd = require 'pushdown'
  local grammar = spec.grammar
  check(grammar ~= nil, where, 'a grammar is missing')
  if type(grammar) == 'string' then grammar = pd.grammar.load(grammar) end
  local lengths = spec.lengths or { 1, 40 }
  local count, seed = spec.strings or 20, spec.seed or 1
  local all = {}
  for _, length in ipairs(grammar:sampler({ lengths = lengths }):lengths()) do
    local data
    if recognizes then
      local half = math.ceil(count / 2)
      data = pd.task.labelled { grammar = grammar, lengths = { length, length }, positives = half, negatives = half,
        distinct = 'none', seed = seed + length }
    else
      data = grammar:sampler({ lengths = { length, length } }):dataset(count, { seed = seed + length })
    end
    all[#all + 1] = { length = length, data = data }
  end
  check(#all > 0, where, 'the grammar has no strings of these lengths')
  return all
end

local drawn = setmetatable({}, { __mode = 'k' })  -- what was measured for a table of options

-- The options of plot.lines and plot.text for those of plot.by_length.
return function(spec, where)
  check(type(spec) == 'table', where, 'expected a table of options, got %s', type(spec))
  if drawn[spec] then return drawn[spec] end
  local pd = require 'pushdown'
  local groups = groups_of(spec.models, where)
  local recognizes = tostring(groups[1].models[1]):match('^Recognizer') ~= nil
  local measure = spec.measure or (recognizes and 'accuracy' or 'cross_entropy_difference')
  local data, series = data_of(spec, recognizes, where), {}
  for _, group in ipairs(groups) do
    local line = { name = group.name, x = {}, y = {}, low = #group.models > 1 and {} or nil,
      high = #group.models > 1 and {} or nil }
    for i, point in ipairs(data) do
      local values = {}
      for k, model in ipairs(group.models) do
        local found = pd.train.evaluate(model, point.data, { bin_width = point.length + 1 })
        values[k] = found[measure]
        check(type(values[k]) == 'number', where, "'%s' is no measure of %s", tostring(measure), tostring(model))
      end
      local mean, deviation = statistics(values)
      line.x[i], line.y[i] = point.length, mean
      if line.low then line.low[i], line.high[i] = mean - (deviation or 0), mean + (deviation or 0) end
    end
    series[#series + 1] = line
  end
  local lines = { series = series, x_label = spec.x_label or 'length',
    y_label = spec.y_label or labels[measure] or measure }
  for key, value in pairs(spec) do
    if lines[key] == nil and key ~= 'models' and key ~= 'grammar' and key ~= 'lengths' and key ~= 'strings'
      and key ~= 'measure' and key ~= 'seed' then
      lines[key] = value
    end
  end
  drawn[spec] = lines
  return lines
end
