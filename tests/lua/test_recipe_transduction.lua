-- The task of transductions: its pairs, its tests, what a search compares, and the picture of the memory.
local recipe = require 'pushdown.recipe'
local test = require 'pushdown.test'

local function lengths_of(pairs)
  local shortest, longest = math.huge, 0
  for _, pair in ipairs(pairs:draw(300, { seed = 1 })) do
    local length = select(2, pair.source:gsub('%S+', ''))
    shortest, longest = math.min(shortest, length), math.max(longest, length)
  end
  return shortest, longest
end

for _, kind in ipairs { 'copy', 'reversal', 'bigram_flipping' } do
  test(kind .. ': training, validation and test have other lengths', function()
    local task = recipe.task('transduction', { kind = kind })
    local plain = task:stage(8, 64, { epochs = 3, accuracy = 0.5 })
    local last = task:stage(8, 64, { longer = true, learning_rate = 0.1 })
    test.equal(plain.epochs, 3)
    test.equal(plain.accuracy, 0.5)
    test.equal(last.learning_rate, 0.1)
    for _, pairs in ipairs { plain.train, plain.test, last.train } do
      local shortest, longest = lengths_of(pairs)
      assert(shortest >= 8 and longest <= 64 and longest > 56, longest)
    end
    assert(lengths_of(last.test) > 128)
    local tested = task:pairs(65, 128)
    local shortest, longest = lengths_of(tested)
    assert(shortest >= 65 and longest <= 128)
    test.equal(#tested:source_alphabet():symbols(), 128)
  end)
end

test('the tests are coarse and fine accuracy', function()
  local task = recipe.task('transduction', { kind = 'reversal', smoke = true })
  local model, zero, fine = task:model({ kind = 'none' }, 1), {}, 0
  for name, tensor in pairs(model:parameters()) do zero[name] = tensor * 0 end
  model:set_parameters(zero)
  -- Networks that always write one symbol never write the end, and one of them has the first symbol right.
  for symbol = 1, 4 do
    local bias = { 0, 0, 0, 0, 0 }
    bias[symbol] = 1
    model:set_parameters { ['output.bias'] = bias }
    test.equal(task.tests[1].value(model), 0)
    fine = fine + task.tests[2].value(model)
  end
  assert(fine >= 1 / 5 and fine < 1, fine)
  for _, one in ipairs(task.tests) do test.equal(one.name, 'lengths 65 to 128') end
end)

test('an unknown kind is an error that names the known ones', function()
  test.fails("kind must be copy, reversal or bigram_flipping, got 'copi'",
    function() recipe.task('transduction', { kind = 'copi' }) end)
end)

test('a search ends when all validation pairs are right', function()
  local metric = recipe.task('transduction', { kind = 'copy' }).metric
  test.equal(metric { coarse = 1, best_cross_entropy = 0.2 }, 0)
  test.equal(metric { coarse = 0.99, best_cross_entropy = 0.2 }, 0.2)
end)

test.finish()
