-- Table 5 of Mali et al. (2021): perplexity of language models on the words of a corpus. The paper uses the Penn
-- Treebank, which is not part of this program.
--
--   pushdown scripts/experiments/diffstk/table5.lua --data ptb
--   pushdown scripts/experiments/diffstk/table5.lua --data ptb/ptb.valid.txt --quick --rows LSTM,DiffStk-MRNN
--
-- Trains unfinished runs first; if it is interrupted, start it again to continue.
local here = arg[0]:match('^(.*/)') or ''
local words = dofile(here .. 'words.lua')
local pd = require 'pushdown'
local cells = require 'pushdown.cells'
local files = require 'pushdown.files'
local report = require 'pushdown.report'

-- Validation and test. This program does not have the network of the third row (Mikolov et al. 2014).
local paper = {
  { 'rnn', 137, 129 }, { 'lstm', 120, 115 }, { 'SRCN', 120, 115 }, { 'stack_rnn', 124, 118 },
  { 'stack_rnn_softmax', 128, 123 }, { 'baby_ntm_softmax', 142, 131 }, { 'diffstk_rnn', 122, 118 },
  { 'diffstk_mrnn', 119, 115 }, { 'diffstk_mirnn', 121, 117 },
}

local own = cells.options { tasks = { 'words' }, restarts = 1, folder = 'runs/diffstk/words_grid' }
local options, run = words.start { name = 'diffstk/table5',
  quick = pd.tables.merged({ folder = 'runs/diffstk/words_quick_grid' }, words.quick),
  smoke = pd.tables.merged({ folder = 'runs/diffstk/words_smoke_grid', rows = { 'LSTM', 'DiffStk-MRNN' } },
    words.smoke),
  doc = 'Perplexity of language models of words, as Table 5 of Mali et al. (2021).',
  options = words.with_options(own) }

-- Read before the runs, so that errors in the data are reported at once.
local corpus = words.corpus(options)
local all = {}
for _, line in ipairs(paper) do
  local model = words.models[line[1]]
  if model then
    all[#all + 1] = { task = 'words', row = model.label, point = { model = line[1] } }
  end
end
local kept, rows = cells.train { cells = all, options = options, settings = words.options, name = 'diffstk',
  script = here .. 'train_words.lua' }

local by_row = {}
for _, cell in ipairs(kept) do by_row[cell.row] = cell end

local lines = {}
for _, line in ipairs(paper) do
  local model = words.models[line[1]]
  local cell = model and by_row[model.label]
  if cell then
    local valid, valid_deviation, valid_best = cells.statistics(cell, 'valid_perplexity')
    local test, test_deviation, test_best = cells.statistics(cell, 'test_perplexity')
    lines[#lines + 1] = { cell.row, line[2], valid, valid_deviation, valid_best, line[3], test, test_deviation,
      test_best, (cells.statistics(cell, 'parameters')), #cell.runs }
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
  files.write(run:path 'table5-epochs.csv', report.table({ columns = { 'model', 'epoch', 'valid_perplexity' },
    rows = points }):csv())
  run:lines('table5-epochs', { title = 'Perplexity of the validation text', x_label = 'epoch', y_label = 'perplexity',
    series = series, y_log = true })
end
print(([[

Perplexity is the exponential of the mean of -log p over a text's words, line ends included; best: the lowest of the
runs. The paper's numbers are for the Penn Treebank. All runs, curves and settings: %s]]):format(run.folder))
cells.finish(run, rows, 'table5', { 'parameters', 'epochs', 'best_epoch', 'seconds', 'valid_perplexity',
  'test_perplexity' })
