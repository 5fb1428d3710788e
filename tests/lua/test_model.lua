-- pd.model and pd.controller from Lua.
-- label: long
local pd = require 'pushdown'
local test = require 'pushdown.test'

local function model(options)
  options = options or {}
  options.alphabet = options.alphabet or { '0', '1', '#' }
  options.dtype = options.dtype or 'float64'
  options.seed = options.seed or 1
  options.end_symbol = options.end_symbol == true
  return pd.model.language_model(options)
end

test('every controller works with every stack', function()
  for _, controller in ipairs(pd.controller.kinds()) do
    for _, stack in ipairs(pd.stack.kinds()) do
      local m = model{ controller = { kind = controller, hidden = 3 }, stack = { kind = stack } }
      local p = m:log_probability('0 1 # 1 0')
      test.equal(p < 0 and p > -20, true)
    end
  end
end)

test('probabilities are those of the logits', function()
  local m = model{ stack = { kind = 'nondeterministic' } }
  local logits = m:logits('0 1 # 1')
  test.equal(table.concat(logits:size(), ' '), '4 3')
  local rows, sum = logits:log_softmax(2):to_table(), 0
  for t, symbol in ipairs{ 1, 2, 3, 2 } do sum = sum + rows[t][symbol] end
  test.near(m:log_probability('0 1 # 1'), sum, 1e-12)
  test.near(m:log_probability{ '0', '1', '#', '1' }, sum, 1e-12)
  test.equal(m:log_probability(''), 0)
end)

test('the end symbol has a row and a column of its own, by default', function()
  local logits = pd.model.language_model{ alphabet = { '0', '1', '#' }, seed = 1 }:logits('0 1')
  test.equal(table.concat(logits:size(), ' '), '3 4')
end)

test('parameters are shared, settable, and counted', function()
  local m = model{ controller = { kind = 'gru', hidden = 3 }, stack = { kind = 'superposition', size = 2 } }
  local count = 0
  for name, tensor in pairs(m:parameters()) do
    test.equal(name:match('^%a+') ~= nil, true)
    local product = 1
    for _, size in ipairs(tensor:size()) do product = product * size end
    count = count + product
  end
  test.equal(m:parameter_count(), count)
  local before = m:log_probability('0 1 1')
  local bias = pd.tensor({ 0.5, -0.5, 2 }, { dtype = 'float64' })
  m:set_parameters{ ['output.bias'] = bias }
  test.near(m:parameters()['output.bias'], bias)
  test.equal(m:log_probability('0 1 1') ~= before, true)
  local other = model{ controller = { kind = 'gru', hidden = 3 },
    stack = { kind = 'superposition', size = 2 }, seed = 9 }
  other:set_parameters(m:parameters())
  test.equal(other:log_probability('0 1 1'), m:log_probability('0 1 1'))
end)

test('gradients reach the parameters', function()
  local m = model{ stack = { kind = 'stratification', size = 3 } }
  m:logits('0 1 # 1 0'):sum():backward()
  for name, tensor in pairs(m:parameters()) do
    test.equal(tensor:grad() ~= nil, true, name)
  end
end)

test('the strengths of a memory are available', function()
  local m = model{ stack = { kind = 'stratification_deque', size = 3, memories = 2 } }
  local run = m:strengths('0 1 # 1')
  test.equal(table.concat(run.strengths:size(), ' '), '4 2 8')
  test.equal(table.concat(run.push_top:size(), ' '), '4 2')
  test.near(run.strengths[1]:sum(), run.push_top[1]:sum() + run.push_bottom[1]:sum())
  test.fails('no memory of sections', function() model{}:strengths('0 1') end)
  local r = pd.model.recognizer{ alphabet = { 'a', 'b' }, stack = { kind = 'stratification', size = 2 } }
  test.equal(table.concat(r:strengths('a b').read:size(), ' '), '3 1 3')
end)

test('kernels and stepwise agree for every pair', function()
  for _, controller in ipairs(pd.controller.kinds()) do
    for _, stack in ipairs(pd.stack.kinds()) do
      local options = { controller = { kind = controller, hidden = 5 }, stack = { kind = stack } }
      local kernels = model(options)
      options.kernels = false
      local stepwise = model(options)
      test.near(kernels:logits('0 1 # 1 0 0'), stepwise:logits('0 1 # 1 0 0'), 1e-11)
    end
  end
end)

test('a string is read in pieces', function()
  for _, kind in ipairs(pd.stack.kinds()) do
    local m = model{ stack = { kind = kind }, end_symbol = true }
    local state, rows = m:begin(), {}
    test.equal(tostring(state), 'ModelState: after 0 symbols of a string')
    for i, words in ipairs{ '0 1', { '#' }, '1 0 0' } do
      rows[i], state = m:read(words, state)
    end
    local last, seen = m:next_logits(state)
    test.equal(state:symbols(), 6)
    test.equal(state:bytes() > 0, true)
    local whole = m:logits('0 1 # 1 0 0')
    test.near(rows[1], whole:slice(1, 1, 2), 1e-12)
    test.near(rows[2], whole:slice(1, 3, 3), 1e-12)
    test.near(rows[3], whole:slice(1, 4, 6), 1e-12)
    test.near(last, whole[7], 1e-12)
    test.near(m:next_logits(seen), last, 0)
  end
end)

