-- Learning curves of one or several trainings as line charts.
local check = require 'pushdown.plot.figure'.check
local lines = require 'pushdown.plot.lines'
local rows = require 'pushdown.plot.rows'

local function column(history, key)
  local x, y, any = {}, {}, false
  for i, row in ipairs(history) do
    x[i] = row.epoch or i
    y[i] = type(row[key]) == 'number' and row[key] or 0 / 0
    any = any or y[i] == y[i]
  end
  return any and { x = x, y = y } or nil
end

local function learning_curves(histories, title)
  local series, bounded, with_ends = {}, true, false
  for _, one in ipairs(histories) do
    bounded = bounded and column(one.history, 'cross_entropy_difference') ~= nil
    with_ends = with_ends or (one.history[1] or {}).bound_includes_end == true
  end
  for _, one in ipairs(histories) do
    local keys = bounded and { 'cross_entropy_difference' }
      or { 'train_cross_entropy', 'cross_entropy' }
    for _, key in ipairs(keys) do
      local points = column(one.history, key)
      if points then
        local what = not bounded and (key:match('^train') and 'training' or 'validation')
        points.name = one.name and what and one.name .. ', ' .. what or one.name or what or 'validation'
        series[#series + 1] = points
      end
    end
  end
  return { title = title, x_label = 'epoch', series = series,
    y_label = bounded and 'cross-entropy difference (nats per symbol)' or 'cross-entropy (nats per symbol)',
    reference = bounded and { value = 0, name = with_ends and 'lower bound with ends' or 'lower bound' } or nil }
end

-- Converts the options of plot.curves to those of plot.lines.
local function lines_of(spec)
  check(spec.history or spec.series, 'plot.curves', 'expected a history or series')
  if not spec.history then return spec end
  local chart = learning_curves({ { name = spec.name, history = spec.history } }, spec.title)
  for key, value in pairs(spec) do
    if chart[key] == nil then chart[key] = value end
  end
  return chart
end

return { learning_curves = learning_curves, options = { {
  { 'history', nil, "the trainer's numbers of each epoch", type = 'list of tables' },
  { 'name', nil, 'with a history: name of the training', type = 'text or number' },
  { 'series', nil, 'in place of a history: the lines', type = 'list of tables', inside = rows.series[1].inside },
}, rows.reference, rows.labels('epoch', 'cross-entropy (nats per symbol)'), rows.picture, rows.size(640, 400),
  rows.text },
  svg = function(spec) return lines.svg(lines_of(spec)) end,
  text = function(spec) return lines.text(lines_of(spec)) end }
