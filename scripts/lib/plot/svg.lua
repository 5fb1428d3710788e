-- A small SVG 1.1 writer: collects elements with escaped attributes and texts in one self-contained
-- document.
local pd = require 'pushdown'
local tables = require 'pushdown.tables'

local M = {}

M.font = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
M.ink = '#222222'
M.grid = '#e4e4e4'

local entities = { ['&'] = '&amp;', ['<'] = '&lt;', ['>'] = '&gt;', ['"'] = '&quot;', ["'"] = '&#39;' }
local replacement = '\239\191\189'  -- U+FFFD

-- Escapes text for an SVG document. Control characters and invalid UTF-8 bytes become U+FFFD, because XML
-- cannot represent them.
function M.escape(text)
  text = tostring(text):gsub('[%z\1-\8\11\12\14-\31\127]', replacement)
  return (pd._text.clean(text, replacement):gsub('[&<>"\']', entities))
end

-- A coordinate: two decimals at most, no trailing zeros.
function M.number(value)
  local text = ('%.2f'):format(value):gsub('%.?0+$', '')
  return (text == '-0' or text == '') and '0' or text
end

local function attributes_text(attributes)
  local keys = tables.keys(attributes)
  for i, key in ipairs(keys) do
    local value = attributes[key]
    if type(value) == 'number' then value = M.number(value) end
    keys[i] = (' %s="%s"'):format(key, M.escape(value))
  end
  return table.concat(keys)
end

local Canvas = {}
Canvas.__index = Canvas

-- A white canvas of the given size in pixels.
function M.canvas(width, height)
  return setmetatable({ width = width, height = height, parts = {} }, Canvas)
end

