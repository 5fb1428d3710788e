-- Trains two small networks with fixed seeds, in a few seconds each, and draws what their stacks do:
--
--   pushdown scripts/tools/make_concepts.lua            writes docs/pictures/concepts/trained_*.svg
--
-- The digits depend on the processor, so no test compares these pictures.
local pd = require 'pushdown'

local folder = pd.root .. '/docs/pictures/concepts/'

local function trained(options)
  local last
  for epoch in pd.train.trainer(pd.tables.merged({ clip_norm = 5, seed = 1, progress = false }, options)):epochs() do
    last = epoch
  end
  return last
end

-- A superposition stack after training on marked reversal, w # reversed w.
local function superposition()
  local grammar = pd.grammar.load 'marked_reversal'
  local sampler = grammar:sampler { lengths = { 11, 41 } }
  local model = pd.model.language_model { alphabet = grammar:alphabet(), seed = 2,
    controller = { kind = 'lstm', hidden = 8 }, stack = { kind = 'superposition', size = 3 } }
  local last = trained { model = model, train = sampler:dataset(2000, { seed = 1 }), seed = 2,
    valid = sampler:dataset(300, { seed = 2 }), epochs = 30, optimizer = { kind = 'adam', learning_rate = 0.01 },
    decay_patience = 2, decay_factor = 0.5 }
  print(('superposition: %.3f nats above the bound'):format(last.best_cross_entropy - last.lower_bound))
  return model:trace '0 1 1 0 1 # 1 0 1 1 0'
end

-- Writes the automaton for unmarked reversal into a controller whose first unit is above 0 for the symbol 0 and below 0
-- for 1, and into the layer of the transition weights: push the symbol and stay in q0, or pop it and go to q1.
local function program(model, states, symbols)
  local sure, own = 4, model:parameters()
  local input, old = own['controller.weight_ih_l0']:to_table(), own['controller.weight_hh_l0']:to_table()
  for k in ipairs(input[1]) do input[1][k] = 0 end
  for k in ipairs(old[1]) do old[1][k] = 0 end
  input[1][1], input[1][2] = 2, -2
  local weight, bias = own['stack.action_weight']:to_table(), own['stack.action_bias']:to_table()
  for row in ipairs(weight) do
    for k in ipairs(weight[row]) do weight[row][k] = 0 end
    bias[row] = -2 * sure
  end
  local width = 2 * states * symbols + states  -- columns of a configuration, see docs/conventions.md
  local function allow(state, top, column, sign)
    local row = (state * symbols + top) * width + column + 1
    weight[row][1], bias[row] = sign * sure, -sure
  end
  for read, sign in ipairs { 1, -1 } do
    for top = 0, symbols - 1 do allow(0, top, read, sign) end
    for state = 0, states - 1 do allow(state, read, 2 * states * symbols + 1, sign) end
  end
  model:set_parameters { ['controller.weight_ih_l0'] = input, ['controller.weight_hh_l0'] = old,
    ['stack.action_weight'] = weight, ['stack.action_bias'] = bias }
end

-- A nondeterministic stack that starts as the automaton for unmarked reversal, w reversed w, and is trained with its
-- recognizer on valid and invalid strings. From random parameters a stack finds this automaton only in some restarts of
-- a long training (scripts/recipes/unmarked_reversal.lua).
local function nondeterministic()
  local grammar, states, symbols = pd.grammar.load 'unmarked_reversal', 2, 3
  local model = pd.model.recognizer { alphabet = grammar:alphabet(), seed = 1,
    controller = { kind = 'elman', hidden = 6 },
    stack = { kind = 'nondeterministic', states = states, symbols = symbols, bottom = 'reexposed',
      reading = 'state_symbol' } }
  program(model, states, symbols)
  local function strings(count, seed)
    return pd.task.labelled { grammar = grammar, lengths = { 2, 16 }, positives = count, negatives = count,
      seed = seed }
  end
  local last = trained { model = model, train = strings(500, 1), valid = strings(200, 2), epochs = 3,
    optimizer = { kind = 'adam', learning_rate = 0.002 } }
  print(('nondeterministic: %.1f%% of the strings correctly classified'):format(100 * last.accuracy))
  return model:trace '0 1 1 0'
end

superposition():svg(folder .. 'trained_superposition.svg')
nondeterministic():svg(folder .. 'trained_nondeterministic.svg')
