-- Runs for TensorBoard and Weights & Biases, compared with the bytes of their own writers
-- (tests/interchange/make_mirror.py), with a reader in Python that knows only the formats, and with TensorBoard's
-- reader if it is installed.
local pd = require 'pushdown'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local runs = require 'pushdown.runs'
local test = require 'pushdown.test'

local shell = test.program
local stored = pd.root .. '/tests/interchange/'
local folder = test.folder()

local function example()
  return { name = 'g/a', started = 1700000000, options = { { name = 'layers', value = 0 },
    { name = 'model', value = 'größe' }, { name = 'rate', value = 0.125 }, { name = 'safe', value = false },
    { name = 'stack', value = true } }, texts = { { name = 'command', text = '    pushdown train.lua' } },
    tags = { 'one', 'two' }, note = ('x'):rep(70000), experiment = 'demo', grid = 'g', host = 'vm' }
end

local function values(...)
  local list = {}
  for i, item in ipairs { ... } do list[i] = { name = item[1], value = item[2] } end
  return list
end

test('checksums are those of the standards', function()
  local checksum = require 'pushdown.mirror.checksum'
  test.equal(checksum.ieee '123456789', 0xCBF43926)
  test.equal(checksum.castagnoli '123456789', 0xE3069283)
  test.equal(checksum.castagnoli(('\0'):rep(32)), 0x8A9136AA)  -- RFC 3720, B.4
  test.equal(checksum.castagnoli(('\255'):rep(32)), 0x62A8AB43)
end)

