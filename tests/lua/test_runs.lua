-- The record of runs: what scripts enter, and what `pushdown runs` shows of it.
-- label: long
local pd = require 'pushdown'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local made = dofile(pd.root .. '/tests/lua/recorded_runs.lua')
local runs = require 'pushdown.runs'
local test = require 'pushdown.test'

local program = dofile(pd.root .. '/tests/lua/shell_program.lua')

local shell, folder = test.program, program.folder
local file = folder .. '/runs/registry.sqlite'

local quoted = files.quoted

-- Returns standard output, standard error and exit status of the shell, started in the folder of the tests with its
-- registry.
local function run(...)
  return program.run({ ... }, nil, { folder = folder, environment = 'PUSHDOWN_REGISTRY=' })
end

-- Returns standard output, standard error and status of `pushdown runs ...` in this process.
local function answer(...) return made.answer('pushdown.commands.runs', ...) end

local function command(...)
  local output, errors, status = answer(...)
  test.equal(errors, '')
  test.equal(status, 0)
  return output
end

local has = test.has

test('an empty record is not an error', function()
  local output, errors, status = run('runs', 'list')
  has(output, 'Nothing is recorded yet: there is no runs/registry.sqlite')
  test.equal(errors, '')
  test.equal(status, 0)
  test.equal(command('list', '--json', '--registry', file), '[]\n')
  has(command 'list', 'PUSHDOWN_REGISTRY is off')
  assert(not files.exists(file))
  has(command(), 'pushdown runs compare')
end)

