-- The task of the recipes for languages: the numbers of its tests for a model whose probabilities are known, and its
-- stages.
local pd = require 'pushdown'
local test = require 'pushdown.test'

pd.session { log_level = 'off' }
local task = pd.recipe.task('language', { grammar = 'marked_reversal', smoke = true })
local grammar = pd.grammar.load 'marked_reversal'

test('the differences of a uniform model', function()
  local model = pd.model.language_model { alphabet = task.alphabet, controller = { kind = 'elman', hidden = 2 } }
  local parameters = model:parameters()
  model:set_parameters { ['output.weight'] = parameters['output.weight'] * 0,
    ['output.bias'] = parameters['output.bias'] * 0 }
  -- Each of the three symbols and the end has probability 1/4. 2^((n - 1) / 2) strings w # reversed w have n symbols.
  local function expected(shortest, longest, lengths, first, last)
    local sum, symbols = 0, 0
    local strings = grammar:sampler { lengths = { shortest, longest } }:dataset(20, { seed = 11, batch = 1 })
    for _, n in ipairs(strings:lengths()) do
      if n >= first and n <= last then
        sum = sum + (n + 1) * math.log(4) - math.log(lengths) - (n - 1) / 2 * math.log(2)
        symbols = symbols + n
      end
    end
    return sum / symbols
  end
  test.equal(#task.tests, 2)
  -- Test strings have 30 odd lengths from 41 to 99, and the first point of the curve 10 from 1 to 19.
  test.near(task.tests[1].value(model), expected(40, 100, 30, 40, 80), 1e-5)
  test.near(task.tests[2].value(model), expected(40, 100, 30, 81, 100), 1e-5)
  test.near(task.lengths.value(model, 20), expected(1, 20, 10, 1, 20), 1e-5)
end)

test('the strings of a stage depend on its seed, and are no test strings', function()
  local stage = task:stage(40, 80, { seed = 3, epochs = 2, valid = { 40, 100 } })
  test.equal(stage.epochs, 2)
  test.equal(stage.seed, nil)
  local seen = {}
  for _, text in ipairs(grammar:sampler { lengths = { 40, 100 } }:dataset(1500, { seed = 11, batch = 1 }):strings()) do
    seen[text] = 'test'
  end
  local function add(set, name, shortest, longest)
    for i, text in ipairs(set:strings()) do
      assert(seen[text] == nil or seen[text] == name, text)
      seen[text] = name
      local n = set:lengths()[i]
      assert(n >= shortest and n <= longest, n)
    end
  end
  add(stage.train, 'training', 40, 80)
  add(stage.valid, 'validation', 40, 100)
  add(task:stage(40, 80, { seed = 4 }).train, 'other seed', 40, 80)
  -- All restarts have the same strings.
  test.equal(task:stage(40, 80, { seed = 3 }).train:strings()[1], stage.train:strings()[1])
end)

test.finish()
