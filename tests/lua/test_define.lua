-- Stacks, controllers and objectives written in Lua: they give the same numbers as the built-in ones, and mistakes give
-- clear messages.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local defined = dofile(pd.root .. '/tests/lua/defined.lua')
local superposition, mine, lstm, labelled, model, trainer, recognizer, same_numbers, run = defined.superposition,
  defined.mine, defined.lstm, defined.labelled, defined.model, defined.trainer, defined.recognizer,
  defined.same_numbers, defined.run

test('definitions are listed and described with their position', function()
  test.equal(mine, 'lua_superposition')
  local kinds = pd.stack.kinds()
  test.equal(kinds[#kinds], mine)
  test.equal(pd.controller.kinds()[#pd.controller.kinds()], 'lua_lstm')
  test.equal(pd.train.objectives()[#pd.train.objectives()], 'lua_stepwise')
  local text = pd.stack.describe(mine)
  assert(text:find('^lua_superposition: Superposition of push, pop and no_op'), text)
  assert(text:find('defined in /.*defined.lua:%d+%)'), text)
  assert(text:find('size +integer, default 20: size m'), text)
  assert(text:find('action +B x n x 3', 1), text)
  assert(pd.controller.describe('lua_lstm'):find('hidden +integer'))
  assert(pd.train.describe_objective('lua_stepwise'):find('factor +number'))
  assert(pd.docs()['pd.stack.lua_superposition']:find("{kind='lua_superposition', size=}  Superposition", 1, true))
end)

test('the bare structure gives the readings and gradients of the built-in one', function()
  local actions = pd.tensor.rand({ 2, 9, 3 }, { seed = 1, dtype = 'float64', requires_grad = true })
  local vectors = pd.tensor.rand({ 2, 9, 4 }, { seed = 2, dtype = 'float64', requires_grad = true })
  local weights = pd.tensor.rand({ 2, 10, 4 }, { seed = 3, dtype = 'float64' })
  local shares = actions:softmax()
  local function gradients(readings)
    actions:zero_grad()
    vectors:zero_grad()
    ;(readings * weights):sum():backward(nil, { retain_graph = true })
    return actions:grad():clone(), vectors:grad():clone()
  end
  local wanted = pd.stack.simulate { kind = 'superposition', actions = shares, vectors = vectors }
  local got = pd.stack.simulate { kind = mine, size = 4, action = shares, vector = vectors }
  test.equal(got, wanted)
  local a, v = gradients(wanted)
  local b, w = gradients(got)
  test.near(b, a, 1e-13)
  test.near(w, v, 1e-13)
  test.fails("'vector' must be 2 x 9 x 3, got 2 x 9 x 4",
    pd.stack.simulate, { kind = mine, size = 3, action = shares, vector = vectors })
  test.fails("unknown option 'sice', did you mean 'size'",
    pd.stack.simulate, { kind = mine, sice = 3, action = shares, vector = vectors })
end)

test('the same seed makes the same model, and training takes the same course', function()
  local built_in = { stack = { kind = 'superposition', size = 3 } }
  local m, wanted = model(), model(built_in)
  same_numbers(m, wanted, 0)
  test.equal(m:parameters()['stack.vector_weight']:size()[1], 3)
  for _, text in ipairs { '0 1 # 1 0', '0 0 1 1 0 # 0 1 1 0 0' } do
    test.near(m:logits(text), wanted:logits(text), 1e-13)
  end
  for _, kernels in ipairs { true, false } do
    local slow = trainer { model = m }
    local fast = trainer { model = model { stack = built_in.stack, kernels = kernels } }
    test.near(run(slow), run(fast), 1e-10)
    same_numbers(slow:model(), fast:model(), 1e-10)
    m = model()
  end
end)

test('errors in Lua functions name their file and line and what was expected', function()
  local right = superposition 'right'
  local function use(changes)
    local definition = superposition 'wrong'
    for key, value in pairs(changes) do definition[key] = value end
    pd.stack.define(definition)
    return model { stack = { kind = 'wrong', size = 3 } }:logits('0 1 # 1 0')
  end
  local here = 'test_define.lua:%d+: '
  test.fails(here .. '%[stack.wrong.reading%] the reading must be 1 x any of float64, got 1 x 1 x 3 of',
    use, { reading = function(_, cells) return cells end })
  test.fails(here .. '%[stack.wrong.reading%] the reading must be 1 x 3 of float64, got 1 x 2 of float64', function()
    use { reading = function(_, cells)
      return cells:size()[2] == 1 and cells[{ {}, 1 }] or cells[{ {}, 1 }]:slice(2, 1, 2)
    end }
  end)
  test.fails(here .. '%[stack.wrong.reading%] the reading must be 1 x any of float64, got nil',
    use, { reading = function() end })
  test.fails(here .. '%[stack.wrong.initial%] state must be float64 on cpu as the model is %(self:zeros makes such '
    .. 'tensors%), got float32 on cpu', function()
    use { initial = function(_, batch) return pd.tensor.zeros { batch, 1, 3 } end }
  end)
  test.fails(here .. '%[stack.wrong.update%] state.cells must be a tensor of 1 rows, one for each sequence of the '
    .. 'batch, got 3 x 1 of float64', function()
    use { update = function(self) return { cells = self:zeros(3, 1) } end }
  end)
  test.fails(here .. '%[stack.wrong.update%] state%[1%] must be made of tensors, numbers, texts and tables of '
    .. 'them, got a function', function() use { update = function() return { print } end } end)
  test.fails(here .. '%[stack.wrong.update%] state[.t]+ is nested too deeply, or contains itself',
    use, { update = function() local t = {} t.t = t return t end })
  local message = test.fails("attempt to call method 'unsqueze'", function()
    use { update = function(_, cells) local x = { size = 1 } return x:unsqueze(cells) end }
  end)
  assert(message:find(here) and message:find('\n  in stack.wrong.update %([^\n]*test_define.lua:%d+%)'), message)
  test.fails('self cannot be changed, got a new value for \'depth\'',
    use, { update = function(self, cells, actions) self.depth = 1 return right.update(self, cells, actions) end })
  -- Errors that are not texts are passed on unchanged.
  local thrown = { code = 7 }
  local ok, got = pcall(use, { update = function() error(thrown) end })
  test.equal(ok, false)
  test.equal(got, thrown)
  -- A stack that uses itself.
  local inner
  test.fails('calls itself too often', function()
    pd.stack.define { name = 'endless', initial = function(self, batch) return self:zeros(batch, 1) end,
      update = function(_, state) if inner then inner:logits('0 1 # 1 0') end return state end,
      reading = function(_, state) return state end }
    inner = model { stack = 'endless' }
    inner:logits('0 1 # 1 0')
  end)
  -- Everything is as before.
  test.equal(#model():logits('0 1 # 1 0'):size(), 2)
end)

test('a training whose stack fails can be continued', function()
  local fail_at, calls = 40, 0
  local definition = superposition 'failing'
  local right = definition.update
  definition.update = function(...)
    calls = calls + 1
    if calls == fail_at then error('out of luck') end
    return right(...)
  end
  pd.stack.define(definition)
  local t = trainer { model = model { stack = { kind = 'failing', size = 3 }, kernels = false } }
  test.fails('test_define.lua:%d+: out of luck', function() run(t) end)
  test.near(run(t), run(trainer { model = model { kernels = false } }), 0)
end)

test('invalid definitions are refused', function()
  local function refused(pattern, changes, define)
    local definition = superposition 'nonsense'
    for key, value in pairs(changes) do definition[key] = value end
    test.fails(pattern, function()
      define = define or pd.stack.define
      define(definition)
      model { stack = { kind = 'nonsense' } }
    end)
  end
  refused("'superposition' is a built%-in kind", { name = 'superposition' })
  refused('lower%-case letters, digits and _', { name = 'My Stack' })
  refused('expected update = function%(self, state, actions%), got the number 3', { update = 3 })
  refused("option 'size' needs a line of documentation", { options = { { 'size', 3 } } })
  refused("the size of action 'vector' is 'sice', which is not one of the options 'size'",
    { actions = { { 'vector', 'sice' } } })
  refused("the activation of action 'vector' must be one of", { actions = { { 'vector', 3, activation = 'relu' } } })
  refused("there is no action 'action'", { actions = { { 'vector', 'size' } } })
  refused('has no column 4', { no_op = { 'action', 4 } })
  refused("parameter 'p' needs a shape", { parameters = { { 'p' } } })
  refused("must start in one way, got 'uniform' and 'constant'",
    { parameters = { { 'p', 3, uniform = 1, constant = 0 } } })
  refused("'xavier' is for matrices", { parameters = { { 'p', 3, xavier = 1 } } })
  refused("'action_weight' is a parameter of an action layer", { parameters = { { 'action_weight', 3 } } })
  refused('expected a list of parameters', { parameters = function() return 3 end })
  local function controller(pattern, changes)
    test.fails(pattern, function()
      local definition = lstm 'nonsense'
      for key, value in pairs(changes) do definition[key] = value end
      pd.controller.define(definition)
      model { controller = { kind = 'nonsense', hidden = 4 } }:logits('0 1 # 1 0')
    end)
  end
  controller("option 'hidden' must be an integer", { options = { { 'hidden', 0.5, 'x' } } })
  controller('%[controller.nonsense.initial%] the state must be a list of tensors',
    { initial = function() return { h = 1 } end })
  controller('state%[1%] must be 1 x 4 of float64, got 1 x 3',
    { initial = function(self, b) return { self:zeros(b, 3) } end })
  controller('the hidden vector must be 1 x 4 of float64, got 1 x 3',
    { step = function(self, _, state) return self:zeros(1, 3), state end })
  controller("must be one of the state's tensors",
    { step = function(self, _, state) return self:zeros(1, 4), state end })
  controller('a list of 2 tensors as at first, got 1',
    { step = function(_, _, state) return state[1], { state[1] } end })
  test.fails('%[objective.nonsense.losses%] the losses must be %d+ of float64, got one number of float64', function()
    pd.train.define_objective { name = 'nonsense', losses = function(_, batch) return batch.scores:sum() end }
    run(pd.train.trainer { model = recognizer(), train = labelled, objective = 'nonsense', progress = false })
  end)
end)

test('a new definition of the same name does not change existing models', function()
  local function constant(value)
    pd.stack.define { name = 'constant', initial = function(self, b) return self:full({ b, 1 }, value) end,
      update = function(_, state) return state end, reading = function(_, state) return state end }
    return model { stack = 'constant', dtype = 'float64' }
  end
  local one, five = constant(1), constant(5)
  local before = one:logits('0 1 # 1 0')
  collectgarbage()
  test.equal(one:logits('0 1 # 1 0'), before)
  assert(one:logits('0 1 # 1 0') ~= five:logits('0 1 # 1 0'))
  local count = 0
  for _, kind in ipairs(pd.stack.kinds()) do if kind == 'constant' then count = count + 1 end end
  test.equal(count, 1)
end)

test('definitions work within coroutines and single precision, and stay when the collector runs', function()
  local results = {}
  local thread = coroutine.wrap(function()
    for i = 1, 3 do
      collectgarbage()
      results[i] = model { dtype = 'float32' }:log_probability('0 1 # 1 0')
      coroutine.yield()
    end
  end)
  for _ = 1, 3 do thread() end
  test.equal(results[1], results[3])
  test.near(results[1], model { dtype = 'float32', stack = { kind = 'superposition', size = 3 } }
    :log_probability('0 1 # 1 0'), 1e-5)
end)

test('the check of a stack that draws random numbers names this cause first', function()
  pd.stack.define { name = 'noisy', actions = { { 'vector', 3, activation = 'tanh' } },
    initial = function(self, batch) return self:zeros(batch, 3) end,
    update = function(_, state, actions)
      return state * 0.5 + actions.vector + pd.tensor.rand(state:size(), { dtype = state:dtype() })
    end,
    reading = function(_, state) return state end }
  local contract = pd.stack.check 'noisy'
  test.equal(contract:passed(), false)
  local first = contract:results()[1]
  test.equal(first.name .. ' ' .. tostring(first.passed), 'repeats false')
  assert(first.complaints[1]:find('draws random numbers', 1, true), first.complaints[1])
  for _, result in ipairs(pd.stack.check('superposition'):results()) do assert(result.passed, result.promise) end
end)

test.finish()
