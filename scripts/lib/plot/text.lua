-- Line charts in the terminal: dots of Braille characters (2 x 4 per cell) with marks at the data
-- points, or plain ASCII if the locale is not UTF-8.
local axes = require 'pushdown.plot.axes'
local figures = require 'pushdown.plot.figure'
local pd = require 'pushdown'
local trim = require 'pushdown.text.trim'

local M = {}

local floor, max, min = math.floor, math.max, math.min

local unicode = { marks = { '●', '■', '▲', '◆', '○', '□', '△', '✕' }, rule = '┄', left = '│', tick = '┤',
  corner = '└', bottom = '─', bottom_tick = '┴', minus = '−' }
local ascii = { marks = { 'o', '#', '^', '%', '@', '=', '&', 'x' }, rule = '-', left = '|', tick = '+',
  corner = '+', bottom = '-', bottom_tick = '+', minus = '-' }

-- Returns whether a picture with this option `ascii` has ASCII characters alone; the locale decides by default.
function M.is_plain(spec)
  if spec.ascii == nil then return not pd._text.utf8_locale() end
  return spec.ascii
end

-- The number of characters of a text or a number.
M.width = axes.text_length

-- The text with blanks after it, or with `right` before it, so that it has this width.
function M.padded(text, width, right)
  local blanks = (' '):rep(width - M.width(text))
  return right and blanks .. text or text .. blanks
end

-- The width of the widest text of a list.
function M.widest(texts)
  local widest = 0
  for _, text in ipairs(texts) do widest = math.max(widest, M.width(text)) end
  return widest
end

local eighths = { [0] = '', '▏', '▎', '▍', '▌', '▋', '▊', '▉' }

-- A horizontal bar of `length` characters, in steps of an eighth, or of '#'.
function M.bar(length, plain)
  if plain then return ('#'):rep(math.floor(length + 0.5)) end
  local parts = math.floor(length * 8 + 0.5)
  return ('█'):rep(math.floor(parts / 8)) .. eighths[parts % 8]
end

-- Columns of the terminal: $COLUMNS, else those of the terminal of a standard stream, else 80.
function M.terminal_width()
  local width = tonumber(os.getenv('COLUMNS') or '')
  for _, stream in ipairs { 'stdout', 'stderr', 'stdin' } do width = width or pd.process.columns(stream) end
  return width and width >= 20 and width or 80
end

local function utf8_byte3(code)
  return string.char(0xE0 + floor(code / 4096), 0x80 + floor(code / 64) % 64, 0x80 + code % 64)
end

-- Bits of the Braille dots by column dx (0, 1) and row dy (0 .. 3, from the top).
local dot_bits = { [0] = { [0] = 1, 2, 4, 64 }, { [0] = 8, 16, 32, 128 } }

local Raster = {}
Raster.__index = Raster

local function raster(columns, rows, braille)
  return setmetatable({ columns = columns, rows = rows, braille = braille, dots = {}, marks = {},
    wide = braille and 2 or 1, high = braille and 4 or 1 }, Raster)
end

-- Sets the dot at the given shares of the width and height, from the lower left.
function Raster:dot(x, y, ascii_mark)
  if x < 0 or x > 1 or y < 0 or y > 1 then return end
  local px = min(floor(x * self.columns * self.wide), self.columns * self.wide - 1)
  local py = min(floor((1 - y) * self.rows * self.high), self.rows * self.high - 1)
  local cell = floor(py / self.high) * self.columns + floor(px / self.wide)
  if self.braille then
    local bit = dot_bits[px % 2][py % 4]
    local bits = self.dots[cell] or 0
    if floor(bits / bit) % 2 == 0 then self.dots[cell] = bits + bit end
  else
    self.dots[cell] = self.dots[cell] or ascii_mark
  end
end

function Raster:line(x1, y1, x2, y2, ascii_mark)
  local steps = max(math.abs(x2 - x1) * self.columns * self.wide, math.abs(y2 - y1) * self.rows * self.high)
  steps = min(floor(steps) + 1, 4000)
  for k = 0, steps do
    self:dot(x1 + (x2 - x1) * k / steps, y1 + (y2 - y1) * k / steps, ascii_mark)
  end
end

-- Draws a dotted line for the edge of a band.
function Raster:dotted(x1, y1, x2, y2)
  local steps = max(math.abs(x2 - x1) * self.columns * self.wide, math.abs(y2 - y1) * self.rows * self.high)
  steps = min(floor(steps) + 1, 4000)
  for k = 0, steps do
    local x = x1 + (x2 - x1) * k / steps
    local phase = floor(x * self.columns * self.wide + 0.5) % (2 * self.wide)
    if phase == 0 then self:dot(x, y1 + (y2 - y1) * k / steps, ':') end
  end
end

function Raster:mark(x, y, mark)
  if x < 0 or x > 1 or y < 0 or y > 1 then return end
  local column = min(floor(x * self.columns), self.columns - 1)
  local row = min(floor((1 - y) * self.rows), self.rows - 1)
  self.marks[row * self.columns + column] = mark
end

