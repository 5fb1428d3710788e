-- pd.stack from Lua: the documented calls, the discrete limits, gradients and bad input.
local pd = require 'pushdown'
local test = require 'pushdown.test'

test('a superposition stack with one-hot actions is a stack', function()
  local push, pop, stay = { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }
  local readings = pd.stack.simulate{ kind = 'superposition',
    actions = { { push, push, stay, pop, pop, pop } },
    vectors = { { { 5 }, { 7 }, { 9 }, { 9 }, { 9 }, { 9 } } } }
  test.near(readings, { { { 0 }, { 5 }, { 7 }, { 7 }, { 5 }, { 0 }, { 0 } } })
end)

test('stacks side by side have their own actions and show their top cells', function()
  local push, pop = { 1, 0 }, { 0, 1 }
  local readings = pd.stack.simulate{ kind = 'parallel_superposition',
    actions = { { { push, push }, { push, pop }, { pop, pop } } },
    values = { { { 5, 6 }, { 7, 8 }, { 9, 9 } } } }
  test.near(readings, { { { -1, -1, -1, -1 }, { 5, -1, 6, -1 }, { 7, 5, -1, -1 }, { 5, -1, -1, -1 } } })
  test.near(pd.stack.simulate{ kind = 'parallel_superposition', rounding = true, no_op = true,
    read_depth = 1, empty = 0, actions = { { { { 0.5, 0.3, 0.2 } }, { { 0.1, 0.3, 0.6 } } } },
    values = { { { 5 }, { 7 } } } }, { { { 0 }, { 5 }, { 5 } } })
end)

test('a list inserts at its head and moves it', function()
  local left, right, insert = { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }
  local readings = pd.stack.simulate{ kind = 'list',
    actions = { { { insert }, { insert }, { left }, { right } } },
    values = { { { 1 }, { 2 }, { 0 }, { 0 } } } }
  test.near(readings, { { { -1, -1, -1 }, { -1, 1, -1 }, { 1, 2, -1 }, { -1, 1, 2 }, { 1, 2, -1 } } })
end)

test('a tape is rotated and shifted, and a limited stack forgets', function()
  local up, down, shift_up = { 1, 0, 0, 0, 0 }, { 0, 1, 0, 0, 0 }, { 0, 0, 0, 0, 1 }
  local readings = pd.stack.simulate{ kind = 'baby_ntm', cells = 2,
    actions = { { up, down, shift_up } }, vectors = { { { 1 }, { 2 }, { 4 } } } }
  test.near(readings, { { { 0 }, { 1 }, { 2 }, { 1 + 4 } } })
  local push, pop = { 1, 0 }, { 0, 1 }
  test.near(pd.stack.simulate{ kind = 'superposition', no_op = false, depth = 1,
    actions = { { push, push, pop } }, vectors = { { { 5 }, { 7 }, { 9 } } } },
    { { { 0 }, { 5 }, { 7 }, { 0 } } })
end)

test('a stratification stack follows the example of its equations', function()
  -- Push 1 with .8, 2 with .5 after popping .1, then pop .9 and push 3 with .9.
  local readings = pd.stack.simulate{ kind = 'stratification',
    push = { { 0.8, 0.5, 0.9 } }, pop = { { 0, 0.1, 0.9 } },
    vectors = { { { 1 }, { 2 }, { 3 } } } }
  test.near(readings, { { { 0 }, { 0.8 }, { 0.5 * 2 + 0.5 }, { 0.9 * 3 + 0.1 } } })
end)

test('a queue gives back what came first, a deque works at both ends', function()
  test.near(pd.stack.simulate{ kind = 'stratification_queue',
    push = { { 1, 1, 0, 0 } }, pop = { { 0, 0, 1, 1 } }, vectors = { { { 1 }, { 2 }, { 3 }, { 4 } } } },
    { { { 0 }, { 1 }, { 1 }, { 2 }, { 0 } } })
  local given = { kind = 'stratification_deque',
    push_top = { { 1, 1, 0 } }, pop_top = { { 0, 0, 1 } }, vectors_top = { { { 1 }, { 2 }, { 0 } } },
    push_bottom = { { 0, 1, 0 } }, pop_bottom = { { 0, 0, 0.5 } },
    vectors_bottom = { { { 0 }, { 3 }, { 0 } } } }
  test.near(pd.stack.simulate(given), { { { 0, 0 }, { 1, 1 }, { 2, 3 }, { 1, 0.5 * 3 + 0.5 } } })
  local run = pd.stack.strengths(given)
  test.near(run.strengths, { { { { 0, 0, 0, 1, 0, 0 } }, { { 0, 1, 0, 1, 1, 0 } },
    { { 0, 0.5, 0, 1, 0, 0 } } } })
  test.near(run.read_top, { { { { 0, 0, 0, 1, 0, 0 } }, { { 0, 0, 0, 0, 1, 0 } },
    { { 0, 0, 0, 1, 0, 0 } } } })
  test.near(run.read_bottom[1][3], { { 0, 0.5, 0, 0.5, 0, 0 } })
  test.near(run.pop_bottom, { { { 0 }, { 0 }, { 0.5 } } })
  test.fails('has no strengths',
    pd.stack.strengths, { kind = 'superposition', actions = { { { 1, 0, 0 } } }, vectors = { { { 1 } } } })
  given.push_bottom = { { 1, 2 } }
  test.fails("'push_bottom' must be 1 x 3, got 1 x 2", function() pd.stack.simulate(given) end)
end)

