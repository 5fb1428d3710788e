-- Grids: trains a script at many points (learning rates, sizes, ...), each with several restarts,
-- on a pool of processes with one thread each.
--
--   local rows = grid.run{
--     name = 'ns_rnn/dyck/ns', script = 'scripts/experiments/ns_rnn.lua',
--     folder = 'runs/ns_rnn/grid/dyck/ns', fixed = { task = 'dyck', model = 'ns' },
--     points = { { learning_rate = 0.01 }, { learning_rate = 0.005 } }, restarts = 5, workers = 2 }
--
-- grid.random draws points from distributions, pd.search.run trains the best of them longer.
--
-- The script must take its options, --seed, --restart and --run-folder. It writes result.json (one flat table) into the
-- run folder as its last act, and resumes the run if it is started again on the same folder. A run is finished if its
-- result.json exists, whoever wrote it, with the same options, script and other inputs. A grid that was stopped in any
-- way therefore continues when it is started again. See
-- docs/reference/grids.md.
local changes = require 'pushdown.grid.changes'
local files = require 'pushdown.files'
local live = require 'pushdown.text.live'
local options_of = require 'pushdown.grid.options'
local pd = require 'pushdown'
local random = require 'pushdown.grid.random'
local record = require 'pushdown.record'
local rows_of = require 'pushdown.grid.rows'
local runs = require 'pushdown.runs'
local Session = require 'pushdown.grid.session'
local slurm = require 'pushdown.grid.slurm'

local M = {}

local function fail(...) error('[grid.run] ' .. (...):format(select(2, ...)), 0) end

-- grid.seed(grid_name, point_name, restart) -> integer from 0 to 2^31 - 1, the seed of a run: a hash of the three that
-- does not depend on the order or on the other points of the grid. Grids with seeds = 'shared' take
-- grid.seed('', '', restart).
function M.seed(grid_name, point_name, restart) return options_of.seed(grid_name, point_name, restart) end

