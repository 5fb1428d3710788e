-- Grids: seeds, the pool, retries, and the state after the death of workers and coordinators.
-- label: long
local pd = require 'pushdown'
local files = require 'pushdown.files'
local grid = require 'pushdown.grid'
local json = require 'pushdown.json'
local test = require 'pushdown.test'
local run = test.command

local shell = test.program

local folder = test.folder()

local quoted = files.quoted
local function path(name) return folder .. '/' .. name end

-- A script that trains nothing. It notes each of its starts, and its options control what it does.
files.write(path 'toy.lua', [[
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local options, run = experiment.start { name = 'toy', doc = 'Trains nothing.', options = {
  { 'rate', 0.1, 'a number', type = 'number' }, { 'mode', 'plain', 'what to do' },
  { 'seed', 1, 'seed' }, { 'restart', 1, 'restart' } }, quick = {} }
local starts = io.open(run:path 'starts', 'a')
starts:write(pd.process.pid(), '\n')
starts:close()
local _, count = files.read(run:path 'starts'):gsub('\n', '')
if options.mode == 'fails' and options.rate == 0.2 then error('this point is broken') end
if options.mode == 'killed' and count == 1 then os.execute('kill -9 ' .. pd.process.pid()) end
if options.mode == 'silent' then os.exit(0) end
if options.mode == 'waits' and options.rate == 0.2 then
  local pool = pd.process.pool()
  while not files.exists 'go' do pool:wait(0.05) end
end
run:finish { validation_difference = options.rate, seed = options.seed, seconds = 0.25 }
]])

-- Writes a script that runs the toy's grid with these options and prints the result.
local function coordinator(name, more)
  files.write(path(name .. '.lua'), ([[
local grid = require 'pushdown.grid'
local rows = grid.run { name = 'test/%s', script = 'toy.lua', folder = 'runs/%s', restarts = 2,
  points = { { rate = 0.1 }, { rate = 0.2 } }, %s }
for _, row in ipairs(rows) do
  print(table.concat({ 'ROW', row.point, row.restart, row.seed, row.status, row.attempts,
    row.result and row.result.validation_difference or 'none' }, ' '))
end
print('FAILED ' .. rows.failed)
]]):format(name, name, more))
  return ('cd %s && PUSHDOWN_REGISTRY=%s %s %s.lua'):format(quoted(folder), path 'registry.sqlite', quoted(shell), name)
end

-- Starts a command line in the background; returns the pid of its last program.
local function start(command, output)
  local replaced = command:gsub('&& ', '&& exec env ')
  os.execute(('(%s) > %s 2>&1 & echo $! > %s'):format(replaced, path(output), path 'pid'))
  return tonumber(files.read(path 'pid'))
end

-- The process has ended, whether or not its parent has waited for it.
local function ended(pid)
  local file = io.open(('/proc/%d/stat'):format(pid))
  local text = file and file:read('*a')
  if file then file:close() end
  return not text or text:match('%) (%u)') == 'Z'
end

local function starts(name, point, restart)
  local file = ('%s/runs/%s/%s/restart-%d/starts'):format(folder, name, point, restart)
  return files.exists(file) and select(2, files.read(file):gsub('\n', '')) or 0
end

local function pid_in(name, point, restart)
  return tonumber(files.read(('%s/runs/%s/%s/restart-%d/starts'):format(folder, name, point, restart)):match('%d+'))
end

local function rows_of(name)
  local registry = pd.registry.open(path 'registry.sqlite', { must_exist = true })
  return registry:find { grid = 'test/' .. name }
end

test('seeds depend only on grid, point and restart', function()
  test.equal(grid.seed('ns_rnn/marked_reversal/ns', 'learning_rate=0.005', 1), 946630296)
  test.equal(grid.seed('', '', 0), 1029218723)
  local seen = {}
  for restart = 1, 300 do
    local seed = grid.seed('g', 'p', restart)
    assert(seed >= 0 and seed < 2 ^ 31 and seed == math.floor(seed) and not seen[seed], seed)
    seen[seed] = true
  end
  assert(grid.seed('a', 'b', 1) ~= grid.seed('b', 'a', 1) and grid.seed('ab', '', 1) ~= grid.seed('a', 'b', 1))
end)

