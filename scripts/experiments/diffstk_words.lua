-- Table 5 of Mali et al. (2021), section 4.2: perplexity of language models of words, with the parameters of the best
-- epoch. The paper uses the Penn Treebank, which is not part of this program. docs/reference/experiments/diffstk.md
-- lists what comes from the paper and what was chosen where the paper is silent.
--
--   pushdown diffstk_words --data ptb --model diffstk_mrnn
--   pushdown diffstk_words table5 --data ptb
--   pushdown diffstk_words table5 --data ptb/ptb.valid.txt --quick --rows LSTM,DiffStk-MRNN
local pd = require 'pushdown'
local files = require 'pushdown.files'
local table_of = require 'pushdown.text.table'
local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''
local network_of, statistics = dofile(here .. 'diffstk/models.lua'), pd.paper.statistics

local models = {}
for name, model in pairs(network_of) do models[model.row] = pd.tables.merged({ name = name }, model) end

-- The texts train, valid and test.
local function corpus_of(options)
  local given = { vocabulary = options.vocabulary, empty_lines = options.empty_lines }
  if not files.exists(options.data .. '/.') then given.shares = options.shares end
  return pd.task.corpus(options.data, given)
end

local function model_of(options, corpus)
  local given, controller = {}, {}
  for key, value in pairs(network_of[options.model]) do given[key] = value end
  for key, value in pairs(given.controller) do controller[key] = value end
  given.row, given.label, given.controller = nil, nil, controller
  if options.noise ~= 'own' then
    given.noise = tonumber(options.noise)
      or error(("--noise needs 'own' or a number, got '%s'"):format(options.noise), 0)
  end
  -- A model without carry-forward may have no stack.
  if options.carry_forward ~= 'own' and given.carry_forward ~= 'none' then
    given.carry_forward = options.carry_forward
  end
  controller.hidden, given.embedding = options.hidden, options.embedding
  given.alphabet, given.seed, given.end_symbol = corpus.train:alphabet(), options.seed, false
  return pd.model.language_model(given)
end

-- ---- The training ----

