-- Shared by the table scripts: trains the runs of the cells of a table of Mali et al. (2019) and shows
-- their results beside those of the paper.
--
-- A cell is { task =, row =, column =, paper =, point = }; the point has options of train.lua. Cells with
-- the same point share their runs, also between tables.
local pd = require 'pushdown'
local cells = require 'pushdown.cells'
local experiment = require 'pushdown.experiment'
local runs = require 'pushdown.runs'
local statistics = require 'pushdown.statistics'
local here = arg[0]:match('^(.*/)') or ''
local protocol = dofile(here .. 'protocol.lua')

local M = { protocol = protocol }

-- Reads the command line of a table script: name, doc, tasks (the columns of the table).
function M.start(given)
  local options = cells.options { tasks = given.tasks, restarts = 5, folder = 'runs/nspda/grid',
    columns = 'second-order (M1) or third-order (M2) columns alone; none: both' }
  table.insert(options, 4, { 'noise', 'own', 'noise on the weights unless the table sets it; own: that of the model',
    choices = { 'own', 'on', 'off' } })
  table.insert(options, 5, { 'learning', 'own', 'learning algorithm unless the table sets it; own: that of the model',
    choices = { 'own', 'bptt', 'tbptt', 'rtrl', 'uoro' } })
  return experiment.start { name = given.name, doc = given.doc, options = protocol.with_options(options),
    quick = pd.tables.merged({ restarts = 2, folder = 'runs/nspda/quick_grid' }, protocol.quick),
    smoke = pd.tables.merged({ restarts = 1, folder = 'runs/nspda/smoke_grid', tasks = { given.tasks[1] } },
      protocol.smoke) }
end

-- The cells of a table in which every language has a second-order and a third-order column. rows: lists of
-- the row's name, the argument of `point`, and the paper's two numbers for each task; point(key, order): the
-- options of train.lua, with order 1 or 2 for the two columns.
function M.cells(tasks, columns, rows, point)
  local all = {}
  for t, task in ipairs(tasks) do
    for _, row in ipairs(rows) do
      for order, column in ipairs(columns) do
        all[#all + 1] = { task = task, row = row[1], column = column, paper = row[2 + t][order],
          point = point(row[2], order) }
      end
    end
  end
  return all
end

-- The NSPDA of a column.
M.nspda = { 'nspda_2', 'nspda_3' }

-- Trains unfinished runs. Every cell gets `runs`: the finished rows of the grid.
function M.run(options, all)
  for _, cell in ipairs(all) do
    local point = {}
    for key, value in pairs(cell.point) do point[key] = value end
    for _, key in ipairs { 'noise', 'learning' } do
      if options[key] ~= 'own' then point[key] = point[key] or options[key] end
    end
    cell.point = point
  end
  return cells.train { cells = all, options = options, settings = protocol.options, name = 'nspda',
    script = here .. 'train.lua' }
end

-- The mean training accuracy over a cell's runs, in percent, after every epoch; a run that has ended keeps
-- its last value.
local function curve(cell)
  local histories, longest = {}, 0
  for i, run in ipairs(cell.runs) do
    histories[i] = runs.history(run.folder)
    longest = math.max(longest, #histories[i])
  end
  local series = { name = cell.row .. (cell.column and ' ' .. cell.column or ''), x = {}, y = {} }
  for epoch = 1, longest do
    local values = {}
    for i, epochs in ipairs(histories) do
      values[i] = 100 * epochs[math.min(epoch, #epochs)].train_accuracy
    end
    series.x[epoch], series.y[epoch] = epoch, (statistics(values))
  end
  return series
end

-- The smallest test error, in percent, of simple classifiers that know nothing of the language, and its classifier.
local function floor_of(options, task)
  local grammar = pd.grammar.load(task)
  return protocol.training_data(options, grammar, 1):floor(protocol.test_data(options, grammar))
end

-- Algorithm 1 of the paper ends when the network has "converged on V", which can also mean the validation strings. The
-- runs of a cell with an epoch without a validation error, and the first such epochs: '5 of 5 (17 to 29)'.
local function converged_on_validation(cell)
  local count, first, last = 0, math.huge, 0
  for _, one in ipairs(cell.runs) do
    if one.result.validation_error == 0 then
      local epoch = one.result.best_epoch  -- the first one with the smallest validation error
      count, first, last = count + 1, math.min(first, epoch), math.max(last, epoch)
    end
  end
  local text = ('%d of %d'):format(count, #cell.runs)
  if count == 0 then return text end
  return ('%s (%s)'):format(text, first == last and first or ('%d to %d'):format(first, last))
end

-- Shows and saves the table and the curves. metric: key of result.json; others: further { key, title }
-- whose means and deviations are shown.
function M.finish(run, options, kept, rows, given)
  local lines, floors = {}, {}
  for _, task in ipairs(options.tasks) do floors[task] = floor_of(options, task) end
  for _, cell in ipairs(kept) do
    local converged, more = 0, {}
    for _, one in ipairs(cell.runs) do converged = converged + (one.result.converged and 1 or 0) end
    local mean, deviation, best = cells.statistics(cell, given.metric)
    for _, other in ipairs(given.others or {}) do
      local value, spread = cells.statistics(cell, other[1])
      more[#more + 1], more[#more + 2] = value, spread or 'NA'
    end
    local line = { protocol.titles[cell.task], cell.row, cell.column or '', cell.paper or 'NA', mean, deviation or 'NA',
      best, ('%d of %d'):format(converged, #cell.runs), converged_on_validation(cell) }
    for _, value in ipairs(more) do line[#line + 1] = value end
    line[#line + 1] = floors[cell.task].error
    line[#line + 1] = require 'pushdown.grid'.point_name(cell.point)
    lines[#lines + 1] = line
  end
  local columns = { 'language', given.row_title or 'model', 'order', 'paper', { 'ours: mean', format = given.format },
    { 'deviation', format = given.format }, { 'best', format = given.format }, 'converged', 'on validation' }
  for _, other in ipairs(given.others or {}) do
    columns[#columns + 1] = { other[2], format = '%.2f' }
    columns[#columns + 1] = { 'deviation', format = '%.2f' }
  end
  columns[#columns + 1] = { 'floor %', format = '%.2f' }
  columns[#columns + 1] = 'setting'
  run:table(given.name, { title = given.title, columns = columns, rows = lines, note = rows.note })
  for _, task in ipairs(options.tasks) do
    local all = {}
    for _, cell in ipairs(kept) do
      if cell.task == task and #cell.runs > 0 then all[#all + 1] = curve(cell) end
    end
    if #all > 0 then
      run:lines('convergence-' .. task, { title = protocol.titles[task], x_label = 'epoch',
        y_label = 'correctly classified training strings (%)', series = all })
    end
  end
  print('\nMean and standard deviation over the repeats; converged: all training strings correctly classified; on\n'
    .. 'validation: an epoch without a validation error (the first ones). Runs that did not converge count with their\n'
    .. 'last value. Curves, all runs and settings: ' .. run.folder)
  for _, task in ipairs(options.tasks) do
    print(('Floor of the test error of %s: %.2f %% (%s).'):format(protocol.titles[task], floors[task].error,
      floors[task].classifier))
  end
  cells.finish(run, rows, given.name, { 'epochs', 'converged', 'characters', 'train_error', 'validation_error',
    'test_error', 'seconds' })
end

return M
