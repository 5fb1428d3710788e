-- The charts of a page: their data for the live charts, and still pictures for paper and for readers without scripts.
--
-- A chart is {metric =, title =, axes = {epoch = {series}, ...}, reference = {value =, name =} | nil}. A series is a
-- band (pushdown.runs.bands) with entry = the number of its name in the legend.
local bands = require 'pushdown.runs.bands'
local histories = require 'pushdown.runs.history'
local json = require 'pushdown.json'
local metric_of = require 'pushdown.statistics.metric'
local pd = require 'pushdown'
local plot = require 'pushdown.plot'
local style = require 'pushdown.plot.style'
local svg = require 'pushdown.plot.svg'

local M = {}

M.most_shown = 8            -- lines that can be distinguished; the others are shown on request
local budget = 300000       -- approximate number of values on a page
local most_places, least_places = 500, 24
local many_points = 40      -- above it the page only has the most important data
local most_single_runs = 60

-- Reads the histories of all runs of the points into point.histories.
function M.read(points)
  local any = 0
  for _, point in ipairs(points) do
    point.histories = {}
    for _, row in ipairs(point.runs) do
      local history = histories.read(row.folder)
      row.trained = history ~= nil
      if history then
        table.insert(point.histories, history)
        any = any + 1
      end
    end
  end
  return any
end

