-- One call of grid.run: keeps track of waiting, running and finished runs, and runs a pool of processes.
local changes = require 'pushdown.grid.changes'
local duration = require 'pushdown.runs.layout'.duration
local json = require 'pushdown.json'
local metric = require 'pushdown.statistics.metric'
local options = require 'pushdown.grid.options'
local pd = require 'pushdown'
local plan = require 'pushdown.store.plan'
local record = require 'pushdown.store.record'
local runs = require 'pushdown.runs'
local store = require 'pushdown.store.folder'
local trim = require 'pushdown.text.trim'
local values = require 'pushdown.store.values'
local visible = require 'pushdown.text.visible'

local attempts_of_a_run = 2
local log_lines = 15  -- shown of a failed run

local function log_tail(path)
  local file = io.open(path, 'rb')
  if not file then return '' end
  file:seek('end', -math.min(file:seek('end'), 4000))
  local lines = {}
  for line in file:lines() do lines[#lines + 1] = line end
  file:close()
  return visible(pd._text.clean(table.concat(lines, '\n', math.max(1, #lines - log_lines + 1))))
end

-- The last epoch in a run's metrics and the number by which runs are compared, also as a cost, or nil.
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
  if not ok then return nil end
  local key = runs.metric(epoch)
  return epoch.epoch, epoch[key], key and metric.better(key) == 'higher' and -epoch[key] or epoch[key]
end

-- Ends the grid if the script has refused the name of an option of a run: it would refuse that of every run.
local function stop_if_misspelt(run)
  local said
  for line in run.message:gmatch '[^\n]+' do
    if line:find('unknown option --', 1, true) then said = line break end
  end
  if said then error(('[grid.run] %s: %s'):format(run.script, said), 0) end
end

local Session = { log_tail = log_tail, stop_if_misspelt = stop_if_misspelt }
Session.__index = Session

-- Prints a line above the live view.
function Session:say(...)  -- luacheck: no self
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
    local ended = { status = status, result = run.result, seconds = run.seconds, message = run.message }
    if run.attempts > 0 then
      self.registry:finish(run.id, ended)
    else
      self.registry:update(run.id, ended)
    end
  end
end

function Session:done(run, result, note)
  local seconds = tonumber(result.seconds) or run.began and pd.process.clock() - run.began
  self:settle(run, 'done', { result = result, seconds = seconds })
  local key, time = runs.metric(result), duration(seconds)
  self:say('[%d/%d] %s: %s%s%s', self.settled, #self.runs, self:title(run),
    key and ('%s %.4f'):format(key:gsub('_', ' '), result[key]) or 'done',
    time and ', ' .. time or '', note or '')
  if seconds then self.seconds, self.timed = self.seconds + seconds, self.timed + 1 end
end

-- Takes over an existing result, or a failure that another coordinator has recorded since this one began. Returns
-- whether the run is settled.
function Session:adopt(run)
  local result = changes.finished_result(run)
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

-- Returns the next run to start, locked, or nil if there is none at the moment.
function Session:next_run()
  local now = pd.process.clock()
  for _, run in ipairs(self.runs) do
    if run.status == 'waiting' and now >= (run.next_look or 0) then
      if run.lock then return run end
      if not self:adopt(run) then
        run.lock = pd.process.lock(run.folder)
        -- The process that had the lock may just have finished the run.
        if run.lock and not self:adopt(run) then return run end
        if run.status == 'waiting' then run.elsewhere, run.next_look = true, now + 2 end
      end
    end
  end
end

function Session:start(run)
  local command, output = options.command(run), run.folder .. '/output.log'
  run.attempts, run.began, run.status = run.attempts + 1, pd.process.clock(), 'running'
  run.elsewhere = nil
  local log = assert(io.open(output, 'ab'))
  log:write(('--- %s, attempt %d: %s\n'):format(os.date('%Y-%m-%d %H:%M:%S'), run.attempts,
    table.concat(record.plain_command(command), ' ')))
  log:close()
  local fields = { folder = run.folder, command = record.plain_command(command), host = pd.process.host() }
  run.id = self.registry and self.registry:begin(fields)
  run.process = self.pool:start { command = command, output = output, lock = run.lock,
    environment = { PUSHDOWN_RUN_LOCK = run.folder, PUSHDOWN_REGISTRY = self.registry_path or 'off' } }
  if run.id then self.registry:update(run.id, { pid = run.process:pid() }) end
end

function Session:ended(run, ending)
  local result = store.result(run.folder)
  if result then
    local note = ending.text ~= 'exited with status 0' and ' (but it then ' .. ending.text .. ')' or ''
    return self:done(run, result, note)
  end
  local output = run.folder .. '/output.log'
  local reason = ending.text .. (ending.text == 'exited with status 0' and ' and wrote no result.json' or '')
  local refused = ending.code == 2
  if run.attempts < attempts_of_a_run and not refused then
    self:say('%s: the process %s; trying once more (%s)', self:title(run), reason, output)
    run.status, run.process = 'waiting', nil
    return
  end
  self:settle(run, 'failed', { message = ('attempt %d %s\n%s'):format(run.attempts, reason, log_tail(output)) })
  self:say('[%d/%d] %s: FAILED, the process %s (%s)', self.settled, #self.runs, self:title(run), reason, output)
  if refused then stop_if_misspelt(run) end
end

-- The state for the live view: "3/40 finished", and a row for each running run; at the end "40/40 finished, in 1:20".
function Session:status()
  local rows, left, elsewhere, failed = {}, 0, 0, 0
  local mean = self.timed > 0 and self.seconds / self.timed or nil
  local now = pd.process.clock()
  for _, run in ipairs(self.runs) do
    if run.status == 'failed' then failed = failed + 1 end
    if run.elsewhere and run.status == 'waiting' then elsewhere = elsewhere + 1 end
    if run.status == 'waiting' then left = left + (mean or 0) end
    if run.status == 'running' then
      local epoch, value, cost = last_epoch(run.folder)
      rows[#rows + 1] = { name = self:title(run), best = value and ('%.4f'):format(value) or '',
        note = epoch and 'epoch ' .. epoch or '', value = cost }
      left = left + math.max(0, (mean or 0) - (now - run.began))
    end
  end
  local title = ('%d/%d finished'):format(self.settled, #self.runs)
  if failed > 0 then title = title .. (', %d failed'):format(failed) end
  if elsewhere > 0 then title = title .. (', %d in other processes'):format(elsewhere) end
  if self.finished then
    local time = duration(pd.process.clock() - self.started)
    return { title = ('%s, in %s'):format(title, time), rows = json.list {}, ended = true }
  end
  return { title = title, rows = json.list(rows), fraction = self.settled / #self.runs,
    seconds_left = mean and left / self.workers or nil, speed = mean and 3600 * self.workers / math.max(mean, 1e-3) }
end

-- "3/40 finished; size=20 restart 2 epoch 31 0.0123; 4.1 runs/h, 5:10:00 left"
function Session.status_text(status)
  local parts = { status.title }
  for _, row in ipairs(status.rows) do
    parts[#parts + 1] = trim.right(('%s %s %s'):format(row.name, row.note, row.best))
  end
  if status.speed then
    parts[#parts + 1] = ('%.1f runs/h, %s left'):format(status.speed, duration(status.seconds_left))
  end
  return table.concat(parts, '; ')
end

function Session:show_status()
  local now = pd.process.clock()
  if not self.progress or now < self.next_status then return end
  local style = pd._live.style()
  self.next_status = now + (style == 'lines' and 60 or 0.5)
  if style == 'lines' then
    pd._live.tell(self.status_text(self:status()))
  else
    pd._live.show(self:status())
  end
end

-- Whether nothing is left to do.
function Session:is_over()
  if self.enough and not self.stopped and self.asked ~= self.settled then
    self.asked, self.stopped = self.settled, self.enough(self.runs)
  end
  return self.stopped or self.settled == #self.runs
end

function Session:work()
  while not self:is_over() do
    local running = {}
    for _, run in ipairs(self.runs) do
      if run.status == 'running' then running[#running + 1] = run end
    end
    while #running < self.workers and not self:is_over() do
      local run = self:next_run()
      if not run then break end
      self:start(run)
      running[#running + 1] = run
    end
    if self:is_over() then break end
    self:show_status()
    self.pool:wait(0.5)
    for _, run in ipairs(running) do
      local ending = run.process:poll()
      if ending then self:ended(run, ending) end
    end
  end
end

-- Leaves the finished state in the view, which a notebook keeps.
function Session:show_end()
  self.finished = true
  if self.progress and pd._live.style() == 'listener' then pd._live.show(self:status()) end
end

function Session:place()
  return ('on %d process%s'):format(self.workers, self.workers == 1 and '' or 'es')
end

-- Enters every run in the registry and in the plan of its grid, and takes over the finished ones.
function Session:enter()
  local rows = {}
  if self.registry then
    local entries = {}
    for i, run in ipairs(self.runs) do
      entries[i] = { folder = run.folder, grid = run.grid, point = run.point, restart = run.restart,
        seed = run.seed, options = values.storable(run.options) }
    end
    rows = self.registry:add(entries)
    for i, row in ipairs(rows) do
      local differs = {}
      for _, key in ipairs { 'grid', 'point', 'restart', 'seed' } do
        if row[key] ~= entries[i][key] then differs[key] = entries[i][key] end
      end
      if next(differs) then self.registry:update(row.id, differs) end
      for key, value in pairs(differs) do row[key] = value end
      self.runs[i].id = row.id
    end
    plan.add(rows)
  end
  local finished = 0
  for i, run in ipairs(self.runs) do
    local result, row = changes.finished_result(run), rows[i]
    if result then
      finished = finished + 1
      run.status, run.result, run.seconds = 'done', result, tonumber(result.seconds)
      if row and row.status ~= 'done' then
        self.registry:update(run.id, { status = 'done', result = result, seconds = run.seconds, git = run.recorded })
      end
      if run.seconds then self.seconds, self.timed = self.seconds + run.seconds, self.timed + 1 end
    end
  end
  self.settled = finished
  self:say('%d runs %s%s', #self.runs, self:place(),
    finished > 0 and ('; %d %s finished before'):format(finished, finished == 1 and 'was' or 'were') or '')
  if self.note then self:say('%s', self.note) end
end

-- Releases the runs that were stopped because the others are enough.
function Session:leave()
  for _, run in ipairs(self.runs) do
    if run.status == 'running' and not self:adopt(run) then
      run.status = 'waiting'
      if self.registry then self.registry:finish(run.id, { status = 'interrupted' }) end
    end
    if run.lock then run.lock:release() end
    run.lock, run.process = nil, nil
  end
end

-- Reports all failed runs and returns their number.
function Session:report_failures()
  local failed = {}
  for _, run in ipairs(self.runs) do
    if run.status == 'failed' then failed[#failed + 1] = run end
  end
  if #failed == 0 then return 0 end
  local rule = ('!'):rep(78)
  print(rule)
  print(('%d OF %d RUNS FAILED (each was tried %d times)'):format(#failed, #self.runs, attempts_of_a_run))
  for _, run in ipairs(failed) do
    print(('\n%s %s restart %d, seed %d'):format(run.grid, run.point, run.restart, run.seed))
    print('  in ' .. run.folder)
    print('  ' .. (run.message or ''):gsub('\n', '\n  '))
  end
  print(rule)
  return #failed
end

return Session
