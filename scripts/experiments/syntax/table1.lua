-- Table 1 of Merrill et al. (2019): perplexity of language models, and how often they agree with the number of verbs.
-- The paper uses a part of the English Wikipedia, which is not part of this program.
--
--   pushdown scripts/experiments/syntax/table1.lua --data wiki.txt --agreement agr_50_mostcommon_10K.tsv
--
-- Trains unfinished runs first; if it is interrupted, start it again to continue.
local pd = require 'pushdown'
local cells = require 'pushdown.cells'
local protocol = dofile((arg[0]:match('^(.*/)') or '') .. 'protocol.lua')

local paper = { { 'stack_u1', 92.81, 93.59 }, { 'stack_d1', 128.28, 92.28 }, { 'lstm', 91.69, 93.95 } }

local options, run = protocol.start({ name = 'syntax/table1',
  doc = 'Perplexity and agreement of language models, as Table 1 of Merrill et al. (2019).',
  options = protocol.table_options {},
  quick = pd.tables.merged(protocol.quick, { folder = 'runs/syntax/text_quick' }),
  smoke = pd.tables.merged(protocol.smoke, { folder = 'runs/syntax/text_smoke', rows = { 'Stack (u = 1)', 'LSTM' } }),
}, { 'data' })

local names, printed = {}, {}
for _, line in ipairs(paper) do
  names[#names + 1] = line[1]
  printed[protocol.models[line[1]].label] = line
end
local kept, rows, text = protocol.train_cells(names, options)
local lines, verbs = {}, 0
for _, cell in ipairs(kept) do
  local line = printed[cell.row]
  local perplexity, deviation, best = cells.statistics(cell, 'test_perplexity')
  local agreement, agreement_deviation
  if options.agreement ~= '' and #cell.runs > 0 then
    agreement, agreement_deviation = cells.statistics(cell, 'agreement')
    verbs = cell.runs[1].result.agreement_examples
  end
  lines[#lines + 1] = { cell.row, line[2], perplexity or 'NA', deviation or 'NA', best or 'NA', line[3],
    agreement or 'NA', agreement_deviation or 'NA', (cells.statistics(cell, 'parameters')) or 'NA', #cell.runs }
end
local columns = { 'model' }
for _, title in ipairs { 'paper perplexity', 'perplexity', 'deviation', 'best', 'paper agreement %', 'agreement %',
  'agreement deviation' } do
  columns[#columns + 1] = { title, format = '%.2f', align = 'right' }
end
columns[#columns + 1], columns[#columns + 2] = { 'parameters', format = '%.0f', align = 'right' }, 'runs'
run:table('table1', { title = ('Language models: %d sentences and %d words for training, %d words for the test, '
  .. 'vocabulary of %d, %d verbs'):format(text.train:size(), text.train:word_count(), text.test:word_count(),
    text.train:alphabet():size(), verbs), columns = columns, rows = lines })

local bars = { categories = {}, series = { { name = 'here', y = {} }, { name = 'paper', y = {} } },
  title = 'Perplexity of the test part', y_label = 'perplexity', y_min = 0 }
for _, line in ipairs(lines) do
  if type(line[3]) == 'number' then
    local at = #bars.categories + 1
    bars.categories[at], bars.series[1].y[at], bars.series[2].y[at] = line[1], line[3], line[2]
  end
end
if #bars.categories > 0 then run:picture('table1', require 'pushdown.plot'.bars(bars)) end
print(([[

Perplexity counts the ends of sentences as words. Agreement: the share of the verbs with both forms in the vocabulary
whose correct form is more probable. The paper's numbers are for another text. All runs and
settings: %s]]):format(run.folder))
cells.finish(run, rows, 'table1', { 'parameters', 'epochs', 'seconds', 'train_perplexity', 'test_perplexity',
  'agreement', 'agreement_examples' })
