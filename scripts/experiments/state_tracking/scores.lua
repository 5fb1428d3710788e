-- State tracking: the scaled accuracy on strings longer than those of training, of every model on every task, by random
-- search over the learning rate.
--
--   pushdown scripts/experiments/state_tracking/scores.lua --tasks parity_check,s3 --models lstm,deltanet_negative
--   pushdown scripts/experiments/state_tracking/scores.lua --learning-rates 1e-4,3e-4,1e-3 --restarts 3
--
-- Runs that are not finished are trained first; started again it goes on.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local suite = require 'pushdown.suite'
local here = arg[0]:match('^(.*/)') or ''
local protocol = dofile(here .. 'protocol.lua')

local quick = pd.tables.merged({ samples = 2, restarts = 1, folder = 'runs/state_tracking/quick_grid' },
  protocol.quick)
local smoke = pd.tables.merged({ samples = 1, restarts = 1, batches = { 2, 2 },
  folder = 'runs/state_tracking/smoke_grid', tasks = { 'parity_check', 's3' } }, protocol.smoke)

local options, run = experiment.start {
  name = 'state_tracking/scores',
  doc = 'Scaled accuracies on long strings of models on tasks of state tracking.',
  options = protocol.with_options(suite.options { tasks = protocol.tasks, models = protocol.model_names, restarts = 3,
    folder = 'runs/state_tracking/grid', searched = {
      { 'learning_rates', { 1e-4, 1e-2 }, 'all are tried; of two numbers, the interval of a logarithmic search' },
      { 'batches', { 64, 64 }, 'lowest and highest number of pairs in one update, logarithmic' } } }),
  quick = quick, smoke = smoke,
}

local choose, labels = { 'valid_accuracy', 'valid_perplexity' }, {}
for name, model in pairs(protocol.models) do labels[name] = model.label end
local found = suite.train { name = 'state_tracking', script = here .. 'train.lua', options = options,
  published = here .. 'published.csv', known = protocol.tasks, settings = protocol.options, choose = choose,
  searched = {
    { name = 'learning_rate', interval = 'learning_rates', kind = 'log_uniform' },
    { name = 'batch', interval = 'batches', kind = 'log_integers' } } }
suite.finish { run = run, found = found, options = options, labels = labels, title = protocol.title, choose = choose,
  score = ('Scaled accuracy (0: guesses, 100: no errors) over the lengths %d to %d'):format(options.lengths[2] + 1,
    options.longest),
  x_label = 'length of the source', y_label = 'accuracy of the answer (%)' }
