-- pd.search on the workers of a grid: which candidates go on, what ends a search, and continuing after a kill.
-- label: long
local pd = require 'pushdown'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local test = require 'pushdown.test'

local has, shell = test.has, test.program
local folder = test.folder()
local function path(name) return folder .. '/' .. name end

-- A script that trains nothing but resumes. Large rates are good at first and bad later, and restart 3 is the best.
files.write(path 'toy.lua', [[
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local options, run = experiment.start { name = 'toy', doc = 'Trains nothing.', options = {
  { 'epochs', 1, 'epochs', may_change = true }, { 'rate', 0.1, 'a number', type = 'number' }, { 'passes', 1, 'fixed' },
  { 'waits', false, 'all but the first restart wait' }, { 'seed', 1, 'seed' }, { 'restart', 1, 'restart' } } }
local log = io.open(run:path 'starts', 'a')
log:write(options.epochs, '\n')
log:close()
local pool = pd.process.pool()
while options.waits and options.restart > 1 and not files.exists 'go' do pool:wait(0.05) end
local done = files.exists(run:path 'trained') and tonumber(files.read(run:path 'trained')) or 0
for epoch = done + 1, options.epochs do
  if files.exists 'kill' and epoch == 4 then os.execute('kill -9 ' .. pd.process.pid()) end
  files.write(run:path 'trained', tostring(epoch))
end
run:finish { validation_difference = 1 / options.rate / options.epochs + options.rate
  + math.abs(options.restart - 3) / 16, accuracy = options.rate, nan_loss = options.rate == 2 and 0 / 0 or options.rate,
  infinite_loss = options.rate == 2 and math.huge or options.rate, seed = options.seed, seconds = 0.25 }
]])

local script = [[
local json = require 'pushdown.json'
local found = pd.search.run { name = 'test/search', script = 'toy.lua', folder = 'runs/NAME', workers = 2, MORE }
local rows = json.list {}
for k, row in ipairs(found.rows) do
  rows[k] = json.list { row.point or row.restart, row.epochs or 0, row.value or 'none', row.dropped or 0 }
end
print('FOUND ' .. json.encode { restart = found.restart, rate = found.point and found.point.rate, folder = found.folder,
  value = found.value, solved = found.solved, rows = rows })
]]

local function points(count)
  local texts = {}
  for rate = 1, count do texts[rate] = ('{ rate = %d }'):format(rate) end
  return ('points = { %s }, '):format(table.concat(texts, ', '))
end

local function command_of(name, more)
  files.write(path(name .. '.lua'), (script:gsub('%u%u%u%u+', { NAME = name, MORE = more })))
  return ('cd %s && PUSHDOWN_REGISTRY=%s %s %s.lua 2>&1'):format(files.quoted(folder), path 'registry.sqlite',
    files.quoted(shell), name)
end

local function search(name, more) return (test.command(command_of(name, more))) end

local function found_in(output) return json.decode(assert(output:match 'FOUND (%b{})', output)) end

local function starts(name, point, restart)
  local file = ('%s/runs/%s/%s/restart-%d/starts'):format(folder, name, point, restart or 1)
  return files.exists(file) and (files.read(file):gsub('\n', ' ')) or ''
end

local function same(got, expected) test.equal(json.encode(got), json.encode(expected)) end

test('the best third of the points continues', function()
  local options = points(9) .. 'rungs = { 1, 3 }, keep = 3, fixed = { epochs = 9 }'
  local found = found_in(search('plain', options))
  -- 1 / rate / epochs + rate is always least at rate = 1.
  test.equal(found.rate, 1)
  test.equal(found.folder, 'runs/plain/rate=1/restart-1')
  test.near(found.value, 1 / 9 + 1 + 1 / 8, 1e-12)
  local left = {}
  for k, row in ipairs(found.rows) do left[k] = row[4] end
  same(left, { 0, 3, 3, 1, 1, 1, 1, 1, 1 })
  test.near(found.rows[2][3], 1 / 2 / 3 + 2 + 1 / 8, 1e-12)
  test.equal(starts('plain', 'rate=1'), '1 3 9 ')
  test.equal(starts('plain', 'rate=2'), '1 3 ')
  test.equal(starts('plain', 'rate=4'), '1 ')
  local lines = pd.csv.decode(files.read(path 'runs/plain/search.csv'))
  test.equal(table.concat(lines[1], ' '), 'point epochs value outcome')
  test.equal(lines[2][4] .. ', ' .. lines[3][4], 'best, left out after epoch 3')
  -- A restarted search runs nothing and gives the same answer.
  same(found_in(search('plain', options)), found)
  test.equal(starts('plain', 'rate=1'), '1 3 9 ')
end)