function Raster:row(row, rule)
  local cells = {}
  for column = 0, self.columns - 1 do
    local cell = row * self.columns + column
    local dots = self.dots[cell]
    cells[#cells + 1] = self.marks[cell] or (dots and (self.braille and utf8_byte3(0x2800 + dots) or dots))
      or rule or ' '
  end
  return table.concat(cells)
end

local function draw_band(canvas, figure, series)
  local before
  for _, point in ipairs(series.points) do
    local low, high
    if point.low then low, high = figure.y.place(point.low), figure.y.place(point.high) end
    if low and high then
      local x = figure.x.place(point.x)
      local from = before or { x, low, high }
      canvas:dotted(from[1], from[2], x, low)
      canvas:dotted(from[1], from[3], x, high)
      before = { x, low, high }
    else
      before = nil
    end
  end
end

local function draw_series(canvas, figure, series, glyphs)
  local mark = glyphs.marks[(series.index - 1) % #glyphs.marks + 1]
  local before, drawn = nil, {}
  for _, point in ipairs(series.points) do
    if point.gap then
      before = nil
    else
      local x, y = figure.x.place(point.x), figure.y.place(point.y)
      drawn[#drawn + 1] = { x, y }
      if before and series.style ~= 'points' then
        if series.style == 'steps' then
          canvas:line(before[1], before[2], x, before[2], '.')
          canvas:line(x, before[2], x, y, '.')
        else
          canvas:line(before[1], before[2], x, y, '.')
        end
      end
      before = { x, y }
    end
  end
  local every = series.style == 'points' and 1 or max(1, math.ceil(#drawn / 12))
  for i, place in ipairs(drawn) do
    if (i - 1) % every == 0 or i == #drawn then canvas:mark(place[1], place[2], mark) end
  end
end

-- The line below the plot area with its ticks, and the line of tick labels.
local function bottom_lines(figure, columns, margin, glyphs)
  local line, labels = {}, {}
  for i = 1, columns do line[i] = glyphs.bottom end
  local at = 0
  for i, value in ipairs(figure.x.ticks) do
    local column = min(floor(figure.x.place(value) * columns), columns - 1)
    line[column + 1] = glyphs.bottom_tick
    local label = figure.x.labels[i]
    local start = max(0, column - floor((axes.text_length(label) - 1) / 2))
    if start >= at then
      labels[#labels + 1] = (' '):rep(start - at) .. label
      at = start + axes.text_length(label) + 1
      labels[#labels + 1] = ' '
    end
  end
  local space = (' '):rep(margin)
  return space .. glyphs.corner .. table.concat(line), trim.right(space .. ' ' .. table.concat(labels))
end

local function centred(text, width)
  return (' '):rep(max(0, floor((width - axes.text_length(text)) / 2))) .. text
end

-- Adds the entries of the legend in lines of at most `width` columns.
local function add_legend(out, entries, width)
  local line
  for _, entry in ipairs(entries) do
    local longer = line and line .. '   ' .. entry or entry
    if line and axes.text_length(longer) > width then
      out[#out + 1] = centred(line, width)
      longer = entry
    end
    line = longer
  end
  out[#out + 1] = line and centred(line, width)
end

-- The line chart of plot.lines as text, at least 30 characters wide and 4 lines high.
function M.draw(spec)
  local plain = M.is_plain(spec)
  local glyphs = plain and ascii or unicode
  local rows = max(4, spec.rows)
  local figure = figures.figure(spec, 'plot.text', 7, max(3, floor(rows / 4)))
  local function fit(text) return plain and text:gsub('−', '-') or text end
  local width = max(30, spec.columns or min(100, M.terminal_width()))
  local margin = 0
  for i, label in ipairs(figure.y.labels) do
    figure.y.labels[i] = fit(label)
    margin = max(margin, axes.text_length(figure.y.labels[i]))
  end
  for i, label in ipairs(figure.x.labels) do figure.x.labels[i] = fit(label) end
  margin = margin + 1
  local columns = max(10, width - margin - 2)
  local canvas = raster(columns, rows, not plain)
  for _, series in ipairs(figure.series) do draw_band(canvas, figure, series) end
  for _, series in ipairs(figure.series) do draw_series(canvas, figure, series, glyphs) end

  local rules, ticks = {}, {}
  for _, reference in ipairs(figure.references) do
    local place = figure.y.place(reference.value)
    if place and place >= 0 and place <= 1 then
      rules[min(floor((1 - place) * rows), rows - 1)] = glyphs.rule
    end
  end
  for i, value in ipairs(figure.y.ticks) do
    ticks[min(floor((1 - figure.y.place(value)) * rows), rows - 1)] = figure.y.labels[i]
  end
  local out = {}
  if spec.title then out[#out + 1] = centred(spec.title, width) end
  if figure.y_label then out[#out + 1] = figure.y_label end
  for row = 0, rows - 1 do
    local label = ticks[row] or ''
    out[#out + 1] = trim.right((' '):rep(margin - 1 - axes.text_length(label)) .. label .. ' '
      .. (ticks[row] and glyphs.tick or glyphs.left) .. canvas:row(row, rules[row]))
  end
  local line, labels = bottom_lines(figure, columns, margin, glyphs)
  out[#out + 1] = line
  out[#out + 1] = labels
  if figure.x_label then out[#out + 1] = centred(figure.x_label, width) end
  local legend = {}
  for _, series in ipairs(figure.series) do
    if series.legend ~= false and (#figure.series > 1 or series.named) then
      legend[#legend + 1] = glyphs.marks[(series.index - 1) % #glyphs.marks + 1] .. ' ' .. series.name
    end
  end
  for _, reference in ipairs(figure.references) do
    if reference.name then legend[#legend + 1] = glyphs.rule:rep(2) .. ' ' .. reference.name end
  end
  add_legend(out, legend, width)
  if figure.empty then out[#out + 1] = centred('(no data)', width) end
  return table.concat(out, '\n') .. '\n'
end

return M
