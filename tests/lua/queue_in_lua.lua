-- The neural queue of Grefenstette et al. (2015) as a definition: strengths are consumed from the front.
local pd = require 'pushdown'

-- name: the name of the kind; size: the size of a vector, unless an option gives another one.
return function(name, size)
  pd.stack.define {
    name = name, doc = 'A queue of vectors with strengths.',
    options = { { 'size', size, 'size of a vector', minimum = 1 } },
    actions = { { 'push', 1, activation = 'sigmoid' }, { 'pop', 1, activation = 'sigmoid' },
      { 'vector', 'size', activation = 'tanh' } },
    initial = function(self, batch)
      return { values = self:zeros(batch, 1, self.options.size), strengths = self:zeros(batch, 1) }
    end,
    update = function(_, state, actions)
      local before = state.strengths:cumsum(2) - state.strengths
      local left = (state.strengths - (actions.pop - before):relu()):relu()
      return { values = pd.tensor.cat({ state.values, actions.vector:unsqueeze(2) }, 2),
        strengths = pd.tensor.cat({ left, actions.push }, 2) }
    end,
    reading = function(_, state)
      local before = state.strengths:cumsum(2) - state.strengths
      local share = pd.tensor.minimum(state.strengths, (1 - before):relu())
      return share:unsqueeze(2):matmul(state.values)[{ {}, 1 }]
    end,
    depth = function(_, state) return state.strengths:sum(2) end,
  }
end
