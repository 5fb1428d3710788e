-- The trainings of Butoi et al. (2025): languages, strings, networks, losses and the measures of a run.
local pd = require 'pushdown'
local grid = require 'pushdown.grid'
local table_of = require 'pushdown.text.table'
local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''

local evaluated = 100  -- strings measured at once

-- The eighteen languages of the benchmark, and ours.
local M = { languages = {}, models = dofile(here .. 'models.lua'), beyond = { 'dyck_2', 'reversals', 'formulas' },
  tasks = { 'even_pairs', 'repeat_01', 'parity', 'cycle_navigation', 'modular_arithmetic', 'dyck_2_3', 'first',
    'majority', 'marked_reversal', 'unmarked_reversal', 'stack_manipulation', 'marked_copy', 'missing_duplicate_string',
    'odds_first', 'binary_addition', 'binary_multiplication', 'compute_sqrt', 'bucket_sort' } }

for _, names in ipairs { M.tasks, M.beyond } do
  for _, name in ipairs(names) do M.languages[name] = pd.languages.load(name) end
end
local model_of = {}
for _, model in ipairs(M.models) do model_of[model.name] = model end

-- The name here of a folder of the benchmark.
function M.name_of(folder)
  return folder == 'modular-arithmetic-simple' and 'modular_arithmetic' or (folder:gsub('-', '_'))
end

function M.title(task) return M.languages[task] and M.languages[task].title or task end
function M.level(task) return M.languages[task] and M.languages[task].level or '' end

-- The losses of Butoi et al. (2025), section 3. Each is that of the label after the end of the string, and `weight`
-- times one of what may come next in a valid string. The first symbol is not predicted.
local function with_label(batch, losses)
  if not batch.ends then return losses end
  local score = batch.scores[{ {}, batch.scores:size(2) }]
  return losses + score:softplus() - score * batch.labels
end

-- The cross-entropy of the symbols of a valid string and its end, divided by their number.
local function of_symbols(batch, weight)
  local passes = batch.scores:size(2)
  local there = batch.next:gt(0):to 'float32' * batch.labels:to('float32'):reshape(-1, 1)
  local log_probabilities = batch.next_scores:log_softmax(3)
  local of_next = log_probabilities:gather(3, batch.next:clamp(1, 1e9):reshape(-1, passes, 1)):reshape(-1, passes)
  return (there * of_next):sum(2) * (-weight / batch.length)
end

-- Of the sets of what may follow, the end among it: the mean cross-entropy of whether it is in the set.
local function of_sets(batch, weight)
  local scores = batch.next_scores
  local known, member = batch.next_sets:gt(0):to 'float32', batch.next_sets:gt(1):to 'float32'
  return ((scores:softplus() - scores * member) * known):mean(3):sum(2) * (weight / batch.length)
end

-- The objectives of --loss, by their endings. The two parts of lm+ns share an output layer; the paper's have one each.
local objectives = {}
for _, each in ipairs {
  { 'lm', 'language_model', 'the mean one of the next symbols', of_symbols },
  { 'ns', 'next_symbols', 'the mean one of the sets of next symbols', of_sets, sets = true },
  { 'lm+ns', 'both', 'both, of the next symbols and of their sets', function(batch, weight)
    return of_symbols(batch, weight) + of_sets(batch, weight)
  end, sets = true },
} do
  local name, of_next = 'recognition_and_' .. each[2], each[4]
  objectives['recognition+' .. each[1]] = name
  pd.train.define_objective {
    name = name, needs_next_symbol = true, needs_next_sets = each.sets,
    doc = ('Cross-entropy of the label at the end, and weight times %s of valid strings.'):format(each[3]),
    options = { { 'weight', 1, 'of the next symbols', type = 'number', minimum = 0 } },
    losses = function(self, batch) return with_label(batch, of_next(batch, self.options.weight)) end,
  }
end

-- A language, with --published-labels or the published strings that of their labels; nil if there is none.
local function language_of(options)
  local language = M.languages[M.name_of(options.task)]
  return (options.published_labels or options.data ~= '') and language and language.published or language
