-- Reads comma-separated values (RFC 4180), as pushdown.report writes them.
local files = require 'pushdown.files'

local M = {}

-- csv.decode(text) -> lines, numbers: a list of lines, each a list of texts, and the number of the line of the text on
-- which each begins. A header, if there is one, is the first line. A byte order mark is skipped, and so are empty
-- lines; a line with one empty field is written as "".
function M.decode(text)
  text = text:gsub('^\239\187\191', '')
  local lines, numbers, line, at = {}, {}, {}, 1
  local number, counted = 1, 1  -- the number of the line that begins at `counted`
  local function number_at(place)
    for _ in text:sub(counted, place - 1):gmatch '\n' do number = number + 1 end
    counted = place
    return number
  end
  local function fail(place, what) error(('[csv.decode] line %d: %s'):format(number_at(place), what), 0) end
  if text ~= '' and text:sub(-1) ~= '\n' then text = text .. '\n' end
  while at <= #text do
    local field
    local quoted = text:sub(at, at) == '"'
    if #line == 0 then numbers[#lines + 1] = number_at(at) end
    if quoted then
      local parts = {}
      repeat
        local stop = text:find('"', at + 1, true)
        if not stop then fail(at, 'expected a closing quote') end
        parts[#parts + 1] = text:sub(at + 1, stop - 1)
        at = stop + 1
      until text:sub(at, at) ~= '"'
      field = table.concat(parts, '"')
    else
      local stop = text:find('[,\r\n]', at)
      field, at = text:sub(at, stop - 1), stop
    end
    line[#line + 1] = field
    local mark = text:match('^,', at) or text:match('^\r?\n', at)
    if not mark then
      fail(at, text:sub(at, at) == '\r' and 'expected a line feed after a carriage return'
        or 'expected a comma after a quoted field')
    end
    at = at + #mark
    if mark ~= ',' then
      if #line > 1 or line[1] ~= '' or quoted then lines[#lines + 1] = line end
      line = {}
    end
  end
  numbers[#lines + 1] = nil
  return lines, numbers
end

-- csv.read(path, header = true) -> columns, rows, places: the names in the first line, for every other line a table
-- that maps these names to texts, and its place, such as 'a.csv:2'. If header is false, the file has no line of names,
-- and the columns are numbered from 1. Raises an error if a line has more or fewer fields than the first one, or if a
-- name occurs twice.
function M.read(path, header)
  local text = files.read(path)
  local ok, lines, numbers = pcall(M.decode, text)
  if not ok then error(('[csv.read] %s: %s'):format(path, (tostring(lines):gsub('^%[csv.decode%] ', ''))), 0) end
  return M.named(path, lines, numbers, header)
end

-- csv.named(path, lines, numbers, header = true) -> columns, rows, places: the same from lines that are read already.
function M.named(path, lines, numbers, header)
  local columns, rows, places, seen = {}, {}, {}, {}
  local first = header == false and 0 or 1
  for k, name in ipairs(lines[1] or {}) do columns[k] = first == 1 and name or k end
  for _, name in ipairs(columns) do
    if seen[name] then error(("[csv.read] %s: there are two columns '%s'"):format(path, name), 0) end
    seen[name] = true
  end
  for i = first + 1, #lines do
    local line, place = lines[i], ('%s:%d'):format(path, numbers[i])
    if #line ~= #columns then
      error(('[csv.read] %s: expected %d fields, got %d'):format(place, #columns, #line), 0)
    end
    local row = {}
    for k, name in ipairs(columns) do row[name] = line[k] end
    rows[#rows + 1], places[#rows + 1] = row, place
  end
  return columns, rows, places
end

return M
