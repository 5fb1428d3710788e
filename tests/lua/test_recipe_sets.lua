-- The task of next symbols: its strings, its tests, and the actions of the stack that it shows.
local pd = require 'pushdown'
local recipe = require 'pushdown.recipe'
local test = require 'pushdown.test'

local actions = pd.paper.load 'diffstk'.measures.actions

-- Larger parameters, so that the actions differ.
local function loud(model)
  local larger = {}
  for name, tensor in pairs(model:parameters()) do larger[name] = tensor * 4 end
  model:set_parameters(larger)
  return model
end

for language, odd in pairs { d2 = 0, d3 = 0, d6 = 0, palindrome = 1 } do
  test(language .. ': training, validation and test strings are of the language, and no test string is another one',
    function()
      local task = recipe.task('sets', { language = language, smoke = true })
      local seen = {}
      for _, valid in ipairs { { odd, 20 }, { 90, 130 } } do
        local stage = task:stage(20, { seed = 1, epochs = 1, valid = valid })
        for _, set in ipairs { stage.train, stage.valid } do
          for _, string in ipairs(set:strings()) do
            seen[string] = true
            assert(task.grammar:log_probability(string) > -math.huge, string)
          end
        end
      end
      for i, length in ipairs { 102 - odd, 160 + odd } do
        test.equal(task.tests[i].name, ('%d symbols'):format(length))
        local strings = task.strings(length, length, 500, 8000000 + length):strings()
        for _, string in ipairs(strings) do
          assert(not seen[string], string)
          test.equal(select(2, string:gsub('%S+', '')), length)
        end
      end
    end)
end

-- A network that always gives a, b and the mark one score and the end a lower one is right as long as all three may
-- follow, so never on a palindrome with a mark.
test('the share of strings is that of next_symbol_ranking', function()
  local task = recipe.task('sets', { language = 'palindrome', smoke = true })
  local model, zero = task:network('lstm', { seed = 1 }), {}
  for name, tensor in pairs(model:parameters()) do zero[name] = tensor * 0 end
  model:set_parameters(zero)
  model:set_parameters { ['output.bias'] = { 0.1, 0.1, 0.1, 0 } }
  test.equal(task.tests[1].value(model), 0)
  local data = pd.task.dataset { alphabet = task.alphabet, strings = { 'c', 'a c a' } }
  test.equal(pd.train.evaluate(model, data, { grammar = task.grammar }).next_symbol_ranking, 0)
  local all = pd.grammar.parse "S -> 'a' S | 'b' S | 'c' S |"
  test.equal(pd.train.evaluate(model, data, { grammar = all }).next_symbol_ranking, 1)
end)

test('the actions are those of the network: they give its scores', function()
  local task = recipe.task('sets', { language = 'palindrome', smoke = true })
  for _, given in ipairs { { 'diffstk_rnn', 1 }, { 'diffstk_rnn', 3 }, { 'stack_rnn_softmax' } } do
    local model = loud(task:network(given[1], { seed = 3, stacks = given[2] }))
    local text = 'a b b a c a b b a'
    local steps, scores = actions(model, text)
    test.near(pd.tensor(scores), model:logits(text), 1e-4)
    test.equal(#steps, 9)
    for _, step in ipairs(steps) do
      test.equal(#step, given[2] or 1)
      for _, weights in ipairs(step) do
        local sum = 0
        for _, weight in ipairs(weights) do sum = sum + weight end
        test.near(sum, 1, 1e-9)
      end
    end
  end
end)

test('an unknown language is an error that names the known ones', function()
  test.fails("no language 'd4': expected one of d2, d3, d6, palindrome",
    function() recipe.task('sets', { language = 'd4' }) end)
end)

test.finish()
