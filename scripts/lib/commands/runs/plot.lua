-- `pushdown runs plot`: draws metrics over the epochs of runs, with the restarts of a point as a band.
local bands = require 'pushdown.runs.bands'
local export = require 'pushdown.plot.export'
local histories = require 'pushdown.runs.history'
local plot = require 'pushdown.plot'
local selection = require 'pushdown.runs.selection'

local most_lines = 8      -- that can be distinguished
local most_bands = 3      -- that remain readable when they overlap in a terminal
local most_places = 2000  -- of a curve in a picture

-- Reads the histories of the runs; returns the number of runs without one.
local function read(points)
  local all, without = {}, 0
  for _, point in ipairs(points) do
    point.histories = {}
    for _, row in ipairs(point.runs) do
      local history = histories.read(row.folder)
      if history then
        table.insert(point.histories, history)
        all[#all + 1] = history
      else
        without = without + 1
      end
    end
  end
  return all, without
end

local function known_metrics(all)
  local known, list = {}, {}
  for _, history in ipairs(all) do
    for _, key in ipairs(history.keys) do
      if not known[key] then known[key], list[#list + 1] = true, key end
    end
    if history.batches and not known.loss then known.loss, list[#list + 1] = true, 'loss' end
  end
  table.sort(list)
  return list, known
end

-- The series of plot.lines for one metric; also the number of points without it, and whether a mean is over fewer
-- restarts in some places.
local function series_of(points, metric, axis, spread)
  local series, left_out, fewer = {}, 0, false
  for _, point in ipairs(points) do
    local curves = {}
    for _, history in ipairs(point.histories) do curves[#curves + 1] = histories.curve(history, metric, axis) end
    local band = bands.of(curves)
    if not band then
      left_out = left_out + 1
    elseif #series < most_lines then
      for _, count in ipairs(band.count) do fewer = fewer or count < band.runs end
      band = bands.thinned(band, most_places)
      local one = { name = band.runs > 1 and ('%s (mean of %d)'):format(point.name, band.runs) or point.name,
        x = band.x, y = band.mean }
      if band.runs > 1 then one.low, one.high = bands.edges(band, spread) end
      series[#series + 1] = one
    end
  end
  return series, left_out, fewer
end

-- plot(options, path of the registry, width of the terminal or nil)
return function(options, path, width)
  if #options.words == 0 and not selection.filtered(options) then
    selection.fail('which runs? pushdown runs plot ID..., or --grid NAME')
  end
  local axis = options.x
  if options.output then
    if not export.format(options.output) then
      selection.fail("--output needs a name that ends in .svg, .pdf or .png, got '%s'", options.output)
    end
    if #options.metric > 1 then selection.fail('--output takes one --metric, got %d', #options.metric) end
  end
  local rows = selection.rows(options, path)
  if #rows == 0 then return selection.say_nothing(path, options) end
  local points = selection.points(rows, options.each)
  local all, without = read(points)
  if #all == 0 then
    error(#rows == 1 and ('run %d has no metrics: there is no metrics.jsonl with an epoch in %s'):format(rows[1].id,
      rows[1].folder) or ('none of the %d runs has metrics of an epoch'):format(#rows), 0)
  end
  local list, known = known_metrics(all)
  local metrics = #options.metric > 0 and options.metric or { histories.main_metric(all) }
  for _, metric in ipairs(metrics) do
    if not known[metric] then
      error(("no run has the metric '%s'; there are %s"):format(metric, table.concat(list, ', ')), 0)
    end
    if metric == 'loss' and axis ~= 'update' then
      error("the loss of single updates is drawn over updates: --x update", 0)
    end
  end
  for i, metric in ipairs(metrics) do
    local series, left_out, fewer = series_of(points, metric, axis, options.spread)
    local spec = { series = series, x_label = histories.axes[axis], y_label = histories.label(metric),
      x_log = options.log_x, y_log = options.log_y }
    local notes = {}
    local function note(...) notes[#notes + 1] = (...):format(select(2, ...)) end
    if #points - left_out > #series then
      note('The first %d of %d are shown; --point, --where or numbers choose others.', #series, #points - left_out)
    end
    if left_out > 0 then note('%d without %s.', left_out, metric) end
    if without > 0 then note('%d run%s without metrics of an epoch.', without, without == 1 and '' or 's') end
    if fewer then note('Restarts end at different places; a mean is over those that have reached the place.') end
    if options.output then
      spec.title, spec.width, spec.height = options.title, 900, 480
      local banded = false
      for _, one in ipairs(series) do banded = banded or one.low ~= nil end
      export.write(options.output, plot.lines(spec))
      print(('%s: %s over %s%s'):format(options.output, metric, histories.axes[axis],
        banded and ', bands are ' .. bands.spreads[options.spread] or ''))
    else
      if i > 1 then print() end
      local banded = false
      for _, one in ipairs(series) do
        if #series > most_bands then one.low, one.high = nil, nil end
        banded = banded or one.low ~= nil
      end
      spec.columns = width and math.max(30, math.min(width, 120)) or nil
      io.write(plot.text(spec))
      if banded then table.insert(notes, 1, ('Dotted: %s.'):format(bands.spreads[options.spread])) end
    end
    for _, text in ipairs(notes) do print(text) end
  end
end
