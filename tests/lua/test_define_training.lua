-- Training of parts written in Lua: algorithms, threads, the contract tests, memory and Ctrl-C.
-- label: long
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'
local defined = dofile(pd.root .. '/tests/lua/defined.lua')
local scratch = test.folder()
local folder, superposition, mine, labelled, model, trainer, recognizer, same_numbers, lines, run,
  shell, session = defined.folder, defined.superposition, defined.mine, defined.labelled,
  defined.model, defined.trainer, defined.recognizer, defined.same_numbers, defined.lines,
  defined.run, defined.shell, defined.session

test('a controller in Lua is the built-in one, with every stack between', function()
  for _, stack in ipairs { { kind = 'superposition', size = 2 }, { kind = mine, size = 2 },
    { kind = 'stratification', size = 2 }, { kind = 'nondeterministic' }, { kind = 'none' } } do
    local own = model { controller = { kind = 'lua_lstm', hidden = 4 }, stack = stack }
    local wanted = model { controller = { kind = 'lstm', hidden = 4 }, stack = stack }
    same_numbers(own, wanted, 0)
    test.near(run(trainer { model = own, epochs = 2 }), run(trainer { model = wanted, epochs = 2 }), 1e-10)
  end
end)

test('couplings, carried states and every learning algorithm work', function()
  local function learned(stack, objective, options, learning)
    local t = pd.train.trainer { model = recognizer { stack = stack, coupling = options.coupling,
      carry_forward = options.carry_forward, controller = options.controller },
      train = labelled, epochs = 2, seed = 1, objective = objective, learning = learning, progress = false }
    return run(t), t:model()
  end
  local variants = { {}, { coupling = 'state' }, { carry_forward = 'soft' }, { carry_forward = 'counter' } }
  local algorithms = { { kind = 'bptt' }, { kind = 'tbptt', window = 2 }, { kind = 'rtrl' }, { kind = 'uoro' } }
  for i, options in ipairs(variants) do
    for _, learning in ipairs(algorithms) do
      if i == 1 or learning.kind == 'bptt' then
        local got, m = learned({ kind = mine, size = 2 }, { kind = 'lua_stepwise' }, options, learning)
        local wanted, other = learned({ kind = 'superposition', size = 2 }, 'stepwise', options, learning)
        test.near(got, wanted, 1e-9)
        same_numbers(m, other, 1e-9)
      end
    end
  end
  local got = learned({ kind = 'superposition', size = 2 }, 'lua_stepwise',
    { controller = { kind = 'lua_lstm', hidden = 3 } }, { kind = 'rtrl' })
  test.near(got, learned({ kind = 'superposition', size = 2 }, 'stepwise',
    { controller = { kind = 'lstm', hidden = 3 } }, { kind = 'bptt' }), 1e-9)
end)

test('gradients end at the borders of windows in parts of a state that are stored once', function()
  dofile(pd.root .. '/tests/lua/queue_in_lua.lua')('windowed_queue', 2)
  local function learned(kernels)
    local m = recognizer { stack = { kind = 'windowed_queue', size = 2 }, kernels = kernels }
    return run(pd.train.trainer { model = m, train = labelled, epochs = 2, seed = 1, progress = false,
      learning = { kind = 'tbptt', window = 2 } }), m
  end
  local got, m = learned(true)
  local wanted, other = learned(false)
  test.near(got, wanted, 1e-9)
  same_numbers(m, other, 1e-9)
end)

