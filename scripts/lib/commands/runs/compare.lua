-- `pushdown runs compare`: runs side by side, or the points of a grid by mean and deviation.
local json = require 'pushdown.json'
local layout = require 'pushdown.runs.layout'
local metric_of = require 'pushdown.statistics.metric'
local runs = require 'pushdown.runs'
local selection = require 'pushdown.runs.selection'
local table_of = require 'pushdown.text.table'
local tests_of = require 'pushdown.runs.tests'
local visible = require 'pushdown.text.visible'

local function list_text(names) return #names > 0 and table.concat(names, ', ') or 'none' end

-- Raises an error if there are results, but none has one of the metrics.
local function check_metrics(rows, metrics)
  local keys = runs.result_keys(rows)
  for _, name in ipairs(metrics) do
    local found = #keys == 0
    for _, row in ipairs(rows) do found = found or (row.result or {})[name] ~= nil end
    if not found then error(("no run has the number '%s'; the results have %s"):format(name, list_text(keys)), 0) end
  end
end

-- Compares runs side by side: first the options that differ, then the results.
local function compare_runs(rows, options, width)
  check_metrics(rows, options.metric)
  local header, lines, same = { '' }, {}, {}
  for i, row in ipairs(rows) do header[i + 1] = 'run ' .. row.id end
  local function add(key, value_of, text_of)
    local line, differs, values = { (key:gsub('_', ' ')) }, false, {}
    for i, row in ipairs(rows) do values[i] = value_of(row) end
    for i, text in ipairs(layout.values(values, #rows, text_of, text_of == layout.value and 17 or 5)) do
      line[i + 1] = text
      differs = differs or text ~= line[2]
    end
    return line, differs
  end
  for _, key in ipairs { 'experiment', 'grid', 'point', 'restart', 'status', 'git', 'seconds' } do
    local line, differs = add(key, function(row) return row[key] end,
      function(value) return layout.field(key, value) or '' end)
    if key == 'seconds' then line[1] = 'time' end
    if differs then lines[#lines + 1] = line end
  end
  local function keys_in(part)
    local names, sorted = {}, {}
    for _, row in ipairs(rows) do
      for name in pairs(row[part] or {}) do names[name] = true end
    end
    for name in pairs(names) do sorted[#sorted + 1] = name end
    table.sort(sorted)
    return sorted
  end
  local seen = { restart = true }
  for _, name in ipairs(keys_in 'options') do
    local line, differs = add(name, function(row) return (row.options or {})[name] end, layout.value)
    if differs and not seen[name] then lines[#lines + 1] = line end
    if not differs then same[#same + 1] = name .. '=' .. line[2]:gsub('%s', ' ') end
    seen[name] = true
  end
  local metrics = #options.metric > 0 and options.metric or keys_in 'result'
  for _, name in ipairs(metrics) do
    local line = add(name, function(row) return (row.result or {})[name] end, layout.value)
    -- A result that only repeats an option adds nothing.
    if not seen[name] then lines[#lines + 1] = line end
  end
  if options.latex then return visible.data(layout.latex(header, lines)) end
  layout.table(header, lines, width, true)
  if #same > 0 then
    print '\nThe same in all:'
    layout.wrapped(table.concat(same, ', '), width, '  ')
  end
end

-- Decimals for the means, deviations and best runs of a metric: at least four, and enough for two digits of the
-- smallest deviation.
local function decimals_of(points, metric)
  local least
  for _, point in ipairs(points) do
    local deviation = (point.metrics[metric] or {}).deviation
    if deviation and deviation > 0 then least = math.min(least or deviation, deviation) end
  end
  return least and math.max(4, math.min(8, 1 - math.floor(math.log10(least)))) or 4
end

-- The metrics to compare: those that are asked for, else the usual ones of the results.
local function metrics_of(rows, options)
  if #options.metric > 0 then
    check_metrics(rows, options.metric)
    return options.metric
  end
  local metrics = { selection.shared_metric(rows) or runs.result_keys(rows)[1] or 'validation_difference' }
  for _, row in ipairs(rows) do
    if metrics[1] == 'validation_difference' and (row.result or {}).test_difference then
      return { metrics[1], 'test_difference' }
    end
  end
  return metrics
end

-- What to say about the finished runs that are not in the means, because they have no finite number of that name.
local function say_missing(points, rows, metrics, width)
  for _, name in ipairs(metrics) do
    local missing, others, of = 0, {}, {}
    for _, point in ipairs(points) do
      local without = point.done - (point.metrics[name] or { count = 0 }).count
      if without > 0 then missing, of[#of + 1] = missing + without, point.point end
    end
    for _, row in ipairs(rows) do
      if row.status == 'done' and not metric_of.is_finite((row.result or {})[name]) then others[#others + 1] = row end
    end
    if missing > 0 then
      layout.wrapped(("%d finished run%s of %s without a finite number '%s', not in the mean; the results have: %s.")
        :format(missing, missing == 1 and '' or 's', table.concat(of, '; '), name, list_text(runs.result_keys(others))),
        width, '')
    end
  end
end

-- The columns of a metric: its mean, the spread, and the best run, or without a direction the least and the greatest.
local function columns_of(name, better, spread)
  local columns = { { 'mean', 'mean ' .. name, 'mean ' .. name:gsub('_', ' ') },
    { spread, spread .. ' ' .. name, spread == 'interval' and '± 95 %' or spread } }
  if better then
    columns[3] = { 'best', 'best ' .. name, 'best single run' }
  else
    columns[3], columns[4] = { 'least', 'least ' .. name, 'least' }, { 'greatest', 'greatest ' .. name, 'greatest' }
  end
  return columns
end

local function print_notes(metric, better, spread, width)
  local order = better and ('the best first (%s is better)'):format(better)
    or 'the least first; its name does not say which values are better, --better lower or higher does'
  local text = ('Ordered by the mean of %s over the finished restarts, %s; %s'):format(metric:gsub('_', ' '), order,
    spread == 'interval' and "± 95 % is half the width of the 95 % confidence interval of the mean (Student's t)"
    or 'the deviation is the sample standard deviation')
  layout.wrapped(text .. (better and '; the best single run is one run, not a mean.' or '.'), width, '')
end

local function compare_grid(rows, options, width)
  local metrics = metrics_of(rows, options)
  local points, tests = runs.by_point(rows, metrics, options.better), nil
  local first = options.better or metric_of.better(metrics[1])
  if options.test then
    if not first and not options.against then
      error(("--test compares with the best point, but the name '%s' does not say which values are better: expected "
        .. '--better lower, --better higher, or --against POINT'):format(metrics[1]), 0)
    end
    tests = tests_of.of(rows, points, metrics[1], options.test, options.against)
  end
  if options.json then
    local list = json.list(points)
    return visible.data(json.encode(tests and { points = list, tests = tests_of.json(tests) } or list, true) .. '\n')
  end
  if options.csv and tests then return visible.data(tests_of.csv(tests)) end
  local several, folders = false, false
  for _, point in ipairs(points) do
    several = several or point.grid ~= points[1].grid
    folders = folders or point.folder ~= points[1].folder
  end
  local names, heads = { 'point', 'done', 'failed' }, { 'point', 'done', 'failed' }
  for _, list in ipairs { names, heads } do
    if folders then table.insert(list, 1, 'folder') end
    if several then table.insert(list, 1, 'grid') end
  end
  local numbers = {}
  for k, name in ipairs(metrics) do
    local decimals = ('%%.%df'):format(decimals_of(points, name))
    local better = k == 1 and first or metric_of.better(name) or options.better
    for _, column in ipairs(columns_of(name, better, options.spread)) do
      numbers[#numbers + 1] = { metric = name, key = column[1], format = decimals }
      names[#names + 1], heads[#heads + 1] = column[2], column[3]
    end
  end
  local raw, cells = {}, {}
  for i, point in ipairs(points) do
    raw[i], cells[i] = {}, {}
    local function add(value, text)
      raw[i][#cells[i] + 1] = value
      cells[i][#cells[i] + 1] = text or layout.value(value)
    end
    if several then add(point.grid) end
    if folders then add(point.folder) end
    add(point.point)
    add(point.done, ('%d/%d'):format(point.done, point.runs))
    add(point.failed)
    for _, column in ipairs(numbers) do
      local value = (point.metrics[column.metric] or {})[column.key]
      add(value, value and column.format:format(value) or '–')
    end
  end
  if options.csv then return visible.data(table_of.new { columns = names, rows = raw }:csv()) end
  if options.latex then return visible.data(layout.latex(heads, cells)) end
  layout.table(heads, cells, width)
  print_notes(metrics[1], first, options.spread, width)
  say_missing(points, rows, metrics, width)
  if tests and #tests == 0 then
    print '\nThere is one point, and nothing to test it against.'
  elseif tests then
    tests_of.print(tests, width)
  end
end

return function(options, path, width)
  local ids = selection.ids(options.words)
  options.test = options.test or options.against and 'auto'
  if #ids > 0 and options.test then
    selection.fail('--test is about the points of a grid, with several restarts: --grid NAME')
  end
  if #ids > 0 then
    local rows = selection.numbered(ids, path)
    if options.json then return visible.data(layout.json(rows)) end
    if options.csv then return visible.data(layout.csv(rows)) end
    return compare_runs(rows, options, width)
  end
  if not options.grid then selection.fail('which runs? pushdown runs compare ID ID..., or --grid NAME') end
  local rows = runs.find(selection.filter(options), path)
  if #rows == 0 and not options.json and not options.csv then return selection.say_nothing(path, options) end
  compare_grid(rows, options, width)
end
