-- Runs a grid as tasks of Slurm job arrays (sbatch) instead of processes of this machine.
--
-- Every unfinished run becomes one task, which runs its command in its folder. Tasks do not write to the registry; this
-- process polls them and does. A second array of the same tasks depends on the first one (afternotok) and retries
-- failed tasks; its task for a finished run ends at once. FOLDER/slurm records the submitted jobs, so that a restarted
-- grid takes over its jobs instead of submitting them twice.
-- See docs/reference/grids.md.
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local options = require 'pushdown.grid.options'
local pd = require 'pushdown'
local record = require 'pushdown.store.record'
local Session = require 'pushdown.grid.session'
local store = require 'pushdown.store.folder'
local trim = require 'pushdown.text.trim'

local Slurm = setmetatable({}, { __index = Session })
Slurm.__index = Slurm

local default_array_size = 1000
local poll_seconds = 3
local polls_until_gone = 3

local function fail(...) error('[grid.run] ' .. (...):format(select(2, ...)), 0) end

local quoted = files.quoted

-- The complete output of a command line, and its exit status.
local function output_of(line)
  local pipe = assert(io.popen(line .. ' 2>&1; echo "exit $?"'))
  local output, status = pipe:read('*a'):match('^(.*)exit (%d+)\n$')
  pipe:close()
  return output, tonumber(status)
end

local function check_slurm()
  local output, status = output_of 'sbatch --version'
  if status ~= 0 then
    fail("sbatch was not found (%s); executor = 'local' does not need it", trim.right(output))
  end
end

-- The largest array that the cluster accepts.
local function array_size()
  local output = output_of 'scontrol show config'
  local size = tonumber(output:match 'MaxArraySize%s*=%s*(%d+)' or '')
  return size and size > 1 and math.min(size - 1, default_array_size) or default_array_size
end

