-- The cells of tables: each summarizes the trainings of a paper at one point. A cell is { task =, model =, point =,
-- fixed =, row =, column = }. The point has the options of its trainings that are in their name; `fixed` has others. A
-- cell with a model has a grid of its own, NAME/TASK/MODEL; the others share the grid NAME/TASK, and their model is in
-- the point. Cells with the same grid and point share their runs, also with those of other tables in the same folder.
-- --missing leave trains nothing and leaves out cells without a finished run.
local files = require 'pushdown.files'
local grid = require 'pushdown.grid'
local json = require 'pushdown.json'
local statistics = require 'pushdown.statistics'
local tables = require 'pushdown.tables'
local table_of = require 'pushdown.text.table'

local M = {}

-- cells.options(paper, part) -> the options of a table that select its cells and run their trainings.
function M.options(paper, part)
  local tasks = part.tasks or paper.tasks
  local options = { part.any_task and { 'tasks', tasks, part.any_task }
    or { 'tasks', tasks, 'tasks', choices = part.choices or paper.tasks } }
  local function add(...) options[#options + 1] = { ... } end
  if part.models then
    options[2] = { 'models', part.models, 'models to compare', choices = paper.model_names }
  else
    add('rows', {}, 'rows whose names begin with one of these; none: all')
    if part.columns then add('columns', {}, part.columns) end
  end
  options[#options + 1] = { 'restarts', part.restarts, 'repeats of every setting', minimum = 1 }
  for _, option in ipairs(grid.options) do options[#options + 1] = option end
  add('folder', ('runs/%s/%s'):format(paper.grid, part.folder), 'where the runs lie')
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
  local rows = chosen_names(options.rows or {}, cells, 'row')
  local columns = chosen_names(options.columns or {}, cells, 'column')
  for _, cell in ipairs(cells) do
    if tasks[cell.task] and rows[cell.row or ''] and columns[cell.column or ''] then kept[#kept + 1] = cell end
  end
  if #kept == 0 then
    local names = options.columns and '--tasks, --rows and --columns' or '--tasks and --rows'
    error(names .. ' select no cell of the table', 0)
  end
  return kept
end

-- The options of a table that trainings have, too, where they differ from the defaults of a training.
local function changed(declared, defaults, options)
  local settings = {}
  for _, option in ipairs(declared) do
    local name = option[1]
    if json.encode(options[name]) ~= json.encode(defaults[name]) then settings[name] = options[name] end
  end
  return settings
end

-- cells.train(paper, options, list, part) -> cells, rows. Trains the unfinished runs of the cells that --tasks, --rows
-- and --columns choose. Returns these cells, each with its finished runs as `runs` and the name of its point as `name`,
-- and the rows of grid.run.
function M.train(paper, options, list, part)
  local kept, grids, known = wanted(list, options), { failures = 'report' }, {}
  local settings = changed(part.settings, paper:defaults(), options)
  for _, cell in ipairs(kept) do
    local place = paper.short_name and paper.short_name(cell.task) or cell.task
    if cell.model then place = place .. '/' .. cell.model end
    local name = ('%s/%s'):format(part.grid or paper.grid, place)
    cell.name = grid.point_name(cell.point)
    local key = name .. '\0' .. cell.name
    if not known[key] then
      known[key] = {}
      grids[#grids + 1] = { name = name, script = paper.path, folder = ('%s/%s'):format(options.folder, place),
        fixed = tables.merged({ task = cell.task, model = cell.model }, cell.fixed, settings), points = { cell.point },
        restarts = options.restarts }
    end
    cell.runs = known[key]
  end
  local rows = grid.run(grid.place(grids, options))
  for _, row in ipairs(rows) do
    if row.status == 'done' then table.insert(known[row.grid .. '\0' .. row.point], row) end
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

-- cells.finish(run, rows, result) finishes the run of a table. Raises an error if one of its trainings failed.
function M.finish(run, rows, result)
  run:finish(tables.merged({ runs = #rows, failed = rows.failed }, result))
  if rows.failed > 0 then
    error(('%d of %d runs failed; the ends of their logs are shown above'):format(rows.failed, #rows), 0)
  end
end

-- cells.keep(run, rows, name, keys): writes all runs with these keys of their results to name-runs.csv, and finishes.
function M.keep(run, rows, name, keys)
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
  M.finish(run, rows)
end

return M
