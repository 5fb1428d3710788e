-- Line charts as SVG.
local figures = require 'pushdown.plot.figure'
local legends = require 'pushdown.plot.legend'
local rows = require 'pushdown.plot.rows'
local style = require 'pushdown.plot.style'
local svg = require 'pushdown.plot.svg'
local text = require 'pushdown.plot.text'

local sample = 30

-- The entries of the legend: the named series, then the reference lines.
local function entries_of(figure)
  local entries = {}
  for _, series in ipairs(figure.series) do
    if series.legend ~= false then
      entries[#entries + 1] = { name = series.name, draw = function(canvas, x, y)
        local look = style.of(series.index)
        if series.style ~= 'points' then
          canvas:line(x, y, x + sample, y,
            { stroke = look.colour, ['stroke-width'] = 2, ['stroke-dasharray'] = look.dash })
        end
        if series.markers ~= false then style.marker(canvas, look.shape, x + sample / 2, y, look.colour) end
      end }
    end
  end
  for _, reference in ipairs(figure.references) do
    if reference.name then
      entries[#entries + 1] = { name = reference.name, draw = function(canvas, x, y)
        canvas:line(x, y, x + sample, y, { ['stroke-dasharray'] = '4 3' })
      end }
    end
  end
  if #entries == 1 and #figure.series == 1 and not figure.series[1].named then return {} end
  return entries
end

