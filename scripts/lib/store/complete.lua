-- complete(row) -> experiment.json, config.json: fills in fields of a run that its row does not have, from the other
-- files of the run folder, row.folder.
local record = require 'pushdown.store.record'
local store = require 'pushdown.store.folder'

local function integer(value)
  value = tonumber(value)
  return value and value == math.floor(value) and value or nil
end

return function(row)
  local folder = row.folder
  local about = store.read_json(folder .. '/experiment.json') or {}
  local config = store.read_json(folder .. '/config.json') or {}
  row.experiment = row.experiment or about.experiment
  row.options = row.options or about.options
  row.result = row.result or store.result(folder)
  row.seed = integer(row.seed or (row.options or {}).seed or config.seed)
  row.restart = integer(row.restart) or integer((row.options or {}).restart) or integer(folder:match('restart%-(%d+)$'))
  row.git = row.git or type(about.git) == 'string' and about.git or type(config.git) == 'string' and config.git or nil
  if not row.command and about.script then
    row.command = { 'pushdown', about.script, unpack(about.command_line or {}) }
  elseif not row.command and type(config.command_line) == 'table' then
    row.command = record.plain_command(config.command_line)
  end
  row.seconds = row.seconds or row.result and tonumber(row.result.seconds)
  return about, config
end
