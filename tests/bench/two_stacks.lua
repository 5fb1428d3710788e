-- Two stacks of vectors with strengths (Grefenstette et al. 2015) as one definition, which defined.lua measures.
local pd = require 'pushdown'

-- name: the name of the kind; size: the size of a vector, unless an option gives another one.
return function(name, size)
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
    name = name, doc = 'Two stacks of vectors with strengths.',
    options = { { 'size', size, 'size of a vector', minimum = 1 } },
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
end
