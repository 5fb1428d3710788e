-- Suites: the loss of FLaRe compared with the built-in ones, the results and tables of the search, and published
-- numbers.
local pd = require 'pushdown'
local csv = require 'pushdown.csv'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local test = require 'pushdown.test'

local flare = pd.root .. '/scripts/experiments/flare/'
local folder = test.folder()

local function run(script, ...)
  return test.run({ script, ... }, { folder = folder, environment = 'OMP_NUM_THREADS=1' })
end

local function words(text) return pd.tables.matches(text, '%S+') end

test('the loss of recognition and next symbols is that of final and joint', function()
  pd.paper.load 'flare'
  local function loss(objective, strings, labels)
    local data = pd.task.labelled_dataset { alphabet = { 'a', 'b' }, strings = strings, labels = labels }
    local model = pd.model.recognizer { alphabet = { 'a', 'b' }, controller = { kind = 'lstm', hidden = 5 },
      next_symbol = true, seed = 3, dtype = 'float64' }
    return pd.train.trainer { model = model, train = data, batch = 10, objective = objective, seed = 1,
      progress = false }:step()
  end
  local function ours(weight) return { kind = 'recognition_and_language_model', weight = weight } end
  for _, set in ipairs { { { 'a b b a' }, { true } }, { { 'a b b a' }, { false } }, { { '' }, { true } },
    { { 'a b', 'b b', 'a a' }, { true, false, true } } } do
    local recognition, length = loss('final', set[1], set[2]), #words(set[1][1])
    test.near(loss(ours(0), set[1], set[2]).loss, recognition.loss, 1e-12)
    test.near(loss(ours(0), set[1], set[2]).gradient_norm, recognition.gradient_norm, 1e-12)
    local next_symbols = loss({ kind = 'joint', symbol_weight = 1, validity_weight = 0, negatives = false }, set[1],
      set[2])
    test.near(loss(ours(0.3), set[1], set[2]).loss, recognition.loss + 0.3 * next_symbols.loss / (length + 1), 1e-12)
  end
end)

