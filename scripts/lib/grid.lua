-- Grids: a script trained at many points (learning rates, sizes, ...), each with several restarts,
-- on a pool of processes with one thread each.
--
--   local rows = grid.run{
--     name = 'ns_rnn/dyck/ns', script = 'scripts/experiments/ns_rnn/train.lua',
--     folder = 'runs/ns_rnn/grid/dyck/ns', fixed = { task = 'dyck', model = 'ns' },
--     points = { { learning_rate = 0.01 }, { learning_rate = 0.005 } }, restarts = 5, workers = 2 }
--
-- What the script must do: take its options, --seed, --restart and --run-folder, write result.json
-- (one flat table) into the run folder as its last act, and go on where it was when it is started
-- again on the same folder. A run is finished when its result.json is there, whoever made it; so
-- a grid that was stopped in any way goes on when it is started again. See docs/reference/runs.md.
local bit = require 'bit'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local pd = require 'pushdown'
local runs = require 'pushdown.runs'

local M = {}

local attempts_of_a_run = 2
local log_lines = 15  -- of a failed run that are shown

local function fail(...) error('[grid.run] ' .. (...):format(select(2, ...)), 0) end

-- grid.seed(grid_name, point_name, restart) -> integer from 0 to 2^31 - 1: the 32-bit FNV-1a hash of
-- the three, with a zero byte between them, without its last bit. It does not depend on what else
-- the grid holds nor on the order.
function M.seed(grid_name, point_name, restart)
  local text = table.concat({ grid_name, point_name, tostring(restart) }, '\0')
  local hash = 2166136261
  for i = 1, #text do
    hash = bit.bxor(hash, text:byte(i)) % 2 ^ 32
    -- The prime is 2^24 + 403; the whole product would not be exact in a double.
    hash = (hash % 2 ^ 8 * 2 ^ 24 + hash * 403) % 2 ^ 32
  end
  return math.floor(hash / 2)
end

local function value_text(value, separator)
  if type(value) == 'table' then
    local parts = {}
    for i, item in ipairs(value) do parts[i] = value_text(item) end
    return table.concat(parts, separator)
  end
  return type(value) == 'number' and json.encode(value) or tostring(value)
end

local function sorted_keys(options)
  local keys = {}
  for key in pairs(options) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

