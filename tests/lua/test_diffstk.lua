-- The protocol of the DiffStk experiments: its datasets in their full sizes, its models, and resumed runs.
-- label: long
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'
local json = require 'pushdown.json'

local paper = pd.paper.load 'diffstk'
local protocol = paper.measures
local top = test.folder()

local function defaults(more) return paper:defaults(more) end

local function run(...) return test.run({ 'diffstk', ... }, { folder = top }) end

local counts = { d2 = { 6230, 1000, 3000 }, d3 = { 6230, 1000, 3000 }, d6 = { 15000, 2000, 4000 },
  palindrome = { 6230, 1000, 3000 } }
local lengths = { train = { 1, 55 }, valid = { 21, 70 }, test = { 56, 102 }, curve = { 106, 160 } }

for _, task in ipairs(protocol.tasks) do
  test(task .. ': the sets have the sizes of the paper and share no string', function()
    local options = defaults { task = task }
    local grammar = protocol.grammar(options)
    local sets, seen = protocol.sets(options, grammar), {}
    local odd = task == 'palindrome' and 1 or 0
    local wanted = { train = counts[task][1], valid = counts[task][2], test = counts[task][3], n120 = 1500,
      n160 = 1500, curve = 1500 }
    local names = protocol.set_names(options)
    test.equal(table.concat(names, ' '), 'train valid test n120 n160 curve')
    for _, name in ipairs(names) do
      local set = sets[name]
      test.equal(set:size(), wanted[name])
      test.equal(set:positives(), wanted[name] / 2)
      test.equal(#set:wrong_labels(grammar), 0)
      local range = lengths[name] or { tonumber(name:sub(2)) + odd, tonumber(name:sub(2)) + odd }
      local strings = set:strings()
      for i, length in ipairs(set:lengths()) do
        assert(length >= range[1] and length <= range[2], name)
        assert(not seen[strings[i]], strings[i])
        seen[strings[i]] = true
      end
    end
    -- Among the strings of a dataset, only difficult negatives with a late error can mislead the mean.
    local by_mean = protocol.automaton_mean(options, grammar, sets.test)
    assert(by_mean > 90 and by_mean < 100, by_mean)
  end)
end

test('the mean of an exact automaton', function()
  local options = defaults { task = 'd2' }
  local grammar = protocol.grammar(options)
  local set = pd.task.labelled_dataset { alphabet = grammar:alphabet(),
    strings = { '( )', '( ( ) ]', ') ( ( )', '( (' }, labels = { true, false, false, false } }
  -- With the end symbol: 3/3; 3/5, incorrect; 0/5; 2/3, incorrect.
  test.near(protocol.automaton_mean(options, grammar, set), 50, 1e-9)
  options.end_symbol = false
  -- 2/2; 3/4, incorrect; 0/4; 2/2, incorrect.
  test.near(protocol.automaton_mean(options, grammar, set), 50, 1e-9)
end)

-- What is rarest in the training strings: the mark of a palindrome after one symbol, and the end of a Dyck string after
-- a pair. The usual thresholds are above the first, so a model with these probabilities has no string right by them.
test('low thresholds are below the rarest next symbols of the training strings', function()
  for task, pattern in pairs { palindrome = { '^[ab] ', '^[ab] c ' }, d2 = { '^[%(%[] [%)%]]', '^%p %p$' } } do
    local options = defaults { task = task }
    local set = protocol.sets(options, protocol.grammar(options)).train
    local labels, begun, rare = set:labels(), 0, 0
    for i, text in ipairs(set:strings()) do
      if labels[i] and text:find(pattern[1]) then
        begun = begun + 1
        if text:find(pattern[2]) then rare = rare + 1 end
      end
    end
    local probability = rare / begun
    test.near(probability, task == 'd2' and 0.0085 or 0.00064, 5e-5)
    test.equal(probability < protocol.thresholds.usual[1], task == 'palindrome')
    assert(probability > protocol.thresholds.low[1])
  end
end)

test('every model is made', function()
  test.equal(#paper.model_names, 13)
  for _, task in ipairs { 'd2', 'palindrome' } do
    for _, name in ipairs(paper.model_names) do
      local options = defaults { task = task, model = name }
      local model = protocol.model(options, protocol.grammar(options))
      local made = model:options()
      test.equal(made.decision, 'mean')
      test.equal(made.next_symbol, true)
      test.equal(made.controller.hidden, 8)
      if name:find 'lstm$' then test.equal(made.controller.activation, 'tanh') end
      test.equal(type(model:accepts(task == 'd2' and '( [ ] )' or 'a c a')), 'boolean')
      test.near(model:next_symbols(task == 'd2' and '( )' or 'a c'):sum(2), { 1, 1, 1 }, 1e-5)
    end
  end
end)

test('parameters can start larger', function()
  local made = {}
  for i, scale in ipairs { 1, 5 } do
    local options = defaults { task = 'd2', model = 'diffstk_lstm', initial_scale = scale }
    made[i] = protocol.model(options, protocol.grammar(options)):parameters()
  end
  for name, tensor in pairs(made[1]) do
    test.near((made[2][name] - tensor * 5):abs():max():item(), 0, 1e-6)
    assert(tensor:abs():max():item() > 0, name)
  end
  -- The range does not apply to output and action layers, and to weights that start at 1.
  local options = defaults { task = 'd2', model = 'diffstk_mirnn', initial_range = 0.5 }
  local wide = protocol.model(options, protocol.grammar(options)):parameters()
  options.initial_range = 0.1
  local usual = protocol.model(options, protocol.grammar(options)):parameters()
  for name, tensor in pairs(usual) do
    local factor = (name:find '^controller.weight' or name:find '^controller.bias' or name == 'coupling.weight')
      and 5 or 1
    test.near((wide[name] - tensor * factor):abs():max():item(), 0, 1e-6)
  end
  assert(wide['controller.weight_hh_l0']:abs():max():item() > 0.4)
end)

test('the LSTM as it is printed is another network', function()
  for _, name in ipairs { 'lstm', 'diffstk_lstm', 'diffstk_mlstm' } do
    local scores = {}
    for i, activation in ipairs { 'tanh', 'scaled_tanh' } do
      local options = defaults { task = 'd2', model = name, lstm_activation = activation }
      local model = protocol.model(options, protocol.grammar(options))
      test.equal(model:options().controller.activation, activation)
      scores[i] = model:scores('( [ ] )')[5]:item()
    end
    assert(math.abs(scores[1] - scores[2]) > 1e-6, name)
  end
end)

test('an interrupted run continues and gives the same numbers', function()
  local run_folder = top .. '/one'
  local output, status = run('--smoke', '--task', 'd3', '--model', 'lstm', '--run-folder', run_folder)
  assert(status == 0, output)
  local result = json.decode(files.read(run_folder .. '/result.json'))
  test.equal(result.epochs, 3)
  for _, name in ipairs { 'train', 'valid', 'test', 'n16', 'n20', 'curve' } do
    for _, measure in ipairs(protocol.measures) do
      local value = result[name .. '_' .. measure]
      assert(value >= 0 and value <= 100, name .. measure)
    end
    assert(result.threshold >= 0.005 and result.threshold <= 0.2, result.threshold)
    assert(result[name .. '_every'] <= math.min(result[name .. '_mean'], result[name .. '_last']))
  end
  local lines = files.read(run_folder .. '/lengths.csv')
  assert(lines:match '^set,shortest,longest,strings,right_mean,right_last,right_every\n', lines)
  output = run('--smoke', '--task', 'd3', '--model', 'lstm', '--run-folder', run_folder)
  assert(output:find('Finished before', 1, true), output)
  os.remove(run_folder .. '/result.json')
  output, status = run('--smoke', '--task', 'd3', '--model', 'lstm', '--run-folder', run_folder)
  assert(status == 0 and output:find('Resuming after epoch 3', 1, true), output)
  local again = json.decode(files.read(run_folder .. '/result.json'))
  for key, value in pairs(result) do test.equal(again[key], value) end
  output, status = run('--smoke', '--task', 'd2', '--model', 'lstm', '--run-folder', run_folder)
  assert(status ~= 0 and output:find('task was d3 and is d2 now', 1, true), output)
  output, status = run('--smoke', '--task', 'd3', '--model', 'lstm', '--negatives', 'matched', '--run-folder',
    run_folder)
  assert(status ~= 0 and output:find('negatives was usual and is matched now', 1, true), output)
end)

test('the ranking can choose the epoch, and low thresholds are tried', function()
  local run_folder = top .. '/ranked'
  local output, status = run('--smoke', '--task', 'palindrome', '--model', 'lstm', '--best-by', 'next_symbols',
    '--thresholds', 'low', '--run-folder', run_folder)
  assert(status == 0, output)
  local history, best = pd.runs.history(run_folder), 1
  for i, epoch in ipairs(history) do
    if epoch.next_symbol_ranking > history[best].next_symbol_ranking then best = i end
  end
  local result = json.decode(files.read(run_folder .. '/result.json'))
  test.equal(result.best_epoch, best)
  test.near(result.valid_ranked, 100 * history[best].next_symbol_ranking, 1e-9)
  assert(result.threshold >= 1e-4 and result.threshold <= 0.2, result.threshold)
end)

test('curricula have the requested epochs, and invalid options are reported', function()
  local run_folder = top .. '/rising'
  -- Lengths 2 to 8: passes over lengths up to 2 and 7, then two epochs over all.
  local output, status = run('--smoke', '--model', 'lstm', '--curriculum', 'incremental', '--epochs', '4',
    '--run-folder', run_folder)
  assert(status == 0, output)
  test.equal(json.decode(files.read(run_folder .. '/result.json')).epochs, 4)
  output, status = run('--smoke', '--model', 'lstm', '--curriculum', 'incremental', '--step', '1', '--run-folder',
    top .. '/too-long')
  assert(status ~= 0 and output:find('choose a larger --step', 1, true), output)
  output, status = run('--smoke', '--model', 'lstm', '--noise', 'much', '--run-folder', top .. '/noise')
  assert(status ~= 0 and output:find("--noise needs 'own' or a number, got 'much'", 1, true), output)
  output, status = run('--smoke', '--model', 'transformer')
  assert(status == 2 and output:find("option '--model' must be one of", 1, true), output)
end)

test.finish()