-- Adds <name attributes/>, or <name attributes>content</name> if there is `content` (already escaped).
function Canvas:add(name, attributes, content)
  local open = '<' .. name .. attributes_text(attributes)
  self.parts[#self.parts + 1] = content and ('%s>%s</%s>'):format(open, content, name) or open .. '/>'
end

function Canvas:line(x1, y1, x2, y2, attributes)
  local all = tables.merged({ x1 = x1, y1 = y1, x2 = x2, y2 = y2, stroke = M.ink, ['stroke-width'] = 1 }, attributes)
  self:add('line', all)
end

-- Adds text with its baseline at (x, y); anchor: start, middle or end.
function Canvas:text(x, y, text, attributes)
  local all = tables.merged({ x = x, y = y, fill = M.ink }, attributes)
  self:add('text', all, M.escape(text))
end

-- Adds text with the middle, or the end, of its baseline at (x, y).
function Canvas:centred(x, y, text, attributes)
  self:text(x, y, text, tables.merged({ ['text-anchor'] = 'middle' }, attributes))
end
function Canvas:before(x, y, text, attributes)
  self:text(x, y, text, tables.merged({ ['text-anchor'] = 'end' }, attributes))
end

-- Adds text that is rotated about (x, y), the `anchor` of its baseline, by this angle in degrees.
function Canvas:rotated(x, y, text, angle, anchor)
  self:text(x, y, text, { ['text-anchor'] = anchor,
    transform = ('rotate(%d %s %s)'):format(angle, M.number(x), M.number(y)) })
end

-- Adds text in the middle of a white rim of this width, which keeps it readable on lines.
function Canvas:on_lines(x, y, text, width)
  self:centred(x, y, text, { stroke = '#ffffff', ['stroke-width'] = width, ['stroke-linejoin'] = 'round' })
  self:centred(x, y, text)
end

-- Adds the title of the picture, if there is one.
function Canvas:title(text, x, y)
  if text then self:centred(x or self.width / 2, y or 24, text, { ['font-size'] = 15, ['font-weight'] = 'bold' }) end
end

-- Defines the tip of arrows: ['marker-end'] = 'url(#tip)'.
function Canvas:define_tip()
  self:add('defs', {}, '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
    .. 'markerHeight="8" orient="auto"><path d="M0 0.8L8 4L0 7.2z" fill="' .. M.ink .. '"/></marker>')
end

-- The place of a chart with these texts of its vertical axis: left, top, right, bottom. spec: title, x_label, y_label.
function Canvas:area(spec, labels)
  return { left = 34 + M.widest(labels) + (spec.y_label and 14 or 0), right = self.width - 16,
    top = spec.title and 40 or 16, bottom = self.height - (spec.x_label and 52 or 32) }
end

-- Adds the names of columns of this width below the area: upright if they do not fit side by side and a column is at
-- least as wide as a line of text is high, else every few of them with this room. drop: the distance of upright ones.
function Canvas:column_names(area, names, width, upright, room, drop)
  local every = upright and 1 or math.max(1, math.ceil((M.widest(names) + room) / width))
  for k, name in ipairs(names) do
    local x = area.left + (k - 0.5) * width
    if upright then
      self:rotated(x + 4, area.bottom + drop, name, -90, 'end')
    elseif (k - 1) % every == 0 then
      self:centred(x, area.bottom + 17, name)
    end
  end
end

-- Adds a title above the plot area and the labels of its two axes. area: left, top, right, bottom; height: that of the
-- picture without a legend below it.
function Canvas:labels(area, title, x_label, y_label, height)
  local middle = (area.left + area.right) / 2
  self:title(title, middle, 22)
  if x_label then self:centred(middle, (height or self.height) - 12, x_label) end
  if y_label then self:rotated(17, (area.top + area.bottom) / 2, y_label, -90, 'middle') end
end

-- Adds the vertical axis: grid lines, ticks and labels.
function Canvas:y_axis(area, axis)
  local function y_at(value) return area.bottom - axis.place(value) * (area.bottom - area.top) end
  for _, value in ipairs(axis.minor) do
    self:line(area.left, y_at(value), area.right, y_at(value), { stroke = '#f1f1f1' })
    self:line(area.left - 2.5, y_at(value), area.left, y_at(value))
  end
  for i, value in ipairs(axis.ticks) do
    self:line(area.left, y_at(value), area.right, y_at(value), { stroke = M.grid })
    self:line(area.left - 5, y_at(value), area.left, y_at(value))
    self:before(area.left - 8, y_at(value) + 4, axis.labels[i])
  end
end

-- Adds the horizontal axis: grid lines, ticks and labels.
function Canvas:x_axis(area, axis)
  local function x_at(value) return area.left + axis.place(value) * (area.right - area.left) end
  for _, value in ipairs(axis.minor) do
    self:line(x_at(value), area.bottom, x_at(value), area.bottom + 2.5)
  end
  for i, value in ipairs(axis.ticks) do
    self:line(x_at(value), area.top, x_at(value), area.bottom, { stroke = M.grid })
    self:line(x_at(value), area.bottom, x_at(value), area.bottom + 5)
    self:centred(x_at(value), area.bottom + 19, axis.labels[i])
  end
end

-- Adds the two axis lines.
function Canvas:frame(area)
  self:line(area.left, area.bottom, area.right, area.bottom, { ['stroke-linecap'] = 'square' })
  self:line(area.left, area.top, area.left, area.bottom, { ['stroke-linecap'] = 'square' })
end

-- The document as text.
function Canvas:document(title)
  local head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    .. ('<svg xmlns="http://www.w3.org/2000/svg" version="1.1" width="%d" height="%d" '
      .. 'viewBox="0 0 %d %d" font-family="%s" font-size="13">\n'):format(self.width, self.height,
      self.width, self.height, M.escape(M.font))
  return head .. (title and '<title>' .. M.escape(title) .. '</title>\n' or '')
    .. '<rect width="100%" height="100%" fill="#ffffff"/>\n'
    .. table.concat(self.parts, '\n') .. '\n</svg>\n'
end

-- Widths of characters at 13 px in DejaVu Sans, which is wider than Helvetica and Arial.
local widths = {}
for width, characters in pairs { [3.7] = "ijl'", [4.4] = ' .,:;|!IJ/\\`', [5.2] = 'frt()[]-"', [9] = 'ABCEFKLPRSTVXYZ&',
  [10.2] = 'DGHNOQU', [10.9] = 'w+=<>~#', [13] = 'mMW%@' } do
  for character in characters:gmatch '.' do widths[character] = width end
end

-- Estimated width in pixels of text at 13 px, rarely too small.
function M.text_width(text)
  local width = 0
  for character in tostring(text):gmatch '[%z\1-\127\194-\244][\128-\191]*' do
    width = width + (widths[character] or #character >= 3 and character >= '\227' and 13 or 8.3)
  end
  return width
end

function M.widest(texts)
  local widest = 0
  for _, text in ipairs(texts) do widest = math.max(widest, M.text_width(text)) end
  return widest
end

return M
