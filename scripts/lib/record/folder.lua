-- Converts run folders to entries of a record, which keep a part of a finished run, and entries to run folders.
--
-- An entry is {fields = texts by column, options = all options by name}. A new one also has given = the names of the
-- options on its command line, and declared = today's defaults.
local columns = require 'pushdown.record.columns'
local csv = require 'pushdown.csv'
local declared = require 'pushdown.record.declared'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local kinds = require 'pushdown.record.kinds'
local options_of = require 'pushdown.grid.options'
local pd = require 'pushdown'
local runs = require 'pushdown.runs'
local store = require 'pushdown.store.folder'
local table_of = require 'pushdown.text.table'

local M = {}

-- The columns of every record before and after those of the results.
M.first = { 'experiment', 'grid', 'point', 'restart', 'seed', 'options', 'defaults', 'commit', 'version', 'processor',
  'torch', 'date', 'seconds' }
M.last = { 'curve', 'series' }
local is_own = {}
for _, list in ipairs { M.first, M.last } do
  for _, name in ipairs(list) do is_own[name] = true end
end
-- Columns that are also numbers of the result.
local shared = { 'seed', 'restart', 'seconds' }

-- ---- From a folder ----

-- The name of the grid, the point and the restart, found from the path and the seed. The name consists of the first
-- part of the experiment's name and the last folders above the point; only the right folders give the seed. Nil for
-- runs that are not of a grid.
local function place_of(folder, experiment, seed)
  local above, point, restart = pd.file.real_path(folder):match('^(.*)/([^/]+)/restart%-(%d+)$')
  local paper, tail = experiment:match('^[^/]+'), nil
  while above and above ~= '' do
    local part
    above, part = above:match('^(.*)/([^/]+)$')
    tail = part and (tail and part .. '/' .. tail or part)
    if part and options_of.seed(paper .. '/' .. tail, point, restart) == seed then
      return paper .. '/' .. tail, point, restart
    end
  end
end

-- folder.script(experiment) -> the paper whose training has this name, such as ns_rnn/train.
function M.script(experiment)
  return ('%s/scripts/experiments/%s.lua'):format(pd.root, experiment:match '^[^/]+')
end

-- The names of the script's options on a command line.
local function given_names(words, options)
  local given = {}
  for _, word in ipairs(words) do
    local name = (word:match('^%-%-([^=]+)') or ''):gsub('%-', '_')
    if options[name] == nil then name = name:gsub('^no_', '') end
    if options[name] ~= nil then given[name] = true end
  end
  return given
end

-- Returns whether the options are those of a smaller size wherever that size differs from the full one.
local function is_of_size(options, size, full)
  local differs = false
  for name, value in pairs(size or {}) do
    local text = json.encode(value)
    if text ~= json.encode(full[name]) then
      differs = true
      if json.encode(options[name]) ~= text then return false end
    end
  end
  return differs
end

