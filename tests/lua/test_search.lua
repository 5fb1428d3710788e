-- Random search and successive halving.
local files = require 'pushdown.files'
local grid = require 'pushdown.grid'
local json = require 'pushdown.json'
local test = require 'pushdown.test'

local shell = assert(os.getenv('PUSHDOWN_BINARY'), 'PUSHDOWN_BINARY names the shell')
local folder = os.tmpname()
os.remove(folder)
files.make_folder(folder)
local function path(name) return folder .. '/' .. name end

-- ---- Distributions ----

local function draw(distribution, count)
  local values = {}
  for i, point in ipairs(grid.random { count = count, seed = 7, options = { x = distribution } }) do
    values[i] = point.x
  end
  return values
end

local function same(got, expected) test.equal(json.encode(got), json.encode(expected)) end

-- Returns the largest difference between the shares below each value and the distribution function (Kolmogorov and
-- Smirnov).
local function distance(distribution, share_below)
  -- The second option makes points with equal numbers different.
  local values, options = {}, { x = distribution, y = grid.uniform(0, 1) }
  for i, point in ipairs(grid.random { count = 2000, seed = 7, options = options }) do values[i] = point.x end
  table.sort(values)
  local largest = 0
  for i, value in ipairs(values) do
    local wanted = share_below(value)
    largest = math.max(largest, math.abs(wanted - i / #values), math.abs(wanted - (i - 1) / #values))
  end
  return largest
end

test('numbers are drawn from their distributions', function()
  local critical = 1.95 / math.sqrt(2000)  -- exceeded by one sample in a thousand
  assert(distance(grid.uniform(-1, 3), function(x) return (x + 1) / 4 end) < critical)
  local rates = grid.log_uniform(1e-4, 1e-2)
  assert(distance(rates, function(x) return math.log(x / 1e-4) / math.log(100) end) < critical)
  for _, value in ipairs(draw(rates, 100)) do
    assert(value >= 1e-4 and value <= 1e-2)
    test.equal(value, tonumber(('%.4g'):format(value)))
  end
end)

test('integers and choices: both ends occur, shares are equal', function()
  local options = { n = grid.integers(1, 4), m = grid.log_integers(1, 15), c = grid.choices { 'a', 'b' },
    x = grid.uniform(0, 1) }
  local counts, octaves, letters = {}, {}, {}
  for _, point in ipairs(grid.random { count = 2000, options = options }) do
    counts[point.n] = (counts[point.n] or 0) + 1
    local octave = math.floor(math.log(point.m) / math.log(2) + 1e-9)
    octaves[octave] = (octaves[octave] or 0) + 1
    letters[point.c] = (letters[point.c] or 0) + 1
    assert(point.m >= 1 and point.m <= 15 and point.m == math.floor(point.m))
  end
  -- Four standard deviations of a binomial share.
  for n = 1, 4 do assert(math.abs(counts[n] - 500) < 4 * math.sqrt(375), counts[n]) end
  for k = 0, 3 do assert(math.abs(octaves[k] - 500) < 4 * math.sqrt(375), octaves[k]) end
  assert(math.abs(letters.a - 1000) < 4 * math.sqrt(500))
  test.equal(draw(grid.integers(5, 6), 2)[1] + draw(grid.integers(5, 6), 2)[2], 11)
end)

test('more points continue the list, more options change no other, and seeds differ', function()
  local function points(count, more, seed)
    local options = { rate = grid.log_uniform(1e-4, 1e-2), size = grid.integers(8, 64) }
    for key, value in pairs(more or {}) do options[key] = value end
    return grid.random { count = count, seed = seed, options = options }
  end
  local few, many, other = points(5), points(20), points(5, { act = grid.choices { 'tanh', 'relu' } })
  for i = 1, 5 do
    same(many[i], few[i])
    same({ rate = other[i].rate, size = other[i].size }, few[i])
  end
  same(points(5), few)
  assert(points(1, nil, 2)[1].rate ~= few[1].rate)
  -- Points are parts of folder names, so the values that these seeds give must not change.
  test.equal(grid.point_name(grid.random { count = 1, seed = 1, options = { rate = grid.log_uniform(1e-4, 1e-2) } }[1]),
    'rate=0.0004331')
end)

test('points are different; too few of them and wrong options are errors', function()
  local values = draw(grid.choices { 'a', 'b', 'c' }, 3)
  table.sort(values)
  same(values, { 'a', 'b', 'c' })
  test.fails('only 3 different points, 4 are wanted', function() draw(grid.choices { 'a', 'b', 'c' }, 4) end)
  test.fails('lower one first, got 2 and 1', function() grid.uniform(2, 1) end)
  test.fails('must be positive', function() grid.log_uniform(0, 1) end)
  test.fails('must be integers, got 1.5', function() grid.integers(1.5, 4) end)
  test.fails('lower one first, got nan', function() grid.uniform(0 / 0, 1) end)
  test.fails('expected a list', function() grid.choices {} end)
  test.fails('count must be an integer from 1', function() grid.random { options = { x = grid.uniform(0, 1) } } end)
  test.fails('options.x must be a distribution', function() grid.random { count = 1, options = { x = 3 } } end)
  test.fails("unknown option 'n'", function() grid.random { n = 1 } end)
end)

-- ---- Successive halving ----

-- A script that trains nothing but resumes. Large rates are good at first and bad later.
files.write(path 'toy.lua', [[
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local options, run = experiment.start { name = 'toy', doc = 'Trains nothing.', options = {
  { 'epochs', 1, 'epochs', may_change = true }, { 'rate', 0.1, 'a number', type = 'number' },
  { 'seed', 1, 'seed' }, { 'restart', 1, 'restart' } } }
local log = io.open(run:path 'starts', 'a')
log:write(options.epochs, '\n')
log:close()
local done = files.exists(run:path 'trained') and tonumber(files.read(run:path 'trained')) or 0
for epoch = done + 1, options.epochs do
  if files.exists 'kill' and epoch == 4 then os.execute('kill -9 ' .. pd.process.pid()) end
  files.write(run:path 'trained', tostring(epoch))
end
run:finish { validation_difference = 1 / options.rate / options.epochs + options.rate, epochs = options.epochs,
  accuracy = options.rate, seed = options.seed }
]])

local script = [[
local grid = require 'pushdown.grid'
local json = require 'pushdown.json'
local rows = grid.halving { name = 'test/halving', script = 'toy.lua', folder = 'runs/NAME', workers = 2, MORE
  points = POINTS }
for _, row in ipairs(rows) do
  print(table.concat({ 'ROW', row.point, row.status, row.result and row.result.epochs or 'none', row.attempts }, ' '))
end
print('RUNGS ' .. json.encode(rows.rungs))
]]

local nine = '{ { rate = 1 }, { rate = 2 }, { rate = 3 }, { rate = 4 }, { rate = 5 }, { rate = 6 }, { rate = 7 }, '
  .. '{ rate = 8 }, { rate = 9 } }'

local four = '{ { rate = 1 }, { rate = 2 }, { rate = 3 }, { rate = 4 } }'

local function search(name, more, points)
  local replaced = { NAME = name, MORE = more, POINTS = points or nine }
  files.write(path 'search.lua', (script:gsub('%u%u%u%u+', replaced)))
  return test.command(('cd %s && PUSHDOWN_REGISTRY=%s %s search.lua 2>&1'):format(files.quoted(folder),
    path 'registry.sqlite', files.quoted(shell)))
end

local function rungs_of(output) return json.decode(assert(output:match('RUNGS (%b[])'), output)) end

local function starts(name, point)
  return files.read(('%s/runs/%s/%s/restart-1/starts'):format(folder, name, point)):gsub('\n', ' ')
end

test('the best third continues', function()
  local output = search('plain', 'rungs = { 1, 3, 9 },')
  local rungs = rungs_of(output)
  -- 1 / rate / epochs + rate is always least at rate = 1.
  same({ #rungs[1].points, rungs[1].kept, #rungs[2].points, rungs[2].kept, #rungs[3].points, rungs[3].kept },
    { 9, 3, 3, 1, 1, 1 })
  same({ rungs[1].points[1].point, rungs[1].points[2].point, rungs[1].points[3].point },
    { 'rate=1', 'rate=2', 'rate=3' })
  test.near(rungs[2].points[1].score, 1 / 3 + 1, 1e-12)
  same({ output:match 'ROW (%S+) (%S+) (%S+)' }, { 'rate=1', 'done', '9' })
  test.equal((starts('plain', 'rate=1')), '1 3 9 ')
  test.equal((starts('plain', 'rate=2')), '1 3 ')
  test.equal((starts('plain', 'rate=4')), '1 ')
  -- A restarted search runs nothing and gives the same answer.
  same(rungs_of(search('plain', 'rungs = { 1, 3, 9 },')), rungs)
  test.equal((starts('plain', 'rate=1')), '1 3 9 ')
end)

test('killed in the second rung, a search continues: an old result is not taken for the new one', function()
  files.write(path 'kill', '')
  local output = search('killed', 'rungs = { 2, 5 }, keep = 2,', four)
  assert(output:find('no point has a result after epochs = 5', 1, true), output)
  os.remove(path 'kill')
  local rungs = rungs_of(search('killed', 'rungs = { 2, 5 }, keep = 2,', four))
  same({ rungs[1].kept, #rungs[2].points }, { 2, 2 })
  test.near(rungs[2].points[1].score, 1 / 5 + 1, 1e-12)
  test.equal((starts('killed', 'rate=1')), '2 5 5 5 ')  -- two attempts that were killed
  test.equal((starts('killed', 'rate=4')), '2 ')
end)

test('another metric, the higher the better, and another share', function()
  local rungs = rungs_of(search('higher', "rungs = { 1, 2 }, keep = 2, metric = 'accuracy', better = 'higher',", four))
  same({ rungs[1].kept, rungs[1].points[1].point, #rungs[2].points }, { 2, 'rate=4', 2 })
end)

test('another search in the same folder and wrong options are errors', function()
  for more, pattern in pairs {
    ['rungs = { 1, 4 },'] = 'is the state of another search: its rungs differ',
    ["rungs = { 1, 3, 9 }, metric = 'accuracy',"] = 'its metric differ',
    ['rungs = { 3, 3 },'] = 'rungs must be growing integers',
    ['rungs = { 3 },'] = 'at least two numbers',
    ['rungs = { 1, 2 }, keep = 1,'] = 'keep must be larger than 1',
    ["rungs = { 1, 2 }, better = 'best',"] = "better must be 'lower' or 'higher'",
    ['rungs = { 1, 2 }, fixed = { epochs = 3 },'] = 'fixed sets epochs, which the rungs set',
    ['rungs = { 1, 2 }, colour = 1,'] = "unknown option 'colour'",
  } do
    local output = search(more:find 'colour' and 'new' or 'plain', more)
    assert(output:find(pattern, 1, true), pattern .. ' not in: ' .. output)
  end
  local output = search('none', "rungs = { 1, 2 }, metric = 'loss',", four)
  assert(output:find("has no number 'loss'", 1, true), output)
  files.write(path 'runs/plain/halving.json', '{"plan": {')
  output = search('plain', 'rungs = { 1, 3, 9 },')
  assert(output:find('is not the state of a search', 1, true), output)
end)

os.execute('rm -rf ' .. files.quoted(folder))
test.finish()
