-- Records of finished runs: CSV files in the repository, docs/results/<paper>/runs.csv, with a row for each run.
-- FILE-defaults.csv has the options that are not in the rows. `pushdown runs gather` writes records, and with
-- --recorded a grid takes over their runs. See docs/reference/records.md.
local csv = require 'pushdown.csv'
local declared_of = require 'pushdown.record.declared'
local files = require 'pushdown.files'
local folder_of = require 'pushdown.record.folder'
local json = require 'pushdown.json'
local options_of = require 'pushdown.grid.options'
local pd = require 'pushdown'
local store = require 'pushdown.store.folder'
local tables = require 'pushdown.tables'
local table_of = require 'pushdown.text.table'

local M = {}

local function defaults_path(path) return path:gsub('%.csv$', '') .. '-defaults.csv' end

-- Entries with the same place are the same run if their options agree.
local function place_of(entry)
  local fields = entry.fields
  return table.concat({ fields.grid, fields.point, ('%9d'):format(tonumber(fields.restart)), fields.seed }, '\0')
end

-- Returns whether the options agree. An option that only one entry has is newer than the other's run, which had the
-- default, if that is known.
local function agree(one, other, declared)
  local function covers(a, b)
    for name, value in pairs(a) do
      local counterpart = b[name]
      if counterpart == nil then counterpart = declared and declared[name] end
      if counterpart == nil or not options_of.same(value, counterpart) then return false end
    end
    return true
  end
  return covers(one, other) and covers(other, one)
end

local Record = {}
Record.__index = Record

-- record.open(path) -> Record: {path =, columns = names, entries = {[place] = list of entries}}. It has no entries if
-- the file does not exist, which is an error with must_exist = true.
function M.open(path, must_exist)
  local self = setmetatable({ path = path, columns = {}, entries = {} }, Record)
  if not files.exists(path) then
    if must_exist then error(("[record.open] there is no record '%s'"):format(path), 0) end
    return self
  end
  local defaults = {}
  for _, row in ipairs(select(2, csv.read(defaults_path(path)))) do defaults[row.key] = row.options end
  local columns, rows = csv.read(path)
  self.columns = columns
  for i, row in ipairs(rows) do
    if not defaults[row.defaults] then
      error(("[record.open] %s: row %d: the defaults '%s' are not in %s"):format(path, i, row.defaults,
        defaults_path(path)), 0)
    end
    local options = json.decode(defaults[row.defaults])
    for name, value in pairs(json.decode(row.options)) do options[name] = value end
    local entry = { fields = row, options = options, defaults = defaults[row.defaults] }
    local other = self:same(entry)
    if other and M.difference(other, entry) then
      error(('[record.open] %s has two different rows for %s %s restart %s: %s'):format(path, row.grid, row.point,
        row.restart, M.difference(other, entry)), 0)
    end
    if not other then self:add(entry) end
  end
  return self
end

-- Columns about where and how fast a run was made, not about its results.
local circumstances = { commit = true, version = true, processor = true, torch = true, date = true, seconds = true,
  options = true, defaults = true, curve = true, series = true }

-- record.difference(one, other) -> "name is A and B" for the first number in which two entries differ, or nil.
function M.difference(one, other)
  local names = {}
  for _, entry in ipairs { one, other } do
    for name in pairs(entry.fields) do names[name] = true end
  end
  for _, name in ipairs(tables.keys(names)) do
    local a, b = one.fields[name] or '', other.fields[name] or ''
    if not circumstances[name] and a ~= b then return ('%s is %s and %s'):format(name, a, b) end
  end
end

-- The entry of the same run and its index among the entries of its place, or nil.
function Record:same(entry)
  for i, other in ipairs(self.entries[place_of(entry)] or {}) do
    if agree(other.options, entry.options, entry.declared) then return other, i end
  end
end

function Record:add(entry)
  local place = place_of(entry)
  self.entries[place] = self.entries[place] or {}
  table.insert(self.entries[place], entry)
end

