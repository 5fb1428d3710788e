-- The protocol of Butoi et al. (2025) as one place for the scripts of this folder: languages, data, models, one
-- training and its score. docs/reference/experiments/flare.md lists what comes from the paper and what was chosen.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local grid = require 'pushdown.grid'
local json = require 'pushdown.json'
local report = require 'pushdown.report'
local suite = require 'pushdown.suite'
local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''

local evaluated = 100  -- strings measured at once

-- The eighteen languages of the benchmark, and ours.
local M = { languages = {}, models = {}, model_names = {}, beyond = { 'dyck_2', 'reversals', 'formulas' },
  tasks = { 'even_pairs', 'repeat_01', 'parity', 'cycle_navigation', 'modular_arithmetic', 'dyck_2_3', 'first',
    'majority', 'marked_reversal', 'unmarked_reversal', 'stack_manipulation', 'marked_copy', 'missing_duplicate_string',
    'odds_first', 'binary_addition', 'binary_multiplication', 'compute_sqrt', 'bucket_sort' } }

for _, names in ipairs { M.tasks, M.beyond } do
  for _, name in ipairs(names) do M.languages[name] = pd.languages.load(name) end
end
for i, model in ipairs(dofile(here .. 'models.lua')) do
  M.model_names[i], M.models[model.name] = model.name, model
end

-- The name here of a folder of the benchmark.
function M.name_of(folder)
  return folder == 'modular-arithmetic-simple' and 'modular_arithmetic' or (folder:gsub('-', '_'))
end

-- What every script of this folder can change.
M.options = {
  { 'data', '', "a folder of the benchmark, whose folders are languages; none: the strings are made here" },
  { 'lengths', { 0, 40 }, 'shortest and longest training string' },
  { 'long_lengths', { 0, 80 }, 'of the long validation strings' },
  { 'test_lengths', { 0, 500 }, 'of the test strings' },
  { 'strings', 10000, 'training strings', minimum = 2 },
  { 'valid_strings', 1000, 'strings of each validation set', minimum = 2 },
  { 'test_strings', 5010, 'test strings', minimum = 2 },
  { 'hard_strings', 1000, 'test strings of which one half are hard negatives, of the lengths of the test; 0: none',
    minimum = 0 },
  { 'near', 0, 'strings more for training, of which one half are hard negatives', minimum = 0 },
  { 'valid_near', 0, 'and for each validation set', minimum = 0 },
  { 'first_lengths', { 0, 20 }, 'of the training strings of a stage before, with --first-epochs' },
  { 'first_epochs', 0, 'epochs of this stage', minimum = 0 },
  { 'rate_after', 1, 'times --learning-rate is the learning rate at the start of the stage after it', type = 'number',
    minimum = 0 },
  { 'data_seed', 1, 'decides all strings, the same for every run', minimum = 0 },
  { 'published_labels', false, 'labels as in the published strings, also where they are wrong: compute_sqrt has the '
    .. 'roots of numbers in double precision' },
  { 'validation', 'short', 'the strings that choose epoch and setting', choices = { 'short', 'long' } },
  { 'loss', 'recognition', 'of the label alone, or with that of the next symbols of valid strings (lm), of the sets of '
    .. 'symbols that may follow in them (ns), or of both', choices = { 'recognition', 'recognition+lm',
    'recognition+ns', 'recognition+lm+ns' } },
  { 'end_symbol', true, "whether an end symbol is read before the answer; the paper's program reads none" },
  { 'epochs', 1000, 'passes over the training strings at most', minimum = 1, may_change = true },
  { 'patience', 10, 'epochs without a better validation after which training ends; 0: never', minimum = 0,
    may_change = true },
  { 'decay_patience', 5, 'and after which the learning rate is halved', minimum = 0 },
  { 'clip', 5, 'longer gradients are scaled to this norm; 0: never', minimum = 0, type = 'number' },
  { 'parameter_budget', 64000, 'parameters of a recurrent model, which decide its hidden size; 0: --hidden does',
    minimum = 0 },
  { 'hidden', 64, 'hidden units of the recurrent models, without --parameter-budget', minimum = 1 },
  { 'recurrent_layers', 5, 'their layers', minimum = 1 },
  { 'embedding', true, 'whether they read trained vectors of the hidden size, and not one-hot vectors' },
  { 'initial_state', 'learned', 'of their controllers', choices = { 'learned', 'zero' } },
  { 'controller', 'lstm', 'of the networks with a stack', choices = { 'elman', 'lstm', 'gru' } },
  { 'noise', 0, 'standard deviation of normal noise on the old hidden state in training, in networks that read it',
    type = 'number', minimum = 0 },
  { 'dropout', 0.1, 'probability with which training sets a number between layers to 0', type = 'number', minimum = 0 },
  { 'cell', 8, 'size of the vectors in a stack', minimum = 1 },
  { 'states', 2, 'states of the nondeterministic stack of symbols', minimum = 1 },
  { 'symbols', 3, 'its symbols', minimum = 1 },
  { 'vector_states', 2, 'states of the nondeterministic stack of vectors', minimum = 1 },
  { 'vector_symbols', 3, 'its symbols', minimum = 1 },
  { 'layers', 5, 'attention layers of the transformer', minimum = 1 },
  { 'width', 32, 'size of the vectors of the transformer', minimum = 1 },
  { 'heads', 8, 'heads of a layer', minimum = 1 },
}
M.quick = { strings = 1000, valid_strings = 200, test_strings = 502, hard_strings = 200,
  test_lengths = { 0, 150 }, epochs = 15, parameter_budget = 0, hidden = 24, recurrent_layers = 1, layers = 2 }
