-- `pushdown runs compare`: runs side by side, or the points of a grid by mean and deviation.
local json = require 'pushdown.json'
local layout = require 'pushdown.runs.layout'
local paired = require 'pushdown.runs.paired'
local runs = require 'pushdown.runs'
local selection = require 'pushdown.runs.selection'
local table_of = require 'pushdown.text.table'
local visible = require 'pushdown.text.visible'

-- Compares runs side by side: first the options that differ, then the results.
local function compare_runs(rows, options, width)
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

local function compare_grid(rows, options, width)
  local metrics = options.metric
  if #metrics == 0 then
    metrics = { selection.shared_metric(rows) }
    for _, row in ipairs(rows) do
      if metrics[1] == 'validation_difference' and (row.result or {}).test_difference then
        metrics = { metrics[1], 'test_difference' }
        break
      end
    end
  end
  if #metrics == 0 then metrics = { 'validation_difference' } end
  local points = runs.by_point(rows, metrics)
  local tests, base
  if options.test then tests, base = paired.of(rows, points, metrics[1], options.test, options.against) end
  if options.json then
    local list = json.list(points)
    return visible.data(json.encode(tests and { points = list, tests = paired.json(tests) } or list, true) .. '\n')
  end
  if options.csv and tests then return visible.data(paired.csv(tests)) end
  local several, folders = false, false
  for _, point in ipairs(points) do
    several = several or point.grid ~= points[1].grid
    folders = folders or point.folder ~= points[1].folder
  end
  local columns = { 'point', 'done', 'failed' }
  if folders then table.insert(columns, 1, 'folder') end
  if several then table.insert(columns, 1, 'grid') end
  for _, metric in ipairs(metrics) do
    for _, name in ipairs { 'mean ', options.spread .. ' ', 'best ' } do columns[#columns + 1] = name .. metric end
  end
  local raw, cells, decimals = {}, {}, {}
  for _, metric in ipairs(metrics) do decimals[metric] = decimals_of(points, metric) end
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
    for _, metric in ipairs(metrics) do
      local numbers = point.metrics[metric] or {}
      for _, key in ipairs { 'mean', options.spread, 'least' } do
        add(numbers[key], numbers[key] and ('%%.%df'):format(decimals[metric]):format(numbers[key]) or '–')
      end
    end
  end
  if options.csv then return visible.data(table_of.new { columns = columns, rows = raw }:csv()) end
  for k, name in ipairs(columns) do
    columns[k] = name:match('^deviation ') and 'deviation' or name:match('^interval ') and '± 95 %'
      or name:match('^best ') and 'best single run'
      or name:gsub('_', ' ')
  end
  if options.latex then return visible.data(layout.latex(columns, cells)) end
  layout.table(columns, cells, width)
  layout.wrapped(('Ordered by the mean of %s over the finished restarts; %s; the best single run is one run, not a '
    .. 'mean.'):format(metrics[1]:gsub('_', ' '), options.spread == 'interval'
    and "± 95 % is half the width of the 95 % confidence interval of the mean (Student's t)"
    or 'the deviation is the sample standard deviation'), width, '')
  if tests and #tests == 0 then
    print '\nThere is one point, and nothing to test it against.'
  elseif tests then
    paired.print(tests, base, metrics[1], options.test, width)
  end
end

return function(options, path, width)
  local ids = selection.ids(options.words)
  if options.against and not options.test then selection.fail('--against needs --test wilcoxon or --test bootstrap') end
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
