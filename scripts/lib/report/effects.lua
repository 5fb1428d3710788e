-- Pictures of a result against each option in which the points of a page differ. Of an option with numbers, every point
-- is a mark: the mean over its finished runs, with the deviation. Of other options, every value is a bar: the mean over
-- its points, with the smallest and the largest.
local layout = require 'pushdown.runs.layout'
local plot = require 'pushdown.plot'
local statistics = require 'pushdown.statistics'
local tables = require 'pushdown.report.tables'

local M = {}

local fewest_points, most_options, most_values = 3, 12, 20
local wide = 20  -- numbers whose quotient is at least this get a logarithmic axis

-- The values of an option by point, nil where the runs of a point differ or have none; and whether all are numbers.
local function values_of(points, name, all)
  local values, numbers, count, seen = {}, true, 0, {}
  for i, point in ipairs(points) do
    local value = all[point.runs[1]][name]
    for _, row in ipairs(point.runs) do
      if layout.value(all[row][name]) ~= layout.value(value) then value = nil end
    end
    if value ~= nil then
      values[i], numbers = value, numbers and type(value) == 'number'
      if not seen[layout.value(value)] then seen[layout.value(value)], count = true, count + 1 end
    end
  end
  return values, numbers, count
end

local function logarithmic(list, low)
  local _, _, least, greatest = statistics(list)
  for _, value in ipairs(low or {}) do least = math.min(least, value) end
  return least > 0 and greatest / least >= wide
end

local function marks(points, values, key, name)
  local mark, deviates = { x = {}, y = {}, low = {}, high = {}, style = 'points', legend = false }, false
  for i, point in ipairs(points) do
    local mean, deviation = statistics(tables.results_of(point, key))
    deviation = deviation or 0
    if mean and values[i] and math.abs(mean) < math.huge then
      local k = #mark.x + 1
      mark.x[k], mark.y[k], mark.low[k], mark.high[k] = values[i], mean, mean - deviation, mean + deviation
      deviates = deviates or deviation > 0
    end
  end
  if #mark.x < fewest_points then return nil end
  if not deviates then mark.low, mark.high = nil, nil end
  return plot.lines { series = { mark }, x_label = tables.words(name), y_label = tables.words(key), width = 480,
    height = 320, x_log = logarithmic(mark.x), y_log = logarithmic(mark.y, mark.low) }
end

local function bars(points, values, key, name)
  local categories, of_value = {}, {}
  for i, point in ipairs(points) do
    local mean = statistics(tables.results_of(point, key))
    if mean and values[i] ~= nil and math.abs(mean) < math.huge then
      local text = layout.value(values[i])
      if not of_value[text] then of_value[text], categories[#categories + 1] = {}, text end
      table.insert(of_value[text], mean)
    end
  end
  if #categories < 2 or #categories > most_values then return nil end
  table.sort(categories)
  local bar = { y = {}, low = {}, high = {} }
  for k, text in ipairs(categories) do
    local mean, _, least, greatest = statistics(of_value[text])
    bar.y[k], bar.low[k], bar.high[k] = mean, least, greatest
  end
  return plot.bars { categories = categories, series = { bar }, x_label = tables.words(name),
    y_label = tables.words(key), width = 480, height = 320, legend = false }
end

-- effects.of(points, key) -> list of {name = option, svg =}, the number of options left out. key: a number in the
-- results.
function M.of(points, key)
  local pictures, left_out = {}, 0
  if #points < fewest_points or not key then return pictures, left_out end
  local names, known, all, runs = tables.options(points)
  for _, name in ipairs(names) do
    if not (known[name].same and known[name].count == runs) then
      local values, numbers, count = values_of(points, name, all)
      local picture = count > 1 and (numbers and marks or bars)(points, values, key, name)
      if picture and #pictures == most_options then
        left_out = left_out + 1
      elseif picture then
        pictures[#pictures + 1] = { name = name, svg = picture }
      end
    end
  end
  return pictures, left_out
end

return M
