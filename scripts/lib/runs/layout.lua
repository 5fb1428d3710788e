-- Shows rows of the registry: as tables that fit into the terminal, JSON or CSV.
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local tables = require 'pushdown.tables'
local measure = require 'pushdown.text.measure'
local runs = require 'pushdown.runs'
local shorten = require 'pushdown.runs.shorten'
local table_of = require 'pushdown.text.table'
local trim = require 'pushdown.text.trim'
local visible = require 'pushdown.text.visible'
local wrapped = require 'pushdown.text.wrapped'

local M = {}

local length, longest_word = measure.length, measure.longest_word

-- Any value as one line of text.
function M.value(value)
  if value == nil or value == json.null then return '' end
  if type(value) == 'table' then
    if #value == 0 and next(value) then return json.encode(value) end
    local items = {}
    for i, item in ipairs(value) do items[i] = type(item) == 'table' and json.encode(item) or M.value(item) end
    return table.concat(items, ',')
  end
  if type(value) ~= 'number' or value == math.floor(value) then
    return type(value) == 'number' and ('%.0f'):format(value) or (visible(tostring(value)):gsub('[\n\t]', ' '))
  end
  return ('%.5g'):format(value)
end

-- The texts of values side by side, by text_of. Numbers that differ get enough digits to distinguish them, at most
-- `most` (17).
function M.values(values, count, text_of, most)
  local texts = {}
  for i = 1, count do texts[i] = text_of(values[i]) end
  for digits = 6, most or 17 do
    local meant, clash = {}, false
    for i = 1, count do
      clash = clash or meant[texts[i]] ~= nil and meant[texts[i]] ~= values[i]
      meant[texts[i]] = values[i]
    end
    if not clash then break end
    for i = 1, count do
      if type(values[i]) == 'number' then texts[i] = (('%%.%dg'):format(digits)):format(values[i]) end
    end
  end
  return texts
end

local function when(seconds) return seconds and os.date('%Y-%m-%d %H:%M', math.floor(seconds)) or nil end

-- '3:07' or '2:03:07'; nil without seconds, and if the clock was set back.
function M.duration(seconds)
  if not seconds or seconds < 0 then return nil end
  local whole = math.floor(seconds + 0.5)
  if whole < 3600 then return ('%d:%02d'):format(whole / 60, whole % 60) end
  return ('%d:%02d:%02d'):format(whole / 3600, whole / 60 % 60, whole % 60)
end

-- The text of a column of the registry; nil if the column is empty.
function M.field(column, value)
  if column == 'started' or column == 'finished' or column == 'created' then return when(value) end
  if column == 'time' then return value end
  if column == 'seconds' then return M.duration(value) end
  return value ~= nil and M.value(value) or nil
end

local shortest_column = 8
local never_shortened = { started = true, finished = true, created = true, id = true }

local function is_number(text) return text == nil or text == '' or text == '–' or text:find '^[%d:.e+-]+$' ~= nil end

