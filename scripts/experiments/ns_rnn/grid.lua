-- The grid search of DuSell and Chiang (2020), section 5.5: learning rates x stack sizes x restarts
-- for every model on every task, on a pool of processes. The best setting of each model is the one
-- with the lowest mean validation difference over its restarts.
--
--   pushdown scripts/experiments/ns_rnn/grid.lua --tasks marked_reversal,dyck --models lstm,ns
--   pushdown scripts/experiments/ns_rnn/grid.lua --tasks my_grammar.lua --quick
--
-- If it is interrupted, start it again with the same options; finished points are not trained again.
local experiment = require 'pushdown.experiment'
local here = arg[0]:match('^(.*/)') or ''
local protocol = dofile(here .. 'protocol.lua')
local search = dofile(here .. 'search.lua')

local options, run = experiment.start(search.declaration {
  name = 'ns_rnn/grid',
  doc = 'Grid search over all models and tasks of DuSell and Chiang (2020).',
})

local points = search.run(options, here .. 'train.lua')
local rows = {}
for _, task in ipairs(options.tasks) do
  for _, model in ipairs(options.models) do
    for _, setting in ipairs(search.settings(points, task, model)) do
      rows[#rows + 1] = { protocol.title(task), protocol.models[model].label, setting.name,
        setting.finished, setting.mean, setting.deviation, setting.best, setting.test_mean,
        setting.epochs, setting.seconds, setting.chosen and 'chosen' or '' }
    end
  end
end
run:table('grid', {
  title = 'Cross-entropy difference in nats per symbol; validation decides, test is only reported.',
  note = points.note,
  columns = { 'task', 'model', 'setting', 'restarts', { 'validation mean', format = '%.4f' },
    { 'deviation', format = '%.4f' }, { 'best', format = '%.4f' }, { 'test mean', format = '%.4f' },
    { 'epochs', format = '%.1f' }, { 'seconds', format = '%.0f' }, '' },
  rows = rows,
})
print('\nRuns, logs and curves of the points: ' .. options.folder)
search.finish(run, points, {})
