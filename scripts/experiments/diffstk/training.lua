-- The trainings of Mali et al. (2021): languages, data, models and the measures of a run.
-- docs/reference/experiments/diffstk.md lists what comes from the paper and what was chosen where the paper is silent
-- or contradicts itself.
local pd = require 'pushdown'
local files = require 'pushdown.files'
local grid = require 'pushdown.grid'
local json = require 'pushdown.json'
local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''

local M = {}

M.tasks = { 'd2', 'd3', 'd6', 'palindrome' }
M.titles = { d2 = 'D₂', d3 = 'D₃', d6 = 'D₆', palindrome = 'Palindrome' }
local bracket_types = { d2 = 2, d3 = 3, d6 = 6 }
-- Training, validation and test strings.
local usual, sizes = { 6230, 1000, 3000 }, { d6 = { 15000, 2000, 4000 } }

-- Options of the recognizers by name, with the label and row of each model in the tables.
M.models, M.actions = dofile(here .. 'models.lua'), dofile(here .. 'actions.lua')

function M.grammar(options)
  if options.task == 'palindrome' then return pd.grammar.load('palindrome', { centre = options.centre }) end
  return pd.grammar.load('dyck_n', { bracket_types = bracket_types[options.task], p = options.p, p1 = options.p1 })
end

-- The first length from n on for which the language has strings; marked palindromes have odd lengths.
local function length_from(grammar, n)
  for length = n, n + 100 do
    if grammar:log_length_probability(length) > -math.huge then return length end
  end
  error(('the language has no strings of length %d to %d'):format(n, n + 100), 0)
end

