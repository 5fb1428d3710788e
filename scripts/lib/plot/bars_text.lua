-- Bar charts in the terminal: horizontal bars of block characters in steps of an eighth, or of '#' without UTF-8.
local axes = require 'pushdown.plot.axes'
local figures = require 'pushdown.plot.figure'
local text = require 'pushdown.plot.text'

local least_bar = 10

-- The bar chart of plot.bars as text. Its format of numbers is checked here.
return function(spec)
  local where = 'plot.bars_text'
  figures.check(#spec.series > 0, where, 'series must be a list of at least one {y = {...}}')
  figures.check_format(spec.format, where)
  local ascii = text.is_plain(spec)
  local labels, names, numbers = text.widest(spec.categories), 0, 0
  local low, high = math.min(spec.y_min or 0, 0), math.max(spec.y_max or 0, 0)
  local several = #spec.series > 1
  for i, series in ipairs(spec.series) do
    if several then names = math.max(names, text.width(series.name or tostring(i))) end
    for k = 1, #spec.categories do
      local y = series.y[k]
      if axes.finite(y) then low, high = math.min(low, y), math.max(high, y) end
      numbers = math.max(numbers, #spec.format:format(axes.finite(y) and y or 0))
    end
  end
  if low == high then high = 1 end
  local lead = labels + (several and names + 2 or 0) + 2
  local room = math.max(least_bar, (spec.columns or text.terminal_width()) - lead - numbers - 2)
  local scale = room / (high - low)
  local zero = math.floor(-low * scale + 0.5)
  local rule = ascii and '|' or '│'
  local lines = { spec.title }
  for k, category in ipairs(spec.categories) do
    for i, series in ipairs(spec.series) do
      local y = series.y[k]
      local line = text.padded(i == 1 and category or '', labels)
      if several then line = line .. '  ' .. text.padded(series.name or tostring(i), names) end
      if not axes.finite(y) then
        line = line .. ' ' .. (' '):rep(zero) .. rule
      elseif y >= 0 then
        line = ('%s %s%s%s %s'):format(line, (' '):rep(zero), rule, text.bar(y * scale, ascii),
          spec.format:format(y))
      else
        -- Block characters grow from the left, so bars to the left of 0 only have whole characters.
        local length = math.min(zero, math.floor(-y * scale + 0.5))
        line = ('%s %s%s%s %s'):format(line, (' '):rep(zero - length), text.bar(length, ascii), rule,
          spec.format:format(y))
      end
      lines[#lines + 1] = line
    end
  end
  if spec.y_label then lines[#lines + 1] = (' '):rep(lead) .. spec.y_label end
  return table.concat(lines, '\n') .. '\n'
end
