-- The superposition stack (docs/reference/stacks.md) as a definition, whose state grows by a cell in each step.
local pd = require 'pushdown'

-- name: the name of the kind; size: the size of a cell, unless an option gives another one.
return function(name, size)
  pd.stack.define {
    name = name, doc = 'The superposition stack in Lua.',
    options = { { 'size', size, 'size of a cell', minimum = 1 } },
    actions = { { 'action', 3, activation = 'softmax', columns = { 'push', 'pop', 'no_op' } },
      { 'vector', 'size', activation = 'sigmoid' } },
    initial = function(self, batch) return self:zeros(batch, 1, self.options.size) end,
    update = function(self, cells, actions)
      local batch, depth, width = unpack(cells:size())
      local padded = pd.tensor.cat({ cells, self:zeros(batch, 2, width) }, 2)
      local above = pd.tensor.cat({ actions.vector:unsqueeze(2), cells }, 2)
      local weight = actions.action:unsqueeze(3):unsqueeze(4)
      return weight[{ {}, 1 }] * above + weight[{ {}, 2 }] * padded:slice(2, 2, depth + 2)
        + weight[{ {}, 3 }] * padded:slice(2, 1, depth + 1)
    end,
    reading = function(_, cells) return cells[{ {}, 1 }] end,
  }
end