M.smoke = { strings = 24, valid_strings = 12, test_strings = 16, hard_strings = 8, lengths = { 0, 6 },
  long_lengths = { 0, 8 }, test_lengths = { 0, 12 }, epochs = 2, parameter_budget = 0, hidden = 4,
  recurrent_layers = 2, cell = 2, layers = 1,
  width = 8, heads = 2 }

-- What a run has besides.
M.run_options = {
  { 'learning_rate', 1e-3, 'of Adam at the start', minimum = 0, type = 'number' },
  { 'batch_symbols', 512, 'symbols of one update at most, of strings of one length; 0: --batch strings', minimum = 0 },
  { 'batch', 10, 'strings of one update, of one length, with --batch-symbols 0; all strings then count equally',
    minimum = 1 },
  { 'loss_weight', 1, 'of the next symbols in recognition+lm and +ns', minimum = 0, type = 'number' },
}

function M.with_options(own) return experiment.join_options(own, M.options) end

-- Declared options with other defaults.
function M.with_defaults(declared, defaults)
  local out, used = {}, {}
  for i, option in ipairs(declared) do
    out[i] = pd.tables.merged({}, option)
    if defaults[option[1]] ~= nil then out[i][2], used[option[1]] = defaults[option[1]], true end
  end
  for name in pairs(defaults) do
    if not used[name] then error(("no option '%s' is declared"):format(name), 0) end
  end
  return out
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
  if M.models[options.model].architecture ~= 'transformer' then
    given.embedding, given.initial_state = options.embedding and hidden or 0, options.initial_state
    if not M.models[options.model].without_noise then given.noise = options.noise end
  end
  return pd.model.recognizer(suite.network(M.models[options.model], own, given))
end

-- The network of a run. Its number of parameters grows with the hidden size.
function M.model(options, alphabet)
  local wanted = options.parameter_budget
  if wanted == 0 or M.models[options.model].architecture == 'transformer' then
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

local function trainer_of(options, run, sets)
  local resumed = run:resumed { epochs = options.first_epochs + options.epochs, stop_patience = options.patience }
  if resumed then return resumed end
  local objective = options.loss == 'recognition' and 'final'
    or { kind = objectives[options.loss], weight = options.loss_weight }
  local given = {
    model = M.model(options, sets.train:alphabet()),
    batch_symbols = options.batch_symbols, batch = options.batch_symbols > 0 and evaluated or options.batch,
    average = options.batch_symbols > 0 and 'batches' or 'strings',
    epochs = options.first_epochs + options.epochs, objective = objective,
    best_by = 'label_cross_entropy', stop_accuracy = 0,
    stop_patience = options.patience,
    decay_patience = options.decay_patience, decay_factor = 0.5, clip_norm = options.clip, seed = options.seed,
    optimizer = { kind = 'adam', learning_rate = options.learning_rate }, run_folder = run.folder, overwrite = true,
  }
  if sets.first then
    local valid = sets[options.validation]
    given.stages = { { train = sets.first, valid = valid, epochs = options.first_epochs },
      { train = sets.train, valid = valid, learning_rate = options.rate_after * options.learning_rate } }
  else
    given.train, given.valid = sets.train, sets[options.validation]
  end
  return pd.train.trainer(given)
end

-- One training to its end, in the folder of `run`; goes on where an earlier one in this folder stopped. Writes
-- lengths.csv and, last, result.json. Returns the result.
function M.train(options, run)
  -- A run may be given more epochs later.
  local before = run:earlier_result(function(result)
    return result.converged or result.epochs >= options.first_epochs + options.epochs
  end)
  if before then return before end
  local sets = M.sets(options)
  local trainer = trainer_of(options, run, sets)
  for _ in trainer:epochs() do end
  local history, seconds = trainer:history(), 0
  for _, epoch in ipairs(history) do seconds = seconds + epoch.seconds end
  local last, model = history[#history], pd.model.load(run.folder)
  local found = {}
  for _, name in ipairs { 'train', 'short', 'long', 'test' } do
    found[name] = pd.train.evaluate(model, sets[name], { bin_width = 10, batch = evaluated })
  end
  local hard, rows = M.hard(options, sets.train:alphabet()), {}
  for i, bin in ipairs(found.test.bins) do
    rows[i] = { (bin.shortest + bin.longest) / 2, bin.accuracy, bin.strings }
  end
  report.table({ columns = { 'length', 'accuracy', 'strings' }, rows = rows }):save(run:path 'lengths')
  local result = json.ordered({ task = options.task, model = options.model, learning_rate = options.learning_rate,
    batch_symbols = options.batch_symbols, seed = options.seed, restart = options.restart,
    parameters = model:parameter_count(), epochs = #history, best_epoch = last.best_epoch,
    train_accuracy = found.train.accuracy,
    valid_accuracy = found[options.validation].accuracy,
    valid_loss = found[options.validation].label_cross_entropy, valid_short_accuracy = found.short.accuracy,
    valid_long_accuracy = found.long.accuracy, train_loss = history[last.best_epoch].train_loss,
    score = found.test.accuracy,
    hard_accuracy = hard and pd.train.evaluate(model, hard, { batch = evaluated }).accuracy, seconds = seconds,
    stopped = trainer:finished(),
    converged = options.patience > 0 and last.epochs_since_improvement >= options.patience,
  }, { 'task', 'model', 'learning_rate', 'batch_symbols', 'seed', 'restart', 'parameters', 'epochs', 'best_epoch',
    'train_accuracy', 'valid_accuracy', 'valid_loss', 'valid_short_accuracy', 'valid_long_accuracy', 'train_loss',
    'score', 'hard_accuracy', 'seconds', 'stopped', 'converged' })
  run:finish(result)
  return result
end

return M
