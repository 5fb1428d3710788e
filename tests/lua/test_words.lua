-- Running texts and corpora from Lua, training on them, and the scripts of the word-level language model.
-- label: long
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'
local json = require 'pushdown.json'

local top = test.folder()

local sentences = { 'the cat saw the dog\n', 'a dog ran\n', 'the end of the cat\n' }
local function text(lines)
  local all = {}
  for i = 1, lines do all[i] = sentences[i * i % 7 % 3 + 1] end
  return table.concat(all)
end

local folder = top .. '/ptb'
files.make_folder(folder)
files.write(folder .. '/ptb.train.txt', text(40))
files.write(folder .. '/ptb.valid.txt', text(9) .. 'a cow ran\n')
files.write(folder .. '/ptb.test.txt', text(7))

local function script(...) return test.run({ 'diffstk_words', ... }, { folder = top }) end

local corpus = pd.task.corpus(folder)

local function model(options)
  return pd.model.language_model(pd.tables.merged({ alphabet = corpus.train:alphabet(), controller = { kind = 'lstm',
    hidden = 5 }, embedding = 4, stack = { kind = 'superposition', size = 2 }, end_symbol = false, seed = 3 }, options))
end

local function trainer(options)
  return pd.train.trainer(pd.tables.merged({ model = model(), train = corpus.train, valid = corpus.valid, batch = 2,
    chunk = 5, epochs = 3, seed = 1, progress = false, optimizer = { kind = 'adam', learning_rate = 0.02 } }, options))
end

