-- # Stacks by hand
--
-- A network never makes a pure push. It may push with weight 0.8 and pop with weight 0.2, and the
-- stack must turn these weights into a result that has a gradient. This chapter drives the stacks
-- by hand with `pd.stack.simulate`, without a network.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'

local _, run = experiment.start {
  name = 'stacks', doc = 'Bare stacks driven by hand, with their gradients.', options = {}, smoke = {},
}

-- ## Superposition
--
-- This stack holds vectors. Each step takes a vector to push and three weights that sum to one, for
-- push, pop and no_op (leave the stack unchanged). The new stack is the mixture of the three
-- results. If all weights are 0 or 1, it is an ordinary stack. The example pushes 1, pushes 2, and
-- pops twice. `simulate` takes a batch (here of one string) and returns the readings, beginning
-- with the one before the first step.
local readings = pd.stack.simulate {
  kind = 'superposition',
  actions = pd.tensor({ { { 1, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 1, 0 } } }, { dtype = 'float64' }),
  vectors = pd.tensor({ { { 1 }, { 2 }, { 0 }, { 0 } } }, { dtype = 'float64' }),
}
local tops = {}
for t, reading in ipairs(readings:to_table()[1]) do tops[t] = ('%g'):format(reading[1]) end
print('superposition, whole weights: top of the stack ' .. table.concat(tops, ' '))

-- With fractional weights everything is a mixture and has a derivative. How does the reading after
-- three steps change with each action?
local actions = pd.tensor({ { { 0.8, 0.1, 0.1 }, { 0.7, 0.2, 0.1 }, { 0.1, 0.8, 0.1 } } },
  { dtype = 'float64', requires_grad = true })
readings = pd.stack.simulate {
  kind = 'superposition', actions = actions,
  vectors = pd.tensor({ { { 1 }, { 2 }, { 3 } } }, { dtype = 'float64' }),
}
local last = readings[1][4][1]
last:backward()
print(('superposition, mixed weights: the last reading is %.4f; its derivatives by'):format(last:item()))
local rows = {}
for t, gradient in ipairs(actions:grad():to_table()[1]) do
  rows[t] = { 'step ' .. t, gradient[1], gradient[2], gradient[3] }
end
local number = '%.4f'
run:table('superposition_gradients', {
  columns = { '', { 'push', format = number }, { 'pop', format = number }, { 'no_op', format = number } },
  rows = rows,
})

-- ## Stratification
--
-- Here every vector on the stack has a strength, a number that says how much of it is there. A step
-- first removes some strength from the top, then pushes a vector with its own strength. The reading
-- takes vectors from the top down until their strengths add up to 1, and sums them, each times its
-- strength. Of the last one it takes only the part that is missing to 1.
readings = pd.stack.simulate {
  kind = 'stratification',
  push = pd.tensor({ { 0.8, 0.5, 0.9 } }, { dtype = 'float64' }),
  pop = pd.tensor({ { 0, 0.1, 0.9 } }, { dtype = 'float64' }),
  vectors = pd.tensor({ { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } }, { dtype = 'float64' }),
}
print('\nstratification: the part of each vector in the reading')
rows = {}
for t, reading in ipairs(readings:to_table()[1]) do
  rows[t] = { t - 1, reading[1], reading[2], reading[3] }
end
run:table('stratification', {
  columns = { 'time', { 'first vector', format = number }, { 'second', format = number },
    { 'third', format = number } },
  rows = rows,
})

-- The picture shows the strength of each vector after each step. Darker cells are stronger, and the
-- first vector is at the bottom:
--
-- ![Strength of each vector at each time](pictures/03_strengths.svg)
local kept = pd.stack.strengths {
  kind = 'stratification',
  push = pd.tensor({ { 0.8, 0.5, 0.9 } }, { dtype = 'float64' }),
  pop = pd.tensor({ { 0, 0.1, 0.9 } }, { dtype = 'float64' }),
  vectors = pd.tensor({ { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } }, { dtype = 'float64' }),
}
local strengths = kept.strengths:to_table()[1]
local values = {}
for place = 3, 1, -1 do
  local row = {}
  for t = 1, 3 do row[t] = strengths[t][1][place] end
  values[#values + 1] = row
end
run:picture('strengths', pd.plot.heat_map { values = values, x_labels = { '1', '2', '3' }, x_label = 'step',
  y_labels = { 'third', 'second', 'first' }, y_label = 'vector', value_label = 'strength', low = 0,
  show_values = true, format = '%.1f' })

-- ## The nondeterministic stack
--
-- This stack runs a pushdown automaton along all paths at once. Its input at each step consists of
-- the weights of all transitions. There is one row for each pair of state and top symbol. A row
-- contains the weights of push, replace and pop
-- ([Conventions](../conventions.md#the-nondeterministic-stack) gives the order of the columns).
-- With one state and the two symbols 0 (also the bottom) and 1, a row is
-- `{push 0, push 1, replace with 0, replace with 1, pop}`.
--
-- The example has three steps: push 1 with certainty; push 1 or leave the top unchanged, each with
-- weight 0.5; pop if possible. `weights` has one list for each string of the batch, in it one list
-- for each step, and in this one row for each top symbol: the first row is used where 0 is on top,
-- the second where 1 is on top. So `{ push_1, push_1 }` pushes 1 whatever is on top, and the two rows
-- of `maybe_push_1` differ, because leaving the top unchanged means to replace it with itself.
--
-- A run is one path of the automaton. After the three steps, the runs that pushed twice have the
-- first 1 on top again. The others have popped down to the bottom, which `bottom = 'reexposed'`
-- allows. Both groups of runs have the weight 0.5.
local push_1 = { 0, 1, 0, 0, 0 }
local maybe_push_1 = { { 0, 0.5, 0.5, 0, 0 }, { 0, 0.5, 0, 0.5, 0 } }
local pop = { 0, 0, 0, 0, 1 }
readings = pd.stack.simulate {
  kind = 'nondeterministic', states = 1, symbols = 2, bottom = 'reexposed',
  weights = pd.tensor({ { { push_1, push_1 }, maybe_push_1, { pop, pop } } }, { dtype = 'float64' }),
}
print('\nnondeterministic: probability of each top symbol over all runs')
rows = {}
for t, reading in ipairs(readings:to_table()[1]) do rows[t] = { t - 1, reading[1], reading[2] } end
run:table('nondeterministic', {
  columns = { 'time', { 'bottom (0)', format = number }, { '1', format = number } }, rows = rows,
})

-- `pd.stack.kinds` lists the kinds of stacks. `pd.stack.describe` lists the options of a kind and
-- the inputs that `simulate` takes for it.
print('\nkinds of stacks: ' .. table.concat(pd.stack.kinds(), ', '))
