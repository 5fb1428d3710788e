-- Code written in Lua is recorded: it gives the same numbers without Lua, and a message if it cannot be recorded.
-- label: long
local pd = require 'pushdown'
local test = require 'pushdown.test'
local defined = dofile(pd.root .. '/tests/lua/defined.lua')
local superposition, lstm, model, trainer, run, same_numbers, session = defined.superposition, defined.lstm,
  defined.model, defined.trainer, defined.run, defined.same_numbers, defined.session

-- Trains with and without recording and compares the results.
local function compare(options, tolerance)
  local recorded = model(options)
  options.kernels = false
  local plain = model(options)
  for _, text in ipairs { '0', '0 1 # 1 0', '0 0 1 1 0 # 0 1 1 0 0' } do
    test.near(recorded:log_probability(text), plain:log_probability(text), tolerance or 1e-11)
  end
  local fast, slow = trainer { model = recorded, epochs = 2 }, trainer { model = plain, epochs = 2 }
  test.near(run(fast), run(slow), tolerance or 1e-9)
  same_numbers(recorded, plain, tolerance or 1e-9)
end

local function counted(definition, key)
  local calls, right = 0, definition[key]
  definition[key] = function(...)
    calls = calls + 1
    return right(...)
  end
  return function() return calls end
end

test('a recorded stack calls no function while it is trained', function()
  local definition = superposition 'counted'
  local calls = counted(definition, 'update')
  pd.stack.define(definition)
  local t = trainer { model = model { stack = { kind = 'counted', size = 3 } } }
  run(t)
  local once = calls()
  for _ = 1, 3 do t:step() end
  test.equal(calls(), once)
  assert(once < 100, once)
  -- Tensor operations call it in every step.
  t = trainer { model = model { stack = { kind = 'counted', size = 3 }, kernels = false } }
  t:step()
  assert(calls() > once)
end)

test('a recorded cell calls no function either', function()
  local definition = lstm 'counted_lstm'
  local calls = counted(definition, 'step')
  pd.controller.define(definition)
  run(trainer { model = model { controller = { kind = 'counted_lstm', hidden = 4 } } })
  test.equal(calls(), 2)
end)

test('rtrl and uoro call no function of stacks and cells', function()
  local stack = {
    name = 'counted_shelf', doc = 'Three cells that fade into each other.',
    actions = { { 'share', 3, activation = 'softmax' }, { 'vector', 2, activation = 'tanh' } },
    parameters = { { 'map', { 2, 2 }, xavier = 1 } },
    initial = function(self, batch) return { cells = self:zeros(batch, 3, 2), sum = self:ones(batch, 1) } end,
    update = function(self, state, actions)
      local share = actions.share:unsqueeze(3)
      local cells = (1 - share) * state.cells:matmul(self.parameters.map) + share * actions.vector:unsqueeze(2)
      return { cells = cells, sum = state.sum * 0.5 + cells:sum(3):max(2):unsqueeze(2) }
    end,
    reading = function(_, state) return state.cells:logsumexp(2) * state.sum:sigmoid() end,
  }
  local cell, grown = lstm 'counted_cell', superposition 'counted_grown'
  -- `initial` is called for each length that is new.
  local counts = { counted(stack, 'update'), counted(stack, 'reading'), counted(cell, 'step'),
    counted(grown, 'update'), counted(grown, 'reading') }
  local function calls()
    local all = 0
    for _, count in ipairs(counts) do all = all + count() end
    return all
  end
  pd.stack.define(stack)
  pd.stack.define(grown)
  pd.controller.define(cell)
  local data = pd.task.labelled { grammar = pd.grammar.load 'marked_reversal', lengths = { 1, 5 }, positives = 6,
    negatives = 6, seed = 1 }
  local function learned(learning, kernels, threads, kind)
    local before = pd.session().threads
    pd.session { threads = threads }
    local m = defined.recognizer { controller = { kind = 'counted_cell', hidden = 2 },
      stack = { kind = kind }, kernels = kernels }
    local t = pd.train.trainer { model = m, train = data, batch = 4, seed = 1, progress = false, learning = learning,
      objective = 'stepwise' }
    -- Every length that is new to a stack that grows is recorded.
    for _ = 1, 2 * t:updates_per_epoch() do t:step() end
    local once = calls()
    for _ = 1, 3 do t:step() end
    pd.session { threads = before }
    return m, calls() - once
  end
  for _, learning in ipairs { 'rtrl', 'uoro', { kind = 'uoro', truncation = 2, estimate = 'batch' } } do
    for _, kind in ipairs { 'counted_shelf', 'counted_grown' } do
      local wanted, called = learned(learning, false, 1, kind)
      assert(called > 20, called)
      for threads = 1, 2 do
        local got
        got, called = learned(learning, true, threads, kind)
        same_numbers(got, wanted, 1e-9)
        test.equal(called, 0)
      end
    end
  end
end)

