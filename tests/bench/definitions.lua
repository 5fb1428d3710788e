-- Stacks, cells and an objective written in Lua, which updates.lua measures.
local pd = require 'pushdown'

dofile(pd.root .. '/tests/lua/superposition_in_lua.lua')('bench_superposition', 20)
dofile(pd.root .. '/tests/lua/queue_in_lua.lua')('bench_queue', 20)

-- A superposition stack whose state has this number of cells from the start, or as many as a string can fill.
local function whole(name, cells)
  pd.stack.define {
    name = name, doc = 'A superposition stack in Lua with its full size from the start.',
    options = { { 'size', 20, 'size of a cell', minimum = 1 } },
    actions = { { 'action', 3, activation = 'softmax' }, { 'vector', 'size', activation = 'sigmoid' } },
    initial = function(self, batch, length)
      return self:zeros(batch, cells or math.max(2, length), self.options.size)
    end,
    update = function(self, state, actions)
      local weight = actions.action:unsqueeze(3):unsqueeze(4)
      local above = pd.tensor.cat({ actions.vector:unsqueeze(2), state:slice(2, 1, -2) }, 2)
      local below = pd.tensor.cat({ state:slice(2, 2, -1), self:zeros(#state, 1, self.options.size) }, 2)
      return weight[{ {}, 1 }] * above + weight[{ {}, 2 }] * below + weight[{ {}, 3 }] * state
    end,
    reading = function(_, state) return state[{ {}, 1 }] end,
  }
end
whole 'bench_whole'
whole('bench_cells', 50)

-- Two stacks of vectors with strengths (Grefenstette et al. 2015).
local function pushed(stack, push, pop, vector)
  local strengths = stack.strengths
  local above = strengths:sum(2):unsqueeze(2) - strengths:cumsum(2)
  local left = (strengths - (pop - above):relu()):relu()
  return { values = pd.tensor.cat({ stack.values, vector:unsqueeze(2) }, 2),
    strengths = pd.tensor.cat({ left, push }, 2) }
end
local function top(stack)
  local above = stack.strengths:sum(2):unsqueeze(2) - stack.strengths:cumsum(2)
  local share = pd.tensor.minimum(stack.strengths, (1 - above):relu())
  return share:unsqueeze(2):matmul(stack.values)[{ {}, 1 }]
end
pd.stack.define {
  name = 'bench_two_stacks', doc = 'Two stacks of vectors with strengths.',
  options = { { 'size', 20, 'size of a vector', minimum = 1 } },
  actions = { { 'push', 2, activation = 'sigmoid' }, { 'pop', 2, activation = 'sigmoid' },
    { 'left_vector', 'size', activation = 'tanh' }, { 'right_vector', 'size', activation = 'tanh' } },
  initial = function(self, batch)
    local function empty()
      return { values = self:zeros(batch, 1, self.options.size), strengths = self:zeros(batch, 1) }
    end
    return { left = empty(), right = empty() }
  end,
  update = function(_, state, a)
    return {
      left = pushed(state.left, a.push:slice(2, 1, 1), a.pop:slice(2, 1, 1), a.left_vector),
      right = pushed(state.right, a.push:slice(2, 2, 2), a.pop:slice(2, 2, 2), a.right_vector),
    }
  end,
  reading = function(_, state) return pd.tensor.cat({ top(state.left), top(state.right) }, 2) end,
}

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

pd.controller.define {
  name = 'bench_deltanet', doc = 'DeltaNet with one head in Lua.',
  parameters = function(options, input)
    local hidden = options.hidden
    return { { 'weight_ih', { 3 * hidden + 1, input } }, { 'gain', hidden }, { 'weight_ho', { hidden, hidden } } }
  end,
  initial = function(self, batch)
    return { self:zeros(batch, self.hidden), self:zeros(batch, self.hidden * self.hidden) }
  end,
  step = function(self, input, state)
    local p, size = self.parameters, self.hidden
    local map = state[2]:reshape(-1, size, size)
    local all = input:matmul(p.weight_ih:transpose())
    local function part(k)
      local x = all:slice(2, (k - 1) * size + 1, k * size)
      return x * x:sigmoid()
    end
    local function scaled(x, factor, epsilon) return x / ((x * x):sum(2, true) * factor + epsilon):sqrt() end
    local query, key = scaled(part(1), 1, 1e-6), scaled(part(2), 1, 1e-6)
    local rate = all:slice(2, 3 * size + 1, 3 * size + 1):sigmoid()
    local error = (part(3) - map:matmul(key:unsqueeze(3)):squeeze(3)) * rate
    local next_map = map + error:unsqueeze(3) * key:unsqueeze(2)
    local read = scaled(next_map:matmul(query:unsqueeze(3)):squeeze(3), 1 / size, 1e-5)
    local hidden = (p.gain * read):matmul(p.weight_ho:transpose())
    return hidden, { hidden, next_map:reshape(-1, size * size) }
  end,
}

pd.train.define_objective { name = 'bench_stepwise', losses = function(_, batch)
  return (batch.scores:softplus() - batch.scores * batch.labels:unsqueeze(2)):sum(2)
end }
