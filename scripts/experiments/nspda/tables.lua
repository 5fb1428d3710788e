-- What the table scripts share: cells of a table of Mali et al. (2019), the runs behind them, and how
-- both are shown side by side.
--
-- A cell is { task =, row =, column =, paper =, point = } with the point's options of train.lua; cells
-- of several tables with the same point share their runs.
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local report = require 'pushdown.report'
local runs = require 'pushdown.runs'
local statistics = require 'pushdown.statistics'
local here = arg[0]:match('^(.*/)') or ''
local protocol = dofile(here .. 'protocol.lua')

local M = { protocol = protocol }

-- Reads the command line of a table script: name, doc, tasks (the columns of the table).
function M.start(given)
  local options = {
    { 'tasks', given.tasks, 'languages', choices = given.tasks },
    { 'rows', {}, 'rows of the table, by their beginnings; none: all' },
    { 'columns', {}, 'second-order (M1) or third-order (M2) columns alone; none: both' },
    { 'noise', 'own', 'noise on the weights where the table does not say; own: as the model has it',
      choices = { 'own', 'on', 'off' } },
    { 'restarts', 5, 'repeats of every run', minimum = 1 },
    { 'workers', 0, 'processes at once; 0: one for each core', minimum = 0 },
    { 'folder', 'runs/nspda/grid', 'where the runs lie' },
  }
  local quick, smoke = { restarts = 2, folder = 'runs/nspda/quick_grid' },
    { restarts = 1, folder = 'runs/nspda/smoke_grid', tasks = { given.tasks[1] } }
  for key, value in pairs(protocol.quick) do quick[key] = value end
  for key, value in pairs(protocol.smoke) do smoke[key] = value end
  return experiment.start { name = given.name, doc = given.doc, options = protocol.with_options(options),
    quick = quick, smoke = smoke }
end

-- The cells of a table in which every language has a second-order and a third-order column. rows: lists of
-- the row's name, what `point` needs to know of it, and the paper's two numbers for each task;
-- point(key, order): the options of train.lua, order 1 or 2 for the two columns.
function M.cells(tasks, columns, rows, point)
  local cells = {}
  for t, task in ipairs(tasks) do
    for _, row in ipairs(rows) do
      for order, column in ipairs(columns) do
        cells[#cells + 1] = { task = task, row = row[1], column = column, paper = row[2 + t][order],
          point = point(row[2], order) }
      end
    end
  end
  return cells
end

-- The NSPDA of a column.
M.nspda = { 'nspda_2', 'nspda_3' }

