-- Heat maps in the terminal: one character for each value, darker for larger values.
local axes = require 'pushdown.plot.axes'
local text = require 'pushdown.plot.text'

local unicode, ascii = { ' ', '░', '▒', '▓', '█' }, { ' ', '.', ':', '*', '#' }

local width_of = axes.text_length

local function padded(label, width) return (' '):rep(width - width_of(label)) .. label end

-- The heat map of plot.heat_map as text.
return function(spec)
  local shades = ascii
  if spec.ascii == false or spec.ascii == nil and text.utf8_locale() then shades = unicode end
  local low, high, columns, labels = spec.low, spec.high, 0, 0
  for i, row in ipairs(spec.values) do
    columns = math.max(columns, table.maxn(row))
    for k = 1, table.maxn(row) do
      if axes.finite(row[k]) then
        if not spec.low then low = math.min(low or row[k], row[k]) end
        if not spec.high then high = math.max(high or row[k], row[k]) end
      end
    end
    labels = math.max(labels, width_of((spec.y_labels or {})[i] or ''))
  end
  low, high = low or 0, high or 1
  if low == high then high = low + 1 end
  -- A cell is as wide as the widest column label, if there is room for that.
  local cell, room = 1, (spec.columns or text.terminal_width()) - labels - 3
  for k = 1, columns do cell = math.max(cell, width_of((spec.x_labels or {})[k] or '') + 1) end
  if cell * columns > room then cell = 1 end
  local lines = {}
  if spec.title then lines[1] = spec.title end
  for i, row in ipairs(spec.values) do
    local cells = {}
    for k = 1, columns do
      local share = axes.finite(row[k]) and math.max(0, math.min(1, (row[k] - low) / (high - low)))
      -- The lightest shade means just above the smallest value.
      cells[k] = (share and shades[math.min(#shades, math.floor(share * #shades) + 1)] or ' '):rep(cell)
    end
    lines[#lines + 1] = padded((spec.y_labels or {})[i] or '', labels) .. ' |' .. table.concat(cells) .. '|'
  end
  if spec.x_labels and cell > 1 then
    local cells = {}
    for k = 1, columns do cells[k] = padded(spec.x_labels[k] or '', cell) end
    lines[#lines + 1] = (' '):rep(labels + 2) .. table.concat(cells)
  elseif spec.x_labels and columns > 0 then
    lines[#lines + 1] = ('%s%s ... %s'):format((' '):rep(labels + 2), spec.x_labels[1] or '',
      spec.x_labels[columns] or '')
  end
  lines[#lines + 1] = ('%s%s: %g to %g'):format((' '):rep(labels + 2), spec.value_label or 'from light to dark', low,
    high)
  return table.concat(lines, '\n') .. '\n'
end
