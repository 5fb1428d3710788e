-- `pushdown runs export` and `pushdown runs rm`: export of runs as files, and removal of runs.
local pd = require 'pushdown'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local made = dofile(pd.root .. '/tests/lua/recorded_runs.lua')
local runs = require 'pushdown.runs'
local test = require 'pushdown.test'

local shell = test.program
local has, lacks, quoted = test.has, test.lacks, files.quoted

-- A grid of two points with two restarts, and a separate run.
local function scene_of_five()
  local scene = made.new()
  for restart = 1, 2 do
    for _, rate in ipairs { 0.1, 0.2 } do
      local failed = rate == 0.2 and restart == 2
      scene:add { name = ('g/rate=%g/restart-%d'):format(rate, restart), grid = 'g', point = 'rate=' .. rate,
        restart = restart, seed = 7, options = { rate = rate, lengths = { 40, 80 }, deep = true, name = 'a "b", c' },
        epochs = { { cross_entropy = rate }, { cross_entropy = 1 / 3, extra = 2 } },
        status = failed and 'failed' or nil, result = not failed and { loss = rate / 3, converged = false } or nil }
    end
  end
  scene:add { name = 'single', experiment = 'alone', result = { loss = 1e-7 } }
  return scene
end

local scene = scene_of_five()
local function export(...) return made.answer('pushdown.commands.runs', 'export', '--registry', scene.file, ...) end

local csv = require 'pushdown.csv'