local train = {
  name = 'train_words',
  doc = 'Trains one language model on the words of a corpus, as section 4.2 of Mali et al. (2021).',
  required = { 'data' }, task = 'words', model = 'diffstk_rnn', data = corpus_of,
  trainer = function(options, corpus)
    return {
      model = model_of(options, corpus), train = corpus.train, valid = corpus.valid, batch = options.batch,
      chunk = options.window, stack_chunks = options.stack_windows, epochs = options.epochs,
      optimizer = { kind = 'adam', learning_rate = options.learning_rate }, clip_norm = 0, clip_value = options.clip,
      decay_patience = options.patience, decay_factor = 0.5, stop_patience = 0,
    }
  end,
  measure = function(options, trained, run)
    local lines = { 'epoch,train,valid,learning_rate' }
    for _, epoch in ipairs(trained.history) do
      lines[#lines + 1] = ('%d,%.17g,%.17g,%.17g'):format(epoch.epoch, math.exp(epoch.train_cross_entropy),
        epoch.perplexity, epoch.learning_rate)
    end
    files.write(run:path 'perplexity.csv', table.concat(lines, '\n') .. '\n')
    local model = pd.model.load(run.folder)
    local function perplexity(text)
      return pd.train.evaluate(model, text, { batch = options.batch, chunk = options.window,
        stack_chunks = options.stack_windows }).perplexity
    end
    return { 'task', 'model', 'seed', 'restart', { 'parameters', model:parameter_count() },
      { 'epochs', #trained.history }, { 'best_epoch', trained.last.best_epoch }, { 'seconds', trained.seconds },
      { 'stopped', trained.stopped }, { 'valid_perplexity', perplexity(trained.data.valid) },
      { 'test_perplexity', perplexity(trained.data.test) } }
  end,
  show = function(options, run, result)
    run:table('results', {
      title = ('%s, seed %d: perplexity, epoch %d'):format(network_of[options.model].label, options.seed,
        result.best_epoch),
      columns = { { 'valid', format = '%.2f' }, { 'test', format = '%.2f' } },
      rows = { { result.valid_perplexity, result.test_perplexity } } })
  end,
}

-- ---- The table ----

-- Validation and test. This program does not have the network of the third row (Mikolov et al. 2014).
local numbers = {
  { 'rnn', 137, 129 }, { 'lstm', 120, 115 }, { 'SRCN', 120, 115 }, { 'stack_rnn', 124, 118 },
  { 'stack_rnn_softmax', 128, 123 }, { 'baby_ntm_softmax', 142, 131 }, { 'diffstk_rnn', 122, 118 },
  { 'diffstk_mrnn', 119, 115 }, { 'diffstk_mirnn', 121, 117 },
}

local function make(paper, options, run)
  -- Read before the runs, so that errors in the data are reported at once.
  local corpus = corpus_of(options)
  local all = {}
  for _, line in ipairs(numbers) do
    local model = network_of[line[1]]
    if model then
      all[#all + 1] = { task = 'words', row = model.label, point = { model = line[1] } }
    end
  end
  local kept, rows = paper:cells(options, all)

  local by_row = {}
  for _, cell in ipairs(kept) do by_row[cell.row] = cell end

  local lines = {}
  for _, line in ipairs(numbers) do
    local model = network_of[line[1]]
    local cell = model and by_row[model.label]
    if cell then
      local valid, valid_deviation, valid_best = statistics(cell, 'valid_perplexity')
      local test, test_deviation, test_best = statistics(cell, 'test_perplexity')
      lines[#lines + 1] = { cell.row, line[2], valid, valid_deviation, valid_best, line[3], test, test_deviation,
        test_best, (statistics(cell, 'parameters')), #cell.runs }
    elseif not model and #options.rows == 0 then
      lines[#lines + 1] = { line[1], line[2], 'NA', 'NA', 'NA', line[3], 'NA', 'NA', 'NA', 'NA', 0 }
    end
  end
  lines[#lines + 1] = { 'frequencies alone', 'NA', corpus.valid:unigram_perplexity(corpus.train), nil, nil, 'NA',
    corpus.test:unigram_perplexity(corpus.train) }
  local columns = { 'model' }
  for _, title in ipairs { 'paper valid', 'valid', 'deviation', 'best valid', 'paper test', 'test', 'test deviation',
    'best test' } do
    columns[#columns + 1] = { title, format = '%.2f', align = 'right' }
  end
  columns[#columns + 1], columns[#columns + 2] = { 'parameters', format = '%.0f', align = 'right' }, 'runs'
  run:table('table5', { title = ('Perplexity of words: %d for training, %d and %d, vocabulary of %d'):format(
    corpus.train:size(), corpus.valid:size(), corpus.test:size(), #corpus.train:alphabet():symbols()),
    columns = columns, rows = lines })

  -- Validation perplexity after every epoch, averaged over the runs.
  local series, points = {}, {}
  for _, cell in ipairs(kept) do
    local sums, counts = {}, {}
    for _, one in ipairs(cell.runs) do
      for epoch, valid in files.read(one.folder .. '/perplexity.csv'):gmatch('\n(%d+),[^,]+,([^,]+)') do
        epoch = tonumber(epoch)
        sums[epoch], counts[epoch] = (sums[epoch] or 0) + tonumber(valid), (counts[epoch] or 0) + 1
      end
    end
    if #sums > 0 then
      local one = { name = cell.row, x = {}, y = {}, markers = false }
      for epoch, sum in ipairs(sums) do
        one.x[epoch], one.y[epoch] = epoch, sum / counts[epoch]
        points[#points + 1] = { cell.row, epoch, one.y[epoch] }
      end
      series[#series + 1] = one
    end
  end
  if #series > 0 then
    files.write(run:path 'table5-epochs.csv', table_of.new({ columns = { 'model', 'epoch', 'valid_perplexity' },
      rows = points }):csv())
    run:lines('table5-epochs', { title = 'Perplexity of the validation text', x_label = 'epoch', y_label = 'perplexity',
      series = series, y_log = true })
  end
  print(([[

Perplexity is the exponential of the mean of -log p over a text's words, line ends included; best: the lowest of the
runs. The paper's numbers are for the Penn Treebank. All runs, curves and settings: %s]]):format(run.folder))
  paper:keep_runs(run, rows, 'table5', { 'parameters', 'epochs', 'best_epoch', 'seconds', 'valid_perplexity',
    'test_perplexity' })
end

return (pd.paper.new {
  name = 'diffstk_words', grid = 'diffstk', models = models, train = train, tasks = { 'words' },
  title = function() return 'Words' end,
  options = {
    { 'data', '', 'the corpus: a folder with ptb.train.txt, ptb.valid.txt and ptb.test.txt (or train.txt and so on), '
      .. 'or one file to be split; required' },
    { 'shares', { 0.8, 0.1, 0.1 }, 'shares of the training, validation and test lines when one file is split' },
    { 'empty_lines', 'refuse', 'empty lines of the corpus: raise an error, read as <eos>, or leave out',
      choices = { 'refuse', 'count', 'skip' } },
    { 'vocabulary', 0, 'vocabulary size, the most frequent words; 0: all words of the training part', minimum = 0 },
    { 'hidden', 100, 'hidden units', minimum = 1 },
    { 'embedding', 100, "size of a word's learned vector; 0: one-hot vectors", minimum = 0 },
    { 'epochs', 50, 'passes over the training text', minimum = 1 },
    { 'batch', 20, 'parallel streams into which the texts are cut', minimum = 1 },
    { 'window', 50, 'words per chunk of truncated backpropagation', minimum = 1 },
    { 'stack_windows', 4, 'chunks after which the stack is emptied; 0: never', minimum = 0 },
    { 'learning_rate', 2e-3, 'initial learning rate of Adam', minimum = 0, type = 'number' },
    { 'patience', 3, 'epochs without better validation results after which the learning rate is halved', minimum = 0 },
    { 'noise', 'own', 'standard deviation of the noise on the state; own: that of the model' },
    { 'carry_forward', 'own', 'carry-forward of the state while the stack does nothing; own: that of the model; others '
      .. 'apply to all models that have it', choices = { 'own', 'none', 'soft', 'counter' } },
    { 'clip', 15, 'limit to which gradient entries are clipped', minimum = 0, type = 'number' },
  },
  quick = { vocabulary = 2000, hidden = 50, embedding = 50, epochs = 5 },
  smoke = { vocabulary = 20, hidden = 4, embedding = 3, epochs = 2, batch = 2, window = 5, stack_windows = 2 },
  tables = { table5 = { doc = 'Perplexity of language models of words, as Table 5 of Mali et al. (2021).',
    required = { 'data' }, folder = 'words_grid', smoke = { rows = { 'LSTM', 'DiffStk-MRNN' } }, make = make } },
})
