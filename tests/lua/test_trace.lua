-- model:trace of every kind of memory, compared with numbers from other sources: all sequences of actions, the tensor
-- definitions, all runs of the automaton, and networks whose actions are set by hand.
-- label: long
local pd = require 'pushdown'
local test = require 'pushdown.test'

local text = 'a b b a a'

local function model(stack, options)
  return pd.model.language_model(pd.tables.merged({ alphabet = { 'a', 'b' }, dtype = 'float64', seed = 2,
    controller = { kind = 'lstm', hidden = 4 }, stack = stack }, options))
end

-- Larger parameters, so that the actions differ from step to step.
local function larger(m)
  for name, parameter in pairs(m:parameters()) do
    if name:find '^controller' or name:find '^stack' then m:set_parameters { [name] = parameter:detach() * 6 } end
  end
  return m
end

-- The distribution of the depth over all sequences of actions, each with the product of its weights. `moves` are the
-- changes of the depth; `least` is the smallest depth and `most` the greatest.
local function brute_depths(weights, moves, least, most)
  local all = {}
  local function sequences(t, depth, weight, found)
    if t > #weights then
      found[depth] = (found[depth] or 0) + weight
      return
    end
    for action, move in ipairs(moves) do
      sequences(t + 1, math.max(least, math.min(most, depth + move)), weight * weights[t][action], found)
    end
  end
  local rows = weights
  for steps = 1, #rows do
    weights, all[steps] = { unpack(rows, 1, steps) }, {}
    sequences(1, 0, 1, all[steps])
  end
  return all
end

local function check_depths(trace, moves, most)
  local expected = brute_depths(trace:weights():to_table(), moves, 0, most or math.huge)
  local depths, means = trace:depths():to_table(), trace:depth():to_table()
  for t, row in ipairs(depths) do
    local mean, sum = 0, 0
    for level, share in ipairs(row) do
      test.near(share, expected[t][level - 1] or 0, 1e-12)
      mean, sum = mean + (level - 1) * share, sum + share
    end
    test.near(sum, 1, 1e-12)
    test.near(means[t], mean, 1e-12)
  end
end

test('superposition: the depths are those of all sequences of actions, the readings those of the definition', function()
  for _, options in ipairs { {}, { no_op = false }, { depth = 2 }, { temperature = 0.5 } } do
    local m = larger(model(pd.tables.merged({ kind = 'superposition', size = 3 }, options)))
    local trace = m:trace(text)
    test.equal(table.concat(trace:actions(), ' '), options.no_op == false and 'push pop' or 'push pop no_op')
    test.equal(table.concat(trace:symbols(), ' '), text)
    check_depths(trace, { 1, -1, options.no_op ~= false and 0 or nil }, options.depth)
    -- The vectors follow from the readings only for pushes alone, so the vectors are made constant.
    m:set_parameters { ['stack.vector_weight'] = pd.tensor.zeros { 3, 4 }, ['stack.vector_bias'] = { -1, 0, 2 } }
    trace = m:trace(text)
    local vectors = pd.tensor({ { -1, 0, 2 } }, { dtype = 'float64' }):sigmoid():expand { 5, 3 }:unsqueeze(1)
    local readings = pd.stack.simulate(pd.tables.merged({ kind = 'superposition',
      actions = trace:weights():unsqueeze(1), vectors = vectors },
      { no_op = options.no_op, depth = options.depth }))
    test.near(trace:readings(), readings[1]:slice(1, 2, 6), 1e-12)
  end
end)

test('parallel superposition: each stack has its own trace', function()
  for _, no_op in ipairs { true, false } do
    local m = larger(model { kind = 'parallel_superposition', stacks = 3, no_op = no_op })
    local first
    for memory = 1, 3 do
      local trace = m:trace(text, { memory = memory })
      check_depths(trace, { 1, -1, no_op and 0 or nil })
      if memory == 1 then first = trace end
      test.equal(table.concat(trace:readings():size(), ' '), '5 6')
    end
    assert(first:weights()[1][1]:item() ~= m:trace(text, { memory = 2 }):weights()[1][1]:item())
    test.equal(m:trace(text, { memory = 2 }):title(), 'parallel_superposition stack, 2 of 3')
  end
  local rounded = larger(model { kind = 'parallel_superposition', stacks = 1, rounding = true }):trace(text)
  for _, row in ipairs(rounded:weights():to_table()) do assert(row[1] == 1 and row[2] == 0 or row[1] == 0) end
end)

