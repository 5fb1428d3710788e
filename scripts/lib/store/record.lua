-- The records of runs: a row in the registry for every run, and the locks of run folders.
local folder_of = require 'pushdown.store.folder'
local pd = require 'pushdown'
local provenance = require 'pushdown.store.provenance'
local tables = require 'pushdown.tables'

local M = {}

-- The path of the registry, or nil if runs are not recorded.
function M.path()
  local path = os.getenv 'PUSHDOWN_REGISTRY'
  if path == 'off' then return nil end
  return path and path ~= '' and path or 'runs/registry.sqlite'
end

-- runs.open(path, options) -> Registry: opens the registry at the path, by default runs.path().
function M.open(path, options) return pd.registry.open(path or M.path(), options) end

-- The command line without the options that only apply to a worker of a grid, so that it can be used again.
function M.plain_command(words)
  local kept, at = {}, 1
  while at <= #words do
    if words[at] == '--exit-with-parent' then at = at + 1 else kept[#kept + 1] = words[at] end
    at = at + 1
  end
  return kept
end

local Record = {}
Record.__index = Record

local open_records, held = {}, {}  -- by folder: records, and locks of folders without a record
local longest_message = 4000
local open_file = io.open  -- an experiment replaces it

local function warn_unless(ok, problem)
  if not ok then pd.log.warn('this run is not recorded: ' .. tostring(problem)) end
  return ok
end

-- Returns whether a grid has locked the folder for its worker.
local function inherited(folder) return os.getenv 'PUSHDOWN_RUN_LOCK' == folder end

-- record.hold(folder): locks a run folder for this process, before anything in it is read or changed. Raises an error
-- if another process holds the lock.
function M.hold(folder)
  if open_records[folder] or held[folder] or inherited(folder) then return end
  held[folder] = pd.process.lock(folder)
  if not held[folder] then error(('[runs.record] another process uses %s'):format(folder), 0) end
end

-- record.covers(folder): whether the folder is, or is inside, the folder of a run that this process has open.
function M.covers(folder)
  local path = pd.file.real_path(folder) .. '/'
  for open, record in pairs(open_records) do
    local above = pd.file.real_path(open) .. '/'
    if path:sub(1, #above) == above and not (record.training and path == above) then return true end
  end
  return false
end

-- A program that starts this one names in PUSHDOWN_RUN_LIST a file in which it finds the folders of the runs that this
-- process begins or continues, each with a zero byte behind it.
local function list_for_parent(folder)
  local path = os.getenv 'PUSHDOWN_RUN_LIST'
  local list = path and not inherited(folder) and open_file(path, 'ab')
  if not list then return end
  list:write(pd.file.real_path(folder), '\0')
  list:close()
end

local fields_of = pd._options.declare('runs.record', {
  { 'folder', nil, 'the run folder', type = 'text', required = true },
  { 'experiment', nil, 'its name', type = 'text' },
  { 'grid', nil, 'the name of the grid', type = 'text' },
  { 'point', nil, 'the point of the grid', type = 'text' },
  { 'restart', nil, 'the number of the restart', type = 'integer' },
  { 'seed', nil, 'the random seed', type = 'integer' },
  { 'options', nil, 'all options', type = 'table' },
  { 'command', nil, 'the words of the command line', type = 'list of texts' },
  { 'git', nil, 'the state of the repository', type = 'text' },
  { 'training', nil, 'for a trainer that no experiment declared: its run is interrupted if the process ends first',
    type = 'boolean' },
})

-- runs.record{options} -> Record: locks the folder for this process and enters the run in the registry. Raises an error
-- if another process holds the lock. If the registry cannot be written, there is only a warning.
function M.record(given)
  local fields = fields_of(given)
  local known = open_records[fields.folder]
  local record = known or setmetatable({ folder = fields.folder }, Record)
  -- The trainer of a training keeps other processes out itself.
  if fields.training then pcall(M.hold, fields.folder) else M.hold(fields.folder) end
  record.training = fields.training
  record.lock, held[fields.folder] = record.lock or held[fields.folder], nil
  open_records[fields.folder], record.ended = record, nil
  if not known then list_for_parent(fields.folder) end
  local row = tables.merged({ host = pd.process.host(), pid = pd.process.pid() }, fields)
  row.training = nil
  if not M.path() then return record end
  warn_unless(pcall(function()
    record.registry = record.registry or M.open()
    if inherited(row.folder) or known and not known.ended then
      row.status = 'running'
      record.id = record.registry:add({ { folder = row.folder } })[1].id
      record.registry:update(record.id, row)
    else
      record.id = record.registry:begin(row)
    end
  end))
  return record
end

-- record:finish{status=, result=, message=, seconds=}: records the end of the run. The default status is 'done', and
-- the default result is the one in the run folder.
function Record:finish(fields)
  self.ended = true
  if not self.id then return end
  local ended = tables.merged({ status = 'done', result = folder_of.result(self.folder) }, fields)
  if ended.message then ended.message = pd._text.clean(ended.message:sub(1, longest_message)) end
  if not ended.seconds and ended.result then ended.seconds = tonumber(ended.result.seconds) end
  warn_unless(pcall(self.registry.finish, self.registry, self.id, ended))
end

-- record:update(fields): replaces fields of the run's row.
function Record:update(fields)
  if self.id then warn_unless(pcall(self.registry.update, self.registry, self.id, fields)) end
end

-- Finishes all open records at the end of the process or script. The shell calls it. record.interrupted is the message
-- of a record that an interrupt ends.
function M.close(status, message)
  for folder, record in pairs(open_records) do
    if not record.training then pcall(provenance.update, folder) end
    if not record.ended then
      -- An unfinished training can be resumed later.
      local ended = record.training and status == 'done' and 'interrupted' or status
      record:finish { status = ended, message = message }
    elseif status ~= 'done' and record.id then  -- it failed after it had its result
      message = message and pd._text.clean(message:sub(1, longest_message))
      warn_unless(pcall(record.registry.update, record.registry, record.id, { status = status, message = message }))
    end
    if status == 'interrupted' and record.interrupted then io.stderr:write(record.interrupted, '\n') end
    if record.lock then record.lock:release() end
    open_records[folder] = nil
  end
end

return M