test('stacks of many forms give the numbers of tensor operations', function()
  local reading = function(_, cells) return cells[{ {}, 1 }] end
  -- It has its full size from the start.
  pd.stack.define { name = 'whole', doc = 'A stack of its full size.',
    options = { { 'size', 3, 'size of a cell', minimum = 1 } },
    actions = { { 'action', 3, activation = 'softmax' }, { 'vector', 'size', activation = 'sigmoid' } },
    initial = function(self, batch, length) return self:zeros(batch, math.max(2, length), self.options.size) end,
    update = function(_, cells, actions)
      local a = actions.action:unsqueeze(3):unsqueeze(4)
      local above = pd.tensor.cat({ actions.vector:unsqueeze(2), cells:slice(2, 1, -2) }, 2)
      local below = pd.tensor.op('constant_pad_nd', cells:slice(2, 2, -1), { 0, 0, 0, 1 })
      return a[{ {}, 1 }] * above + a[{ {}, 2 }] * below + a[{ {}, 3 }] * cells
    end, reading = reading }
  compare { stack = { kind = 'whole', size = 3 } }
  -- A state of several parts, with parameters, numbers and masks.
  pd.stack.define { name = 'parts', doc = 'A table of tensors with parameters.',
    actions = { { 'write', { 2, 3 }, activation = 'tanh' }, { 'gate', 2, activation = 'sigmoid' } },
    parameters = { { 'start', { 2, 3 }, constant = 0.25 }, { 'map', { 3, 3 }, xavier = 1 } },
    initial = function(self, batch)
      return { cells = self.parameters.start:unsqueeze(1):expand(batch, 2, 3), count = 0,
        more = { self:ones(batch, 2) } }
    end,
    update = function(self, state, actions)
      local put = actions.write:matmul(self.parameters.map)
      local gate = actions.gate:unsqueeze(3)
      local cells = gate * state.cells + (1 - gate) * put
      local strength = (state.more[1] + actions.gate):clamp(0, 1.2)
      local kept = pd.tensor.where(strength:gt(1), strength, strength:sqrt())
      return { cells = cells, count = state.count + 1, more = { kept } }
    end,
    reading = function(_, state)
      local weights = state.more[1]:softmax():unsqueeze(3)
      return pd.tensor.cat({ (weights * state.cells):sum(2), state.more[1]:log_softmax() }, 2)
    end }
  compare { stack = 'parts' }
  compare { stack = 'parts', coupling = 'state' }
  compare { stack = 'parts', embedding = 2 }
  assert(pd.stack.check('parts'):passed())
  dofile(pd.root .. '/tests/lua/queue_in_lua.lua')('strength_queue', 2)
  compare { stack = { kind = 'strength_queue', size = 3 } }
end)

