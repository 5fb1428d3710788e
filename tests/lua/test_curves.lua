-- Curves of recorded runs: reading metrics, bands over restarts, and `pushdown runs plot`.
local pd = require 'pushdown'
local bands = require 'pushdown.runs.bands'
local files = require 'pushdown.files'
local histories = require 'pushdown.runs.history'
local made = dofile(pd.root .. '/tests/lua/recorded_runs.lua')
local selection = require 'pushdown.runs.selection'
local test = require 'pushdown.test'

local has, lacks = test.has, test.lacks
local scene = made.new()
local function plot(...) return made.answer('pushdown.commands.runs', 'plot', '--registry', scene.file, ...) end

local function nan(value) return value ~= value end

test('a history by columns', function()
  local folder = scene.folder .. '/reading'
  files.make_folder(folder)
  files.write(folder .. '/metrics.jsonl', table.concat({
    '{"event":"update","epoch":1,"update":1,"loss":0.9,"gradient_norm":2}',
    '{"event":"update","epoch":1,"update":2,"loss":0.7,"gradient_norm":2}',
    '{"event":"epoch","epoch":1,"updates":2,"cross_entropy":0.5,"seconds":1.5,"improved":true,"best_epoch":1}',
    '{"event":"epoch","epoch":2,"updates":4,"cross_entropy":0.4,"seconds":1,"note":"a, \\"cross_entropy\\":9"}',
    -- The resumed run trained the second epoch again.
    '{"event":"epoch","epoch":2,"updates":4,"cross_entropy":0.25,"seconds":2,"improved":false}',
    '',
    '{"event":"epoch", "epoch": 3, "updates":6, "accuracy":null, "perplexity":1e-3, "seconds":0.5}',
    '{"event":"epoch","epoch":4,"updates":8,"cross_ent' }, '\n'))
  local history = histories.read(folder)
  test.equal(table.concat(history.keys, ' '), 'cross_entropy perplexity seconds')
  test.equal(table.concat(history.epoch, ' '), '1 2 3')
  test.equal(table.concat(history.update, ' '), '2 4 6')
  test.equal(table.concat(history.seconds, ' '), '1.5 3.5 4')
  test.equal(history.columns.cross_entropy[2], 0.25)
  assert(nan(history.columns.cross_entropy[3]) and nan(history.columns.perplexity[1]))
  test.equal(history.columns.perplexity[3], 1e-3)
  test.near(histories.curve(history, 'loss', 'update').y, { 0.9, 0.7 })
  test.equal(histories.curve(history, 'loss', 'epoch'), nil)
  test.equal(histories.curve(history, 'fine', 'epoch'), nil)
  test.equal(histories.read(scene.folder), nil)
  files.write(folder .. '/metrics.jsonl', 'nonsense\n{"a":[1,2\n[1,2]\n7\n')
  test.equal(histories.read(folder), nil)
end)

