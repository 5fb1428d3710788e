-- A stratification stack that is driven by hand: the strengths of its vectors after each step.
local pd = require 'pushdown'

return function(path)
  local float64 = { dtype = 'float64' }
  local pushes, pops = { 0.8, 0.5, 0.9, 0 }, { 0, 0.1, 0.9, 0.7 }
  local run = pd.stack.strengths {
    kind = 'stratification', push = pd.tensor({ pushes }, float64), pop = pd.tensor({ pops }, float64),
    vectors = pd.tensor({ { { 1 }, { 2 }, { 3 }, { 4 } } }, float64),
  }
  local strengths, rows, steps = run.strengths:to_table()[1], {}, {}
  for place = 3, 1, -1 do
    local row = {}
    for t = 1, #pushes do row[t] = strengths[t][1][place] end
    rows[#rows + 1] = row
  end
  for t, push in ipairs(pushes) do steps[t] = ('pop %g, push %g'):format(pops[t], push) end
  return pd.plot.heat_map { values = rows, x_labels = steps, y_labels = { 'third', 'second', 'first' },
    x_label = 'step', y_label = 'vector', value_label = 'strength', low = 0, show_values = true, format = '%.1f',
    path = path }
end