test('a point is compared by the mean over its restarts', function()
  local found = found_in(search('mean', points(2) .. "restarts = 3, rungs = { 1 }, fixed = { epochs = 2 }"))
  test.equal(found.rate, 1)
  test.equal(found.restart, 3)
  test.near(found.value, 1 / 2 + 1 + (2 + 1 + 0) / 16 / 3, 1e-12)
  test.equal(starts('mean', 'rate=2', 3), '1 ')
end)

test('without points the candidates are restarts', function()
  local found = found_in(search('restarts', 'restarts = 4, rungs = { 2, 3 }, keep = { 2, 1 }, fixed = { epochs = 5, '
    .. 'rate = 1 }'))
  test.equal(found.restart, 3)
  test.equal(found.folder, 'runs/restarts/default/restart-3')
  same(found.rows, { { 1, 2, 1 / 2 + 1 + 1 / 8, 2 }, { 2, 3, 1 / 3 + 1 + 1 / 16, 3 }, { 3, 5, 1 / 5 + 1, 0 },
    { 4, 2, 1 / 2 + 1 + 1 / 16, 2 } })
  for restart, epochs in ipairs { '2 ', '2 3 ', '2 3 5 ', '2 ' } do
    test.equal(starts('restarts', 'default', restart), epochs)
  end
end)

test('killed in the second rung, a search continues: an old result is not taken for the new one', function()
  files.write(path 'kill', '')
  local options = points(4) .. 'rungs = { 2 }, fixed = { epochs = 5 }'
  local output = search('killed', options)
  assert(output:find('every point that went on has failed; the last error is: attempt 2', 1, true), output)
  os.remove(path 'kill')
  local found = found_in(search('killed', options))
  test.near(found.value, 1 / 5 + 1 + 1 / 8, 1e-12)
  test.equal(starts('killed', 'rate=1'), '2 5 5 5 ')  -- two attempts that were killed
  test.equal(starts('killed', 'rate=4'), '2 ')
end)

-- Starts a search whose restarts wait, all but the first one. Returns its command line and its process.
local function waiting(name, options)
  os.remove(path 'go')
  local command = command_of(name, options)
  local process = pd.process.pool():start { command = { '/bin/sh', '-c', (command:gsub('&& ', '&& exec env ')) },
    output = path(name .. '.out') }
  test.wait_until('a restart is finished and one has begun', function()
    return files.exists(path(('runs/%s/default/restart-1/result.json'):format(name))) and
      starts(name, 'default', 2) ~= ''
  end)
  return command, process
end

test('a search whose process is killed continues', function()
  local command, process = waiting('lost', 'restarts = 3, rungs = { 1 }, fixed = { epochs = 2, rate = 1, '
    .. 'waits = true }')
  process:signal 'kill'
  test.wait_until('it has ended', function() return process:poll() end)
  files.write(path 'go', '')
  local found = found_in((test.command(command)))
  same({ found.restart, found.value, starts('lost', 'default', 1) }, { 3, 1 / 2 + 1, '1 ' })
end)

test('after Ctrl-C the message tells how to go on', function()
  local command, process = waiting('stopped', 'restarts = 3, fixed = { rate = 1, waits = true }')
  process:signal 'interrupt'
  test.wait_until('it has ended', function() return process:poll() end)
  local said = files.read(path 'stopped.out')
  assert(said:find("pd.search.run with the same options continues the search in 'runs/stopped'", 1, true), said)
  files.write(path 'go', '')
  test.equal(found_in((test.command(command))).restart, 3)
end)