-- Adds an entry of record/folder.lua, or replaces the entry of the same run. keys: the keys of its result, which become
-- columns.
function Record:put(entry, keys)
  local known = {}
  if #self.columns == 0 then
    for _, list in ipairs { folder_of.first, folder_of.last } do
      for _, name in ipairs(list) do self.columns[#self.columns + 1] = name end
    end
  end
  for _, name in ipairs(self.columns) do known[name] = true end
  for _, key in ipairs(keys) do
    if not known[key] then table.insert(self.columns, #self.columns - #folder_of.last + 1, key) end
  end
  local _, number = self:same(entry)
  if number then
    self.entries[place_of(entry)][number] = entry
  else
    self:add(entry)
  end
end

-- Sets the option fields of a new entry: the options given on the command line, and the key of all others. Today's
-- defaults complete the others, so that different models share them.
local function split(entry)
  local given, defaults = {}, {}
  for name, value in pairs(entry.declared) do defaults[name] = value end
  for name, value in pairs(entry.options) do
    if entry.given[name] then given[name] = value else defaults[name] = value end
  end
  entry.defaults, entry.fields.options = json.encode(defaults), json.encode(given)
  entry.fields.defaults = ('%08x'):format(options_of.seed('defaults', entry.defaults, 0))
end

local function replace_file(path, text)
  local writer = pd.file.writer(path)
  writer:write(text)
  writer:commit()
end

-- Writes the record, sorted by grid, point and restart; each of the two files is replaced atomically.
function Record:save()
  local rows, used, defaults = {}, {}, {}
  for _, place in ipairs(tables.keys(self.entries)) do
    table.sort(self.entries[place], function(a, b) return json.encode(a.options) < json.encode(b.options) end)
    for _, entry in ipairs(self.entries[place]) do
      if not entry.defaults then split(entry) end
      rows[#rows + 1], used[entry.fields.defaults] = entry.fields, entry.defaults
    end
  end
  for key, options in pairs(used) do defaults[#defaults + 1] = { key, options } end
  table.sort(defaults, function(a, b) return a[1] < b[1] end)
  local folder = self.path:match('^(.*)/')
  if folder then files.make_folder(folder) end
  replace_file(defaults_path(self.path), table_of.new({ columns = { 'key', 'options' }, rows = defaults }):csv())
  replace_file(self.path, table_of.new({ columns = self.columns, rows = rows }):csv())
end

-- ---- Taking runs over ----

local function entry_for(run, entries)
  local place = place_of { fields = { grid = run.grid, point = run.point, restart = run.restart, seed = run.seed } }
  if #run.flags > 0 or not entries[place] then return nil end
  local declared = declared_of(run.script).full
  local wanted = {}
  for _, part in ipairs { declared, run.options } do
    for name, value in pairs(part) do wanted[name] = value end
  end
  for _, entry in ipairs(entries[place]) do
    if agree(entry.options, wanted, declared) then return entry end
  end
end

-- record.take_over(list, path) -> text: makes the folders of unfinished runs of a grid (of grid.run) that the record
-- contains. Without a path, or if the record does not have the run with these options, it removes a run taken over
-- earlier. `recorded` of a run is then the commit at which it was made. The text gives the number of these runs and
-- their commits; it is nil if there are none.
function M.take_over(list, path)
  local record = path and M.open(path, true)
  local entries = record and record.entries or {}
  local commits, count = {}, 0
  for _, run in ipairs(list) do
    local made = store.read_json(run.folder .. '/experiment.json')
    local before = made and made.recorded
    local entry = (before or not files.exists(run.folder .. '/result.json')) and entry_for(run, entries)
    local lock = (entry or before) and pd.process.lock(run.folder)
    if lock and entry then
      folder_of.write(run.folder, entry, record.columns, path)
      run.recorded = entry.fields.commit
    elseif lock then
      folder_of.clear(run.folder, made.experiment)
    end
    if lock then lock:release() end
    if run.recorded then
      local commit = run.recorded ~= '' and run.recorded or 'unknown'
      count, commits[commit] = count + 1, (commits[commit] or 0) + 1
    end
  end
  if count == 0 then return nil end
  local parts = {}
  for commit, number in pairs(commits) do parts[#parts + 1] = ('%s (%d)'):format(commit, number) end
  table.sort(parts)
  return ('%d of %d runs come from the record, made at commit %s.'):format(count, #list, table.concat(parts, ', '))
end

return M
