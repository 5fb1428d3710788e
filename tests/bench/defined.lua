-- Compares stacks and cells written in Lua with the built-in ones and with tensor operations: the least processor time
-- of one update with Adam. `build/release/pushdown --threads 1 tests/bench/defined.lua`
local pd = require 'pushdown'

dofile(pd.root .. '/tests/lua/superposition_in_lua.lua')('bench_superposition', 20)

pd.stack.define {
  name = 'bench_whole', doc = 'The same with its full size from the start.',
  options = { { 'size', 20, 'size of a cell', minimum = 1 } },
  actions = { { 'action', 3, activation = 'softmax' }, { 'vector', 'size', activation = 'sigmoid' } },
  initial = function(self, batch, length) return self:zeros(batch, math.max(2, length), self.options.size) end,
  update = function(self, cells, actions)
    local weight = actions.action:unsqueeze(3):unsqueeze(4)
    local above = pd.tensor.cat({ actions.vector:unsqueeze(2), cells:slice(2, 1, -2) }, 2)
    local below = pd.tensor.cat({ cells:slice(2, 2, -1), self:zeros(#cells, 1, self.options.size) }, 2)
    return weight[{ {}, 1 }] * above + weight[{ {}, 2 }] * below + weight[{ {}, 3 }] * cells
  end,
  reading = function(_, cells) return cells[{ {}, 1 }] end,
}

-- The neural queue of Grefenstette et al. (2015).
dofile(pd.root .. '/tests/lua/queue_in_lua.lua')('bench_queue', 20)
-- Two of their stacks.
dofile(pd.root .. '/tests/bench/two_stacks.lua')('bench_two_stacks', 20)

pd.controller.define {
  name = 'bench_mrnn', doc = 'Multiplicative recurrent network in Lua.',
  parameters = function(options, input)
    local hidden = options.hidden
    return { { 'weight_mx', { hidden, input } }, { 'weight_mh', { hidden, hidden } },
      { 'weight_ih', { hidden, input } }, { 'weight_hm', { hidden, hidden } }, { 'bias', hidden } }
  end,
  initial = function(self, batch) return { self:zeros(batch, self.hidden) } end,
  step = function(self, input, state)
    local p = self.parameters
    local m = input:matmul(p.weight_mx:transpose()) * state[1]:matmul(p.weight_mh:transpose())
    local hidden = (input:matmul(p.weight_ih:transpose()) + p.bias + m:matmul(p.weight_hm:transpose())):tanh()
    return hidden, { hidden }
  end,
}

local grammar = pd.grammar.load('unmarked_reversal')
local train = grammar:sampler { lengths = { 80, 80 } }:dataset(20, { seed = 1 })

local function trainer(controller, stack, kernels, memories)
  local size = stack ~= 'none' and 20 or nil
  local t = pd.train.trainer { train = train, epochs = 10000, seed = 1, progress = false, batch = 10,
    optimizer = { kind = 'adam', learning_rate = 0.001 },
    model = pd.model.language_model { alphabet = grammar:alphabet(), controller = { kind = controller, hidden = 20 },
      stack = { kind = stack, size = size, memories = memories }, seed = 3, dtype = 'float32', kernels = kernels } }
  t:step()
  return t
end
local function milliseconds(t)
  local start = os.clock()
  t:step()
  return 1000 * (os.clock() - start)
end

-- The measurements alternate, so that other work of the machine affects both.
local function compare(name, built_in, defined)
  local wanted, got = trainer(built_in[1], built_in[2], true, built_in.memories), trainer(defined[1], defined[2], true)
  local plain = trainer(defined[1], defined[2], false)
  local best, own, operations = math.huge, math.huge, math.huge
  for _ = 1, 40 do
    best, own = math.min(best, milliseconds(wanted)), math.min(own, milliseconds(got))
  end
  for _ = 1, 3 do operations = math.min(operations, milliseconds(plain)) end
  print(('defined case=%s built_in_ms=%.2f lua_ms=%.2f ratio=%.2f tensor_operations_ms=%.1f'):format(name, best, own,
    own / best, operations))
end

print('Written in Lua against built in: n = 80, batch 10, 20 hidden units, vectors of 20 numbers, float32')
compare('superposition', { 'lstm', 'superposition' }, { 'lstm', 'bench_superposition' })
compare('superposition_whole', { 'lstm', 'superposition' }, { 'lstm', 'bench_whole' })
compare('queue', { 'lstm', 'stratification' }, { 'lstm', 'bench_queue' })
compare('two_stacks', { 'lstm', 'stratification', memories = 2 }, { 'lstm', 'bench_two_stacks' })
compare('mrnn', { 'mrnn', 'none' }, { 'bench_mrnn', 'none' })
compare('mrnn_superposition', { 'mrnn', 'superposition' }, { 'bench_mrnn', 'superposition' })

-- An objective in Lua: the processor time of an update of a recognizer, from whole epochs.
pd.train.define_objective { name = 'bench_stepwise', losses = function(_, batch)
  return (batch.scores:softplus() - batch.scores * batch.labels:unsqueeze(2)):sum(2)
end }
local labelled = pd.task.labelled { grammar = grammar, lengths = { 10, 20 }, positives = 1000, negatives = 1000,
  seed = 1 }
local function epoch_of(objective, kernels)
  local t = pd.train.trainer { train = labelled, epochs = 10000, seed = 1, progress = false, batch = 10,
    objective = objective, model = pd.model.recognizer { alphabet = labelled:alphabet(), seed = 3, dtype = 'float32',
      controller = { kind = 'elman', hidden = 8 }, stack = { kind = 'superposition', size = 8 }, kernels = kernels } }
  local epochs = t:epochs()
  return function()
    local start = os.clock()
    epochs()
    return 1000 * (os.clock() - start) / t:updates_per_epoch()
  end
end
local built_in, recorded, plain = epoch_of('stepwise'), epoch_of('bench_stepwise'), epoch_of('bench_stepwise', false)
local best, own = math.huge, math.huge
for _ = 1, 6 do best, own = math.min(best, built_in()), math.min(own, recorded()) end
print(('defined case=objective built_in_ms=%.3f lua_ms=%.3f ratio=%.2f tensor_operations_ms=%.1f'):format(best, own,
  own / best, plain()))
