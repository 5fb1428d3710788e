-- The tasks of Delétang et al. (2023): the mean accuracy over the lengths 41 to 500 of every model on every task, with
-- the three learning rates and ten seeds of the paper, or by random search over learning rate and batch.
--
--   pushdown scripts/experiments/chomsky/scores.lua --tasks reverse_string,parity_check --models lstm,stack_rnn
--   pushdown scripts/experiments/chomsky/scores.lua --learning-rates 1e-4,1e-2 --samples 10 --restarts 1
--
-- Runs that are not finished are trained first; started again it goes on.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local suite = require 'pushdown.suite'
local here = arg[0]:match('^(.*/)') or ''
local protocol = dofile(here .. 'protocol.lua')

local drawn = { 1e-4, 1e-2 }
local quick = pd.tables.merged({ samples = 3, restarts = 1, learning_rates = drawn, batches = { 16, 64 },
  folder = 'runs/chomsky/quick_grid' }, protocol.quick)
local smoke = pd.tables.merged({ samples = 2, restarts = 1, learning_rates = drawn, batches = { 1, 3 },
  folder = 'runs/chomsky/smoke_grid', tasks = { 'reverse_string', 'stack_manipulation' },
  models = { 'lstm', 'transformer', 'baby_ntm' } }, protocol.smoke)

local options, run = experiment.start {
  name = 'chomsky/scores',
  doc = 'Accuracies on long strings of models on the tasks of Delétang et al. (2023).',
  options = protocol.with_options(suite.options { tasks = protocol.tasks, models = protocol.model_names, restarts = 10,
    folder = 'runs/chomsky/grid', searched = {
      { 'learning_rates', { 1e-4, 3e-4, 5e-4 }, 'all are tried; of two numbers, the interval of a logarithmic search' },
      { 'batches', { 128, 128 }, 'lowest and highest number of pairs in one update, logarithmic' } } }),
  quick = quick, smoke = smoke,
}

local choose, labels = { 'valid_accuracy', 'valid_perplexity' }, {}
for name, model in pairs(protocol.models) do labels[name] = model.label end
local found = suite.train { name = 'chomsky', script = here .. 'train.lua', options = options,
  published = here .. 'published.csv', known = protocol.tasks, settings = protocol.options, choose = choose,
  searched = {
    { name = 'learning_rate', interval = 'learning_rates', kind = 'log_uniform' },
    { name = 'batch', interval = 'batches', kind = 'log_integers' } } }
suite.finish { run = run, found = found, options = options, labels = labels, title = protocol.title, choose = choose,
  score = ('Mean accuracy of a symbol over the lengths %d to %d'):format(protocol.score_lengths(options)),
  x_label = 'length of the source', y_label = 'accuracy of a symbol (%)',
  columns = { { name = 'level', of = function(task) return protocol.levels[task] end } } }