test('an experiment enters its run, however it ends', function()
  files.write(folder .. '/demo.lua', [[
local options, run = pd.experiment.start { name = 'demo', doc = 'A demonstration.', options = {
  { 'how', 'well', 'how it ends' }, { 'rate', 0.5, 'a rate' }, { 'seed', 3, 'seed' } } }
if options.how == 'badly' then error('it went wrong') end
if options.how == 'early' then os.exit(4) end
if options.how == 'interrupted' then
  local pool = pd.process.pool()
  -- os.execute itself would not receive it.
  os.execute('(until rm go 2> /dev/null; do sleep 0.05; done; kill -INT ' .. pd.process.pid() .. ') &')
  io.open('go', 'w'):close()
  pool:wait(1e6)
end
if options.how == 'killed' then os.execute('kill -9 ' .. pd.process.pid()) end
if options.how == 'result' or options.how == 'late' then run:finish { loss = options.rate / 2 } end
if options.how == 'late' then error('too late') end
]])
  for i, how in ipairs { 'well', 'badly', 'early', 'interrupted', 'killed', 'result', 'late' } do
    run('demo.lua', '--how', how, '--run-folder', 'runs/demo/' .. i)
  end
  local rows = runs.find({}, file)
  local states = {}
  for i, row in ipairs(rows) do states[i] = row.status end
  test.equal(table.concat(states, ' '), 'done failed failed interrupted lost done failed')
  test.equal(#runs.find({ status = 'lost' }, file), 1)
  test.equal(#runs.find({ status = 'running' }, file), 0)
  test.equal(rows[1].experiment, 'demo')
  test.equal(rows[1].seed, 3)
  test.equal(rows[1].options.rate, 0.5)
  test.equal(rows[1].folder, folder .. '/runs/demo/1')
  test.equal(rows[1].command[2], 'demo.lua')
  test.equal(rows[6].result.loss, 0.25)
  test.equal(rows[7].result.loss, 0.25)
  has(rows[7].message, 'too late')
  has(rows[2].message, 'demo.lua:3: it went wrong')
  test.equal(rows[3].message, 'os.exit(4)')
  -- The same folder is the same run.
  run('demo.lua', '--how', 'late', '--run-folder', 'runs/demo/7')
  test.equal(runs.find({ id = 7 }, file)[1].attempts, 2)
  run('demo.lua', '--how', 'result', '--run-folder', 'runs/demo/2', '--overwrite')
  local again = runs.find({ id = 2 }, file)[1]
  test.equal(again.status, 'done')
  test.equal(again.attempts, 2)
  test.equal(again.message, nil)
end)

test('an interrupted experiment prints the folder that the next start needs', function()
  local other = folder .. '/elsewhere'
  files.make_folder(other)
  for _, words in ipairs { '', '--run-folder x' } do
    local errors = folder .. '/stderr'
    os.execute(('cd %s && PUSHDOWN_REGISTRY=off %s ../demo.lua --how interrupted %s 2> %s'):format(quoted(other),
      quoted(shell), words, quoted(errors)))
    local chosen = files.read(errors):match 'continues this run with %-%-run%-folder (runs/demo/%S+)'
    test.equal(chosen ~= nil, words == '')
    assert(not chosen or files.exists(other .. '/' .. chosen .. '/experiment.json'), chosen)
  end
end)

test('one folder, one process', function()
  local lock = assert(pd.process.lock(folder .. '/runs/demo/1'))
  local output, errors, status = run('demo.lua', '--run-folder', 'runs/demo/1')
  test.equal(output, '')
  test.equal(status, 1)
  has(errors, 'another process uses runs/demo/1')
  lock:release()
  local _, _, fine = run('demo.lua', '--run-folder', 'runs/demo/1')
  test.equal(fine, 0)
end)

test('a registry that cannot be written gives only a warning', function()
  files.write(folder .. '/text', ('x'):rep(1000))
  local output, fine = test.run({ 'demo.lua' }, { folder = folder, environment = 'PUSHDOWN_REGISTRY=text' })
  test.equal(fine, 0)
  has(output, 'this run is not recorded', 'not an SQLite file')
  local _, errors, status = answer('list', '--registry', folder .. '/text')
  test.equal(status, 1)
  has(errors, 'not an SQLite file')
end)

-- A grid of three points: one with three restarts, one still incomplete, one that failed.
local grid_file = folder .. '/grid/registry.sqlite'
do
  local registry = pd.registry.open(grid_file)
  local function enter(point, restart, status, difference, options)
    local id = registry:begin { folder = ('%s/grid/g/%s/restart-%d'):format(folder, point, restart), grid = 'paper/g',
      point = point, restart = restart, seed = restart * 10, options = options }
    registry:finish(id, { status = status, seconds = 61, message = status == 'failed' and 'broken' or nil,
      result = difference and { validation_difference = difference, test_difference = 2 * difference } or nil })
  end
  enter('rate=1', 1, 'done', 0.5, { rate = 1, task = 'dyck' })
  enter('rate=1', 2, 'done', 0.01, { rate = 1, task = 'dyck' })
  enter('rate=1', 3, 'done', 0.6, { rate = 1, task = 'dyck' })
  enter('rate=2', 1, 'done', 0.3, { rate = 2, task = 'dyck' })
  enter('rate=2', 2, 'failed', nil, { rate = 2, task = 'dyck' })
  enter('rate=3', 1, 'failed', nil, { rate = 3, task = 'dyck' })
end

test('a list with filters', function()
  local function list(...) return command('list', '--registry', grid_file, ...) end
  local all = list()
  has(all, 'id  run      point   restart  status', '1:01                   0.01', 'paper/g  rate=3        1  failed')
  test.equal(select(2, all:gsub('\n', '')), 8)
  local function ids(...)
    local numbers = {}
    for _, row in ipairs(json.decode(list('--json', ...))) do numbers[#numbers + 1] = row.id end
    return table.concat(numbers, ' ')
  end
  test.equal(ids(), '6 5 4 3 2 1')
  test.equal(ids('--where', 'rate=1'), '3 2 1')
  test.equal(ids('--where', 'rate>=2', '--where', 'result.validation_difference<1'), '4')
  test.equal(ids('--where', 'task=dyck,rate!=1'), '6 5 4')
  test.equal(ids('--status', 'failed', '--grid', 'paper/*', '--limit', '1'), '6')
  test.equal(ids('--status', 'failed,done', '--point', 'rate=2'), '5 4')
  test.equal(ids('--sort', 'result.validation_difference', '--limit', '2'), '2 4')
  test.equal(ids('--sort', 'validation_difference', '--where', 'test_difference<=1'), '2 4 1')
  test.equal(ids('--sort', 'seed', '--descending', '--limit', '1'), '3')
  test.equal(ids('--since', '1h'), '6 5 4 3 2 1')
  test.equal(ids('--since', '2999-01-01'), '')
  test.equal(ids('--experiment', '*'), '')
  test.equal(list('--where', 'rate=7'), 'No run matches.\n')
  -- Points are sorted by number. An unknown name is reported with a suggestion.
  test.equal(list('--where', 'td=3'), "No run matches.\nNo run has 'td', did you mean 'test_difference'?\n")
  test.equal(list('--where', 'rate=1,options.zzz=3'), "No run matches.\nNo run has 'options.zzz'.\n")
  has(list('--columns', 'id,rate,test_difference'), 'id  rate  test difference\n', ' 4     2             0.6\n')
  local csv = list('--csv', '--sort', 'id')
  has(csv, 'options.rate,options.task,result.test_difference,result.validation_difference\n', ',1,dyck,1,0.5\n')
end)

test('all of a run', function()
  local text = command('show', '5', '--registry', grid_file)
  has(text, 'Run 5: paper/g, rate=2, restart 2\n  failed, 1 attempt\n', '  seed        20\n', '  rate = 2\n',
    'message\n  broken\n', '  time        1:01\n')
  has(command('show', '2', '3', '--registry', file), 'Run 2: demo', 'Run 3: demo', "command\n")
end)

test('control characters of a registry are shown as numbers', function()
  local path = folder .. '/controls.sqlite'
  local registry = pd.registry.open(path)
  for restart = 1, 2 do
    local id = registry:begin { folder = folder .. '/a\27]0;title\7/b\27[1m/' .. restart, experiment = 'e\27[31m',
      grid = 'g\27[2J', point = 'p\r\194\155A\nfalse line', restart = restart, seed = 1, git = 'x\27[31m',
      options = { ['k\27[1m'] = 'v\27[5m', list = { 'a\27[31m' } }, command = { 'pushdown', '-e\27[31m' } }
    registry:finish(id, { status = 'failed', message = 'm\27[31m\nline 2', result = { ['r\27'] = restart } })
    registry:update(id, { note = 'n\27[31m\nline 2', tags = { 't\194\155' } })
  end
  local function seen(...)
    local output, errors = answer(...)
    for _, text in ipairs { output, errors } do
      assert(not text:find '[%z\1-\8\11-\31\127]' and not text:find '\194[\128-\159]', ('%q'):format(text))
    end
    return output .. errors
  end
  for _, words in ipairs { { 'list' }, { 'list', '--columns', 'folder,options.list,git' }, { 'note', '1' }, { 'tag' },
    { 'compare', '1', '2' }, { 'compare', '--grid', 'g*' }, { 'plot', '1' }, { 'rm', '1', '--dry-run' },
    { 'rm', '--status', 'failed', '--folders', '--dry-run' } } do
    words[#words + 1] = '--registry=' .. path
    seen(unpack(words))
  end
  has(seen('show', '1', '--registry', path), 'Run 1: g\\027[2J, p\\013\\155A false line, restart 1\n',
    '  git         x\\027[31m\n', "  pushdown '-e\\027[31m'\n", 'k\\027[1m = v\\027[5m', 'list = a\\027[31m',
    'tags\n  t\\155\n', 'note\n  n\\027[31m\n  line 2\n', 'message\n  m\\027[31m\n  line 2\n')
  -- Files for other programs have the texts as they are.
  has(command('list', '--csv', '--registry', path), 'g\27[2J', 'v\27[5m')
  has(command('show', '1', '--json', '--registry', path), 'g\\u001b[2J')
end)

test('a clock that was set back gives no duration', function()
  local path = folder .. '/clock.sqlite'
  local registry = pd.registry.open(path)
  local id = registry:begin { folder = folder .. '/back', experiment = 'back' }
  registry:finish(id, { status = 'done', finished = registry:find { id = id }[1].started - 432000 })
  test.equal(registry:find { id = id }[1].seconds, nil)
  -- Earlier versions wrote a negative number.
  registry:update(id, { seconds = -432000 })
  assert(not command('show', '1', '--registry', path):find('time', 1, true))
  local before = pd.process.clock()
  assert(pd.process.clock() >= before)
end)

test('notes and tags', function()
  local function ids(...)
    local numbers = {}
    for _, row in ipairs(json.decode(command('list', '--json', '--registry', grid_file, ...))) do
      numbers[#numbers + 1] = row.id
    end
    return table.concat(numbers, ' ')
  end
  local header = command('list', '--csv', '--registry', grid_file):match '[^\n]*'
  assert(not header:find('note', 1, true))  -- files for other programs are unchanged
  test.equal(command('note', '2', '--registry', grid_file), '')
  test.equal(command('note', '2', 'a \27[31mred\nbug', '--registry', grid_file), 'note of run 2 set\n')
  test.equal(command('note', '2', '--registry', grid_file), 'a ?[31mred\nbug\n')
  command('note', '3', 'two', 'words', '--registry', grid_file)
  test.equal(command('tag', '2', '5', '+good', 'käse', '--registry', grid_file), '2 runs tagged\n')
  test.equal(command('tag', '--point', 'rate=2', '-good', '+2024', '--registry', grid_file), '2 runs tagged\n')
  test.equal(command('tag', '--registry', grid_file), '2024  2 runs\ngood  1 run\nkäse  2 runs\n')
  test.equal(ids('--where', 'tag=käse'), '5 2')
  test.equal(ids('--where', 'tag=käse,tag!=good'), '5')
  test.equal(ids('--where', 'tag=2024', '--where', 'rate=2'), '5 4')
  test.equal(ids('--where', 'note=*bug*'), '2')
  test.equal(ids('--where', 'note!=*bug*,rate=1'), '3 1')
  test.equal(ids('--sort', 'note', '--limit', '2'), '2 3')
  has(command('list', '--registry', grid_file), 'tags', 'note', 'good,käse', 'a ?[31mred bug', 'two words')
  has(command('show', '2', '--registry', grid_file), 'tags\n  good,käse\n', 'note\n  a ?[31mred\n  bug\n')
  has(command('list', '--csv', '--registry', grid_file), ',note,tags,', '"good,käse"')
  command('note', '2', '--remove', '--registry', grid_file)
  command('note', '3', '', '--registry', grid_file)
  command('tag', '2', '4', '5', '-good', '-2024', '-käse', '--registry', grid_file)
  test.equal(command('tag', '--registry', grid_file), '')
  assert(not command('list', '--registry', grid_file):find('note', 1, true))
  local function fails(expected_status, expected, ...)
    local _, errors, status = answer(...)
    test.equal(status, expected_status)
    has(errors, expected)
  end
  fails(2, 'which run?', 'note')
  fails(2, "expected the number of a run, got 'x'", 'note', 'x', 'text')
  fails(1, 'there is no run 99', 'note', '99', 'text', '--registry', grid_file)
  fails(2, 'which runs?', 'tag', '+good', '--registry', grid_file)
  fails(1, 'no run matches', 'tag', '--where', 'rate=77', '+good', '--registry', grid_file)
  fails(1, 'a tag must be a text of 1 to 64 bytes', 'tag', '1', '+a b', '--registry', grid_file)
  fails(1, 'tag supports only the comparisons = and !=', 'list', '--where', 'tag<b', '--registry', grid_file)
end)

test('points of a grid by mean, never by the best', function()
  local text = command('compare', '--grid', 'paper/g', '--registry', grid_file)
  local first, second, third = text:match('\n(rate[^\n]*)\n(rate[^\n]*)\n(rate[^\n]*)\n')
  -- rate=1 has the best run, rate=2 the better mean. The deviation of 0.5, 0.01, 0.6, computed by hand, is 0.31575.
  assert(first:find('^rate=2%s+1/2%s+1%s+0.3000%s+–%s+0.3000%s+0.6000%s+–%s+0.6000$'), first)
  assert(second:find('^rate=1%s+3/3%s+0%s+0.3700%s+0.3158%s+0.0100%s+0.7400%s+0.6315%s+0.0200$'), second)
  assert(third:find('^rate=3%s+0/1%s+1%s+–'), third)
  has(text, 'mean validation difference', 'best single run', 'not a mean')
  local points = json.decode(command('compare', '--grid', 'paper/g', '--registry', grid_file, '--json'))
  test.near(points[2].metrics.validation_difference.mean, 0.37)
  test.equal(points[1].metrics.validation_difference.deviation, nil)
  local csv = command('compare', '--grid', 'paper/g', '--registry', grid_file, '--csv', '--metric', 'test_difference')
  has(csv, 'point,done,failed,mean test_difference,deviation test_difference,best test_difference\n',
    'rate=2,1,1,0.6,,0.6\n')
end)

-- The points x=1 and x=2 of a grid, with the metrics of their runs by restart.
local function grid_of(name, results)
  local path = ('%s/%s/registry.sqlite'):format(folder, name)
  local registry = pd.registry.open(path)
  for x, list in ipairs(results) do
    for restart, result in ipairs(list) do
      local id = registry:begin { folder = ('%s/%s/g/x=%d/restart-%d'):format(folder, name, x, restart), grid = 'g',
        point = 'x=' .. x, restart = restart, seed = 10 * x + restart, options = { x = x } }
      registry:finish(id, { status = 'done', result = result })
    end
  end
  return function(...) return answer('compare', '--grid', 'g', '--registry', path, ...) end
end

test('the best point has the greatest accuracy and the least loss', function()
  local results = { {}, {} }
  for restart = 1, 3 do
    results[1][restart] = { accuracy = 0.5 + restart / 8, loss = 3 + restart, shine = restart }
    results[2][restart] = { accuracy = 0.25 + restart / 8, loss = 1 + restart, shine = 10 * restart }
  end
  local compare = grid_of('best', results)
  local function order(...) return table.concat({ compare(...):match '\n(x=%d)[^\n]*\n(x=%d)' }, ' ') end
  local text = compare('--metric', 'accuracy')
  has(text, 'x=1    3/3        0         0.7500     0.1250           0.8750',
    'x=2    3/3        0         0.5000     0.1250           0.6250', 'the best first (higher is better)')
  test.equal(order('--metric', 'accuracy'), 'x=1 x=2')
  test.equal(order('--metric', 'loss'), 'x=2 x=1')
  -- The first metric is a usual one, of which the others follow in their own directions.
  test.equal(order(), 'x=2 x=1')
  local csv = compare('--metric', 'loss,accuracy', '--csv')
  has(csv, 'best loss,mean accuracy,deviation accuracy,best accuracy\n', 'x=2,3,0,3,1,2,0.5,0.125,0.625')
  has(compare('--metric', 'accuracy', '--latex'), 'best single run', '0.8750')
  text = compare('--metric', 'accuracy', '--test', 'mann_whitney')
  -- The samples share one value. By enumeration, 4 of 20 divisions of the six runs are as extreme.
  has(text, 'x=2    3, 3     -0.2500  0.2000', 'accuracy against x=1 by the rank-sum test')
  local points = json.decode(compare('--metric', 'accuracy', '--json'))
  test.equal(points[1].metrics.accuracy.better, 'higher')
  test.near({ points[1].metrics.accuracy.best, points[1].metrics.accuracy.least }, { 0.875, 0.625 }, 0)
  -- A name that does not say it: no run is the best one, until it is said.
  text = compare('--metric', 'shine')
  has(text, 'least', 'greatest', 'the least first; its name does not say which values are better')
  test.lacks(text, 'best')
  has(compare('--metric', 'shine', '--csv'), 'least shine,greatest shine\n', 'x=1,3,0,2,1,1,3')
  test.equal(order('--metric', 'shine'), 'x=1 x=2')
  test.equal(order('--metric', 'shine', '--better', 'higher'), 'x=2 x=1')
  has(compare('--metric', 'shine', '--better', 'higher'), 'best single run', '30.0000')
  local _, errors = compare('--metric', 'shine', '--test', 'auto')
  has(errors, "the name 'shine' does not say which values are better", '--better lower')
  has(compare('--metric', 'shine', '--against', 'x=2'), 'shine against x=2 by the rank-sum test')
  -- What is said holds for the first metric, and for others whose names say nothing.
  csv = compare('--metric', 'accuracy,shine,loss', '--better', 'lower', '--csv')
  has(csv, 'best accuracy', 'best shine', 'x=2,3,0,0.5,0.125,0.375,20,10,10,3,1,2')
  _, errors = compare('--better', 'less')
  has(errors, "option '--better' must be one of 'lower' and 'higher'")
end)

test('what runs have, where a metric is missing', function()
  local compare = grid_of('names', { { { shine = 1, seconds = 2 }, { shine = 2, seconds = 2 } }, { { shine = 4 } } })
  local text = compare()  -- the only number that is a result
  has(text, 'mean shine', 'x=1    2/2        0      1.5000')
  local output, errors, status = compare('--metric', 'accuracy')
  test.equal(output .. status, '1')
  has(errors, "no run has the number 'accuracy'; the results have shine, seconds")
  compare = grid_of('some', { { { accuracy = 1 }, { accuracy = 0 / 0, hits = 3 } }, { { hits = 4 } } })
  has(compare():gsub('%s+', ' '), "2 finished runs of x=1; x=2 without a finite number 'accuracy', not in the mean; "
    .. 'the results have: hits.', 'x=1 2/2 0 1.0000', 'x=2 1/1 0 –')
end)

test('tests of the points of a grid, and intervals', function()
  local registry_file = folder .. '/tests/registry.sqlite'
  local registry = pd.registry.open(registry_file)
  -- Hollander and Wolfe (1973), p. 29: two-sided p = 0.0391. The points share seeds, but not with the same restarts.
  local before = { 1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30 }
  local after = { 0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29 }
  local function enter(point, restart, seed, loss)
    local id = registry:begin { folder = ('%s/tests/g/%s/restart-%d'):format(folder, point, restart), grid = 'tests/g',
      point = point, restart = restart, seed = seed, options = { model = point:match '%a$' } }
    registry:finish(id, { status = 'done', result = { loss = loss } })
  end
  for i = 1, 9 do
    enter('model=a', i, 100 + i, after[i])
    enter('model=b', 10 - i, 100 + i, before[i])
    enter('model=c', i, 1000 + i, after[i] + 1)
  end
  local function compare(...) return command('compare', '--grid', 'tests/g', '--registry', registry_file, ...) end
  local function compare_two(...) return compare('--where', 'model!=c', ...) end
  local mean = 0
  for i = 1, 9 do mean = mean + (before[i] - after[i]) / 9 end
  for _, kind in ipairs { 'wilcoxon', 'auto' } do
    local text = compare_two('--test', kind)
    has(text, "loss against model=a by Wilcoxon's signed-rank test, two-sided: n pairs of the same seeds",
      ('model=b  9           %.4f  0.0391\n'):format(mean))
    test.lacks(text, 'p cannot be below')
  end
  local found = json.decode(compare_two('--test', 'wilcoxon', '--json')).tests
  test.equal(found[1].p, 0.0390625)
  has(compare_two('--test', 'bootstrap', '--against', 'model=b'), 'loss against model=b by a bootstrap',
    '95 % interval', ' to ')
  has(compare_two('--test', 'bootstrap', '--csv'), 'point,against,metric,test,n,n_against',
    'model=b,model=a,loss,bootstrap,9,')
  -- The third point shares no seeds with the others, so all are independent. These p are those of all 48,620
  -- divisions of the ranks of SciPy 1.17.1 (rankdata).
  for _, kind in ipairs { 'mann_whitney', 'auto' } do
    has(compare('--test', kind), 'loss against model=a by the rank-sum test of Mann and Whitney, two-sided: n runs of',
      ('model=b  9, 9      %.4f  0.1299    0.1299'):format(mean), 'model=c  9, 9      1.0000  0.0067    0.0133')
  end
  found = json.decode(compare('--against', 'model=a', '--json')).tests
  test.equal(found[1].test .. found[1].n .. found[1].n_against, 'mann_whitney99')
  -- t of 8 degrees of freedom: 2.306.
  local points = json.decode(compare('--json'))
  local metrics = points[1].metrics.loss
  test.near(metrics.interval, 2.306 * metrics.deviation / 3, 1e-4)
  has(compare('--spread', 'interval'), '± 95 %', ('%.4f'):format(metrics.interval), "Student's t")
  local function fails(pattern, ...)
    local _, errors = answer('compare', '--grid', 'tests/g', '--registry', registry_file, ...)
    has(errors, pattern)
  end
  fails("there is no point 'model=z'", '--test', 'wilcoxon', '--against', 'model=z')
  for _, kind in ipairs { 'wilcoxon', 'bootstrap' } do
    fails(('--test %s compares pairs of runs with the same seed, but '):format(kind) .. "'model=c' and 'model=a' share",
      '--test', kind)
  end
  fails("option '--test' must be one of 'auto', 'mann_whitney', 'wilcoxon' and 'bootstrap'", '--test', 't')
  local _, errors = answer('compare', '1', '2', '--test', 'wilcoxon', '--registry', registry_file)
  has(errors, '--test is about the points of a grid')
end)

test('runs side by side', function()
  local text = command('compare', '1', '4', '--registry', grid_file)
  has(text, 'run 1   run 4', 'rate                   1       2', 'validation difference  0.5     0.3',
    'The same in all:\n  task=dyck')
  assert(not text:find('\ntask', 1, true), text)
end)

test('tables fit into any terminal', function()
  local function lines_at(width, ...)
    local words = {}
    for i, word in ipairs { shell, 'runs', ... } do words[i] = quoted(word) end
    local inner = ('stty cols %d; %s'):format(width, table.concat(words, ' '))
    local pipe = assert(io.popen(('script -qec %s /dev/null < /dev/null'):format(quoted(inner))))
    local text = pipe:read('*a'):gsub('\r', '')
    pipe:close()
    return text
  end
  for _, width in ipairs { 30, 79, 100 } do
    for _, words in ipairs { { 'list' }, { 'compare', '--grid', 'paper/g' }, { 'compare', '1', '2', '3', '4' } } do
      local text = lines_at(width, words[1], words[2] or '--limit', words[3] or '9', words[4] or '--registry',
        words[5] or grid_file, '--registry', grid_file)
      local table_shown = text:find('\n%-%-%-+\n')
      if width >= 80 then assert(table_shown, text) end
      if table_shown then
        for line in text:gmatch('[^\n]+') do
          assert(select(2, line:gsub('[^\128-\191]', '')) <= width, ('%d: %s'):format(width, line))
        end
      else
        has(text, words[1] == 'list' and 'status: ' or words[2] == '1' and 'run 4: ' or 'done: ')
      end
    end
  end
end)

test('wrong command lines exit with 2, other errors with 1', function()
  local function fails(expected_status, expected, ...)
    local output, errors, status = answer(...)
    test.equal(output, '')
    test.equal(status, expected_status)
    has(errors, 'pushdown runs: ', expected)
  end
  fails(2, "unknown command 'lisst'", 'lisst')
  fails(2, 'did you mean --where?', 'list', '--were', 'a=1')
  fails(2, "got 'rate'", 'list', '--where', 'rate')
  fails(2, "got 'rate!3'", 'list', '--where', 'rate!3')
  fails(2, "got 'tomorrow'", 'list', '--since', 'tomorrow')
  fails(2, "unexpected argument '3'", 'list', '3')
  fails(2, "option '--status[1]' must be one of", 'list', '--status', 'dead')
  fails(2, 'which run?', 'show')
  fails(2, "expected the number of a run, got 'x'", 'show', 'x')
  fails(2, 'which runs?', 'compare')
  fails(2, 'exclude each other', 'list', '--csv', '--json')
  fails(1, 'there is no run 99', 'show', '99', '--registry', file)
  local _, errors, status = run('runs', 'show', '99')
  test.equal(status, 1)
  has(errors, 'there is no run 99')
  _, errors, status = run('runs', 'show')
  test.equal(status, 2)
  has(errors, 'which run?')
  local output = command('list', '--help')
  has(output, '--where LIST', '--since TEXT')
end)

test.finish()
