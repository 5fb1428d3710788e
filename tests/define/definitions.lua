-- Definitions for device_test.cpp.
local pd = require 'pushdown'

-- Cells of a stack of its full size; the reading is their mean, weighted by a softmax over the depth.
pd.stack.define {
  name = 'whole', doc = 'A stack of its full size.',
  options = { { 'size', 3, 'size of a cell', minimum = 1 } },
  actions = { { 'share', 1, activation = 'sigmoid' }, { 'vector', 'size', activation = 'tanh' } },
  initial = function(self, batch, length) return self:zeros(batch, math.max(2, length), self.options.size) end,
  update = function(_, cells, actions)
    local depth = cells:size(2)
    local pushed = pd.tensor.cat({ actions.vector:unsqueeze(2), cells:slice(2, 1, depth - 1) }, 2)
    local share = actions.share:unsqueeze(3)
    return share * pushed + (1 - share) * cells
  end,
  reading = function(_, cells)
    local weights = cells:sum(3):softmax(2)
    return weights:unsqueeze(2):matmul(cells)[{ {}, 1 }] + cells:cumsum(2)[{ {}, 2 }] * 0.1
  end,
}

dofile(pd.root .. '/tests/lua/superposition_in_lua.lua')('growing', 3)
dofile(pd.root .. '/tests/lua/queue_in_lua.lua')('queue', 2)

-- An LSTM whose gates see the product of two products.
pd.controller.define {
  name = 'multiplicative', doc = 'A multiplicative cell.',
  parameters = function(options, input)
    return { { 'input', { options.hidden, input } }, { 'hidden', { options.hidden, options.hidden } },
      { 'gates', { 2 * options.hidden, options.hidden } }, { 'bias', 2 * options.hidden } }
  end,
  initial = function(self, batch) return { self:zeros(batch, self.hidden), self:zeros(batch, self.hidden) } end,
  step = function(self, input, state)
    local p, size = self.parameters, self.hidden
    local both = input:matmul(p.input:transpose()) * state[1]:matmul(p.hidden:transpose()) + state[1]
    local gates = both:matmul(p.gates:transpose()) + p.bias
    local keep = gates:slice(2, 1, size):sigmoid()
    local cell = keep * state[2] + (1 - keep) * gates:slice(2, size + 1, 2 * size):tanh()
    local hidden = cell:tanh()
    return hidden, { hidden, cell }
  end,
}
