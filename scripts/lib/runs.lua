-- The record of runs: every experiment and every point of a grid has a row in a registry, an
-- SQLite file. The default is runs/registry.sqlite; PUSHDOWN_REGISTRY names another file, or is 'off'.
--
--   local record = runs.record{ experiment = 'demo', folder = 'runs/demo/1', options = { ... } }
--   record:finish{ result = { loss = 0.1 } }
--
-- pushdown.experiment does this for every script that it starts.
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local interval = require 'pushdown.statistics.interval'
local pd = require 'pushdown'
local statistics = require 'pushdown.statistics'

local M = {}

-- The path of the registry, or nil if runs are not recorded.
function M.path()
  local path = os.getenv 'PUSHDOWN_REGISTRY'
  if path == 'off' then return nil end
  return path and path ~= '' and path or 'runs/registry.sqlite'
end

-- runs.open(path, options) -> Registry: opens the registry at the path, by default runs.path().
function M.open(path, options) return pd.registry.open(path or M.path(), options) end

-- The table in a JSON file, or nil if the file does not exist or cannot be read.
function M.read_json(path)
  if not files.exists(path) then return nil end
  local ok, value = pcall(function() return json.decode(files.read(path)) end)
  return ok and type(value) == 'table' and value or nil
end

-- The result in a run folder, without its null values, or nil.
function M.result(folder)
  local result = M.read_json(folder .. '/result.json')
  for key, value in pairs(result or {}) do
    if value == json.null then result[key] = nil end
  end
  return result
end

-- The numbers of every epoch of the training in a folder, read from its metrics; empty if no epoch was
-- finished.
function M.history(folder)
  local epochs, path = {}, folder .. '/metrics.jsonl'
  if not files.exists(path) then return epochs end
  for line in files.read(path):gmatch('[^\n]+') do
    local entry = json.decode(line)
    if entry.event == 'epoch' then epochs[entry.epoch] = entry end
  end
  return epochs
end

local characters = { '^[%z\1-\127]+', '^[\194-\223][\128-\191]', '^\224[\160-\191][\128-\191]',
  '^[\225-\236\238\239][\128-\191][\128-\191]', '^\237[\128-\159][\128-\191]',
  '^\240[\144-\191][\128-\191][\128-\191]', '^[\241-\243][\128-\191][\128-\191][\128-\191]',
  '^\244[\128-\143][\128-\191][\128-\191]' }

