-- `pushdown runs export`: rows of the registry, or the epochs of their trainings, as CSV or JSON, or as files of
-- TensorBoard and Weights & Biases.
local histories = require 'pushdown.runs.history'
local json = require 'pushdown.json'
local layout = require 'pushdown.runs.layout'
local mirror = require 'pushdown.mirror.files'
local pd = require 'pushdown'
local selection = require 'pushdown.runs.selection'
local table_of = require 'pushdown.text.table'
local visible = require 'pushdown.text.visible'

local identity = { 'id', 'experiment', 'grid', 'point', 'restart', 'seed', 'status' }
local first_columns = { 'epoch', 'updates', 'stage', 'symbols' }

-- The destination of the text: write(text) and finish().
local function sink(path)
  if not path then return visible.data, function() end end
  local out = pd.file.writer(path)
  return function(text) out:write(text) end, function() out:commit() end
end

-- Columns for the epochs of all runs: the fields of the run first, then the metrics by name. The files are read once
-- for the names and again for the numbers, so that histories of any length fit into memory.
local function epoch_columns(rows)
  local known, names, count = { event = true }, {}, 0
  for _, name in ipairs(first_columns) do known[name] = true end
  for _, row in ipairs(rows) do
    histories.each(row.folder, function(entry)
      if entry.event ~= 'epoch' then return end
      count = count + 1
      for key in pairs(entry) do
        if not known[key] then known[key], names[#names + 1] = true, key end
      end
    end)
  end
  table.sort(names)
  local columns = {}
  for _, name in ipairs(first_columns) do columns[#columns + 1] = name end
  for _, name in ipairs(names) do columns[#columns + 1] = name end
  return columns, count
end

local function history_csv(rows, write)
  local columns, count = epoch_columns(rows)
  local header, own = {}, {}
  for _, name in ipairs(identity) do header[#header + 1], own[name] = name, true end
  -- A metric with the name of a column of the run gets a prefix.
  for _, name in ipairs(columns) do header[#header + 1] = own[name] and 'epoch_' .. name or name end
  write(table_of.new { columns = header, rows = {} }:csv())
  for _, row in ipairs(rows) do
    local lines = {}
    histories.each(row.folder, function(entry)
      if entry.event ~= 'epoch' then return end
      local line = {}
      for k, name in ipairs(identity) do line[k] = row[name] end
      for k, name in ipairs(columns) do
        local value = entry[name]
        if type(value) == 'boolean' then value = tostring(value) end
        line[#identity + k] = value
      end
      lines[#lines + 1] = line
    end)
    if #lines > 0 then
      local text = table_of.new { columns = header, rows = lines }:csv()
      write((text:gsub('^[^\n]*\n', '')))
    end
  end
  return count
end

local function history_json(rows, write)
  local count = 0
  write '['
  for _, row in ipairs(rows) do
    histories.each(row.folder, function(entry)
      if entry.event ~= 'epoch' then return end
      entry.event = nil
      local line, order = {}, {}
      for key, value in pairs(entry) do line[key] = value end
      for _, name in ipairs(identity) do
        if row[name] ~= nil then line[line[name] ~= nil and 'run_' .. name or name] = row[name] end
        order[#order + 1] = name
      end
      for _, name in ipairs(first_columns) do order[#order + 1] = name end
      write((count == 0 and '\n' or ',\n') .. json.encode(json.ordered(line, order)))
      count = count + 1
    end)
  end
  write(count == 0 and ']\n' or '\n]\n')
  return count
end

local counted = pd.tables.counted

-- Files of another program for every run that was trained.
local function export_files(kind, folder, rows, path)
  local epochs, written = 0, 0
  for _, row in ipairs(rows) do
    if histories.each(row.folder, function() end) then
      epochs = epochs + mirror.export({ kind = kind, folder = folder }, row, path)
      written = written + 1
    end
  end
  print(('%s: %s of %s%s'):format(folder, counted(epochs, 'epoch'), counted(written, 'run'),
    written < #rows and ('; %s without a metrics.jsonl left out'):format(counted(#rows - written, 'run')) or ''))
end

-- export(options, path of the registry)
return function(options, path)
  for _, kind in ipairs(mirror.kinds) do
    if options[kind] then
      for _, other in ipairs { 'csv', 'json', 'history', 'output', kind == 'wandb' and 'tensorboard' or nil } do
        if options[other] then selection.fail('--%s and --%s exclude each other', kind, other) end
      end
    end
  end
  for _, kind in ipairs(mirror.kinds) do
    if options[kind] then return export_files(kind, options[kind], selection.rows(options, path), path) end
  end
  local format = options.json and 'json' or options.csv and 'csv'
    or (options.output or ''):match('%.(json)$') or 'csv'
  local rows = selection.rows(options, path)
  local write, finish = sink(options.output)
  local count, what = #rows, 'run'
  if options.history then
    count, what = (format == 'json' and history_json or history_csv)(rows, write), 'epoch'
  else
    write(format == 'json' and layout.json(rows) or layout.csv(rows))
  end
  finish()
  if options.output then
    print(('%s: %s%s'):format(options.output, counted(count, what),
      options.history and ' of ' .. counted(#rows, 'run') or ''))
  end
end
