-- How rows of the registry are shown: tables that fit into the terminal, JSON, CSV.
local json = require 'pushdown.json'
local report = require 'pushdown.report'
local runs = require 'pushdown.runs'

local M = {}

local function length(text) return select(2, text:gsub('[^\128-\191]', '')) end

-- At most `width` characters, cut in the middle: the ends of paths and names tell most.
local function shortened(text, width)
  if length(text) <= width then return text end
  local characters = {}
  for character in text:gmatch('[^\128-\191][\128-\191]*') do characters[#characters + 1] = character end
  local front = math.ceil((width - 1) / 2)
  return table.concat(characters, '', 1, front) .. '…'
    .. table.concat(characters, '', #characters - (width - 1 - front) + 1)
end

-- One line of text for any value.
function M.value(value)
  if value == nil or value == json.null then return '' end
  if type(value) == 'table' then
    if #value == 0 and next(value) then return json.encode(value) end
    local items = {}
    for i, item in ipairs(value) do items[i] = type(item) == 'table' and json.encode(item) or M.value(item) end
    return table.concat(items, ',')
  end
  if type(value) ~= 'number' or value == math.floor(value) then
    return type(value) == 'number' and ('%.0f'):format(value) or (tostring(value):gsub('%c', ' '))
  end
  return ('%.5g'):format(value)
end

local function when(seconds) return seconds and os.date('%Y-%m-%d %H:%M', math.floor(seconds)) or nil end

local function duration(seconds)
  if not seconds then return nil end
  local whole = math.floor(seconds + 0.5)
  if whole < 3600 then return ('%d:%02d'):format(whole / 60, whole % 60) end
  return ('%d:%02d:%02d'):format(whole / 3600, whole / 60 % 60, whole % 60)
end

-- The text of a column of the registry; nil where there is nothing.
function M.field(column, value)
  if column == 'started' or column == 'finished' or column == 'created' then return when(value) end
  if column == 'time' then return value end
  if column == 'seconds' then return duration(value) end
  return value ~= nil and M.value(value) or nil
end

local shortest_column = 8
local never_shortened = { started = true, finished = true, created = true, id = true }

-- A table that fits into the terminal: its longest texts are shortened, and where that does not
-- help each row becomes lines of its own. Into a file or a pipe it goes whole.
function M.table(columns, rows, width)
  local widths, right, total = {}, {}, -2
  for k, column in ipairs(columns) do
    widths[k], right[k] = length(column), true
    for _, row in ipairs(rows) do
      widths[k] = math.max(widths[k], length(row[k] or ''))
      right[k] = right[k] and (row[k] == nil or row[k] == '' or row[k] == '–' or row[k]:find('^[%d:.e+-]+$') ~= nil)
    end
    total = total + widths[k] + 2
  end
  while width and total > width do
    local widest
    for k, column in ipairs(columns) do
      if not never_shortened[column] and (not widest or widths[k] > widths[widest]) then widest = k end
    end
    if not widest or widths[widest] <= shortest_column then break end
    widths[widest], total = widths[widest] - 1, total - 1
  end
  if width and total > width then
    for i, row in ipairs(rows) do
      if i > 1 then print() end
      for k, column in ipairs(columns) do
        if row[k] and row[k] ~= '' then print(column .. ': ' .. row[k]) end
      end
    end
    return
  end
  local cells, header = {}, {}
  for k, column in ipairs(columns) do
    header[k] = { shortened(column, widths[k]), align = right[k] and #rows > 0 and 'right' or 'left' }
  end
  for i, row in ipairs(rows) do
    cells[i] = {}
    for k in ipairs(columns) do cells[i][k] = shortened(row[k] or '', widths[k]) end
  end
  io.write(report.table { columns = header, rows = cells }:text())
end

-- Text wrapped at the width, every line behind `indent`.
function M.wrapped(text, width, indent)
  local line = ''
  for word in text:gmatch('%S+') do
    if line ~= '' and width and length(indent .. line .. ' ' .. word) > width then
      print(indent .. line)
      line = ''
    end
    line = line == '' and word or line .. ' ' .. word
  end
  if line ~= '' then print(indent .. line) end
end

-- A command line that a shell reads as these words.
function M.shell_words(words)
  local quoted = {}
  for i, word in ipairs(words) do
    quoted[i] = word:find('^[%w_%-=./,:+@]+$') and word or "'" .. word:gsub("'", "'\\''") .. "'"
  end
  return table.concat(quoted, ' ')
end

local row_order = { 'id', 'experiment', 'grid', 'point', 'restart', 'seed', 'status', 'attempts', 'folder',
  'created', 'started', 'finished', 'seconds', 'host', 'pid', 'git', 'command', 'options', 'result', 'message' }

-- The rows as JSON text.
function M.json(rows)
  for _, row in ipairs(rows) do json.ordered(row, row_order) end
  return json.encode(json.list(rows), true) .. '\n'
end

-- A list in one field, with all digits of its numbers.
local function list_text(value)
  if #value == 0 and next(value) then return json.encode(value) end
  local items = {}
  for i, item in ipairs(value) do items[i] = type(item) == 'string' and item or json.encode(item) end
  return table.concat(items, ',')
end

-- All columns, options and results of the rows, as CSV text.
function M.csv(rows)
  local columns, known = {}, {}
  local function add(key)
    if not known[key] then columns[#columns + 1], known[key] = key, true end
  end
  for _, key in ipairs(row_order) do
    if key ~= 'options' and key ~= 'result' and key ~= 'command' then add(key) end
  end
  for _, part in ipairs { 'options', 'result' } do
    local names = {}
    for _, row in ipairs(rows) do
      for name in pairs(row[part] or {}) do names[part .. '.' .. name] = true end
    end
    local sorted = {}
    for name in pairs(names) do sorted[#sorted + 1] = name end
    table.sort(sorted)
    for _, name in ipairs(sorted) do add(name) end
  end
  local cells = {}
  for i, row in ipairs(rows) do
    cells[i] = {}
    for k, key in ipairs(columns) do
      local value = runs.value(row, key)
      if value == json.null then value = nil end
      if type(value) == 'table' then value = list_text(value) end
      cells[i][k] = value
    end
  end
  return report.table { columns = columns, rows = cells }:csv()
end

return M
