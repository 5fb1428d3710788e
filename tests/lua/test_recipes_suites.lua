-- The tasks of recipes from FLaRe and the Chomsky hierarchy: their measures on answers that are known, and that no
-- test string is one of training.
local pd = require 'pushdown'
local test = require 'pushdown.test'

-- Calls f with pd.train.evaluate replaced.
local function with_evaluate(evaluate, f)
  local kept = pd.train.evaluate
  pd.train.evaluate = evaluate
  local ok, problem = pcall(f)
  pd.train.evaluate = kept
  if not ok then error(problem, 0) end
end

local function words(text) return pd.tables.matches(text, '%S+') end

-- A measurement of an `answer`, a function of a list of symbols; keeps the strings that were measured.
local function classify(seen)
  return function(answer, set)
    local labels, right = set:labels(), 0
    for i, string in ipairs(set:strings()) do
      seen[string] = true
      if answer(words(string)) == labels[i] then right = right + 1 end
    end
    return { accuracy = right / set:size() }
  end
end

test('languages of FLaRe: a rule that sees only the mark passes one test, the language both', function()
  local task = pd.recipe.task('flare', { language = 'marked_reversal', longest = 60 })
  local seen = {}
  local function marked(symbols)
    local marks = select(2, table.concat(symbols):gsub('#', ''))
    return marks == 1 and symbols[(#symbols + 1) / 2] == '#'
  end
  local function in_language(symbols)
    for i = 1, #symbols do
      if symbols[i] ~= symbols[#symbols + 1 - i] then return false end
    end
    return marked(symbols)
  end
  with_evaluate(classify(seen), function()
    for _, one in ipairs(task.tests) do test.equal(one.value(in_language), 1) end
    assert(task.tests[1].value(marked) > 0.9)
    test.equal(task.tests[2].value(marked), 0)
    test.equal(task.lengths.value(marked, 40), 0.5)
    test.equal(task.lengths.value(in_language, 40), 1)
  end)
  test.equal(task.lengths.values[#task.lengths.values], 4 * task.lengths.trained)
  -- Strings of length 25 and more are too many to occur twice by chance.
  local long = 0
  for seed = 1, 2 do
    local stage = task:stage(0, 40, { seed = seed, strings = 500, near = 200, epochs = 1 })
    test.equal(stage.train:size(), 700)
    test.equal(stage.seed, nil)
    for _, set in ipairs { stage.train, stage.valid } do
      for _, string in ipairs(set:strings()) do
        if #words(string) >= 25 then
          assert(not seen[string], string)
          seen[string], long = true, long + 1
        end
      end
    end
  end
  assert(long > 500)
  test.fails("there is no language 'reversal'; there are", function()
    pd.recipe.task('flare', { language = 'reversal' })
  end)
end)

test('tasks of the Chomsky hierarchy: the mean over lengths beyond training, without the end', function()
  for _, case in ipairs { { 'reverse_string', 'symbol_accuracy', true },
    { 'stack_manipulation', 'prediction_accuracy', false } } do
    local task = pd.recipe.task('chomsky', { task = case[1] })
    local network = task:model { controller = { kind = 'elman', hidden = 3 }, seed = 1 }
    local lengths = {}
    with_evaluate(function(_, pairs, options)
      local length = options.seed - 2 ^ 41
      for _, pair in ipairs(pairs:draw(3, { seed = 1 })) do test.equal(#words(pair.source), length) end
      lengths[#lengths + 1] = length
      return { [case[2]] = length / 1000 }
    end, function()
      -- The lengths 41, 51, ..., 491.
      test.near(task.tests[1].value(network), 0.266, 1e-12)
      test.equal(#lengths, 46)
      test.equal(task.lengths.value(network, 160), 0.16)
    end)
    local bias = network:parameters()['output.bias']:to_table()
    test.equal(bias[#bias] < -1e8, case[3])
  end
end)

test.finish()
