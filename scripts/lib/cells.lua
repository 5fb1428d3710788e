-- Tables in which each cell summarizes trained runs: chooses the cells, trains their grids and reads the results.
--
--   local kept, rows = cells.train{ cells = all, options = options, settings = protocol.options,
--     name = 'nspda', script = here .. 'train.lua' }
--
-- A cell is { task =, row =, column =, point = }. The point holds the options of the cell's runs besides the task and
-- the settings. Cells with the same task and point share their runs, also with cells of other tables that have the same
-- name and folder. --missing leave trains nothing and leaves out cells without a finished run.
local files = require 'pushdown.files'
local grid = require 'pushdown.grid'
local json = require 'pushdown.json'
local pd = require 'pushdown'
local statistics = require 'pushdown.statistics'
local tables = require 'pushdown.tables'
local table_of = require 'pushdown.text.table'

local M = {}

local options_of = pd._options.declare('cells.options', {
  { 'tasks', nil, 'the tasks of the table', type = 'list', required = true },
  { 'choices', nil, 'all tasks that can be chosen, if there are more', type = 'list' },
  { 'columns', nil, 'the description of --columns, if the table has that option', type = 'text' },
  { 'restarts', nil, 'restarts of every run by default', type = 'integer', required = true },
  { 'folder', nil, 'folder of the runs by default', type = 'text', required = true },
})

-- cells.options{options} -> the options that cells.train reads; the script of a table declares them.
function M.options(declared)
  local given = options_of(declared)
  local options = {
    { 'tasks', given.tasks, 'languages', choices = given.choices or given.tasks },
    { 'rows', {}, 'rows whose names begin with one of these; none: all' },
  }
  if given.columns then options[#options + 1] = { 'columns', {}, given.columns } end
  options[#options + 1] = { 'restarts', given.restarts, 'restarts of every run', minimum = 1 }
  for _, option in ipairs(grid.options) do options[#options + 1] = option end
  options[#options + 1] = { 'folder', given.folder, 'folder of the runs' }
  return options
end

-- The names that start with one of the given prefixes. A prefix that is itself a name selects only that name.
local function chosen_names(list, cells, key)
  local chosen, whole = {}, {}
  for _, cell in ipairs(cells) do whole[cell[key] or ''] = true end
  for name in pairs(whole) do
    chosen[name] = #list == 0
    for _, start in ipairs(list) do
      if name == start or not whole[start] and name:sub(1, #start) == start then chosen[name] = true end
    end
  end
  return chosen
end

local function wanted(cells, options)
  local tasks, kept = {}, {}
  for _, task in ipairs(options.tasks) do tasks[task] = true end
  local rows = chosen_names(options.rows, cells, 'row')
  local columns = chosen_names(options.columns or {}, cells, 'column')
  for _, cell in ipairs(cells) do
    if tasks[cell.task] and rows[cell.row] and columns[cell.column or ''] then kept[#kept + 1] = cell end
  end
  if #kept == 0 then
    local names = options.columns and '--tasks, --rows and --columns' or '--tasks and --rows'
    error(names .. ' select no cell of the table', 0)
  end
  return kept
end

local train_options = pd._options.declare('cells.train', {
  { 'cells', nil, 'all cells of the table', type = 'list of tables', required = true },
  { 'options', nil, 'the options of the script: those of cells.options', type = 'table', required = true },
  { 'settings', nil, 'declared options that the script of a run also takes; those that differ from their defaults are '
    .. 'passed to it', type = 'list', required = true },
  { 'name', nil, 'the grid of a task is called name/task', type = 'text', required = true },
  { 'script', nil, 'the script of a run', type = 'text', required = true },
})

-- cells.train{options} -> cells, rows. Trains the unfinished runs of the cells that --tasks, --rows and --columns
-- choose. Returns these cells, each with its finished runs as `runs`, and the rows of grid.run.
function M.train(declared)
  local given = train_options(declared)
  local options, grids, known = given.options, {}, {}
  local kept = wanted(given.cells, options)
  local settings = {}
  for _, option in ipairs(given.settings) do
    if json.encode(options[option[1]]) ~= json.encode(option[2]) then settings[option[1]] = options[option[1]] end
  end
  for _, cell in ipairs(kept) do
    cell.key = cell.task .. '/' .. grid.point_name(cell.point)
    if not known[cell.key] then
      known[cell.key] = {}
      local fixed = tables.merged({ task = cell.task }, settings)
      grids[#grids + 1] = { name = given.name .. '/' .. cell.task, script = given.script,
        folder = ('%s/%s'):format(options.folder, cell.task), fixed = fixed, points = { cell.point },
        restarts = options.restarts }
    end
    cell.runs = known[cell.key]
  end
  grids.failures = 'report'
  local rows = grid.run(grid.place(grids, options))
  for _, row in ipairs(rows) do
    local runs = known[row.options.task .. '/' .. row.point]
    if row.status == 'done' then runs[#runs + 1] = row end
  end
  if options.missing == 'leave' then
    local all = kept
    kept = {}
    for _, cell in ipairs(all) do
      if #cell.runs > 0 then kept[#kept + 1] = cell end
    end
  end
  return kept, rows
end

-- cells.statistics(cell, key) -> mean, deviation, least, greatest of a number of result.json over the cell's runs.
function M.statistics(cell, key)
  local values = {}
  for _, run in ipairs(cell.runs) do values[#values + 1] = run.result[key] end
  return statistics(values)
end

-- cells.finish(run, rows, name, keys): writes all runs with these keys of their results to name-runs.csv and finishes
-- the script's own run. Raises an error if a run failed.
function M.finish(run, rows, name, keys)
  local columns, lines = { 'task', 'point', 'restart', 'seed', 'status' }, {}
  for _, key in ipairs(keys) do columns[#columns + 1] = key end
  for i, row in ipairs(rows) do
    local result = row.result or {}
    lines[i] = { row.options.task, row.point, row.restart, row.seed, row.status }
    for k, key in ipairs(keys) do
      local value = result[key]
      lines[i][5 + k] = type(value) == 'boolean' and tostring(value) or value
    end
  end
  files.write(run:path(name .. '-runs.csv'), table_of.new({ columns = columns, rows = lines }):csv())
  run:finish { runs = #rows, failed = rows.failed }
  if rows.failed > 0 then
    error(('%d of %d runs failed; the ends of their logs are shown above'):format(rows.failed, #rows), 0)
  end
end

return M
