-- A superposition stack that is driven by hand through marked reversal, never quite sure of its actions: how full each
-- cell is. Every push puts the number 1 on the stack, so the cells are the probabilities of the depths.
local pd = require 'pushdown'

return function(path)
  local symbols = { '0', '1', '1', '#', '1', '1', '0' }
  local actions, filled, depth = {}, {}, 4
  for t = 1, #symbols do
    local sure = t < 4 and 'push' or t == 4 and 'no_op' or 'pop'
    actions[t] = { push = 0.05, pop = 0.05, no_op = 0.05, [sure] = 0.9 }
  end
  local cells = {}
  for d = 0, #symbols + 1 do cells[d] = 0 end
  cells[0] = 1
  for d = 1, depth do filled[depth + 1 - d] = {} end
  for t, action in ipairs(actions) do
    local new = { [0] = 1 }
    for d = 1, #symbols do
      new[d] = action.push * cells[d - 1] + action.pop * cells[d + 1] + action.no_op * cells[d]
    end
    new[#symbols + 1] = 0
    cells = new
    for d = 1, depth do filled[depth + 1 - d][t] = cells[d] end
  end
  pd.plot.heat_map { values = filled, x_labels = symbols, y_labels = { '4', '3', '2', '1' }, x_label = 'symbol',
    y_label = 'depth', value_label = 'filled', low = 0, show_values = true, format = '%.2f', path = path }
end
