-- The FLaRe benchmark (Butoi et al. 2025): the share of correctly classified test strings, of up to 500 symbols, of
-- every model on every language, by random search over learning rate, batch and the weight of the loss; tables with
-- hard negatives; and the floors, which simple classifiers reach that learn from the training strings (labelled:floor).
-- A network that is not above them shows no knowledge of the language. docs/reference/experiments/flare.md lists what
-- comes from the paper and what was chosen.
--
--   pushdown flare --task dyck_2_3 --model lstm --learning-rate 1e-3
--   pushdown flare scores --tasks parity,dyck_2_3 --models lstm,superposition
--   pushdown flare scores --data flare --tasks marked-copy,odds-first --loss recognition+lm
--   pushdown flare floors --test-lengths 0,200 --test-strings 1000
--   pushdown flare hard_table --tasks dyck_2 --models gru,rns --restarts 1
local experiment = require 'pushdown.experiment'
local pd = require 'pushdown'
local here = (debug.getinfo(1, 'S').source:match('^@(.*/)') or '') .. 'flare/'
local training, hard = dofile(here .. 'training.lua'), dofile(here .. 'hard.lua')

local options = {
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

-- Those of a training that a search varies.
local run_options = {
  { 'learning_rate', 1e-3, 'of Adam at the start', minimum = 0, type = 'number' },
  { 'batch_symbols', 512, 'symbols of one update at most, of strings of one length; 0: --batch strings', minimum = 0 },
  { 'batch', 10, 'strings of one update, of one length, with --batch-symbols 0; all strings then count equally',
    minimum = 1 },
  { 'loss_weight', 1, 'of the next symbols in recognition+lm and +ns', minimum = 0, type = 'number' },
}

local train = {
  doc = 'Trains one recognizer on one language of the FLaRe benchmark (Butoi et al. 2025), and measures it on long '
    .. 'strings.',
  task = 'parity', any_task = ('the language: %s, of the benchmark; %s; or a folder in that of --data'):format(
    table.concat(training.tasks, ', '), table.concat(training.beyond, ', ')),
  model = 'lstm', options = run_options, data = training.sets, trainer = training.trainer, resumed = training.resumed,
  enough = training.enough, measure = training.measure,
  shown = { 'score', 'hard_accuracy', 'valid_short_accuracy', 'valid_long_accuracy', 'valid_loss', 'train_accuracy',
    'train_loss', 'best_epoch', 'epochs', 'parameters', 'seconds' },
  setting = function(given)
    return ('learning rate %g, %d symbols an update'):format(given.learning_rate, given.batch_symbols)
  end,
  note = 'The score is the share of correctly classified test strings.',
}

-- The paper has one encoding of positions.
local compared = {}
for _, model in ipairs(training.models) do
  if not model.network then compared[#compared + 1] = model.name end
end

-- The floors of a language, on the test strings and on hard negatives; each is computed once.
local known = {}
local function floors(task, given)
  if not known[task] then known[task] = { training.floors(pd.tables.merged({ task = task }, given)) } end
  local of_test, of_hard = known[task][1], known[task][2]
  return 100 - of_test.error, of_hard and 100 - of_hard.error or '', of_test.classifier,
    of_hard and of_hard.classifier or ''
end
local level = { name = 'level', of = training.level }
local any_task = 'languages: those made here, or with --data the names of folders'

local scores = pd.paper.scores {
  doc = 'Accuracies on long strings of recognizers on languages of the FLaRe benchmark.', any_task = any_task,
  models = compared, restarts = 1, choose = { 'valid_loss', 'valid_accuracy' }, name_of = training.name_of,
  searched = {
    { 'learning_rates', { 1e-4, 1e-2 }, 'lowest and highest learning rate of the search, logarithmic',
      of = 'learning_rate', kind = 'log_uniform' },
    { 'batches', { 128, 4096 }, 'lowest and highest number of symbols in one update, logarithmic',
      of = 'batch_symbols', kind = 'log_integers' },
    { 'loss_weights', { 0.01, 10 }, 'lowest and highest weight of the next symbols in +lm and +ns, logarithmic',
      of = 'loss_weight', kind = 'log_uniform', when = function(given) return given.loss ~= 'recognition' end },
  },
  quick = { samples = 3 },
  smoke = { samples = 2, batches = { 8, 64 }, tasks = { 'even_pairs', 'marked_copy' },
    models = { 'lstm', 'superposition' }, loss = 'recognition+lm' },
  score = function(given)
    return ('Correctly classified test strings of %d to %d symbols'):format(unpack(given.test_lengths))
  end,
  columns = { level, { name = 'floor', of = function(task, given) return (floors(task, given)) end,
    format = '%.1f' } },
  also = { { key = 'hard_accuracy', name = 'hard', title = 'The same on as many strings of the language and hard '
    .. 'negatives of their lengths, counts of symbols and marks', columns = { level, { name = 'floor',
    of = function(task, given) return (select(2, floors(task, given))) end, format = '%.1f' } } } },
}

local function show_floors(paper, given, run)
  local rows = {}
  for i, task in ipairs(given.tasks) do
    local of_test, of_hard, classifier, of_hard_classifier = floors(task, given)
    rows[i] = { paper.title(training.name_of(task)), training.level(training.name_of(task)), of_test, classifier,
      of_hard, of_hard_classifier }
  end
  run:table('floors', { title = ('Correctly classified test strings of %d to %d symbols, in percent'):format(
    unpack(given.test_lengths)), columns = { 'language', 'class', { 'floor', format = '%.1f' }, 'classifier',
    { 'hard negatives', format = '%.1f' }, 'its classifier' }, rows = rows })
  run:finish { languages = #rows }
end

local settings = experiment.join_options(options, run_options)
return (pd.paper.new {
  name = 'flare', models = training.models, train = train, tasks = training.tasks, title = training.title,
  options = options,
  quick = { strings = 1000, valid_strings = 200, test_strings = 502, hard_strings = 200,
    test_lengths = { 0, 150 }, epochs = 15, parameter_budget = 0, hidden = 24, recurrent_layers = 1, layers = 2 },
  smoke = { strings = 24, valid_strings = 12, test_strings = 16, hard_strings = 8, lengths = { 0, 6 },
    long_lengths = { 0, 8 }, test_lengths = { 0, 12 }, epochs = 2, parameter_budget = 0, hidden = 4,
    recurrent_layers = 2, cell = 2, layers = 1,
    width = 8, heads = 2 },
  lengths = { x_label = 'length of the test strings', y_label = 'correctly classified strings (%)' },
  measures = training,
  tables = {
    scores = scores,
    floors = { doc = 'Accuracies of simple classifiers on the languages of the FLaRe benchmark.', trains = false,
      options = experiment.join_options({ { 'tasks', training.tasks, any_task } }, options),
      smoke = { tasks = { 'marked_copy', 'parity' } }, make = show_floors },
    hard_table = hard(training, settings, { restarts = 3,
      doc = 'Recognizers of context-free languages on test strings and hard negatives: three languages of FLaRe and '
        .. 'three of ours.',
      tasks = { 'marked_reversal', 'unmarked_reversal', 'stack_manipulation', 'dyck_2', 'reversals', 'formulas' } }),
    hard_rest = hard(training, settings, { restarts = 1,
      doc = 'The other twelve languages of FLaRe that have hard negatives.',
      tasks = { 'even_pairs', 'repeat_01', 'modular_arithmetic', 'dyck_2_3', 'first', 'marked_copy',
        'missing_duplicate_string', 'odds_first', 'binary_addition', 'binary_multiplication', 'compute_sqrt',
        'bucket_sort' } }),
  },
})
