-- The distance to the optimum of every model on every task: the cross-entropy on the test strings minus that of the
-- process that makes them, the accuracy, and how far a network counts.
--
--   pushdown scripts/experiments/optimum/scores.lua --tasks an_bn_100,an_bn_cn_100 --models lstm,counters_recipe
--   pushdown scripts/experiments/optimum/scores.lua --sizes 4,16,64 --restarts 3
--
-- Runs that are not finished are trained first; started again it goes on.
local pd = require 'pushdown'
local csv = require 'pushdown.csv'
local experiment = require 'pushdown.experiment'
local suite = require 'pushdown.suite'
local here = arg[0]:match('^(.*/)') or ''
local protocol = dofile(here .. 'protocol.lua')

local quick = pd.tables.merged({ restarts = 1, folder = 'runs/optimum/quick_grid' }, protocol.quick)
local smoke = pd.tables.merged({ restarts = 1, sizes = { 4, 4 }, folder = 'runs/optimum/smoke_grid',
  tasks = { 'an_bn_100', 'dyck_2_100', 'addition_100' },
  models = { 'lstm', 'counters_recipe' } }, protocol.smoke)

local options, run = experiment.start {
  name = 'optimum/scores',
  doc = 'Distances to the optimum of models on the tasks of Lan et al. (2022).',
  options = protocol.with_options(suite.options { tasks = protocol.tasks, models = protocol.model_names, restarts = 5,
    folder = 'runs/optimum/grid', searched = {
      { 'sizes', { 16, 16 }, 'hidden units: all are tried; of two numbers, the interval of a logarithmic search' } } }),
  quick = quick, smoke = smoke,
}

local choose, labels = { 'valid_loss' }, {}
for name, model in pairs(protocol.models) do labels[name] = model.label end
local found = suite.train { name = 'optimum', script = here .. 'train.lua', options = options,
  published = here .. 'published.csv', known = protocol.tasks, settings = protocol.options, choose = choose,
  also = { 'right_share' },
  searched = { { name = 'hidden', interval = 'sizes', kind = 'log_integers' } } }

-- The finished run of a model on a task with the lowest cross-entropy on the validation strings, over all settings, and
-- the number of finished runs.
local function chosen(task, model)
  local best, finished = nil, 0
  for _, setting in ipairs(found.settings) do
    if setting.task == task and setting.model == model then
      finished = finished + #setting.runs
      for _, row in ipairs(setting.runs) do
        if not best or row.result.valid_loss < best.valid_loss then best = row.result end
      end
    end
  end
  return best, finished
end

-- The published differences, of files that have the columns cross_entropy and optimum, in bits per symbol.
local differences, shares = {}, found.published.scores
if options.published ~= 'none' and options.published ~= '' then
  local path = options.published == 'paper' and here .. 'published.csv' or options.published
  for _, row in ipairs(select(2, csv.read(path))) do
    local cross_entropy, optimum = tonumber(row.cross_entropy), tonumber(row.optimum)
    if cross_entropy and optimum then
      differences[row.model] = differences[row.model] or {}
      differences[row.model][row.task] = cross_entropy - optimum
    end
  end
end

local bounds = {}
for _, task in ipairs(options.tasks) do bounds[task] = protocol.bounds(pd.tables.merged({ task = task }, options)) end

-- A table of models by tasks with value(result, finished runs) of the chosen runs, beside the published numbers of a
-- model by task.
local function matrix(name, title, format, value, published)
  local columns = { 'task', { 'K', format = '%d' }, { 'optimum', format = '%.4f' }, { 'estimate', format = '%.4f' } }
  local rows, shown = {}, published and found.published.models or {}
  for _, model in ipairs(options.models) do columns[#columns + 1] = { labels[model], format = format } end
  for _, model in ipairs(shown) do columns[#columns + 1] = { model .. ' (published)', format = format } end
  for i, task in ipairs(options.tasks) do
    local row = { protocol.title(task), bounds[task].largest, bounds[task].optimum, bounds[task].estimate }
    for _, model in ipairs(options.models) do
      local result, finished = chosen(task, model)
      row[#row + 1] = result and value(result, finished) or ''
    end
    for _, model in ipairs(shown) do row[#row + 1] = (published[model] or {})[task] or '' end
    rows[i] = row
  end
  run:table(name, { title = title, columns = columns, rows = rows })
end

matrix('differences', 'Cross-entropy on the test strings minus the optimum, in bits per symbol: of each model the run '
  .. 'with the lowest cross-entropy on the validation strings. K: the largest size in training. '
  .. 'Estimate: the difference of the process whose probabilities are estimated from the training strings.', '%.4f',
  function(result) return result.difference end, differences)
matrix('accuracies', 'Accuracy in percent at the steps that are no matter of chance, of the same runs.', '%.1f',
  function(result) return 100 * result.score end, shares)
matrix('reach', 'The largest size up to which all strings are right at all steps, of the same runs.', '%d',
  function(result) return result.reach end)
matrix('finished', 'The number of finished runs of which that one was chosen.', '%d',
  function(_, finished) return finished end)

suite.finish { run = run, found = found, options = options, labels = labels, title = protocol.title, choose = choose,
  score = 'Accuracy at the steps that are no matter of chance',
  also = { { key = 'right_share', name = 'right_strings', title = 'Test strings that are right at all steps',
    columns = {} } },
  x_label = 'size of the string', y_label = 'strings right at all steps (%)' }