-- Points along all lines of the figure, in pixels, for finding a free corner.
local function ink_of(figure, area, x_at, y_at)
  local places = {}
  local function put(x, y) places[#places + 1] = { x, y } end
  for _, series in ipairs(figure.series) do
    local before
    for _, point in ipairs(series.points) do
      if point.gap then
        before = nil
      else
        local x, y = x_at(point.x), y_at(point.y)
        put(x, y)
        if point.low then
          put(x, y_at(point.low))
          put(x, y_at(point.high))
        end
        if before then
          for k = 1, 11 do
            local part = k / 12
            if series.style == 'steps' then
              put(before[1] + (x - before[1]) * part, before[2])
              put(x, before[2] + (y - before[2]) * part)
            else
              put(before[1] + (x - before[1]) * part, before[2] + (y - before[2]) * part)
            end
          end
        end
        before = { x, y }
      end
    end
  end
  for _, reference in ipairs(figure.references) do
    for k = 0, 40 do put(area.left + (area.right - area.left) * k / 40, y_at(reference.value)) end
  end
  return places
end

-- Upper left corner of the legend inside the plot area; nil if no corner is free.
local function free_corner(figure, area, x_at, y_at, width, height)
  if width > 0.6 * (area.right - area.left) or height > 0.7 * (area.bottom - area.top) then return nil end
  local places = ink_of(figure, area, x_at, y_at)
  local right, low = area.right - width - 8, area.bottom - height - 8
  for _, corner in ipairs { { right, area.top + 6 }, { right, low }, { area.left + 10, area.top + 6 },
    { area.left + 10, low } } do
    local free = true
    for _, place in ipairs(places) do
      if place[1] > corner[1] - 6 and place[1] < corner[1] + width + 6 and place[2] > corner[2] - 6
        and place[2] < corner[2] + height + 6 then
        free = false
        break
      end
    end
    if free then return corner[1], corner[2] end
  end
end

local inset = 8  -- margin around the entries in the box

-- Places the legend. Returns a function that draws it.
local function place_legend(figure, canvas, area, x_at, y_at)
  local entries = entries_of(figure)
  if #entries == 0 then return function() end end
  local x, y, width, height = legends.place(entries, canvas, area, sample, { inset = inset, gap = 10,
    middle = (area.left + area.right) / 2,
    corner = function(...) return free_corner(figure, area, x_at, y_at, ...) end })
  return function()
    canvas:add('rect', { x = x, y = y, width = width, height = height, fill = '#ffffff', ['fill-opacity'] = '0.9',
      stroke = '#c8c8c8', ['stroke-width'] = 0.75, rx = 2 })
    legends.draw(canvas, entries, x + inset, y + inset / 2, sample)
  end
end

-- Stretches of drawable points without a gap; `wanted` selects the points.
local function runs(points, wanted)
  local list, run = {}, nil
  for _, point in ipairs(points) do
    if not point.gap and wanted(point) then
      if not run then
        run = {}
        list[#list + 1] = run
      end
      run[#run + 1] = point
    else
      run = nil
    end
  end
  return list
end

local function draw_series(group, series, x_at, y_at)
  local look, number = style.of(series.index), svg.number
  for _, run in ipairs(runs(series.points, function(point) return point.low end)) do
    local path = {}
    for _, point in ipairs(run) do
      path[#path + 1] = number(x_at(point.x)) .. ',' .. number(y_at(point.high))
    end
    for i = #run, 1, -1 do
      path[#path + 1] = number(x_at(run[i].x)) .. ',' .. number(y_at(run[i].low))
    end
    group:add('polygon', { points = table.concat(path, ' '), fill = look.colour, ['fill-opacity'] = '0.18' })
  end
  local drawn = {}
  for _, run in ipairs(runs(series.points, function() return true end)) do
    local path = {}
    for i, point in ipairs(run) do
      drawn[#drawn + 1] = point
      if series.style == 'steps' and i > 1 then
        path[#path + 1] = 'H' .. number(x_at(point.x)) .. 'V' .. number(y_at(point.y))
      else
        path[#path + 1] = (i == 1 and 'M' or 'L') .. number(x_at(point.x)) .. ' ' .. number(y_at(point.y))
      end
    end
    if series.style ~= 'points' and #run > 1 then
      group:add('path', { d = table.concat(path), fill = 'none', stroke = look.colour, ['stroke-width'] = 2,
        ['stroke-dasharray'] = look.dash, ['stroke-linejoin'] = 'round' })
    end
  end
  -- Short series have a marker at every point, long ones about a dozen, at places that differ between series.
  local every = (series.style == 'points' or #drawn <= 30) and 1 or math.ceil(#drawn / 12)
  for i, point in ipairs(drawn) do
    local due = series.markers ~= false and (i + series.index - 2) % every == 0
    if due or #drawn == 1 then
      style.marker(group, look.shape, x_at(point.x), y_at(point.y), look.colour)
    end
  end
end

local function draw(spec)
  local figure = figures.figure(spec, 'plot.lines')
  local canvas = svg.canvas(spec.width, spec.height)
  local area = canvas:area(figure, figure.y.labels)
  area.right = math.min(area.right, canvas.width - svg.widest { figure.x.labels[#figure.x.labels] or '' } / 2 - 8)
  local function x_at(value) return area.left + figure.x.place(value) * (area.right - area.left) end
  -- The lower edge of a band can be 0, which a logarithmic axis cannot show; the band then reaches to the bottom.
  local function y_at(value) return area.bottom - (figure.y.place(value) or 0) * (area.bottom - area.top) end
  local height = canvas.height
  local draw_legend = place_legend(figure, canvas, area, x_at, y_at)
  canvas:y_axis(area, figure.y)
  canvas:x_axis(area, figure.x)
  local id = ('area%dx%d-%d'):format(canvas.width, canvas.height, math.floor(area.left * 100))
  canvas:add('clipPath', { id = id }, ('<rect x="%s" y="%s" width="%s" height="%s"/>'):format(
    svg.number(area.left - 5), svg.number(area.top - 5), svg.number(area.right - area.left + 10),
    svg.number(area.bottom - area.top + 10)))
  local group = svg.canvas(canvas.width, canvas.height)
  for _, reference in ipairs(figure.references) do
    if figure.y.place(reference.value) then
      local y = y_at(reference.value)
      group:line(area.left, y, area.right, y, { ['stroke-dasharray'] = '4 3' })
    end
  end
  for _, series in ipairs(figure.series) do draw_series(group, series, x_at, y_at) end
  canvas:frame(area)
  canvas:add('g', { ['clip-path'] = 'url(#' .. id .. ')' }, table.concat(group.parts, '\n'))
  if figure.empty then
    canvas:centred((area.left + area.right) / 2, (area.top + area.bottom) / 2, 'no data', { fill = '#777777' })
  end
  draw_legend()
  canvas:labels(area, figure.title, figure.x_label, figure.y_label, height)
  return canvas:document(figure.title)
end

-- A value that describes its own chart, in place of a table of options.
local function accepted(given)
  local meta = type(given) == 'table' and getmetatable(given)
  return type(meta) == 'table' and meta.chart and meta.chart(given) or given
end

return { svg = draw, text = text.draw, accepted = accepted, options = { rows.series, rows.reference, rows.axes,
  rows.names, rows.labels(), rows.picture, rows.size(640, 400), rows.text } }
