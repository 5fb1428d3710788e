-- The task of the recipes of Mali et al. (2019): a programmed automaton solves it, a network without one does not, and
-- test strings have seeds of their own and are longer than the training strings.
local pd = require 'pushdown'
local files = require 'pushdown.files'
local recipe = require 'pushdown.recipe'
local test = require 'pushdown.test'

pd.session { log_level = 'off' }

for _, grammar in ipairs { 'an_bn', 'an_bn_c_bm_am', 'anm_bn_cm', 'palindrome', 'parenthesis' } do
  test(grammar .. ': the whole automaton has no error, and random weights have', function()
    local task = recipe.task('acceptance', { grammar = grammar })
    local programmed, random = task:network({ states = 6, hint = 'whole' }, 1), task:network({ states = 4 }, 1)
    for _, one in ipairs(task.tests) do
      test.equal(one.at_most, 0)
      test.equal(one.value(programmed), 0)
      assert(one.value(random) > 10, one.value(random))
    end
    test.equal(task.lengths.value(programmed, 240), 0)
    for _, seed in ipairs { 1, 2 } do
      local train, valid = task:train(200, seed), task:valid(200, seed)
      test.equal(train:size(), 200)
      test.equal(valid:positives(), 100)
      test.equal(#train:wrong_labels(pd.grammar.load(grammar)), 0)
      for _, length in ipairs(train:lengths()) do assert(length <= 21, length) end
      for _, length in ipairs(valid:lengths()) do assert(length <= 42, length) end
    end
  end)
end

test('the automaton of the network is shown', function()
  local task = recipe.task('acceptance', { grammar = 'palindrome' })
  local top = test.folder()
  local picture
  local run = { path = function(_, name) return top .. '/' .. name end,
    picture = function(_, name, svg) picture = { name, svg } end }
  task.show(task:network({ states = 6, hint = 'whole' }, 1), run)
  assert(files.read(top .. '/automaton.txt'):find('the same answer 400 times', 1, true))
  test.equal(picture[1], 'automaton')
  assert(picture[2]:find('<svg', 1, true))
end)

test.finish()