test('pieces of a text take over a state that keeps its form', function()
  local calls = 0
  local function define(name, counts)
    pd.stack.define { name = name, doc = 'Five cells, a gate, whether it is open.', no_op = { 'action', 3 },
      actions = { { 'action', 3, activation = 'softmax' }, { 'vector', 2, activation = 'tanh' } },
      parameters = { { 'start', 2, constant = 0.5 } },
      initial = function(self, batch)
        return { cells = self.parameters.start:expand(batch, 5, 2), open = self:zeros(batch, 1):gt(0), steps = 0,
          gate = self:full({ batch }, 0.3) }
      end,
      update = function(_, state, actions)
        calls = calls + 1
        local a = actions.action:unsqueeze(3):unsqueeze(4)
        local above = pd.tensor.cat({ actions.vector:unsqueeze(2), state.cells:slice(2, 1, -2) }, 2)
        local below = pd.tensor.cat({ state.cells:slice(2, 2, -1), 0 * state.cells:slice(2, 1, 1) }, 2)
        local push = actions.action:slice(2, 1, 1)
        local kept = pd.tensor.where(state.open, state.gate:unsqueeze(2), push)
        return { cells = a[{ {}, 1 }] * above + a[{ {}, 2 }] * below + a[{ {}, 3 }] * state.cells,
          open = push:gt(kept), steps = state.steps + (counts and 1 or 0), gate = (0.5 * kept + 0.5 * push)[{ {}, 1 }] }
      end,
      reading = function(_, state)
        return pd.tensor.cat({ state.cells[{ {}, 1 }], state.gate:unsqueeze(2) }, 2)
      end }
  end
  define('five_cells', false)
  define('counted_cells', true)
  local words = {}
  for i = 1, 120 do words[i] = ({ 'a', 'b', 'c' })[(i * i + math.floor(i / 7)) % 3 + 1] end
  local text = pd.task.running_text { alphabet = { 'a', 'b', 'c' }, words = words }
  local function learned(options, kernels)
    local all = pd.tables.merged({ architecture = 'recurrent', alphabet = text:alphabet(), end_symbol = false,
      seed = 1, dtype = 'float64', controller = { kind = 'lstm', hidden = 4 }, stack = 'five_cells',
      kernels = kernels }, options)
    local m = pd.model.language_model(all)
    calls = 0
    -- Adam would enlarge the rounding of gradients that are almost 0.
    local t = pd.train.trainer { model = m, train = text, batch = 3, chunk = 8, epochs = 2, progress = false,
      optimizer = { kind = 'sgd', learning_rate = 0.5 } }
    return run(t), m, calls
  end
  for _, options in ipairs { {}, { controller = { kind = 'lua_lstm', hidden = 4 } }, { carry_forward = 'soft' },
    { coupling = 'state', controller = { kind = 'elman', hidden = 4 } }, { stack = 'counted_cells' },
    { stack = { kind = mine, size = 2 } } } do
    local got, m, recorded = learned(options)
    local wanted, other, plain = learned(options, false)
    test.near(got, wanted, 1e-11)
    same_numbers(m, other, 1e-11)
    -- The calls of the recording.
    if not options.stack then
      assert(plain > 50, plain)
      test.equal(recorded, 2)
    end
  end
end)

-- Runs it with this number of threads.
local function with_threads(count, body)
  local threads = pd.session().threads
  pd.session { threads = count }
  local ok, message = pcall(body)
  pd.session { threads = threads }
  if not ok then error(message, 0) end
end