test('an analog stack cuts its sections where the pop ends', function()
  -- a .32, a .2, b .7, a .4; .86 are popped. Window of length 1: (a .4, b .6), then (a .52, b .24).
  local a, b = { 1, 0 }, { 0, 1 }
  local readings = pd.stack.simulate{ kind = 'analog',
    actions = { { 0.32, 0.2, 0.7, 0.4, -0.86 } }, vectors = { { a, a, b, a, a } } }
  test.near(readings, { { { 0, 0 }, { 0.32, 0 }, { 0.52, 0 }, { 0.3, 0.7 }, { 0.4, 0.6 },
    { 0.52, 0.24 } } })
end)

-- The automaton of w w^R over two symbols: bottom 0, a = 1, b = 2; states push phase, pop phase.
local function palindrome_weights(word)
  local rows = {}
  for t, symbol in ipairs(word) do
    local step = {}
    for q = 0, 1 do
      for x = 0, 2 do
        local row = {}
        for column = 1, 14 do row[column] = 0 end
        if q == 0 then row[1 + symbol] = 1 end
        if x == symbol then row[1 + 12 + 1] = 1 end
        step[q * 3 + x + 1] = row
      end
    end
    rows[t] = step
  end
  return pd.tensor({ rows }, { dtype = 'float64', requires_grad = true })
end

test('the nondeterministic stack shows the bottom exactly after palindromes', function()
  for _, case in ipairs{ { { 1, 2, 2, 1 }, 0.5 }, { { 1, 2, 1, 2 }, 0 }, { { 1, 1, 1, 1 }, 0.4 } } do
    local readings = pd.stack.simulate{ kind = 'nondeterministic', states = 2, symbols = 3,
      reading = 'state_symbol', bottom = 'reexposed', weights = palindrome_weights(case[1]) }
    local last = readings:to_table()[1][5]
    test.equal(last[4] > 0, case[2] > 0)
    local sum = 0
    for _, value in ipairs(last) do sum = sum + value end
    test.near(sum, 1)
  end
end)

test('gradients flow through every input', function()
  local weights = palindrome_weights{ 1, 2, 2, 1 }
  local readings = pd.stack.simulate{ kind = 'nondeterministic', states = 2, symbols = 3,
    bottom = 'reexposed', weights = weights }
  readings[1][5][1]:backward()
  test.equal(weights:grad():abs():sum():item() > 0, true)
  for _, kind in ipairs{ 'superposition', 'stratification' } do
    local vectors = pd.tensor({ { { 1, 2 }, { 3, 4 } } }, { dtype = 'float64', requires_grad = true })
    local inputs = { kind = kind, vectors = vectors }
    if kind == 'superposition' then
      inputs.actions = { { { 1, 0, 0 }, { 0.5, 0.25, 0.25 } } }
    else
      inputs.push, inputs.pop = { { 0.5, 0.5 } }, { { 0, 0.25 } }
    end
    pd.stack.simulate(inputs):sum():backward()
    test.equal(vectors:grad():abs():sum():item() > 0, true)
  end
end)

test('logarithms and weights agree, fast and plain agree', function()
  local logs = pd.tensor.randn({ 2, 6, 4, 10 }, { dtype = 'float64', seed = 1 })
  local function readings(options)
    options.kind = 'nondeterministic'
    return pd.stack.simulate(options)
  end
  local wanted = readings{ weights = logs:exp() }
  test.near(readings{ log_weights = logs }, wanted, 1e-12)
  test.near(readings{ log_weights = logs, fast = false }, wanted, 1e-12)
  test.near(readings{ weights = logs:exp(), fast = false }, wanted, 1e-12)
end)

test('bad input is named', function()
  local function simulate(options)
    return function() return pd.stack.simulate(options) end
  end
  test.fails("'kind'", simulate{})
  test.fails('no data structure', simulate{ kind = 'none' })
  test.fails("'actions' %(any x any x 3%) is missing",
    simulate{ kind = 'superposition', vectors = { { { 1 } } } })
  test.fails("'actions' must be any x any x 3, got 1 x 1 x 2",
    simulate{ kind = 'superposition', vectors = { { { 1 } } }, actions = { { { 1, 0 } } } })
  test.fails("'weights' must be any x any x 4 x 10, got 1 x 1 x 1 x 1",
    simulate{ kind = 'nondeterministic', weights = { { { { 1 } } } } })
  test.fails("either 'weights' or 'log_weights'", simulate{ kind = 'nondeterministic' })
  test.fails('must not be negative', simulate{ kind = 'nondeterministic', states = 1, symbols = 1,
    weights = { { { { 1, -1, 0 } } } } })
  test.fails('vectors', simulate{ kind = 'superposition', actions = { { { 1, 0, 0 } } },
    vectors = { { { 1 }, { 2, 3 } } } })
end)

test('a window forgets older symbols', function()
  -- push 1, push 2, replace by 2, pop, pop: the bottom is seen again, unless it is out of sight
  local log = {}
  for t, column in ipairs{ 2, 3, 6, 7, 7 } do
    log[t] = {}
    for row = 1, 3 do
      log[t][row] = {}
      for c = 1, 7 do log[t][row][c] = c == column and 1 or 0 end
    end
  end
  local function readings(window)
    return pd.stack.simulate{ kind = 'nondeterministic', states = 1, symbols = 3,
      bottom = 'reexposed', weights = { log }, window = window }[1]:to_table()
  end
  test.equal(table.concat(readings(0)[6], ' '), '1 0 0')
  test.equal(table.concat(readings(6)[6], ' '), '1 0 0')
  test.equal(table.concat(readings(4)[5], ' '), '0 1 0')
  test.equal(table.concat(readings(3)[5], ' '), '0 0 0')
end)

test.finish()