test('seeds that points share', function()
  local given = { name = 'own', script = path 'toy.lua', folder = path 'runs/own',
    points = { { rate = 1 }, { rate = 2 } }, restarts = 2, registry = path 'registry.sqlite', workers = 2,
    progress = false }
  local shared = { name = 'other', script = path 'toy.lua', folder = path 'runs/shared', points = given.points,
    restarts = 2, seeds = 'shared' }
  local rows = grid.run { shared, pd.tables.merged(shared, { name = 'third', folder = path 'runs/third' }),
    registry = given.registry, workers = 2, progress = false }
  test.equal(#rows, 8)
  assert(rows[1].seed ~= rows[2].seed)
  for _, row in ipairs(rows) do
    test.equal(row.seed, rows[row.restart].seed)
    test.equal(row.result.seed, row.seed)
  end
  rows = grid.run(given)
  assert(rows[1].seed ~= rows[3].seed and rows[1].seed == grid.seed('own', 'rate=1', 1))
  -- Runs with other seeds are not taken for these.
  given.seeds = 'shared'
  test.fails('seed was', function() grid.run(given) end)
  given.seeds = 'same'
  test.fails("option 'seeds' must be one of 'own' and 'shared'", function() grid.run(given) end)
end)

test('names of points', function()
  test.equal(grid.point_name { size = 20, learning_rate = 0.005 }, 'learning_rate=0.005,size=20')
  test.equal(grid.point_name { lengths = { 3, 5 }, on = true, kind = 'lstm' }, 'kind=lstm,lengths=3+5,on=true')
  test.equal(grid.point_name { rate = 1e-5 }, 'rate=1e-05')
  test.equal(grid.point_name {}, 'default')
  test.equal(grid.point_name { task = 'a/b', x = 0 / 0, y = -math.huge, z = math.huge },
    'task=a/b,x=nan,y=-inf,z=inf')
end)

test('points with any values have folders of their own', function()
  files.write(path 'any.lua', [[
local rows = require 'pushdown.grid'.run { name = 'test/any', script = 'toy.lua', folder = 'runs/any', workers = 2,
  points = { { rate = 0 / 0 }, { rate = math.huge }, { rate = -math.huge }, { mode = 'a/b%' }, { mode = 'a_b%' },
    { mode = ('ü'):rep(300) .. 1 }, { mode = ('ü'):rep(300) .. 2 } } }
for _, row in ipairs(rows) do print('ROW', row.status, row.folder:match 'any/(.*)/restart%-1$') end
]])
  local command = ('cd %s && PUSHDOWN_REGISTRY=registry.sqlite %s any.lua'):format(quoted(folder), quoted(shell))
  local output, status = run(command)
  assert(status == 0, output)
  for _, text in ipairs { 'done\trate=nan\n', 'done\trate=inf\n', 'done\trate=-inf\n', 'done\tmode=a%2Fb%25\n',
    'done\tmode=a_b%\n' } do
    assert(output:find(text, 1, true), output)
  end
  local long, seen = 0, {}
  for name in output:gmatch 'done\t(mode=ü[^\n]*)' do
    local kept = name:match '^mode=([\195\188]+)%-%x+$'
    assert(#name <= 200 and not seen[name] and kept and #kept % 2 == 0, name)
    seen[name], long = true, long + 1
  end
  test.equal(long, 2)
  assert(run(command):find('7 were finished before', 1, true))
  -- A run with such a value resumes.
  output, status = run(('cd %s && PUSHDOWN_REGISTRY=off %s toy.lua --rate inf --seed %d --run-folder %s'):format(
    quoted(folder), quoted(shell), grid.seed('test/any', 'rate=inf', 1), 'runs/any/rate=inf/restart-1'))
  assert(status == 0, output)
end)

test('a misspelt option ends the grid at its first run', function()
  local output, status = run(coordinator('misspelt', 'fixed = { mod = "plain" }, workers = 1'))
  test.equal(status, 1)
  assert(output:find('[grid.run] toy.lua: toy: unknown option --mod, did you mean --mode?', 1, true), output)
  test.equal(#files.find(path 'runs/misspelt', 'output%.log$'), 1)
  -- A wrong value is a failed run, which is not tried again.
  output = run(coordinator('unfit', 'fixed = { quick = "maybe" }, workers = 2, failures = "report"'))
  assert(output:find('FAILED 4', 1, true) and not output:find('trying once more', 1, true), output)
end)

-- Trains; the first start of every run ends in the middle of epoch 3, without a word.
local training = [[
local options, run = pd.experiment.start { name = 'trained', doc = 'Trains.', options = {
  { 'kill', false, 'end the first start' }, { 'seed', 1, 'seed' }, { 'restart', 1, 'restart' },
  { 'epochs', 5, 'passes', may_change = true } } }
local sampler = pd.grammar.load 'marked_reversal':sampler { lengths = { 3, 7 } }
local model = pd.model.language_model { alphabet = sampler:grammar():alphabet(), seed = options.seed,
  controller = { kind = 'elman', hidden = 3 }, stack = 'none' }
local t = CALL { model = model, train = sampler:dataset(40, { seed = 1 }), valid = sampler:dataset(20, { seed = 2 }),
  epochs = options.epochs, checkpoint_every = 1, progress = false, seed = options.seed, FOLDER }
local first = not pd.files.exists(run:path 'started')
io.open(run:path 'started', 'w'):close()
while not t:finished() do
  t:step()
  if first and options.kill and #t:history() == 2 then os.execute('kill -9 ' .. pd.process.pid()) end
end
run:finish { seed = options.seed, epochs = #t:history(), updates = t:updates(),
  loss = pd.train.evaluate(model, sampler:dataset(20, { seed = 3 })).cross_entropy }
]]

test('a killed training in the folder of its run resumes by itself', function()
  for name, forms in pairs { by_method = { 'run:trainer', '' }, by_option = { 'pd.train.trainer',
    'run_folder = run.folder, resume = true' }, plainly = { 'pd.train.trainer', 'run_folder = run.folder' } } do
    files.write(path(name .. '_script.lua'), (training:gsub('CALL', forms[1]):gsub('FOLDER', forms[2])))
    files.write(path(name .. '.lua'), ([[
local rows = require 'pushdown.grid'.run { name = 'test/trained', script = '%s_script.lua', folder = 'runs/%s',
  points = { { kill = false }, { kill = true } }, workers = 2 }
for _, row in ipairs(rows) do
  print('ROW', row.point, row.status, row.attempts, row.result.epochs, row.result.updates)
end
]]):format(name, name))
    local output, status = run(('cd %s && PUSHDOWN_REGISTRY=registry.sqlite %s %s.lua'):format(quoted(folder),
      quoted(shell), name))
    assert(status == 0, output)
    for _, row in ipairs { 'kill=false\tdone\t1\t5\t', 'kill=true\tdone\t2\t5\t' } do
      assert(output:find(row, 1, true), output)
    end
    -- The seeds of the two points differ. An uninterrupted start with the seed of the killed one has its numbers.
    local killed = ('runs/%s/kill=true/restart-1'):format(name)
    local whole = ('runs/%s-whole'):format(name)
    local alone, code = run(('cd %s && PUSHDOWN_REGISTRY=off %s --threads 1 %s_script.lua --seed %d --run-folder %s')
      :format(quoted(folder), quoted(shell), name, grid.seed('test/trained', 'kill=true', 1), whole))
    assert(code == 0, alone)
    local one, other = json.decode(files.read(path(killed .. '/result.json'))),
      json.decode(files.read(path(whole .. '/result.json')))
    test.equal(one.loss, other.loss)
    test.equal(one.updates, other.updates)
  end
end)

test('a grid runs to its end, and does nothing when it is started again', function()
  local command = coordinator('plain', 'workers = 2, fixed = { mode = "plain" }')
  local output, status = run(command)
  test.equal(status, 0)
  assert(output:find('ROW rate=0.2 1 ' .. grid.seed('test/plain', 'rate=0.2', 1) .. ' done 1 0.2\n'
    .. 'ROW rate=0.2 2 ' .. grid.seed('test/plain', 'rate=0.2', 2) .. ' done 1 0.2\nFAILED 0', 1, true), output)
  assert(output:find('[4/4]', 1, true), output)
  local before = rows_of 'plain'
  test.equal(#before, 4)
  for _, row in ipairs(before) do
    test.equal(row.status, 'done')
    test.equal(row.experiment, 'toy')
    test.equal(row.attempts, 1)
    test.equal(row.seconds, 0.25)
    test.equal(row.seed, grid.seed('test/plain', row.point, row.restart))
    test.equal(row.result.seed, row.seed)
    test.equal(row.options.mode, 'plain')
    assert(row.started <= row.finished and row.pid > 0)
  end
  output, status = run(command)
  test.equal(status, 0)
  assert(output:find('4 were finished before', 1, true), output)
  test.equal(starts('plain', 'rate=0.1', 1), 1)
  -- Without the registry, the folders show which runs are finished.
  os.remove(path 'registry.sqlite')
  output = run(command)
  assert(output:find('FAILED 0', 1, true), output)
  test.equal(starts('plain', 'rate=0.1', 1), 1)
  for _, row in ipairs(rows_of 'plain') do
    test.equal(row.status, 'done')
    test.equal(row.result.validation_difference, tonumber(row.point:match('=(.*)')))
  end
end)

test('a run that fails is tried once more, then reported', function()
  local output, status = run(coordinator('broken', 'workers = 2, fixed = { mode = "fails" }'))
  test.equal(status, 1)
  assert(output:find('2 OF 4 RUNS FAILED', 1, true) and output:find('this point is broken', 1, true), output)
  assert(output:find('2 of 4 runs failed', 1, true) and not output:find('ROW', 1, true), output)
  test.equal(starts('broken', 'rate=0.2', 1), 2)
  test.equal(starts('broken', 'rate=0.1', 1), 1)
  for _, row in ipairs(rows_of 'broken') do
    test.equal(row.status, row.point == 'rate=0.2' and 'failed' or 'done')
    test.equal(row.attempts, row.point == 'rate=0.2' and 2 or 1)
    if row.status == 'failed' then assert(row.message:find('this point is broken', 1, true), row.message) end
  end
  output, status = run(coordinator('broken', 'workers = 2, fixed = { mode = "fails" }, failures = "report"'))
  test.equal(status, 0)
  assert(output:find('ROW rate=0.1 2', 1, true) and output:find('FAILED 2', 1, true), output)
  -- An end without a result is also a failure.
  output = run(coordinator('silent', 'workers = 2, fixed = { mode = "silent" }, failures = "report"'))
  assert(output:find('FAILED 4', 1, true) and output:find('wrote no result.json', 1, true), output)
end)

test('a killed worker is started again', function()
  local output, status = run(coordinator('killed', 'workers = 2, fixed = { mode = "killed" }'))
  test.equal(status, 0)
  assert(output:find('was killed by signal 9', 1, true) and output:find('FAILED 0', 1, true), output)
  for _, row in ipairs(rows_of 'killed') do
    test.equal(row.attempts, 2)
    test.equal(row.status, 'done')
    test.equal(starts('killed', row.point, row.restart), 2)
  end
end)

test('the workers of a killed coordinator end, and the next one continues', function()
  os.remove(path 'go')
  local command = coordinator('resumed', 'workers = 2, fixed = { mode = "waits" }')
  local pid = start(command, 'first')
  test.wait_until('two runs are finished, two wait', function()
    return files.exists(path 'runs/resumed/rate=0.1/restart-1/result.json') and starts('resumed', 'rate=0.2', 1) == 1
      and files.exists(path 'runs/resumed/rate=0.1/restart-2/result.json') and starts('resumed', 'rate=0.2', 2) == 1
  end)
  local workers = { pid_in('resumed', 'rate=0.2', 1), pid_in('resumed', 'rate=0.2', 2) }
  assert(not ended(workers[1]) and not ended(workers[2]))
  os.execute('kill -9 ' .. pid)
  test.wait_until('no orphans', function() return ended(pid) and ended(workers[1]) and ended(workers[2]) end)
  files.write(path 'go', '')
  local output, status = run(command)
  test.equal(status, 0)
  assert(output:find('FAILED 0', 1, true), output)
  for restart = 1, 2 do
    test.equal(starts('resumed', 'rate=0.1', restart), 1)
    test.equal(starts('resumed', 'rate=0.2', restart), 2)
  end
end)

test('Ctrl-C stops the workers gently', function()
  os.remove(path 'go')
  local command = coordinator('stopped', 'workers = 2, fixed = { mode = "waits" }')
  local pid = start(command, 'stopped')
  test.wait_until('the runs wait', function()
    return starts('stopped', 'rate=0.2', 1) == 1 and starts('stopped', 'rate=0.2', 2) == 1
  end)
  local worker = pid_in('stopped', 'rate=0.2', 1)
  os.execute('kill -INT ' .. pid)
  test.wait_until('all have ended', function() return ended(pid) and ended(worker) end)
  local output = files.read(path 'stopped')
  assert(output:find('stopping 2 processes', 1, true), output)
  local counts = {}
  for _, row in ipairs(rows_of 'stopped') do counts[row.status] = (counts[row.status] or 0) + 1 end
  test.equal(counts.done, 2)
  test.equal(counts.interrupted, 2)
  files.write(path 'go', '')
  output = run(command)
  assert(output:find('FAILED 0', 1, true), output)
  test.equal(starts('stopped', 'rate=0.1', 1), 1)
end)

test('two coordinators share the work', function()
  os.remove(path 'go')
  local command = coordinator('shared', 'workers = 1, fixed = { mode = "waits" }')
  local one, two = start(command, 'one'), start(command, 'two')
  test.wait_until('each has a run', function()
    return starts('shared', 'rate=0.2', 1) + starts('shared', 'rate=0.2', 2) >= 2
  end)
  files.write(path 'go', '')
  test.wait_until('both have ended', function() return ended(one) and ended(two) end)
  for _, output in ipairs { files.read(path 'one'), files.read(path 'two') } do
    assert(output:find('FAILED 0', 1, true) and select(2, output:gsub('ROW [^\n]* done', '')) == 4, output)
  end
  for restart = 1, 2 do
    for _, point in ipairs { 'rate=0.1', 'rate=0.2' } do test.equal(starts('shared', point, restart), 1) end
  end
end)

test('results made by hand are taken over, those of other options are not', function()
  local command = coordinator('adopted', 'workers = 2, fixed = { mode = "plain" }')
  local function make(seed, rate)
    return run(('cd %s && PUSHDOWN_REGISTRY=off %s toy.lua --rate %s --seed %d --run-folder %s'):format(
      quoted(folder), quoted(shell), rate, seed, 'runs/adopted/rate=0.2/restart-1'))
  end
  make(grid.seed('test/adopted', 'rate=0.2', 1), '2e-1')
  local output = run(command)
  assert(output:find('1 was finished before', 1, true) and output:find('FAILED 0', 1, true), output)
  test.equal(starts('adopted', 'rate=0.2', 1), 1)
  test.equal(rows_of 'adopted'[1].status, 'done')
  make(77, '0.2')  -- refused: the folder has a run with another seed
  test.equal(starts('adopted', 'rate=0.2', 1), 1)
  local status
  output, status = run(coordinator('plain', 'fixed = { mode = "plain" }, flags = { "--quick" }'))
  test.equal(status, 1)
  assert(output:find('4 of 4 runs differ from how', 1, true), output)
  assert(output:find('rate=0.1 restart 1: quick was false and is true now', 1, true), output)
  -- An incomplete result does not count.
  files.write(path 'runs/plain/rate=0.1/restart-1/result.json', '{"validation_diff')
  output = run(coordinator('plain', 'fixed = { mode = "plain" }'))
  assert(output:find('3 were finished before', 1, true) and output:find('FAILED 0', 1, true), output)
  test.equal(starts('plain', 'rate=0.1', 1), 2)
end)

test('runs of another script or other options are listed, and accepted or repeated on request', function()
  local toy = files.read(path 'toy.lua')
  local command = coordinator('changed', 'workers = 2, fixed = { mode = "plain" }')
  test.equal(select(2, run(command)), 0)
  -- A constant of the script that no option reveals.
  files.write(path 'toy.lua', (toy:gsub('seconds = 0.25', 'seconds = 0.5')))
  local output, status = run(command)
  test.equal(status, 1)
  assert(output:find('4 of 4 runs differ from how this grid would make them now:', 1, true)
    and output:find('test/changed rate=0.1 restart 1: toy.lua has changed\n', 1, true)
    and output:find('--accept-changed takes them as they are', 1, true), output)
  test.equal(starts('changed', 'rate=0.1', 1), 1)
  output, status = run(coordinator('changed', 'workers = 2, fixed = { mode = "plain" }, changed = "accept"'))
  test.equal(status, 0)
  assert(output:find('4 were finished before', 1, true), output)
  -- One point is made again: its folder has the new script, and the other is unchanged.
  local one = ([[
local grid = require 'pushdown.grid'
local rows = grid.run { name = 'test/changed', script = 'toy.lua', folder = 'runs/changed', restarts = 2,
  points = { { rate = 0.2 } }, fixed = { mode = 'plain' }, changed = '%s' }
for _, row in ipairs(rows) do print('ROW ' .. row.point .. ' ' .. row.result.seconds) end
print('NOTE ' .. tostring(rows.note))
]])
  files.write(path 'one.lua', one:format 'rerun')
  local line = ('cd %s && PUSHDOWN_REGISTRY=off %s one.lua'):format(quoted(folder), quoted(shell))
  output, status = run(line)
  test.equal(status, 0)
  assert(select(2, output:gsub('ROW rate=0.2 0.5', '')) == 2 and output:find('NOTE nil', 1, true), output)
  test.equal(starts('changed', 'rate=0.2', 1), 1)
  test.equal(json.decode(files.read(path 'runs/changed/rate=0.1/restart-1/result.json')).seconds, 0.25)
  -- Accepted runs are named in the note of the tables.
  files.write(path 'one.lua', (one:format('accept'):gsub("mode = 'plain'", "mode = 'other'")))
  output, status = run(line)
  test.equal(status, 0)
  assert(output:find('NOTE 2 of 2 runs were made with other options or another script: test/changed rate=0.2 restart 1 '
    .. '(mode was plain and is other now)', 1, true), output)
  -- Unfinished runs with other options cannot be resumed and start again.
  os.remove(path 'runs/changed/rate=0.2/restart-1/result.json')
  output, status = run(line)
  test.equal(status, 0)
  assert(output:find('test/changed rate=0.2 restart 1 starts again from the beginning', 1, true), output)
  test.equal(starts('changed', 'rate=0.2', 1), 1)
  test.equal(json.decode(files.read(path 'runs/changed/rate=0.2/restart-1/experiment.json')).options.mode, 'other')
  files.write(path 'toy.lua', toy)
end)

test('a run continues with other values of options that may change', function()
  files.write(path 'longer.lua', [[
local options, run = require 'pushdown.experiment'.start { name = 'longer', doc = 'Counts.', options = {
  { 'epochs', 1, 'how far', may_change = true }, { 'seed', 1, 'seed' }, { 'restart', 1, 'restart' } } }
local before = run:earlier_result(function(result) return result.epochs >= options.epochs end)
if not before then run:finish { epochs = options.epochs, seconds = 0.25 } end
]])
  local function grid_of(epochs)
    files.write(path 'more.lua', ([[
local rows = require 'pushdown.grid'.run { name = 'test/more', script = 'longer.lua', folder = 'runs/more',
  points = { {} }, fixed = { epochs = %d } }
print('EPOCHS ' .. rows[1].result.epochs)
]]):format(epochs))
    return run(('cd %s && PUSHDOWN_REGISTRY=off %s more.lua'):format(quoted(folder), quoted(shell)))
  end
  assert(grid_of(1):find('EPOCHS 1', 1, true))
  local output = grid_of(3)
  assert(output:find('EPOCHS 3', 1, true), output)
  test.equal(json.decode(files.read(path 'runs/more/default/restart-1/experiment.json')).options.epochs, 3)
  output = grid_of(2)
  assert(output:find('EPOCHS 3', 1, true), output)
  test.equal(json.decode(files.read(path 'runs/more/default/restart-1/experiment.json')).options.epochs, 3)
end)

test('several grids share a pool, and mistakes are reported before anything runs', function()
  local here = path 'runs'
  local function spec(more)
    return pd.tables.merged({ name = 'g', script = path 'toy.lua', folder = here .. '/several',
      points = { { rate = 1 } }, registry = path 'several.sqlite', workers = 1 }, more)
  end
  test.fails("unknown option 'worker', did you mean 'workers'%?", function() grid.run(spec { worker = 1 }) end)
  test.fails("option 'restarts' must be an integer or a list of integers, got 1.5", function()
    grid.run(spec { restarts = 1.5 })
  end)
  test.fails("option 'restarts%[2%]' must be at least 1, got 0", function() grid.run(spec { restarts = { 2, 0 } }) end)
  test.fails("option 'restarts' must be an integer or a list of integers, got \"2\"", function()
    grid.run(spec { restarts = '2' })
  end)
  test.fails("option 'workers' must be at least 1, got 0", function() grid.run(spec { workers = 0 }) end)
  test.fails("option 'points' must be a list of tables, got 3", function() grid.run(spec { points = 3 }) end)
  test.fails('there is no script', function() grid.run(spec { script = 'absent.lua' }) end)
  test.fails('sets rate a second time', function() grid.run(spec { fixed = { rate = 3 } }) end)
  test.fails('sets seed a second time', function() grid.run(spec { fixed = { seed = 3 } }) end)
  test.fails('two points have the same folder', function()
    grid.run(spec { points = { { rate = 1 }, { rate = 1 } } })
  end)
  test.fails("option 'name' .* is missing", function() grid.run { points = {} } end)
  files.write(path 'no.sqlite', 'this is no database, but it is long enough to be looked at by one')
  test.fails('not a registry of runs', function() grid.run(spec { registry = path 'no.sqlite' }) end)
  assert(not files.exists(here .. '/several/rate=1/restart-1/starts'))
  local function one(name)
    return { name = name, script = path 'toy.lua', folder = here .. '/several/' .. name, points = { { rate = 2 } } }
  end
  local rows = grid.run { one 'b', one 'a', workers = 2, registry = path 'several.sqlite', progress = false }
  test.equal(#rows, 2)
  test.equal(rows[1].grid .. rows[2].grid, 'ba')
  test.equal(rows[2].result.validation_difference, 2)
  test.equal(rows[2].options.rate, 2)
  test.equal(json.decode(files.read(rows[1].folder .. '/experiment.json')).options.seed, rows[1].seed)
end)

test('the live view shows the number that compares runs, lower as better, and at last the end', function()
  local session = setmetatable({ runs = {}, settled = 1, seconds = 9, timed = 1, workers = 1,
    started = pd.process.clock() - 80 }, require 'pushdown.grid.session')
  for place, metrics in ipairs { '"cross_entropy":0.5', '"accuracy":0.75', '"shine":2' } do
    local one = { point = 'p', restart = place, status = 'running', folder = path('live-' .. place), began = 0 }
    files.make_folder(one.folder)
    files.write(one.folder .. '/metrics.jsonl', ('{"event":"epoch","epoch":7,%s}\n'):format(metrics))
    session.runs[place] = one
  end
  local rows = session:status().rows
  test.equal(rows[1].best .. rows[2].best .. rows[3].best, '0.50000.7500')
  test.equal(rows[1].value, 0.5)
  test.equal(rows[2].value, -0.75)
  test.equal(rows[3].value, nil)
  test.equal(rows[3].note, 'epoch 7')
  session:show_end()
  local state = session:status()
  assert(state.title:find '^1/3 finished, in 1:2%d$' and state.ended and not state.fraction, state.title)
end)

test('some of the restarts, and an end before all have run', function()
  local given = { name = 'some', script = path 'toy.lua', folder = path 'runs/some', points = { { rate = 1 } },
    restarts = { 2, 5, 9 }, registry = path 'several.sqlite', workers = 1 }
  function given.enough(rows) return rows[2].status == 'done' end
  local text = {}
  for i, row in ipairs(grid.run(given)) do text[i] = row.restart .. ' ' .. row.status end
  test.equal(table.concat(text, ', '), '2 done, 5 done, 9 waiting')
  given.enough = nil
  local rows = grid.run(given)
  test.equal(rows[3].status .. rows[3].attempts .. rows[1].attempts, 'done10')
  test.equal(rows[3].seed, grid.seed('some', 'rate=1', 9))
end)

test.finish()
