-- What is told of a run to programs that show trainings: facts(folder, row, path of the registry) -> {name =, started =
-- (seconds since 1970), options = list of {name =, value =}, tags =, texts = list of {name =, text =}, experiment =,
-- grid =, host =, note =}. row: that of the registry, where it is known.
local json = require 'pushdown.json'
local layout = require 'pushdown.runs.layout'
local pd = require 'pushdown'
local store = require 'pushdown.store.folder'
local tables = require 'pushdown.tables'
local training = require 'pushdown.store.training'
local utc = require 'pushdown.text.utc'
local values = require 'pushdown.store.values'

-- The folder of the run from that of the registry on, or its whole path.
local function name_of(folder, registry)
  local path = pd.file.real_path(folder)
  local above = pd.file.real_path(registry and registry:match('^(.*)/[^/]*$') or registry and '.' or 'runs') .. '/'
  if path:sub(1, #above) == above then return path:sub(#above + 1) end
  return (path:gsub('^/+', ''))
end

local function sorted(options)
  local list = tables.named(options, function(name, value) return value ~= json.null and name ~= 'run_folder' end)
  for _, option in ipairs(list) do
    if type(option.value) == 'table' then option.value = values.text(option.value, ',') end
  end
  return list
end

-- Text that Markdown shows as it is.
local function verbatim(text) return '    ' .. text:gsub('\n', '\n    ') end

return function(folder, row, registry)
  row = row or {}
  local experiment = store.read_json(folder .. '/experiment.json') or {}
  local config = store.read_json(folder .. '/config.json') or {}
  local options = row.options or experiment.options or training.options_of(config)
  local command = row.command or experiment.command_line or config.command_line
  local texts = {}
  if command and command[1] then
    texts[1] = { name = 'command', text = verbatim(layout.shell_words(command)) }
  end
  if row.note then texts[#texts + 1] = { name = 'note', text = verbatim(row.note) } end
  return { name = name_of(folder, registry), options = sorted(options), texts = texts, tags = row.tags or {},
    note = row.note, experiment = row.experiment or experiment.experiment, grid = row.grid, host = row.host,
    started = utc(experiment.started) or utc(config.started) or row.started or row.created
      or pd.process.now() }
end
