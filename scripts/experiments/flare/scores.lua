-- Languages of the FLaRe benchmark (Butoi et al. 2025): the share of correctly classified test strings, of up to 500
-- symbols, of every model on every language, by random search over learning rate, batch and the weight of the loss.
--
--   pushdown scripts/experiments/flare/scores.lua --tasks parity,dyck_2_3 --models lstm,superposition
--   pushdown scripts/experiments/flare/scores.lua --data flare --tasks marked-copy,odds-first --loss recognition+lm
--
-- Runs that are not finished are trained first; started again it goes on.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local suite = require 'pushdown.suite'
local here = arg[0]:match('^(.*/)') or ''
local protocol = dofile(here .. 'protocol.lua')

local quick = pd.tables.merged({ samples = 3, folder = 'runs/flare/quick_grid' }, protocol.quick)
local smoke = pd.tables.merged({ samples = 2, batches = { 8, 64 }, folder = 'runs/flare/smoke_grid',
  tasks = { 'even_pairs', 'marked_copy' }, models = { 'lstm', 'superposition' }, loss = 'recognition+lm' },
  protocol.smoke)

-- The paper has one encoding of positions.
local compared = {}
for _, name in ipairs(protocol.model_names) do
  if not protocol.models[name].network then compared[#compared + 1] = name end
end
local declared = suite.options { tasks = protocol.tasks, models = protocol.model_names, compared = compared,
  restarts = 1,
  folder = 'runs/flare/grid', searched = {
    { 'learning_rates', { 1e-4, 1e-2 }, 'lowest and highest learning rate of the search, logarithmic' },
    { 'batches', { 128, 4096 }, 'lowest and highest number of symbols in one update, logarithmic' },
    { 'loss_weights', { 0.01, 10 }, 'lowest and highest weight of the next symbols in +lm and +ns, logarithmic' },
  } }
-- Folders of the benchmark are languages, too.
declared[1] = { 'tasks', protocol.tasks, 'languages: those made here, or with --data the names of folders' }

local options, run = experiment.start {
  name = 'flare/scores', doc = 'Accuracies on long strings of recognizers on languages of the FLaRe benchmark.',
  options = protocol.with_options(declared), quick = quick, smoke = smoke,
}

local choose, labels, groups, floors = { 'valid_loss', 'valid_accuracy' }, {}, {}, {}
for name, model in pairs(protocol.models) do labels[name], groups[name] = model.label, model.group end
local searched = { { name = 'learning_rate', interval = 'learning_rates', kind = 'log_uniform' },
  { name = 'batch_symbols', interval = 'batches', kind = 'log_integers' } }
if options.loss ~= 'recognition' then
  searched[3] = { name = 'loss_weight', interval = 'loss_weights', kind = 'log_uniform' }
end
local found = suite.train { name = 'flare', script = here .. 'train.lua', options = options,
  published = here .. 'published.csv', known = protocol.tasks, name_of = protocol.name_of,
  settings = protocol.options, choose = choose, searched = searched, also = { 'hard_accuracy' } }
for _, task in ipairs(options.tasks) do
  local of_test, of_hard = protocol.floors(pd.tables.merged({ task = task }, options))
  floors[task] = { 100 - of_test.error, of_hard and 100 - of_hard.error or '' }
end
local function floor(which) return function(task) return floors[task][which] end end
suite.finish { run = run, found = found, options = options, labels = labels, groups = groups, title = protocol.title,
  choose = choose,
  score = ('Correctly classified test strings of %d to %d symbols'):format(unpack(options.test_lengths)),
  x_label = 'length of the test strings', y_label = 'correctly classified strings (%)',
  columns = { { name = 'level', of = protocol.level }, { name = 'floor', of = floor(1), format = '%.1f' } },
  also = { { key = 'hard_accuracy', name = 'hard', title = 'The same on as many strings of the language and hard '
    .. 'negatives of their lengths, counts of symbols and marks', columns = { { name = 'level', of = protocol.level },
    { name = 'floor', of = floor(2), format = '%.1f' } } } } }
