-- The content of a line chart, checked and measured once for the picture and for the terminal: the
-- series as lists of points with gaps, the reference lines and both axes.
local axes = require 'pushdown.plot.axes'

local M = {}

local finite = axes.finite

local function check(condition, where, message, ...)
  if not condition then error(('[%s] ' .. message):format(where, ...), 0) end
end

-- References: a number, {value =, name =}, or a list of those.
local function references_of(given, where)
  if given == nil then return {} end
  local list = (type(given) == 'number' or given.value ~= nil) and { given } or { unpack(given) }
  for i, one in ipairs(list) do
    if type(one) == 'number' then one = { value = one } end
    local named = type(one) == 'table' and (one.name == nil or type(one.name) == 'string' or finite(one.name))
    check(named and finite(one.value), where, 'a reference must be a number or {value = a number, name = a text}')
    list[i] = one
  end
  return list
end

local function extend(range, value, log)
  if not finite(value) or (log and value <= 0) then return end
  range.low = math.min(range.low or value, value)
  range.high = math.max(range.high or value, value)
  if value ~= math.floor(value) then range.whole = false end
end

-- Points of one series; a point whose x or y cannot be drawn becomes a gap.
local function points_of(series, index, spec, where)
  local name = series.name or ('series ' .. index)
  local count = table.maxn(series.y)
  local x = series.x
  check(x == nil or table.maxn(x) >= count, where, "series '%s' has %d values of x and %d of y", name,
    x and table.maxn(x) or 0, count)
  local points = {}
  for i = 1, count do
    local px, py = i, series.y[i]
    if x then px = x[i] end
    local drawable = finite(px) and finite(py) and not (spec.x_log and px <= 0)
      and not (spec.y_log and py <= 0)
    points[i] = { x = px, y = py, gap = not drawable }
    local low, high = series.low and series.low[i], series.high and series.high[i]
    if drawable and finite(low) and finite(high) then points[i].low, points[i].high = low, high end
  end
  return { name = name, named = series.name ~= nil, points = points, index = series.look or index,
    style = series.style or 'line', markers = series.markers, legend = series.legend }
end

-- Replaces the ticks of an axis by names of the places 1, 2, ..., as many as fit into a width of that many pixels.
local function name_ticks(axis, names, width)
  local longest = 0
  for _, name in ipairs(names) do longest = math.max(longest, axes.text_length(name)) end
  local every = math.max(1, math.ceil(#names * (longest + 1) * 8 / width))
  axis.ticks, axis.labels, axis.minor, axis.unit = {}, {}, {}, nil
  for place = 1, #names, every do
    if place >= axis.low and place <= axis.high then
      axis.ticks[#axis.ticks + 1], axis.labels[#axis.labels + 1] = place, tostring(names[place])
    end
  end
end

-- spec: the options table of plot.lines. Result: title, x_label, y_label, series, references, x and
-- y (axes), empty (true if there is nothing to draw).
function M.figure(spec, where, x_count, y_count)
  local figure = { title = spec.title, x_label = spec.x_label, y_label = spec.y_label, series = {},
    references = references_of(spec.reference, where) }
  local x_range, y_range = { whole = true }, { whole = true }
  for i, given in ipairs(spec.series) do
    local series = points_of(given, i, spec, where)
    figure.series[i] = series
    for _, point in ipairs(series.points) do
      if not point.gap then
        extend(x_range, point.x, spec.x_log)
        extend(y_range, point.y, spec.y_log)
        if point.low then
          extend(y_range, point.low, spec.y_log)
          extend(y_range, point.high, spec.y_log)
        end
      end
    end
  end
  figure.empty = not x_range.low
  if not figure.empty then
    for _, reference in ipairs(figure.references) do
      extend(y_range, reference.value, spec.y_log)
      -- A reference line at the edge would otherwise be hidden by the axis.
      y_range.room = y_range.room or reference.value == y_range.low or reference.value == y_range.high
    end
  end
  local function axis(range, low, high, options)
    options.fixed_low, options.fixed_high = low ~= nil, high ~= nil
    local first, last = low or range.low or (options.log and 0.1 or 0), high or range.high or 1
    check(first <= last, where, 'the range of an axis is empty: %g to %g', first, last)
    check(not options.log or first > 0, where, 'a logarithmic axis must be above 0, got %g', first)
    return axes.axis(first, last, options)
  end
  figure.x = axis(x_range, spec.x_min, spec.x_max,
    { log = spec.x_log, count = x_count or 7, whole = x_range.whole })
  figure.y = axis(y_range, spec.y_min, spec.y_max, { log = spec.y_log, count = y_count or 5, room = y_range.room })
  if spec.x_names then name_ticks(figure.x, spec.x_names, spec.width or 640) end
  if figure.x.unit then figure.x_label = (figure.x_label or '') .. ' (×' .. figure.x.unit .. ')' end
  if figure.y.unit then figure.y_label = (figure.y_label or '') .. ' (×' .. figure.y.unit .. ')' end
  return figure
end

-- Raises an error unless the text is a format of one number.
function M.check_format(format, where)
  check((pcall(string.format, format, 1)), where,
    "option 'format' must be a format of one number such as '%%.2f', got '%s'", format)
end

M.check, M.references = check, references_of
return M