-- Aligns the decimal points of a column.
local function align_points(rows, k)
  local function behind(text) return text and text:match '^%-?%d*(%.%d*)$' or '' end
  local longest = 0
  for _, row in ipairs(rows) do longest = math.max(longest, #behind(row[k])) end
  for _, row in ipairs(rows) do
    local number = row[k] and (row[k]:find '^%-?%d+$' or row[k]:find '^%-?%d+%.%d*$')
    if number then row[k] = row[k] .. (' '):rep(longest - #behind(row[k])) end
  end
end

-- The lists of cells in which different values must not look the same: the columns, or, if runs are side by side, the
-- rows without their names.
local function compared(columns, rows, side_by_side)
  local lists = {}
  for k in ipairs(columns) do
    if k == 1 or not side_by_side then
      local list = { columns = { k } }
      for i, row in ipairs(rows) do list[i] = row[k] or '' end
      lists[#lists + 1] = list
    end
  end
  for _, row in ipairs(side_by_side and rows or {}) do
    local list = { columns = {} }
    for k = 2, #columns do list[k - 1], list.columns[k - 1] = row[k] or '', k end
    lists[#lists + 1] = list
  end
  return lists
end

-- The smallest width of every column at which its cells can be distinguished.
local function least_widths(columns, lists, natural, right)
  local least = {}
  for _, list in ipairs(lists) do
    local most = 0
    for _, k in ipairs(list.columns) do most = math.max(most, natural[k]) end
    local width = math.min(shortest_column, most)
    while width < most and not shorten(list, width) do width = width + 1 end
    for _, k in ipairs(list.columns) do least[k] = math.max(least[k] or 0, math.min(width, natural[k])) end
  end
  for k, column in ipairs(columns) do
    if right[k] or never_shortened[column] then least[k] = natural[k] end
  end
  return least
end

-- Narrows first the columns whose names can be broken at blanks, then those of texts, then those whose names must be
-- shortened. Returns false if the table still does not fit.
local function fit(columns, widths, least, natural, width)
  local broken, texts = {}, {}
  for k, column in ipairs(columns) do
    broken[k] = math.min(widths[k], math.max(natural[k], longest_word(column)))
    texts[k] = math.min(widths[k], math.max(least[k], longest_word(column)))
  end
  for _, limits in ipairs { broken, texts, least } do
    if measure.narrow(widths, limits, width) then return true end
  end
  return false
end

-- Column names that fit, in several lines if necessary; nil if two would look the same.
local function short_header(columns, widths)
  local header, known = {}, {}
  for k, column in ipairs(columns) do
    local words = {}
    for word in column:gmatch '%S+' do words[#words + 1] = shorten({ word }, widths[k])[1] end
    header[k] = wrapped(table.concat(words, ' '), widths[k])
    if known[header[k]] and known[header[k]] ~= column then return nil end
    known[header[k]] = column
  end
  return header
end

-- Prints each row as several lines, if a table does not fit.
local function print_lines(columns, rows, width)
  for i, row in ipairs(rows) do
    if i > 1 then print() end
    for k, column in ipairs(columns) do
      local text = trim.right(row[k] or '')
      if text ~= '' then print(wrapped((column ~= '' and column .. ': ' or '') .. text, width, '', '  ')) end
    end
  end
end

-- The columns and rows without one column, and without the blanks that aligned its numbers.
local function without_column(columns, rows, k)
  local fewer, kept = {}, {}
  for i, column in ipairs(columns) do if i ~= k then fewer[#fewer + 1] = column end end
  for n, row in ipairs(rows) do
    kept[n] = {}
    for i = 1, #columns do
      if i ~= k then kept[n][i < k and i or i - 1] = trim.right(row[i] or '') end
    end
  end
  return fewer, kept
end

-- Prints a table without the first column of `optional` that it has. Returns false if it has none.
local function print_without(columns, rows, width, optional)
  for _, name in ipairs(optional or {}) do
    for k, column in ipairs(columns) do
      if column == name then
        local fewer, kept = without_column(columns, rows, k)
        M.table(fewer, kept, width, false, optional)
        print(wrapped(("No room for the column '%s': --csv and --columns show it."):format(name), width))
        return true
      end
    end
  end
  return false
end

-- Prints a table that fits into the terminal. The longest texts are shortened, but can still be distinguished; if that
-- is not enough, the optional columns are left out in turn, and then each row is printed as several lines. Output to a
-- file or a pipe is complete. side_by_side: the columns after the first are compared with each other, and the names in
-- the first are broken at blanks.
function M.table(columns, rows, width, side_by_side, optional)
  local natural, widths, right = {}, {}, {}
  for k, column in ipairs(columns) do
    right[k] = true
    for _, row in ipairs(rows) do right[k] = right[k] and is_number(row[k]) end
    if right[k] then align_points(rows, k) end
    natural[k] = right[k] and 1 or math.min(length(column), shortest_column)
    for _, row in ipairs(rows) do natural[k] = math.max(natural[k], length(row[k] or '')) end
    widths[k] = math.max(natural[k], length(column))
  end
  local header = columns
  if width and measure.total(widths) > width then
    local lists = compared(columns, rows, side_by_side)
    local least = least_widths(columns, lists, natural, right)
    if side_by_side then
      least[1] = 0
      for _, name in ipairs(lists[1]) do least[1] = math.max(least[1], longest_word(name)) end
    end
    local fits = fit(columns, widths, least, natural, width)
    header = fits and short_header(columns, widths)
    if not header then
      return print_without(columns, rows, width, optional) or print_lines(columns, rows, width)
    end
    local short = {}
    for i in ipairs(rows) do short[i] = {} end
    for n, list in ipairs(lists) do
      local narrowest = math.huge
      for _, k in ipairs(list.columns) do narrowest = math.min(narrowest, widths[k]) end
      local texts = shorten(list, narrowest)
      if side_by_side and n == 1 then
        for at, name in ipairs(list) do texts[at] = wrapped(name, narrowest) end
      end
      local of_a_row = side_by_side and n > 1
      for at, text in ipairs(texts) do
        if of_a_row then short[n - 1][list.columns[at]] = text else short[at][list.columns[1]] = text end
      end
    end
    rows = short
  end
  local cells, heads = {}, {}
  for k, text in ipairs(header) do heads[k] = { text, align = right[k] and #rows > 0 and 'right' or 'left' } end
  for i, row in ipairs(rows) do
    cells[i] = {}
    for k in ipairs(columns) do cells[i][k] = row[k] or '' end
  end
  io.write(table_of.new { columns = heads, rows = cells }:text())
end

-- The table as LaTeX.
function M.latex(columns, rows)
  local header = {}
  for k, column in ipairs(columns) do
    local right = #rows > 0
    for _, row in ipairs(rows) do right = right and (row[k] or ''):find '^[%d:.e+-]*$' ~= nil or row[k] == '–' end
    header[k] = { column, align = right and 'right' or 'left' }
  end
  return table_of.new { columns = header, rows = rows }:latex()
end

-- Text wrapped at the width, with `indent` before every line.
function M.wrapped(text, width, indent)
  if text:find '%S' then print(wrapped(text, width, indent)) end
end

-- A command line that a shell parses into these words.
function M.shell_words(words)
  local quoted = {}
  for i, word in ipairs(words) do
    quoted[i] = word:find('^[%w_%-=./,:+@]+$') and word or files.quoted(word)
  end
  return table.concat(quoted, ' ')
end

local row_order = { 'id', 'experiment', 'grid', 'point', 'restart', 'seed', 'status', 'attempts', 'folder',
  'created', 'started', 'finished', 'seconds', 'host', 'pid', 'git', 'command', 'options', 'result', 'message', 'note',
  'tags' }
-- Columns that are written only where a run has them.
local optional = { note = true, tags = true }

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
    local used = not optional[key]
    for _, row in ipairs(used and {} or rows) do used = used or row[key] ~= nil end
    if used and key ~= 'options' and key ~= 'result' and key ~= 'command' then add(key) end
  end
  for _, part in ipairs { 'options', 'result' } do
    local names = {}
    for _, row in ipairs(rows) do
      for name in pairs(row[part] or {}) do names[part .. '.' .. name] = true end
    end
    for _, name in ipairs(tables.keys(names)) do add(name) end
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
  return table_of.new { columns = columns, rows = cells }:csv()
end

return M