test('the loss of sets of next symbols, with and without an end symbol that is read', function()
  pd.paper.load 'flare'
  local sets = { { { 'a', 'b' }, { 'b' }, { 'a', '' } }, {} }
  local data = pd.task.labelled_dataset { alphabet = { 'a', 'b' }, strings = { 'a b', 'b b' }, labels = { true, false },
    next_symbols = sets }
  local function softplus(x) return math.log(1 + math.exp(x)) end
  local bias = { 0.7, -1.2, 0.3 }  -- of a, b and the end, the scores of an output layer with weights of zero
  local function cross_entropy(there)
    local sum = 0
    for i, score in ipairs(bias) do sum = sum + softplus(score) - (there[i] and score or 0) end
    return sum / 3
  end
  for _, end_symbol in ipairs { true, false } do
    local norms, by_tensors = {}, pd.train.define_objective { name = 'sets_by_tensors', needs_next_sets = true,
      losses = function(_, batch)
        local member = batch.next_sets:eq(2):to 'float64'
        local each = batch.next_scores:softplus() - batch.next_scores * member
        return (each * batch.next_sets:ne(0):to 'float64'):sum(3):sum(2) / (3 * batch.length)
      end }
    for _, objective in ipairs { { kind = 'recognition_and_next_symbols', weight = 1 }, by_tensors } do
      for _, learning in ipairs { 'bptt', 'rtrl' } do
        local model = pd.model.recognizer { alphabet = { 'a', 'b' }, controller = { kind = 'lstm', hidden = 3 },
          next_symbol = true, end_symbol = end_symbol, end_outcome = not end_symbol, seed = 3, dtype = 'float64' }
        model:set_parameters { ['next_symbol.weight'] = pd.tensor.zeros { 3, 3 },
          ['next_symbol.bias'] = bias, ['output.weight'] = pd.tensor.zeros { 1, 3 },
          ['output.bias'] = pd.tensor.zeros { 1 } }
        local step = pd.train.trainer { model = model, train = data, batch = 10, objective = objective, seed = 1,
          learning = learning, progress = false }:step()
        local of_sets = cross_entropy { false, true } + cross_entropy { true, false, true }
        of_sets = of_sets / (end_symbol and 3 or 2)
        local label = type(objective) == 'table' and math.log(2) or 0
        test.near(step.loss, label + of_sets / 2, 1e-12)
        norms[#norms + 1] = step.gradient_norm
      end
    end
    test.near(norms[1], norms[2], 1e-12)
    test.near(norms[3], norms[4], 1e-12)
    assert(norms[1] ~= norms[3])
  end
  local plain = pd.task.labelled_dataset { alphabet = { 'a', 'b' }, strings = { 'a b' }, labels = { true } }
  local model = pd.model.recognizer { alphabet = { 'a', 'b' }, next_symbol = true }
  test.fails('needs training strings with next symbols', function()
    pd.train.trainer { model = model, train = plain, objective = 'recognition_and_next_symbols' }
  end)
  test.fails('end_outcome needs next_symbol = true and end_symbol = false', function()
    pd.model.recognizer { alphabet = { 'a', 'b' }, next_symbol = true, end_outcome = true }
  end)
end)

test('sets of next symbols: from a grammar, checked, saved with the strings, and in parts of a set', function()
  for _, name in ipairs { 'marked_reversal', 'marked_copy' } do
    local set = pd.languages.load(name):sample(12, { 0, 9 }, 3, true)
    local path = folder .. '/sets.txt'
    set:save(path)
    local function shown(of)
      local all = {}
      for i, sets in ipairs(of:next_symbols()) do
        all[i] = {}
        for t, symbols in ipairs(sets) do all[i][t] = table.concat(symbols, ' ') end
        all[i] = table.concat(all[i], ',')
      end
      return table.concat(all, ';')
    end
    test.equal(shown(pd.task.load_labelled(path)), shown(set))
    assert(shown(set):find('0 1 #,0 1 #', 1, true), shown(set))
    test.equal(#set:of_length(5, 9):next_symbols(), set:of_length(5, 9):size())
    for i, string in ipairs(set:strings()) do
      test.equal(#set:next_symbols()[i], set:labels()[i] and #words(string) + 1 or 0)
    end
  end
  local function made(sets)
    return pd.task.labelled_dataset { alphabet = { 'a' }, strings = { 'a', 'a a' }, labels = { true, false },
      next_symbols = sets }
  end
  made { { { 'a' }, { '' } }, {} }
  test.fails('for each of the 2 strings, got 1', function() made { { { 'a' }, { '' } } } end)
  test.fails("'a' .string 1. needs 2 sets of next symbols", function() made { { { 'a' } }, {} } end)
  test.fails("'a a' .string 2. needs 0 sets", function() made { { { 'a' }, { '' } }, { { 'a' } } } end)
  test.fails("after 1 symbols of 'a' .string 1. must contain the end", function()
    made { { { 'a' }, { 'a' } }, {} }
  end)
  test.fails("'b'", function() made { { { 'b' }, { '' } }, {} } end)
  local path = folder .. '/broken.txt'
  files.write(path, '# pushdown labelled data set 1\n# alphabet a\n1 1,x\ta\n')
  test.fails('broken.txt:3: expected a set of next symbols', function() pd.task.load_labelled(path) end)
end)

test('published numbers', function()
  local path = folder .. '/published.csv'
  local function fails(pattern, text)
    files.write(path, text)
    test.fails(pattern, function() pd.paper.published(path, { 'one', 'two' }) end)
  end
  test.equal(#pd.paper.published('', {}).models, 0)
  files.write(path, 'task,model,score,source\none,LSTM,61.5,A\ntwo,LSTM,7,A\none,Tape-RNN,100,"B, p. 3"\n')
  local found = pd.paper.published(path, { 'one', 'two' })
  test.equal(table.concat(found.models, ' '), 'LSTM Tape-RNN')
  test.equal(found.scores.LSTM.two, 7)
  test.equal(table.concat(found.sources, '|'), 'A|B, p. 3')
  fails('has no column source', 'task,model,score\n')
  fails("row 1: unknown task 'three'", 'task,model,score,source\nthree,LSTM,1,A\n')
  fails("score must be a number from 0 to 100, got '101'", 'task,model,score,source\none,LSTM,101,A\n')
  fails('expected a model and a source', 'task,model,score,source\none,LSTM,1,\n')
  fails('a second score of LSTM on one', 'task,model,score,source\none,LSTM,1,A\none,LSTM,2,A\n')
  -- Only the tasks of the result are shown.
  files.write(path, 'task,model,score,source\none,LSTM,61.5,A\ntwo,Tape-RNN,7,B\n')
  local shown = pd.paper.published(path, { 'one', 'two' }, { 'two' })
  test.equal(table.concat(shown.models, ' ') .. '|' .. table.concat(shown.sources, ' '), 'Tape-RNN|B')
  test.equal(#pd.paper.published('none', {}).models, 0)
  local tasks = {}
  for i, task in ipairs(pd.task.chomsky_tasks()) do tasks[i] = task.name end
  assert(#pd.paper.published(pd.root .. '/scripts/experiments/chomsky/published.csv', tasks).sources > 0)
  -- Folders of the benchmark are named differently.
  local protocol = pd.paper.load 'flare'.measures
  local of_folders = pd.paper.published(flare .. 'published.csv', protocol.tasks,
    { 'marked-copy', 'modular-arithmetic-simple' }, protocol.name_of)
  test.equal(of_folders.scores.RNN['marked-copy'], 76)
  test.equal(of_folders.scores.LSTM['modular-arithmetic-simple'], 98)
  test.equal(#of_folders.sources, 2)
  for _, tasks_of in pairs(pd.paper.published(flare .. 'published.csv', protocol.tasks).scores) do
    assert(tasks_of.dyck_2_3 and tasks_of.stack_manipulation)
  end
end)

test('validation chooses, and a finished search is not made again', function()
  local path, grid = folder .. '/published.csv', folder .. '/grid'
  files.write(path, 'task,model,score,source\nreverse_string,Theirs,12.3,a paper\n')
  local place = folder .. '/scores'
  local arguments = { '--smoke', '--tasks', 'reverse_string', '--models', 'lstm', '--samples', '3', '--restarts', '2',
    '--workers', '1', '--folder', grid, '--published', path }
  local output, status = run('chomsky', 'scores', '--run-folder', place, unpack(arguments))
  assert(status == 0, output)
  assert(output:find('6 runs', 1, true), output)
  local settings, best = {}, nil
  for _, file in ipairs(files.find(grid, 'result%.json$')) do
    local result = json.decode(files.read(grid .. '/' .. file))
    local point = file:match '([^/]+)/restart'
    settings[point] = settings[point] or { valid = 0, perplexity = 0, score = 0, best = 0 }
    local setting = settings[point]
    setting.valid = setting.valid + result.valid_accuracy / 2
    setting.perplexity = setting.perplexity + result.valid_perplexity / 2
    setting.score, setting.best = setting.score + result.score / 2, math.max(setting.best, result.score)
    -- The score is the mean over the lengths of lengths.csv that are not in training.
    local sum, count = 0, 0
    for _, row in ipairs(select(2, csv.read((grid .. '/' .. file):gsub('result.json', 'lengths.csv')))) do
      if tonumber(row.length) > 4 then sum, count = sum + tonumber(row.accuracy), count + 1 end
    end
    test.equal(count, 2)
    test.near(sum / count, result.score, 1e-9)
  end
  local highest = 0
  for _, setting in pairs(settings) do
    highest = math.max(highest, setting.best)
    local equal = best and setting.valid == best.valid
    if not best or setting.valid > best.valid or equal and setting.perplexity < best.perplexity then best = setting end
  end
  local row = select(2, csv.read(place .. '/scores.csv'))[1]
  test.near(tonumber(row.LSTM), 100 * best.score, 1e-9)
  test.equal(row['Theirs (published)'], '12.3')
  test.near(tonumber(select(2, csv.read(place .. '/best.csv'))[1].LSTM), 100 * highest, 1e-9)
  assert(files.read(place .. '/scores.txt'):find('Published numbers: a paper.', 1, true))
  for _, name in ipairs { 'lengths-reverse_string.svg', 'lengths.csv', 'settings.csv', 'experiment.json',
    'index.html' } do
    assert(files.exists(place .. '/' .. name), name)
  end
  output, status = run('chomsky', 'scores', '--run-folder', folder .. '/again', unpack(arguments))
  assert(status == 0 and output:find('6 were finished before', 1, true), output)
  test.equal(files.read(folder .. '/again/scores.csv'), files.read(place .. '/scores.csv'))
end)

test('the end of a target of known length is not predicted', function()
  for _, model in ipairs { 'stack_rnn', 'ns_rnn', 'transformer' } do
    local place = folder .. '/ends-' .. model
    -- With this rate the last update is not the best one; it is scored nevertheless. Units with ReLU would all be 0.
    local output, status = run('chomsky', '--smoke', '--model', model, '--learning-rate', '1',
      '--activation', 'tanh', '--no-rectified', '--vector', 'sigmoid', '--run-folder', place)
    assert(status == 0, output)
    -- The updates are those of the paper.
    local config = json.decode(files.read(place .. '/config.json'))
    test.equal(tostring(config.data.train.one_length) .. ' ' .. config.trainer.average, 'true batches')
    local best, trained = pd.model.load(place), pd.model.load(place, { which = 'last' })
    local bias = trained:parameters()['output.bias']:to_table()
    assert(table.concat(bias, ' ') ~= table.concat(best:parameters()['output.bias']:to_table(), ' '))
    test.equal(#bias, 3)
    local function accuracy(last)
      trained:set_parameters { ['output.bias'] = { bias[1], bias[2], last } }
      return pd.train.evaluate(trained, pd.task.chomsky('reverse_string', { lengths = { 6, 6 } }), { pairs = 2,
        seed = 6, batch = 2 }).symbol_accuracy
    end
    test.equal(accuracy(1e9), 0)
    test.near(tonumber(select(2, csv.read(place .. '/lengths.csv'))[6].accuracy), accuracy(-1e9), 1e-12)
  end
end)

test('the networks of Delétang et al. train as published', function()
  for i, case in ipairs {
    { 'tape_rnn', 'stack_manipulation', '--cells', '6', '--test-cells', '9' },
    { 'tape_rnn', 'duplicate_string', '--tapes', '4' },
    { 'stack_rnn', 'reverse_string', '--stacks', '2' },
    { 'stack_lstm', 'binary_addition' },
    { 'rnn', 'odds_first', '--activation', 'tanh', '--no-rectified' },
  } do
    local place = ('%s/published-%d'):format(folder, i)
    local output, status = run('chomsky', '--smoke', '--run-folder', place, '--model', case[1], '--task',
      case[2], unpack(case, 3))
    assert(status == 0, output)
    local trained = pd.model.load(place, { which = 'last' })
    local own, trainer = trained:options(), json.decode(files.read(place .. '/config.json')).trainer
    test.equal(tostring(own.rectified), tostring(i < 5))
    test.equal(tostring(trainer.pad_targets), tostring(i == 1 or i == 4))
    if i ~= 4 then test.equal(own.controller.activation, i < 5 and 'relu' or 'tanh') end
    if i == 2 then test.equal(trained:parameters()['stack.action_bias']:size()[1], 20) end
    if i == 3 then
      test.equal(('%d %s %s'):format(own.stack.stacks, own.stack.joint_actions, own.stack.vector), '2 true linear')
    end
    if i == 1 then
      -- The score has longer tapes.
      test.equal(own.stack.cells, 6)
      own.stack.cells = 9
      local pairs_of = pd.task.chomsky(case[2], { lengths = { 6, 6 } })
      local longer = pd.model.transducer(pd.tables.merged(own, { pairs = pairs_of }))
      longer:set_parameters(trained:parameters())
      local found = pd.train.evaluate(longer, pairs_of, { pairs = 2, seed = 6, batch = 2 })
      test.near(tonumber(select(2, csv.read(place .. '/lengths.csv'))[6].accuracy), found.prediction_accuracy, 1e-12)
    end
  end
  local output, status = run('chomsky', '--smoke', '--lengths', '0,4')
  assert(status == 1 and output:find('1 <= lowest', 1, true), output)
  output, status = run('chomsky', '--smoke', '--model', 'tape_rnn', '--cells', '0')
  assert(status ~= 0 and output:find("'--cells' must be at least 1, got 0", 1, true), output)
end)

test('recognizers of FLaRe have the layers and about as many parameters as are wanted', function()
  for _, model in ipairs { 'rnn', 'rns' } do
    local place = folder .. '/budget-' .. model
    local output, status = run('flare', '--smoke', '--model', model, '--parameter-budget', '3000',
      '--recurrent-layers', '3', '--run-folder', place)
    assert(status == 0, output)
    local trained = pd.model.load(place)
    local rows = trained:parameters()['controller.weight_hh_l2']:size()
    local hidden = rows[2]
    test.equal(trained:parameters()['embedding.weight']:size()[2], hidden)
    assert(trained:parameters()['initial.2'], 'the initial states are trained')
    -- One unit more or less is farther away from the budget.
    local miss = math.abs(trained:parameter_count() - 3000)
    for _, other in ipairs { hidden - 1, hidden + 1 } do
      output, status = run('flare', '--smoke', '--model', model, '--hidden', tostring(other),
        '--recurrent-layers', '3', '--run-folder', place .. other)
      assert(status == 0, output)
      assert(math.abs(pd.model.load(place .. other):parameter_count() - 3000) >= miss)
    end
  end
end)

test('transformers with several encodings of positions are shown with their best', function()
  local output, status = run('chomsky', 'scores', '--smoke', '--tasks', 'reverse_string', '--models',
    'rnn,transformer,transformer_none,transformer_rotary,transformer_alibi,transformer_relative,transformer_randomized',
    '--learning-rates', '1e-3,1e-3', '--batches', '2,2', '--restarts', '2', '--workers', '1', '--folder',
    folder .. '/encodings', '--run-folder', folder .. '/encoded')
  assert(status == 0, output)
  local best = select(2, csv.read(folder .. '/encoded/best.csv'))[1]
  local greatest = 0
  for _, label in ipairs { 'Transformer', 'Transformer, no positions', 'Transformer, RoPE', 'Transformer, ALiBi',
    'Transformer, relative' } do
    greatest = math.max(greatest, tonumber(best[label]))
  end
  assert(tonumber(best['Transformer, randomized']), 'its numbers are shown, and not among the others')
  test.equal(tonumber(best['Transformer (best encoding)']), greatest)
  local chosen, score = nil, nil
  for _, row in ipairs(select(2, csv.read(folder .. '/encoded/settings.csv'))) do
    local accuracy = tonumber(row['valid accuracy'])
    if row.model:find('^Transformer') and row.model ~= 'Transformer, randomized' and (not chosen or accuracy > chosen)
    then
      chosen, score = accuracy, tonumber(row.score)
    end
  end
  local tied = false  -- equal accuracies are decided by the perplexity
  for _, row in ipairs(select(2, csv.read(folder .. '/encoded/settings.csv'))) do
    tied = tied or tonumber(row['valid accuracy']) == chosen and tonumber(row.score) ~= score
  end
  if not tied then
    test.equal(tonumber(select(2, csv.read(folder .. '/encoded/scores.csv'))[1]['Transformer (best encoding)']), score)
  end
end)

test('three numbers are a list of which all are tried, and the least loss chooses', function()
  local grid = folder .. '/list'
  local output, status = run('chomsky', 'scores', '--smoke', '--tasks', 'cycle_navigation', '--models', 'transformer',
    '--learning-rates', '1e-3,2e-3,3e-3', '--batches', '2,2', '--workers', '1', '--folder', grid, '--run-folder',
    folder .. '/listed')
  assert(status == 0 and output:find('3 runs', 1, true), output)
  test.equal(#files.find(grid, 'result%.json$'), 3)
  assert(files.read(folder .. '/listed/scores.csv'):find('61.9', 1, true))
  output, status = run('chomsky', 'scores', '--smoke', '--learning-rates', '1e-3', '--folder', grid)
  assert(status == 1 and output:find('--learning-rates must be two numbers', 1, true), output)
  output, status = run('flare', 'scores', '--smoke', '--tasks', 'parity', '--models', 'lstm', '--samples', '3',
    '--workers', '1', '--folder', folder .. '/flare', '--run-folder', folder .. '/losses')
  assert(status == 0, output)
  local least, chosen = math.huge, nil
  for _, row in ipairs(select(2, csv.read(folder .. '/losses/settings.csv'))) do
    local loss = tonumber(row['valid loss'])
    if row[''] == 'chosen' then chosen = loss end
    least = math.min(least, loss)
  end
  test.equal(chosen, least)
  -- Within a run, too.
  for _, path in ipairs(files.find(folder .. '/flare', 'result%.json$')) do
    local place, of_epoch = ('%s/flare/%s'):format(folder, path:gsub('result%.json$', '')), {}
    local result = json.decode(files.read(place .. 'result.json'))
    for line in files.read(place .. 'metrics.jsonl'):gmatch '[^\n]+' do
      local epoch = json.decode(line)
      if epoch.event == 'epoch' then of_epoch[epoch.epoch] = epoch.label_cross_entropy end
    end
    test.equal(#of_epoch, 2)
    test.near(result.valid_loss, math.min(unpack(of_epoch)), 1e-6)
    test.equal(of_epoch[result.best_epoch], math.min(unpack(of_epoch)))
  end
  local shown = select(2, csv.read(folder .. '/losses/scores.csv'))[1]
  test.equal(shown['LSTM (published)'] .. ' ' .. shown['RNN (published)'], '90 71')
end)

test('a training continues with more updates or epochs', function()
  for _, case in ipairs { { 'chomsky', '--steps', 'steps', 6 }, { 'flare', '--epochs', 'epochs', 4 } } do
    local script, place = case[1], ('%s/%s-on'):format(folder, case[1])
    local extra = case[1] == 'flare' and { '--loss', 'recognition+lm', '--patience', '0' } or {}
    local output, status = run(script, '--smoke', '--run-folder', place, unpack(extra))
    assert(status == 0, output)
    extra[#extra + 1], extra[#extra + 2] = case[2], tostring(case[4])
    output, status = run(script, '--smoke', '--run-folder', place, unpack(extra))
    assert(status == 0 and output:find('Resuming after', 1, true), output)
    local whole = place .. '-whole'
    output, status = run(script, '--smoke', '--run-folder', whole, unpack(extra))
    assert(status == 0, output)
    local one = json.decode(files.read(place .. '/result.json'))
    local other = json.decode(files.read(whole .. '/result.json'))
    test.equal(one[case[3]], case[4])
    for key, value in pairs(other) do
      if key ~= 'seconds' then test.equal(one[key], value) end
    end
  end
end)

test("languages come from the benchmark's folders", function()
  for _, part in ipairs { '', '/datasets/validation-short', '/datasets/validation-long', '/datasets/test' } do
    local place = folder .. '/bench/odds-first' .. part
    files.make_folder(place)
    files.write(place .. '/main.tok', ('0 1 # 1 0\n1 # 0\n'):rep(4))
    files.write(place .. '/labels.txt', ('1\n0\n'):rep(4))
  end
  local output, status = run('flare', '--smoke', '--data', folder .. '/bench', '--task', 'odds-first',
    '--run-folder', folder .. '/own')
  assert(status == 0, output)
  assert(json.decode(files.read(folder .. '/own/result.json')).score >= 0)
  output, status = run('flare', '--smoke', '--task', 'odds-first')
  assert(status == 1 and output:find('or --data with', 1, true), output)
  output, status = run('flare', '--smoke', '--data', folder .. '/bench', '--task', 'odds-first', '--near',
    '8')
  assert(status == 1 and output:find('--near, --valid-near and --first-epochs need strings', 1, true), output)
  output, status = run('flare', '--smoke', '--task', 'parity', '--near', '8')
  assert(status == 1 and output:find('parity has no hard negatives', 1, true), output)
  output, status = run('chomsky', '--smoke', '--longest', '4')
  assert(status == 1 and output:find('--longest must be above the training lengths, 4, got 4', 1, true), output)
end)

test.finish()
