-- Reads comma-separated values (RFC 4180), as pushdown.report writes them.
local files = require 'pushdown.files'

local M = {}

-- csv.decode(text) -> list of lines, each a list of texts. A header, if there is one, is the first line.
function M.decode(text)
  local lines, line, at = {}, {}, 1
  if text ~= '' and text:sub(-1) ~= '\n' then text = text .. '\n' end
  while at <= #text do
    local field
    if text:sub(at, at) == '"' then
      local parts = {}
      repeat
        local stop = text:find('"', at + 1, true)
        if not stop then error(('[csv.decode] line %d: expected a closing quote'):format(#lines + 1), 0) end
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
    if not mark then error(('[csv.decode] line %d: expected a comma after a quoted field'):format(#lines + 1), 0) end
    at = at + #mark
    if mark ~= ',' then
      if #line > 1 or line[1] ~= '' then lines[#lines + 1] = line end
      line = {}
    end
  end
  return lines
end

-- csv.read(path) -> columns, rows: the names in the first line, and for every other line a table that maps these names
-- to texts. Raises an error if a line has more or fewer fields than the first one, or if a name occurs twice.
function M.read(path)
  local text = files.read(path)
  local ok, lines = pcall(M.decode, text)
  if not ok then error(('[csv.read] %s: %s'):format(path, (tostring(lines):gsub('^%[csv.decode%] ', ''))), 0) end
  local columns, rows, seen = table.remove(lines, 1) or {}, {}, {}
  for _, name in ipairs(columns) do
    if seen[name] then error(("[csv.read] %s: there are two columns '%s'"):format(path, name), 0) end
    seen[name] = true
  end
  for i, line in ipairs(lines) do
    if #line ~= #columns then
      error(('[csv.read] %s: row %d: expected %d fields, got %d'):format(path, i, #columns, #line), 0)
    end
    local row = {}
    for k, name in ipairs(columns) do row[name] = line[k] end
    rows[i] = row
  end
  return columns, rows
end

return M