-- The metrics of the histories, the most informative first.
function M.metrics(points)
  local known, list = {}, {}
  local function add(key)
    if not known[key] then known[key], list[#list + 1] = true, key end
  end
  for _, point in ipairs(points) do
    for _, history in ipairs(point.histories) do
      for _, key in ipairs(history.keys) do add(key) end
      if history.batches then add 'loss' end
    end
  end
  return metric_of.sorted(list), known
end

-- The value of a metric if it is constant, such as the lower bound of one dataset; else nil.
local function constant(points, metric)
  local value
  for _, point in ipairs(points) do
    for _, history in ipairs(point.histories) do
      for _, number in ipairs(history.columns[metric] or {}) do
        if number == number and value and value ~= number then return nil end
        if number == number then value = number end
      end
    end
  end
  return value
end

local function band_of(point, metric, axis)
  local curves = {}
  for _, history in ipairs(point.histories) do curves[#curves + 1] = histories.curve(history, metric, axis) end
  return bands.of(curves)
end

-- Adds the bands of a metric over an axis to the chart; `seen` collects facts for the notes.
local function add_series(chart, points, metric, axis, seen)
  local list = chart.axes[axis] or {}
  local training = metric:match('^train_') or metric_of.is_about_training(metric) or metric == 'loss'
  for i, point in ipairs(points) do
    local band = band_of(point, metric, axis)
    if band then
      band.entry = #points == 1 and (training and 2 or 1) or i
      if seen.runs > most_single_runs then band.each = {} end
      seen.curves = seen.curves + (band.runs > 1 and 5 + #band.each or 2)
      seen.interpolated = seen.interpolated or band.interpolated
      for _, count in ipairs(axis == 'epoch' and band.count or {}) do seen.fewer = seen.fewer or count < band.runs end
      list[#list + 1] = band
    end
  end
  if #list > 0 then chart.axes[axis] = list end
end

-- Thins the bands of the charts to a size that fits on a page. Returns the largest step between epochs.
local function thin(list, curves)
  local most, largest = math.max(least_places, math.min(most_places, math.floor(budget / math.max(1, curves)))), 1
  for _, chart in ipairs(list) do
    for _, series in pairs(chart.axes) do
      for i, band in ipairs(series) do
        local thinned, every = bands.thinned(band, most)
        thinned.entry, series[i] = band.entry, thinned
        if not band.interpolated then largest = math.max(largest, every) end
      end
    end
  end
  return largest
end

-- The notes for readers of the curves.
local function notes_of(points, axis, seen, every)
  local notes = {}
  if #points > many_points then
    notes[1] = ('With %d points, curves are drawn over one axis only (%s), and the course of training is '
      .. 'left out.'):format(#points, axis)
  end
  if every > 1 then
    notes[#notes + 1] = ('Long curves show at least one in %d epochs, and the last one.'):format(every)
  end
  if seen.fewer then
    notes[#notes + 1] = 'Restarts end at different epochs. Where a mean is over fewer restarts, its line is thin; the '
      .. 'numbers at the pointer say over how many.'
  end
  if seen.interpolated then
    notes[#notes + 1] = 'Over updates and seconds, restarts are compared at 200 places, interpolated linearly between '
      .. 'epochs. A line is thin where some of them have ended.'
  end
  if seen.runs > most_single_runs and #points > 1 then
    notes[#notes + 1] = ('Single restarts are not drawn, because there are %d runs.'):format(seen.runs)
  end
  return notes
end

-- charts.of(points, {metrics = list or nil, x = 'epoch'}) -> charts, charts about the training itself, notes, names
-- of the legend. One point has training and validation in one chart; several points have one chart for each metric.
function M.of(points, options)
  local single, many = #points == 1, #points > many_points
  local bound, bound_name = constant(points, 'lower_bound'), 'lower bound'
  local axes, seen = { options.x }, { runs = 0, curves = 0 }
  for _, axis in ipairs(many and {} or { 'epoch', 'update', 'seconds' }) do
    if axis ~= options.x then axes[#axes + 1] = axis end
  end
  for _, point in ipairs(points) do
    seen.runs = seen.runs + #point.histories
    for _, history in ipairs(point.histories) do
      if history.bound_includes_end then bound_name = 'lower bound with ends' end
    end
  end
  local by_title, primary, secondary = {}, {}, {}
  for _, metric in ipairs(options.metrics or (M.metrics(points))) do
    local aside = metric_of.is_about_training(metric) and not options.metrics
    local told = metric == 'lower_bound' and bound and not options.metrics  -- the other charts show it
    if not told and not (aside and many) then
      local base = metric:gsub('^train_', '')
      local title = single and base or metric
      local chart = by_title[title]
      if not chart then
        chart = { metric = metric, title = histories.label(metric), axes = {} }
        by_title[title] = chart
        table.insert(aside and secondary or primary, chart)
      elseif chart.metric ~= metric then
        chart.title = histories.label(base):gsub('^validation ', '')
      end
      if bound and base == 'cross_entropy' then chart.reference = { value = bound, name = bound_name } end
      if base == 'cross_entropy_difference' then chart.reference = { value = 0, name = bound_name } end
      for _, axis in ipairs(axes) do add_series(chart, points, metric, axis, seen) end
    end
  end
  local every = 1
  for _, list in ipairs { primary, secondary } do
    for k = #list, 1, -1 do
      if not next(list[k].axes) then table.remove(list, k) end
    end
    every = math.max(every, thin(list, seen.curves))
  end
  local legend = single and { 'validation', 'training' } or {}
  for i, point in ipairs(single and {} or points) do legend[i] = point.name end
  return primary, secondary, notes_of(points, options.x, seen, every), legend
end

-- ---- Still pictures ----

-- charts.still(chart, axis, options) -> the chart over the axis as SVG, with its first lines and mean ± deviation; and
-- the number of lines left out. options: names = names of the series for a legend in the picture (nil: no legend);
-- label = label of the axis; shown = a set to which the drawn entries are added.
function M.still(chart, axis, options)
  local series, left_out = {}, 0
  for _, band in ipairs(chart.axes[axis]) do
    if #series < M.most_shown then
      local one = { name = options.names and options.names[band.entry], legend = options.names ~= nil,
        look = band.entry, x = band.x, y = band.mean }
      if band.runs > 1 then one.low, one.high = bands.edges(band) end
      series[#series + 1] = one
      if options.shown then options.shown[band.entry] = true end
    else
      left_out = left_out + 1
    end
  end
  return plot.lines { series = series, x_label = options.label or histories.axes[axis], y_label = chart.title,
    reference = chart.reference, width = 760, height = 380 }, left_out
end

-- A small picture with the line and the marker of a legend entry.
function M.sample(entry)
  local canvas, look = svg.canvas(36, 12), style.of(entry)
  canvas:line(1, 6, 35, 6, { stroke = look.colour, ['stroke-width'] = 2, ['stroke-dasharray'] = look.dash })
  style.marker(canvas, look.shape, 18, 6, look.colour)
  return '<svg viewBox="0 0 36 12" aria-hidden="true">' .. table.concat(canvas.parts) .. '</svg>'
end

-- ---- Data ----

-- A number with six digits, null without a finite one.
local function number(value)
  if not value or value - value ~= 0 then return json.null end
  return value == math.floor(value) and math.abs(value) < 1e15 and value or tonumber(('%.6g'):format(value))
end

local function list(values)
  local numbers = json.list {}
  for i, value in ipairs(values) do numbers[i] = number(value) end
  return numbers
end

-- Equal counts are one number.
local function counts(values)
  for _, value in ipairs(values) do
    if value ~= values[1] then return list(values) end
  end
  return number(values[1])
end

local function series_of(band)
  local series = { g = band.entry - 1, runs = band.runs, x = list(band.x), m = list(band.mean) }
  if band.runs > 1 then
    series.d, series.l, series.h, series.n = list(band.deviation), list(band.low), list(band.high), counts(band.count)
    for i, values in ipairs(band.each) do
      series.r = series.r or json.list {}
      series.r[i] = list(values)
    end
  end
  return series
end

-- charts.data(chart) -> its data for the script of a page, a table for JSON.
function M.data(chart)
  local axes, reference = {}, chart.reference
  for axis, bands_of_axis in pairs(chart.axes) do
    axes[axis] = json.list {}
    for i, band in ipairs(bands_of_axis) do axes[axis][i] = series_of(band) end
  end
  return { title = pd._text.clean(chart.title), fixed = chart.fixed or false, axes = axes,
    reference = reference and { value = number(reference.value), name = pd._text.clean(reference.name) } }
end

return M
