-- Bar charts in the terminal: horizontal bars of block characters in steps of an eighth, or of '#' without UTF-8.
local axes = require 'pushdown.plot.axes'
local figures = require 'pushdown.plot.figure'
local text = require 'pushdown.plot.text'

local eighths = { [0] = '', '▏', '▎', '▍', '▌', '▋', '▊', '▉' }
local least_bar = 10

local width_of = axes.text_length

local function padded(label, width) return label .. (' '):rep(width - width_of(label)) end

-- A bar of `length` characters; the length can be fractional.
local function bar(length, ascii)
  if ascii then return ('#'):rep(math.floor(length + 0.5)) end
  local parts = math.floor(length * 8 + 0.5)
  return ('█'):rep(math.floor(parts / 8)) .. eighths[parts % 8]
end

-- The bar chart of plot.bars as text. Its format of numbers is checked here.
return function(spec)
  local where = 'plot.bars_text'
  figures.check(#spec.series > 0, where, 'series must be a list of at least one {y = {...}}')
  figures.check_format(spec.format, where)
  local ascii = spec.ascii
  if ascii == nil then ascii = not text.utf8_locale() end
  local labels, names, numbers, low, high = 0, 0, 0, math.min(spec.y_min or 0, 0), math.max(spec.y_max or 0, 0)
  local several = #spec.series > 1
  for i, series in ipairs(spec.series) do
    if several then names = math.max(names, width_of(series.name or tostring(i))) end
    for k = 1, #spec.categories do
      local y = series.y[k]
      if axes.finite(y) then low, high = math.min(low, y), math.max(high, y) end
      numbers = math.max(numbers, #spec.format:format(axes.finite(y) and y or 0))
    end
  end
  for _, category in ipairs(spec.categories) do
    labels = math.max(labels, width_of(category))
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
      local line = padded(i == 1 and category or '', labels)
      if several then line = line .. '  ' .. padded(series.name or tostring(i), names) end
      if not axes.finite(y) then
        line = line .. ' ' .. (' '):rep(zero) .. rule
      elseif y >= 0 then
        line = ('%s %s%s%s %s'):format(line, (' '):rep(zero), rule, bar(y * scale, ascii),
          spec.format:format(y))
      else
        -- Block characters grow from the left, so bars to the left of 0 only have whole characters.
        local length = math.min(zero, math.floor(-y * scale + 0.5))
        line = ('%s %s%s%s %s'):format(line, (' '):rep(zero - length), bar(length, ascii), rule,
          spec.format:format(y))
      end
      lines[#lines + 1] = line
    end
  end
  if spec.y_label then lines[#lines + 1] = (' '):rep(lead) .. spec.y_label end
  return table.concat(lines, '\n') .. '\n'
end