-- The text with a question mark for every byte that is not UTF-8, as can occur at the end of a log.
function M.clean_text(text)
  local parts, at = {}, 1
  while at <= #text do
    local stop
    for _, form in ipairs(characters) do
      stop = stop or select(2, text:find(form, at))
    end
    parts[#parts + 1] = stop and text:sub(at, stop) or '?'
    at = (stop or at) + 1
  end
  return table.concat(parts)
end

local metrics = { 'validation_difference', 'cross_entropy_difference', 'validation_cross_entropy',
  'cross_entropy', 'loss' }

-- The number by which results are compared by default: its key, or nil.
function M.metric(result)
  for _, key in ipairs(metrics) do
    if type(result[key]) == 'number' then return key end
  end
end

-- runs.find(filter, path) -> rows of the registry, see Registry:find; none if there is no registry.
-- A run that is marked as running but has no process any more gets the status 'lost'. 'running' in a
-- filter means runs that have a process.
function M.find(filter, path)
  path = path or M.path()
  if not path or not files.exists(path) then return {} end
  local asked, wanted = {}, nil
  for key, value in pairs(filter or {}) do asked[key] = value end
  if asked.status then
    wanted = {}
    local statuses = {}
    for _, status in ipairs(type(asked.status) == 'table' and asked.status or { asked.status }) do
      wanted[status] = true
      statuses[#statuses + 1] = status == 'lost' and 'running' or status
    end
    asked.status = statuses
    asked.limit = nil  -- lost runs are only known afterwards
  end
  local rows = {}
  for _, row in ipairs(M.open(path, { must_exist = true }):find(asked)) do
    if row.status == 'running' and pd.process.locked(row.folder) == false then row.status = 'lost' end
    if filter and filter.limit and #rows == filter.limit then break end
    if not wanted or wanted[row.status] then rows[#rows + 1] = row end
  end
  return rows
end

-- runs.value(row, key): a column, an option or a number of the result, such as 'seed', 'learning_rate',
-- 'options.size', 'result.loss' or 'loss'; nil if the run has none.
function M.value(row, key)
  local options, result = row.options or {}, row.result or {}
  local part, name = key:match('^(%w+)%.(.+)$')
  if part == 'options' then return options[name] end
  if part == 'result' then return result[name] end
  if row[key] ~= nil then return row[key] end
  if options[key] ~= nil then return options[key] end
  return result[key]
end

-- runs.by_point(rows, metrics) -> list of {grid, folder, point, runs, done, failed, metrics = {[key] =
-- {count, mean, deviation, interval, least}}}, sorted by the mean of the first metric; points without it come last.
-- deviation: the sample standard deviation; interval: half the width of the 95 % confidence interval of the mean
-- (Student's t). Runs in different folders are different points, so that a small grid and a full one never mix.
function M.by_point(rows, keys)
  local points, known = {}, {}
  for _, row in ipairs(rows) do
    if row.grid then
      local folder = row.folder:gsub('/[^/]*$', '')
      local point = known[folder]
      if not point then
        point = { grid = row.grid, point = row.point, folder = folder:gsub('/[^/]*$', ''), runs = 0, done = 0,
          failed = 0, values = {}, metrics = {} }
        known[folder] = point
        points[#points + 1] = point
      end
      point.runs = point.runs + 1
      if row.status == 'failed' then point.failed = point.failed + 1 end
      if row.status == 'done' then
        point.done = point.done + 1
        for _, key in ipairs(keys) do
          local value = (row.result or {})[key]
          point.values[key] = point.values[key] or {}
          if type(value) == 'number' then table.insert(point.values[key], value) end
        end
      end
    end
  end
  for _, point in ipairs(points) do
    for key, values in pairs(point.values) do
      if #values > 0 then
        local mean, deviation, least = statistics(values)
        point.metrics[key] = { count = #values, mean = mean, deviation = deviation,
          interval = interval(#values, deviation), least = least }
      end
    end
    point.values = nil
  end
  table.sort(points, function(a, b)
    if a.grid ~= b.grid then return a.grid < b.grid end
    if a.folder ~= b.folder then return a.folder < b.folder end
    local one, two = a.metrics[keys[1]], b.metrics[keys[1]]
    if one and two and one.mean ~= two.mean then return one.mean < two.mean end
    if (one == nil) ~= (two == nil) then return one ~= nil end
    return a.point < b.point
  end)
  return points
end

-- ---- Recording ----

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

local function warn_unless(ok, problem)
  if not ok then pd.log.warn('this run is not recorded: ' .. tostring(problem)) end
  return ok
end

-- Returns whether a grid has locked the folder for its worker.
local function inherited(folder) return os.getenv 'PUSHDOWN_RUN_LOCK' == folder end

-- runs.hold(folder): locks a run folder for this process, before anything in it is read or changed. Raises an error if
-- another process holds the lock.
function M.hold(folder)
  if open_records[folder] or held[folder] or inherited(folder) then return end
  held[folder] = pd.process.lock(folder)
  if not held[folder] then error(('[runs.record] another process uses %s'):format(folder), 0) end
end

-- Whether the folder is, or is inside, the folder of an open run for which fits(record, the folders are the same).
local function inside_of(folder, fits)
  local path = pd.file.real_path(folder) .. '/'
  for open, record in pairs(open_records) do
    local above = pd.file.real_path(open) .. '/'
    if path:sub(1, #above) == above and fits(record, path == above) then return true end
  end
  return false
end

-- runs.covers(folder): whether the folder is, or is inside, the folder of a run that this process has open.
function M.covers(folder)
  return inside_of(folder, function(record, same) return not (record.training and same) end)
end

-- runs.in_experiment(folder): the same for the runs of pd.experiment.start only.
function M.in_experiment(folder) return inside_of(folder, function(record) return not record.training end) end

-- runs.record{folder=, experiment=, options=, ...} -> Record: locks the folder for this process and enters the run in
-- the registry. Raises an error if another process holds the lock. The fields are those of a row. training = true is
-- for a trainer that no experiment declared; its run is interrupted if the process ends first. If the registry cannot
-- be written, there is only a warning.
function M.record(fields)
  if type(fields) ~= 'table' or type(fields.folder) ~= 'string' then
    error('[runs.record] expected a table with the folder of the run', 2)
  end
  local known = open_records[fields.folder]
  local record = known or setmetatable({ folder = fields.folder }, Record)
  -- The trainer of a training keeps other processes out itself.
  if fields.training then pcall(M.hold, fields.folder) else M.hold(fields.folder) end
  record.training = fields.training
  record.lock, held[fields.folder] = record.lock or held[fields.folder], nil
  open_records[fields.folder], record.ended = record, nil
  local row = { host = pd.process.host(), pid = pd.process.pid() }
  for key, value in pairs(fields) do row[key] = value end
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
  local ended = { status = 'done', result = M.result(self.folder) }
  for key, value in pairs(fields or {}) do ended[key] = value end
  if ended.message then ended.message = M.clean_text(ended.message:sub(1, longest_message)) end
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
    if not record.training then pcall(require 'pushdown.provenance'.update, folder) end
    if not record.ended then
      -- An unfinished training can be resumed later.
      local ended = record.training and status == 'done' and 'interrupted' or status
      record:finish { status = ended, message = message }
    elseif status ~= 'done' and record.id then  -- it failed after it had its result
      message = message and M.clean_text(message:sub(1, longest_message))
      warn_unless(pcall(record.registry.update, record.registry, record.id, { status = status, message = message }))
    end
    if status == 'interrupted' and record.interrupted then io.stderr:write(record.interrupted, '\n') end
    if record.lock then record.lock:release() end
    open_records[folder] = nil
  end
end

return M