test('a damaged line is named, and the others are read', function()
  local folder = scene.folder .. '/damaged'
  files.make_folder(folder)
  local lines = {}
  for epoch = 1, 6 do
    lines[epoch] = ('{"event":"epoch","epoch":%d,"loss":%g,"best_epoch":4}'):format(epoch, epoch / 8)
  end
  lines[2] = lines[2]:sub(1, 20) .. '\0\0\27[31m'
  lines[3] = '{"event":"epoch","epoch":3,garbage,"loss":0.5}'
  lines[5] = '{"event":"epoch","loss":0.5}'  -- an object, but not an epoch
  files.write(folder .. '/metrics.jsonl', table.concat(lines, '\n') .. '\n{"event":"ep')
  local command = ([[for _, epoch in ipairs(pd.runs.history '%s') do print(epoch.epoch, epoch.loss) end
    pd.runs.history '%s'
    print(#require 'pushdown.runs.history'.read '%s'.epoch)]]):format(folder, folder, folder)
  local output = test.ended(0, { '1\t0.125\n4\t0.5\n6\t0.75\n3\n',
    folder .. "/metrics.jsonl:2: the line is damaged and left out: expected a JSON object, got '{\"event\":\"epoch",
    folder .. '/metrics.jsonl:3: the line is damaged' }, test.run { '-e', command })
  test.lacks(output, '\27')
  -- Each is named once, and the last line may be one that is being written.
  test.equal(select(2, output:gsub('is damaged', '')), 2)
end)

-- Mean and sample deviation computed in another way: sums of squares.
local function by_hand(values)
  local sum, squares = 0, 0
  for _, value in ipairs(values) do sum, squares = sum + value, squares + value ^ 2 end
  local count = #values
  return sum / count, math.sqrt((squares - sum ^ 2 / count) / (count - 1))
end

test('a band has the mean, deviation and range of the available runs', function()
  local band = bands.of { { x = { 1, 2, 3, 4 }, y = { 4, 2, 1, 0.5 } }, { x = { 1, 2, 3 }, y = { 5, 0 / 0, 3 } },
    { x = { 1, 2 }, y = { 9, 1 } } }
  test.near(band.x, { 1, 2, 3, 4 })
  test.near(band.count, { 3, 2, 2, 1 })
  test.equal(band.runs, 3)
  for i, values in ipairs { { 4, 5, 9 }, { 2, 1 }, { 1, 3 } } do
    local mean, deviation = by_hand(values)
    test.near(band.mean[i], mean)
    test.near(band.deviation[i], deviation)
  end
  test.equal(band.mean[4], 0.5)
  test.equal(band.deviation[4], false)
  test.near(band.low, { 4, 1, 1, 0.5 })
  test.near(band.high, { 9, 2, 3, 0.5 })
  test.equal(band.each[3][2], 1)
  test.equal(band.each[3][3], false)
  test.equal(band.each[2][2], false)
  test.equal(band.interpolated, false)
  local low, high = bands.edges(band)
  test.near(low[2], 1.5 - math.sqrt(0.5))
  test.near(high[2], 1.5 + math.sqrt(0.5))
  assert(nan(low[4]))
  test.equal(bands.of {}, nil)
  test.equal(bands.of { { x = { 1, 2 }, y = { 0 / 0, math.huge } } }, nil)
  test.equal(bands.of { { x = { 7 }, y = { 2 } } }.mean[1], 2)
end)

test('curves without common places are interpolated', function()
  local band = bands.of { { x = { 0, 10 }, y = { 0, 10 } }, { x = { 4, 5, 8 }, y = { 1, 3, 3 } } }
  test.equal(band.interpolated, true)
  test.equal(#band.x, 200)
  test.equal(band.x[1], 0)
  test.equal(band.x[200], 10)
  test.equal(band.mean[200], 10)
  for i, x in ipairs(band.x) do
    local other = x >= 4 and x <= 8 and math.min(3, 1 + 2 * (x - 4)) or nil
    test.equal(band.count[i], other and 2 or 1)
    test.near(band.mean[i], other and (x + other) / 2 or x)
  end
end)

test('a thinned band keeps values, the first and the last', function()
  local x, y = {}, {}
  for i = 1, 1001 do x[i], y[i] = i, math.sin(i) end
  local band, every = bands.thinned(bands.of { { x = x, y = y }, { x = x, y = x } }, 100)
  test.equal(every, 11)
  test.equal(#band.x, 92)
  test.equal(band.x[1], 1)
  test.equal(band.x[92], 1001)
  for i, place in ipairs(band.x) do test.near(band.mean[i], (math.sin(place) + place) / 2) end
  test.equal(#band.each[2], 92)
  local whole = bands.thinned(bands.of { { x = x, y = y } }, 1001)
  test.equal(#whole.x, 1001)
end)

-- A grid of two points with three restarts each, one separate run, and one without metrics.
local function falling(from, count)
  local epochs = {}
  for i = 1, count do
    epochs[i] = { cross_entropy_difference = from / i, train_cross_entropy = from, seconds = from }
  end
  return epochs
end
for restart = 1, 3 do
  for _, rate in ipairs { 1, 2 } do
    local point = ('rate=%d,size=5'):format(rate)
    scene:add { name = ('g/%s/restart-%d'):format(point, restart), grid = 'g', restart = restart, point = point,
      options = { rate = rate }, epochs = falling(rate * restart, 6 + restart) }
  end
end
local single, single_folder = scene:add { name = 'single', experiment = 'alone', epochs = { { accuracy = 0.5 } } }
local bare = scene:add { name = 'bare', experiment = 'alone' }

test('points and their names', function()
  local rows = require 'pushdown.runs'.find({}, scene.file)
  local names = {}
  for i, point in ipairs(selection.points(rows)) do names[i] = ('%s %d'):format(point.name, #point.runs) end
  test.equal(table.concat(names, '; '), 'rate=1 3; rate=2 3; alone 7 1; alone 8 1')
  local grid = require 'pushdown.runs'.find({ grid = 'g' }, scene.file)
  names = {}
  for i, point in ipairs(selection.points(grid)) do names[i] = point.name end
  test.equal(table.concat(names, '; '), 'rate=1; rate=2')
  test.equal(selection.points(grid, true)[2].name, 'rate=2 restart 1')
  test.equal(#selection.points(grid, true), 6)
  local function named(...)
    local list = {}
    for i, one in ipairs { ... } do list[i] = { grid = one[1], point = one[2], folder = '/r/' .. i .. '/restart-1' } end
    for i, point in ipairs(selection.points(list)) do list[i] = point.name end
    return table.concat(list, '; ')
  end
  test.equal(named({ 'p/dyck/lstm', 'rate=1' }, { 'p/dyck/ns', 'rate=1' }), 'lstm; ns')
  test.equal(named({ 'p/dyck/lstm', 'rate=1' }, { 'p/dyck/ns', 'rate=2' }), 'lstm rate=1; ns rate=2')
  test.equal(named({ 'p/a/lstm', 'rate=1' }, { 'p/b/lstm', 'rate=1' }), 'a; b')
  test.equal(named({ nil, 'a/lstm/rate=1' }, { nil, 'b/lstm/rate=1' }), 'a; b')
  test.equal(named({ 'p', 'a=1' }, { 'p', 'a=1,b=2' }), 'a=1; b=2')
  test.equal(named({ 'p', 'a=1' }, { 'p/q', 'a=1' }, { nil, 'a=1' }), 'p; p/q; a=1')
  test.equal(named { 'p', 'a=1' }, 'a=1')
  test.equal(named({ 'p', 'a=1' }, { 'p', 'a=1' }), 'a=1; a=1 (/r/2)')
end)

test('runs plot draws means with bands', function()
  local text, errors, status = plot('--grid', 'g')
  test.equal(errors .. status, '0')
  has(text, 'rate=1 (mean of 3)', 'rate=2 (mean of 3)', 'validation cross-entropy difference (nats per symbol)',
    'epoch', 'Dotted: mean ± sample deviation.', 'a mean is over those that have reached the place')
  text = plot('1', '3', '5', '--each')
  has(text, 'rate=1,size=5 restart 2')
  lacks(text, 'mean of', 'Dotted')
  has(plot('--grid', 'g', '--x', 'update', '--metric', 'train_cross_entropy'), 'updates',
    'training cross-entropy (nats per symbol)')
  has(plot('--grid', 'g', '--x', 'seconds', '--log-y'), 'seconds of training and validation')
  has(plot(tostring(single)), 'validation accuracy')
  has(plot(tostring(single), tostring(bare)), '1 run without metrics of an epoch.')
end)

test('runs plot writes a picture', function()
  local path = scene.folder .. '/p.svg'
  local text = plot('--grid', 'g', '-o', path, '--title', 'A <title>')
  has(text, path .. ': cross_entropy_difference over epoch, bands are mean ± sample deviation')
  local picture = files.read(path)
  has(picture, 'A &lt;title&gt;', '<polygon', 'rate=2 (mean of 3)', '</svg>')
  has(plot(tostring(single), '--output=' .. path), 'accuracy over epoch\n')
  lacks(files.read(path), '<polygon')
end)

test('many points are cut with a note', function()
  for k = 1, 10 do
    scene:add { name = ('many/k=%d/restart-1'):format(k), grid = 'many', point = 'k=' .. k, restart = 1,
      epochs = falling(k, 3) }
  end
  has(plot('--grid', 'many'), 'The first 8 of 10 are shown')
end)

test('runs plot refuses wrong calls', function()
  local function fails(expected_status, expected, ...)
    local output, errors, status = plot(...)
    test.equal(output, '')
    test.equal(status, expected_status)
    has(errors, 'pushdown runs: ' .. expected)
  end
  fails(2, 'which runs?')
  fails(2, 'choose runs by numbers or by filters, not both', '1', '--grid', 'g')
  fails(2, "--output needs a name that ends in .svg, .pdf or .png, got 'a.gif'", '1', '-o', 'a.gif')
  fails(2, '--output takes one --metric, got 2', '1', '-o', 'a.svg', '--metric', 'a,b')
  fails(2, "option '--x' must be one of 'epoch', 'update' and 'seconds', got \"time\"", '1', '--x', 'time')
  fails(1, "no run has the metric 'fine'; there are cross_entropy_difference, seconds, train_cross_entropy", '1',
    '--metric', 'fine')
  fails(1, ('run %d has no metrics'):format(bare), tostring(bare))
  fails(1, 'there is no run 99', '99')
  local output, errors, status = plot('1', '-o', scene.folder .. '/nowhere/p.svg')
  test.equal(output, '')
  test.equal(status, 1)
  has(errors, 'nowhere')
  has((plot('--grid', 'nothing*')), 'No run matches.')
  assert(files.exists(single_folder .. '/metrics.jsonl'))
end)

test.finish()
