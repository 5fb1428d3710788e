-- Selects runs from a command line: the registry, filters, and the numbers of runs.
local files = require 'pushdown.files'
local pd = require 'pushdown'
local runs = require 'pushdown.runs'

local M = {}

-- Raises an error about a wrong command line.
function M.fail(...) error({ usage = (...):format(select(2, ...)) }, 0) end
local fail = M.fail

M.registry_option = { 'registry', nil, 'path of the registry (PUSHDOWN_REGISTRY, else runs/registry.sqlite)',
  type = 'text' }

local statuses = { 'waiting', 'running', 'done', 'failed', 'interrupted', 'lost' }
local filters = {
  { 'grid', nil, 'runs of this grid; * and ? stand for any text and any character', type = 'text' },
  { 'experiment', nil, 'runs of this experiment; * and ? as above', type = 'text' },
  { 'point', nil, 'runs at this point of their grid', type = 'text' },
  { 'status', {}, 'runs in these states', choices = statuses, repeated = true },
  { 'where', {}, 'runs with these options, results, tags or notes: rate=0.005, result.loss<0.1, tag=good, note=*bug*',
    repeated = true },
  { 'since', nil, 'runs begun since: 2024-05-31, "2024-05-31 18:00", 90m, 12h, 7d', type = 'text' },
}

