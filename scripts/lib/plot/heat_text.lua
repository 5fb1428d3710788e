-- Heat maps in the terminal: one character for each value, darker for larger values.
local axes = require 'pushdown.plot.axes'
local heat = require 'pushdown.plot.heat'
local text = require 'pushdown.plot.text'

local unicode, ascii = { ' ', '░', '▒', '▓', '█' }, { ' ', '.', ':', '*', '#' }

-- The heat map of plot.heat_map as text.
return function(spec)
  local shades = text.is_plain(spec) and ascii or unicode
  local columns, low, high = heat.columns(spec.values), heat.range(spec.values)
  local labels = 0
  for i in ipairs(spec.values) do labels = math.max(labels, text.width((spec.y_labels or {})[i] or '')) end
  low, high = spec.low or low or 0, spec.high or high or 1
  if low == high then high = low + 1 end
  -- A cell is as wide as the widest column label, if there is room for that.
  local cell, room = 1, (spec.columns or text.terminal_width()) - labels - 3
  for k = 1, columns do cell = math.max(cell, text.width((spec.x_labels or {})[k] or '') + 1) end
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
    lines[#lines + 1] = text.padded((spec.y_labels or {})[i] or '', labels, true) .. ' |' .. table.concat(cells) .. '|'
  end
  if spec.x_labels and cell > 1 then
    local cells = {}
    for k = 1, columns do cells[k] = text.padded(spec.x_labels[k] or '', cell, true) end
    lines[#lines + 1] = (' '):rep(labels + 2) .. table.concat(cells)
  elseif spec.x_labels and columns > 0 then
    lines[#lines + 1] = ('%s%s ... %s'):format((' '):rep(labels + 2), spec.x_labels[1] or '',
      spec.x_labels[columns] or '')
  end
  lines[#lines + 1] = ('%s%s: %g to %g'):format((' '):rep(labels + 2), spec.value_label or 'from light to dark', low,
    high)
  return table.concat(lines, '\n') .. '\n'
end
