-- Training from Lua: its results, resuming after a stop, run folders, and bad input.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'
local json = require 'pushdown.json'

-- The path of a new run folder.
local function folder() return test.folder() .. '/run' end

local grammar = pd.grammar.load('marked_reversal')
local sampler = grammar:sampler { lengths = { 3, 9 } }
local train, valid = sampler:dataset(60, { seed = 1 }), sampler:dataset(20, { seed = 2 })

local function model(options)
  options = options or {}
  options.alphabet = grammar:alphabet()
  options.controller = options.controller or { kind = 'lstm', hidden = 5 }
  options.stack = options.stack or { kind = 'superposition', size = 2 }
  options.seed = 3
  return pd.model.language_model(options)
end

local function trainer(options)
  return pd.train.trainer(pd.tables.merged({ model = model(), train = train, valid = valid, epochs = 3, seed = 1,
    progress = false, optimizer = { kind = 'adam', learning_rate = 0.01 } }, options))
end

local function numbers(m)
  local all = {}
  for name, tensor in pairs(m:parameters()) do all[name] = tensor:to_table() end
  return all
end

local function same(a, b)
  for name, values in pairs(a) do test.near(values, b[name], 0) end
end

local function read(path) return assert(files.read(path)) end

local function lines(path)
  local list = {}
  for line in read(path):gmatch('[^\n]+') do list[#list + 1] = json.decode(line) end
  return list
end

test('an epoch reports its numbers', function()
  local t = trainer()
  local seen = {}
  for epoch in t:epochs() do seen[#seen + 1] = epoch end
  test.equal(#seen, 3)
  test.equal(#t:history(), 3)
  local last = seen[3]
  test.equal(last.epoch, 3)
  test.equal(last.updates, 3 * t:updates_per_epoch())
  test.near(last.lower_bound, sampler:lower_bound(valid))
  test.near(last.cross_entropy_difference, last.cross_entropy - last.lower_bound)
  assert(last.cross_entropy < seen[1].cross_entropy, 'it learns')
  test.equal(last.learning_rate, 0.01)
  test.near(t:evaluate(valid).cross_entropy, last.cross_entropy)
  assert(t:finished():find('3 epochs'))
  assert(tostring(t):find('finished'))
  for _ in t:epochs() do error('there is nothing left') end
end)

test('steps are the same updates', function()
  local a, b = trainer { epochs = 1 }, trainer { epochs = 1 }
  for _ in a:epochs() do end
  for i = 1, b:updates_per_epoch() do
    local update = b:step()
    test.equal(update.update, i)
    test.equal(update.epoch, 1)
    assert(update.loss > 0 and update.gradient_norm > 0 and update.learning_rate == 0.01)
  end
  test.equal(#b:history(), 1)
  test.equal(b:history()[1].cross_entropy, a:history()[1].cross_entropy)
  same(numbers(a:model()), numbers(b:model()))
end)

test('a folder is saved again, and goes on with more epochs', function()
  local path, first = folder(), trainer()
  for _ in first:epochs() do end
  first:save(path)
  first:save(path)
  test.fails('overwrite', trainer().save, trainer(), path)
  local longer = pd.train.resume(path, { epochs = 4, progress = false })
  test.equal(longer:finished(), nil)
  for epoch in longer:epochs() do test.equal(epoch.epoch, 4) end
end)

test('the run folder is complete', function()
  local path = folder()
  local t = trainer { run_folder = path, log_every = 5 }
  test.equal(t:run_folder(), path)
  for _ in t:epochs() do end
  local config = json.decode(read(path .. '/config.json'))
  test.equal(config.version, pd.version)
  test.equal(config.seed, 1)
  test.equal(config.trainer.decay_factor, 0.9)
  test.equal(config.trainer.optimizer.epsilon, 1e-8)
  test.equal(config.model.options.controller.hidden, 5)
  test.equal(config.data.valid.strings, 20)
  assert(#config.command_line > 0)
  local epochs, updates = 0, 0
  for _, line in ipairs(lines(path .. '/metrics.jsonl')) do
    if line.event == 'epoch' then epochs = epochs + 1 else updates = updates + 1 end
  end
  test.equal(epochs, 3)
  test.equal(updates, math.floor(t:updates() / 5))
  assert(read(path .. '/curves.svg'):find('<svg', 1, true))
  test.equal(pd.task.load_dataset(path .. '/data/valid.txt'):lower_bound(), valid:lower_bound())
  local history = t:history()
  local best = history[history[#history].best_epoch].cross_entropy
  test.near(pd.train.evaluate(pd.model.load(path), valid).cross_entropy, best)
end)

test('evaluation by length', function()
  local result = pd.train.evaluate(model(), valid, { bin_width = 2 })
  local strings = 0
  for _, bin in ipairs(result.bins) do
    strings = strings + bin.strings
    test.equal(bin.longest, bin.shortest + 1)
    assert(bin.cross_entropy > bin.lower_bound)
  end
  test.equal(strings, 20)
end)

test('optimizers', function()
  local names = pd.train.optimizers()
  table.sort(names)
  test.equal(table.concat(names, ' '), 'adam adamw rmsprop sgd')
  for _, kind in ipairs(names) do
    local t = trainer { optimizer = { kind = kind, learning_rate = 0.01 }, clip_value = 1 }
    assert(t:step().loss > 0)
  end
  assert(pd.train.describe():find('stop_patience'))
end)

test('a user may train without validation', function()
  local plain = pd.train.trainer { model = model(), train = train, epochs = 1, progress = false }
  for epoch in plain:epochs() do
    test.equal(epoch.cross_entropy, nil)
    assert(epoch.train_cross_entropy > 0)
  end
end)

-- Learns so fast that the best epoch is not the last one.
local function eager(options)
  return trainer(pd.tables.merged({ epochs = 8, optimizer = { kind = 'adam', learning_rate = 0.5 } }, options))
end

test('run() gives the model the parameters of the best epoch, and restore() either', function()
  local t = eager()
  local done = t:run()
  local history = t:history()
  assert(done.best_epoch < #history, 'the last epoch is worse')
  test.equal(done.parameters_of, 'best')
  test.equal(t:evaluate(valid).cross_entropy, done.cross_entropy)
  assert(tostring(done):find(('parameters     epoch %d, the best'):format(done.best_epoch), 1, true), tostring(done))
  assert(tostring(t):find('whose parameters the model has', 1, true), tostring(t))
  t:restore 'last'
  test.equal(t:evaluate(valid).cross_entropy, history[#history].cross_entropy)
  assert(not tostring(t):find('whose parameters', 1, true))
  t:restore()
  test.equal(t:evaluate(valid).cross_entropy, done.cross_entropy)
  local last = eager():run { restore = 'last' }
  test.equal(last.parameters_of, 'last')
  assert(tostring(last):find('parameters     update 48, the last', 1, true), tostring(last))
  test.fails("expected 'best' or 'last', got 'first'", function() t:restore 'first' end)
  test.fails('no epoch is done', function() eager():restore() end)
end)

test('training goes on from the last parameters after those of the best epoch were restored', function()
  local whole = eager { epochs = 9 }
  for _ in whole:epochs() do end
  -- In the same process: the next update has the same loss.
  local looped, ran = eager(), eager()
  for _ in looped:epochs() do end
  ran:run()
  local expected = looped:step()
  for name, value in pairs(ran:step()) do test.equal(value, expected[name]) end
  -- From the folder, which has the last parameters.
  for _, save in ipairs { false, true } do
    local path = folder()
    local t = eager { run_folder = not save and path or nil }
    assert(t:run().best_epoch < 8)
    if save then t:save(path) end
    local more = pd.train.resume(path, { epochs = 9, progress = false })
    more:run { restore = 'last' }
    same(numbers(more:model()), numbers(whole:model()))
  end
  -- Unless somebody has changed them.
  local t = eager()
  t:run()
  local changed = t:model():parameters()['output.bias']
  pd.tensor.no_grad(function() changed:assign(pd.tensor { 1, 2, 3, 4 }) end)
  local before = t:model():log_probability '0 # 0'
  t:restore 'last'
  test.equal(t:model():log_probability '0 # 0', before)
end)

test('several seeds in one call, with mean, deviation and the best model', function()
  local path = folder()
  local function options() return { run_folder = path, epochs = 2, model = model { end_symbol = false } } end
  local t = trainer(options())
  local done = t:run { seeds = 3 }
  test.equal(#done, 3)
  local sum, squares, best = 0, 0, 1
  for k, one in ipairs(done) do
    -- The same as a trainer with these seeds.
    local again = trainer { epochs = 2, seed = k, model = pd.model.language_model { alphabet = grammar:alphabet(),
      controller = { kind = 'lstm', hidden = 5 }, stack = { kind = 'superposition', size = 2 }, seed = 2 + k,
      end_symbol = false } }
    again:run()
    test.equal(one.cross_entropy, again:history()[one.best_epoch].cross_entropy)
    test.equal(one.seed, 2 + k)
    test.equal(one.folder, k == 1 and path or ('%s/seed-%d'):format(path, k))
    sum, squares = sum + one.cross_entropy, squares + one.cross_entropy ^ 2
    if one.cross_entropy < done[best].cross_entropy then best = k end
  end
  test.equal(done.measure, 'cross_entropy')
  test.equal(done.count, 3)
  test.near(done.mean, sum / 3)
  test.near(done.deviation, math.sqrt((squares - sum ^ 2 / 3) / 2))
  test.equal(done.best, best)
  test.equal(pd.train.evaluate(done.model, valid).cross_entropy, done[best].cross_entropy)
  local text = tostring(done)
  assert(text:find(('3 of 3 seeds; the best is seed %d.'):format(2 + best), 1, true), text)
  -- A script that runs again, or a second call, trains nothing anew.
  local updates = t:updates()
  test.equal(t:run { seeds = 3 }.mean, done.mean)
  test.equal(trainer(options()):run { seeds = 3 }.mean, done.mean)
  test.equal(t:updates(), updates)
  -- A seed that fails is counted.
  local failing = trainer { model = model(), clip_norm = 0, optimizer = { kind = 'sgd', learning_rate = 1e38 } }
  test.fails('diverged', function() failing:run { seeds = 2 } end)
  test.fails('got one of pd.train.resume', function() pd.train.resume(path):run { seeds = 2 } end)
  local changed = model()
  pd.tensor.no_grad(function() changed:parameters()['output.bias']:assign(pd.tensor { 1, 2, 3, 4 }) end)
  test.fails("parameters were changed before", function() trainer { model = changed }:run { seeds = 2 } end)
  local later = trainer()
  pd.tensor.no_grad(function() later:model():parameters()['output.bias']:assign(pd.tensor { 1, 2, 3, 4 }) end)
  test.fails("parameters were changed after", function() later:run { seeds = 2 } end)
end)

test('learning curves are drawn from a trainer, a summary, and lists of them', function()
  local t = trainer()
  test.fails('no epoch is done', function() t:curve() end)
  test.fails('no epoch is done', function() pd.plot.curves(t) end)
  local done = t:run()
  local path = folder() .. '.svg'
  local svg = t:curve(path)
  test.equal(read(path), svg)
  assert(svg:find('cross-entropy difference', 1, true) and svg:find('lower bound', 1, true), svg)
  for _, of in ipairs { t, done } do
    test.equal(pd.plot.curves(of), svg)
    test.equal(pd.plot.curves { of = of }, svg)
  end
  test.equal(pd.plot.curves { history = t:history() }, svg)
  local seeds = trainer():run { seeds = 2 }
  local both = pd.plot.curves { of = seeds, title = 'two' }
  assert(both:find('seed 3', 1, true) and both:find('seed 4', 1, true) and both:find('<title>two', 1, true), both)
  assert(pd.plot.curves { t, t }:find('model 2', 1, true))
  local group = pd.train.together { trainer(), trainer() }
  assert(pd.plot.curves(group:run()):find('superposition 2', 1, true))
  test.fails('of must be a trainer', function() pd.plot.curves { of = { 7 } } end)
  test.fails('expected of, history or series', function() pd.plot.curves {} end)
  -- A recognizer has accuracies.
  local labelled = pd.task.labelled { grammar = grammar, lengths = { 3, 9 }, positives = 10, negatives = 10, seed = 1,
    distinct = 'none' }
  local r = pd.train.trainer { model = pd.model.recognizer { alphabet = grammar:alphabet(), seed = 1 },
    train = labelled, valid = labelled, epochs = 2, progress = false }
  r:run()
  assert(r:curve():find('accuracy', 1, true) and not r:curve():find('no data', 1, true))
end)

test('a frozen parameter stays frozen in every file of the model', function()
  local path, name = folder(), 'output.weight'
  local function is_frozen(m)
    for key, parameter in pairs(m:parameters()) do test.equal(parameter:requires_grad(), key ~= name) end
  end
  for _, kind in ipairs { 'adam', 'adamw', 'sgd' } do
    local m = model()
    local before = numbers(m)[name]
    m:parameters()[name]:requires_grad(false)
    local t = trainer { model = m, run_folder = path, overwrite = true, optimizer = { kind = kind } }
    t:step()
    t:run()
    is_frozen(m)
    test.near(numbers(m)[name], before, 0)
    local more = pd.train.resume(path, { epochs = 4, progress = false })
    is_frozen(more:model())
    more:run()
    test.near(numbers(more:model())[name], before, 0)
    for _, which in ipairs { 'best', 'last' } do is_frozen(pd.model.load(path, { which = which })) end
    m:save(path .. '/own.safetensors')
    is_frozen(pd.model.load(path .. '/own.safetensors'))
    -- Also where a script makes the model again and forgets it.
    local continued = trainer { run_folder = path, epochs = 5, optimizer = { kind = kind } }
    is_frozen(continued:model())
  end
end)

test('annealing shows the learning rate that was used', function()
  local path = folder()
  local t = trainer { run_folder = path, epochs = 2, annealing = { kind = 'warmup', updates = 10 }, log_every = 1,
    progress = true }
  local update = t:step()
  test.near(update.learning_rate, 0.01)
  test.near(update.used_learning_rate, 0.001)
  t:run()
  local history = t:history()
  test.near(history[1].used_learning_rate, 0.01 * 6 / 10)
  test.near(history[2].used_learning_rate, 0.01)
  test.near(history[1].learning_rate, 0.01)
  local seen = 0
  for _, line in ipairs(lines(path .. '/metrics.jsonl')) do
    if line.event == 'update' then
      seen = seen + 1
      test.near(line.used_learning_rate, 0.01 * math.min(1, line.update / 10))
    end
  end
  test.equal(seen, 12)
  assert(read(path .. '/log.txt'):find('learning rate 0.006', 1, true))
  test.equal(trainer():step().used_learning_rate, nil)
end)

test('infinite and denormal options are refused', function()
  for _, case in ipairs {
    { { optimizer = { epsilon = math.huge } }, "%[optimizer adam%] option 'epsilon' must be finite, got inf" },
    { { optimizer = { epsilon = 1e-320 } }, "'epsilon' must be 0 or at least 2.3e%-308: 1e%-320 would count as 0" },
    { { optimizer = { epsilon = 1e-40 } }, "option 'epsilon' must be 0 or between 1.2e%-38 and 3.4e38" },
    { { optimizer = { learning_rate = 1e39 } }, "option 'learning_rate' must be 0 or between" },
    { { optimizer = { kind = 'adamw', weight_decay = math.huge } }, "option 'weight_decay' must be finite" },
    { { optimizer = { kind = 'sgd', momentum = 1e-310 } }, "option 'momentum' must be 0 or at least" },
    { { clip_norm = math.huge }, "option 'clip_norm' must be finite" },
    { { clip_value = 1e-40 }, "option 'clip_value' must be 0 or between" },
    { { max_seconds = math.huge }, "option 'max_seconds' must be finite" },
    { { noise = { beta = math.huge } }, "option 'beta' must be finite" },
  } do
    test.fails(case[2], function() trainer(case[1]) end)
  end
  -- float64 has these numbers.
  eager { model = model { dtype = 'float64' }, optimizer = { epsilon = 1e-40 } }
end)

test('the message about a loss that is not finite fits its cause', function()
  local function set(m, values)
    pd.tensor.no_grad(function() m:parameters()['output.bias']:assign(pd.tensor(values)) end)
  end
  local first = model()
  set(first, { 0, 3e38, -3e38, 0 })
  local message = test.fails('the loss became inf on string %d+ of the training set in epoch 1, update 1',
    function() trainer { model = first }:run() end)
  assert(message:find('all parameters are finite, the greatest number is 3e+38', 1, true)
    and message:find('the learning rate is not the cause', 1, true), message)
  local set_wrong = model()
  set(set_wrong, { 0, 0 / 0, 0, 0 })
  local t = trainer { model = set_wrong }
  message = test.fails("'output.bias' has numbers that are not finite", function() t:run() end)
  assert(message:find('no update was made before', 1, true), message)
end)

test('divergence stops with advice and keeps the last checkpoint', function()
  local path = folder()
  local t = trainer { run_folder = path, optimizer = { learning_rate = 1e38 } }
  local message = test.fails('diverged', function() for _ in t:epochs() do end end)
  assert(message:find('smaller learning_rate') and message:find(path, 1, true), message)
  assert(pd.train.resume(path):updates() == 0)
end)

test('a loss that grows without end is reported, and the best epoch is kept', function()
  local path, m = folder(), model { end_symbol = false }
  local t = trainer { model = m, run_folder = path, epochs = 2, optimizer = { kind = 'sgd', learning_rate = 1e-3 } }
  for epoch in t:epochs() do
    if epoch.epoch == 1 then
      test.equal(t:finished(), nil)
      pd.tensor.no_grad(function()
        local bias = m:parameters()['output.bias']
        bias:assign(bias:detach() + pd.tensor({ 1e30, 0, -1e30 }))
      end)
    else
      assert(epoch.train_cross_entropy > 1e28, epoch.train_cross_entropy)
      test.equal(epoch.best_epoch, 1)
    end
  end
  local ended = t:finished()
  assert(ended:find '^2 of 2 epochs are done; training has diverged, the mean loss is %d[%d.]*e%+%d+$', ended)
  local log = files.read(path .. '/log.txt')
  assert(log:find('warn.*epoch 2: the mean loss is [%d.e+]+: training has diverged; try a smaller learning_rate or '
    .. 'clip_norm, or another seed; the best epoch is 1'), log)
  assert(pd.model.load(path):log_probability('0 # 0') > -100)
end)

test('strings without symbols have no cross-entropy', function()
  local function evaluated(strings, options)
    return pd.train.evaluate(model(options), pd.task.dataset { alphabet = grammar:alphabet(), strings = strings },
      { bin_width = 1 })
  end
  for _, options in ipairs { { end_symbol = false }, { end_symbol = true } } do
    test.fails('all 2 strings are empty: a cross%-entropy per symbol needs symbols', evaluated, { {}, {} }, options)
    local result = evaluated({ {}, { '0', '#' } }, options)
    assert(result.cross_entropy > 0 and result.cross_entropy < 10)
    test.equal(result.bins[1].cross_entropy, nil)
    test.equal(result.bins[1].symbols, 0)
    assert(result.bins[2].cross_entropy > 0)
  end
  test.fails('needs at least one string', function() evaluated {} end)
end)

test('bad input', function()
  local other = pd.task.dataset { alphabet = { 'a', 'b' }, strings = { 'a b' } }
  test.fails('different symbols', function() trainer { train = other } end)
  test.fails('different symbols', function() pd.train.evaluate(model(), other) end)
  test.fails('Dataset', function() trainer { train = { '0 # 0' } } end)
  test.fails('/proc/nowhere', function() trainer { run_folder = '/proc/nowhere' } end)
  test.fails('/nowhere', function() pd.model.load('/nowhere') end)
  local path = folder()
  trainer { run_folder = path }
  test.fails('contains a run with another batch', function() trainer { run_folder = path, batch = 3 } end)
  test.fails('overwrite', function() trainer():save(path) end)
  trainer():save(path, { overwrite = true })
  files.write(path .. '/checkpoints/last.safetensors', 'nonsense')
  test.fails('not a valid safetensors file', function() pd.train.resume(path) end)
  test.fails('last.safetensors', function() pd.model.load(path, { which = 'last' }) end)
end)

test('two processes cannot train in one folder', function()
  local path = folder()
  local t = trainer { run_folder = path, epochs = 1 }
  for _ in t:epochs() do end
  local function resume_elsewhere()
    return (test.run { '-e', ("pd.train.resume('%s')"):format(path) })
  end
  local said = resume_elsewhere()
  assert(said:find(("the folder '%s' is in use by process %%d+"):format(path:gsub('%p', '%%%0'))), said)
  t = nil  -- luacheck: ignore
  collectgarbage()
  collectgarbage()
  test.equal(resume_elsewhere(), '')
end)

test('strings are trained on and measured in pieces', function()
  local m = model{ stack = { kind = 'nondeterministic', window = 4 } }
  local t = trainer{ model = m, chunk = 4, epochs = 1 }
  for epoch in t:epochs() do test.equal(epoch.cross_entropy > 0, true) end
  test.equal(t:options().chunk, 4)
  local whole = t:evaluate(valid)
  test.near(t:evaluate(valid, { chunk = 3 }).cross_entropy, whole.cross_entropy, 1e-6)
end)

test('a transformer is trained, stored and loaded', function()
  local m = pd.model.language_model{ alphabet = grammar:alphabet(), architecture = 'transformer',
    hidden = 8, heads = 2, layers = { 'superposition', 'nondeterministic' }, dropout = 0.1, seed = 1 }
  local where = folder()
  local t = trainer{ model = m, run_folder = where, epochs = 2 }
  for _ in t:epochs() do end
  local loaded = pd.model.load(where, { which = 'last' })
  same(numbers(m), numbers(loaded))
  test.equal(loaded:log_probability('0 1 # 1 0'), m:log_probability('0 1 # 1 0'))
end)

test.finish()
