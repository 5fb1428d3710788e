-- A run is stored in its folder: the registry can be removed and made again.
local pd = require 'pushdown'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local made = dofile(pd.root .. '/tests/lua/recorded_runs.lua')
local runs = require 'pushdown.runs'
local test = require 'pushdown.test'

local shell = test.program
local has, quoted = test.has, files.quoted
local scene = made.new()
local function path(name) return scene.folder .. '/' .. name end

-- Returns the output, with errors, and the status of the shell in the folder of the tests.
local function run(words)
  return test.command(('cd %s && PUSHDOWN_REGISTRY= %s %s < /dev/null'):format(quoted(scene.folder), quoted(shell),
    words))
end

-- Returns output, errors and status of `pushdown runs ...` in this process.
local function command(...) return made.answer('pushdown.commands.runs', ...) end

local function fails(expected_status, expected, ...)
  local _, errors, status = command(...)
  test.equal(status, expected_status)
  has(errors, expected)
end

-- All fields of all rows but the numbers of the runs.
local function rows_of(file)
  local lines = {}
  for i, row in ipairs(runs.find({}, file)) do
    row.id = nil
    local keys, parts = {}, {}
    for key in pairs(row) do keys[#keys + 1] = key end
    table.sort(keys)
    for k, key in ipairs(keys) do parts[k] = key .. '=' .. json.encode(row[key]) end
    lines[i] = table.concat(parts, '\n')
  end
  return table.concat(lines, '\n\n'), #lines
end

files.write(path 'toy.lua', [[
local options, run = pd.experiment.start { name = 'toy', doc = 'Trains nothing.', options = {
  { 'rate', 0.1, 'a rate', type = 'number' }, { 'lengths', { 1, 2 }, 'a list' },
  { 'seed', 1, 'seed' }, { 'restart', 1, 'restart' } } }
if options.rate == 0.3 then error('this point is broken') end
if options.rate == 0.4 then os.execute('kill -9 ' .. pd.process.pid()) end
run:finish { loss = options.rate / 3, converged = options.rate < 0.2 }
]])

test('a registry that was removed is made again from the folders', function()
  files.write(path 'grid.lua', [[
-- Ends after the first restarts, so that the others never begin.
pd.grid.run { name = 'paper/g', script = 'toy.lua', folder = 'runs/grid', restarts = 2, failures = 'report',
  workers = 1, points = { { rate = 0.1 }, { rate = 0.2 }, { rate = 0.3 } }, fixed = { lengths = { 5, 6 } },
  enough = function(rows) return rows[3].status == 'failed' end }
]])
  test.ended(0, '[3/6] rate=0.3 restart 1: FAILED', run 'grid.lua')
  for _, rate in ipairs { 0.1, 0.3, 0.4 } do run(('toy.lua --rate %s --run-folder runs/rate-%s'):format(rate, rate)) end
  files.write(path 'plain.lua', [[
local record = pd.runs.record { folder = 'runs/plain', experiment = 'plain', options = { name = 'a "b"' } }
record:finish { result = { loss = 0.5 } }
local grammar = pd.grammar.load 'an_bn'
local sampler = grammar:sampler { lengths = { 2, 10 } }
for _ in pd.train.trainer { train = sampler:dataset(10), valid = sampler:dataset(5), epochs = 2,
  run_folder = 'runs/trained', model = pd.model.language_model { alphabet = grammar:alphabet(), stack = 'none',
    controller = { kind = 'elman', hidden = 2 } } }:epochs() do end
]])
  test.equal(select(2, run 'plain.lua'), 0)
  run 'runs tag 1 4 7 +good käse'
  run "runs note 3 'why? line 1\nline 2'"
  run "runs note 5 'never begun'"
  run 'runs rm --yes 8'  -- numbers may have gaps
  local before, count = rows_of(scene.file)
  test.equal(count, 10)
  has(before, '"good"', 'why?', 'never begun', 'status="waiting"', 'status="failed"', 'status="lost"', 'status="done"',
    'this point is broken', 'experiment="plain"', 'point="rate=0.2"', 'attempts=2')
  assert(os.remove(scene.file))
  local output = test.succeeds(run 'runs index')
  -- The run that was removed from the registry only is there again.
  test.equal(output, 'runs/registry.sqlite: 11 runs of runs\n')
  for _, row in ipairs(runs.find({}, scene.file)) do
    if not before:find('folder=' .. json.encode(row.folder), 1, true) then
      pd.registry.open(scene.file):remove { row.id }
    end
  end
  test.equal((rows_of(scene.file)), before)
  run 'runs index'
  test.equal(select(2, rows_of(scene.file)), 11)
end)

test('a grid that is started again finds its runs without a registry', function()
  assert(os.remove(scene.file))
  local output = run 'grid.lua'
  has(output, '2 were finished before')
  local rows = runs.find({ grid = 'paper/g' }, scene.file)
  test.equal(#rows, 6)
  test.equal(rows[1].tags[1], 'good')
  test.equal(rows[3].attempts, 4)
  has(rows[3].note, 'why?')
  test.equal(rows[5].note, 'never begun')
end)

test('a moved folder has its note, and a part of a registry can be made', function()
  os.execute(('mkdir %s && cp -r %s %s'):format(quoted(path 'copy'), quoted(path 'runs/grid'), quoted(path 'copy/g')))
  local other = path 'other.sqlite'
  local output = command('index', path 'copy', '--registry', other)
  test.equal(output, ('%s: 6 runs of %s\n'):format(other, path 'copy'))
  local row = runs.find({ point = 'rate=0.3', where = { { 'note', '=', '*why*' } } }, other)[1]
  test.equal(row.folder, path 'copy/g/rate=0.3/restart-1')
  os.execute('rm -r ' .. quoted(path 'copy'))
end)

test('runs of earlier versions have no record', function()
  local _, folder = scene:add { name = 'old/rate=1/restart-2', unrecorded = true, result = { loss = 0.5, seconds = 3 },
    options = { rate = 1, seed = 7 }, experiment = 'early' }
  scene:add { name = 'old/rate=1/restart-3', unrecorded = true, options = { rate = 1 } }
  files.write(folder .. '/provenance.json', json.encode { run = 'experiment early', starts = { {
    started = '2024-05-31T18:00:00Z', finished = '2024-05-31T18:00:05Z', command_line = { 'pushdown', 'early.lua' },
    working_directory = '/', machine = { host = 'there' } } } })
  command('index', path 'runs/old', '--registry', scene.file)
  local row = runs.find({ folder = folder }, scene.file)[1]
  test.equal(row.status, 'done')
  test.equal(row.experiment, 'early')
  test.equal(row.seed, 7)
  test.equal(row.restart, 2)
  test.equal(row.result.loss, 0.5)
  test.equal(row.finished - row.started, 5)
  test.equal(row.created, 1717178400)
  test.equal(row.attempts, 1)
  test.equal(row.host, 'there')
  test.equal(runs.find({ folder = path 'runs/old/rate=1/restart-3' }, scene.file)[1].status, 'interrupted')
  -- Indexing writes nothing into the folders; a note does.
  assert(not files.exists(folder .. '/run.json'))
  command('note', tostring(row.id), 'seen', '--registry', scene.file)
  local record = pd.registry.record(folder)
  test.equal(record.note, 'seen')
  test.equal(record.host, 'there')
  assert(not files.read(folder .. '/run.json'):find('loss', 1, true))  -- result.json has it
end)

test('folders of others are data', function()
  local place = path 'foreign'
  local function file(name, text)
    files.make_folder((place .. '/' .. name):match '^(.*)/')
    files.write(place .. '/' .. name, text)
  end
  file('good/run.json', '{"status": "done", "result": {"loss": 1}, "later": 1}')
  file('broken/run.json', '{"status": "done"')
  file('wrong/run.json', '{"tags": ["a,b"]}')
  file('typed/run.lock', '')
  file('typed/experiment.json', '{"experiment": 5, "options": {}}')
  file('plan/grid.json', '{"runs": [{"folder": "../../etc", "point": "p"}]}')
  file('plan/typed/grid.json', '{"runs": [{"folder": "a/restart-1", "seed": "x"}]}')
  file('untouched/experiment.json', '{}')  -- nothing shows that this is a run
  os.execute(('cd %s && mkdir pipe link && mkfifo pipe/run.json && ln -s ../good/run.json link/run.json')
    :format(quoted(place)))
  local other = path 'foreign.sqlite'
  local output, errors, status = command('index', place, '--registry', other)
  test.equal(status, 1)
  test.equal(output, ('%s: 1 run of %s\n'):format(other, place))
  has(errors, "broken/run.json' is not the record of a run: parse error at line 1, column",
    "wrong/run.json' is not the record of a run: [registry] a tag must be a text of 1 to 64 bytes",
    'foreign/typed: ', '[registry] experiment must be text, got 5', 'seed must be an integer, got "x"', '4 left out')
  test.equal(runs.find({}, other)[1].result.loss, 1)
  -- A run in such a folder is refused before anything is changed.
  local id = pd.registry.open(scene.file):begin { folder = path 'runs/hurt' }
  files.write(path 'runs/hurt/run.json', '{')
  fails(1, "runs/hurt/run.json' is not the record of a run", 'tag', tostring(id), '+x', '--registry', scene.file)
  test.equal(files.read(path 'runs/hurt/run.json'), '{')
  has(run 'toy.lua --run-folder runs/hurt', 'this run is not recorded', 'correct it or move it away')
  -- A file that is no plan stays as it is.
  files.write(path 'runs/grid/grid.json', '{"mine": 1}')
  has(run 'grid.lua', 'runs/grid/grid.json is not the plan of a grid')
  test.equal(files.read(path 'runs/grid/grid.json'), '{"mine": 1}')
end)

test('wrong calls', function()
  files.write(path 'text', 'x')
  fails(1, "'" .. path 'text' .. "' is a file; expected a folder with runs", 'index', path 'text', '--registry',
    scene.file)
  fails(1, "there is no folder '" .. path 'nowhere' .. "'", 'index', path 'nowhere', '--registry', scene.file)
  fails(2, 'PUSHDOWN_REGISTRY is off', 'index')
  has(command('list', '--registry', path 'none.sqlite'), "'pushdown runs index FOLDER' enters the\nruns of a folder")
end)

test('rm --folders also removes runs from the plan of their grid', function()
  files.write(path 'short.lua', [[
pd.grid.run { name = 'short', script = 'toy.lua', folder = 'runs/short', points = { { rate = 0.1 } }, restarts = 3,
  workers = 1, enough = function(rows) return rows[1].status == 'done' end }
]])
  run 'short.lua'
  local plan = path 'runs/short/grid.json'
  test.equal(#json.decode(files.read(plan)).runs, 3)
  has(run 'runs rm --yes --folders --grid short --where restart=2', 'No run matches')
  local row = runs.find({ grid = 'short', status = 'waiting' }, scene.file)[1]
  command('tag', tostring(row.id), '+x', '--registry', scene.file)
  has(command('rm', '--yes', '--folders', tostring(row.id), '--registry', scene.file), ', 1 folder.')
  test.equal(pd.file.kind(row.folder), nil)
  test.equal(#json.decode(files.read(plan)).runs, 2)
  command('rm', '--yes', '--folders', '--grid', 'short', '--registry', scene.file)
  test.equal(pd.file.kind(plan), nil)
end)

test.finish()