end

-- The strings of a language and hard negatives in equal numbers, of the lengths of the test, over the alphabet of the
-- training strings; nil if there are none.
function M.hard(options, alphabet)
  local language = language_of(options)
  if not language or language.counted or options.hard_strings == 0 then return nil end
  return language:hard_negatives(options.hard_strings, options.test_lengths,
    grid.seed('flare', 'hard', options.data_seed), 0.5, alphabet)
end

-- The floors (labelled:floor) of simple classifiers that learn from the training strings, on the test strings and on
-- those of M.hard, which may be nil.
function M.floors(options)
  local sets = M.sets(options)
  local hard = M.hard(options, sets.train:alphabet())
  return sets.train:floor(sets.test), hard and sets.train:floor(hard)
end

-- The strings of a language that are drawn here: of the paper's sampling, and `near` more, half of them hard negatives.
local function drawn(options, language, name, count, lengths, near)
  local with_sets = options.loss:find('+ns', 1, true) and (name == 'train' or name == 'first')
  local set = language:sample(count, lengths, grid.seed('flare', name, options.data_seed), with_sets)
  if near == 0 then return set end
  return language:join({ set, language:hard_negatives(near, lengths,
    grid.seed('flare', name .. '-near', options.data_seed), 0.5) }, with_sets)
end

-- The lengths of all sets: whole numbers from 0, the shortest and the longest one.
local function check_lengths(options)
  for _, name in ipairs { 'lengths', 'first_lengths', 'long_lengths', 'test_lengths' } do
    local shortest, longest = unpack(options[name])
    if #options[name] ~= 2 or shortest % 1 ~= 0 or longest % 1 ~= 0 or shortest < 0 or longest < shortest then
      error(('--%s: expected the shortest and the longest length, two whole numbers from 0, got %s'):format(
        name:gsub('_', '-'), table.concat(options[name], ',')), 0)
    end
  end
end

-- {train =, short =, long =, test =, first = of the first stage, if there is one}: labelled strings, the same for every
-- run of a language.
function M.sets(options)
  check_lengths(options)
  local own = options.near > 0 or options.valid_near > 0 or options.first_epochs > 0
  if options.data ~= '' then
    if own then
      error('--near, --valid-near and --first-epochs need strings that are made here, not those of --data', 0)
    end
    local found = pd.data.flare(options.data .. '/' .. options.task)
    local sets = { train = found.train, short = found.validation_short, long = found.validation_long,
      test = found.test }
    for _, name in ipairs { 'short', 'long', 'test' } do
      if not sets[name] then
        error(('%s/%s has no %s'):format(options.data, options.task, name == 'test' and 'datasets/test'
          or 'datasets/validation-' .. name), 0)
      end
    end
    return sets
  end
  local language, sets = M.languages[options.task] and language_of(options), {}
  if not language then
    error(("--task %s: expected one of %s, %s, or --data with the benchmark's folders"):format(options.task,
      table.concat(M.tasks, ', '), table.concat(M.beyond, ', ')), 0)
  end
  for _, part in ipairs { { 'train', options.strings, options.lengths, options.near },
    { 'short', options.valid_strings, options.lengths, options.valid_near },
    { 'long', options.valid_strings, options.long_lengths, options.valid_near },
    { 'test', options.test_strings, options.test_lengths, 0 } } do
    sets[part[1]] = drawn(options, language, unpack(part))
  end
  if options.first_epochs > 0 then
    sets.first = drawn(options, language, 'first', options.strings, options.first_lengths, options.near)
  end
  return sets
end

local function network(options, alphabet, hidden)
  local own = setmetatable({ hidden = hidden }, { __index = options })
  local given = { alphabet = alphabet, seed = options.seed, next_symbol = objectives[options.loss] ~= nil,
    end_symbol = options.end_symbol, end_outcome = objectives[options.loss] ~= nil and not options.end_symbol,
    dropout = options.dropout, feedforward = 4 * options.width }
  if model_of[options.model].architecture ~= 'transformer' then
    given.embedding, given.initial_state = options.embedding and hidden or 0, options.initial_state
    if not model_of[options.model].without_noise then given.noise = options.noise end
  end
  return pd.model.recognizer(pd.paper.network(model_of[options.model], own, given))