local function curve_of(folder, kind)
  local history = kind and runs.history(folder) or {}
  local last = history[#history]
  if not last then return '' end
  local metric
  for _, name in ipairs(kind.metrics) do metric = metric or type(last[name]) == 'number' and name or nil end
  if not metric then return '' end
  local step, rows = math.ceil(#history / kind.points), {}
  for epoch, entry in ipairs(history) do
    if (epoch - 1) % step == 0 or epoch == #history then
      rows[#rows + 1] = { epoch = ('%d'):format(epoch), [metric] = type(entry[metric]) == 'number'
        and columns.number(entry[metric], kind.decimals) or '' }
    end
  end
  return columns.pack({ 'epoch', metric }, rows)
end

local function series_of(folder, kind)
  if not kind or not files.exists(folder .. '/' .. kind.name) then return '' end
  local names, kept = {}, {}
  for k, column in ipairs(kind.columns) do names[k] = column[1] end
  local _, rows = csv.read(folder .. '/' .. kind.name)
  for i, row in ipairs(rows) do
    if not kind.keep or kind.keep(row, i) then
      local line = {}
      for _, column in ipairs(kind.columns) do
        local name, decimals = column[1], column[2]
        local number = decimals and tonumber(row[name])
        line[name] = number and columns.number(number, decimals) or row[name]
      end
      kept[#kept + 1] = line
    end
  end
  return columns.pack(names, kept)
end

local function text_of(value) return type(value) == 'number' and json.encode(value) or tostring(value) end

-- The keys of a result in the order of its file.
local function keys_of(result, path)
  local keys, known = {}, {}
  for key in files.read(path):gmatch('"([^"]+)"%s*:') do
    if result[key] ~= nil and not known[key] then known[key], keys[#keys + 1] = true, key end
  end
  return keys
end

-- folder.is_one(folder) -> whether it is the folder of a run that may be recorded: of a grid or, of a paper whose grids
-- follow from a result, of any. Tables write results, too.
function M.is_one(folder)
  if folder:find '/restart%-%d+$' then return true end
  local kind = kinds[(store.read_json(folder .. '/experiment.json') or {}).experiment]
  return kind ~= nil and kind.grid ~= nil
end

-- folder.read(folder, absent) -> entry, the keys of its result in their order; or nil and the reason why the run is not
-- recorded. absent: commit and torch for runs without them. folder.complete adds the curve and the series.
function M.read(folder, absent)
  local made, result = store.read_json(folder .. '/experiment.json'), store.result(folder)
  if not made or not result then return nil, 'experiment.json or result.json cannot be read' end
  if made.recorded then return nil, 'taken over from a record' end
  if not kinds[made.experiment] then return nil, 'made by a script that records do not support' end
  if made.size ~= 'full' then return nil, 'made with --quick or --smoke' end
  local grid, point, restart = place_of(folder, made.experiment, result.seed)
  if not grid and kinds[made.experiment].grid then
    grid, point, restart = kinds[made.experiment].grid(result), 'default', made.options.restart
  end
  if not grid then return nil, 'not a run of a grid, judging by its seed and folder' end

  local sizes = declared(M.script(made.experiment))
  local options = {}
  for name, value in pairs(made.options) do options[name] = value end
  for _, name in ipairs { 'seed', 'restart', 'run_folder', 'quick', 'smoke' } do options[name] = nil end
  for _, value in pairs(options) do
    if type(value) == 'string' and (value:find('/', 1, true) or value:find('%.lua$')) then
      return nil, 'made with an option that names a file'
    end
  end
  for _, size in ipairs { 'quick', 'smoke' } do
    if is_of_size(options, sizes[size], sizes.full) then return nil, 'made with --quick or --smoke' end
  end

  local machine = made.machine or {}
  local fields = { experiment = made.experiment, grid = grid, point = point, restart = restart,
    commit = made.commit or made.git or absent.commit or '', version = made.version or '',
    processor = machine.processor or '', torch = machine.torch or absent.torch or '', date = made.started or '' }
  local keys = keys_of(result, folder .. '/result.json')
  for _, key in ipairs(keys) do fields[key] = is_own[key] and fields[key] or text_of(result[key]) end
  for _, key in ipairs(shared) do fields[key] = text_of(result[key]) end
  return { fields = fields, options = options, given = given_names(made.command_line or {}, options),
    declared = sizes.full }, keys
end

-- Adds the curve and the series of the run to its entry.
function M.complete(entry, folder)
  local kind = kinds[entry.fields.experiment]
  entry.fields.curve, entry.fields.series = curve_of(folder, kind.curve), series_of(folder, kind.file)
end

-- ---- To a folder ----

local function write(path, text)
  if not files.exists(path) or files.read(path) ~= text then files.write(path, text) end
end

-- metrics.jsonl with every epoch; values between the recorded epochs are interpolated linearly.
local function metrics_of(text)
  local names, rows = columns.unpack(text)
  local metric, lines = names[2], {}
  for i, row in ipairs(rows) do
    local first, value = tonumber(row.epoch), tonumber(row[metric])
    local following = rows[i + 1] or row
    local last, target = tonumber(following.epoch), tonumber(following[metric])
    for epoch = first, math.max(first, last - 1) do
      local share = epoch > first and (epoch - first) / (last - first) or 0
      local line = { event = 'epoch', epoch = epoch }
      line[metric] = value and (target or share == 0) and value + share * ((target or value) - value) or nil
      lines[#lines + 1] = json.encode(json.ordered(line, { 'event', 'epoch', metric })) .. '\n'
    end
  end
  return table.concat(lines)
end

local function series_file(text)
  local names, rows = columns.unpack(text)
  for _, row in ipairs(rows) do
    for _, name in ipairs(names) do row[name] = tonumber(row[name]) or row[name] end
  end
  return table_of.new({ columns = names, rows = rows }):csv()
end

-- The value of a field of a result.
local function value_of(text)
  if text == 'true' or text == 'false' then return text == 'true' end
  return tonumber(text) or text
end

-- folder.write(folder, entry, names, path): makes the run folder of an entry of the record `path`, whose columns are
-- `names`. The run is finished, and experiment.json marks it as recorded. Checkpoints of the same run that had begun in
-- the folder are removed.
function M.write(folder, entry, names, path)
  local fields, kind = entry.fields, kinds[entry.fields.experiment]
  local result, keys = {}, {}
  for _, list in ipairs { names, shared } do
    for _, name in ipairs(list) do
      if (list == shared or not is_own[name]) and fields[name] ~= '' then
        result[name], keys[#keys + 1] = value_of(fields[name]), name
      end
    end
  end
  local options = { seed = result.seed, restart = result.restart, run_folder = folder }
  for name, value in pairs(entry.options) do options[name] = value end
  files.make_folder(folder)
  if files.exists(folder .. '/checkpoints') then
    for _, name in ipairs(files.find(folder .. '/checkpoints')) do os.remove(folder .. '/checkpoints/' .. name) end
  end
  if fields.curve ~= '' then write(folder .. '/metrics.jsonl', metrics_of(fields.curve)) end
  if fields.series ~= '' then write(folder .. '/' .. kind.file.name, series_file(fields.series)) end
  write(folder .. '/experiment.json', json.encode(json.ordered({ experiment = fields.experiment, size = 'full',
    doc = 'A run made elsewhere or earlier, taken over from a record.',
    recorded = { file = path, commit = fields.commit }, options = options, command_line = json.list {},
    started = fields.date, version = fields.version, commit = fields.commit,
    machine = { processor = fields.processor, torch = fields.torch } },
    { 'experiment', 'doc', 'recorded', 'size', 'options' }), true) .. '\n')
  write(folder .. '/result.json', json.encode(json.ordered(result, keys), true) .. '\n')
end

-- Removes the files that folder.write made.
function M.clear(folder, experiment)
  os.remove(folder .. '/result.json')
  local kind = kinds[experiment]
  if kind and kind.file then os.remove(folder .. '/' .. kind.file.name) end
  os.remove(folder .. '/metrics.jsonl')
  os.remove(folder .. '/experiment.json')
end

return M
