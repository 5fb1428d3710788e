-- Objectives written in Lua are recorded: they give the same numbers without Lua, and a message if they cannot be
-- recorded.
-- label: long
local pd = require 'pushdown'
local test = require 'pushdown.test'
local defined = dofile(pd.root .. '/tests/lua/defined.lua')
local run, same_numbers = defined.run, defined.same_numbers

-- Objectives in Lua with the numbers of tensor operations, and the functions that count their calls.
local objectives = {
  logistic = function(self, batch)
    return (batch.scores:softplus() - batch.scores * batch.labels:unsqueeze(2)):mean(2) * self.options.factor
  end,
  last = function(self, batch)
    if not batch.ends then return self:zeros(#batch.labels) end
    return (batch.scores[{ {}, batch.length * batch.passes }]:sigmoid() - batch.labels) ^ 2
  end,
  -- Only some passes count, and hidden vectors cost something.
  active = function(_, batch)
    local passes = batch.scores:size()[2]
    local valid = batch.labels:gt(0.5):unsqueeze(2)
    local worst = pd.tensor.where(valid, -batch.scores, batch.scores):max(2)
    local early = batch.scores:slice(2, 1, math.ceil(passes / 2)):sum(2)
    return worst:relu() + 0.1 * early:tanh() + 0.01 * (batch.hiddens ^ 2):sum(3):sum(2) + batch.first
  end,
  -- The mean cross-entropy of the next symbols, where one follows, and their entropy.
  following = function(_, batch)
    local follows, logs = batch.next:gt(0), batch.next_scores:log_softmax(3)
    local next_logs = logs:gather(3, batch.next:clamp(1, logs:size()[3]):unsqueeze(3))[{ {}, {}, 1 }]
    local entropy = -(batch.next_scores:softmax(3) * logs):sum(3)
    local costs = pd.tensor.where(follows, 0.1 * entropy - next_logs, 0 * next_logs)
    return costs:sum(2) / follows:sum(2):clamp(1, 1e9) + batch.scores:slice(2, -1, -1):softplus():sum(2)
  end,
}
local calls = {}
for name, losses in pairs(objectives) do
  calls[name] = 0
  pd.train.define_objective { name = 'recorded_' .. name, doc = 'An objective in Lua.',
    options = { { 'factor', 0.7, 'of every loss', minimum = 0 } }, needs_next_symbol = name == 'following',
    losses = function(self, batch)
      calls[name] = calls[name] + 1
      return losses(self, batch)
    end }
end
local function recognition(objective, kernels, options)
  local m = pd.tables.merged({ seed = 2, kernels = kernels, next_symbol = objective == 'recorded_following' }, options)
  local learning = m.learning
  m.learning = nil
  return pd.train.trainer { model = defined.recognizer(m), train = defined.labelled, epochs = 3, seed = 1,
    objective = objective, progress = false, learning = learning }
end

test('a recorded objective gives the numbers of tensor operations', function()
  for name in pairs(objectives) do
    for _, options in ipairs { {}, { end_symbol = true }, { stack = { kind = 'none' }, dtype = 'float32' } } do
      local fast = recognition('recorded_' .. name, true, options)
      local slow = recognition('recorded_' .. name, false, options)
      local tolerance = options.dtype and 1e-4 or 1e-11
      fast:step()
      slow:step()
      same_numbers(fast:model(), slow:model(), tolerance)
      test.near(run(fast), run(slow), 10 * tolerance)
      same_numbers(fast:model(), slow:model(), 100 * tolerance)
    end
  end
end)

test('objectives are recorded for pieces, too, so that rtrl and uoro need no script', function()
  for _, name in ipairs { 'logistic', 'active', 'following' } do
    for _, learning in ipairs { 'rtrl', { kind = 'uoro', truncation = 2, estimate = 'batch' } } do
      local options = { learning = learning, stack = { kind = 'none' } }
      local fast = recognition('recorded_' .. name, true, options)
      local slow = recognition('recorded_' .. name, false, options)
      local epochs, others = fast:epochs(), slow:epochs()
      local before = calls[name]
      epochs()
      local called = calls[name] - before
      others()
      -- The strings of a batch share the programs of their pieces.
      assert(called < calls[name] - before - called, called)
      same_numbers(fast:model(), slow:model(), 1e-11)
    end
  end
end)

-- As on devices, the graph of a pass ends in the losses.
test('the program of an objective also ends a pass with a graph', function()
  local function trained(objective, following)
    local m = pd.model.recognizer { alphabet = defined.labelled:alphabet(), architecture = 'transformer', seed = 2,
      hidden = 6, heads = 2, feedforward = 5, dtype = 'float64', next_symbol = following }
    return pd.train.trainer { model = m, train = defined.labelled, epochs = 3, seed = 1, objective = objective,
      progress = false }
  end
  for name, losses in pairs(objectives) do
    -- Reads a number, so that it cannot be recorded.
    pd.train.define_objective { name = 'plain_' .. name, doc = 'An objective in Lua.',
      options = { { 'factor', 0.7, 'of every loss', minimum = 0 } }, needs_next_symbol = name == 'following',
      losses = function(self, batch)
        assert(batch.scores:sum():item() < math.huge)
        return losses(self, batch)
      end }
    local before = calls[name]
    local fast, slow = trained('recorded_' .. name, name == 'following'), trained('plain_' .. name, name == 'following')
    fast:step()
    slow:step()
    same_numbers(fast:model(), slow:model(), 1e-11)
    test.near(run(fast), run(slow), 1e-9)
    assert(calls[name] - before < 40, calls[name] - before)
  end
end)

test('a recorded objective is called once for each length of an epoch, and twice at first', function()
  local lengths, count = {}, 0
  for _, text in ipairs(defined.labelled:strings()) do
    if not lengths[#text] then count = count + 1 end
    lengths[#text] = true
  end
  local before = calls.logistic
  local t = recognition('recorded_logistic', true)
  local epochs = t:epochs()
  epochs()
  test.equal(calls.logistic - before, count + 1)
  epochs()
  test.equal(calls.logistic - before, 2 * count + 1)
end)

test('an objective sees values that the script changes between epochs and between updates', function()
  local cost = 1
  pd.train.define_objective { name = 'annealed', losses = function(_, batch)
    return cost * batch.scores:softplus():sum(2) - (batch.scores * batch.labels:unsqueeze(2)):sum(2)
  end }
  local function annealed(kernels)
    local t = recognition('annealed', kernels)
    cost = 1
    for _ = 1, 3 do
      t:step()
      cost = cost * 0.9
    end
    for _ in t:epochs() do cost = cost * 0.5 end
    return t
  end
  same_numbers(annealed(true):model(), annealed(false):model(), 1e-10)
end)

-- Code in the losses that cannot be recorded, and the reason.
local refused = {
  { 'if batch.scores:max():item() > 0 then return CALM end return CALM', 'a number is read from a recorded tensor' },
  { 'COUNT = (COUNT or 0) + 1 return CALM * COUNT', 'a second call, or one with another number of' },
  { 'return CALM - CALM:mean()', 'an operation combines the sequences of a batch' },
  { 'return CALM + 0.1 * pd.tensor.randn({ #batch.labels })', 'random numbers are drawn' },
  { 'local s = batch.scores:clone() s[{ {}, 1 }] = 0 return s:sum(2)', 'a tensor is changed in place' },
}
test('an objective that cannot be recorded says why once, with its line', function()
  local code = [[
local pd, CALM, COUNT = require 'pushdown' -- luacheck: ignore
pd.train.define_objective { name = 'odd', losses = function(self, batch)
  BODY
end }
local g = pd.grammar.load 'marked_reversal'
local data = pd.task.labelled { grammar = g, lengths = { 1, 5 }, positives = 5, negatives = 5, seed = 1 }
for seed = 1, 2 do
  local m = pd.model.recognizer { alphabet = data:alphabet(), seed = seed, controller = { kind = 'elman', hidden = 3 } }
  pd.train.trainer { model = m, train = data, objective = 'odd', progress = false }:step()
end
print 'goes on']]
  local codes = {}
  for i, case in ipairs(refused) do
    local body = case[1]:gsub('CALM', '(batch.scores:softplus():sum(2))')
    codes[i] = code:gsub("'odd'", "'odd_" .. i .. "'"):gsub('BODY', function() return body end)
  end
  for i, result in ipairs(defined.sessions(codes)) do
    local said, failed = unpack(result)
    local about = ('%s\nsaid: %s'):format(refused[i][1], said)
    local wanted = ('objective.odd_%d runs by tensor operations: [^\n]*script.lua:[23]: '):format(i) .. refused[i][2]
    assert(said:find(wanted), about)
    local _, times = said:gsub('runs by tensor operations', '')
    test.equal(times, 1)
    assert(said:find('goes on', 1, true) and not failed, about)
  end
end)

test.finish()
