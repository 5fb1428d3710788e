-- Grids as tasks of a Slurm that this test starts on loopback; skipped if that is not possible.
local pd = require 'pushdown'
local files = require 'pushdown.files'
local test = require 'pushdown.test'
local run = test.command

local shell = test.program
local folder = test.folder()

local quoted = files.quoted
local function path(name) return folder .. '/' .. name end

local slurm = quoted(pd.root .. '/tests/support/slurm.sh')
local said, started = run(slurm .. ' start ' .. path 'slurm')
if started == 77 then test.skip((said:gsub('^skipped: ', ''))) end
assert(started == 0, said)

files.write(path 'toy.lua', [[
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local options, run = experiment.start { name = 'toy', doc = 'Trains nothing.', options = {
  { 'rate', 0.1, 'a number', type = 'number' }, { 'mode', 'plain', 'what to do' },
  { 'seed', 1, 'seed' }, { 'restart', 1, 'restart' } }, quick = {} }
local starts = io.open(run:path 'starts', 'a')
starts:write(os.getenv 'SLURM_JOB_ID', ' ', os.getenv 'PUSHDOWN_REGISTRY', '\n')
starts:close()
local _, count = files.read(run:path 'starts'):gsub('\n', '')
if options.mode == 'fails' and options.rate == 0.2 then error('this point is broken') end
if options.mode == 'killed' and count == 1 then os.execute('kill -9 ' .. pd.process.pid()) end
if options.mode == 'waits' or options.mode == 'second waits' and options.restart == 2 then
  local pool = pd.process.pool()
  while not files.exists 'go' do pool:wait(0.05) end
end
run:finish { validation_difference = options.rate, seed = options.seed, seconds = 0.25 }
]])

local function coordinator(name, more)
  files.write(path(name .. '.lua'), ([[
local grid = require 'pushdown.grid'
local rows = grid.run { name = 'test/%s', script = 'toy.lua', folder = 'runs/%s', restarts = 2,
  points = { { rate = 0.1 }, { rate = 0.2 } }, executor = 'slurm', %s }
for _, row in ipairs(rows) do
  print(table.concat({ 'ROW', row.point, row.restart, row.status,
    row.result and row.result.validation_difference or 'none' }, ' '))
end
]]):format(name, name, more))
  return ('cd %s && SLURM_CONF=%s PUSHDOWN_REGISTRY=%s %s %s.lua'):format(quoted(folder), path 'slurm/slurm.conf',
    path 'registry.sqlite', quoted(shell), name)
end

local function starts_of(name, point, restart)
  local _, count = files.read(path(('runs/%s/%s/restart-%d/starts'):format(name, point, restart))):gsub('\n', '')
  return count
end

test('all runs are made, by arrays no longer than the cluster takes', function()
  local output = test.succeeds(run(coordinator('plain', '')))
  for _, row in ipairs { 'rate=0.1 1 done 0.1', 'rate=0.1 2 done 0.1', 'rate=0.2 1 done 0.2', 'rate=0.2 2 done 0.2' } do
    assert(output:find('ROW ' .. row, 1, true), output)
  end
  local arrays = select(2, output:gsub('jobs %d+ and, for retries', ''))
  test.equal(arrays, 2)  -- of three tasks and of one: MaxArraySize is 4
  -- The tasks wrote nothing to the registry, but this process did.
  assert(files.read(path 'runs/plain/rate=0.1/restart-1/starts'):match '^%d+ off\n$')
  local rows = pd.registry.open(path 'registry.sqlite', { must_exist = true }):find { grid = 'test/plain' }
  test.equal(#rows, 4)
  for _, row in ipairs(rows) do test.equal(row.status, 'done') end
  -- A second call has nothing to do.
  output = test.succeeds(run(coordinator('plain', '')))
  assert(output:find('4 were finished before', 1, true) and not output:find('jobs ', 1, true), output)
end)

test('the dependent array repeats tasks that died', function()
  test.ended(0, 'ROW rate=0.2 2 done', run(coordinator('killed', "fixed = { mode = 'killed' }")))
  test.equal(starts_of('killed', 'rate=0.1', 1), 2)
end)

test('a task that fails twice is reported with the end of its log', function()
  local output = test.ended(1, {}, run(coordinator('fails', "fixed = { mode = 'fails' }")))
  for _, text in ipairs { '2 OF 4 RUNS FAILED', 'this point is broken', 'wrote no result.json',
    'rate=0.1 restart 1' } do
    assert(output:find(text, 1, true), text .. ' in\n' .. output)
  end
  test.equal(starts_of('fails', 'rate=0.2', 1), 2)
  test.equal(starts_of('fails', 'rate=0.1', 1), 1)
end)

test('a grid that has enough takes its tasks out of the queue', function()
  test.ended(0, 'ROW rate=0.2 2 waiting none', run(coordinator('enough', "fixed = { mode = 'second waits' }, "
    .. "enough = function(rows) return rows[1].status == 'done' end")))
  test.wait_until('the queue is empty', function()
    return run(('SLURM_CONF=%s squeue -h'):format(path 'slurm/slurm.conf')) == ''
  end)
end)

test('a coordinator that dies finds its jobs again, and the throttle holds', function()
  local command = coordinator('waits', "fixed = { mode = 'waits' }, throttle = 1"):gsub('&& ', '&& exec env ')
  os.execute(('(%s) > %s 2>&1 & echo $! > %s'):format(command, path 'first', path 'pid'))
  local pool = pd.process.pool()
  test.wait_until('the first run starts', function()
    return files.exists(path 'runs/waits/rate=0.1/restart-1/starts')
  end)
  -- Two arrays, of three tasks and one, one after the other.
  pool:wait(1.5)
  local queue = run(('SLURM_CONF=%s squeue -h -r -t RUNNING'):format(path 'slurm/slurm.conf'))
  test.equal(select(2, queue:gsub('\n', '')), 1)
  os.execute('kill -9 ' .. files.read(path 'pid'))
  files.write(path 'go', '')
  local output = test.succeeds(run((command:gsub('exec env ', 'env '))))
  assert(output:find('runs are in the queue already', 1, true) or output:find('were finished before', 1, true),
    output)
  assert(not output:find('jobs %d+ and'), 'nothing is submitted twice\n' .. output)
  for restart = 1, 2 do
    for _, point in ipairs { 'rate=0.1', 'rate=0.2' } do test.equal(starts_of('waits', point, restart), 1) end
  end
end)

test('errors of Slurm are reported', function()
  test.ended(1, { 'sbatch refused the jobs', 'partition' },
    run(coordinator('refused', "slurm = { 'partition=nowhere' }")))
  test.ended(1, "slurm: expected an option of sbatch without dashes",
    run(coordinator('wrong', "slurm = { '--partition' }")))
  test.ended(1, 'sbatch was not found',
    run((coordinator('absent', ''):gsub('SLURM_CONF=', 'PATH=/nowhere SLURM_CONF='))))
end)

run(slurm .. ' stop ' .. path 'slurm')
test.finish()