test('parts of a state that every step extends are stored once', function()
  -- Only `rows` and `marks` are extended at their ends; `rows` is also read while it is extended.
  pd.stack.define { name = 'extended', doc = 'Rows that are only appended.',
    actions = { { 'vector', 3, activation = 'tanh' }, { 'gate', 1, activation = 'sigmoid' } },
    initial = function(self, batch)
      return { rows = self:ones(batch, 1, 3), marks = self:full({ batch, 2 }, 0.5), newest = self:zeros(batch, 1),
        same = self:full({ batch, 2 }, 2) }
    end,
    update = function(_, state, actions)
      local mean = state.rows:mean(2)
      local vector = actions.vector + 0.3 * mean * state.same[{ {}, { 1, 1 } }]
      return { rows = pd.tensor.cat({ state.rows, vector:unsqueeze(2) }, 2),
        marks = pd.tensor.cat({ state.marks, actions.gate, 1 - actions.gate }, 2),
        newest = pd.tensor.cat({ actions.gate, state.newest * 0.9 }, 2), same = state.same }
    end,
    reading = function(_, state)
      local weights = (state.newest:softmax() * state.marks:sum(2):unsqueeze(2)):unsqueeze(2)
      return weights:matmul(state.rows)[{ {}, 1 }]
    end }
  compare { stack = 'extended' }
  -- The whole state is extended.
  pd.stack.define { name = 'all_extended', doc = 'The mean of all vectors.',
    actions = { { 'vector', 2, activation = 'tanh' } },
    initial = function(self, batch) return self:zeros(batch, 1, 2) end,
    update = function(_, rows, actions) return pd.tensor.cat({ rows, actions.vector:unsqueeze(2) }, 2) end,
    reading = function(_, rows) return rows:mean(2) end }
  compare { stack = 'all_extended' }
  -- Each further step writes 3 + 2 new numbers there and no others.
  local written = 0
  for step in pd.stack.program('extended'):gmatch('step 2:.-step 3:') do
    for space in step:gmatch('\n%s+(%d+)%s+appended[^\n]- = ') do written = written + tonumber(space) end
  end
  test.equal(written, 5)
end)

