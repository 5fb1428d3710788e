-- Legends of pictures: entries in a column or in rows. An entry is a sample of a line or colour and a name. Long names
-- are wrapped.
local svg = require 'pushdown.plot.svg'
local trim = require 'pushdown.text.trim'

local M = {}

local row_height, line_height, text_gap, entry_gap = 19, 15, 8, 18

-- Wraps the name into lines of at most `width` pixels: at blanks, else after commas and other marks, else anywhere.
function M.wrapped(name, width)
  local lines, line = {}, ''
  local function finish()
    if line ~= '' then lines[#lines + 1] = trim.right(line) end
    line = ''
  end
  local function add(piece, fine)
    if svg.text_width(trim.right(line .. piece)) <= width then
      line = line .. piece
    elseif fine and svg.text_width(piece) > width then
      for character in piece:gmatch '[%z\1-\127\194-\244][\128-\191]*' do
        if line ~= '' and svg.text_width(line .. character) > width then finish() end
        line = line .. character
      end
    else
      finish()
      if svg.text_width(piece) <= width then
        line = piece
      elseif fine then
        add(piece, true)
      else
        for part in piece:gmatch '[^,;:/_=+-]*[,;:/_=+-]?' do add(part, true) end
      end
    end
  end
  for word in trim.right(tostring(name)):gmatch '%s*%S+%s*' do add(line == '' and word:gsub('^%s+', '') or word) end
  finish()
  return #lines > 0 and lines or { '' }
end

local function measure(entry, width, sample)
  entry.lines = M.wrapped(entry.name, width - sample - text_gap)
  entry.width = sample + text_gap + svg.widest(entry.lines)
  entry.height = row_height + (#entry.lines - 1) * line_height
end

-- legend.column(entries, width, sample) -> width, height of the entries in a column. sample: width of a sample.
function M.column(entries, width, sample)
  local widest, height = 0, 0
  for _, entry in ipairs(entries) do
    measure(entry, width, sample)
    entry.x, entry.y = 0, height
    widest, height = math.max(widest, entry.width), height + entry.height
  end
  return widest, height
end

-- legend.rows(entries, width, sample) -> width, height of the entries in rows of at most `width` pixels.
function M.rows(entries, width, sample)
  local x, y, height, widest = 0, 0, 0, 0
  for _, entry in ipairs(entries) do
    measure(entry, width, sample)
    if x > 0 and x + entry.width > width then x, y, height = 0, y + height, 0 end
    entry.x, entry.y = x, y
    x, height, widest = x + entry.width + entry_gap, math.max(height, entry.height), math.max(widest, x + entry.width)
  end
  return widest, y + height
end

-- legend.place(entries, canvas, area, sample, options) -> x, y, width, height, below: places the entries in a column in
-- a free corner of the area, which options.corner(width, height) returns, else beside an area that stays wide enough,
-- else in rows below the picture around options.middle. May shrink the area or increase the height of the canvas.
-- options.inset: margin around the entries; options.gap: distance from the area.
function M.place(entries, canvas, area, sample, options)
  local inset = options.inset or 0
  local width, height = M.column(entries, canvas.width, sample)
  width, height = width + 2 * inset, height + inset
  local x, y
  if options.corner then x, y = options.corner(width, height) end
  if x then return x, y, width, height end
  if width <= 0.35 * canvas.width and height <= area.bottom - area.top then
    area.right = math.min(area.right, canvas.width - width - options.gap - 8)
    return area.right + options.gap, area.top, width, height
  end
  width, height = M.rows(entries, canvas.width - 2 * inset - 16, sample)
  width, height = width + 2 * inset, height + inset
  y, canvas.height = canvas.height, canvas.height + math.ceil(height) + 8
  return math.min(math.max(8, options.middle - width / 2), canvas.width - 8 - width), y, width, height, true
end

-- legend.draw(canvas, entries, x, y, sample): draws the entries at the positions set by column or rows. entry.draw(
-- canvas, x, y) draws the sample; `y` is its middle.
function M.draw(canvas, entries, x, y, sample)
  for _, entry in ipairs(entries) do
    local left, middle = x + entry.x, y + entry.y + row_height / 2
    entry.draw(canvas, left, middle)
    for i, line in ipairs(entry.lines) do
      canvas:text(left + sample + text_gap, middle + 4.5 + (i - 1) * line_height, line)
    end
  end
end

return M