-- The shell line that a task runs: like `options.command`, but it is not a child of this process, and its output goes
-- to the run's log.
local function task_line(run)
  local words, at = options.command(run), 1
  local kept = {}
  while at <= #words do
    if words[at] == '--exit-with-parent' then at = at + 1 else kept[#kept + 1] = quoted(words[at]) end
    at = at + 1
  end
  return ('mkdir -p %s; test -e %s || exec %s >> %s 2>&1'):format(quoted(run.folder),
    quoted(run.folder .. '/result.json'), table.concat(kept, ' '), quoted(run.folder .. '/output.log'))
end

local task_script = [[
#!/bin/sh
# A task of a grid: runs the line of its number in the file of commands.
line=$(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" %s)
test -n "$line" || { echo "there is no task $SLURM_ARRAY_TASK_ID in the file of commands" >&2; exit 1; }
PUSHDOWN_REGISTRY=off
export PUSHDOWN_REGISTRY
eval "$line"
]]

-- Submits an array and returns its number. `more`: additional words of sbatch.
function Slurm:sbatch(script, count, more)
  local words = { 'sbatch', '--parsable', '--ntasks=1', '--cpus-per-task=1', '--requeue', '--open-mode=append',
    -- A task that reaches its time limit writes a checkpoint and ends.
    '--signal=B:INT@60',
    '--job-name=' .. self.runs[1].grid, '--output=' .. self.slurm_folder .. '/%A_%a.out',
    ('--array=0-%d%s'):format(count - 1, self.throttle > 0 and '%' .. self.throttle or '') }
  for _, option in ipairs(self.slurm_options) do words[#words + 1] = '--' .. option end
  for _, word in ipairs(more) do words[#words + 1] = word end
  words[#words + 1] = script
  for i, word in ipairs(words) do words[i] = i > 1 and quoted(word) or word end
  local output, status = output_of(table.concat(words, ' '))
  local job = output:match '^(%d+)' or output:match '\n(%d+)'
  if status ~= 0 or not job then
    fail('sbatch refused the jobs: %s\n  the command was: %s', trim.right(output), table.concat(words, ' '))
  end
  return tonumber(job)
end

-- Submits a list of runs as one array, and a second array that retries failed runs.
function Slurm:submit(list)
  local stamp = ('%s-%d-%d'):format(os.date '%Y%m%d-%H%M%S', pd.process.pid(), self.submitted)
  self.submitted = self.submitted + 1
  local lines, folders = {}, {}
  for i, run in ipairs(list) do lines[i], folders[i] = task_line(run), run.folder end
  local base = ('%s/%s'):format(self.slurm_folder, stamp)
  local commands, script = base .. '.commands', base .. '.sh'
  files.write(commands, table.concat(lines, '\n') .. '\n')
  files.write(script, task_script:format(quoted(commands)))
  -- Chains the arrays, so that all of them together respect the throttle.
  local before = self.throttle > 0 and self.last_job
  local first = self:sbatch(script, #list, before and { '--dependency=afterany:' .. before } or {})
  local second = self:sbatch(script, #list, { '--dependency=afternotok:' .. first, '--kill-on-invalid-dep=yes' })
  files.write(base .. '.json',
    json.encode { jobs = json.list { first, second }, runs = json.list(folders) } .. '\n')
  self.last_job = second
  self:watch(first, second, list)
  self:say('jobs %d and, for retries, %d: %d tasks', first, second, #list)
end

-- Watches the tasks of two arrays as the runs of a list.
function Slurm:watch(first, second, list)
  for i, run in ipairs(list) do
    run.status, run.jobs, run.task = 'waiting', { first, second }, i - 1
    self.jobs[first], self.jobs[second] = true, true
  end
end

-- The queue of the watched jobs: {['job_task'] = state}; nil if Slurm does not answer.
function Slurm:queue()
  local queue, names = {}, {}
  for job in pairs(self.jobs) do names[#names + 1] = tostring(job) end
  if #names == 0 then return queue end
  table.sort(names)
  -- Lists all jobs of the user, because asking for jobs that are gone is an error.
  local output, status = output_of 'squeue --me --noheader --array --format="%F %K %T"'
  if status ~= 0 then
    if not self.silent_since then
      self.silent_since = pd.process.clock()
      pd.log.warn('squeue does not answer; asking again: ' .. trim.right(output))
    end
    return nil
  end
  self.silent_since = nil
  for job, task, state in output:gmatch '(%d+) (%d+) (%S+)' do
    if self.jobs[tonumber(job)] then queue[job .. '_' .. task] = state end
  end
  return queue
end

-- Takes over jobs that an earlier call has submitted and that are still in the queue.
function Slurm:take_over()
  local by_folder, known = {}, {}
  for _, run in ipairs(self.runs) do
    if run.status == 'waiting' then by_folder[run.folder] = run end
  end
  for _, name in ipairs(files.find(self.slurm_folder, '%.json$')) do
    local note = store.read_json(self.slurm_folder .. '/' .. name)
    if note and type(note.jobs) == 'table' and type(note.runs) == 'table' then
      for _, job in ipairs(note.jobs) do self.jobs[job] = true end
      known[#known + 1] = note
    end
  end
  local queue = self:queue()
  if not queue then fail 'squeue does not answer; cannot find out which jobs were submitted before' end
  local taken = 0
  for _, note in ipairs(known) do
    for i, folder in ipairs(note.runs) do
      local run = by_folder[folder]
      if run and (queue[note.jobs[1] .. '_' .. i - 1] or queue[note.jobs[2] .. '_' .. i - 1]) then
        run.jobs, run.task, taken = note.jobs, i - 1, taken + 1
      end
    end
  end
  if taken > 0 then self:say('%d runs are in the queue already', taken) end
end

-- Settles a run whose tasks have left the queue: it is finished or has failed.
function Slurm:settle_run(run)
  if self:adopt(run) then return end
  local log = run.folder .. '/output.log'
  local text = files.exists(log) and self.log_tail(log) or 'there is no ' .. log
  self:settle(run, 'failed', { message = ('the jobs %d and %d wrote no result.json\n%s'):format(run.jobs[1],
    run.jobs[2], text) })
  self:say('[%d/%d] %s: FAILED (%s)', self.settled, #self.runs, self:title(run), log)
  self.stop_if_misspelt(run)
end

function Slurm:poll()
  local queue, running = self:queue(), 0
  if not queue then return end
  for _, run in ipairs(self.runs) do
    if run.jobs and (run.status == 'waiting' or run.status == 'running') then
      local one, other = queue[run.jobs[1] .. '_' .. run.task], queue[run.jobs[2] .. '_' .. run.task]
      if one == 'RUNNING' or other == 'RUNNING' then
        if run.status == 'waiting' then
          run.status, run.began, run.attempts = 'running', pd.process.clock(), run.attempts + 1
          run.id = self.registry and self.registry:begin { folder = run.folder, host = 'slurm',
            command = record.plain_command(options.command(run)) }
        end
      elseif one and one ~= 'COMPLETING' or other and other ~= 'COMPLETING' and other ~= 'PENDING' then
        run.status = 'waiting'  -- Slurm put it back into the queue
      elseif not one and (not other or files.exists(run.folder .. '/result.json')) then
        -- Files from another machine may appear here a little later.
        run.gone = (run.gone or 0) + 1
        if run.gone >= polls_until_gone or files.exists(run.folder .. '/result.json') then self:settle_run(run) end
      end
      if run.status == 'running' then running = running + 1 end
    end
  end
  self.workers = math.max(1, running)
end

function Slurm.place() return 'as Slurm tasks' end

function Slurm:work()
  if self:is_over() then return end
  files.make_folder(self.slurm_folder)
  self:take_over()
  local waiting = {}
  for _, run in ipairs(self.runs) do
    if run.status == 'waiting' and not run.jobs then waiting[#waiting + 1] = run end
  end
  local size = #waiting > 0 and array_size()
  for from = 1, #waiting, size or 1 do
    local list = {}
    for i = from, math.min(from + size - 1, #waiting) do list[#list + 1] = waiting[i] end
    self:submit(list)
  end
  if not self:is_over() then
    self:say('Ctrl-C leaves the jobs in the queue; start this again to take them over, or end them with scancel')
  end
  while not self:is_over() do
    self:poll()
    if self:is_over() then break end
    self:show_status()
    self.pool:wait(poll_seconds)
  end
  if self.stopped then self:cancel() end
end

-- Takes the jobs out of the queue; tasks that run write a checkpoint.
function Slurm:cancel()
  local words = { 'scancel' }
  for job in pairs(self.jobs) do words[#words + 1] = tostring(job) end
  if #words > 1 then output_of(table.concat(words, ' ')) end
end

-- Turns a session into a Slurm session. settings: {options = words for sbatch without their dashes, throttle =}.
return function(session, settings)
  check_slurm()
  session.slurm_options, session.throttle = settings.options, settings.throttle
  for _, option in ipairs(session.slurm_options) do
    if not option:find '^%a[%w-]*=?' or option:find '^array' or option:find '^parsable' or option:find '^output' then
      fail("slurm: expected an option of sbatch without dashes, such as 'partition=long', got '%s'", option)
    end
  end
  session.jobs, session.submitted = {}, 0
  return setmetatable(session, Slurm)
end
