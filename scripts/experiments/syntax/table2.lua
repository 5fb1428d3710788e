-- Table 2 of Merrill et al. (2019): accuracy of classifiers for the number of verbs, by attractors. The paper uses the
-- simple dependency data of Linzen et al. (2016), which are not part of this program.
--
--   pushdown scripts/experiments/syntax/table2.lua --data numpred
--   pushdown scripts/experiments/syntax/table2.lua --data ewt --split 8,1,1 --restarts 5
--
-- Trains unfinished runs first; if it is interrupted, start it again to continue.
local pd = require 'pushdown'
local cells = require 'pushdown.cells'
local experiment = require 'pushdown.experiment'
local protocol = dofile((arg[0]:match('^(.*/)') or '') .. 'protocol.lua')

-- Overall, then 0 to 5 attractors.
local paper = {
  { 'stack_u1', 98.89, 99.29, 94.75, 89.85, 83.42, 79.50, 71.07 },
  { 'stack_d1', 98.88, 99.23, 95.43, 91.70, 86.59, 84.14, 71.70 },
  { 'stack_sigmoid', 98.88, 99.24, 95.18, 91.86, 87.47, 85.56, 77.99 },
  { 'lstm', 98.89, 99.26, 95.27, 90.15, 84.30, 78.61, 74.21 },
}

local shared = experiment.join_options(protocol.number_options, protocol.options,
  { { 'data_seed', 1, 'random seed for splitting data that are not in parts', minimum = 0 } })
local options, run = protocol.start({ name = 'syntax/table2',
  doc = 'Number prediction by attractors, as Table 2 of Merrill et al. (2019).',
  options = experiment.join_options(cells.options { tasks = { 'number' }, restarts = 1,
    folder = 'runs/syntax/number' }, shared),
  quick = pd.tables.merged(protocol.quick, { folder = 'runs/syntax/number_quick' }),
  smoke = pd.tables.merged(protocol.smoke, { folder = 'runs/syntax/number_smoke', rows = { 'Stack (sig', 'LSTM' } }),
}, { 'data' })

-- Read before the runs, so that errors in the data are reported at once.
local parts = protocol.number_parts(options)
local all, printed = {}, {}
for _, line in ipairs(paper) do
  local label = protocol.models[line[1]].label
  printed[label] = line
  all[#all + 1] = { task = 'number', row = label, point = { model = line[1] } }
end
local kept, rows = cells.train { cells = all, options = options, settings = shared, name = 'syntax',
  script = (arg[0]:match('^(.*/)') or '') .. 'number_prediction.lua' }

local keys, titles = { 'test_accuracy' }, { 'overall' }
for count = 0, 5 do keys[#keys + 1], titles[#titles + 1] = 'accuracy_' .. count, tostring(count) end
local examples = { parts.test:size() }
for _, subset in ipairs(parts.subsets) do examples[subset.attractors + 2] = subset.examples:size() end

local lines, series = {}, {}
for at, title in ipairs(titles) do
  local line = { title, examples[at] or 0 }
  for _, cell in ipairs(kept) do
    local mean, deviation
    if examples[at] and #cell.runs > 0 then mean, deviation = cells.statistics(cell, keys[at]) end
    line[#line + 1], line[#line + 2], line[#line + 3] = printed[cell.row][at + 1], mean or 'NA', deviation or 'NA'
    if mean and at > 1 then
      series[cell.row] = series[cell.row] or { name = cell.row, x = {}, y = {} }
      local one = series[cell.row]
      one.x[#one.x + 1], one.y[#one.y + 1] = at - 2, mean
    end
  end
  lines[#lines + 1] = line
end
local columns = { 'attractors', { 'test examples', align = 'right' } }
for _, cell in ipairs(kept) do
  columns[#columns + 1] = { cell.row .. ', paper', format = '%.2f', align = 'right' }
  columns[#columns + 1] = { cell.row, format = '%.2f', align = 'right' }
  columns[#columns + 1] = { 'deviation', format = '%.2f', align = 'right' }
end
run:table('table2', { title = ('Number prediction, %% correct: %d training and %d validation examples'):format(
  parts.train:size(), parts.valid:size()), columns = columns, rows = lines })
local drawn = {}
for _, cell in ipairs(kept) do drawn[#drawn + 1] = series[cell.row] end
if #drawn > 0 then
  run:lines('table2', { title = 'Number prediction', x_label = 'attractors', y_label = 'correctly classified (%)',
    series = drawn })
end
print(('\nThe paper\'s numbers are for other data. All runs and settings: %s'):format(run.folder))
cells.finish(run, rows, 'table2', { 'parameters', 'epochs', 'best_epoch', 'seconds', 'valid_accuracy',
  'test_accuracy' })