-- The declarations of the filters, followed by `own`.
function M.with_filters(own)
  local options = {}
  for _, list in ipairs { filters, own } do
    for _, option in ipairs(list) do options[#options + 1] = option end
  end
  return options
end

local unit_seconds = { s = 1, m = 60, h = 3600, d = 86400, w = 604800 }

-- Seconds since 1970 for "2024-05-31", "2024-05-31 18:00" (local time), or a time ago: "12h".
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
  if key == 'tag' or key == 'note' then return { key, comparison, value } end
  local typed = tonumber(value)
  if value == 'true' or value == 'false' then typed = value == 'true' end
  if typed == nil then typed = value end
  return { key, comparison, typed }
end

-- The filter of runs.find for these options.
function M.filter(options)
  local filter = { grid = options.grid, experiment = options.experiment, point = options.point }
  if #options.status > 0 then filter.status = options.status end
  if options.since then filter.since = time_of(options.since) end
  if #options.where > 0 then
    filter.where = {}
    for i, text in ipairs(options.where) do filter.where[i] = condition_of(text) end
  end
  return filter
end

-- Returns whether the command line chooses runs by filters.
function M.filtered(options)
  return options.grid or options.experiment or options.point or options.since or #options.status > 0
    or #options.where > 0
end

-- The run numbers in a list of words.
function M.ids(words)
  local ids = {}
  for i, word in ipairs(words) do
    ids[i] = word:match('^%d+$') and tonumber(word) or fail("expected the number of a run, got '%s'", word)
  end
  return ids
end

-- The runs with these numbers, in this order.
function M.numbered(ids, path)
  local rows = {}
  for i, id in ipairs(ids) do
    rows[i] = runs.find({ id = id }, path)[1]
    if not rows[i] then error(('there is no run %d in %s'):format(id, path or 'any registry'), 0) end
  end
  return rows
end

-- The runs that the command line chooses, by number or by filters.
function M.rows(options, path)
  local ids = M.ids(options.words)
  if #ids > 0 and M.filtered(options) then fail('choose runs by numbers or by filters, not both') end
  if #ids > 0 then return M.numbered(ids, path) end
  return runs.find(M.filter(options), path)
end

-- The metric for comparing the results of the runs, or nil.
function M.shared_metric(rows)
  for _, row in ipairs(rows) do
    local metric = row.result and runs.metric(row.result)
    if metric then return metric end
  end
end

-- The names that --where can use for the runs of a registry.
local function known_names(path)
  local names, known = { 'note', 'tag' }, { note = true, tag = true }
  for _, row in ipairs(runs.find({}, path)) do
    for _, part in ipairs { row, row.options or {}, row.result or {} } do
      for name in pairs(part) do
        if not known[name] then names[#names + 1], known[name] = name, true end
      end
    end
  end
  table.sort(names)
  return names, known
end

-- Names the options and results in --where that no run has.
local function say_unknown(path, conditions)
  local names, known = known_names(path)
  for _, text in ipairs(conditions) do
    local key = condition_of(text)[1]
    local name = key:gsub('^options%.', ''):gsub('^result%.', '')
    if not known[name] then
      local near = pd._text.nearest(name, names)
      print(("No run has '%s'%s"):format(key, near and (", did you mean '%s'?"):format(near) or '.'))
    end
  end
end

-- Says that there are no runs, and why; `options`: those of the command line.
function M.say_nothing(path, options)
  if not path then
    print 'Nothing is recorded: PUSHDOWN_REGISTRY is off.'
  elseif not files.exists(path) then
    print(('Nothing is recorded yet: there is no %s. Grids and scripts that use pd.experiment are\n'
      .. "recorded in the folder where they are started. 'pushdown runs index FOLDER' enters the\n"
      .. 'runs of a folder.'):format(path))
  else
    print('No run matches.')
    if options then say_unknown(path, options.where) end
  end
end

-- Splits the name of a point into its family and the parts of its own name. The family is like a folder name: its grid,
-- and the part before a slash if the point is named by its place in a folder.
local function split_name(point)
  local family, own = point.grid or '', point.point
  local above, last = own:match('^(.*)/([^/]*)$')
  if above then family, own = family ~= '' and family .. '/' .. above or above, last end
  local parts, steps = {}, {}
  for part in own:gmatch('[^,]+') do parts[#parts + 1] = part end
  for step in family:gmatch('[^/]+') do steps[#steps + 1] = step end
  return steps, parts
end

-- The number of leading, or trailing, steps that all families share.
local function shared_steps(families, from_back)
  local first, count = families[1], 0
  while true do
    for _, steps in ipairs(families) do
      local at = from_back and #steps - count or count + 1
      if at < 1 or at > #steps or steps[at] ~= first[from_back and #first - count or count + 1] then return count end
    end
    count = count + 1
  end
end

-- Shortens the names of points to the parts that differ: task=a,rate=1 and task=a,rate=2 become rate=1 and rate=2;
-- rate=1 in the grids dyck/lstm and dyck/ns becomes lstm and ns.
local function name_points(points)
  local count, shared, families, parts_of = 0, {}, {}, {}
  for _, point in ipairs(points) do
    if point.point then
      count = count + 1
      families[count], parts_of[count] = split_name(point)
      for _, part in ipairs(parts_of[count]) do shared[part] = (shared[part] or 0) + 1 end
    end
  end
  if count < 2 then return end
  local front = shared_steps(families, false)
  local back = shared_steps(families, true)
  local k = 0
  for _, point in ipairs(points) do
    if point.point then
      k = k + 1
      local kept = {}
      for _, part in ipairs(parts_of[k]) do
        if shared[part] < count then kept[#kept + 1] = part end
      end
      local steps = families[k]
      local family = front < #steps and table.concat(steps, '/', front + 1, math.max(front + 1, #steps - back)) or ''
      local own = table.concat(kept, ',')
      local name = family .. (family ~= '' and own ~= '' and ' ' or '') .. own
      point.short = name ~= '' and name or table.concat(parts_of[k], ',')
    end
  end
end

-- selection.points(rows, each) -> list of {name, runs}. The restarts of one point are together; every other run, and
-- with `each` every run, is alone. Points in different folders are different points.
function M.points(rows, each)
  local points, known = {}, {}
  for _, row in ipairs(rows) do
    local folder = row.point and row.folder:gsub('/[^/]*$', '') or row.folder
    local point = not each and known[folder]
    if not point then
      point = { runs = {}, folder = folder, grid = row.grid, point = row.point }
      known[folder] = point
      points[#points + 1] = point
    end
    table.insert(point.runs, row)
  end
  local used = {}
  name_points(points)
  for _, point in ipairs(points) do
    local row = point.runs[1]
    local name = point.short or point.point
    if not name then name = row.experiment or files.name(row.folder) end
    if each and row.restart then name = ('%s restart %s'):format(name, row.restart) end
    if not point.point and row.id then name = ('%s %d'):format(name, row.id) end
    -- The place distinguishes equal names.
    if used[name] then name = name .. ' (' .. point.folder .. ')' end
    used[name], point.name = true, name
  end
  return points
end

return M