test('a batch is read in pieces, gradients end where the state is detached', function()
  local m = model{ stack = { kind = 'nondeterministic', window = 2 } }
  local first, state = m:read({ '0 1', { '1', '1' } }, m:begin(2, 4))
  test.equal(table.concat(first:size(), ' '), '2 2 3')
  local second = m:read({ '1 #', '0 #' }, state:detach())
  test.near(second[2], m:logits('1 1 0 #'):slice(1, 3, 4), 1e-12)
  second:sum():backward()
  test.equal(m:parameters()['stack.action_weight']:grad() ~= nil, true)
  test.fails('expected a list of 2 strings, got 1', function() m:read({ '0' }, state) end)
  test.fails('expected a list of 2 strings, got one text', function() m:read('0', state) end)
  test.fails('same length', function() m:read({ '0', '0 1' }, state) end)
  test.fails("belongs to another model", function() model():read({ '0', '1' }, state) end)
  test.fails('at least 1', function() m:begin(0) end)
end)

test('a transformer is a language model', function()
  test.equal(table.concat(pd.model.layers(), ' '), 'attention superposition nondeterministic pushdown_attention')
  test.equal(pd.model.describe('transformer'):find('feedforward') ~= nil, true)
  local m = model{ architecture = 'transformer', hidden = 8, heads = 2, end_symbol = true,
    layers = { 'attention', { kind = 'superposition', size = 3 }, 'nondeterministic' } }
  test.equal(tostring(m):find('transformer of attention, superposition, nondeterministic, 3 symbols',
    1, true) ~= nil, true)
  test.equal(m:options().layers[2].size, 3)
  test.equal(m:options().layers[3].states, 2)
  local whole = m:logits('0 1 # 1')
  test.equal(table.concat(whole:size(), ' '), '5 4')
  local first, state = m:read('0 1', m:begin())
  local second = m:read('# 1', state)
  test.near(first, whole:slice(1, 1, 2), 1e-12)
  test.near(second, whole:slice(1, 3, 4), 1e-12)
  m:logits('0 1 # 1'):pow(2):sum():backward()
  for name, tensor in pairs(m:parameters()) do test.equal(tensor:grad() ~= nil, true, name) end
  test.fails("unknown option 'stack'", function() model{ architecture = 'transformer', stack = {} } end)
end)