test('list and tape: the head moves by the expected change of its place', function()
  for _, one in ipairs { { { kind = 'list', lists = 2 }, { -1, 1, 0 }, 'left right insert' },
    { { kind = 'list', lists = 2, no_op = true }, { -1, 1, 0, 0 }, 'left right insert no_op' },
    { { kind = 'baby_ntm', cells = 9 }, { 1, -1, 0, -1, 1 }, 'rotate up rotate down no_op shift down shift up' } } do
    local trace = larger(model(one[1])):trace(text)
    test.equal(table.concat(trace:actions(), ' '), one[3])
    test.equal(trace:depths(), nil)
    local place, rows = 0, trace:rows()
    for t, row in ipairs(trace:weights():to_table()) do
      local sum = 0
      for action, move in ipairs(one[2]) do place, sum = place + move * row[action], sum + row[action] end
      test.near(sum, 1, 1e-12)
      test.near(trace:depth()[t]:item(), place, 1e-12)
      test.near(rows[t].head, place, 1e-12)
    end
  end
end)

test('stratification: the strengths are those of m:strengths', function()
  for kind, ends in pairs { stratification = { '' }, stratification_queue = { '' },
    stratification_deque = { '_top', '_bottom' } } do
    local m = larger(model { kind = kind, size = 3, memories = 2, push = 'expectation', read = 'expectation' })
    local run = m:strengths(text)
    for memory = 1, 2 do
      local trace = m:trace(text, { memory = memory })
      for k, suffix in ipairs(ends) do
        local weights = trace:weights()
        test.near(weights[{ {}, 3 * k - 2 }], run['push' .. suffix][{ {}, memory }], 1e-12)
        test.near(weights[{ {}, 3 * k - 1 }], run['pop' .. suffix][{ {}, memory }], 1e-12)
        test.near(weights[{ {}, 3 * k }], run['read' .. suffix][{ {}, memory }]:sum(2), 1e-12)
      end
      test.near(trace:depth(), run.strengths[{ {}, memory }]:sum(2), 1e-12)
    end
    test.equal(m:trace(text):actions()[1], #ends == 1 and 'push' or 'push top')
  end
end)

test('analog: what is pushed and popped, and the length', function()
  local m = model { kind = 'analog', size = 2 }
  for _, one in ipairs { { 0.5, { 0.5, 1, 1.5, 2, 2.5 }, 0.5, 0 }, { -0.5, { 0, 0, 0, 0, 0 }, 0, 0 } } do
    m:set_parameters { ['stack.action_weight'] = pd.tensor.zeros { 1, 4 },
      ['stack.action_bias'] = { 0.5 * math.log((1 + one[1]) / (1 - one[1])) } }
    local trace = m:trace(text)
    test.near(trace:depth():to_table(), one[2], 1e-12)
    test.near(trace:weights()[2]:to_table(), { one[3], one[4] }, 1e-12)
  end
end)

-- The shares of the last moves and the depths of all runs of the automaton on a string.
local function of_all_runs(automaton, steps)
  local shares, depths, total = { push = 0, replace = 0, pop = 0 }, {}, 0
  for _, run in ipairs(automaton:all_runs { accepted = false }) do
    local weight = math.exp(run:log_weight())
    total = total + weight
    local last, depth = run:steps()[steps], #run:stacks()[steps + 1] - 1
    shares[last.action] = shares[last.action] + weight
    depths[depth] = (depths[depth] or 0) + weight
  end
  return shares, depths, total
end

test('nondeterministic: shares and depths are those of all runs of the automaton', function()
  for _, options in ipairs { { bottom = 'original' }, { bottom = 'reexposed', normalized = false },
    { bottom = 'reexposed', states = 1, symbols = 3, reading = 'state_symbol' } } do
    local m = larger(model(pd.tables.merged({ kind = 'nondeterministic', states = 2, symbols = 2 }, options)))
    local trace = m:trace 'a b b a'
    local rows, first = trace:rows(), {}
    for t, row in ipairs(rows) do
      first[t] = row.symbol
      local automaton = m:stack_automaton(first)
      local shares, depths, total = of_all_runs(automaton, t)
      for action, weight in pairs(shares) do test.near(row.actions[action], weight / total, 1e-9) end
      local mean = 0
      for level, share in ipairs(trace:depths()[t]:to_table()) do
        test.near(share, (depths[level - 1] or 0) / total, 1e-9)
        mean = mean + (level - 1) * share
      end
      test.near(row.depth, mean, 1e-9)
      local readings = options.reading and automaton:distribution() or automaton:top_distribution()
      test.near(row.reading, readings[t + 1]:to_table(), 1e-9)
    end
  end
end)

test('nondeterministic: windows, and stacks with vectors', function()
  local options = { kind = 'nondeterministic', bottom = 'reexposed', normalized = false }
  local m = larger(model(options))
  local all, wide = m:trace(text), larger(model(pd.tables.merged(options, { window = 6 }))):trace(text)
  test.near(wide:depths(), all:depths(), 1e-12)
  local narrow = larger(model(pd.tables.merged(options, { window = 2 }))):trace(text)
  test.near(narrow:weights():sum(2):to_table(), { 1, 1, 1, 1, 1 }, 1e-12)
  test.near(narrow:depths():sum(2):to_table(), { 1, 1, 1, 1, 1 }, 1e-12)
  -- Without the controller's weights both kinds have the same transitions at every step.
  local vectors = model { kind = 'vector_nondeterministic', size = 2 }
  local bias = m:parameters()['stack.action_bias']
  for _, one in ipairs { m, vectors } do
    one:set_parameters { ['stack.action_weight'] = pd.tensor.zeros { bias:size(1), 4 }, ['stack.action_bias'] = bias }
  end
  test.near(vectors:trace(text):depths(), m:trace(text):depths(), 1e-12)
  test.near(vectors:trace(text):weights(), m:trace(text):weights(), 1e-12)
  test.equal(table.concat(vectors:trace(text):readings():size(), ' '), '5 8')
end)

test('digital: an inserted automaton pushes and pops what it must', function()
  local m = pd.model.recognizer { alphabet = { 'a', 'b' }, architecture = 'nspda', states = 10, seed = 1 }
  pd.model.insert_rules(m, 'an_bn/whole')
  local trace = m:trace 'a a b b'
  test.equal(table.concat(trace:symbols(), ' '), 'a a b b <end>')
  test.near(trace:depth():to_table(), { 1, 2, 1, 0, 0 })
  test.near(trace:weights():to_table(), { { 1, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 1, 0 }, { 0, 0, 1 } })
  test.equal(trace:title(), 'digital stack')
  -- The reading names the top: a, b, or the empty stack.
  for t, top in ipairs { 1, 1, 1, 3, 3 } do test.equal(trace:readings()[t]:argmax(1):item(), top) end
end)

test('analog automaton: the lengths follow from its weights', function()
  local m = pd.model.recognizer { alphabet = { 'a', 'b' }, architecture = 'nnpda', order = 'second', states = 2,
    dtype = 'float64', seed = 1, end_symbol = false }
  local zero = pd.tensor.zeros { 2, 2, 4 }
  -- The neurons are 1 and 0, then 1/2 each, so the action of a symbol is that of its weight: tanh(w / 2).
  local function of(action) return math.log((1 + action) / (1 - action)) end
  local row = { 0, 0, of(0.6), of(-0.4) }
  m:set_parameters { ['state.weight'] = zero, ['state.bias'] = { 0, 0 }, ['action.weight'] = { row, row },
    ['action.bias'] = { 0 } }
  local trace = m:trace 'a a b b b'
  test.near(trace:depth():to_table(), { 0.6, 1.2, 0.8, 0.4, 0 }, 1e-9)
  test.near(trace:weights()[4]:to_table(), { 0, 0.4 }, 1e-9)
end)

test('the layers of a transformer, with its begin symbol', function()
  local m = pd.model.language_model { alphabet = { 'a', 'b' }, architecture = 'transformer', dtype = 'float64',
    seed = 1, hidden = 8, heads = 2, layers = { 'attention', { kind = 'superposition', size = 3 },
      { kind = 'nondeterministic', states = 1, symbols = 2, size = 2 } } }
  local trace = m:trace(text)
  test.equal(table.concat(trace:symbols(), ' '), '<s> ' .. text)
  test.equal(trace:title(), 'superposition stack, layer 2')
  check_depths(trace, { 1, -1, 0 })
  test.equal(table.concat(m:trace(text, { layer = 3 }):actions(), ' '), 'push replace pop')
  m:set_parameters { ['layers.2.stack.action_weight'] = pd.tensor.zeros { 3, 8 } }
  test.near(m:trace(text):weights(), pd.tensor.full({ 6, 3 }, 1 / 3, { dtype = 'float64' }), 1e-12)
  test.fails('layer 1 has no stack: the layers with a stack are 2, 3', function() m:trace(text, { layer = 1 }) end)
end)

test('recognizers and transducers', function()
  local stack = { kind = 'stratification', size = 3 }
  local r = pd.model.recognizer { alphabet = { 'a', 'b' }, dtype = 'float64', seed = 1, stack = stack,
    controller = { kind = 'lstm', hidden = 3 } }
  test.near(r:trace(text):weights()[{ {}, 1 }], r:strengths(text).push:flatten(), 1e-12)
  test.equal(r:trace(text):symbols()[6], '<end>')
  -- With several passes over a symbol, the first one moves the memory, or each of them does.
  local passes = pd.model.recognizer { alphabet = { 'a', 'b' }, seed = 1, stack = stack, evaluation_passes = 2,
    controller = { kind = 'lstm', hidden = 3 } }
  test.equal(#passes:trace(text):symbols(), 6)
  local moving = pd.model.recognizer { alphabet = { 'a', 'b' }, seed = 1, stack = stack, evaluation_passes = 2,
    controller = { kind = 'lstm', hidden = 3 }, memory_in_passes = 'moves' }
  test.equal(table.concat(moving:trace('a b'):symbols(), ' '), 'a a b b <end> <end>')
  local t = pd.model.transducer { source_alphabet = { 'a', 'b' }, target_alphabet = { 'x' }, dtype = 'float64',
    seed = 1, stack = stack, controller = { kind = 'lstm', hidden = 3 } }
  local trace = t:trace('a b', 'x x')
  test.equal(table.concat(trace:symbols(), ' '), '<s> a b ||| x x')
  test.near(trace:weights()[{ {}, 2 }], t:strengths('a b', 'x x').pop:flatten(), 1e-12)
end)

test('stacks defined in Lua', function()
  dofile(pd.root .. '/tests/lua/superposition_in_lua.lua')('traced_superposition', 3)
  local built_in, own = larger(model { kind = 'superposition', size = 3 }), model { kind = 'traced_superposition' }
  own:set_parameters(built_in:parameters())
  test.equal(table.concat(own:trace(text):actions(), ' '), 'push pop no_op')
  test.near(own:trace(text):weights(), built_in:trace(text):weights(), 1e-12)
  test.near(own:trace(text):readings(), built_in:trace(text):readings(), 1e-12)
  test.equal(own:trace(text):depth(), nil)
  assert(own:trace(text):svg():find '>reading<')
  dofile(pd.root .. '/tests/lua/queue_in_lua.lua')('traced_queue', 3)
  local queue, of_core = model { kind = 'traced_queue' }, larger(model { kind = 'stratification_queue', size = 3 })
  queue:set_parameters(of_core:parameters())
  local trace = queue:trace(text)
  test.equal(table.concat(trace:actions(), ' '), 'push pop')
  test.near(trace:weights(), of_core:trace(text):weights():slice(2, 1, 2), 1e-12)
  test.near(trace:depth(), of_core:trace(text):depth(), 1e-12)
  local f = function(self, batch) return self:zeros(batch, 1) end
  test.fails("the columns of action 'x' must be 3 names", function()
    pd.stack.define { name = 'wrong_columns', initial = f, update = function(_, state) return state end,
      reading = function(_, state) return state end, actions = { { 'x', 3, columns = { 'one', 'two' } } } }
  end)
  test.fails('expected depth = function%(self, state%)',
    pd.stack.define, { name = 'wrong_depth', initial = f, update = f, reading = f, depth = 3 })
end)

test('a trace prints itself and draws itself', function()
  local m = model { kind = 'superposition', size = 30 }
  local lines = tostring(m:trace(text))
  assert(lines:find '^Trace of 5 steps: superposition stack\nsymbol   push    pop  no_op  depth  reading\na  ', lines)
  for line in lines:gmatch '[^\n]+' do assert(#line <= 80, line) end
  test.equal(tostring(m:trace ''):find '^Trace of 0 steps: superposition stack\n' ~= nil, true)
  test.fails('the string is empty', function() m:trace(''):svg() end)
  local folder = pd.file.temporary_folder()
  for _, kind in ipairs(pd.stack.kinds()) do
    local trace = kind ~= 'none' and model({ kind = kind }):trace(text)
    for _, lower in ipairs(trace and { 'depth', 'reading', 'nothing' } or {}) do
      if lower ~= 'depth' or trace:depth() then
        local picture = pd.plot.trace { trace = trace, lower = lower, path = folder .. '/' .. kind .. '.svg' }
        local word = lower == 'nothing' and 'actions' or lower
        assert(picture:find('>' .. word .. '<') or lower == 'depth', kind .. ', ' .. lower)
        assert(#pd.plot.trace_text { trace = trace, lower = lower, ascii = true } > 60)
      end
    end
  end
  pd.file.remove_folder(folder)
  local shown = pd.plot.trace_text { trace = m:trace(text), ascii = true, columns = 60 }
  assert(shown:find '^superposition stack\n +push |.*\nno_op |.*\ndepth |.*\n    0 |.*\n +a b b a a\n', shown)
end)

test('wrong calls', function()
  test.fails("option 'symbols' must have 5 labels, got 1",
    function() pd.plot.trace { trace = model { kind = 'superposition' }:trace(text), symbols = { 'x' } } end)
  test.fails('this model has no memory to trace', function() model { kind = 'none' }:trace(text) end)
  test.fails('no memory to trace', function()
    pd.model.language_model { alphabet = { 'a' }, architecture = 'transformer' }:trace 'a'
  end)
  test.fails("symbol 'c' is not in the alphabet", function() model { kind = 'superposition' }:trace 'c' end)
  test.fails('memory must be at most 1, got 2',
    function() model { kind = 'superposition' }:trace('a', { memory = 2 }) end)
end)

test.finish()