test('threads change nothing', function()
  local alone = run(trainer())
  with_threads(2, function()
    test.near(run(trainer()), alone, 0)
    local one = pd.train.trainer { model = recognizer(), train = labelled, epochs = 1, seed = 1, learning = 'rtrl',
      objective = 'lua_stepwise', progress = false }
    test.equal(#run(one), 1)
  end)
end)

test('trainings side by side give the numbers of trainings alone', function()
  -- It reads a number and therefore runs by tensor operations.
  local plain = superposition 'by_operations'
  local update = plain.update
  plain.update = function(self, cells, actions)
    assert(actions.action:sum():item() > 0)
    return update(self, cells, actions)
  end
  pd.stack.define(plain)
  local makers = {
    trainer,
    function() return trainer { model = model { seed = 4, controller = { kind = 'lua_lstm', hidden = 4 } } } end,
    function() return trainer { model = model { seed = 5, stack = { kind = 'by_operations', size = 2 } } } end,
    function() return trainer { model = model { seed = 6, stack = { kind = 'superposition', size = 2 } } } end,
    function()
      return pd.train.trainer { model = recognizer(), train = labelled, valid = labelled, epochs = 2, seed = 1,
        objective = 'lua_stepwise', progress = false }
    end,
  }
  local alone = {}
  for i, make in ipairs(makers) do alone[i] = run(make()) end
  for _, threads in ipairs { 1, 2, 6 } do
    with_threads(threads, function()
      local all, rounds = {}, 0
      for i, make in ipairs(makers) do all[i] = make() end
      for epochs in pd.train.together(all) do
        rounds = rounds + 1
        for i = 1, #all do test.equal(epochs[i].error, nil) end
      end
      test.equal(rounds, 3)
      for i = 1, #all do test.near(lines(all[i]), alone[i], 0) end
    end)
  end
end)

test('an error in a function stops only the trainer whose model has it', function()
  local wrong = superposition 'wrong_later'
  local update, calls = wrong.update, 0
  wrong.update = function(self, cells, actions)
    calls = calls + 1
    if calls > 30 then error 'too late' end
    return update(self, cells, actions)
  end
  pd.stack.define(wrong)
  with_threads(2, function()
    local other = trainer { model = model { kernels = false, stack = { kind = 'wrong_later', size = 2 } } }
    local pair = { trainer(), other }
    local said
    for epochs in pd.train.together(pair) do said = said or epochs[2].error end
    assert(said and said:find('test_define_training.lua:%d+: too late'), said)
    test.near(lines(pair[1]), run(trainer()), 0)
  end)
end)

test('a run folder records the definitions of the run', function()
  local place = folder()
  trainer { model = model { controller = { kind = 'lua_lstm', hidden = 4 } }, run_folder = place }:step()
  local config = files.read(place .. '/config.json')
  assert(config:find('"definitions"', 1, true) and config:find('"lua_superposition"', 1, true), config)
  for _, name in ipairs { 'stack.lua_superposition.lua', 'controller.lua_lstm.lua' } do
    local copy = files.read(place .. '/definitions/' .. name)
    assert(copy:find('Common parts of the tests of definitions', 1, true), name)
  end
end)

test('a model whose kinds are not defined names the script that defines them', function()
  local place = folder()
  run(trainer { epochs = 1, run_folder = place })
  for _, call in ipairs { "pd.model.load('%s')", "pd.train.resume('%s')" } do
    local output = test.ended(1, {}, session(call:format(place)))
    assert(output:find("needs the stack 'lua_superposition', which [^\n]*/defined.lua:%d+ defined: run that "
      .. "script first"), output)
    assert(output:find("as it was then: '" .. place .. '/definitions/stack.lua_superposition.lua', 1, true), output)
  end
  local output = session(("pd.model.load('%s/checkpoints/best.safetensors')"):format(place))
  assert(output:find('run that script first', 1, true), output)
end)

test('an objective that is not defined any more is named, too', function()
  local place = folder()
  run(pd.train.trainer { model = recognizer { stack = { kind = 'none' } }, train = labelled, epochs = 1,
    objective = 'lua_stepwise', run_folder = place, progress = false })
  test.ended(1, "needs the objective 'lua_stepwise', which",
    session(("pd.model.load('%s') pd.train.resume('%s')"):format(place, place)))
end)

test('one call runs the contract tests', function()
  for _, contract in ipairs { pd.stack.check { kind = mine, size = 2 },
    pd.controller.check('lua_lstm'), pd.train.check_objective('lua_stepwise') } do
    assert(contract:passed(), tostring(contract))
    assert(#contract:results() >= 5)
    assert(tostring(contract):find('keeps the contract, %d+ checks'))
  end
  assert(pd.stack.check('superposition'):passed())
end)

local function broken(changes)
  local definition = superposition 'broken'
  for key, value in pairs(changes) do definition[key] = value end
  return pd.stack.check(pd.stack.define(definition))
end

test('mistakes in a definition are found and reported', function()
  local function complaint(contract, name)
    assert(not contract:passed())
    for _, result in ipairs(contract:results()) do
      if result.name == name and not result.passed then return table.concat(result.complaints, '\n') end
    end
    error(('%s does not complain:\n%s'):format(name, tostring(contract)))
  end
  local right = superposition 'right'
  -- Sequences of a batch that affect each other.
  assert(complaint(broken { update = function(self, cells, actions)
    local shared = { action = actions.action, vector = actions.vector - actions.vector:mean(1, true) }
    return right.update(self, cells, shared)
  end }, 'batches'):find('sequence 1 of a batch of 4', 1, true))
  -- A path without a gradient.
  assert(complaint(broken { update = function(self, cells, actions)
    return right.update(self, cells:detach(), actions)
  end }, 'gradients'):find('is off by', 1, true))
  -- An action layer that is not read.
  assert(complaint(broken { actions = { { 'action', 3, activation = 'softmax' },
    { 'vector', 'size', activation = 'sigmoid' }, { 'idle', 2 } } }, 'parameters')
    :find("no score depends on 'stack.idle_weight'", 1, true))
  -- A state that the functions keep in a variable of their own.
  local steps = 0
  assert(complaint(broken { update = function(self, cells, actions)
    steps = steps + 1
    return right.update(self, cells, actions) * (1 + 0.01 * (steps % 3))
  end }, 'pieces'))
  -- An error in the middle of training.
  assert(complaint(broken { update = function(_, _, actions) return actions.vektor end }, 'shapes')
    :find('expected a state, got nil', 1, true))
end)

test('parameters of its own, layers of any shape and plain hidden vectors', function()
  pd.stack.define {
    name = 'two_tops', doc = 'Two memories of one cell each, mixed with what is put in.',
    options = { { 'size', 2, 'numbers in a cell', minimum = 1 }, { 'gain', 1, 'of the layers', type = 'number' } },
    actions = function(options, hidden)
      assert(hidden > 0)
      return { { 'keep', { 2, 1 }, activation = 'sigmoid', bias = false },
        { 'put', { 2, 'size' }, gain = options.gain } }
    end,
    parameters = { { 'start', { 2, 'size' }, constant = 0.5 }, { 'map', { 'size', 'size' }, xavier = 1 } },
    initial = function(self, batch, length)
      assert(length >= 0 and self.hidden > 0)
      return { cells = self.parameters.start:unsqueeze(1):expand(batch, 2, self.options.size), steps = 0, note = 'x' }
    end,
    update = function(self, state, actions)
      assert(state.note == 'x')
      local put = actions.put:matmul(self.parameters.map)
      return { cells = actions.keep * state.cells + (1 - actions.keep) * put, steps = state.steps + 1, note = 'x' }
    end,
    reading = function(_, state) return state.cells:reshape(state.cells:size()[1], -1) end,
  }
  local m = model { stack = { kind = 'two_tops', size = 3 } }
  local p = m:parameters()
  test.equal(p['stack.keep_bias'], nil)
  test.equal(table.concat(p['stack.put_weight']:size(), 'x'), '6x5')
  test.near(p['stack.start'], { { 0.5, 0.5, 0.5 }, { 0.5, 0.5, 0.5 } })
  assert(pd.stack.check('two_tops'):passed())
  test.fails('no data structure to simulate', function() pd.stack.simulate { kind = 'two_tops' } end)

  pd.stack.define { name = 'echo', doc = 'The last hidden vector.',
    initial = function(self, batch) return self:zeros(batch, self.hidden > 0 and self.hidden or 1) end,
    update = function(_, _, hidden) return hidden:tanh() end,
    reading = function(_, state) return state end }
  assert(pd.stack.check('echo'):passed())
  local hidden = pd.tensor.randn({ 1, 2, 3 }, { seed = 1, dtype = 'float64' })
  test.near(pd.stack.simulate { kind = 'echo', hidden = hidden }[1][3], hidden:tanh()[1][2])
end)

test('memory does not grow with the steps', function()
  local function resident()
    return tonumber(files.read('/proc/self/statm'):match('^%d+ (%d+)')) * 4096 / 1e6 -- MB
  end
  local t = trainer { model = model { dtype = 'float32' }, epochs = 1000 }
  local function steps(count)
    for _ = 1, count do t:step() end
    collectgarbage()
    return resident()
  end
  steps(150)
  local before = steps(50)
  local after = steps(250)
  assert(after - before < 20, ('%.1f MB, then %.1f MB'):format(before, after))
end)

-- Presses Ctrl-C after os.execute, because that itself would not receive it.
local press = ([[os.execute('(until rm GO 2>/dev/null; do sleep 0.05; done; kill -INT $PPID) &')
  io.open('GO', 'w'):close() ]]):gsub('GO', scratch .. '/go')

-- The thread sanitizer delays signals until a call of a C function, and these loops have none.
local delayed = os.getenv 'PUSHDOWN_SANITIZER' == 'thread'

test('Ctrl-C stops a definition that does not end, and a training in the middle loses nothing', function()
  if delayed then return end
  local path = scratch .. '/endless.lua'
  local function interrupted(code)
    files.write(path, code)
    local status = os.execute(('timeout -k 9 %d %s -j off %s > %s/out 2>&1'):format(test.patience, shell, path,
      scratch))
    local said = files.read(scratch .. '/out')
    assert(status == 130 * 256 or status == 130, said)
    assert(said:find('interrupted', 1, true), said)
  end
  interrupted(press .. [[
    pd.stack.define { name = 'endless', initial = function(self, batch) return self:zeros(batch, 1) end,
      update = function(_, state) while true do end return state end, reading = function(_, state) return state end }
    pd.model.language_model { alphabet = { 'a' }, stack = 'endless' }:logits('a a a')]])

  local place = folder()
  local code = [[
    local calls = 0
    pd.stack.define { name = 'slow', initial = function(self, batch) return self:zeros(batch, 1) end,
      update = function(_, state)
        calls = calls + 1
        if calls == LAST then PRESS while true do end end
        return state + 1
      end, reading = function(_, state) return state end }
    local t = GO_ON and pd.train.resume('PLACE', { progress = false })
    assert(not t or t:updates() > 0, 'more than the first checkpoint was kept')
    if not t then
      local grammar = pd.grammar.load('marked_reversal')
      t = pd.train.trainer { model = pd.model.language_model { alphabet = grammar:alphabet(), stack = 'slow',
        controller = { kind = 'elman', hidden = 3 }, seed = 1 }, epochs = 2, seed = 1, progress = false,
        train = grammar:sampler { lengths = { 3, 9 } }:dataset(60, { seed = 1 }), run_folder = 'PLACE' }
    end
    for epoch in t:epochs() do print(('%.17g'):format(epoch.train_cross_entropy)) end
    print(t:updates())]]
  local function with(values) return (code:gsub('[A-Z_][A-Z_][A-Z_]+', values)) end
  local whole = session(with { LAST = 0, PRESS = '', GO_ON = 'false', PLACE = folder() })
  interrupted(with { LAST = 12, PRESS = press, GO_ON = 'false', PLACE = place })
  local resumed = session(with { LAST = 0, PRESS = '', GO_ON = 'true', PLACE = place })
  -- The text of the resuming script differs from that of the first one.
  local told, rest = resumed:match('^([^\n]+)\n(.*)$')
  assert(told:find("the stack 'slow' is defined by a script that has changed since the run began", 1, true), told)
  test.equal(rest, whole)
end)

test.finish()
