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
  local rows, columns, low, high = #spec.values, 0, nil, nil
  for _, row in ipairs(spec.values) do
    columns = math.max(columns, table.maxn(row))
    for k = 1, table.maxn(row) do
      local value = row[k]
      if axes.finite(value) then low, high = math.min(low or value, value), math.max(high or value, value) end
    end
  end
  low, high = spec.low or low or 0, spec.high or high or 1
  if low == high then high = low + (low == 0 and 1 or math.abs(low)) end
  local axis = axes.axis(low, high, { fixed_low = true, fixed_high = true, count = 5 })

  local name = (spec.value_label or '') .. (axis.unit and ' (×' .. axis.unit .. ')' or '')
  local canvas = svg.canvas(spec.width, spec.height)
  local scale_width = 60 + svg.widest(axis.labels)
  local area = {
    left = 30 + svg.widest(spec.y_labels or {}) + (spec.y_label and 14 or 0),
    right = canvas.width - scale_width, top = spec.title and 40 or name ~= '' and 26 or 16,
    bottom = canvas.height - (spec.x_label and 52 or 32),
  }
  local width = (area.right - area.left) / math.max(1, columns)
  -- Labels that do not fit side by side are rotated, if a cell is at least as wide as a line of text is high.
  local longest = svg.widest(spec.x_labels or {})
  local upright = longest + 6 > width and width >= 12
  local labels_height = upright and longest - 12 or 0
  -- Room for long labels is added to the picture, not taken from it.
  local added = math.ceil(math.max(0, labels_height - 98, area.top + 60 - (area.bottom - labels_height)))
  canvas.height = canvas.height + added
  area.bottom = area.bottom - labels_height + added
  local height = (area.bottom - area.top) / math.max(1, rows)
  for i, row in ipairs(spec.values) do
    for k = 1, columns do
      local value, x, y = row[k], area.left + (k - 1) * width, area.top + (i - 1) * height
      local share = axes.finite(value) and axis.place(value) or nil
      heat.cell(canvas, x, y, width, height, share)
      local shown = spec.cells and (spec.cells[i] or {})[k]
      if spec.show_values and share then shown = shown or spec.format:format(value) end
      if shown then
        canvas:text(x + width / 2, y + height / 2 + 4, shown,
          { ['text-anchor'] = 'middle', ['font-size'] = 11, fill = share and share > 0.55 and '#ffffff' or svg.ink })
      end
    end
  end
  local x_labels, y_labels = spec.x_labels or {}, spec.y_labels or {}
  local every = upright and 1 or math.max(1, math.ceil((longest + 6) / width))
  for k, label in ipairs(x_labels) do
    if upright then
      local x, y = area.left + (k - 0.5) * width + 4, area.bottom + 7
      canvas:text(x, y, label, { ['text-anchor'] = 'end',
        transform = ('rotate(-90 %s %s)'):format(svg.number(x), svg.number(y)) })
    elseif (k - 1) % every == 0 then
      canvas:text(area.left + (k - 0.5) * width, area.bottom + 17, label, { ['text-anchor'] = 'middle' })
    end
  end
  every = math.max(1, math.ceil(14 / height))
  for i, label in ipairs(y_labels) do
    if (i - 1) % every == 0 then
      canvas:text(area.left - 6, area.top + (i - 0.5) * height + 4, label, { ['text-anchor'] = 'end' })
    end
  end
  canvas:add('rect', { x = area.left, y = area.top, width = area.right - area.left,
    height = area.bottom - area.top, fill = 'none', stroke = svg.ink })

  heat.scale(canvas, area.right + 18, area.top, area.bottom, axis)
  if name ~= '' then canvas:text(canvas.width - 8, area.top - 8, name, { ['text-anchor'] = 'end' }) end
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