end

-- The network of a run. Its number of parameters grows with the hidden size.
local function make_model(options, alphabet)
  local wanted = options.parameter_budget
  if wanted == 0 or model_of[options.model].architecture == 'transformer' then
    return network(options, alphabet, options.hidden)
  end
  local function count(hidden) return network(options, alphabet, hidden):parameter_count() end
  local low, high = 1, 2
  while count(high) < wanted do low, high = high, 2 * high end
  while high - low > 1 do
    local middle = math.floor((low + high) / 2)
    if count(middle) < wanted then low = middle else high = middle end
  end
  return network(options, alphabet, wanted - count(low) <= count(high) - wanted and low or high)
end

-- ---- One training ----

local function epochs_of(options) return options.first_epochs + options.epochs end

-- The options of pd.train.resume.
function M.resumed(options) return { epochs = epochs_of(options), stop_patience = options.patience } end

-- A run may be given more epochs later.
function M.enough(result, options) return result.converged or result.epochs >= epochs_of(options) end

-- The options of the trainer.
function M.trainer(options, sets)
  local objective = options.loss == 'recognition' and 'final'
    or { kind = objectives[options.loss], weight = options.loss_weight }
  local given = {
    model = make_model(options, sets.train:alphabet()),
    batch_symbols = options.batch_symbols, batch = options.batch_symbols > 0 and evaluated or options.batch,
    average = options.batch_symbols > 0 and 'batches' or 'strings', epochs = epochs_of(options), objective = objective,
    best_by = 'label_cross_entropy', stop_accuracy = 0, stop_patience = options.patience,
    decay_patience = options.decay_patience, decay_factor = 0.5, clip_norm = options.clip,
    optimizer = { kind = 'adam', learning_rate = options.learning_rate },
  }
  if sets.first then
    local valid = sets[options.validation]
    given.stages = { { train = sets.first, valid = valid, epochs = options.first_epochs },
      { train = sets.train, valid = valid, learning_rate = options.rate_after * options.learning_rate } }
  else
    given.train, given.valid = sets.train, sets[options.validation]
  end
  return given
end

-- Writes lengths.csv, and returns the result.
function M.measure(options, trained, run)
  local sets, last, model = trained.data, trained.last, pd.model.load(run.folder)
  local found, rows = {}, {}
  for _, name in ipairs { 'train', 'short', 'long', 'test' } do
    found[name] = pd.train.evaluate(model, sets[name], { bin_width = 10, batch = evaluated })
  end
  local hard = M.hard(options, sets.train:alphabet())
  for i, bin in ipairs(found.test.bins) do
    rows[i] = { (bin.shortest + bin.longest) / 2, bin.accuracy, bin.strings }
  end
  table_of.new({ columns = { 'length', 'accuracy', 'strings' }, rows = rows }):save(run:path 'lengths')
  return { 'task', 'model', 'learning_rate', 'batch_symbols', 'seed', 'restart',
    { 'parameters', model:parameter_count() }, { 'epochs', #trained.history }, { 'best_epoch', last.best_epoch },
    { 'train_accuracy', found.train.accuracy }, { 'valid_accuracy', found[options.validation].accuracy },
    { 'valid_loss', found[options.validation].label_cross_entropy }, { 'valid_short_accuracy', found.short.accuracy },
    { 'valid_long_accuracy', found.long.accuracy }, { 'train_loss', trained.history[last.best_epoch].train_loss },
    { 'score', found.test.accuracy },
    { 'hard_accuracy', hard and pd.train.evaluate(model, hard, { batch = evaluated }).accuracy },
    { 'seconds', trained.seconds }, { 'stopped', trained.stopped },
    { 'converged', options.patience > 0 and last.epochs_since_improvement >= options.patience } }
end

return M