test('options are complete, and the line has the main ones', function()
  local m = model{ stack = { kind = 'nondeterministic', states = 3 } }
  test.equal(m:options().stack.states, 3)
  test.equal(m:options().stack.symbols, 2)
  test.equal(m:options().controller.hidden, 20)
  test.equal(tostring(m):find('lstm controller, nondeterministic stack, 3 symbols') ~= nil, true)
  test.equal(#m:alphabet():symbols(), 3)
end)

test('bad input is named', function()
  local function make(options)
    return function() return pd.model.language_model(options) end
  end
  test.fails('alphabet', make{})
  test.fails('alphabet', make{ alphabet = {} })
  test.fails('alphabet', make{ alphabet = 3 })
  test.fails("'kind'", make{ alphabet = { 'a' }, controller = { hidden = 3 } })
  test.fails('device', make{ alphabet = { 'a' }, device = 'tpu' })
  local m = model()
  test.fails('x', function() return m:log_probability('0 x') end)
  test.fails('output.bia', function() m:set_parameters{ ['output.bia'] = pd.tensor{ 1 } } end)
  test.fails("'output.bias' must be 3, got 2", m.set_parameters, m, { ['output.bias'] = pd.tensor{ 1, 2 } })
  test.fails('LanguageModel', function() return m.log_probability({}, '0') end)
end)

test('the collector counts the graph of a tensor', function()
  local function most_memory()
    return tonumber(require 'pushdown.files'.read '/proc/self/status':match 'VmHWM:%s*(%d+)') / 1024
  end
  local large = pd.model.language_model { alphabet = { 'a', 'b' }, seed = 1,
    controller = { kind = 'lstm', hidden = 20 }, stack = { kind = 'nondeterministic', states = 2, symbols = 2 } }
  local before = most_memory()
  -- Each keeps the graph of 200 steps, 2.5 MB, but is itself small; together they would need 760 MB.
  for _ = 1, 300 do large:logits(('a b '):rep(100)) end
  assert(most_memory() - before < 600, ('it grew by %d MB'):format(most_memory() - before))
end)

test('numbers that are not finite are neither set nor written', function()
  local nan, place = 0 / 0, os.tmpname()
  local path = place .. '.safetensors'
  os.remove(place)
  for dtype, largest in pairs { float32 = 1e38, float64 = 1e308 } do
    local m = pd.model.language_model { alphabet = { 'a', 'b', 'c' }, controller = { kind = 'elman', hidden = 2 },
      end_symbol = false, dtype = dtype, seed = 1 }
    local before = m:parameters()['output.bias']:to_table()
    for _, wrong in ipairs { nan, math.huge, -math.huge, dtype == 'float32' and 1e39 or nan } do
      local message = ("'output.bias' has numbers that are not finite in %s"):format(dtype)
      test.fails(message, function() m:set_parameters { ['output.bias'] = { 0, wrong, 0 } } end)
      test.fails(message, m.set_parameters, m, { ['output.bias'] = pd.tensor({ 0, wrong, 0 }, { dtype = 'float64' }) })
    end
    test.near(m:parameters()['output.bias'], before, 0)
    m:set_parameters { ['output.bias'] = { 0, largest, 0 } }
    m:save(path)
    test.near(pd.model.load(path):parameters()['output.bias'], m:parameters()['output.bias'], 0)
    m:parameters()['output.bias']:assign { 0, nan, 0 }
    test.fails("%[model.save%] 'output.bias' has numbers that are not finite", function() m:save(path) end)
    test.fails("%[model.export%] 'output.bias' has numbers", function() m:export(place) end)
    test.equal(pd.file.kind(place), nil)
    test.near(pd.model.load(path):parameters()['output.bias'], { 0, largest, 0 }, largest * 1e-6)
  end
  os.remove(path)
end)

-- The expected values are those of the equations in float64, where exp(i) needs no stabilizer.
test('exponential gates may be of any size at the first step', function()
  for _, kernels in ipairs { true, false } do
    for dtype, tolerance in pairs { float32 = 1e-5, float64 = 1e-7 } do
      local function probability(input, scale)
        local m = pd.model.language_model { alphabet = { 'a', 'b' }, seed = 1, dtype = dtype, end_symbol = true,
          controller = { kind = 'scalar_lstm', hidden = 3 }, kernels = kernels }
        local own = m:parameters()
        local bias = own['controller.bias_l0']:to_table()
        for k = 4, 6 do bias[k] = input end
        m:set_parameters { ['controller.bias_l0'] = bias, ['output.weight'] = own['output.weight'] * scale }
        local value = m:log_probability 'a b a'
        local logits = m:logits { 'a', 'b', 'a' }
        logits:sum():backward()
        for _, parameter in pairs(m:parameters()) do
          local slope = parameter:grad()
          assert(not slope or math.abs(slope:sum():item()) < math.huge)
        end
        return value
      end
      test.near(probability(-90, 1), -4.34153, 1e-5)
      test.near(probability(-87, 10), -4.3699630, tolerance)
    end
  end
end)

test('the output layer reads the reading of the stack', function()
  local place = os.tmpname()
  local path = place .. '.safetensors'
  os.remove(place)
  local function with(output, stack)
    return pd.model.language_model { alphabet = { 'a', 'b' }, controller = { kind = 'lstm', hidden = 4 },
      stack = stack or { kind = 'superposition', size = 3 }, output = output, seed = 2 }
  end
  local m = with 'hidden_and_reading'
  test.equal(m:parameters()['output.weight']:size()[2], 7)
  m:save(path)
  local same = pd.model.load(path)
  test.equal(same:options().output, 'hidden_and_reading')
  test.near(same:log_probability 'a b b a', m:log_probability 'a b b a', 0)
  test.equal(same:sample { count = 5, longest = 9, seed = 3 }[4], m:sample { count = 5, longest = 9, seed = 3 }[4])
  -- The share of a symbol that is read alone or within a string.
  test.near(m:next 'a b'.a, m:logits('a b a'):softmax(2)[{ 3, 1 }], 1e-6)
  local bare = with()
  bare:set_parameters { ['output.weight'] = m:parameters()['output.weight']:slice(2, 1, 4) }
  assert(math.abs(bare:log_probability 'a b' - m:log_probability 'a b') > 1e-6)
  -- A file of a program that does not know the option.
  bare:save(path)
  local text = pd.file.read(path)
  local old, count = text:gsub('\\"output\\": ?\\"hidden\\",', function(found) return (' '):rep(#found) end)
  test.equal(count, 1)
  pd.file.write(path, old)
  test.equal(pd.model.load(path):options().output, 'hidden')
  test.near(pd.model.load(path):log_probability 'a b', bare:log_probability 'a b', 0)
  os.remove(path)
  local r = pd.model.recognizer { alphabet = { 'a' }, stack = { kind = 'superposition', size = 3 },
    controller = { kind = 'lstm', hidden = 4 }, output = 'hidden_and_reading' }
  test.equal(r:parameters()['output.weight']:size()[2], 7)
  test.fails("output 'hidden_and_reading' needs a stack with a reading, got 'none'",
    with, 'hidden_and_reading', { kind = 'none' })
  test.fails("output 'hidden_and_reading' needs architecture = 'recurrent', got 'transformer'",
    pd.model.recognizer, { architecture = 'transformer', alphabet = { 'a' }, output = 'hidden_and_reading' })
end)

test.finish()