-- The names that a list of beginnings chooses; what is a whole name chooses that one alone.
local function chosen_names(list, names)
  local chosen, whole = {}, {}
  for _, name in ipairs(names) do whole[name] = true end
  for _, name in ipairs(names) do
    chosen[name] = #list == 0
    for _, start in ipairs(list) do
      if name == start or not whole[start] and name:sub(1, #start) == start then chosen[name] = true end
    end
  end
  return chosen
end

-- Trains what is not trained yet. Every cell gets `runs`: rows of the grid that are done.
function M.run(options, cells)
  local grids, of_cell, kept, rows_there, columns_there = {}, {}, {}, {}, {}
  for i, cell in ipairs(cells) do rows_there[i], columns_there[i] = cell.row, cell.column or '' end
  local row_chosen = chosen_names(options.rows, rows_there)
  local column_chosen = chosen_names(options.columns, columns_there)
  for _, cell in ipairs(cells) do
    local chosen, task_chosen = row_chosen[cell.row] and column_chosen[cell.column or ''], false
    for _, task in ipairs(options.tasks) do task_chosen = task_chosen or task == cell.task end
    if chosen and task_chosen then
      local fixed = { task = cell.task }
      for _, option in ipairs(protocol.options) do
        if json.encode(options[option[1]]) ~= json.encode(option[2]) then fixed[option[1]] = options[option[1]] end
      end
      local point = {}
      for key, value in pairs(cell.point) do point[key] = value end
      if options.noise ~= 'own' then point.noise = point.noise or options.noise end
      cell.point = point
      local name = require 'pushdown.grid'.point_name(point)
      local key = cell.task .. '/' .. name
      if not of_cell[key] then
        of_cell[key] = true
        grids[#grids + 1] = { name = 'nspda/' .. cell.task, script = here .. 'train.lua',
          folder = ('%s/%s'):format(options.folder, cell.task), fixed = fixed, points = { point },
          restarts = options.restarts }
      end
      cell.key = key
      kept[#kept + 1] = cell
    end
  end
  if #kept == 0 then error('--tasks, --rows and --columns leave nothing of the table', 0) end
  grids.workers = options.workers > 0 and options.workers or nil
  grids.failures = 'report'
  local by_key = {}
  local rows = require 'pushdown.grid'.run(grids)
  for _, row in ipairs(rows) do
    local key = row.options.task .. '/' .. row.point
    by_key[key] = by_key[key] or {}
    if row.status == 'done' then by_key[key][#by_key[key] + 1] = row end
  end
  for _, cell in ipairs(kept) do cell.runs = by_key[cell.key] or {} end
  return kept, rows
end

-- The mean over a cell's runs of the training accuracy, in percent, after every epoch; a run that has
-- ended keeps its last value.
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

-- Shows and keeps the table and the curves. metric: key of result.json; unit: what it is; others:
-- further { key, title } whose means are shown.
function M.finish(run, options, cells, rows, given)
  local lines = {}
  for _, cell in ipairs(cells) do
    local values, converged, more = {}, 0, {}
    for i, one in ipairs(cell.runs) do
      values[i] = one.result[given.metric]
      converged = converged + (one.result.converged and 1 or 0)
    end
    local mean, deviation, best = statistics(values)
    for i, other in ipairs(given.others or {}) do
      local list = {}
      for k, one in ipairs(cell.runs) do list[k] = one.result[other[1]] end
      more[i] = (statistics(list))
    end
    local line = { protocol.titles[cell.task], cell.row, cell.column or '', cell.paper or 'NA', mean, deviation, best,
      ('%d of %d'):format(converged, #cell.runs) }
    for i = 1, #(given.others or {}) do line[#line + 1] = more[i] end
    line[#line + 1] = require 'pushdown.grid'.point_name(cell.point)
    lines[#lines + 1] = line
  end
  local columns = { 'language', given.row_title or 'model', 'order', 'paper', { 'ours: mean', format = given.format },
    { 'deviation', format = given.format }, { 'best', format = given.format }, 'converged' }
  for _, other in ipairs(given.others or {}) do columns[#columns + 1] = { other[2], format = '%.2f' } end
  columns[#columns + 1] = 'setting'
  run:table(given.name, { title = given.title, columns = columns, rows = lines })
  for _, task in ipairs(options.tasks) do
    local all = {}
    for _, cell in ipairs(cells) do
      if cell.task == task and #cell.runs > 0 then all[#all + 1] = curve(cell) end
    end
    if #all > 0 then
      run:lines('convergence-' .. task, { title = protocol.titles[task], x_label = 'epoch',
        y_label = 'training strings told right (%)', series = all })
    end
  end
  files.write(run:path(given.name .. '-runs.csv'), (function()
    local all = {}
    for _, row in ipairs(rows) do
      local result = row.result or {}
      all[#all + 1] = { row.options.task, row.point, row.restart, row.seed, row.status, result.epochs,
        tostring(result.converged), result.characters, result.train_error, result.validation_error,
        result.test_error, result.seconds }
    end
    return report.table({ columns = { 'task', 'point', 'restart', 'seed', 'status', 'epochs', 'converged', 'characters',
      'train_error', 'validation_error', 'test_error', 'seconds' }, rows = all }):csv()
  end)())
  print('\nMean and standard deviation over the repeats; converged: all training strings told right. Runs that did\n'
    .. 'not converge count with where they ended. Curves, every run and the setting: ' .. run.folder)
  run:finish { runs = #rows, failed = rows.failed }
  if rows.failed > 0 then
    error(('%d of %d runs failed; their ends are shown above'):format(rows.failed, #rows), 0)
  end
end

return M