-- The names of the sets with lengths, in the order in which they are made: train, valid, test, one set such as
-- n120 for each long length, curve.
function M.set_names(options)
  local names = { 'train', 'valid', 'test' }
  for _, n in ipairs(options.long_lengths) do names[#names + 1] = 'n' .. n end
  names[#names + 1] = 'curve'
  return names
end

-- The labelled strings of a language by set name; no two sets share a string.
function M.sets(options, grammar)
  local sets, made = {}, json.list {}
  local function add(name, strings, lengths)
    local matched = options.negatives == 'matched'
    sets[name] = pd.task.labelled { grammar = grammar, lengths = lengths, positives = math.floor(strings / 2),
      negatives = math.ceil(strings / 2), negative_kind = matched and 'matched' or nil,
      difficult = not matched and options.difficult or nil, swaps = options.swaps, edits = options.edits,
      exclude = made, seed = grid.seed('diffstk', name, options.data_seed) }
    made[#made + 1] = sets[name]
  end
  for i, name in ipairs { 'train', 'valid', 'test' } do
    local strings = options[name .. '_strings']
    if strings == 0 then strings = (sizes[options.task] or usual)[i] end
    add(name, strings, options[name .. '_lengths'])
  end
  for _, n in ipairs(options.long_lengths) do
    local length = length_from(grammar, n)
    add('n' .. n, options.long_strings, { length, length })
  end
  add('curve', options.long_strings, options.curve_lengths)
  return sets
end

-- Noise and carry-forward of a run: the option if it is given, else the model's own.
local function ablated(options)
  local own = M.models[options.model]
  local noise, carry = own.noise, own.carry_forward
  if options.noise ~= 'own' then
    noise = tonumber(options.noise)
    if not noise then error(("--noise needs 'own' or a number, got '%s'"):format(options.noise), 0) end
  end
  if options.carry_forward ~= 'own' then carry = options.carry_forward end
  return noise, carry
end

function M.model(options, grammar)
  local given, controller = {}, {}
  for key, value in pairs(M.models[options.model]) do given[key] = value end
  for key, value in pairs(given.controller) do controller[key] = value end
  given.row, given.label, given.controller = nil, nil, controller
  controller.hidden = options.hidden
  if controller.kind:find 'lstm$' then controller.activation = options.lstm_activation end
  given.noise, given.carry_forward = ablated(options)
  given.alphabet, given.seed, given.end_symbol = grammar:alphabet(), options.seed, options.end_symbol
  given.decision, given.next_symbol = options.decision, options.objective == 'joint'
  local model = pd.model.recognizer(given)
  local scaled = {}
  for name, tensor in pairs(model:parameters()) do
    local scale = options.initial_scale
    -- The weights of multiplicative integration start at 1.
    local uniform = name:find '^controller%.' and not name:find '^controller%.alpha' and
      not name:find '^controller%.beta' or name == 'coupling.weight'
    if uniform then scale = scale * options.initial_range / 0.1 end
    if scale ~= 1 then scaled[name] = tensor * scale end
  end
  model:set_parameters(scaled)
  return model
end

-- Incremental training has the same total number of epochs as sequential training; the lengths rise during the
-- first ones.
local function curriculum_of(options, train)
  if options.curriculum == 'sequential' then return 'sequential' end
  local lengths = train:lengths()
  local shortest, longest = math.max(1, math.min(unpack(lengths))), math.max(unpack(lengths))
  local rising = math.floor((longest - shortest) / options.step) + 1
  if rising >= options.epochs then
    error(('%d passes with rising lengths leave none of %d epochs; choose a larger --step'):format(rising,
      options.epochs), 0)
  end
  return { kind = 'incremental', step = options.step, epochs = { options.epochs - rising } }
end

-- The data of a run: {grammar =, sets =}.
function M.data(options)
  local grammar = M.grammar(options)
  return { grammar = grammar, sets = M.sets(options, grammar) }
end

-- The options of the trainer.
function M.trainer(options, data)
  local objective = { kind = options.objective }
  if options.objective == 'joint' then
    objective.symbol_weight, objective.validity_weight = options.symbol_weight, options.validity_weight
    objective.negatives = options.symbols_of == 'all'
  end
  return {
    model = M.model(options, data.grammar), train = data.sets.train, valid = data.sets.valid, objective = objective,
    learning = { kind = 'tbptt', window = options.window }, curriculum = curriculum_of(options, data.sets.train),
    best_by = options.best_by, grammar = options.best_by == 'next_symbols' and data.grammar or nil,
    batch = options.batch, average = 'batches', epochs = options.epochs,
    optimizer = { kind = 'adam', learning_rate = options.learning_rate }, clip_norm = 0, clip_value = options.clip,
    decay_patience = options.patience, decay_factor = 0.5, stop_patience = 0, stop_accuracy = 0,
  }
end

-- The measures of every run on every set, in percent: three decisions about whole strings; `prefix`: strings for which
-- the answer after every symbol says whether the prefix can still become valid; `next`: valid strings for which the
-- whole set of next symbols is predicted after every symbol (Suzgun et al. 2019); `ranked`: valid strings for which,
-- after every symbol, each symbol that may follow is more probable than every other one. The last needs no threshold.
M.decisions = { 'mean', 'last', 'every' }
M.measures = { 'mean', 'last', 'every', 'prefix', 'next', 'ranked' }
M.measure_titles = { mean = 'mean of answers', last = 'last answer', every = 'every answer',
  prefix = 'every prefix', next = 'every set of next symbols', ranked = 'every next symbol ranked' }

-- The threshold for the next symbols of a model is the smallest of these that predicts the most sets of the training
-- strings. The usual ones are above the probability of the mark in the shortest palindromes.
M.thresholds = { usual = { 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.15, 0.2 } }
M.thresholds.low = { 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, unpack(M.thresholds.usual) }

-- The measures of every set, <set>_<measure>, the threshold, and the errors on the test strings; writes those by string
-- length to lengths.csv.
local function measures_of(model, options, data, run)
  local sets, result = data.sets, {}
  -- Only the objective joint predicts symbols.
  local thresholds, threshold = M.thresholds[options.thresholds]
  if options.threshold > 0 or options.objective ~= 'joint' then threshold = options.threshold end
  local lines = { 'set,shortest,longest,strings,right_' .. table.concat(M.decisions, ',right_') }
  for _, name in ipairs(M.set_names(options)) do
    -- The training strings come first and determine the threshold.
    local measured = pd.train.evaluate(model, sets[name], { decisions = M.decisions, batch = 50, grammar = data.grammar,
      thresholds = threshold and { threshold } or thresholds })
    local by, predicted = measured.decisions, measured.next_symbol_accuracies
    if not threshold then
      local best = 1
      for i, share in ipairs(predicted) do
        if share > predicted[best] then best = i end
      end
      threshold, predicted = thresholds[best], { predicted[best] }
    end
    for _, decision in ipairs(M.decisions) do result[name .. '_' .. decision] = 100 * by[decision].accuracy end
    result[name .. '_prefix'] = 100 * measured.prefix_accuracy
    result[name .. '_next'] = predicted and 100 * predicted[1] or nil
    result[name .. '_ranked'] = measured.next_symbol_ranking and 100 * measured.next_symbol_ranking
    if name == 'test' then
      result.test_missed, result.test_false_positives = by[options.decision].missed,
        by[options.decision].false_positives
    end
    for i, bin in ipairs(by.mean.bins) do
      local line = { name, bin.shortest, bin.longest, bin.strings }
      for _, decision in ipairs(M.decisions) do
        local of = by[decision].bins[i]
        line[#line + 1] = of.strings - of.missed - of.false_positives
      end
      lines[#lines + 1] = table.concat(line, ',')
    end
  end
  result.threshold = threshold > 0 and threshold or nil
  files.write(run:path 'lengths.csv', table.concat(lines, '\n') .. '\n')
  return result
end

-- The result of a run.
function M.measure(options, trained, run)
  local noise, carry = ablated(options)
  local found = measures_of(pd.model.load(run.folder, { which = options.measured }), options, trained.data, run)
  local result = { 'task', 'model', 'curriculum', { 'noise', noise }, { 'carry_forward', carry }, 'decision', 'seed',
    'restart', { 'parameters', trained.trainer:model():parameter_count() }, { 'epochs', #trained.history },
    { 'best_epoch', trained.last.best_epoch }, { 'seconds', trained.seconds }, { 'stopped', trained.stopped } }
  local names = { 'threshold' }
  for _, set in ipairs(M.set_names(options)) do
    for _, of in ipairs(M.measures) do names[#names + 1] = set .. '_' .. of end
  end
  names[#names + 1], names[#names + 2] = 'test_missed', 'test_false_positives'
  for _, name in ipairs(names) do result[#result + 1] = { name, found[name] } end
  return result
end

-- The score of an exact automaton by the mean of its answers, in percent of a set. It answers 1 as long as the prefix
-- begins a string of the language, else 0, and after the end symbol whether the string was valid.
function M.automaton_mean(options, grammar, set)
  local targets, labels, right = set:step_targets(grammar), set:labels(), 0
  for i, viable in ipairs(targets.viable) do
    local sum, steps = 0, 0
    for t = 2, #viable do sum, steps = sum + viable[t], steps + 1 end
    if options.end_symbol then sum, steps = sum + targets.member[i][#viable], steps + 1 end
    if (sum / steps > 0.5) == labels[i] then right = right + 1 end
  end
  return 100 * right / #labels
end

return M
