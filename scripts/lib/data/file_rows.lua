-- The rows of files with columns: JSON lines, comma-separated and tab-separated values, and plain text with one string
-- in each line.
local csv = require 'pushdown.csv'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local tables = require 'pushdown.tables'

local M = {}

local function fail(where, form, ...) error(('[data.%s] '):format(where) .. form:format(...), 0) end

-- file_rows.text(where, path) -> the text of a file without its byte order mark.
function M.text(where, path)
  local text = files.read(path)
  if text:find '^\255\254' or text:find '^\254\255' then
    fail(where, "'%s': expected UTF-8, got the byte order mark of UTF-16: convert the file to UTF-8", path)
  end
  local zero = text:find('\0', 1, true)
  if zero then
    local _, before = text:sub(1, zero):gsub('\n', '')
    fail(where, '%s:%d: expected text, got a NUL byte', path, before + 1)
  end
  return (text:gsub('^\239\187\191', ''))
end

-- The lines of a text and their numbers, without carriage returns at their ends.
local function lines_of(text)
  local number, next_line = 0, (text:sub(-1) == '\n' and text or text .. '\n'):gmatch '([^\n]*)\n'
  return function()
    local line = next_line()
    number = number + 1
    if line then return number, (line:gsub('\r$', '')) end
  end
end

-- Tab-separated values have no quotes, except as Python's module csv writes fields that contain a quote or are empty:
-- '"a ""b"""', and '""' for a row of one empty field.
local function unquoted(field)
  local inner = field:match '^"(.*)"$'
  if not inner or not (inner == '' or inner:find '"' and not inner:gsub('""', ''):find '"') then return field end
  return (inner:gsub('""', '"'))
end

-- file_rows.tab_separated(row) -> the line that is read as these fields again.
function M.tab_separated(row)
  local fields = {}
  for i, field in ipairs(row) do
    field = tostring(field)
    local quotes = field:find '"' or field == '' and #row == 1
    fields[i] = quotes and '"' .. field:gsub('"', '""') .. '"' or field
  end
  return table.concat(fields, '\t')
end

local function fields_of(text)
  local lines, numbers = {}, {}
  for number, line in lines_of(text) do
    if line:find '%S' or line:find '\t' then
      local fields = tables.matches(line .. '\t', '([^\t]*)\t')
      for i, field in ipairs(fields) do fields[i] = unquoted(field) end
      lines[#lines + 1], numbers[#lines + 1] = fields, number
    end
  end
  return lines, numbers
end

local function each_json_line(where, path, key, add)
  for number, line in lines_of(M.text(where, path)) do
    if line:match '%S' then
      local place = ('%s:%d'):format(path, number)
      local ok, row = pcall(json.decode, line)
      if not ok then fail(where, '%s: %s', place, (tostring(row):gsub('^%[json[^%]]*%] line %d+: ', ''))) end
      if type(row) ~= 'table' or row == json.null or #row > 0 then
        fail(where, '%s: expected a table {"%s": ..}', place, key)
      end
      add(place, row)
    end
  end
end

-- The lines of a file with columns, each a list of fields, and their numbers.
local function separated(where, path, format)
  local text = M.text(where, path)
  if format == 'tsv' then return fields_of(text) end
  local ok, lines, numbers = pcall(csv.decode, text)
  if not ok then fail(where, '%s: %s', path, (tostring(lines):gsub('^%[csv.decode%] ', ''))) end
  return lines, numbers
end

-- file_rows.each(where, path, given, key, add): calls add(place, row) with the fields by name, or by number without a
-- header, of every row of a file. given: header and format, and plain, whether a text of sentences is read, too. key: a
-- name that is expected, for messages, and the name of the strings of a plain text.
function M.each(where, path, given, key, add)
  local format = given.format or path:match '%.(%a+)$' or ''
  if format == 'jsonl' or format == 'ndjson' or format == 'json' then
    if not given.header then fail(where, '%s: lines of JSON have names, so header = false is not for them', path) end
    each_json_line(where, path, key, add)
  elseif format == 'csv' or format == 'tsv' then
    local lines, numbers = separated(where, path, format)
    if #lines == 0 then
      fail(where, given.header and '%s: the file is empty: expected a line with the names of the columns'
        or '%s: the file is empty', path)
    end
    if #lines[1] == 1 and given.header and lines[1][1]:find ';' and lines[1][1] ~= key then
      fail(where, "%s:1: expected fields separated by %s, got '%s'", path, format == 'csv' and 'commas' or 'tabs',
        lines[1][1])
    end
    local ok, _, rows, places = pcall(csv.named, path, lines, numbers, given.header)
    if not ok then fail(where, '%s', (tostring(_):gsub('^%[csv.read%] ', ''))) end
    for i, row in ipairs(rows) do add(places[i], row) end
  elseif given.plain and format == 'txt' then
    for number, line in lines_of(M.text(where, path)) do
      if line:match '%S' then add(('%s:%d'):format(path, number), { [key] = line }) end
    end
  else
    fail(where, "'%s': expected a file %s.jsonl, .csv or .tsv, or the option format%s", path,
      given.plain and '.txt, ' or '',
      format == 'txt' and '; pd.task.sentences and pd.task.corpus read plain text' or '')
  end
end

-- file_rows.no_value(where, place, row, key, more): raises an error about a row in which the value of this key is null,
-- or which has no such key.
function M.no_value(where, place, row, key, more)
  if row[key] == json.null then fail(where, "%s: the value of '%s' is null", place, key) end
  local names = tables.keys(row)
  for i, name in ipairs(names) do names[i] = tostring(name) end
  fail(where, "%s: there is no '%s' (there is %s)%s", place, key, #names > 0 and table.concat(names, ', ') or 'nothing',
    more or '')
end

return M
