-- For tests with recorded runs: a folder with a registry, and run folders like those of trainings.
local pd = require 'pushdown'
local files = require 'pushdown.files'
local test = require 'pushdown.test'
local json = require 'pushdown.json'

local M = {}
M.__index = M

local quoted = files.quoted
M.quoted = quoted

-- recorded_runs.new() -> {folder =, registry =, file =, ...} in a new temporary folder.
function M.new()
  local folder = test.folder()
  files.make_folder(folder .. '/runs')
  local self = setmetatable({ folder = folder, file = folder .. '/runs/registry.sqlite' }, M)
  self.registry = pd.registry.open(self.file)
  return self
end

-- The text of metrics.jsonl. epochs: a list of tables. Unless they say otherwise, epochs are numbered, and each has 10
-- updates and takes a quarter of a second.
function M.metrics(epochs)
  local lines = {}
  for i, numbers in ipairs(epochs) do
    local line = pd.tables.merged({ event = 'epoch', epoch = i, updates = 10 * i, seconds = 0.25, improved = i == 1 },
      numbers)
    lines[i] = json.encode(line) .. '\n'
  end
  return table.concat(lines)
end

-- Enters a run and makes its folder. Fields: name (below runs/), epochs (as above), and the row fields grid, point,
-- restart, seed, options, result, status, command, git. files = {[name] = text} adds files. Returns its number and
-- folder.
function M:add(given)
  local folder = self.folder .. '/runs/' .. given.name
  files.make_folder(folder)
  files.write(folder .. '/run.lock', '')
  local row = { folder = folder }
  for _, key in ipairs { 'grid', 'point', 'restart', 'seed', 'options', 'experiment', 'command', 'git' } do
    row[key] = given[key]
  end
  files.write(folder .. '/experiment.json', json.encode { experiment = given.experiment or 'made',
    doc = given.doc or 'A made run.', size = given.size or 'full', options = given.options or {},
    command_line = json.list(given.words or { '--rate', '1' }), script = 'made.lua', started = '2024-05-31T18:00:00Z',
    version = '0.1.0', git = given.git })
  if given.epochs then files.write(folder .. '/metrics.jsonl', M.metrics(given.epochs)) end
  if given.result then files.write(folder .. '/result.json', json.encode(given.result)) end
  for name, text in pairs(given.files or {}) do files.write(folder .. '/' .. name, text) end
  if given.unrecorded then return nil, folder end
  local id = self.registry:begin(row)
  if given.status ~= 'running' then
    self.registry:finish(id, { status = given.status or 'done', result = given.result, seconds = given.seconds or 61 })
  end
  return id, folder
end

-- Returns standard output, standard error and status of a command in this process: module = 'pushdown.commands.runs'.
function M.answer(module, ...)
  local output, errors = {}, {}
  local before = { print = print, write = io.write, stderr = io.stderr }
  _G.print = function(text) output[#output + 1] = (text or '') .. '\n' end
  rawset(io, 'write', function(...) output[#output + 1] = table.concat({ ... }) end)
  rawset(io, 'stderr', { write = function(_, text) errors[#errors + 1] = text end })
  local ok, status = pcall(require(module).run, { ... })
  _G.print = before.print
  rawset(io, 'write', before.write)
  rawset(io, 'stderr', before.stderr)
  assert(ok, status)
  return table.concat(output), table.concat(errors), status
end

return M