-- Reads CSV as a list of tables by column.
local function table_of(text)
  local rows = csv.decode(text)
  local list = {}
  for i = 2, #rows do
    test.equal(#rows[i], #rows[1])
    list[i - 1] = {}
    for k, name in ipairs(rows[1]) do list[i - 1][name] = rows[i][k] end
  end
  return list
end

test('runs with options and results as columns', function()
  local list = table_of((export()))
  test.equal(#list, 5)
  local first = list[1]
  test.equal(first.id .. first.grid .. first.point .. first.restart .. first.seed .. first.status, '1grate=0.117done')
  test.equal(first['options.rate'], '0.1')
  test.equal(first['options.lengths'], '40,80')
  test.equal(first['options.deep'], 'true')
  test.equal(first['options.name'], 'a "b", c')
  test.equal(first['result.converged'], 'false')
  -- Every digit.
  test.equal(tonumber(first['result.loss']), 0.1 / 3)
  test.equal(list[4]['result.loss'], '')
  test.equal(list[5]['options.rate'], '')
  test.equal(tonumber(list[5]['result.loss']), 1e-7)
  local decoded = json.decode((export('--json', '--grid', 'g', '--where', 'rate=0.2')))
  test.equal(#decoded, 2)
  test.equal(decoded[1].options.lengths[2], 80)
  test.equal(decoded[1].result.loss, 0.2 / 3)
  test.equal(#table_of((export('5', '1'))), 2)
  test.equal((export('--status', 'running')), table.concat({ 'id', 'experiment', 'grid', 'point', 'restart', 'seed',
    'status', 'attempts', 'folder', 'created', 'started', 'finished', 'seconds', 'host', 'pid', 'git', 'message' }, ',')
    .. '\n')
  test.equal((export('--status', 'running', '--json')), '[]\n')
end)

test('the epochs of every run', function()
  local list = table_of((export('--history')))
  test.equal(#list, 8)
  test.equal(list[1].id .. list[1].point .. list[1].epoch, '1rate=0.11')
  test.equal(list[1].extra, '')
  test.equal(list[2].extra, '2')
  test.equal(tonumber(list[2].cross_entropy), 1 / 3)
  test.equal(list[2].updates, '20')
  test.equal(list[2].improved, 'false')
  test.equal(list[8].status, 'failed')
  local decoded = json.decode((export('--history', '--json', '--point', 'rate=0.2')))
  test.equal(#decoded, 4)
  test.equal(decoded[4].cross_entropy, 1 / 3)
  test.equal(decoded[1].restart, 1)
  test.equal(decoded[1].event, nil)
  test.equal((export('--history', '--json', '5')), '[]\n')
  test.equal(#table_of((export('--history', '5'))), 0)
end)

test('export into files', function()
  local path = scene.folder .. '/out.json'
  local output, errors, status = export('-o', path)
  test.equal(output, path .. ': 5 runs\n')
  test.equal(errors .. status, '0')
  test.equal(#json.decode(files.read(path)), 5)
  has((export('--history', '-o', scene.folder .. '/out.csv')), 'out.csv: 8 epochs of 5 runs')
  test.equal(#table_of(files.read(scene.folder .. '/out.csv')), 8)
  test.equal(table.concat(files.find(scene.folder, '^[^/]*$'), ' '), 'out.csv out.json')
  -- A failure does not change existing files.
  local _, problem, failed = export('--where', 'rate', '-o', path)
  test.equal(failed, 2)
  has(problem, '--where needs conditions')
  test.equal(#json.decode(files.read(path)), 5)
  local _, nowhere, wrong = export('-o', scene.folder .. '/nowhere/out.csv')
  test.equal(wrong, 1)
  has(nowhere, 'nowhere')
  local _, both, usage = export('--csv', '--json')
  test.equal(usage, 2)
  has(both, '--csv and --json exclude each other')
end)

-- ---- Removing ----

local function rm(...) return made.answer('pushdown.commands.runs', 'rm', '--registry', scene.file, ...) end

local function numbers()
  local list = {}
  for i, row in ipairs(runs.find({}, scene.file)) do list[i] = row.id end
  return table.concat(list, ' ')
end

test('rm can only list the runs, and asks first', function()
  local output, _, status = rm('--grid', 'g', '--dry-run', '--folders')
  test.equal(status, 0)
  has(output, '1  g rate=0.1, restart 1  done', 'Would remove 4 runs from ', ' and 4 folders with 19 files, ')
  has((rm('--status', 'failed', '--dry-run')), 'Would remove 1 run from', '(their folders stay)')
  local said, left = test.command(('%s runs rm --registry %s 1 < /dev/null'):format(quoted(shell), quoted(scene.file)))
  test.equal(left, 2)
  has(said, 'there is no terminal for confirmation: give --yes')
  -- At a terminal, every answer but yes means no.
  local function answered(answer)
    local inner = ('%s runs rm --registry %s --folders 4'):format(quoted(shell), quoted(scene.file))
    return (test.command(("printf '%s\\n' | script -qec %s /dev/null"):format(answer, quoted(inner))))
  end
  has(answered 'n', 'Remove 1 run from', '[y/N]', 'Nothing was removed.')
  has(answered '', 'Nothing was removed.')
  test.equal(numbers(), '1 2 3 4 5')
  has(answered 'y', 'Removed 1 run from', ', 1 folder.')
  test.equal(numbers(), '1 2 3 5')
  test.equal(pd.file.kind(scene.folder .. '/runs/g/rate=0.2/restart-2'), nil)
end)

test('rm removes rows alone or with their folders', function()
  has((rm('1', '--yes')), 'Removed 1 run from ' .. scene.file .. '.\n')
  test.equal(numbers(), '2 3 5')
  test.equal(pd.file.kind(scene.folder .. '/runs/g/rate=0.1/restart-1'), 'folder')
  has((rm('2', '3', '--yes', '--folders')), 'Removed 2 runs from', ', 2 folders.')
  test.equal(numbers(), '5')
  test.equal(pd.file.kind(scene.folder .. '/runs/g/rate=0.1/restart-2'), nil)
  -- A folder that no longer exists.
  os.execute('rm -r ' .. quoted(scene.folder .. '/runs/single'))
  has((rm('5', '--yes', '--folders')), 'Removed 1 run from', ', 0 folders.')
  test.equal(numbers(), '')
  has((rm('--grid', '*', '--yes')), 'No run matches.')
end)

test('folders that are no run folders stay, and links are not followed', function()
  local outside = scene.folder .. '/outside'
  files.make_folder(outside)
  files.write(outside .. '/precious', 'x')
  -- A link to a folder in a run folder.
  local inner, folder = scene:add { name = 'inner', result = { loss = 1 } }
  os.execute(('ln -s %s %s'):format(quoted(outside), quoted(folder .. '/link')))
  -- A run folder that is itself a link; a foreign folder; a folder with another run in it; the folder of the registry.
  local linked, at = scene:add { name = 'linked', result = { loss = 1 } }
  os.execute(('mv %s %s && ln -s %s %s'):format(quoted(at), quoted(scene.folder .. '/moved'),
    quoted(scene.folder .. '/moved'), quoted(at)))
  local foreign = scene.registry:begin { folder = outside }
  local outer = scene:add { name = 'outer', result = { loss = 1 } }
  scene:add { name = 'outer/deep/restart-1', result = { loss = 1 }, unrecorded = true }
  files.write(scene.folder .. '/runs/run.lock', '')
  files.write(scene.folder .. '/runs/config.json', '{}')
  local whole = scene.registry:begin { folder = scene.folder .. '/runs' }
  for _, id in ipairs { foreign, whole } do scene.registry:finish(id, { status = 'failed' }) end
  local output, errors, status = rm('--yes', '--folders', tostring(inner), tostring(linked), tostring(foreign),
    tostring(outer), tostring(whole))
  test.equal(errors .. status, '0')
  has(output, 'These folders stay; only the rows of their runs are removed:', 'linked: it is a link',
    'outside: it does not look like a run folder', 'outer: it contains another run', ': it contains the registry',
    'Removed 5 runs from', ', 1 folder.')
  test.equal(pd.file.kind(folder), nil)
  test.equal(files.read(outside .. '/precious'), 'x')
  test.equal(pd.file.kind(scene.folder .. '/moved/experiment.json'), 'file')
  test.equal(pd.file.kind(scene.folder .. '/runs/outer/deep/restart-1'), 'folder')
  test.equal(numbers(), '')
  test.fails('must be a folder, not a link', function() pd.file.remove_folder(at) end)
  test.fails('must be a folder, not a link', function() pd.file.remove_folder(outside .. '/precious') end)
  test.fails('must be a folder, not a link', function() pd.file.contents(scene.folder .. '/nothing') end)
end)

test('a run that is running is refused, with the grid that waits for it', function()
  local id, folder = scene:add { name = 'busy/k=1/restart-1', grid = 'busy', point = 'k=1', restart = 1,
    status = 'running' }
  local waiting = scene.registry:add({ { folder = scene.folder .. '/runs/busy/k=2/restart-1', grid = 'busy',
    point = 'k=2' } })[1].id
  local done = scene:add { name = 'quiet', result = { loss = 1 } }
  local lock = assert(pd.process.lock(folder))
  local _, errors, status = rm('--yes', '--folders', tostring(id), tostring(done))
  test.equal(status, 1)
  has(errors, ('nothing was removed: run %d is running, or waits in a running grid; stop it first'):format(id))
  _, errors = rm('--yes', '--grid', 'busy')
  has(errors, ('runs %d, %d are running, or wait in a running grid; stop them first'):format(id, waiting))
  test.equal(numbers(), ('%d %d %d'):format(id, waiting, done))
  test.equal(pd.file.kind(folder), 'folder')
  lock:release()
  -- Its process has ended: now the run is lost and can be removed.
  has((rm('--yes', '--folders', '--grid', 'busy')), 'Removed 2 runs')
  test.equal(numbers(), tostring(done))
end)

test('many may remove at once', function()
  for i = 1, 12 do
    scene:add { name = 'crowd/' .. i, grid = 'crowd', point = 'k=' .. i, result = { loss = i } }
  end
  local one = ("%s runs rm --registry %s --yes --folders --grid crowd >> %s 2>&1 &"):format(quoted(shell),
    quoted(scene.file), quoted(scene.folder .. '/said'))
  test.command(('cd %s; %s %s %s wait'):format(quoted(scene.folder), one, one, one))
  test.equal(#runs.find({ grid = 'crowd' }, scene.file), 0)
  test.equal(#files.find(scene.folder .. '/runs/crowd', ''), 0)
  lacks(files.read(scene.folder .. '/said'), 'traceback', 'locked')
end)

test('rm refuses wrong calls', function()
  local _, errors, status = rm()
  test.equal(status, 2)
  has(errors, 'which runs? pushdown runs rm ID...')
  _, errors, status = rm('99', '--yes')
  test.equal(status, 1)
  has(errors, 'there is no run 99')
  _, errors, status = rm('all')
  test.equal(status, 2)
  has(errors, "expected the number of a run, got 'all'")
end)

test.finish()
