-- `pushdown runs list` and `pushdown runs show`: the rows of the registry as a table, and all data of a run.
local files = require 'pushdown.files'
local layout = require 'pushdown.runs.layout'
local runs = require 'pushdown.runs'
local selection = require 'pushdown.runs.selection'
local tables = require 'pushdown.tables'
local visible = require 'pushdown.text.visible'

local M = {}

function M.list(options, path, width)
  local filter = selection.filter(options)
  filter.sort, filter.limit = options.sort, options.limit
  filter.descending = options.descending or not options.sort
  local rows = runs.find(filter, path)
  if options.json then return visible.data(layout.json(rows)) end
  if options.csv then return visible.data(layout.csv(rows)) end
  if #rows == 0 then return selection.say_nothing(path, options) end
  local wanted, chosen = options.columns, #options.columns > 0
  if not chosen then
    wanted = { 'id', 'run', 'point', 'restart', 'status', 'seconds', selection.shared_metric(rows) }
    if (width or 80) >= 80 then table.insert(wanted, 6, 'started') end
    wanted[#wanted + 1] = 'tags'
    wanted[#wanted + 1] = 'note'
  end
  local columns, cells = {}, {}
  for i in ipairs(rows) do cells[i] = {} end
  for _, column in ipairs(wanted) do
    local used = chosen
    local values = {}
    for i, row in ipairs(rows) do
      local value = column == 'run' and (row.grid or row.experiment or row.folder) or runs.value(row, column)
      values[i] = layout.field(column, value) or ''
      used = used or values[i] ~= ''
    end
    if used then
      columns[#columns + 1] = column == 'seconds' and 'time' or column:gsub('_', ' ')
      for i in ipairs(rows) do cells[i][#columns] = values[i] end
    end
  end
  if options.latex then return visible.data(layout.latex(columns, cells)) end
  layout.table(columns, cells, width, false, not chosen and { 'note', 'tags', 'started' } or nil)
end

local function sorted_pairs_text(values)
  local lines = {}
  for i, key in ipairs(tables.keys(values)) do
    lines[i] = ('  %s = %s'):format(layout.value(key), layout.value(values[key]))
  end
  return lines
end

local function show_one(row, width)
  print(('Run %d: %s%s'):format(row.id, layout.value(row.grid or row.experiment or row.folder),
    row.point and (', %s, restart %s'):format(layout.value(row.point), layout.value(row.restart)) or ''))
  local note = row.status == 'lost' and ' (its process ended without a record)' or ''
  print(('  %s%s, %d attempt%s'):format(row.status, note, row.attempts, row.attempts == 1 and '' or 's'))
  for _, key in ipairs { 'experiment', 'grid', 'seed', 'folder', 'created', 'started', 'finished', 'seconds',
    'host', 'pid', 'git' } do
    local text = layout.field(key, row[key])
    if text and text ~= '' then print(('  %-12s%s'):format(key == 'seconds' and 'time' or key, text)) end
  end
  if row.command then
    print 'command'
    layout.wrapped(layout.shell_words(row.command), width, '  ')
  end
  for _, part in ipairs { 'options', 'result' } do
    if row[part] and next(row[part]) then
      print(part)
      print(table.concat(sorted_pairs_text(row[part]), '\n'))
    end
  end
  if row.tags then print('tags\n  ' .. layout.value(row.tags)) end
  if row.note then print('note\n  ' .. row.note:gsub('\n', '\n  ')) end
  if row.message then print('message\n  ' .. row.message:gsub('\n', '\n  ')) end
  if files.exists(row.folder .. '/output.log') then print('log\n  ' .. layout.value(row.folder) .. '/output.log') end
end

function M.show(options, path, width)
  if #options.words == 0 then
    selection.fail('which run? pushdown runs show ID; pushdown runs list shows the numbers')
  end
  local rows = selection.numbered(selection.ids(options.words), path)
  if options.json then return visible.data(layout.json(rows)) end
  if options.csv then return visible.data(layout.csv(rows)) end
  for i, row in ipairs(rows) do
    if i > 1 then print() end
    show_one(row, width)
  end
end

return M
