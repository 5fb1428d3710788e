-- Selects the runs of a page by number, folder or filter, and reads their folders. A run is a row of
-- the registry (docs/reference/runs.md) with these additional fields: about = experiment.json, config = config.json,
-- source = the requested folder, or nil.
local completed = require 'pushdown.store.complete'
local files = require 'pushdown.files'
local pd = require 'pushdown'
local runs = require 'pushdown.runs'
local selection = require 'pushdown.runs.selection'

local M = {}

local marks = { ['experiment.json'] = true, ['metrics.jsonl'] = true, ['result.json'] = true }

-- Sorts paths in natural order: size=9 before size=10.
local function counted(paths)
  local keys = {}
  for _, path in ipairs(paths) do
    keys[path] = path:gsub('%d+%.?%d*', function(digits) return ('%024.9f'):format(tonumber(digits)) end)
  end
  table.sort(paths, function(a, b)
    if keys[a] ~= keys[b] then return keys[a] < keys[b] end
    return a < b
  end)
  return paths
end

-- The run folders in a folder and below it, or the folder alone if it is a run folder itself.
local function run_folders(folder)
  for name in pairs(marks) do
    if pd.file.kind(folder .. '/' .. name) == 'file' then return { folder } end
  end
  local found, known = {}, {}
  for _, path in ipairs(files.find(folder, '/[^/]+%.jsonl?$')) do
    local below, name = path:match('^(.*)/([^/]+)$')
    if marks[name] and not known[below] then
      known[below] = true
      found[#found + 1] = folder .. '/' .. below
    end
  end
  return counted(found)
end

-- Fills in fields that the registry does not have from the files of the run folder.
local function complete(row)
  row.about, row.config = completed(row)
  if row.status == 'running' and pd.process.locked(row.folder) == false then row.status = 'lost' end
  row.status = row.status or row.result and 'done' or pd.process.locked(row.folder) and 'running' or 'unfinished'
  return row
end

-- gather.files(run, pattern) -> sorted names of the files directly in its folder that match the Lua pattern.
function M.files(row, pattern)
  row.files = row.files or files.find(row.folder, '^[^/]+$')
  local names = {}
  for _, name in ipairs(row.files) do
    if name:match(pattern) then names[#names + 1] = name end
  end
  return names
end

local function is_restart(folder) return folder:match('/restart%-%d+$') ~= nil end

-- The runs of one requested folder.
local function of_folder(word)
  local folder = #word > 1 and word:gsub('/+$', '') or word
  local kind = pd.file.kind(folder)
  if kind == 'link' then
    folder = pd.file.real_path(folder)
    kind = pd.file.kind(folder)
  end
  if kind ~= 'folder' then
    error(kind and ("'%s' is a file; expected a number of the registry or a folder"):format(word)
      or ("there is no folder '%s'; expected a number of the registry or a folder"):format(word), 0)
  end
  local found = run_folders(folder)
  if #found == 0 then
    error(("there is no run in '%s': a run folder has experiment.json, metrics.jsonl or result.json"):format(word), 0)
  end
  local rows = {}
  for i, path in ipairs(found) do
    local read, record = pcall(pd.registry.record, path)
    local row = read and record or {}
    row.folder, row.source = path, word
    if not row.point and is_restart('/' .. path) then
      local point = pd.file.real_path(path):match('([^/]+)/[^/]+$')
      local below = path:sub(#folder + 2):gsub('/?restart%-%d+$', '')
      row.point = below ~= '' and below or point
    end
    rows[i] = complete(row)
  end
  return rows
end

-- Leaves out runs of scripts that trained nothing themselves, such as the tables of a grid, if other runs trained.
local function trained_ones(rows)
  local kept, left_out = {}, {}
  for _, row in ipairs(rows) do
    local trained = pd.file.kind(row.folder .. '/metrics.jsonl') == 'file'
    table.insert((trained or row.point or not row.source) and kept or left_out, row)
  end
  if #kept == 0 then return rows, {} end
  return kept, left_out
end

-- gather.runs(options, path of the registry) -> runs, folders left out.
function M.runs(options, path)
  local rows, numbers = {}, {}
  local filtered = selection.filtered(options)
  if #options.words == 0 and not filtered then
    selection.fail('which runs? pushdown report RUN... -o report.html: numbers of the registry or folders')
  end
  if #options.words > 0 and filtered then selection.fail('choose runs by name or by filters, not both') end
  local seen = {}
  local function add(list)
    for _, row in ipairs(list) do
      local real = pd.file.real_path(row.folder)
      if not seen[real] then
        seen[real] = true
        rows[#rows + 1] = row
      end
    end
  end
  if filtered then
    local found = runs.find(selection.filter(options), path)
    for _, row in ipairs(found) do complete(row) end
    add(found)
    if #rows == 0 then error('no run matches', 0) end
  end
  for _, word in ipairs(options.words) do
    if word:match('^%d+$') then
      numbers[1] = tonumber(word)
      local found = selection.numbered(numbers, path)
      for _, row in ipairs(found) do complete(row) end
      add(found)
    else
      add(of_folder(word))
    end
  end
  return trained_ones(rows)
end

return M
