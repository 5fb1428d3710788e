-- The record of runs: every experiment and every point of a grid has a row in a registry, an
-- SQLite file, by default runs/registry.sqlite. PUSHDOWN_REGISTRY names another one, or is 'off'.
--
--   local record = runs.record{ experiment = 'demo', folder = 'runs/demo/1', options = { ... } }
--   record:finish{ result = { loss = 0.1 } }
--
-- pushdown.experiment does this for every script that it starts.
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local pd = require 'pushdown'

local M = {}

-- The path of the registry, or nil when nothing is to be recorded.
function M.path()
  local path = os.getenv 'PUSHDOWN_REGISTRY'
  if path == 'off' then return nil end
  return path and path ~= '' and path or 'runs/registry.sqlite'
end

-- runs.open(path, options) -> Registry
function M.open(path, options) return pd.registry.open(path or M.path(), options) end

-- The table in a JSON file, or nil if there is none or it cannot be read.
function M.read_json(path)
  if not files.exists(path) then return nil end
  local ok, value = pcall(function() return json.decode(files.read(path)) end)
  return ok and type(value) == 'table' and value or nil
end

-- The result that a run left in its folder, or nil.
function M.result(folder) return M.read_json(folder .. '/result.json') end

local metrics = { 'validation_difference', 'cross_entropy_difference', 'validation_cross_entropy',
  'cross_entropy', 'loss' }

-- The number by which results are compared unless told otherwise: its key, or nil.
function M.metric(result)
  for _, key in ipairs(metrics) do
    if type(result[key]) == 'number' then return key end
  end
end

-- ---- Recording ----

local Record = {}
Record.__index = Record

local open_records = {}  -- by folder
local longest_message = 4000

local function warn_unless(ok, problem)
  if not ok then pd.log.warn('this run is not recorded: ' .. tostring(problem)) end
  return ok
end

-- runs.record{folder=, experiment=, options=, ...} -> Record. This process works in the folder from
-- now on: takes its lock, which is an error if another process has it, and enters the run in the
-- registry. The fields are those of a row. A registry that cannot be written costs a warning.
function M.record(fields)
  if type(fields) ~= 'table' or type(fields.folder) ~= 'string' then
    error('[runs.record] expected a table with the folder of the run', 2)
  end
  local known = open_records[fields.folder]
  local record = known or setmetatable({ folder = fields.folder }, Record)
  -- A grid has locked the folder for its worker.
  local inherited = os.getenv 'PUSHDOWN_RUN_LOCK' == fields.folder
  if not known and not inherited then
    record.lock = pd.process.lock(fields.folder)
    if not record.lock then
      error(('[runs.record] another process works in %s'):format(fields.folder), 0)
    end
  end
  open_records[fields.folder], record.ended = record, nil
  local row = { host = pd.process.host(), pid = pd.process.pid() }
  for key, value in pairs(fields) do row[key] = value end
  if not M.path() then return record end
  warn_unless(pcall(function()
    record.registry = record.registry or M.open()
    if inherited or known and not known.ended then
      row.status = 'running'
      record.id = record.registry:add({ row })[1]
    else
      record.id = record.registry:begin(row)
    end
  end))
  return record
end

-- record:finish{status=, result=, message=, seconds=}: the run ended; status is 'done' unless given,
-- and the result what the run left in its folder.
function Record:finish(fields)
  self.ended = true
  if not self.id then return end
  local ended = { status = 'done', result = M.result(self.folder) }
  for key, value in pairs(fields or {}) do ended[key] = value end
  if type(ended.message) == 'string' then ended.message = ended.message:sub(1, longest_message) end
  if not ended.seconds and ended.result then ended.seconds = tonumber(ended.result.seconds) end
  warn_unless(pcall(self.registry.finish, self.registry, self.id, ended))
end

-- The end of the process or script: finishes all records that are open. The shell calls it.
function M.close(status, message)
  for folder, record in pairs(open_records) do
    if not record.ended then record:finish { status = status, message = message } end
    if record.lock then record.lock:release() end
    open_records[folder] = nil
  end
end

return M
