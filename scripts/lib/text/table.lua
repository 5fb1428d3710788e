-- Tables as text: aligned for the terminal, Markdown, CSV and LaTeX.
local files = require 'pushdown.files'
local latex = require 'pushdown.text.latex'
local measure = require 'pushdown.text.measure'
local pd = require 'pushdown'
local trim = require 'pushdown.text.trim'
local wrapped = require 'pushdown.text.wrapped'

local M = {}

local Table = {}
Table.__index = Table

local function cell_text(value, column)
  if value == nil then return '' end
  if type(value) ~= 'number' then return tostring(value) end
  if value ~= value then return '–' end
  if value == math.huge or value == -math.huge then return value > 0 and '∞' or '−∞' end
  if column.format then return column.format:format(value) end
  return value == math.floor(value) and ('%.0f'):format(value) or ('%.6g'):format(value)
end

local options_of = pd._options.declare('report.table', {
  { 'columns', nil, "names, or tables {name, format = '%.4f', align = 'left' or 'right'}; numbers are right-aligned by "
    .. 'default', type = 'table', required = true },
  { 'rows', nil, 'lists, or tables by column name; NaN is shown as a dash', type = 'table', required = true },
  { 'title', nil, 'text above the table', type = 'text' },
  { 'note', nil, 'text below the table', type = 'text' },
})

-- table.new(options) -> Table: report.table.
function M.new(options)
  local given = options_of(options)
  local self = setmetatable({ columns = {}, rows = {}, title = given.title, note = given.note }, Table)
  for i, column in ipairs(given.columns) do
    column = type(column) == 'table' and column or { column }
    self.columns[i] = { name = column[1] or column.name, format = column.format, align = column.align }
  end
  for i, row in ipairs(given.rows) do
    local cells = {}
    for k, column in ipairs(self.columns) do
      local value = row[k]
      if value == nil then value = row[column.name] end
      cells[k] = value
      if type(value) == 'number' and not column.align then column.align = 'right' end
    end
    self.rows[i] = cells
  end
  return self
end

-- The cells as text, the header first, and the width of each column.
local function layout(self)
  local lines, widths = { {} }, {}
  for k, column in ipairs(self.columns) do
    lines[1][k] = column.name
    widths[k] = measure.longest_line(column.name)
  end
  for i, row in ipairs(self.rows) do
    lines[i + 1] = {}
    for k, column in ipairs(self.columns) do
      lines[i + 1][k] = cell_text(row[k], column)
      widths[k] = math.max(widths[k], measure.longest_line(lines[i + 1][k]))
    end
  end
  return lines, widths
end

local function padded(text, width, align)
  local blanks = (' '):rep(math.max(0, width - measure.length(text)))
  return align == 'right' and blanks .. text or text .. blanks
end

-- Returns the displayed cells as a list of rows, the header first.
function Table:cells() return (layout(self)) end

