-- The rich output that a notebook shows for a value beside its text, and the help on a name.
local description = require 'pushdown.prompt.description'

local files = require 'pushdown.files'
local export = require 'pushdown.plot.export'
local pd = require 'pushdown'
local trim = require 'pushdown.text.trim'

local M = {}

local most_rows = 200

-- The picture as the bytes of a PNG; nil without rsvg-convert.
local function png(svg)
  if not export.possible() then return nil end
  local name = os.tmpname()
  export.write(name .. '.png', svg)
  local bytes = files.read(name .. '.png')
  os.remove(name .. '.png')
  os.remove(name)
  return bytes
end

local function escaped(text)
  return (tostring(text):gsub('[&<>]', { ['&'] = '&amp;', ['<'] = '&lt;', ['>'] = '&gt;' }))
end

local function number_text(value)
  if value == math.floor(value) and math.abs(value) <= 2 ^ 53 then return ('%.0f'):format(value) end
  return ('%.6g'):format(value)
end

-- A table as HTML: names of the columns, rows of cells.
local function html(columns, rows)
  local out = { '<table><thead><tr>' }
  for _, name in ipairs(columns) do out[#out + 1] = ('<th>%s</th>'):format(escaped(name)) end
  out[#out + 1] = '</tr></thead><tbody>'
  for i = 1, math.min(#rows, most_rows) do
    out[#out + 1] = '<tr>'
    for k = 1, #columns do
      local value = rows[i][k]
      local is_number = type(value) == 'number'
      out[#out + 1] = ('<td%s>%s</td>'):format(is_number and ' style="text-align: right"' or '',
        value == nil and '' or is_number and number_text(value) or escaped(value))
    end
    out[#out + 1] = '</tr>'
  end
  out[#out + 1] = '</tbody></table>'
  if #rows > most_rows then out[#out + 1] = ('<p>%d of %d rows</p>'):format(most_rows, #rows) end
  return table.concat(out)
end

-- These columns come first, in this order.
local first = { id = 1, epoch = 2, update = 3 }

-- The rows and the sorted column names of a list of tables of plain values, or nil.
local function records(value)
  if #value == 0 then return nil end
  local names, known = {}, {}
  for key, row in pairs(value) do
    if type(key) ~= 'number' or type(row) ~= 'table' or getmetatable(row) or #row > 0 then return nil end
    for name, cell in pairs(row) do
      if type(name) ~= 'string' or type(cell) == 'table' or type(cell) == 'function' then return nil end
      if not known[name] then names[#names + 1], known[name] = name, true end
    end
  end
  if #names == 0 then return nil end
  table.sort(names, function(a, b)
    local before, after = first[a] or math.huge, first[b] or math.huge
    if before ~= after then return before < after end
    return a < b
  end)
  local rows = {}
  for i, row in ipairs(value) do
    rows[i] = {}
    for k, name in ipairs(names) do rows[i][k] = row[name] end
  end
  return names, rows
end

-- The picture within an HTML image. nbconvert 6 removes all elements of an SVG, but not those of HTML.
local function image(svg)
  local from = select(2, svg:find('<title>', 1, true))
  local to = from and svg:find('</title>', from, true)
  local title = (to and svg:sub(from + 1, to - 1) or 'a picture'):gsub('"', '&quot;')
  return ('<img alt="%s" src="data:image/svg+xml;base64,%s">'):format(title, pd._text.base64(svg))
end

-- bundle(value) -> {[type] = text}: what a notebook can show instead of the text. That is an SVG (also in an HTML
-- image, and as PNG if rsvg-convert is installed), a table of pd.report, or a list of tables of plain values.
function M.bundle(value)
  if type(value) == 'string' then
    -- nbconvert inserts the text unchanged, and an XML declaration in the middle of a page breaks it.
    local svg = value:gsub('^%s*<%?xml[^>]*>', ''):match '^%s*(<svg[%s>].*)$'
    if svg then
      local bytes = png(svg)
      return { ['text/html'] = image(svg), ['image/svg+xml'] = svg, ['image/png'] = bytes and pd._text.base64(bytes),
        ['text/plain'] = 'a picture (SVG)' }
    end
  elseif type(value) == 'table' then
    local meta = getmetatable(value)
    if type(meta) == 'table' and type(value.columns) == 'table' and type(value.rows) == 'table' then
      local names = {}
      for i, column in ipairs(value.columns) do names[i] = column.name or column end
      return { ['text/html'] = html(names, value.rows) }
    elseif not meta then
      local names, rows = records(value)
      if names then return { ['text/html'] = html(names, rows) } end
    end
  end
  return {}
end

-- The name at the end of a text, with dots and colons.
local function last_name(text) return text:match '^.*[^%w_.:](.*)$' or text end

-- inspect(code, byte) -> help on the name at that position of the code, or nil.
function M.inspect(code, byte)
  local before = code:sub(1, byte)
  local name = last_name(before) .. code:sub(byte + 1):match '^[%w_]*'
  if name == '' then name = last_name(trim.right(before:match '^(.*)[({][^(){}]*$' or '')) end
  name = name:match '^.*[^.:]' or ''
  if not name:find '^[%a_]' then return nil end
  local chunk = loadstring('return ' .. name:gsub(':', '.'))
  local ok, value = pcall(chunk or error)
  local text = description(name)
  if text:find '^There is no help' or text:find "^'" then
    text = ok and value ~= nil and description(value) or nil
  end
  return text
end

return M
