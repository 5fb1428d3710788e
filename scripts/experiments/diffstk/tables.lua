-- Shared by the table scripts: trains the runs of the cells of a table of Mali et al. (2021) and shows their results
-- beside those of the paper.
--
-- A cell is { task =, row =, column =, paper =, point = }; the point has options of train.lua. Cells with the same
-- point share their runs, also between tables.
local pd = require 'pushdown'
local cells = require 'pushdown.cells'
local csv = require 'pushdown.csv'
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local here = arg[0]:match('^(.*/)') or ''
local protocol = dofile(here .. 'protocol.lua')

local M = { protocol = protocol }

-- Reads the command line of a table script: name, doc, task, columns (the description of --columns, if any); choices,
-- if there are other tasks; folder, restarts and defaults (by option), if they differ from those of the tables.
function M.start(given)
  local options = cells.options { tasks = { given.task }, choices = given.choices, restarts = given.restarts or 10,
    folder = given.folder or 'runs/diffstk/grid', columns = given.columns }
  for _, option in ipairs(protocol.options) do
    local changed = pd.tables.merged(option)
    if given.defaults and given.defaults[option[1]] ~= nil then changed[2] = given.defaults[option[1]] end
    options[#options + 1] = changed
  end
  return experiment.start { name = given.name, doc = given.doc, options = options,
    quick = pd.tables.merged({ restarts = 2, folder = 'runs/diffstk/quick_grid' }, protocol.quick),
    smoke = pd.tables.merged({ restarts = 1, folder = 'runs/diffstk/smoke_grid' }, protocol.smoke, given.smoke) }
end

-- Trains unfinished runs. Every cell gets `runs`: the finished rows of the grid.
function M.run(options, all)
  return cells.train { cells = all, options = options, settings = protocol.options, name = 'diffstk',
    script = here .. 'train.lua' }
end

-- Percent correctly classified by length of the test strings, over all runs of a cell: the sets test and curve.
local function curve(cell, options)
  local sums, from, to = {}, math.huge, 0
  for _, run in ipairs(cell.runs) do
    for _, row in ipairs(select(2, csv.read(run.folder .. '/lengths.csv'))) do
      if row.set == 'test' or row.set == 'curve' then
        local shortest = math.max(tonumber(row.shortest), options.test_lengths[1])
        local longest = math.min(tonumber(row.longest), math.max(options.test_lengths[2], options.curve_lengths[2]))
        local sum = sums[shortest] or { middle = (shortest + longest) / 2, strings = 0, right = 0 }
        local right = tonumber(row['right_' .. options.decision])
        sum.strings, sum.right = sum.strings + tonumber(row.strings), sum.right + right
        sums[shortest], from, to = sum, math.min(from, shortest), math.max(to, shortest)
      end
    end
  end
  local series = { name = cell.row .. (cell.column and ', ' .. cell.column or ''), x = {}, y = {}, markers = true }
  for shortest = from, to do
    local sum = sums[shortest]
    if sum then series.x[#series.x + 1], series.y[#series.y + 1] = sum.middle, 100 * sum.right / sum.strings end
  end
  return series
end

-- Shows the curves of all cells and saves them as name-lengths.csv and name-lengths.svg.
function M.curves(run, options, kept, name)
  local all, rows = {}, {}
  for _, cell in ipairs(kept) do
    if #cell.runs > 0 then
      local series = curve(cell, options)
      all[#all + 1] = series
      for i, x in ipairs(series.x) do rows[#rows + 1] = { cell.task, cell.row, cell.column or '', x, series.y[i] } end
    end
  end
  if #all == 0 then return end
  files.write(run:path(name .. '-lengths.csv'), require 'pushdown.report'.table({
    columns = { 'task', 'model', 'column', 'length', 'right' }, rows = rows }):csv())
  run:lines(name .. '-lengths', { title = protocol.titles[kept[1].task] .. ': accuracy by length',
    x_label = 'length of the test strings', y_label = 'correctly classified (%)', series = all, y_max = 100,
    reference = { value = 50, name = 'guessing' } })
end

-- The measures besides the decision of the table, and the columns for their means.
function M.other_measures(options)
  local others, columns = {}, {}
  for _, measure in ipairs(protocol.measures) do
    if measure ~= options.decision then
      others[#others + 1] = measure
      columns[#columns + 1] = { protocol.measure_titles[measure], format = '%.2f', align = 'right' }
    end
  end
  return others, columns
end

-- The mean of a measure of a set over a cell's runs; NA if no run has it.
function M.mean_of(cell, set, measure)
  return (cells.statistics(cell, set .. '_' .. measure)) or 'NA'
end

-- The keys of result.json that are saved for every run.
function M.keys(options)
  local keys = { 'noise', 'carry_forward', 'parameters', 'epochs', 'best_epoch', 'seconds', 'threshold' }
  for _, set in ipairs(protocol.set_names(options)) do
    for _, measure in ipairs(protocol.measures) do keys[#keys + 1] = set .. '_' .. measure end
  end
  keys[#keys + 1], keys[#keys + 2] = 'test_missed', 'test_false_positives'
  return keys
end

-- Prints the best accuracy of simple classifiers, which know nothing of the language, on every set.
local function floors(options, sets)
  local parts = {}
  for _, name in ipairs(protocol.set_names(options)) do
    if name ~= 'train' then
      local floor = sets.train:floor(sets[name])
      parts[#parts + 1] = ('%s %.2f (%s)'):format(name, 100 - floor.error, floor.classifier)
    end
  end
  print('Floor, the best simple classifier without knowledge of the language: ' .. table.concat(parts, ', ') .. '.')
end

-- Prints the explanation below every table.
function M.explain(run, options, task)
  local set = pd.tables.merged({ task = task }, options)
  local grammar = protocol.grammar(set)
  local sets, parts = protocol.sets(set, grammar), {}
  for _, name in ipairs(protocol.set_names(options)) do
    parts[#parts + 1] = ('%s %.2f'):format(name, protocol.automaton_mean(options, grammar, sets[name]))
  end
  print(('\nPercent of correctly classified strings, decided by the %s. Half of the strings are valid, so guessing\n'
    .. 'has 50. The other columns are other measures of the same runs. "every prefix": strings for which the answer\n'
    .. 'after every symbol says correctly whether the prefix can still become valid. "every set of next symbols":\n'
    .. 'valid strings whose next symbols are predicted exactly after every symbol, with a threshold chosen on the\n'
    .. 'training strings. "every next symbol ranked": valid strings for which each symbol that may follow is always\n'
    .. 'more probable than every other one.\n'
    .. 'An exact automaton, by the mean of its answers: %s.\nAll runs, curves and settings: %s'):format(
    protocol.measure_titles[options.decision], table.concat(parts, ', '), run.folder))
  floors(options, sets)
end

return M
