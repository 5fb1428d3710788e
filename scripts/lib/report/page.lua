-- Pages about runs, points or a whole grid, by the options of the command `pushdown report`.
local charts = require 'pushdown.report.charts'
local document = require 'pushdown.report.document'
local gather = require 'pushdown.report.gather'
local library = require 'pushdown.report.library'
local files = require 'pushdown.files'
local pd = require 'pushdown'
local runs = require 'pushdown.runs'
local selection = require 'pushdown.runs.selection'
local tables = require 'pushdown.report.tables'

local M = {}

M.declaration = { name = 'pushdown report RUN...', words = true, run_folder = false,
  doc = 'Writes one self-contained page about runs: results, curves, pictures, configuration, command.\n'
    .. 'RUN is a number of the registry, a run folder, or a folder of runs, such as that of a grid.\n'
    .. 'With --live it shows the page in a browser and follows the runs, without RUN the newest grid or run.',
  options = selection.with_filters {
    { 'output', 'report.html', 'file of the page', short = 'o' },
    { 'title', nil, 'title of the page', type = 'text' },
    { 'metric', {}, 'metrics of the epochs and numbers of the results to show; all by default', repeated = true },
    { 'x', 'epoch', 'horizontal axis of the curves', choices = { 'epoch', 'update', 'seconds' } },
    { 'live', false, 'instead of a file, a page at an address of this machine that follows the runs' },
    { 'port', 0, 'port of the live page; 0 is a free one', minimum = 0, maximum = 65535 },
    selection.registry_option,
  } }

local function title_of(rows, points)
  local names, seen = {}, {}
  local function add(name)
    if name and not seen[name] then seen[name], names[#names + 1] = true, name end
  end
  for _, row in ipairs(rows) do add(row.grid or row.experiment) end
  if #names == 0 or #names > 3 then
    names, seen = {}, {}
    for _, row in ipairs(rows) do add(row.experiment or files.name(row.folder)) end
  end
  if #names > 3 then names = { table.concat(names, ', ', 1, 3), '...' } end
  local title = table.concat(names, ', ')
  if #points == 1 and points[1].point then title = title .. ': ' .. points[1].point end
  if #rows == 1 and rows[1].restart then title = title .. ', restart ' .. rows[1].restart end
  return title
end

-- Splits the wanted metrics into metrics of epochs and numbers of results; raises an error if one is neither.
local function split(metrics, points)
  if #metrics == 0 then return nil, nil end
  local list, over_epochs = charts.metrics(points)
  local keys, in_results = tables.result_keys(points)
  local curves, numbers = {}, {}
  for _, metric in ipairs(metrics) do
    if not over_epochs[metric] and not in_results[metric] then
      error(("no run has '%s'; the epochs have %s, the results %s"):format(metric,
        #list > 0 and table.concat(list, ', ') or 'none', #keys > 0 and table.concat(keys, ', ') or 'none'), 0)
    end
    if over_epochs[metric] then curves[#curves + 1] = metric end
    if in_results[metric] then numbers[#numbers + 1] = metric end
  end
  return curves, #numbers > 0 and numbers or nil
end

local function check_output(path)
  local folder = path:match('^(.*)/[^/]*$')
  if folder == '' then folder = '/' end
  if folder and pd.file.kind(pd.file.real_path(folder)) ~= 'folder' then
    error(("--output: there is no folder '%s'"):format(folder), 0)
  end
  if path:match('/$') or pd.file.kind(path) == 'folder' then
    error(("--output: expected a file, got the folder '%s'"):format(path), 0)
  end
end

-- page.html(options) -> the page that the command line options describe, the number of its runs and points as a text,
-- and the reason why it has no live charts, or nil. Also returns its runs.
function M.html(options)
  local rows, left_out = gather.runs(options, options.registry or runs.path())
  local points = selection.points(rows)
  local trained = charts.read(points)
  local curves, numbers = split(options.metric, points)
  local notes = {}
  if #left_out > 0 then
    notes[#notes + 1] = ('Left out: %d runs of scripts that trained nothing themselves, %s%s.'):format(#left_out,
      left_out[1].folder, #left_out > 1 and ' and others' or '')
  end
  if trained == 0 then notes[#notes + 1] = 'None of the runs has metrics of an epoch, so there are no curves.' end
  local dygraphs, reason = library.find()
  local html = document.html { points = points, rows = rows, title = options.title or title_of(rows, points),
    metrics = curves, result_metrics = numbers, x = options.x, library = dygraphs, notes = notes, live = options.live }
  local counts = ('%s at %s'):format(pd.tables.counted(#rows, 'run'), pd.tables.counted(#points, 'point'))
  return html, counts, reason, rows
end

-- page.write(options): writes the page. Returns a description of the written page, and the reason why it has no live
-- charts, or nil.
function M.write(options)
  check_output(options.output)
  local html, counts, reason = M.html(options)
  pd.file.write(options.output, html)
  local size = #html < 1e6 and ('%.0f kB'):format(#html / 1e3) or ('%.1f MB'):format(#html / 1e6)
  return ('%s: %s, %s'):format(options.output, counts, size), reason
end

local page_rows = {
  { 'runs', {}, 'numbers of the registry, run folders, and folders of runs', type = 'list of texts or integers' },
  { 'path', 'report.html', 'file of the page' },
}
local of_the_command = { output = true, live = true, port = true }
for _, row in ipairs(M.declaration.options) do
  if not of_the_command[row[1]] then page_rows[#page_rows + 1] = row end
end
local page_options = pd._options.declare('report.page', page_rows)

-- page.make(options): report.page.
function M.make(given)
  local options = page_options(given)
  options.output, options.words = options.path, {}
  for i, run in ipairs(options.runs) do options.words[i] = tostring(run) end
  local ok, said = pcall(function()
    if #options.words == 0 and not selection.filtered(options) then
      error("which runs? expected runs = {...}, a list of run folders and numbers of the registry, or a filter such as "
        .. "grid = 'NAME'", 0)
    end
    return (M.write(options))
  end)
  if not ok then error('[report.page] ' .. (type(said) == 'table' and said.usage or tostring(said)), 0) end
  return said
end

return M