test('a solved candidate ends the search and stops the others', function()
  os.remove(path 'go')
  local options = 'restarts = 5, solved = 2.2, fixed = { rate = 1, waits = true }'  -- the first restart has 2.125
  local output = search('solved', options)
  local found = found_in(output)
  same({ found.restart, found.solved, found.value }, { 1, true, 2.125 })
  same(found.rows[2], { 2, 0, 'none', 0 })
  test.equal(starts('solved', 'default', 5), '')
  for _, row in ipairs(pd.registry.open(path 'registry.sqlite', { must_exist = true }):find { grid = 'test/search' }) do
    if row.folder:find '/solved/' then assert(row.status ~= 'running', row.folder) end
  end
  -- A second call trains nothing, also when it has lost its notes.
  same(found_in(search('solved', options)), found)
  os.remove(path 'runs/solved/search.json')
  same(found_in(search('solved', options)), found)
  test.equal(starts('solved', 'default', 1), '1 ')
end)

test('the name of another metric says that higher values are better', function()
  for name, more in pairs { higher = '', said = "better = 'higher', " } do
    local found = found_in(search(name, points(4) .. more .. "rungs = { 1 }, metric = 'accuracy', "
      .. 'fixed = { epochs = 2 }'))
    same({ found.rate, found.value, found.rows[3][4], found.rows[2][4] }, { 4, 4, 0, 1 })
  end
  local output = search('unknown', points(4) .. "rungs = { 1 }, metric = 'shine', fixed = { epochs = 2 }")
  assert(output:find("the name 'shine' does not say which values are better", 1, true), output)
end)

test('a result that is not finite counts as none, and does not end the search', function()
  for name, more in pairs { named = "metric = 'nan_loss'",
    called = "metric = function(result) return result.infinite_loss + 0 end, better = 'lower'" } do
    local options = points(3) .. 'rungs = { 1 }, fixed = { epochs = 2 }, ' .. more
    local found = found_in(search(name, options))
    test.equal(found.rate, 1)
    same(found.rows[2], { 'rate=2', 1, 'none', 1 })
    has(files.read(path('runs/' .. name .. '/search.csv')), 'rate=2,1,–,failed')
  end
  local output = search('all', 'points = { { rate = 2 } }, metric = "nan_loss"')
  assert(output:find('every point has failed; the last error is: the value of the result of ', 1, true), output)
end)

test('points with shared seeds', function()
  found_in(search('shared', points(2) .. "restarts = 2, rungs = { 1 }, fixed = { epochs = 2 }, seeds = 'shared'"))
  for restart = 1, 2 do
    for rate = 1, 2 do
      local result = json.decode(files.read(path(('runs/shared/rate=%d/restart-%d/result.json'):format(rate, restart))))
      test.equal(result.seed, pd.grid.seed('', '', restart))
    end
  end
end)

test('another search in the same folder and wrong options are errors', function()
  for more, pattern in pairs {
    ['rungs = { 1, 4 }, keep = 3, fixed = { epochs = 9 }'] = 'is the state of another search: its rungs differ',
    ["rungs = { 1, 3 }, fixed = { epochs = 9 }, metric = 'accuracy'"] = 'its better, keep, metric differ',
    ['rungs = { 3, 3 }'] = 'rungs must be growing integers',
    ['rungs = { 1, 2 }, keep = 1, fixed = { epochs = 3 }'] = 'keep must be larger than 1',
    ["rungs = { 1, 2 }, better = 'best'"] = "option 'better' must be one of 'lower' and 'higher'",
    ['rungs = { 1, 2 }, fixed = { epochs = 2 }'] = 'the rungs must be below 2, the last value of epochs',
    ['rungs = { 1, 2 }'] = 'the rungs must be below 1, the last value of epochs',
    ["rungs = { 1 }, over = 'passes'"] = "toy.lua must declare the option 'passes' with may_change = true",
    ['rungs = { 1, 2 }, colour = 1'] = "unknown option 'colour'",
    ["missing = 'leave'"] = 'a search has to train',
  } do
    local output = search('plain', points(9) .. more)
    assert(output:find(pattern, 1, true), pattern .. ' not in: ' .. output)
  end
  local output = search('none', points(4) .. "rungs = { 1 }, metric = 'loss', fixed = { epochs = 2 }")
  assert(output:find("has no number 'loss'", 1, true), output)
  output = search('none', 'points = { { epochs = 1 } }, rungs = { 1 }')
  assert(output:find('a point sets epochs, which the rungs set', 1, true), output)
  files.write(path 'runs/plain/search.json', '{"plan": {')
  output = search('plain', points(9) .. 'rungs = { 1, 3 }, keep = 3, fixed = { epochs = 9 }')
  assert(output:find('is not the state of a search', 1, true), output)
end)

test.finish()
