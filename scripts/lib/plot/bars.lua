-- Bar charts as SVG: groups of bars over named categories.
local axes = require 'pushdown.plot.axes'
local bars_text = require 'pushdown.plot.bars_text'
local figures = require 'pushdown.plot.figure'
local legends = require 'pushdown.plot.legend'
local rows = require 'pushdown.plot.rows'
local style = require 'pushdown.plot.style'
local svg = require 'pushdown.plot.svg'

local sample = 13  -- width of a sample in the legend

-- Draws value k of a series as a bar from the zero line with its error bar. scale: clamped and y_at, which convert a
-- value to a height, and the height of zero.
local function draw_bar(canvas, series, k, left, width, scale, colour)
  local value, from, to = series.y[k], series.low and series.low[k], series.high and series.high[k]
  if not axes.finite(value) then return canvas:centred(left + width / 2, scale.zero - 5, '–') end
  local top = scale.clamped(value)
  canvas:add('rect', { x = left + 0.04 * width, width = 0.92 * width, y = math.min(top, scale.zero),
    height = math.abs(scale.zero - top), fill = colour })
  if not axes.finite(from) or not axes.finite(to) then return end
  local x, y_at = left + width / 2, scale.y_at
  local whisker = ('M%.2f %.2fH%.2fM%.2f %.2fV%.2fM%.2f %.2fH%.2f'):format(
    x - 4, y_at(from), x + 4, x, y_at(from), y_at(to), x - 4, y_at(to), x + 4)
  -- A white rim keeps the whisker visible on a dark bar.
  canvas:add('path', { d = whisker, stroke = '#ffffff', ['stroke-width'] = 3.2, ['stroke-linecap'] = 'square' })
  canvas:add('path', { d = whisker, stroke = svg.ink, ['stroke-width'] = 1.2 })
end

local function draw(spec)
  local categories, low, high = spec.categories, 0, nil
  local function extend(value)
    if axes.finite(value) then low, high = math.min(low, value), math.max(high or value, value) end
  end
  for _, series in ipairs(spec.series) do
    for k = 1, #categories do
      extend(series.y[k])
      extend(series.high and series.high[k])
      extend(series.low and series.low[k])
    end
  end
  local reference = figures.references(spec.reference, 'plot.bars')[1]
  if reference then extend(reference.value) end
  local axis = axes.axis(spec.y_min or low, spec.y_max or math.max(high or 1, low),
    { fixed_low = spec.y_min ~= nil, fixed_high = spec.y_max ~= nil })
  local y_label = spec.y_label
  if axis.unit then y_label = (y_label or '') .. ' (×' .. axis.unit .. ')' end

  local names = {}
  for i, series in ipairs(spec.series) do names[i] = series.name or ('series ' .. i) end
  local with_legend = #names > 1 or spec.legend
  local canvas = svg.canvas(spec.width, spec.height)
  local area = canvas:area({ title = spec.title, x_label = spec.x_label, y_label = y_label }, axis.labels)
  if spec.under and spec.under.name then
    area.right = math.min(area.right, canvas.width - svg.text_width(spec.under.name) - 8)
  end
  local entries, height = {}, canvas.height
  for i, name in ipairs(with_legend and names or {}) do
    entries[i] = { name = name, draw = function(target, x, y)
      target:add('rect', { x = x, y = y - 6.5, width = sample, height = sample,
        fill = spec.series[i].colour or style.of(i).colour })
    end }
  end
  local legend_x, legend_y, below = 0, 0, false
  if with_legend then
    local options = { gap = 12, middle = canvas.width / 2 }
    local x, y, _, _, is_below = legends.place(entries, canvas, area, sample, options)
    legend_x, legend_y, below = x, y, is_below
  end
  local slot = (area.right - area.left) / math.max(1, #categories)
  local slanted = svg.widest(categories) > slot - 6
  -- A line of texts between the axis and the categories.
  local under = spec.under and 18 or 0
  area.bottom = area.bottom - under
  if slanted then
    local drop = 0.62 * svg.widest(categories)
    local added = math.ceil(math.max(0, drop - 90))
    canvas.height, height = canvas.height + added, height + added
    legend_y = legend_y + (below and added or 0)
    area.bottom = area.bottom - drop + added
    -- The first slanted names reach to the left of their bars; a smaller slot moves those a little further.
    for _ = 1, 3 do
      for k, category in ipairs(categories) do
        area.left = math.max(area.left, 0.82 * svg.text_width(category) + 4 - (k - 0.5) * slot)
      end
      slot = (area.right - area.left) / #categories
    end
  end
  local function y_at(value) return area.bottom - axis.place(value) * (area.bottom - area.top) end

  canvas:y_axis(area, axis)
  local width = 0.76 * slot / math.max(1, #names)
  local function clamped(value) return y_at(math.max(axis.low, math.min(axis.high, value))) end
  local zero = clamped(0)
  local scale = { y_at = y_at, clamped = clamped, zero = zero }
  for k, category in ipairs(categories) do
    local middle = area.left + (k - 0.5) * slot
    for i, series in ipairs(spec.series) do
      local left = middle + (i - 1 - #names / 2) * width
      draw_bar(canvas, series, k, left, width, scale, series.colour or style.of(i).colour)
    end
    if under > 0 then
      canvas:centred(middle, area.bottom + 15, spec.under.texts[k] or '', { ['font-size'] = 11, fill = '#666666' })
    end
    if slanted then
      canvas:rotated(middle + 4, area.bottom + under + 15, category, -35, 'end')
    else
      canvas:centred(middle, area.bottom + under + 19, category)
    end
  end
  if zero < area.bottom - 0.5 then canvas:line(area.left, zero, area.right, zero) end
  if reference then
    local y = y_at(reference.value)
    canvas:line(area.left, y, area.right, y, { ['stroke-dasharray'] = '4 3' })
    if reference.name then canvas:before(area.right - 4, y - 5, reference.name) end
  end
  canvas:frame(area)
  legends.draw(canvas, entries, legend_x, legend_y, sample)
  if under > 0 and spec.under.name then
    canvas:text(area.right + 8, area.bottom + 15, spec.under.name, { ['font-size'] = 11, fill = '#666666' })
  end
  canvas:labels(area, spec.title, spec.x_label, y_label, height)
  return canvas:document(spec.title)
end

local numbers = 'list of numbers'

return { svg = draw, text = bars_text, options = { {
  { 'categories', nil, 'names of the groups of bars', type = 'list of texts or numbers', required = true },
  { 'series', nil, 'the bars', type = 'list of tables', required = true, inside = {
    { 'name', nil, 'name for the legend', type = 'text or number' },
    { 'y', nil, 'a value for each category', type = numbers, required = true },
    { 'low', nil, 'lower ends of error bars', type = numbers },
    { 'high', nil, 'upper ends of the error bars', type = numbers },
    { 'colour', nil, 'colour of the bars, such as #12355b', type = 'text' },
  } },
  { 'reference', nil, 'a dashed horizontal line: a number or {value =, name =}', type = 'number or table' },
  { 'y_min', nil, 'lower end of the axis', type = 'number' },
  { 'y_max', nil, 'upper end of the axis', type = 'number' },
  { 'legend', false, 'show a legend also for one series' },
  { 'under', nil, 'a line of texts between the axis and the categories', type = 'table', inside = {
    { 'name', nil, 'what the texts are', type = 'text or number' },
    { 'texts', nil, 'a text for each category', type = 'list of texts or numbers', required = true },
  } },
  { 'format', '%.4g', 'as text: format of the numbers' },
}, rows.labels(), rows.picture, rows.size(640, 400), rows.text } }