-- grid.point_name{learning_rate = 0.005, size = 20} -> 'learning_rate=0.005,size=20', the name of a point.
-- '+' joins the items of a list, and the point without options is 'default'.
function M.point_name(point)
  local parts = {}
  for _, key in ipairs(options_of.keys(point)) do
    parts[#parts + 1] = key .. '=' .. options_of.text(point[key], '+')
  end
  return #parts > 0 and table.concat(parts, ',') or 'default'
end

local longest_folder = 200  -- bytes; file systems allow 255

-- The name of the folder of a point: its name, with %2F for a slash and a hash in place of the end of a long one.
local function folder_name(name)
  local folder = name
  if name:find '[/%c]' then
    folder = name:gsub('[/%%%c]', function(character) return ('%%%02X'):format(character:byte()) end)
  end
  if #folder <= longest_folder then return folder end
  local hash = pd.file.sha256_of_text(name):sub(1, 16)
  local kept = folder:sub(1, longest_folder - #hash - 1):gsub('[\192-\255]?[\128-\191]*$', '')
  return kept .. '-' .. hash
end

-- grid.run_folder(folder, point, restart) -> the run folder of a restart of the point with this name.
function M.run_folder(folder, point, restart)
  return ('%s/%s/restart-%d'):format(folder, folder_name(point), restart)
end

-- grid.options: options for grid.place, which a script that runs grids should declare.
M.options = rows_of.script

-- grid.place(grids, options): copies the values of these options into the arguments of grid.run.
function M.place(grids, options)
  grids.workers = options.workers > 0 and options.workers or nil
  grids.executor, grids.slurm, grids.throttle = options.executor, options.slurm, options.throttle
  grids.recorded = options.recorded ~= '' and options.recorded or nil
  grids.missing = options.missing
  if options.accept_changed and options.rerun_changed then
    fail '--accept-changed and --rerun-changed exclude each other'
  end
  grids.changed = options.accept_changed and 'accept' or options.rerun_changed and 'rerun' or nil
  return grids
end

-- The finished runs, and a note about the others.
local function finished_of(all)
  local kept = {}
  for _, run in ipairs(all) do
    if changes.finished_result(run) then kept[#kept + 1] = run end
  end
  if #kept == 0 then fail("none of the %d runs is finished, and missing = 'leave' trains none", #all) end
  if #kept == #all then return all end
  return kept, ('%d of %d runs are unfinished and not included.'):format(#all - #kept, #all)
end

-- grid.script_path(script) -> the path of a script that is given as for files.script.
function M.script_path(script)
  local path, problem = files.script(script)
  return path or fail('%s', problem)
end

-- The numbers of the restarts: 1 to n, or those of a list.
local function numbers_of(restarts)
  if type(restarts) == 'table' then
    if #restarts == 0 then fail "option 'restarts' must have at least one number" end
    return restarts
  end
  local list = {}
  for restart = 1, restarts do list[restart] = restart end
  return list
end

-- The runs of one grid; the first restart of all points comes first.
local function runs_of(grid)
  local script, list = M.script_path(grid.script), {}
  for _, restart in ipairs(numbers_of(grid.restarts)) do
    for index, point in ipairs(grid.points) do
      local name, options = M.point_name(point), {}
      for _, part in ipairs { grid.fixed or {}, point } do
        for key, value in pairs(part) do
          if options[key] ~= nil or key == 'seed' or key == 'restart' or key == 'run_folder' then
            fail("the point '%s' sets %s a second time", name, key)
          end
          options[key] = value
        end
      end
      list[#list + 1] = { grid = grid.name, point = name, restart = restart, options = options, index = index,
        seed = grid.seeds == 'shared' and M.seed('', '', restart) or M.seed(grid.name, name, restart),
        script = script, flags = grid.flags, attempts = 0,
        status = 'waiting', folder = M.run_folder(grid.folder, name, restart) }
    end
  end
  return list
end

local grid_options = pd._options.declare('grid.run', rows_of.grid)
local call_options = pd._options.declare('grid.run', rows_of.call)
local options_of_both = pd._options.declare('grid.run', rows_of.grid, rows_of.call)

-- The options of a call of grid.run and the list of its grids.
local function call_and_grids(given)
  if type(given) ~= 'table' or not given[1] then
    local both = options_of_both(given)
    return both, { both }
  end
  local call, grids = {}, {}
  for key, value in pairs(given) do
    if type(key) == 'number' then grids[key] = grid_options(value) else call[key] = value end
  end
  return call_options(call), grids
end

-- grid.run{options} -> rows: trains the script at every point, and returns a row for each run. Several grids,
-- {{name=, ...}, {name=, ...}, workers=}, share one pool. The options name, script, folder, points, fixed, restarts and
-- flags belong to a grid, the others to the call.
--
-- rows has a row for each run, in the order grid, point, restart: grid, point, options, restart, seed, status ('done'
-- or 'failed'; 'waiting' of a run that `enough` has stopped), folder, result (result.json), seconds, message, attempts
-- (in this call), recorded (the commit of a run from a record). With missing = 'leave', unfinished runs are not in the
-- rows, and rows.note gives their number.
function M.run(given)
  local grids
  given, grids = call_and_grids(given)
  local path = given.registry or runs.path()
  local session = setmetatable({ runs = {}, pool = pd.process.pool(), settled = 0, seconds = 0, timed = 0,
    workers = given.workers or pd.process.processors(), several = #grids > 1, progress = given.progress,
    began = pd.process.now(), started = pd.process.clock(), next_status = pd.process.clock() + 1, registry_path = path,
    registry = path and runs.open(path), enough = given.enough }, Session)
  if given.executor == 'slurm' then slurm(session, { options = given.slurm, throttle = given.throttle }) end
  local folders = {}
  for order, grid in ipairs(grids) do
    for _, run in ipairs(runs_of(grid)) do
      if folders[run.folder] then fail('two points have the same folder: %s', run.folder) end
      folders[run.folder], run.order = true, order
      session.runs[#session.runs + 1] = run
    end
  end
  -- The first restart of all points in all grids comes first, so that a grid stopped early is useful.
  table.sort(session.runs, function(a, b)
    if a.restart ~= b.restart then return a.restart < b.restart end
    if a.order ~= b.order then return a.order < b.order end
    return a.index < b.index
  end)
  session.slurm_folder = grids[1].folder .. '/slurm'
  session.note = record.take_over(session.runs, given.recorded)
  local left
  local accepted = changes.settle(session.runs,
    given.missing == 'leave' and 'accept' or given.changed)
  if given.missing == 'leave' then session.runs, left = finished_of(session.runs) end
  session:enter()
  local function work()
    session.pool:supervise(function() session:work() end)
    session:show_end()
  end
  if given.progress then live.during('', work) else work() end
  session:leave()

  local rows = {}
  for i, run in ipairs(session.runs) do rows[i] = run end
  table.sort(rows, function(a, b)
    if a.order ~= b.order then return a.order < b.order end
    if a.index ~= b.index then return a.index < b.index end
    return a.restart < b.restart
  end)
  rows.note, rows.failed = session.note, session:report_failures()
  local notes = { rows.note }
  notes[#notes + 1] = left
  notes[#notes + 1] = accepted
  rows.note = #notes > 0 and table.concat(notes, ' ') or nil
  if rows.failed > 0 and given.failures == 'error' then
    fail('%d of %d runs failed; the ends of their logs are shown above', rows.failed, #rows)
  end
  return rows
end

for _, name in ipairs { 'random', 'uniform', 'log_uniform', 'integers', 'log_integers', 'choices' } do
  M[name] = random[name]
end

return M
