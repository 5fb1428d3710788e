-- Shared by grid.lua and the figures: makes the points of the search, runs them, and chooses the setting
-- of each model by its mean over the restarts.
local pd = require 'pushdown'
local files = require 'pushdown.files'
local grid = require 'pushdown.grid'
local json = require 'pushdown.json'
local report = require 'pushdown.report'
local runs = require 'pushdown.runs'
local statistics = require 'pushdown.statistics'
local here = arg[0]:match('^(.*/)') or ''
local protocol = dofile(here .. 'protocol.lua')

local M = {}

-- The declaration of a script that runs or reads a grid; the options `own` come first.
function M.declaration(given)
  local options = {}
  for _, option in ipairs(given.options or {}) do options[#options + 1] = option end
  for _, option in ipairs {
    { 'tasks', protocol.tasks, 'grammars in the grammars folder, or grammar files' },
    { 'models', protocol.model_names, 'models to compare', choices = protocol.model_names },
    { 'learning_rates', { 0.01, 0.005, 0.001, 0.0005 }, 'initial learning rates of Adam' },
    { 'sizes', { 2, 20, 40 }, 'sizes of the vectors of superposition and stratification' },
    { 'vector_sizes', { 3 }, 'sizes of the vectors of vrns' },
    { 'restarts', 5, 'restarts of every setting', minimum = 1 },
    { 'folder', 'runs/ns_rnn/grid', 'folder of the runs of the points' },
  } do options[#options + 1] = option end
  for _, option in ipairs(grid.options) do options[#options + 1] = option end
  for _, option in ipairs(protocol.options) do options[#options + 1] = option end
  local quick = pd.tables.merged(protocol.quick, { learning_rates = { 0.01, 0.005 }, sizes = { 20 }, restarts = 2,
    folder = 'runs/ns_rnn/quick_grid' })
  local smoke = pd.tables.merged(protocol.smoke, { learning_rates = { 0.01 }, sizes = { 2 }, restarts = 2,
    tasks = { 'marked_reversal' }, models = { 'lstm', 'ns' }, folder = 'runs/ns_rnn/smoke_grid' })
  return { name = given.name, doc = given.doc, options = options, quick = quick, smoke = smoke }
end

-- The settings of one model: lists of {key, value} in the order of the names.
local function settings_of(model, options)
  local sizes = protocol.models[model].sized and { key = 'size', values = options.sizes }
    or model == 'vrns' and #options.vector_sizes > 1 and { key = 'vector_size', values = options.vector_sizes }
  local list = {}
  for _, rate in ipairs(options.learning_rates) do
    if sizes then
      for _, size in ipairs(sizes.values) do list[#list + 1] = { learning_rate = rate, [sizes.key] = size } end
    else
      list[#list + 1] = { learning_rate = rate }
    end
  end
  return list
end

-- Runs every unfinished point; returns all points with their results. `train` is the script.
function M.run(options, train)
  local grids = {}
  for _, task in ipairs(options.tasks) do
    for _, model in ipairs(options.models) do
      local name = protocol.short_name(task)
      local fixed = { task = task, model = model }
      if model == 'vrns' and #options.vector_sizes == 1 then fixed.vector_size = options.vector_sizes[1] end
      for _, option in ipairs(protocol.options) do
        local value = options[option[1]]
        if json.encode(value) ~= json.encode(option[2]) then fixed[option[1]] = value end
      end
      grids[#grids + 1] = { name = ('ns_rnn/%s/%s'):format(name, model), script = train,
        folder = ('%s/%s/%s'):format(options.folder, name, model), fixed = fixed,
        points = settings_of(model, options), restarts = options.restarts }
    end
  end
  grids.failures = 'report'
  local rows = grid.run(grid.place(grids, options))
  for _, row in ipairs(rows) do
    row.task, row.model = row.options.task, row.options.model
    row.history = runs.history(row.folder)
  end
  return rows
end

-- The settings of a model on a task, best first: name, points (finished ones), mean, deviation and
-- best of the validation difference, test_mean, mean epochs and seconds, chosen (true for one of them).
function M.settings(points, task, model)
  local by_name, list = {}, {}
  for _, point in ipairs(points) do
    if point.task == task and point.model == model then
      local setting = by_name[point.point]
      if not setting then
        setting = { name = point.point, points = {}, finished = 0 }
        by_name[point.point] = setting
        list[#list + 1] = setting
      end
      if point.status == 'done' then setting.points[#setting.points + 1] = point end
    end
  end
  for _, setting in ipairs(list) do
    local function all(key)
      local values = {}
      for _, point in ipairs(setting.points) do values[#values + 1] = point.result[key] end
      return values
    end
    setting.finished = #setting.points
    setting.mean, setting.deviation, setting.best = statistics(all 'validation_difference')
    setting.test_mean = statistics(all 'test_difference')
    setting.epochs, setting.seconds = statistics(all 'epochs'), (statistics(all 'seconds'))
  end
  table.sort(list, function(a, b)
    local x, y = a.mean or math.huge, b.mean or math.huge
    if x ~= y then return x < y end
    return a.name < b.name
  end)
  if list[1] and list[1].mean then list[1].chosen = true end
  return list
end

-- The chosen setting of a model on a task, or nil.
function M.chosen(points, task, model)
  local first = M.settings(points, task, model)[1]
  return first and first.chosen and first or nil
end

-- Draws one plot for each task, with a line for the chosen setting of each model, and writes a CSV of the
-- drawn values. curve(setting) -> list of {x of the row, values of the restarts, x of the plot}; key: the
-- name of x in the CSV; plot: options of plot.lines.
function M.draw(run, options, points, name, key, curve, plot)
  local rows = {}
  for _, task in ipairs(options.tasks) do
    local all = {}
    for _, model in ipairs(options.models) do
      local setting = M.chosen(points, task, model)
      if setting then
        local series = { name = protocol.models[model].label, x = {}, y = {}, low = {}, high = {} }
        for i, place in ipairs(curve(setting)) do
          local mean, deviation = statistics(place.values)
          local known = deviation ~= nil
          series.x[i], series.y[i] = place.at or place.x, mean
          if known then series.low[i], series.high[i] = mean - deviation, mean + deviation end
          rows[#rows + 1] = { protocol.short_name(task), model, setting.name, #setting.points, place.x, mean,
            known and deviation or nil }
        end
        series.markers = plot.markers or #series.x < 3
        if not plot.bands then series.low, series.high = nil, nil end
        all[#all + 1] = series
      end
    end
    run:lines(name .. '-' .. protocol.short_name(task), { title = protocol.title(task), x_label = plot.x_label,
      y_label = plot.y_label, series = all, reference = { value = 0, name = 'lower bound' } })
  end
  files.write(run:path(name .. '.csv'), report.table({
    columns = { 'task', 'model', 'setting', 'restarts', key, 'mean_difference', 'standard_deviation' },
    rows = rows }):csv())
  if points.note then print('\n' .. points.note) end
  print('\nPlots and the drawn numbers: ' .. run.folder)
  M.finish(run, points, {})
end

-- The last step of a script: writes `result` to the registry, and raises an error if runs failed.
function M.finish(run, points, result)
  result.runs, result.failed = #points, points.failed
  run:finish(result)
  if points.failed > 0 then
    error(('%d of %d runs failed; the ends of their logs are shown above'):format(points.failed, #points), 0)
  end
end

return M
