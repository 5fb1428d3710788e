-- Learning curves of one or several trainings as line charts.
local check = require 'pushdown.plot.figure'.check
local lines = require 'pushdown.plot.lines'
local rows = require 'pushdown.plot.rows'
local summary = require 'pushdown.plot.summary'

local function column(history, key)
  local x, y, any = {}, {}, false
  for i, row in ipairs(history) do
    x[i] = row.epoch or i
    y[i] = type(row[key]) == 'number' and row[key] or 0 / 0
    any = any or y[i] == y[i]
  end
  return any and { x = x, y = y } or nil
end

-- The lines of the columns `keys` of all histories. named: whether the names say which strings were measured.
local function series_of(histories, keys, named)
  local series = {}
  for _, one in ipairs(histories) do
    for _, key in ipairs(keys) do
      local points = column(one.history, key)
      if points then
        local what = named and (key:match('^train') and 'training' or 'validation')
        points.name = one.name and what and one.name .. ', ' .. what or one.name or what or 'validation'
        series[#series + 1] = points
      end
    end
  end
  return series
end

local function learning_curves(histories, title)
  local bounded, with_ends = true, false
  for _, one in ipairs(histories) do
    bounded = bounded and column(one.history, 'cross_entropy_difference') ~= nil
    with_ends = with_ends or (one.history[1] or {}).bound_includes_end == true
  end
  local chart = { title = title, x_label = 'epoch' }
  if bounded then
    chart.y_label = 'cross-entropy difference (nats per symbol)'
    chart.series = series_of(histories, { 'cross_entropy_difference' }, false)
    chart.reference = { value = 0, name = with_ends and 'lower bound with ends' or 'lower bound' }
    return chart
  end
  chart.y_label = 'cross-entropy (nats per symbol)'
  chart.series = series_of(histories, { 'train_cross_entropy', 'cross_entropy' }, true)
  if #chart.series == 0 then  -- those of a recognizer
    chart.y_label, chart.series = 'accuracy', series_of(histories, { 'train_accuracy', 'accuracy' }, true)
  end
  return chart
end

-- A trainer, or what its run returned, as {name =, history =}.
local function training_of(one, name)
  local is_trainer = type(one) == 'userdata'
  check(is_trainer or type(one) == 'table' and type(one.history) == 'table', 'plot.curves',
    'of must be a trainer, what its run returned, or a list of these')
  local history = is_trainer and one:history() or one.history
  check(#history > 0, 'plot.curves', 'no epoch is done')
  return { name = name or not is_trainer and (one.seed and 'seed ' .. one.seed or one.model), history = history }
end

-- {name =, history =} of every training in option `of`.
local function trainings_of(of, name)
  if type(of) == 'userdata' or of.history then return { { name = name, history = training_of(of).history } } end
  local list = {}
  for k, one in ipairs(of) do
    if not (type(one) == 'table' and one.error and not one.history) then
      list[#list + 1] = training_of(one, type(one) == 'userdata' and 'model ' .. k)
    end
  end
  check(#list > 0, 'plot.curves', 'there is no training to draw')
  return list
end

-- A trainer, what a run returned, or a list of these, in place of a table of options.
local function accepted(given)
  local first = type(given) == 'table' and given[1]
  if type(given) == 'userdata' or summary.is(given) or type(first) == 'userdata' or summary.is(first) then
    return { of = given }
  end
  return given
end

-- Converts the options of plot.curves to those of plot.lines.
local function lines_of(spec)
  check(spec.of or spec.history or spec.series, 'plot.curves', 'expected of, history or series')
  if not spec.of and not spec.history then return spec end
  local chart = learning_curves(spec.of and trainings_of(spec.of, spec.name)
    or { { name = spec.name, history = spec.history } }, spec.title)
  for key, value in pairs(spec) do
    if chart[key] == nil then chart[key] = value end
  end
  return chart
end

return { learning_curves = learning_curves, accepted = accepted, options = { {
  { 'history', nil, "the trainer's numbers of each epoch", type = 'list of tables' },
  { 'of', nil, 'in place of a history: a trainer, what its run returned, or a list of these',
    type = 'Trainer or table' },
  { 'name', nil, 'with one training: its name', type = 'text or number' },
  { 'series', nil, 'in place of a history: the lines', type = 'list of tables', inside = rows.series[1].inside },
}, rows.reference, rows.labels('epoch', 'cross-entropy (nats per symbol)'), rows.picture, rows.size(640, 400),
  rows.text },
  svg = function(spec) return lines.svg(lines_of(spec)) end,
  text = function(spec) return lines.text(lines_of(spec)) end }