test('a corpus has three texts of one vocabulary', function()
  local symbols = corpus.train:alphabet():symbols()
  test.equal(symbols[1], '<unk>')
  test.equal(symbols[2], '<eos>')
  test.equal(symbols[3], 'the')
  test.equal(#corpus.valid:alphabet():symbols(), #symbols)
  test.equal(corpus.train:count('<eos>'), 40)
  test.equal(corpus.train:count('<unk>'), 0)
  test.equal(corpus.valid:count('<unk>'), 1)
  local first = text(1):gsub('\n', '')
  test.equal(corpus.train:words(1, select(2, first:gsub('%S+', '')) + 1), first .. ' <eos>')
  test.equal(corpus.test:words(3, 2), '')
  assert(tostring(corpus.test):match('^RunningText: %d+ words, vocabulary of 10$'), tostring(corpus.test))
  local small = pd.task.corpus(folder, { vocabulary = 4 })
  test.equal(table.concat(small.train:alphabet():symbols(), ' '), '<unk> <eos> the dog')
  test.equal(small.train:size(), corpus.train:size())
  local split = pd.task.corpus(folder .. '/ptb.train.txt', { shares = { 3, 1, 1 } })
  test.equal(split.train:count('<eos>'), 24)
  test.equal(split.valid:count('<eos>') + split.test:count('<eos>'), 16)
  corpus.valid:save(top .. '/valid.txt')
  test.equal(pd.task.load_text(top .. '/valid.txt'):words(), corpus.valid:words())
end)

test('invalid corpora are reported', function()
  test.fails('no%-such', function() pd.task.corpus(top .. '/no-such') end)
  local empty = top .. '/empty'
  files.make_folder(empty)
  files.write(empty .. '/train.txt', 'a\n')
  test.fails('missing: .*valid%.txt', function() pd.task.corpus(empty) end)
  files.write(top .. '/bad.txt', 'a b\n\nc\n')
  test.fails('bad%.txt:2: the line is empty', function() pd.task.corpus(top .. '/bad.txt') end)
  test.equal(pd.task.corpus(top .. '/bad.txt', { empty_lines = 'count', shares = { 1, 1, 1 } }).valid:words(), '<eos>')
  files.write(top .. '/bad.txt', 'a b\nb \233 c\n')
  test.fails('bad%.txt:2: byte 3 %(0xe9%) is not UTF%-8', function() pd.task.corpus(top .. '/bad.txt') end)
  files.write(top .. '/bad.txt', '')
  test.fails('shares split one file', function() pd.task.corpus(folder, { shares = { 1, 1, 1 } }) end)
  test.fails('expected a list of 3, got one of 2', function()
    pd.task.corpus(folder .. '/ptb.train.txt', { shares = { 1, 1 } })
  end)
end)

test('training reports perplexity', function()
  local whole = trainer()
  for _ in whole:epochs() do end
  local history = whole:history()
  test.equal(#history, 3)
  test.near(history[3].perplexity, math.exp(history[3].cross_entropy), 1e-9)
  assert(history[3].perplexity < history[1].perplexity, 'it learns')
  local found = whole:evaluate(corpus.valid, { batch = 2, chunk = 5 })
  test.near(found.perplexity, history[3].perplexity, 1e-9)
  test.equal(found.words, corpus.valid:size())
  test.equal(pd.train.evaluate(whole:model(), corpus.valid, { batch = 2, chunk = 5 }).perplexity, found.perplexity)
  assert(pd.train.describe('text'):find('stack_chunks', 1, true))
end)

test('an untrained model knows no more than the size of the vocabulary', function()
  local found = pd.train.evaluate(model(), corpus.test)
  test.near(found.perplexity, 10, 3)
end)

test("a text of one's own needs no unknown word and no line end", function()
  local own = pd.task.running_text { alphabet = { 'x', 'y' }, words = ('x y y '):rep(20) }
  test.equal(own:count('y'), 40)
  local t = pd.train.trainer { train = own, batch = 3, chunk = 4, epochs = 2, seed = 1, progress = false,
    model = pd.model.language_model { alphabet = own:alphabet(), end_symbol = false, seed = 1 },
    run_folder = top .. '/own' }
  t:step()
  t:save(top .. '/own')
  t = pd.train.resume(top .. '/own')
  for _ in t:epochs() do end
  test.equal(#t:history(), 2)
  test.equal(t:history()[2].perplexity, nil)  -- of validation texts
  test.equal(pd.task.load_text(top .. '/own/data/train.txt'):words(), own:words())
end)

test('texts and strings are not confused', function()
  local strings = pd.task.dataset { alphabet = corpus.train:alphabet(), strings = { 'the cat' } }
  test.fails('RunningText', function() trainer { valid = strings } end)
  test.fails('a RunningText', function() trainer { train = strings } end)
  test.fails('end_symbol', function() trainer { model = model { end_symbol = true } } end)
  local other = pd.task.running_text { alphabet = { 'x', 'y' }, words = 'x y' }
  test.fails("word 1 is 'x'", function() pd.train.evaluate(model(), other) end)
end)

test('without a corpus the training and the table say what they expect', function()
  local nowhere = top .. '/nowhere'
  for _, words in ipairs { { 'table5', '--quick' }, { '--quick' } } do
    local output, status = script(unpack(words))
    test.equal(status, 2)
    assert(output:find('--data is required: the corpus: a folder with', 1, true), output)
  end
  for _, words in ipairs { { 'table5', '--smoke', '--data', nowhere }, { '--smoke', '--data', nowhere } } do
    local output, status = script(unpack(words))
    assert(status == 1 and output:find('nowhere', 1, true), output)
  end
  assert(not files.exists(top .. '/runs/diffstk/table5/experiment.json'))
end)

test('an interrupted run continues and gives the same numbers', function()
  local run_folder = top .. '/one'
  local function train(...)
    return script('--smoke', '--data', folder, '--model', 'diffstk_mirnn', '--run-folder',
      run_folder, ...)
  end
  local output, status = train()
  assert(status == 0, output)
  local result = json.decode(files.read(run_folder .. '/result.json'))
  test.equal(result.epochs, 2)
  assert(result.valid_perplexity > 1 and result.test_perplexity > 1)
  output = train()
  assert(output:find('Finished before', 1, true), output)
  os.remove(run_folder .. '/result.json')
  output, status = train()
  assert(status == 0 and output:find('Resuming after epoch 2', 1, true), output)
  local again = json.decode(files.read(run_folder .. '/result.json'))
  for key, value in pairs(result) do test.equal(again[key], value) end
  output, status = train('--seed', '2')
  assert(status ~= 0 and output:find('seed was 1 and is 2 now', 1, true), output)
  output, status = train('--noise', 'much', '--run-folder', top .. '/much')
  assert(status ~= 0 and output:find("--noise needs 'own' or a number, got 'much'", 1, true), output)
  output, status = train('--noise', '0', '--carry-forward', 'none', '--run-folder', top .. '/bare')
  assert(status == 0, output)
  local bare = json.decode(files.read(top .. '/bare/config.json')).model.options
  test.equal(bare.noise, 0)
  test.equal(bare.carry_forward, 'none')
end)

test('table 5 has the numbers of the paper next to ours', function()
  local run_folder = top .. '/table5'
  local output, status = script('table5', '--smoke', '--data', folder, '--rows', 'LSTM,DiffStk-MRNN',
    '--run-folder', run_folder, '--folder', top .. '/grid')
  assert(status == 0, output)
  local csv = files.read(run_folder .. '/table5.csv')
  assert(csv:find('\nLSTM,120,', 1, true) and csv:find('\nDiffStk-MRNN,119,', 1, true), csv)
  assert(csv:find('\nfrequencies alone,', 1, true), csv)
  for _, name in ipairs { 'table5-runs.csv', 'table5-epochs.csv', 'table5-epochs.svg', 'experiment.json',
    'result.json' } do
    assert(files.exists(run_folder .. '/' .. name), name)
  end
  local result = json.decode(files.read(files.find(top .. '/grid', 'result%.json$')[1]
    and top .. '/grid/' .. files.find(top .. '/grid', 'result%.json$')[1]))
  assert(csv:find(('%.10g'):format(result.valid_perplexity):sub(1, 8), 1, true), csv)
  -- The runs exist, but with another corpus they are not the wanted ones.
  local function again(data)
    return script('table5', '--smoke', '--data', data, '--rows', 'LSTM', '--folder', top .. '/grid')
  end
  output, status = again(folder .. '/ptb.train.txt')
  assert(status ~= 0 and output:find('data was [^\n]*/ptb and is [^\n]*/ptb.train.txt now'), output)
  files.write(folder .. '/ptb.test.txt', text(8))
  output, status = again(folder)
  assert(status ~= 0 and output:find('ptb.test.txt has changed', 1, true), output)
end)

test.finish()
