-- Heat maps as SVG: a matrix of cells that are darker for larger values, with a colour scale beside it.
local axes = require 'pushdown.plot.axes'
local figures = require 'pushdown.plot.figure'
local heat = require 'pushdown.plot.heat'
local heat_text = require 'pushdown.plot.heat_text'
local shared = require 'pushdown.plot.rows'
local svg = require 'pushdown.plot.svg'

local function draw(spec)
  local where = 'plot.heat_map'
  figures.check_format(spec.format, where)
  for i, row in pairs(spec.cells or {}) do
    for _, text in pairs(row) do
      figures.check(type(text) == 'string', where, 'row %s of cells must be a list of texts, got a %s', tostring(i),
        type(text))
    end
  end
  local x_labels, y_labels = spec.x_labels or {}, spec.y_labels or {}
  local columns, low, high = heat.columns(spec.values), heat.range(spec.values)
  low, high = spec.low or low or 0, spec.high or high or 1
  if low == high then high = low + (low == 0 and 1 or math.abs(low)) end
  local axis = axes.axis(low, high, { fixed_low = true, fixed_high = true, count = 5 })

  local name = (spec.value_label or '') .. (axis.unit and ' (×' .. axis.unit .. ')' or '')
  local canvas = svg.canvas(spec.width, spec.height)
  local area = canvas:area(spec, y_labels)
  area.left, area.right = area.left - 4, canvas.width - 60 - svg.widest(axis.labels)
  if not spec.title and name ~= '' then area.top = 26 end
  local width = (area.right - area.left) / math.max(1, columns)
  -- Labels that do not fit side by side are rotated, if a cell is at least as wide as a line of text is high.
  local longest = svg.widest(x_labels)
  local upright = longest + 6 > width and width >= 12
  local labels_height = upright and longest - 12 or 0
  -- Room for long labels is added to the picture, not taken from it.
  local added = math.ceil(math.max(0, labels_height - 98, area.top + 60 - (area.bottom - labels_height)))
  canvas.height = canvas.height + added
  area.bottom = area.bottom - labels_height + added
  heat.cells(canvas, area, spec.values, columns, axis, function(i, k, share)
    local shown = spec.cells and (spec.cells[i] or {})[k]
    return shown or spec.show_values and share and spec.format:format(spec.values[i][k])
  end)
  canvas:column_names(area, x_labels, width, upright, 6, 7)
  heat.frame(canvas, area, spec.values, axis, y_labels)
  if name ~= '' then canvas:before(canvas.width - 8, area.top - 8, name) end
  canvas:labels(area, spec.title, spec.x_label, spec.y_label)
  return canvas:document(spec.title)
end

return { svg = draw, text = heat_text, options = { {
  { 'values', nil, 'list of rows, the top row first; missing and infinite values are grey', type = 'list of lists',
    required = true },
  { 'x_labels', nil, 'labels of the columns', type = 'list of texts or numbers' },
  { 'y_labels', nil, 'labels of the rows', type = 'list of texts or numbers' },
  { 'value_label', nil, 'label of the colour scale', type = 'text or number' },
  { 'low', nil, 'lower end of the colour scale', type = 'number' },
  { 'high', nil, 'upper end of the colour scale', type = 'number' },
  { 'show_values', false, 'write the values into the cells' },
  { 'format', '%.2f', 'format of these values' },
  { 'cells', nil, 'rows of texts to show in place of the values', type = 'list of lists' },
}, shared.labels(), shared.picture, shared.size(640, 400), shared.text } }
