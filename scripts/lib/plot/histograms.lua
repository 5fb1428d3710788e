-- The distributions of the values of several groups, as overlaid histograms drawn as steps.
local axes = require 'pushdown.plot.axes'
local check = require 'pushdown.plot.figure'.check
local lines = require 'pushdown.plot.lines'
local rows = require 'pushdown.plot.rows'

local where = 'plot.histograms'

-- {name=, values=} of every group: in the given order for a list, else sorted by name.
local function groups_of(given)
  local groups = {}
  if given[1] ~= nil then
    for i, group in ipairs(given) do
      check(type(group) == 'table' and type(group.values) == 'table', where, 'group %d must be {name=, values=}', i)
      groups[i] = { name = group.name or ('group ' .. i), values = group.values }
    end
    return groups
  end
  for name, values in pairs(given) do
    check(type(values) == 'table', where, "group '%s' must be a list of numbers, got %s", tostring(name), type(values))
    groups[#groups + 1] = { name = tostring(name), values = values }
  end
  table.sort(groups, function(a, b) return a.name < b.name end)
  return groups
end

-- Converts the options of plot.histograms to those of plot.lines.
local function lines_of(spec)
  local groups, bins = groups_of(spec.groups), spec.bins
  local low, high = spec.low, spec.high
  for _, group in ipairs(groups) do
    for i, value in ipairs(group.values) do
      check(type(value) == 'number', where, "value %d of group '%s' must be a number, got %s", i, group.name,
        type(value))
      if axes.finite(value) then
        if not spec.low then low = math.min(low or value, value) end
        if not spec.high then high = math.max(high or value, value) end
      end
    end
  end
  low, high = low or 0, high or 1
  check(low <= high, where, 'the range of the values is empty: %g to %g', low, high)
  if low == high then low, high = low - 0.5, high + 0.5 end
  local width, series = (high - low) / bins, {}
  for i, group in ipairs(groups) do
    local counts, total = {}, 0
    for bin = 1, bins do counts[bin] = 0 end
    for _, value in ipairs(group.values) do
      if axes.finite(value) then
        total = total + 1
        if value >= low and value <= high then
          local bin = math.min(bins, math.floor((value - low) / width) + 1)
          counts[bin] = counts[bin] + 1
        end
      end
    end
    -- The outline rises from zero, follows every bin from its left edge, and falls to zero again.
    local x, y = { low }, { 0 }
    for bin = 1, bins do
      x[#x + 1] = low + (bin - 1) * width
      y[#y + 1] = spec.counts and counts[bin] or total > 0 and counts[bin] / (total * width) or 0
    end
    x[#x + 1], y[#y + 1] = high, y[#y]
    x[#x + 1], y[#y + 1] = high, 0
    series[i] = { name = ('%s (%d)'):format(group.name, total), x = x, y = y, style = 'steps', markers = false }
  end
  return { title = spec.title, x_label = spec.x_label, series = series,
    y_label = spec.y_label or (spec.counts and 'values' or 'density'), x_min = low, x_max = high, y_min = 0,
    width = spec.width, height = spec.height, columns = spec.columns, rows = spec.rows,
    ascii = spec.ascii }
end

return { lines_of = lines_of, options = { {
  { 'groups', nil, 'the values: {noun = {0.4, ...}, verb = {...}}, or a list of {name =, values =}', type = 'table',
    required = true },
  { 'bins', 40, 'number of bins', minimum = 1, maximum = 10000 },
  { 'counts', false, 'show numbers of values in place of areas of 1' },
  { 'low', nil, 'lower end of the bins', type = 'number' },
  { 'high', nil, 'upper end of the bins', type = 'number' },
}, rows.labels 'strength', rows.picture, rows.size(640, 400), rows.text },
  svg = function(spec) return lines.svg(lines_of(spec)) end,
  text = function(spec) return lines.text(lines_of(spec)) end,
  example = { groups = { a = { 1, 2 } } } }