test('an event file has the bytes of TensorBoard\'s own writer', function()
  local encoder = require 'pushdown.mirror.tensorboard'.encoder(example())
  local t = 1700000000
  local made = encoder:begin() .. encoder:epoch(1, t + 1, values({ 'accuracy', 0 }, { 'loss', 1.5 }))
    .. encoder:epoch(300, t + 2.5, values({ 'accuracy', 0.25 }, { 'loss', -1e-3 }))
    .. encoder:finish(t + 3, 'done', values { 'test', 0.5 })
  local expected = files.read(stored .. 'files/mirror.tfevents')
  test.equal(#made, #expected)
  assert(made == expected)
end)

test('an offline run has the bytes of the writer of Weights & Biases', function()
  local encoder = require 'pushdown.mirror.wandb'.encoder(example())
  local parts = { encoder:begin() }
  for epoch = 1, 200 do
    parts[#parts + 1] = encoder:epoch(epoch, 1700000000 + epoch,
      values({ 'accuracy', 0.25 }, { 'loss', epoch == 7 and 0 / 0 or -0.5 }))
  end
  parts[#parts + 1] = encoder:finish(1700000201, 'done', values { 'test', 0.5 })
  local made, expected = table.concat(parts), json.decode(files.read(stored .. 'files/mirror.json'))
  test.equal(#made, expected.bytes)
  test.equal(pd.file.sha256_of_text(made), expected.sha256)
end)

test('a record ends at every place of a block', function()
  local wandb = require 'pushdown.mirror.wandb'
  for size = 32768 - 30, 32768 do
    local at = #wandb.file_header
    local one = wandb.record(at, ('a'):rep(size))
    local two = wandb.record(at + #one, 'bc')
    local left = (at + #one) % 32768
    local padding = left > 32768 - 7 and 32768 - left or 0
    test.equal(#two, padding + 7 + 2 + (left > 32768 - 9 and left <= 32768 - 7 and 7 or 0))
  end
end)

-- ---- Trainings ----

local function run(...)
  return test.run({ ... },
    { folder = folder, environment = 'env -u PUSHDOWN_REGISTRY -u PUSHDOWN_MIRROR OMP_NUM_THREADS=1' })
end

files.write(folder .. '/train.lua', [[
local g = pd.grammar.load 'marked_reversal'
local s = g:sampler { lengths = { 3, 7 } }
local steps, mirror, epochs = arg[2] == 'steps', arg[3], tonumber(arg[4] or 3)
local t
if arg[2] == 'resume' then
  t = pd.train.resume(arg[1], { epochs = epochs, mirror = mirror })
else
  t = pd.train.trainer { model = pd.model.language_model { alphabet = g:alphabet(), seed = 1,
    controller = { kind = 'lstm', hidden = 2 } }, train = s:dataset(10, { seed = 1, batch = 5 }), batch = 5,
    valid = s:dataset(5, { seed = 2 }), epochs = epochs, seed = 1, run_folder = arg[1], mirror = mirror, log_every = 1 }
end
if steps then t:step() t:step() t:step() end
for _ in t:epochs() do end
]])

local has_python = select(2, test.command 'python3 --version') == 0
local python = os.getenv 'PUSHDOWN_TEST_PYTHON' or 'python3'
local has_tensorboard = has_python and select(2, test.command(python .. " -c 'import tensorboard'")) == 0
if not has_tensorboard then print "skipped: TensorBoard's own reader; python3 has no module tensorboard" end

local function only(pattern, place)
  local found = files.find(folder .. '/' .. place, pattern)
  test.equal(#found, 1)
  return folder .. '/' .. place .. '/' .. found[1]
end

local function read(kind, path)
  local output, status = test.command(('python3 %sread_mirror.py %s %s'):format(stored, kind, files.quoted(path)))
  test.equal(status, 0)
  return json.decode(output)
end

-- The curve of a metric is that of metrics.jsonl.
local function check_curve(place, points, metric, epochs, tolerance)
  local history = runs.history(folder .. '/' .. place)
  test.equal(#history, epochs)
  test.equal(#points, epochs)
  local time = 0
  for i, point in ipairs(points) do
    test.equal(point[1], i)
    test.near(point[3], history[i][metric], tolerance)
    assert(point[2] >= time)
    time = point[2]
  end
end

test('a training is mirrored while it runs', function()
  if not has_python then return print 'skipped: there is no python3' end
  for _, kind in ipairs { 'tensorboard', 'wandb' } do
    local place, tolerance = 'runs/' .. kind, kind == 'wandb' and 0 or 1e-6
    local logs = 'logs_' .. kind
    local function curve()
      return read(kind, only(kind == 'wandb' and '%.wandb$' or 'tfevents', logs)).scalars.cross_entropy
    end
    test.succeeds(run('train.lua', place, 'steps', kind .. ':' .. logs))
    check_curve(place, curve(), 'cross_entropy', 3, tolerance)
    -- The training is resumed, and one file has all of it.
    test.succeeds(run('train.lua', place, 'resume', kind .. ':' .. logs, '5'))
    check_curve(place, curve(), 'cross_entropy', 5, tolerance)
  end
end)

test('PUSHDOWN_MIRROR mirrors every training with a run folder', function()
  test.succeeds(test.command(('cd %s && PUSHDOWN_MIRROR=tensorboard:all %s train.lua runs/other'):format(
    files.quoted(folder), files.quoted(shell))))
  only('^other/events%.out%.tfevents', 'all')
end)

test('wrong targets are errors, and failed writes are warnings', function()
  test.ended(1, "did you mean 'tensorboard'?", run('train.lua', 'runs/wrong', 'epochs', 'tensorbord:logs'))
  assert(not files.exists(folder .. '/runs/wrong/config.json'))
  files.write(folder .. '/file', 'no folder')
  test.ended(0, "the training in 'runs/file' is no longer mirrored",
    run('train.lua', 'runs/file', 'epochs', 'wandb:file'))
  local model = pd.model.language_model { alphabet = { 'a' }, controller = { kind = 'lstm', hidden = 2 } }
  local train = pd.task.dataset { alphabet = { 'a' }, strings = { 'a' } }
  test.fails('mirror needs run_folder', pd.train.trainer, { mirror = 'wandb:x', model = model, train = train })
end)

test('runs export writes the content of the run folders', function()
  run('runs', 'note', '1', 'the first\n`one`')
  run('runs', 'tag', '1', '2', '+good')
  test.ended(0, 'out: 10 epochs of 2 runs', run('runs', 'export', '--tensorboard', 'out', '--where', 'epochs=5'))
  local first = files.read(only('^wandb/events', 'out'))
  run('runs', 'export', '--tensorboard', 'out', '--where', 'epochs=5')
  assert(first == files.read(only('^wandb/events', 'out')))  -- the same bytes again
  test.succeeds(run('runs', 'export', '--wandb', 'out', '--where', 'epochs=5'))
  test.equal(#files.find(folder .. '/out', '^offline%-run%-%d+_%d+%-%x+/run%-%x+%.wandb$'), 2)
  if has_python then
    check_curve('runs/wandb', read('tensorboard', only('^wandb/events', 'out')).scalars.train_cross_entropy,
      'train_cross_entropy', 5, 1e-6)
    local result = read('tensorboard', only('^wandb/events', 'out')).scalars['result/epochs']
    test.equal(result[1][3], 5)
    for _, path in ipairs(files.find(folder .. '/out', '%.wandb$')) do
      local got = read('wandb', folder .. '/out/' .. path)
      check_curve('runs/wandb', got.scalars.cross_entropy, 'cross_entropy', 5, 1)
      test.equal(got.texts['config.controller.hidden'], '2')
      test.equal(got.texts.tags[1], 'good')
    end
  end
  if has_tensorboard then
    local text, done = test.command(('%s %sread_tensorboard.py %s/out/tensorboard 2>/dev/null'):format(python, stored,
      files.quoted(folder)))
    assert(done == 0, text)
    local got = json.decode(text)
    check_curve('runs/tensorboard', got.scalars.cross_entropy, 'cross_entropy', 5, 1e-6)
    test.equal(got.options['controller.hidden'], 2)
    test.equal(got.options['controller'], 'lstm')
    test.equal(got.texts.note, '    the first\n    `one`')
    assert(got.texts.command:find('train.lua runs/tensorboard', 1, true), got.texts.command)
  end
  test.ended(2, '--wandb and --json exclude each other', run('runs', 'export', '--wandb', 'out', '--json'))
end)

test.finish()
