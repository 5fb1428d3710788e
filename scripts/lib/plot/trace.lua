-- What a memory does while a model reads a string (model:trace), the usual figure of papers about differentiable
-- stacks: a heat map of the weights of the actions by time step, and below it the depth or the reading. The symbols of
-- the string are on the horizontal axis.
local axes = require 'pushdown.plot.axes'
local check = require 'pushdown.plot.figure'.check
local heat = require 'pushdown.plot.heat'
local heat_text = require 'pushdown.plot.heat_text'
local shared = require 'pushdown.plot.rows'
local svg = require 'pushdown.plot.svg'

local accent = '#d1495b'  -- of the expected depth
local least_share = 0.005  -- deeper levels that are less probable at every step are left out
local most_rows = 24  -- of a reading

-- The columns of n x m numbers as m rows.
local function transposed(tensor)
  local rows = {}
  for t, values in ipairs(tensor:to_table()) do
    for i, value in ipairs(values) do
      rows[i] = rows[i] or {}
      rows[i][t] = value
    end
  end
  return rows
end

local function reversed(list)
  local back = {}
  for i, value in ipairs(list) do back[#list + 1 - i] = value end
  return back
end

-- The upper panel: {name, labels, rows}.
local function actions_of(trace)
  return { name = 'weight', labels = trace:actions(), rows = transposed(trace:weights()) }
end

local function reading_of(trace)
  local rows, labels = transposed(trace:readings()), {}
  for i = most_rows + 1, #rows do rows[i] = nil end
  for i in ipairs(rows) do labels[i] = tostring(i) end
  return { name = 'reading', labels = labels, rows = rows, what = 'reading' }
end

-- The lower panel for a depth: rows if it has a distribution, the deepest level first, and otherwise its values alone.
local function depth_of(trace)
  local values, depths = trace:depth(), trace:depths()
  if not values then return nil end
  local panel = { name = 'probability', values = values:to_table(), what = trace:rows()[1].head and 'head' or 'depth' }
  if not depths then return panel end
  local rows, labels = transposed(depths), {}
  for level = #rows, 2, -1 do
    local greatest = 0
    for _, share in ipairs(rows[level]) do greatest = math.max(greatest, share) end
    if greatest >= least_share then break end
    rows[level] = nil
  end
  for level in ipairs(rows) do labels[level] = tostring(level - 1) end
  panel.rows, panel.labels = reversed(rows), reversed(labels)
  return panel
end

-- The panels of a picture and what they have in common.
local function content_of(spec)
  local where, trace = 'plot.trace', spec.trace
  local symbols = spec.symbols or trace:symbols()
  local steps = #trace:symbols()
  check(steps > 0, where, 'the string is empty, so there is nothing to draw')
  check(#symbols == steps, where, "option 'symbols' must have %d labels, got %d", steps, #symbols)
  local content = { symbols = symbols, title = spec.title or trace:title(), upper = actions_of(trace) }
  local lower = spec.lower or (trace:depth() and 'depth' or 'reading')
  if lower == 'depth' then
    content.lower = depth_of(trace)
    check(content.lower, where, "the memory has no depth: expected lower = 'reading', or a definition with a depth")
  elseif lower == 'reading' then
    content.lower = reading_of(trace)
  end
  if #content.upper.rows == 0 then content.upper = nil end
  check(content.upper or content.lower, where, 'the memory has no actions to draw')
  return content
end

local function draw_cells(canvas, area, panel)
  local low, high = heat.range(panel.rows, 0, 1)
  local axis = axes.axis(low, high,
    { fixed_low = true, fixed_high = true, count = area.bottom - area.top < 150 and 2 or 4 })
  heat.cells(canvas, area, panel.rows, heat.columns(panel.rows), axis)
  heat.frame(canvas, area, panel.rows, axis, panel.labels, true)
  canvas:before(canvas.width - 8, area.top - 12, panel.name)
end

-- A line with a point for each step; y_at(value) is its height.
local function draw_line(canvas, area, values, width, y_at)
  local points = {}
  for t, value in ipairs(values) do
    if axes.finite(value) then
      local x, y = area.left + (t - 0.5) * width, y_at(value)
      points[#points + 1] = ('%s,%s'):format(svg.number(x), svg.number(y))
      canvas:add('circle', { cx = x, cy = y, r = 3, fill = accent, stroke = '#ffffff', ['stroke-width'] = 0.8 })
    end
  end
  canvas:add('polyline', { points = table.concat(points, ' '), fill = 'none', stroke = accent, ['stroke-width'] = 1.6 })
end

local function draw_lower(canvas, area, panel, width)
  if panel.rows then
    draw_cells(canvas, area, panel)
    if not panel.values then return end
    local height = (area.bottom - area.top) / #panel.rows
    return draw_line(canvas, area, panel.values, width, function(depth) return area.bottom - (depth + 0.5) * height end)
  end
  local low, high = heat.range({ panel.values }, 0, 1)
  local axis = axes.axis(low, high, { count = 4, fixed_low = low == 0 })
  canvas:y_axis(area, axis)
  canvas:frame(area)
  draw_line(canvas, area, panel.values, width,
    function(depth) return area.bottom - axis.place(depth) * (area.bottom - area.top) end)
end

local function draw(spec)
  local content = content_of(spec)
  local upper, lower, symbols = content.upper, content.lower, content.symbols
  local labels = {}
  for _, panel in ipairs { upper or {}, lower or {} } do
    for _, label in ipairs(panel.labels or {}) do labels[#labels + 1] = label end
  end
  local steps, longest = #symbols, svg.widest(symbols)
  local left, right = 44 + math.max(20, svg.widest(labels)), 84
  local width = spec.width and math.max(2, (spec.width - left - right) / steps)
    or math.max(math.min(34, 700 / steps), math.min(longest + 8, 1000 / steps), 6)
  local upright = longest + 4 > width and width >= 12
  local function height_of(panel) return panel and (panel.rows and math.max(84, 19 * #panel.rows) or 110) or 0 end
  local top, gap, low = 56, 34, (upright and longest or 12) + 36
  local heights = { height_of(upper), height_of(lower) }
  local scale = spec.height
    and math.max(0.1, (spec.height - top - low - (upper and lower and gap or 0)) / (heights[1] + heights[2])) or 1
  local canvas = svg.canvas(math.ceil(left + steps * width + right), 0)
  local area = { left = left, right = left + steps * width, top = top, bottom = top }
  local bottom = top
  for i, panel in ipairs { upper or false, lower or false } do
    if panel then
      area.top, area.bottom = bottom + (bottom > top and gap or 0), 0
      area.bottom = area.top + heights[i] * scale
      bottom = area.bottom
      if i == 1 then draw_cells(canvas, area, panel) else draw_lower(canvas, area, panel, width) end
      canvas:labels(area, nil, nil, i == 1 and 'actions' or panel.what)
    end
  end
  canvas:column_names(area, symbols, width, upright, 4, 8)
  canvas.height = math.ceil(bottom + low)
  canvas:labels(area, content.title, 'what is read', nil)
  return canvas:document(content.title)
end

-- A depth without a distribution as rows: a tower as high as the depth, or the place of a head.
local function rows_of(panel)
  if panel.rows then return panel.rows, panel.labels end
  local low, high = heat.range({ panel.values }, 0, 1)
  local rows, labels = {}, {}
  for level = math.ceil(high), math.floor(low), -1 do
    local row = {}
    for t, value in ipairs(panel.values) do
      row[t] = panel.what == 'head' and math.max(0, 1 - math.abs(value - level))
        or math.max(0, math.min(1, value - level + 1))
    end
    if panel.what == 'head' or level > 0 then rows[#rows + 1], labels[#labels + 1] = row, tostring(level) end
  end
  return rows, labels
end

-- Both panels as one heat map with an empty row between them.
local function lines(spec)
  local content = content_of(spec)
  local values, labels = {}, {}
  for i, panel in ipairs { content.upper or false, content.lower or false } do
    if panel then
      local rows, names = rows_of(panel)
      if #values > 0 then values[#values + 1], labels[#labels + 1] = {}, panel.what or '' end
      for k, row in ipairs(rows) do values[#values + 1], labels[#labels + 1] = row, names[k] end
    end
    if i == 1 and not content.lower then break end
  end
  local low, high = heat.range(values, 0, 1)
  return heat_text { title = content.title, values = values, y_labels = labels, x_labels = content.symbols, low = low,
    high = high, value_label = 'weight', ascii = spec.ascii, columns = spec.columns }
end

return { options = { {
  { 'trace', nil, 'model:trace(tokens)', type = 'StackTrace', required = true },
  { 'lower', nil, "what the lower part shows; by default the depth, and the reading of a memory without a depth",
    type = 'text', choices = { 'depth', 'reading', 'nothing' } },
  { 'symbols', nil, 'labels of the steps, by default the symbols that were read', type = 'list of texts or numbers' },
}, shared.picture, shared.size(), shared.text }, svg = draw, text = lines }