-- Appends a row to `out`, with cells of several lines where they are wider than their columns; `low` aligns their last
-- lines instead of their first ones.
local function add_row(out, cells, widths, columns, low)
  local parts, height = {}, 1
  for k, cell in ipairs(cells) do
    parts[k] = {}
    if measure.longest_line(cell) > widths[k] then cell = wrapped(cell, widths[k]) end
    for line in (cell .. '\n'):gmatch '(.-)\n' do table.insert(parts[k], line) end
    height = math.max(height, #parts[k])
  end
  for i = 1, height do
    local line = {}
    for k, part in ipairs(parts) do
      line[k] = padded(part[low and i - height + #part or i] or '', widths[k], columns[k].align)
    end
    out[#out + 1] = trim.right(table.concat(line, '  '))
  end
end

-- The table as aligned columns below a header and a rule. If it is wider than `width`, names of columns and texts are
-- broken at blanks.
function Table:text(width)
  local lines, widths = layout(self)
  local out = {}
  if width then
    local least = {}
    for k in ipairs(widths) do
      least[k] = 1
      for _, cells in ipairs(lines) do least[k] = math.max(least[k], measure.longest_word(cells[k])) end
    end
    measure.narrow(widths, least, width)
  end
  for i, cells in ipairs(lines) do
    add_row(out, cells, widths, self.columns, i == 1)
    if i == 1 then out[#out + 1] = ('-'):rep(measure.total(widths)) end
  end
  if self.title then table.insert(out, 1, self.title) end
  if self.note then out[#out + 1] = self.note end
  return table.concat(out, '\n') .. '\n'
end

function Table:markdown()
  local lines, widths = layout(self)
  local out = {}
  for i, cells in ipairs(lines) do
    local parts = {}
    for k, cell in ipairs(cells) do
      parts[k] = padded((cell:gsub('|', '\\|')), widths[k], self.columns[k].align)
    end
    out[#out + 1] = '| ' .. table.concat(parts, ' | ') .. ' |'
    if i == 1 then
      for k, width in ipairs(widths) do
        parts[k] = ('-'):rep(width + 1) .. (self.columns[k].align == 'right' and ':' or '-')
      end
      out[#out + 1] = '|' .. table.concat(parts, '|') .. '|'
    end
  end
  if self.note then out[#out + 1] = '\n' .. self.note end
  return table.concat(out, '\n') .. '\n'
end

-- The table as comma-separated values (RFC 4180) with all digits of the numbers; missing values and NaN are empty. The
-- empty field of a single column is "", because readers skip empty lines.
function Table:csv()
  local empty = #self.columns == 1 and '""' or ''
  local function field(value)
    if value == nil or value ~= value or value == '' then return empty end
    local text = tostring(value)
    if type(value) == 'number' then text = ('%.17g'):format(value) end
    if type(value) == 'number' and tonumber(('%.15g'):format(value)) == value then
      text = ('%.15g'):format(value)
    end
    return text:find('[",\r\n]') and '"' .. text:gsub('"', '""') .. '"' or text
  end
  local out, names = {}, {}
  for k, column in ipairs(self.columns) do names[k] = field(column.name) end
  out[1] = table.concat(names, ',')
  for _, row in ipairs(self.rows) do
    local parts = {}
    for k in ipairs(self.columns) do parts[k] = field(row[k]) end
    out[#out + 1] = table.concat(parts, ',')
  end
  return table.concat(out, '\n') .. '\n'
end

-- A number gets a minus sign instead of a hyphen.
local function latex_text(text)
  if tonumber(text) then return (text:gsub('^%-', '$-$'):gsub('e%+?(%-?)0*(%d+)$', '$\\cdot 10^{%1%2}$')) end
  return latex.text(text)
end

-- The table as LaTeX: a tabular for the package booktabs, with the title as a comment above it and the note below.
function Table:latex()
  local lines = layout(self)
  local out, align, widths = {}, {}, {}
  for _, cells in ipairs(lines) do
    for k, cell in ipairs(cells) do
      cells[k] = latex_text(cell)
      widths[k] = math.max(widths[k] or 0, measure.length(cells[k]))
    end
  end
  for k, column in ipairs(self.columns) do align[k] = column.align == 'right' and 'r' or 'l' end
  if self.title then out[1] = '% ' .. self.title:gsub('%c', ' ') end
  out[#out + 1] = ('\\begin{tabular}{%s}'):format(table.concat(align))
  out[#out + 1] = '\\toprule'
  for i, cells in ipairs(lines) do
    local parts = {}
    for k, cell in ipairs(cells) do parts[k] = padded(cell, widths[k], self.columns[k].align) end
    out[#out + 1] = trim.right(table.concat(parts, ' & ')) .. ' \\\\'
    if i == 1 then out[#out + 1] = '\\midrule' end
  end
  out[#out + 1] = '\\bottomrule'
  out[#out + 1] = '\\end{tabular}'
  if self.note then out[#out + 1] = '% ' .. self.note:gsub('%c', ' ') end
  return table.concat(out, '\n') .. '\n'
end

-- Writes path.txt, path.md, path.csv and path.tex.
function Table:save(path)
  files.write(path .. '.txt', self:text())
  files.write(path .. '.md', self:markdown())
  files.write(path .. '.csv', self:csv())
  files.write(path .. '.tex', self:latex())
end

function Table.__tostring(self) return self:text() end

return M
