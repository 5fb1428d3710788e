-- Records of finished runs: the runs that gather takes into them, and grids that use them.
-- label: long
local pd = require 'pushdown'
local columns = require 'pushdown.record.columns'
local csv = require 'pushdown.csv'
local files = require 'pushdown.files'
local grid = require 'pushdown.grid'
local json = require 'pushdown.json'
local record = require 'pushdown.record'
local test = require 'pushdown.test'

local top = test.folder()

-- Runs the shell in `top` with these arguments. Returns its output and exit status.
local function run(...) return test.run({ ... }, { folder = top }) end

local function must(...)
  local output, status = run(...)
  assert(status == 0, output)
  return output
end

local function experiment(name, folder, more, ...)
  local words = { name:match '^%w[%w_]*', name:match '/(.*)$', '--run-folder', folder .. '/out', '--folder',
    folder .. '/grid', ... }
  for option in more:gmatch('%S+') do words[#words + 1] = option end
  return words
end

local function path(name) return top .. '/' .. name end

local has = test.has

-- The CSV files in two folders are equal. Numbers of curves are recorded with a few digits.
local function same_tables(one, other, tolerance)
  local names = files.find(one, '%.csv$')
  assert(#names > 0)
  for _, name in ipairs(names) do
    local a, b = csv.decode(files.read(one .. '/' .. name)), csv.decode(files.read(other .. '/' .. name))
    test.equal(#b, #a)
    for i, line in ipairs(a) do
      for k, field in ipairs(line) do
        local x, y = tonumber(field), tonumber(b[i][k])
        if x and y then test.near(y, x, tolerance) else test.equal(b[i][k], field) end
      end
    end
  end
end

test('comma-separated values', function()
  local lines = csv.decode('a,b\r\n"x ""y"", z",\n,"two\nlines"')
  test.equal(#lines, 3)
  test.equal(lines[2][1], 'x "y", z')
  test.equal(lines[2][2], '')
  test.equal(lines[3][1] .. '|' .. lines[3][2], '|two\nlines')
  test.fails('line 1: expected a closing quote', function() csv.decode '"a,b\n' end)
  test.fails('line 2: expected a comma after a quoted field', function() csv.decode 'a\n"b"c\n' end)
  files.write(path 'short.csv', 'a,b\n1,2\n3\n')
  test.fails('short.csv:3: expected 2 fields, got 1', function() csv.read(path 'short.csv') end)
end)

test('small tables as one text', function()
  test.equal(columns.number(0.25004, 4), '.25')
  test.equal(columns.number(-0.00001, 4), '0')
  test.equal(columns.number(-1.5, 2), '-1.5')
  test.equal(columns.number(1200, 0), '1200')
  local rows = {}
  for i = 1, 6 do
    rows[i] = { length = tostring(40 + 2 * i), set = i < 4 and 'test' or 'n120', value = i == 5 and '' or '.' .. i,
      down = tostring(4 - i), next = tostring(i) }
  end
  local names = { 'length', 'set', 'value', 'down', 'next' }
  local text = columns.pack(names, rows)
  test.equal(text, 'length=42..52/2;set=test*3 n120*3;value=.1 .2 .3 .4 - .6;down=3..-2/-1;next=1..6')
  local known, again = columns.unpack(text)
  test.equal(table.concat(known, ' '), table.concat(names, ' '))
  test.equal(#again, 6)
  for i, row in ipairs(rows) do
    for name, value in pairs(row) do test.equal(again[i][name], value) end
  end
end)

-- Tables of every paper with small options other than those of --smoke or --quick.
local small = {
  ['ns_rnn/figure4'] = { paper = 'ns_rnn', tolerance = 1e-4, options = '--tasks dyck --models lstm,superposition '
    .. '--sizes 2 --learning-rates 0.01 --restarts 2 --lengths 6,12 --strings 50 --valid-strings 20 --epochs 3 '
    .. '--test-lengths 6,16 --test-strings 2' },
  ['diffstk/table7'] = { paper = 'diffstk', tolerance = 1e-9, options = '--rows LSTM,DiffStk-RNN --restarts 1 '
    .. '--train-strings 28 --valid-strings 16 --test-strings 16 --long-strings 16 --train-lengths 1,9 --epochs 2 '
    .. '--valid-lengths 5,11 --test-lengths 10,13 --long-lengths 16,20 --curve-lengths 14,20 --window 4' },
  ['nspda/table3'] = { paper = 'nspda', tolerance = 1e-9, options = '--tasks an_bn --columns M2 --restarts 2 '
    .. '--lengths 1,7 --valid-strings 4 --invalid-strings 6 --validation-strings 8 --test-strings 10 '
    .. '--test-lengths 8,12 --epochs 5 --stage-epochs 2,3 --passes 2' },
  ['transduction/figure2b'] = { paper = 'transduction', tolerance = 1e-3, options = '--tasks reversal '
    .. '--rows Stack --learning-rates 0.001 --hidden 5 --memory 4 --embedding 4 --symbols 4 --lengths 4,8 '
    .. '--test-lengths 9,12 --batches 8 --average-over 2 --accuracy-every 2 --pairs 5 --batch 2' },
}

for script, given in pairs(small) do
  test(script .. ': the table made from a record is the one that was recorded', function()
    local here, into = given.paper, given.paper .. '/runs.csv'
    must(unpack(experiment(script, here .. '/first', given.options)))
    has(must('runs', 'gather', here .. '/first/grid', '--into', into, '--commit', 'abc123'),
      'added, 0 replaced, 0 recorded')
    local before = files.read(path(into))
    has(must('runs', 'gather', here, '--into', into), '0 added, 0 replaced')
    test.equal(files.read(path(into)), before)

    local output = must(unpack(experiment(script, here .. '/second', given.options, '--recorded', into)))
    local count = #files.find(path(here .. '/first/grid'), '/result%.json$')
    has(output, ('%d %s finished before'):format(count, count == 1 and 'was' or 'were'),
      ('%d of %d runs come from the record, made at commit '):format(count, count))
    test.equal(#files.find(path(here .. '/second/grid'), 'output%.log$'), 0)
    same_tables(path(here .. '/first/out'), path(here .. '/second/out'), given.tolerance)
    for _, name in ipairs(files.find(path(here .. '/first/grid'), '/result%.json$')) do
      local one = json.decode(files.read(path(here .. '/first/grid/' .. name)))
      local other = json.decode(files.read(path(here .. '/second/grid/' .. name)))
      for key, value in pairs(one) do test.equal(other[key], value) end
      for key in pairs(other) do assert(one[key] ~= nil, key) end
    end
    -- Runs that came from a record are not recorded again.
    has(must('runs', 'gather', here .. '/second/grid', '--into', into),
      count .. ' not recorded: taken over from a record')

    -- Without the record all runs are trained here, also those that had been taken over, and give the same numbers.
    output = must(unpack(experiment(script, here .. '/second', given.options)))
    assert(not output:find('recorded ones', 1, true), output)
    test.equal(#files.find(path(here .. '/second/grid'), 'output%.log$'), count)
    has(must('runs', 'gather', here .. '/second/grid', '--into', into), '0 added, 0 replaced, ' .. count .. ' recorded')
    test.equal(files.read(path(into)), before)
  end)
end

local one_run = '--tasks dyck --models lstm --learning-rates 0.01 --restarts 1 --lengths 6,12 --strings 50 '
  .. '--valid-strings 20 --epochs 3 --test-lengths 6,16 --test-strings 2'

test('--missing leave shows what is recorded and trains nothing', function()
  local given = small['nspda/table3']
  local words = { '--recorded', 'nspda/runs.csv', '--missing', 'leave' }
  local output = must(unpack(experiment('nspda/table3', 'nspda/left', (given.options:gsub('%-%-restarts 2',
    '--restarts 3')), unpack(words))))
  has(output, '4 of 6 runs come from the record', '2 of 6 runs are unfinished and not included')
  test.equal(#files.find(path 'nspda/left/grid', 'output%.log$'), 0)
  local text, status = run(unpack(experiment('nspda/table3', 'nspda/none', given.options, '--missing', 'leave')))
  test.equal(status, 1)
  has(text, 'none of the 4 runs is finished')
end)

test('a record made with other options is not used', function()
  local words = experiment('ns_rnn/grid', 'other', one_run:gsub('--epochs 3', '--epochs 2'), '--recorded',
    'ns_rnn/runs.csv')
  assert(not must(unpack(words)):find('recorded ones', 1, true))
  -- The same run with other options is another row.
  has(must('runs', 'gather', 'other/grid', '--into', 'ns_rnn/runs.csv'), '1 added')
  local _, status = run(unpack(experiment('ns_rnn/grid', 'other', one_run, '--recorded', 'absent.csv')))
  test.equal(status, 1)
end)

test('a default that has changed makes another run of it', function()
  local kept = record.open(path 'ns_rnn/runs.csv')
  local defaults = path 'ns_rnn/runs-defaults.csv'
  files.make_folder(path 'changed')
  files.write(path 'changed/runs.csv', files.read(path 'ns_rnn/runs.csv'))
  files.write(path 'changed/runs-defaults.csv', (files.read(defaults):gsub('""hidden"":20', '""hidden"":21')))
  local function wanted()
    return { { grid = 'ns_rnn/dyck/lstm', point = 'learning_rate=0.01', restart = 1, flags = {},
      seed = grid.seed('ns_rnn/dyck/lstm', 'learning_rate=0.01', 1), folder = path 'changed/restart-1',
      script = pd.root .. '/scripts/experiments/ns_rnn.lua', options = { task = 'dyck', model = 'lstm',
        learning_rate = 0.01, lengths = { 6, 12 }, strings = 50, valid_strings = 20, epochs = 3,
        test_lengths = { 6, 16 }, test_strings = 2 } } }
  end
  local list = wanted()
  test.equal(record.take_over(list, path 'changed/runs.csv'), nil)
  assert(not files.exists(path 'changed/restart-1/result.json'))
  -- The files of a training that had begun here are gone.
  files.make_folder(path 'changed/restart-1/checkpoints')
  files.write(path 'changed/restart-1/checkpoints/last.safetensors', 'half')
  has(record.take_over(list, kept.path), '1 of 1 runs come from the record, made at commit ')
  assert(not files.exists(path 'changed/restart-1/checkpoints/last.safetensors'))
  -- An option that is newer than the record must have its default.
  files.write(path 'changed/runs-defaults.csv', (files.read(defaults):gsub('""hidden"":20,', '')))
  assert(record.take_over(wanted(), path 'changed/runs.csv'))
  list = wanted()
  list[1].options.hidden = 21
  test.equal(record.take_over(list, path 'changed/runs.csv'), nil)
  assert(not files.exists(path 'changed/restart-1/result.json'))
end)

test('runs from before an option are recorded once', function()
  local into = 'older/runs.csv'
  must(unpack(experiment('ns_rnn/grid', 'older', one_run)))
  for _, name in ipairs(files.find(path 'older/grid', '/experiment%.json$')) do
    local file = path('older/grid/' .. name)
    local made = json.decode(files.read(file))
    if made.options then
      made.options.hidden = nil
      files.write(file, json.encode(made))
    end
  end
  has(must('runs', 'gather', 'older/grid', '--into', into), '1 added')
  has(must('runs', 'gather', 'older/grid', '--into', into), '0 added, 0 replaced, 1 recorded')
  test.equal(#select(2, require 'pushdown.csv'.read(path(into))), 1)
end)

test('smaller runs and those of no grid are refused', function()
  must(unpack(experiment('ns_rnn/grid', 'smoke', '--smoke --models lstm --restarts 1')))
  must('ns_rnn', '--smoke', '--model', 'lstm', '--run-folder',
    'smoke/grid/by-hand/restart-1')
  must('ns_rnn', '--model', 'lstm', '--strings', '50', '--valid-strings',
    '20', '--lengths', '6,12', '--test-lengths', '6,12', '--epochs', '1', '--run-folder',
    'smoke/grid/no-grid/restart-1')
  local output = must('runs', 'gather', 'smoke', '--into', 'smoke/runs.csv')
  has(output, '2 not recorded: made with --quick or --smoke', '1 not recorded: not a run of a grid', '0 added')
  assert(not files.exists(path 'smoke/runs.csv'))
end)

test('other numbers replace those of the record only on request', function()
  local before = files.read(path 'other/grid/dyck/lstm/learning_rate=0.01/restart-1/result.json')
  files.write(path 'other/grid/dyck/lstm/learning_rate=0.01/restart-1/result.json',
    (before:gsub('"best_epoch": %d+', '"best_epoch": 77')))
  local old = files.read(path 'ns_rnn/runs.csv')
  local output, status = run('runs', 'gather', 'other/grid', '--into', 'ns_rnn/runs.csv')
  test.equal(status, 1)
  has(output, 'NOT REPLACED', 'best_epoch is ', ' and 77', '1 runs differ from the record')
  test.equal(files.read(path 'ns_rnn/runs.csv'), old)
  has(must('runs', 'gather', 'other/grid', '--into', 'ns_rnn/runs.csv', '--replace'), '1 replaced', ' and 77')
  assert(files.read(path 'ns_rnn/runs.csv') ~= old)
  for _, wrong in ipairs { { 'gather' }, { 'gather', 'x' }, { 'gather', 'x', '--into', 'x.txt' } } do
    test.equal(select(2, run('runs', unpack(wrong))), 2)
  end
end)

test('rows of two branches can be joined, and two that differ are an error', function()
  local text = files.read(path 'nspda/runs.csv')
  local last = text:match('([^\n]+\n)$')
  files.make_folder(path 'joined')
  files.write(path 'joined/runs-defaults.csv', files.read(path 'nspda/runs-defaults.csv'))
  files.write(path 'joined/runs.csv', text .. last)
  local joined = record.open(path 'joined/runs.csv')
  joined:save()
  test.equal(files.read(path 'joined/runs.csv'), text)
  files.write(path 'joined/runs.csv', text .. last:gsub(',two_stage,', ',another,'))
  test.fails('two different rows', function() record.open(path 'joined/runs.csv') end)
end)

test('of long curves some epochs are kept, and the others lie on lines between them', function()
  local name, point = 'nspda/an_bn', 'model=lstm'
  local folder, seed = path('long/an_bn/' .. point .. '/restart-1'), grid.seed(name, point, 1)
  files.make_folder(folder)
  local lines = {}
  for epoch = 1, 385 do
    lines[epoch] = json.encode { event = 'epoch', epoch = epoch, train_accuracy = epoch / 1000 } .. '\n'
  end
  local sizes = require 'pushdown.record.declared'(pd.root .. '/scripts/experiments/nspda.lua')
  local options = { task = 'an_bn', model = 'lstm' }
  for key, value in pairs(sizes.full) do options[key] = options[key] or value end
  files.write(folder .. '/metrics.jsonl', table.concat(lines))
  files.write(folder .. '/experiment.json', json.encode { experiment = 'nspda/train', size = 'full', options = options,
    command_line = { '--task', 'an_bn', '--model', 'lstm', '--seed', tostring(seed) } })
  files.write(folder .. '/result.json', json.encode { seed = seed, restart = 1, seconds = 1, epochs = 385 })
  local found = require 'pushdown.record.gather' { folders = { path 'long' }, into = path 'long/runs.csv' }
  test.equal(found.added, 1)
  local curve = select(2, csv.read(path 'long/runs.csv'))[1].curve
  has(curve, 'epoch=1..385/3;train_accuracy=.001 .004 .007 ')
  local again = path 'again/restart-1'
  record.take_over({ { grid = name, point = point, restart = 1, seed = seed, flags = {}, folder = again,
    script = pd.root .. '/scripts/experiments/nspda.lua', options = { task = 'an_bn', model = 'lstm' } } },
    path 'long/runs.csv')
  local history = require 'pushdown.runs'.history(again)
  test.equal(#history, 385)
  for epoch, entry in ipairs(history) do test.near(entry.train_accuracy, epoch / 1000, 1e-12) end
end)

test('a run of the command recipe is recorded in the grid of its recipe and model, with its own seed', function()
  local folder = path 'recipes/dyck/lstm/seed-7'
  files.make_folder(folder)
  files.write(folder .. '/experiment.json', json.encode { experiment = 'recipes/train', size = 'full',
    options = { recipe = 'dyck', model = 'lstm', seed = 7, restart = 1, restarts = 0 },
    command_line = { '--recipe', 'dyck', '--model', 'lstm', '--seed', '7' } })
  files.write(folder .. '/result.json', json.encode { recipe = 'dyck', model = 'lstm', seed = 7, restart = 1,
    solved = true, value_1 = 0.25, seconds = 1 })
  has(must('runs', 'gather', 'recipes', '--into', 'recipes/runs.csv'), '1 added')
  has(must('runs', 'gather', 'recipes', '--into', 'recipes/runs.csv'), '0 added, 0 replaced, 1 recorded')
  local row = select(2, csv.read(path 'recipes/runs.csv'))[1]
  test.equal(table.concat({ row.grid, row.point, row.restart, row.seed, row.solved, row.value_1 }, ' '),
    'recipes/dyck/lstm default 1 7 true 0.25')
  -- A run with another number of restarts is a run with other options.
  local made = json.decode(files.read(folder .. '/experiment.json'))
  made.options.restarts = 1
  files.write(folder .. '/experiment.json', json.encode(made))
  has(must('runs', 'gather', 'recipes', '--into', 'recipes/runs.csv'), '1 not recorded: made with --quick or --smoke')
end)

test('the records of the repository can be taken over', function()
  local results, count = pd.root .. '/docs/results/', 0
  for _, name in ipairs(files.find(results, 'runs%.csv$')) do
    count = count + 1
    local taken = record.open(results .. name, true)
    for _, list in pairs(taken.entries) do
      for _, entry in ipairs(list) do
        local defaults = require 'pushdown.record.declared'(
          require 'pushdown.record.folder'.script(entry.fields.experiment)).full
        for option in pairs(entry.options) do
          if defaults[option] == nil then error(('%s: --%s is unknown today'):format(name, option)) end
        end
      end
    end
  end
  assert(count >= 5, count)
end)

test.finish()
