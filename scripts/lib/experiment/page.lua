-- The page of a run: index.html in the run folder has the figures and tables in the order in which
-- they were made, the exact command and the whole configuration. The file is self-contained and
-- prints well in black and white.
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local tables = require 'pushdown.tables'
local policy = require 'pushdown.text.policy'
local svg = require 'pushdown.plot.svg'

local M = {}

local style = [[
body { font: 15px/1.45 Helvetica, Arial, 'Liberation Sans', sans-serif; color: #222; margin: 2em auto;
  max-width: 60em; padding: 0 1em; }
h1 { font-size: 1.5em; margin-bottom: 0.2em; } h2 { font-size: 1.1em; margin-top: 2em; }
table { border-collapse: collapse; margin: 1em 0; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2em 0.8em; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; }
th { border-bottom: 1px solid #222; } td.number, th.number { text-align: right; }
figure { margin: 1.5em 0; } figure svg { max-width: 100%; height: auto; }
.smaller { border: 2px solid #d1495b; padding: 0.5em 1em; } code { overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
@media print { h2, figure, tr { break-inside: avoid; } }
]]

local escape = svg.escape

-- Rows of {cells} as an HTML table; the first row is the header. numeric = set of columns.
local function table_of(lines, numeric)
  local out = { '<div class="wide"><table>' }
  for i, cells in ipairs(lines) do
    local kind, parts = i == 1 and 'th' or 'td', {}
    for k, cell in ipairs(cells) do
      parts[k] = ('<%s%s>%s</%s>'):format(kind, numeric[k] and ' class="number"' or '', escape(cell), kind)
    end
    out[#out + 1] = '<tr>' .. table.concat(parts) .. '</tr>'
  end
  out[#out + 1] = '</table></div>'
  return table.concat(out, '\n')
end

-- A table of report.table.
function M.table(made)
  local lines, numeric = made:cells(), {}
  for k, column in ipairs(made.columns) do numeric[k] = column.align == 'right' end
  return (made.title and '<p>' .. escape(made.title) .. '</p>\n' or '') .. table_of(lines, numeric)
    .. (made.note and '\n<p>' .. escape(made.note) .. '</p>' or '')
end

-- A picture of pushdown.plot.
function M.figure(picture)
  return '<figure>' .. picture:gsub('^<%?xml.-%?>%s*', '') .. '</figure>'
end

local function option_rows(configuration)
  local rows = { { 'option', 'value' } }
  for _, name in ipairs(tables.keys(configuration.options or {})) do
    local value = configuration.options[name]
    rows[#rows + 1] = { name, type(value) == 'string' and value or json.encode(value) }
  end
  return rows
end

-- page.write(path, configuration, parts, smaller): configuration is that of experiment.json; parts are HTML
-- fragments from page.table and page.figure; smaller describes the differences from the full run, or is nil.
function M.write(path, configuration, parts, smaller)
  local words = { configuration.script or 'pushdown' }
  for _, word in ipairs(configuration.command_line or {}) do words[#words + 1] = word end
  local out = { '<!DOCTYPE html>', '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">', policy({ style }, {}),
    '<title>' .. escape(configuration.experiment) .. '</title>', '<style>' .. style .. '</style></head><body>',
    '<h1>' .. escape(configuration.experiment) .. '</h1>', '<p>' .. escape(configuration.doc or '') .. '</p>' }
  if smaller then out[#out + 1] = '<p class="smaller">' .. escape(smaller) .. '</p>' end
  for _, part in ipairs(parts) do out[#out + 1] = part end
  out[#out + 1] = '<h2>How it was made</h2>'
  out[#out + 1] = '<p><code>pushdown ' .. escape(table.concat(words, ' ')) .. '</code></p>'
  out[#out + 1] = ('<p>Started %s, version %s, source %s.</p>'):format(escape(configuration.started or '?'),
    escape(configuration.version or '?'), escape(configuration.git or 'unknown'))
  out[#out + 1] = table_of(option_rows(configuration), {})
  out[#out + 1] = '</body></html>'
  files.write(path, table.concat(out, '\n') .. '\n')
end

return M