test('numbers that no later reading depends on are not computed', function()
  -- A stack of 8 steps: after step t, 8 - t cells can still reach the top. ('whole' is defined above.)
  local text = pd.stack.program { kind = 'whole', size = 3, steps = 8 }
  for _, step in ipairs { 1, 2, 3, 7 } do
    local costs = ('step %d: %%d+ instructions, %d multiply%%-adds'):format(step, 3 * 3 * (8 - step))
    assert(text:find(costs), text)
  end
  -- Intermediate results and sums along a dimension.
  pd.stack.define { name = 'normed', doc = 'Cells that are divided by their norms.',
    actions = { { 'action', 3, activation = 'softmax' }, { 'vector', 3, activation = 'tanh' } },
    initial = function(self, batch) return { cells = self:zeros(batch, 9, 3), sums = self:ones(batch, 9) } end,
    update = function(self, state, actions)
      local a, zero = actions.action:unsqueeze(3):unsqueeze(4), self:zeros(#state.sums, 1, 3)
      local cells = a[{ {}, 1 }] * pd.tensor.cat({ actions.vector:unsqueeze(2), state.cells:slice(2, 1, -2) }, 2)
        + a[{ {}, 2 }] * pd.tensor.cat({ state.cells:slice(2, 2, -1), zero }, 2) + a[{ {}, 3 }] * state.cells
      local norms = ((cells ^ 2):sum(3) + 1):sqrt()
      return { cells = cells / norms:unsqueeze(3), sums = state.sums:cumsum(2):tanh() * norms }
    end,
    reading = function(_, state)
      return pd.tensor.cat({ state.cells[{ {}, 1 }], state.sums:slice(2, 2, 2) }, 2)
    end }
  compare { stack = 'normed' }
end)

test('cells of many forms give the numbers of tensor operations', function()
  pd.controller.define { name = 'odd', doc = 'Operations that steps of vectors do not have.',
    parameters = function(options, input)
      return { { 'map', { input, options.hidden } }, { 'own', { options.hidden, options.hidden } },
        { 'scale', options.hidden, constant = 0.7 }, { 'bias', options.hidden } }
    end,
    initial = function(self, batch) return { self:zeros(batch, self.hidden), self:full({ batch, 2 }, 0.5) } end,
    step = function(self, input, state)
      local p = self.parameters
      local both = input:matmul(p.map) + state[1]:matmul(p.own) + p.bias
      local norm = (both * both):mean(2, true) + 1e-3
      local hidden = ((both / norm:sqrt()) * p.scale:exp()):softplus() - 0.5
      local mixed = state[2]:unsqueeze(2):matmul(state[2]:unsqueeze(3))[{ {}, 1 }]
      local second = pd.tensor.cat({ hidden:slice(2, 1, 1), mixed }, 2):sin()
      return hidden, { hidden, second }
    end }
  for _, kind in ipairs { 'none', 'superposition', defined.mine } do
    local stack = { kind = kind, size = kind ~= 'none' and 2 or nil }
    compare { controller = { kind = 'odd', hidden = 4 }, stack = stack }
  end
  compare({ controller = { kind = 'odd', hidden = 4 }, stack = { kind = defined.mine, size = 2 }, dtype = 'float32' },
    1e-4)
end)

test('the examples of the documentation give the numbers of tensor operations', function()
  -- docs/extending.md
  pd.stack.define { name = 'last_pushed', doc = 'The vector that was pushed last, faded.',
    options = { { 'size', 20, 'size of the vector', minimum = 1 } },
    actions = { { 'push', 1, activation = 'sigmoid' }, { 'vector', 'size', activation = 'tanh' } },
    initial = function(self, batch) return self:zeros(batch, self.options.size) end,
    update = function(_, state, actions) return (1 - actions.push) * state + actions.push * actions.vector end,
    reading = function(_, state) return state end }
  compare { stack = { kind = 'last_pushed', size = 4 } }
  compare { stack = { kind = 'last_pushed', size = 4 }, controller = { kind = 'lua_lstm', hidden = 3 } }
  compare { stack = { kind = defined.mine, size = 3 }, carry_forward = 'soft' }
  -- Chapter 6 of the tutorial.
  pd.controller.define { name = 'fast_and_slow', doc = 'A simple recurrent network with a slow copy.',
    options = { { 'pace', 0.1, 'how fast the slow vector follows', minimum = 0, maximum = 1 } },
    parameters = function(options, input)
      return { { 'weight', { options.hidden, input + 2 * options.hidden } }, { 'bias', options.hidden, constant = 0 } }
    end,
    initial = function(self, batch) return { self:zeros(batch, self.hidden), self:zeros(batch, self.hidden) } end,
    step = function(self, input, state)
      local all = pd.tensor.cat({ input, state[1], state[2] }, 2)
      local fast = (all:matmul(self.parameters.weight:transpose()) + self.parameters.bias):tanh()
      local slow = state[2] + self.options.pace * (fast - state[2])
      return fast, { fast, slow }
    end }
  compare { controller = { kind = 'fast_and_slow', hidden = 4 }, stack = { kind = 'superposition', size = 2 } }
end)

test('a parameter that is frozen or set anew is seen', function()
  local m, wanted = model { stack = 'parts' }, model { stack = 'parts', kernels = false }
  local before = m:log_probability('0 1 # 1 0')
  for _, each in ipairs { m, wanted } do
    each:set_parameters { ['stack.map'] = pd.tensor.full({ 3, 3 }, 0.3, { dtype = 'float64' }) }
  end
  assert(m:log_probability('0 1 # 1 0') ~= before)
  test.near(m:log_probability('0 1 # 1 0'), wanted:log_probability('0 1 # 1 0'), 1e-12)
end)

test('the program can be shown', function()
  local text = pd.stack.program { kind = defined.mine, size = 3, steps = 6 }
  assert(text:find('array', 1, true) and text:find('multiply_add', 1, true), text)
  assert(text:find('operations, %d+ multiply%-adds in step 4 of 6'), text)
  local dot = model():program { format = 'dot', steps = 4 }
  assert(dot:find('^digraph step {') and dot:find('array', 1, true) and dot:find('style=dashed', 1, true), dot)
  assert(pd.stack.program('superposition'):find('memory', 1, true))
  local code = model():program { format = 'cuda' }
  assert(code:find('step_forward', 1, true) and code:find('step_backward', 1, true), code)
  test.fails('there is no recorded program: it runs by tensor operations', function()
    model({ kernels = false }):program()
  end)
end)

-- Each mistake in `update` of a stack of 3 numbers: the code, and the message about its line.
local mistakes = {
  -- Code that cannot be recorded runs by tensor operations, and one message says so.
  { 'if state:sum():item() > 0 then return state end return v', 'a number is read from a recorded tensor' },
  { 'if state[1][1] < state[1][2] then return v end return state', 'a number is read from a recorded tensor' },
  { 'local t = state:to_table() return v * t[1][1]', 'numbers are read from a recorded tensor' },
  { 'local s = tostring(state) return v + 0 * #s', 'numbers are read from a recorded tensor' },
  { 'local s = state:clone() s[{ {}, 1 }] = 1 return s', 'a tensor is changed in place' },
  { 'local s = self:zeros(#v, 3) s[{ {}, 1 }] = v[{ {}, 1 }] return s', 'a tensor is changed in place' },
  { 'local s = state:clone() s:assign(0) return s', 'a tensor is changed in place' },
  { 'return v + 0.1 * pd.tensor.randn({ #v, 3 }, { dtype = "float64" })', 'random numbers are drawn' },
  { 'return v - v:mean(1, true)', 'an operation combines the sequences of a batch' },
  { 'return v:cumsum(1)', 'an operation combines the sequences of a batch' },
  { 'return v:transpose(1, 2):matmul(v):sum(1, true):expand(#v, 3)', 'a product sums over the sequences' },
  { 'return v:sort(2)', "the operator 'sort' cannot be recorded" },
  { 'return (v:argmax(2, true) * 0.1 + v):to("float64")', "'argmax' cannot be recorded" },
  { 'return pd.tensor.op("erfinv", v * 0.5)', "the operator 'erfinv' cannot be recorded" },
  { 'return v / #v', 'a second call, or one with another number of sequences, does something else' },
  { 'CALLS[1] = CALLS[1] + 1 return v * CALLS[1]', 'a second call, or one with another number of' },
  -- Mistakes are errors.
  { 'return v + self:zeros(#v, 4)', 'The size of tensor a %(3%) must match', true },
  { 'return v:unsqueze(1)', "a Tensor has no method 'unsqueze', did you mean 'unsqueeze'", true },
  { 'return v .. state', 'attempt to concatenate', true },
  { 'return actions.vektor * v', 'expected a number or a Tensor, got nil', true },
  { 'return v:to("float32")', 'state must be float64 on cpu as the model is', true },
  { 'return v:slice(2, 1, 2)', 'the reading must be %d+ x 3 of float64, got %d+ x 2', true },
  { 'return v:sum(2)', 'the reading must be %d+ x 3 of float64, got', true },
}

test('mistakes are reported with their line', function()
  local code = [[
local pd, CALLS = require 'pushdown', { 0 }
pd.stack.define { name = 'mistaken', actions = { { 'vector', 3, activation = 'tanh' } },
  initial = function(self, batch) return self:zeros(batch, 3) end,
  update = function(self, state, actions) local v = actions.vector
    MISTAKE
  end,
  reading = function(_, state) return state end }
for seed = 1, 2 do
  local m = pd.model.language_model { alphabet = { 'a' }, stack = 'mistaken', dtype = 'float64', seed = seed,
    controller = { kind = 'elman', hidden = 3 } }
  m:log_probability('a a a')
  m:log_probability('a a')
end
print 'goes on']]
  local codes = {}
  for i, mistake in ipairs(mistakes) do
    codes[i] = code:gsub('mistaken', '%0_' .. i):gsub('MISTAKE', function() return mistake[1] end)
  end
  for i, result in ipairs(defined.sessions(codes)) do
    local body, pattern, wrong = unpack(mistakes[i])
    local said, failed = unpack(result)
    local about = ('%s\nsaid: %s'):format(body, said)
    assert(said:find(pattern), about)
    assert(said:find('script.lua:[4-7]: '), about)
    test.equal(failed, wrong or false)
    if not wrong then
      assert(said:find('stack.mistaken_' .. i .. ' runs by tensor operations: ', 1, true), about)
      assert(said:find('goes on', 1, true), about)
      local _, times = said:gsub('runs by tensor operations', '')
      test.equal(times, 1)
    end
  end
  assert(#mistakes >= 20)
  -- There is no message if kernels are off.
  code = code:gsub('MISTAKE', function() return mistakes[1][1] end)
  local quiet, status = session((code:gsub('dtype =', 'kernels = false, dtype =')))
  test.equal(quiet, 'goes on\n')
  test.equal(status, 0)
end)

test('a model shows whether its parts are recorded, and a message names the price', function()
  local said = session [[
local pd = require 'pushdown'
local function define(name, factor)
  pd.stack.define { name = name, actions = { { 'vector', 3, activation = 'tanh' } },
    initial = function(self, batch) return self:zeros(batch, 3) end,
    update = function(_, state, actions) return state * 0.5 + actions.vector * factor(state) end,
    reading = function(_, state) return state end }
end
define('plain', function() return 2 end)
define('reading_a_number', function(state) return state:sum():item() > 0 and 1 or 2 end)
pd.controller.define { name = 'cell', parameters = { { 'w', { 4, 4 }, uniform = 0.1 } },
  initial = function(self, batch) return { self:zeros(batch, 4) } end,
  step = function(self, _, state)
    local h = (state[1] + 1):matmul(self.parameters.w):tanh()
    return h, { h }
  end }
for _, options in ipairs { { stack = 'plain' }, { stack = 'reading_a_number' }, { stack = 'plain', kernels = false },
  { controller = { kind = 'cell', hidden = 4 } } } do
  options.alphabet, options.seed = { 'a' }, 1
  print(tostring(pd.model.language_model(options)))
end]]
  assert(said:find('lstm controller, plain stack (recorded), 1 symbols', 1, true), said)
  assert(said:find('lstm controller, reading_a_number stack (not recorded), 1 symbols', 1, true), said)
  assert(said:find('lstm controller, plain stack, 1 symbols', 1, true), said)
  assert(said:find('cell controller (recorded), none stack, 1 symbols', 1, true), said)
  assert(said:find('stack.reading_a_number runs by tensor operations: [^\n]*a number is read from a recorded tensor; '
    .. "this is 10 to 30 times slower than a recorded definition, see 'What is recorded' in docs/extending.md"), said)
end)

test('a program of too many instructions is reported', function()
  local said, status = session [[
local pd = require 'pushdown'
pd.stack.define { name = 'long', actions = { { 'vector', 3, activation = 'tanh' } },
  initial = function(self, batch) return { a = self:zeros(batch, 3), n = 0 } end,
  update = function(_, state, actions)
    local v = actions.vector
    for _ = 1, 4000 do v = v:cumsum(2):tanh() end
    return { a = v + state.n, n = state.n + 1 }
  end,
  reading = function(_, state) return state.a end }
local m = pd.model.language_model { alphabet = { 'a' }, stack = 'long', seed = 1,
  controller = { kind = 'elman', hidden = 3 } }
m:log_probability(('a '):rep(20))
print 'goes on']]
  assert(said:find('stack.long runs by tensor operations: [^\n]*script.lua:4: its steps differ and take more than '
    .. '100000 instructions'), said)
  assert(said:find('goes on', 1, true) and status == 0, said)
end)

test.finish()
