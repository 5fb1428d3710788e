-- The command `pushdown runs`: what the registry holds, as tables.
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local pd = require 'pushdown'
local report = require 'pushdown.report'
local runs = require 'pushdown.runs'
local show_as = require 'pushdown.runs.show'

local M = {}

local function fail(...) error({ usage = (...):format(select(2, ...)) }, 0) end

local registry_option = { 'registry', nil, 'path of the registry (PUSHDOWN_REGISTRY, else runs/registry.sqlite)',
  type = 'text' }
local statuses = { 'waiting', 'running', 'done', 'failed', 'interrupted', 'lost' }
local filters = {
  { 'grid', nil, 'runs of this grid; * and ? stand for any text and any character', type = 'text' },
  { 'experiment', nil, 'runs of this experiment; * and ? as above', type = 'text' },
  { 'point', nil, 'runs at this point of their grid', type = 'text' },
  { 'status', {}, 'runs in these states', choices = statuses, repeated = true },
  { 'where', {}, 'runs with these options or results: rate=0.005, size>=20, result.loss<0.1', repeated = true },
  { 'since', nil, 'runs begun since: 2024-05-31, "2024-05-31 18:00", 90m, 12h, 7d', type = 'text' },
}

local function declare(name, doc, own)
  local options = {}
  for _, option in ipairs(own) do options[#options + 1] = option end
  options[#options + 1] = registry_option
  options[#options + 1] = { 'csv', false, 'comma-separated values, every digit' }
  options[#options + 1] = { 'json', false, 'JSON, everything that is known' }
  return { name = 'pushdown runs ' .. name, doc = doc, options = options, words = true, run_folder = false }
end

local function with_filters(own)
  local options = {}
  for _, list in ipairs { filters, own } do
    for _, option in ipairs(list) do options[#options + 1] = option end
  end
  return options
end

local commands = {
  list = declare('list', 'Lists runs, the newest first.', with_filters {
    { 'sort', nil, 'by this column, option or result; the newest first otherwise', type = 'text' },
    { 'descending', false, 'the largest first' },
    { 'limit', nil, 'at most so many', type = 'integer', minimum = 1 },
    { 'columns', {}, 'columns, options and results to show', repeated = true },
  }),
  show = declare('show ID...', 'Shows all that is known of a run.', {}),
  compare = declare('compare [ID...]', 'Compares runs side by side, or the points of a grid '
    .. '(--grid) by mean and standard deviation\nover their restarts.', with_filters {
      { 'metric', {}, 'results to compare; the first one orders the points of a grid', repeated = true },
    }),
}

-- ---- Reading the command line ----

local unit_seconds = { s = 1, m = 60, h = 3600, d = 86400, w = 604800 }

-- Seconds since 1970 of "2024-05-31", "2024-05-31 18:00" (local time) or of so long ago: "12h".
local function time_of(text)
  local count, unit = text:match('^(%d+%.?%d*)([smhdw])$')
  if count then return pd.process.now() - tonumber(count) * unit_seconds[unit] end
  local year, month, day, rest = text:match('^(%d%d%d%d)%-(%d%d)%-(%d%d)(.*)$')
  local hour, minute = (rest or ''):match('^[ T](%d%d):(%d%d)$')
  if not year or rest ~= '' and not hour then
    fail("--since needs a date like 2024-05-31 or a time like 12h, got '%s'", text)
  end
  return os.time { year = tonumber(year), month = tonumber(month), day = tonumber(day),
    hour = tonumber(hour or 0), min = tonumber(minute or 0) }
end

local function condition_of(text)
  local key, comparison, value = text:match('^([^=<>!]+)([=<>!]=?)(.*)$')
  if comparison == '==' then comparison = '=' end
  if not key or comparison == '!' then
    fail("--where needs conditions like rate=0.005 or result.loss<0.1, got '%s'", text)
  end
  local typed = tonumber(value)
  if value == 'true' or value == 'false' then typed = value == 'true' end
  if typed == nil then typed = value end
  return { key, comparison, typed }
end

local function filter_of(options)
  local filter = { grid = options.grid, experiment = options.experiment, point = options.point }
  if #options.status > 0 then filter.status = options.status end
  if options.since then filter.since = time_of(options.since) end
  if #options.where > 0 then
    filter.where = {}
    for i, text in ipairs(options.where) do filter.where[i] = condition_of(text) end
  end
  return filter
end

local function ids_of(words)
  local ids = {}
  for i, word in ipairs(words) do
    ids[i] = word:match('^%d+$') and tonumber(word) or fail("a run is named by its number, got '%s'", word)
  end
  return ids
end

-- The runs of these numbers in this order.
local function runs_of(ids, path)
  local rows = {}
  for i, id in ipairs(ids) do
    rows[i] = runs.find({ id = id }, path)[1]
    if not rows[i] then error(('there is no run %d in %s'):format(id, path or 'any registry'), 0) end
  end
  return rows
end

local function shared_metric(rows)
  for _, row in ipairs(rows) do
    local metric = row.result and runs.metric(row.result)
    if metric then return metric end
  end
end

local function say_nothing(path)
  if not path then
    print 'Nothing is recorded: PUSHDOWN_REGISTRY is off.'
  elseif not files.exists(path) then
    print(('Nothing is recorded yet: there is no %s. Grids and scripts that use pd.experiment are\n'
      .. 'recorded in the folder where they are started.'):format(path))
  else
    print('No run matches.')
  end
end

-- ---- The commands ----

local function list(options, path, width)
  local filter = filter_of(options)
  filter.sort, filter.limit = options.sort, options.limit
  filter.descending = options.descending or not options.sort
  local rows = runs.find(filter, path)
  if options.json then return show_as.json(rows) end
  if options.csv then return show_as.csv(rows) end
  if #rows == 0 then return say_nothing(path) end
  local wanted, chosen = options.columns, #options.columns > 0
  if not chosen then
    wanted = { 'id', 'run', 'point', 'restart', 'status', 'seconds', shared_metric(rows) }
    if (width or 80) >= 80 then table.insert(wanted, 6, 'started') end
  end
  local columns, cells = {}, {}
  for i in ipairs(rows) do cells[i] = {} end
  for _, column in ipairs(wanted) do
    local used = chosen
    local values = {}
    for i, row in ipairs(rows) do
      local value = column == 'run' and (row.grid or row.experiment or row.folder) or runs.value(row, column)
      values[i] = show_as.field(column, value) or ''
      used = used or values[i] ~= ''
    end
    if used then
      columns[#columns + 1] = column == 'seconds' and 'time' or column:gsub('_', ' ')
      for i in ipairs(rows) do cells[i][#columns] = values[i] end
    end
  end
  show_as.table(columns, cells, width)
end

local function shell_words(words)
  local quoted = {}
  for i, word in ipairs(words) do
    quoted[i] = word:find('^[%w_%-=./,:+@]+$') and word or "'" .. word:gsub("'", "'\\''") .. "'"
  end
  return table.concat(quoted, ' ')
end

local function sorted_pairs_text(values)
  local keys, lines = {}, {}
  for key in pairs(values) do keys[#keys + 1] = key end
  table.sort(keys)
  for i, key in ipairs(keys) do lines[i] = ('  %s = %s'):format(key, show_as.value(values[key])) end
  return lines
end

local function show_one(row, width)
  print(('Run %d: %s%s'):format(row.id, row.grid or row.experiment or row.folder,
    row.point and (', %s, restart %s'):format(row.point, show_as.value(row.restart)) or ''))
  local note = row.status == 'lost' and ' (its process ended without a word)' or ''
  print(('  %s%s, %d attempt%s'):format(row.status, note, row.attempts, row.attempts == 1 and '' or 's'))
  for _, key in ipairs { 'experiment', 'grid', 'seed', 'folder', 'created', 'started', 'finished', 'seconds',
    'host', 'pid', 'git' } do
    local text = show_as.field(key, row[key])
    if text and text ~= '' then print(('  %-12s%s'):format(key == 'seconds' and 'time' or key, text)) end
  end
  if row.command then
    print 'command'
    show_as.wrapped(shell_words(row.command), width, '  ')
  end
  for _, part in ipairs { 'options', 'result' } do
    if row[part] and next(row[part]) then
      print(part)
      print(table.concat(sorted_pairs_text(row[part]), '\n'))
    end
  end
  if row.message then print('message\n  ' .. row.message:gsub('\n', '\n  ')) end
  if files.exists(row.folder .. '/output.log') then print('log\n  ' .. row.folder .. '/output.log') end
end

local function show(options, path, width)
  if #options.words == 0 then fail('which run? pushdown runs show ID; pushdown runs list shows the numbers') end
  local rows = runs_of(ids_of(options.words), path)
  if options.json then return show_as.json(rows) end
  if options.csv then return show_as.csv(rows) end
  for i, row in ipairs(rows) do
    if i > 1 then print() end
    show_one(row, width)
  end
end

-- Side by side: what differs, then the results.
local function compare_runs(rows, options, width)
  local header, lines, same = { '' }, {}, {}
  for i, row in ipairs(rows) do header[i + 1] = 'run ' .. row.id end
  local function add(key, value_of, text_of)
    local line, differs = { (key:gsub('_', ' ')) }, false
    for i, row in ipairs(rows) do
      line[i + 1] = text_of(value_of(row))
      differs = differs or line[i + 1] ~= line[2]
    end
    return line, differs
  end
  for _, key in ipairs { 'experiment', 'grid', 'point', 'restart', 'status', 'git', 'seconds' } do
    local line, differs = add(key, function(row) return row[key] end,
      function(value) return show_as.field(key, value) or '' end)
    if key == 'seconds' then line[1] = 'time' end
    if differs then lines[#lines + 1] = line end
  end
  local function keys_in(part)
    local names, sorted = {}, {}
    for _, row in ipairs(rows) do
      for name in pairs(row[part] or {}) do names[name] = true end
    end
    for name in pairs(names) do sorted[#sorted + 1] = name end
    table.sort(sorted)
    return sorted
  end
  local seen = { restart = true }
  for _, name in ipairs(keys_in 'options') do
    local line, differs = add(name, function(row) return (row.options or {})[name] end, show_as.value)
    if differs and not seen[name] then lines[#lines + 1] = line end
    if not differs then same[#same + 1] = name .. '=' .. line[2]:gsub('%s', ' ') end
    seen[name] = true
  end
  local metrics = #options.metric > 0 and options.metric or keys_in 'result'
  for _, name in ipairs(metrics) do
    local line = add(name, function(row) return (row.result or {})[name] end, show_as.value)
    -- A result that only repeats an option says nothing new.
    if not seen[name] then lines[#lines + 1] = line end
  end
  show_as.table(header, lines, width)
  if #same > 0 then
    print '\nThe same in all:'
    show_as.wrapped(table.concat(same, ', '), width, '  ')
  end
end

local function compare_grid(rows, options, width)
  local metrics = options.metric
  if #metrics == 0 then
    metrics = { shared_metric(rows) }
    for _, row in ipairs(rows) do
      if metrics[1] == 'validation_difference' and (row.result or {}).test_difference then
        metrics = { metrics[1], 'test_difference' }
        break
      end
    end
  end
  if #metrics == 0 then metrics = { 'validation_difference' } end
  local points = runs.by_point(rows, metrics)
  if options.json then return print(json.encode(json.list(points), true)) end
  local several, folders = false, false
  for _, point in ipairs(points) do
    several = several or point.grid ~= points[1].grid
    folders = folders or point.folder ~= points[1].folder
  end
  local columns = { 'point', 'done', 'failed' }
  if folders then table.insert(columns, 1, 'folder') end
  if several then table.insert(columns, 1, 'grid') end
  for _, metric in ipairs(metrics) do
    for _, name in ipairs { 'mean ', 'deviation ', 'best ' } do columns[#columns + 1] = name .. metric end
  end
  local raw, cells = {}, {}
  for i, point in ipairs(points) do
    raw[i], cells[i] = {}, {}
    local function add(value, text)
      raw[i][#cells[i] + 1] = value
      cells[i][#cells[i] + 1] = text or show_as.value(value)
    end
    if several then add(point.grid) end
    if folders then add(point.folder) end
    add(point.point)
    add(point.done, ('%d/%d'):format(point.done, point.runs))
    add(point.failed)
    for _, metric in ipairs(metrics) do
      local numbers = point.metrics[metric] or {}
      for _, key in ipairs { 'mean', 'deviation', 'least' } do
        add(numbers[key], numbers[key] and ('%.4f'):format(numbers[key]) or '–')
      end
    end
  end
  if options.csv then return io.write(report.table { columns = columns, rows = raw }:csv()) end
  for k, name in ipairs(columns) do
    columns[k] = name:match('^deviation ') and 'deviation' or name:match('^best ') and 'best single run'
      or name:gsub('_', ' ')
  end
  show_as.table(columns, cells, width)
  show_as.wrapped(('Ordered by the mean of %s over the restarts that are done; the deviation is the sample '
    .. 'standard deviation, the best single run is one run and no mean.'):format(metrics[1]:gsub('_', ' ')), width, '')
end

local function compare(options, path, width)
  local ids = ids_of(options.words)
  if #ids > 0 then
    local rows = runs_of(ids, path)
    if options.json then return show_as.json(rows) end
    if options.csv then return show_as.csv(rows) end
    return compare_runs(rows, options, width)
  end
  if not options.grid then fail('which runs? pushdown runs compare ID ID..., or --grid NAME') end
  local rows = runs.find(filter_of(options), path)
  if #rows == 0 and not options.json and not options.csv then return say_nothing(path) end
  compare_grid(rows, options, width)
end

local actions = { list = list, show = show, compare = compare }

local overview = [[
The record of runs: every grid and every script that uses pd.experiment.

  pushdown runs list      which runs there are, by grid, option, result, state, time
  pushdown runs show      all that is known of a run
  pushdown runs compare   runs side by side, or the points of a grid

--help after any of them lists its options.
]]

-- command.run(words) -> exit status: 0, 1 for an error, 2 for a wrong command line.
function M.run(words)
  local name = words[1]
  if name == nil or name == '--help' or name == '-h' or name == 'help' then
    io.write(overview)
    return 0
  end
  local declaration = commands[name]
  local ok, problem = pcall(function()
    if not declaration then fail("unknown command '%s'; there are list, show and compare", name) end
    local options = experiment.parse(declaration, { unpack(words, 2) })
    if options.help then return io.write(experiment.help(declaration)) end
    if name == 'list' and #options.words > 0 then fail("unexpected argument '%s'", options.words[1]) end
    if options.csv and options.json then fail('--csv and --json exclude each other') end
    actions[name](options, options.registry or runs.path(), pd.process.columns 'stdout')
  end)
  if ok then return 0 end
  local usage = type(problem) == 'table' and problem.usage
  io.stderr:write(('pushdown runs: %s\n'):format(usage or tostring(problem):gsub('^[^\n]-%.lua:%d+: ', '')))
  return usage and 2 or 1
end

return M
