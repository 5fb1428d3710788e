-- # A grid and a report
--
-- One training proves little. This chapter trains a script at several settings, each with several
-- random initializations, on all processors. Then it reads the results from the registry of runs
-- and writes a page that you can send to a colleague.
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local grid = require 'pushdown.grid'
local plot = require 'pushdown.plot'
local runs = require 'pushdown.runs'

local own = {
  { 'learning_rates', { 0.02, 0.005, 0.001 }, 'of Adam' },
  { 'restarts', 4, 'random starts of each learning rate', minimum = 1 },
  { 'strings', 1000, 'training strings' },
  { 'epochs', 20, 'passes over them', minimum = 1 },
  { 'rungs', { 5, 10 }, 'epochs after which the better half of the restarts goes on' },
}
for _, option in ipairs(grid.options) do own[#own + 1] = option end
local options, run = experiment.start {
  name = 'grid_and_report', doc = 'A grid over learning rates and restarts, and a page about it.', options = own,
  quick = { restarts = 2, epochs = 8, rungs = { 2, 4 } },
  smoke = { learning_rates = { 0.02, 0.005 }, restarts = 2, strings = 40, epochs = 2, rungs = { 1 } },
}

-- ## The script of one run
--
-- A grid starts a script many times with different options. The script resembles that of [an
-- experiment of your own](04_own_experiment.md). It declares its options, among them `seed`,
-- `restart` and, through `experiment.start`, the run folder. It trains, and at the end it calls
-- `run:finish`, which writes the result. `run:trainer` is `pd.train.trainer` in the folder of the
-- run: a run that was interrupted continues there from its last checkpoint, so a power cut loses
-- little work. The model need not predict ends: in marked reversal, the symbols determine them.
local script = run:path 'train.lua'
files.write(script, [[
local experiment = require 'pushdown.experiment'
local options, run = experiment.start {
  name = 'reverse', doc = 'Marked reversal by an LSTM with a superposition stack.',
  options = {
    { 'learning_rate', 0.005, 'of Adam' },
    { 'strings', 1000, 'training strings' },
    { 'epochs', 20, 'passes over them', may_change = true },
    { 'seed', 1, 'of the parameters' },
    { 'restart', 1, 'number of the random start' },
  },
}
local grammar = pd.grammar.load 'marked_reversal'
local sampler = grammar:sampler { lengths = { 10, 20 } }
local t = run:trainer {
  model = pd.model.language_model {
    alphabet = grammar:alphabet(), controller = { kind = 'lstm', hidden = 20 },
    stack = { kind = 'superposition', size = 10 }, end_symbol = false, seed = options.seed },
  train = sampler:dataset(options.strings, { seed = 1 }),
  valid = sampler:dataset(math.ceil(options.strings / 5), { seed = 2 }),
  optimizer = { kind = 'adam', learning_rate = options.learning_rate },
  epochs = options.epochs, seed = options.seed, progress = false }
for _ in t:epochs() do end
local best = math.huge
for _, epoch in ipairs(t:history()) do best = math.min(best, epoch.cross_entropy_difference) end
run:finish { cross_entropy_difference = best, epochs = #t:history(), seed = options.seed, restart = options.restart }
]])

-- ## The grid
--
-- A point is a table of options. Each point runs with several restarts. The seed of a restart
-- depends only on the names of grid and point and on the number of the restart, so it does not
-- change when the grid grows. Stop the grid with Ctrl-C and start it again with the `--run-folder`
-- that it then prints: finished runs are kept, and interrupted runs resume. On a cluster, the same
-- grid runs as Slurm tasks: `--executor slurm --slurm partition=...`.
local points = {}
for i, rate in ipairs(options.learning_rates) do points[i] = { learning_rate = rate } end
local rows = grid.run(grid.place({ {
  name = 'tutorial/reverse', script = script, folder = run:path 'grid', points = points, restarts = options.restarts,
  fixed = { strings = options.strings, epochs = options.epochs },
} }, options))

-- ## The results
--
-- The restarts of a point belong together. Their mean is the expected result, their spread shows
-- the influence of chance, and the best restart shows only what is possible.
local table_rows = {}
for _, point in ipairs(runs.by_point(rows, { 'cross_entropy_difference' })) do
  local numbers = point.metrics.cross_entropy_difference
  table_rows[#table_rows + 1] = { point.point, numbers.mean, numbers.deviation, numbers.least, numbers.count }
end
local four = '%.4f'
run:table('points', { columns = { 'point', { 'mean', format = four }, { 'deviation', format = four },
  { 'best single run', format = four }, 'runs' }, rows = table_rows })

-- The plot shows each point as one line, the mean of its restarts, with a band from the minimum to
-- the maximum:
local series, by_point = {}, {}
for _, row in ipairs(rows) do
  local one = by_point[row.point]
  if not one then
    one = { name = row.point, y = {}, low = {}, high = {} }
    by_point[row.point], series[#series + 1] = one, one
  end
  for epoch, numbers in ipairs(runs.history(row.folder)) do
    local value = numbers.cross_entropy_difference
    one.y[epoch] = (one.y[epoch] or 0) + value / options.restarts
    one.low[epoch] = math.min(one.low[epoch] or value, value)
    one.high[epoch] = math.max(one.high[epoch] or value, value)
  end
end
local chart = { title = 'Marked reversal, validation strings', x_label = 'epoch', series = series,
  y_label = 'nats per symbol above the bound', path = run:path 'curves.svg' }
plot.lines(chart)
print(plot.text(chart))

-- ![Mean and range over the restarts](pictures/07_curves.svg)
--
-- ## Only the best go on
--
-- Most restarts turn out badly, and that often shows early. `pd.search.run` trains many restarts for a
-- few epochs, and then only the better half of them longer (successive halving). It uses the same
-- script, whose option `epochs` may change when a run is resumed. The validation strings decide which
-- restarts go on, so the best one must be tested on other strings. In one process, without a grid,
-- `make` in place of `script` trains restarts side by side
-- ([Training](../reference/training.md#restarts)).
local found = pd.search.run {
  name = 'tutorial/halving', folder = run:path 'halving', script = script, restarts = 2 * options.restarts,
  rungs = options.rungs, fixed = { strings = options.strings, epochs = options.epochs, learning_rate = 0.01 },
  workers = options.workers > 0 and options.workers or nil,
}
print()
print(found.table)

-- ## The registry and the report
--
-- Every run of a grid has a row in the registry, `runs/registry.sqlite` in the folder where the
-- script was started. Read it from the command line:
--
-- ```
-- pushdown runs list --grid tutorial/reverse --where 'learning_rate>0.002'
-- pushdown runs compare --grid tutorial/reverse
-- pushdown runs plot --grid tutorial/reverse --metric cross_entropy_difference
-- pushdown runs export --grid tutorial/reverse --history -o epochs.csv
-- ```
--
-- The report is one page with live charts, tables, the configuration and the exact command of every
-- run. This script makes it from Lua; `pushdown report FOLDER -o report.html` does the same. While
-- a grid runs, `pushdown report --live FOLDER` shows the page in a browser and follows the runs.
local page = run:path 'report.html'
print(pd.report.page { runs = { run:path 'grid' }, path = page, title = 'Marked reversal' })
print('Open ' .. page .. ' in a browser.')