-- grid.point_name{learning_rate = 0.005, size = 20} -> 'learning_rate=0.005,size=20'; the items of a
-- list are joined by '+', and the point without options is 'default'.
function M.point_name(point)
  local parts = {}
  for _, key in ipairs(sorted_keys(point)) do parts[#parts + 1] = key .. '=' .. value_text(point[key], '+') end
  local name = #parts > 0 and table.concat(parts, ',') or 'default'
  if name:find('[/%c]') then fail("the point '%s' cannot name a folder; it has a '/' in it", name) end
  return name
end

local function add_option_words(words, options)
  for _, key in ipairs(sorted_keys(options)) do
    local value, name = options[key], key:gsub('_', '-')
    if type(value) == 'boolean' then
      words[#words + 1] = (value and '--' or '--no-') .. name
    else
      words[#words + 1] = '--' .. name
      words[#words + 1] = value_text(value, ',')
    end
  end
end

local keys_of_a_grid = { name = 'string', script = 'string', folder = 'string', fixed = 'table', points = 'table',
  restarts = 'number', flags = 'table' }
local keys_of_a_call = { workers = 'number', registry = 'string', failures = 'string', progress = 'boolean' }

local function check_keys(given, ...)
  for key, value in pairs(given) do
    local expected
    for _, keys in ipairs { ... } do expected = expected or keys[key] end
    if type(key) == 'string' and not expected then
      local known = {}
      for _, keys in ipairs { ... } do
        for name in pairs(keys) do known[#known + 1] = name end
      end
      table.sort(known)
      fail("unknown option '%s'; the options are %s", key, table.concat(known, ', '))
    elseif type(key) == 'string' and type(value) ~= expected then
      fail('%s must be a %s, got %s', key, expected, type(value))
    end
  end
end

local function script_path(script)
  if files.exists(script) then return script end
  local own = pd.root .. '/' .. script
  if files.exists(own) then return own end
  fail("there is no script '%s'", script)
end

-- The runs of one grid, the first restart of all points first.
local function runs_of(grid)
  for _, key in ipairs { 'name', 'script', 'folder', 'points' } do
    if not grid[key] then fail("%s is missing: name, script, folder and points are needed", key) end
  end
  local restarts = grid.restarts or 1
  if restarts < 1 or restarts ~= math.floor(restarts) then fail('restarts must be an integer from 1') end
  local script, list = script_path(grid.script), {}
  for restart = 1, restarts do
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
        seed = M.seed(grid.name, name, restart), script = script, flags = grid.flags or {}, attempts = 0,
        status = 'waiting', folder = ('%s/%s/restart-%d'):format(grid.folder, name, restart) }
    end
  end
  return list
end

local function command_of(run)
  local words = { pd.process.executable(), '--threads', '1', '--exit-with-parent', tostring(pd.process.pid()),
    run.script }
  add_option_words(words, run.options)
  for _, word in ipairs { '--seed', tostring(run.seed), '--restart', tostring(run.restart), '--run-folder',
    run.folder } do
    words[#words + 1] = word
  end
  for _, word in ipairs(run.flags) do words[#words + 1] = word end
  return words
end

-- The options that the words of `flags` set, as a script declared by pushdown.experiment reads them.
local function options_of_flags(flags)
  local options, at = {}, 1
  while at <= #flags do
    local name, value = flags[at]:match('^%-%-([^=]+)=(.*)$')
    name = name or flags[at]:match('^%-%-(.+)$')
    local following = flags[at + 1]
    if name and not value and following and not following:match('^%-%-') then
      value, at = following, at + 1
    end
    if name then
      local off = not value and name:match('^no%-(.+)$')
      options[((off or name):gsub('%-', '_'))] = value or (off and 'false' or 'true')
    end
    at = at + 1
  end
  return options
end

-- Words as they compare: numbers without regard to how they are written.
local function normal(text)
  return (text:gsub('[^,]+', function(item)
    local number = tonumber(item)
    return number and ('%.17g'):format(number) or item
  end))
end

-- The result in the run folder, or nil; an error if it was made with other options than these.
local function finished_result(run)
  local result = runs.result(run.folder)
  if not result then return nil end
  local kept = runs.read_json(run.folder .. '/experiment.json')
  local made = kept and kept.options or {}
  local function compare(key, wanted)
    local was = made[key]
    if was == nil and (key == 'seed' or key == 'restart') then was = result[key] end
    if was == nil or was == json.null or normal(value_text(was, ',')) == normal(wanted) then return end
    fail('%s holds a result for %s = %s, this grid wants %s; choose another folder, or remove its '
      .. 'result.json', run.folder, key, value_text(was, ','), wanted)
  end
  for key, value in pairs(run.options) do compare(key, value_text(value, ',')) end
  compare('seed', tostring(run.seed))
  compare('restart', tostring(run.restart))
  local flags = options_of_flags(run.flags)
  for key, value in pairs(flags) do compare(key, value) end
  for _, size in ipairs { 'quick', 'smoke' } do
    if not flags[size] and run.options[size] == nil then compare(size, 'false') end
  end
  return result
end

local function log_tail(path)
  local file = io.open(path, 'rb')
  if not file then return '' end
  file:seek('end', -math.min(file:seek('end'), 4000))
  local lines = {}
  for line in file:lines() do lines[#lines + 1] = line end
  file:close()
  return runs.clean_text(table.concat(lines, '\n', math.max(1, #lines - log_lines + 1)))
end

-- Epoch and cross-entropy difference of the last epoch in a run's metrics, or nil.
local function last_epoch(folder)
  local file = io.open(folder .. '/metrics.jsonl', 'rb')
  if not file then return nil end
  file:seek('end', -math.min(file:seek('end'), 8000))
  local text, found = file:read('*a'), nil
  file:close()
  for line in text:gmatch('[^\n]+') do
    if line:find('"event":"epoch"', 1, true) and line:sub(1, 1) == '{' then found = line end
  end
  local ok, epoch = pcall(json.decode, found or '')
  if ok then return epoch.epoch, epoch.cross_entropy_difference end
end

local function duration(seconds)
  local whole = math.floor(seconds + 0.5)
  if whole < 3600 then return ('%d:%02d'):format(whole / 60, whole % 60) end
  return ('%d:%02d:%02d'):format(whole / 3600, whole / 60 % 60, whole % 60)
end

-- ---- One call ----

local Session = {}
Session.__index = Session

-- A line of its own, above the status line.
function Session:say(...)
  if self.status_visible then io.stderr:write('\r\27[K') end
  self.status_visible = false
  print((...):format(select(2, ...)))
  io.stdout:flush()
end

function Session:title(run)
  return ('%s%s restart %d'):format(self.several and run.grid .. ' ' or '', run.point, run.restart)
end

function Session:settle(run, status, fields)
  run.status = status
  for key, value in pairs(fields) do run[key] = value end
  if run.lock then run.lock:release() end
  run.lock, run.process = nil, nil
  self.settled = self.settled + 1
  if self.registry then
    local record = { status = status, result = run.result, seconds = run.seconds, message = run.message }
    if run.attempts > 0 then
      self.registry:finish(run.id, record)
    else
      self.registry:update(run.id, record)
    end
  end
end

function Session:done(run, result, note)
  local seconds = tonumber(result.seconds) or run.began and pd.process.now() - run.began
  self:settle(run, 'done', { result = result, seconds = seconds })
  local metric = runs.metric(result)
  self:say('[%d/%d] %s: %s%s%s', self.settled, #self.runs, self:title(run),
    metric and ('%s %.4f'):format(metric:gsub('_', ' '), result[metric]) or 'done',
    seconds and ', ' .. duration(seconds) or '', note or '')
  if seconds then self.seconds, self.timed = self.seconds + seconds, self.timed + 1 end
end

-- Takes over a result that is there, or a failure that another coordinator has had since this one
-- began. Whether the run is settled.
function Session:adopt(run)
  local result = finished_result(run)
  if result then
    self:done(run, result, ' (was finished)')
    return true
  end
  local row = run.elsewhere and self.registry and self.registry:find { id = run.id }[1]
  if row and row.status == 'failed' and (row.finished or 0) >= self.began then
    self:settle(run, 'failed', { message = row.message })
    self:say('[%d/%d] %s: FAILED in another process', self.settled, #self.runs, self:title(run))
    return true
  end
  return false
end

-- The next run to start, with its lock taken, or nil when there is none at the moment.
function Session:next_run()
  local now = pd.process.now()
  for _, run in ipairs(self.runs) do
    if run.status == 'waiting' and now >= (run.next_look or 0) then
      if run.lock then return run end
      if not self:adopt(run) then
        run.lock = pd.process.lock(run.folder)
        -- Whoever had the lock may just have finished.
        if run.lock and not self:adopt(run) then return run end
        if run.status == 'waiting' then run.elsewhere, run.next_look = true, now + 2 end
      end
    end
  end
end

function Session:start(run)
  local command, output = command_of(run), run.folder .. '/output.log'
  run.attempts, run.began, run.status = run.attempts + 1, pd.process.now(), 'running'
  run.elsewhere = nil
  local log = assert(io.open(output, 'ab'))
  log:write(('--- %s, attempt %d: %s\n'):format(os.date('%Y-%m-%d %H:%M:%S'), run.attempts,
    table.concat(runs.plain_command(command), ' ')))
  log:close()
  local fields = { folder = run.folder, command = runs.plain_command(command), host = pd.process.host() }
  run.id = self.registry and self.registry:begin(fields)
  run.process = self.pool:start { command = command, output = output, lock = run.lock,
    environment = { PUSHDOWN_RUN_LOCK = run.folder, PUSHDOWN_REGISTRY = self.registry_path or 'off' } }
  if run.id then self.registry:update(run.id, { pid = run.process:pid() }) end
end

function Session:ended(run, ending)
  local result = runs.result(run.folder)
  if result then
    local note = ending.text ~= 'exited with status 0' and ' (but it then ' .. ending.text .. ')' or ''
    return self:done(run, result, note)
  end
  local output = run.folder .. '/output.log'
  local reason = ending.text .. (ending.text == 'exited with status 0' and ' and wrote no result.json' or '')
  if run.attempts < attempts_of_a_run then
    self:say('%s: the process %s; tried once more (%s)', self:title(run), reason, output)
    run.status, run.process = 'waiting', nil
    return
  end
  self:settle(run, 'failed', { message = ('attempt %d %s\n%s'):format(run.attempts, reason, log_tail(output)) })
  self:say('[%d/%d] %s: FAILED, the process %s (%s)', self.settled, #self.runs, self:title(run), reason, output)
end

-- "3/40 finished; size=20 restart 2 epoch 31 0.0123; 4.1 runs/h, 5:10:00 left"
function Session:status_text()
  local parts, left, elsewhere, failed = {}, 0, 0, 0
  local mean = self.timed > 0 and self.seconds / self.timed or nil
  local now = pd.process.now()
  for _, run in ipairs(self.runs) do
    if run.status == 'failed' then failed = failed + 1 end
    if run.elsewhere and run.status == 'waiting' then elsewhere = elsewhere + 1 end
    if run.status == 'waiting' then left = left + (mean or 0) end
    if run.status == 'running' then
      local epoch, difference = last_epoch(run.folder)
      parts[#parts + 1] = ('%s%s%s'):format(self:title(run), epoch and ' epoch ' .. epoch or '',
        difference and (' %.4f'):format(difference) or '')
      left = left + math.max(0, (mean or 0) - (now - run.began))
    end
  end
  local counts = ('%d/%d finished'):format(self.settled, #self.runs)
  if failed > 0 then counts = counts .. (', %d failed'):format(failed) end
  if elsewhere > 0 then counts = counts .. (', %d in other processes'):format(elsewhere) end
  table.insert(parts, 1, counts)
  if mean then
    parts[#parts + 1] = ('%.1f runs/h, %s left'):format(3600 * self.workers / math.max(mean, 1e-3),
      duration(left / self.workers))
  end
  return table.concat(parts, '; ')
end

function Session:show_status()
  local now = pd.process.now()
  if not self.progress or now < self.next_status then return end
  local columns = pd.process.columns 'stderr'
  local terminal = columns and os.getenv 'TERM' ~= 'dumb'
  self.next_status = now + (terminal and 0.5 or 60)
  if terminal then
    io.stderr:write('\r', self:status_text():sub(1, columns - 1), '\27[K')
    self.status_visible = true
  else
    pd.log.info(self:status_text())
  end
end

function Session:work()
  while self.settled < #self.runs do
    local running = {}
    for _, run in ipairs(self.runs) do
      if run.status == 'running' then running[#running + 1] = run end
    end
    while #running < self.workers do
      local run = self:next_run()
      if not run then break end
      self:start(run)
      running[#running + 1] = run
    end
    if self.settled == #self.runs then break end
    self:show_status()
    self.pool:wait(0.5)
    for _, run in ipairs(running) do
      local ending = run.process:poll()
      if ending then self:ended(run, ending) end
    end
  end
end

local function processors()
  local pipe = io.popen('nproc 2>/dev/null')
  local count = pipe and tonumber(pipe:read('*l') or '')
  if pipe then pipe:close() end
  return count or 1
end

local function report_failures(session)
  local failed = {}
  for _, run in ipairs(session.runs) do
    if run.status == 'failed' then failed[#failed + 1] = run end
  end
  if #failed == 0 then return 0 end
  local rule = ('!'):rep(78)
  print(rule)
  print(('%d OF %d RUNS FAILED (each was tried %d times)'):format(#failed, #session.runs, attempts_of_a_run))
  for _, run in ipairs(failed) do
    print(('\n%s %s restart %d, seed %d'):format(run.grid, run.point, run.restart, run.seed))
    print('  in ' .. run.folder)
    print('  ' .. (run.message or ''):gsub('\n', '\n  '))
  end
  print(rule)
  return #failed
end

-- grid.run{name=, script=, folder=, fixed=, points=, restarts=, flags=, workers=, registry=,
-- failures=, progress=} -> rows. Several grids, {{name=, ...}, {name=, ...}, workers=}, share one
-- pool. fixed: options of all points; points: list of tables of options; flags: words added to every
-- command line. workers: how many processes at once (as many as processors). registry: path of the
-- registry. failures = 'error' (the default): once all is done, failed runs are an error, so that
-- the script ends with status 1; 'report': rows.failed says how many there are. progress = false:
-- no status line.
--
-- A row for each run, in the order grid, point, restart: grid, point, options, restart, seed, status
-- ('done' or 'failed'), folder, result (result.json), seconds, message, attempts (in this call).
function M.run(given)
  if type(given) ~= 'table' then fail('expected a table of options, got %s', type(given)) end
  local grids = given[1] and given or { given }
  if given[1] then
    check_keys(given, keys_of_a_call)
    for _, grid in ipairs(given) do check_keys(grid, keys_of_a_grid) end
  else
    check_keys(given, keys_of_a_grid, keys_of_a_call)
  end
  local failures = given.failures or 'error'
  if failures ~= 'error' and failures ~= 'report' then
    fail("failures must be 'error' or 'report', got '%s'", failures)
  end
  local path = given.registry or runs.path()
  local session = setmetatable({ runs = {}, pool = pd.process.pool(), settled = 0, seconds = 0, timed = 0,
    workers = given.workers or processors(), several = #grids > 1, progress = given.progress ~= false,
    began = pd.process.now(), next_status = pd.process.now() + 1, registry_path = path,
    registry = path and runs.open(path) }, Session)
  if session.workers < 1 or session.workers ~= math.floor(session.workers) then
    fail('workers must be an integer from 1, got %s', tostring(session.workers))
  end
  local folders = {}
  for order, grid in ipairs(grids) do
    for _, run in ipairs(runs_of(grid)) do
      if folders[run.folder] then fail('two points have the same folder: %s', run.folder) end
      folders[run.folder], run.order = true, order
      session.runs[#session.runs + 1] = run
    end
  end
  -- First all points of the first restart, over all grids: what is stopped early is of use.
  table.sort(session.runs, function(a, b)
    if a.restart ~= b.restart then return a.restart < b.restart end
    if a.order ~= b.order then return a.order < b.order end
    return a.index < b.index
  end)
  session:enter()
  session.pool:supervise(function() session:work() end)
  if session.status_visible then io.stderr:write('\r\27[K') end

  local rows = {}
  for i, run in ipairs(session.runs) do rows[i] = run end
  table.sort(rows, function(a, b)
    if a.order ~= b.order then return a.order < b.order end
    if a.index ~= b.index then return a.index < b.index end
    return a.restart < b.restart
  end)
  rows.failed = report_failures(session)
  if rows.failed > 0 and failures == 'error' then
    fail('%d of %d runs failed; their ends are shown above', rows.failed, #rows)
  end
  return rows
end

-- Gives every run its row in the registry and takes over what is finished.
function Session:enter()
  local rows = {}
  if self.registry then
    local entries = {}
    for i, run in ipairs(self.runs) do
      entries[i] = { folder = run.folder, grid = run.grid, point = run.point, restart = run.restart,
        seed = run.seed, options = run.options }
    end
    rows = self.registry:add(entries)
    for i, row in ipairs(rows) do
      local differs = {}
      for _, key in ipairs { 'grid', 'point', 'restart', 'seed' } do
        if row[key] ~= entries[i][key] then differs[key] = entries[i][key] end
      end
      if next(differs) then self.registry:update(row.id, differs) end
      self.runs[i].id = row.id
    end
  end
  local finished = 0
  for i, run in ipairs(self.runs) do
    local result, row = finished_result(run), rows[i]
    if result then
      finished = finished + 1
      run.status, run.result, run.seconds = 'done', result, tonumber(result.seconds)
      if row and row.status ~= 'done' then
        self.registry:update(run.id, { status = 'done', result = result, seconds = run.seconds })
      end
      if run.seconds then self.seconds, self.timed = self.seconds + run.seconds, self.timed + 1 end
    end
  end
  self.settled = finished
  self:say('%d runs on %d process%s%s', #self.runs, self.workers, self.workers == 1 and '' or 'es',
    finished > 0 and ('; %d were finished before'):format(finished) or '')
end

return M
