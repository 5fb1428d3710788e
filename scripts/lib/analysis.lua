-- What a trained model has learned about a language: from files of sentences minimal pairs, of which the model should
-- prefer the grammatical one, and the surprisal of every word; and from the hidden vectors of strings, what a linear
-- probe finds in them.
--
--   print(pd.analysis.minimal_pairs(model, 'pairs.tsv'))   -- columns good and bad, and phenomenon if there is one
--   pd.analysis.surprisals(model, 'sentences.txt'):save 'surprisals'
--   print(pd.analysis.probe(model, strings, { pda = pd.pda.load 'dyck_pda' }))
local minimal_pairs = require 'pushdown.analysis.minimal_pairs'
local pd = require 'pushdown'
local probe = require 'pushdown.analysis.probe'
local sentences = require 'pushdown.analysis.sentences'
local table_of = require 'pushdown.text.table'

local M = {}

local pairs_options = pd._options.declare('analysis.minimal_pairs', sentences.options, {
  { 'good', 'good', 'column of the grammatical strings' },
  { 'bad', 'bad', 'column of the ungrammatical strings' },
  { 'phenomenon', 'phenomenon', 'column by which the pairs are grouped, if the file has it' },
})

-- analysis.minimal_pairs(models, path, {options}) -> the share of pairs in a file of which a model gives the
-- grammatical string the higher probability; equal ones count as wrong. `models` is a model, a list of models, or a
-- table of them by name. The result of one model has accuracy and its 95 % interval (Wilson), low and high; pairs,
-- their number; critical_accuracy, the share of pairs whose critical word, the first one that differs, is more
-- probable in the grammatical string; phenomena, a list of {phenomenon =, pairs =, accuracy =, low =, high =,
-- critical_accuracy =} in the order of the file; and rows, a list of {place =, phenomenon =, good =, bad =, difference
-- =, critical =, good_word =, bad_word =, critical_difference =}: the differences of the log-probabilities of the
-- strings and of the critical words in nats, and its place. That of several has `models`, a list of such results with
-- `name`. It prints as a table. Method: :save(path), which writes the table as text, Markdown and LaTeX, the numbers
-- as path.csv, and those of every pair as path-pairs.csv. BLiMP's files have the columns sentence_good, sentence_bad
-- and UID (Warstadt et al. 2020).
function M.minimal_pairs(models, path, options) return minimal_pairs(models, path, pairs_options(options)) end

local surprisal_options = pd._options.declare('analysis.surprisals', sentences.options, {
  { 'text', nil, "column of the strings: 'text' or the only one", type = 'text or integer' },
})

-- analysis.surprisals(model, sentences, {options}) -> a table, as of report.table, of the surprisal of every word of
-- the sentences of a file (.txt with one in each line, .jsonl, .csv, .tsv), a dataset or a list: the number of the
-- string, the place of the word, the word as it is in the file, its surprisal -ln p(word | the words before) in nats,
-- and whether it was unknown. The end of a string is the word '<end>' if the model predicts it.
function M.surprisals(model, source, options)
  options = surprisal_options(options)
  local where, rows = 'analysis.surprisals', {}
  if type(model) ~= 'userdata' then
    error(('[%s] expected a language model, got %s'):format(where, tostring(model)), 0)
  end
  local reader = sentences.reader(where, model:alphabet(), 'model', options)
  for number, item in ipairs(sentences.of(where, source, options)) do
    local words, written, outside = reader:read(item.place, item.string)
    for place, symbol in ipairs(model:surprisal(words)) do
      rows[#rows + 1] = { number, place, written[place] or symbol.symbol, symbol.surprisal, outside[place] or false }
    end
  end
  return table_of.new { columns = { 'string', 'place', 'word', { 'surprisal', format = '%.4f' }, 'unknown' },
    rows = rows, note = reader:note() }
end

local probe_options = pd._options.declare('analysis.probe', {
  { 'pda', nil, 'deterministic automaton whose state, depth of the stack and top symbol are the labels', type = 'Pda' },
  { 'labels', nil, 'those of state, depth and top to probe; or, without an automaton, a function of a string that '
    .. 'returns the label after each symbol, false to leave a position out', type = 'list of texts or function' },
  { 'name', 'label', 'name of the labels of a function' },
  { 'vectors', nil, 'a function of a string and the model that returns the vectors to probe, n x H or L x n x H for n '
    .. 'symbols, in place of model:hidden', type = 'function' },
  { 'test', 0.3, 'share of the strings on which the probes are measured', minimum = 0, maximum = 1 },
  { 'test_strings', nil, 'these strings in place of a share, for example longer ones; those that are also among the '
    .. 'others are left out', type = 'Dataset or LabelledDataset or list' },
  { 'context', 1, 'number of last symbols that are a type: the types of the control task, and what the floor by symbol '
    .. 'knows', minimum = 1 },
  { 'untrained', true, 'also probes a network of the same shape with new parameters' },
  { 'bin_width', 5, 'width of the bins by position', minimum = 1 },
  { 'penalty', 1e-3, 'weight of the squared norm of the probe', minimum = 0 },
  { 'seed', 1, 'decides the split, the control task and the untrained network', minimum = 0 },
})

-- analysis.probe(model, strings, {options}) -> a Probe: how well multinomial logistic regression recovers labels of
-- positions from the hidden vectors of a language model or a recognizer, for each layer. `strings` is a dataset or a
-- list of strings; equal ones count once. The probe of a layer is trained on the positions of some strings and measured
-- on those of the others. The result prints as a table of accuracies. Beside the probe's stand those of rules that see
-- no vectors, the most frequent label in training (majority) and that after the same symbol (by symbol); of a probe of
-- an untrained network; and of a probe of the control task (Hewitt and Liang 2019), in which every type of symbol has a
-- random label. Selectivity is accuracy minus control. A label that does not occur in training counts as wrong. Fields:
-- rows, a list of {label =, layer =, classes =, accuracy =, majority =, by_symbol =, untrained =, control =,
-- selectivity =, bins =}; table and positions, the table and that of the accuracies by position, as of report.table.
-- Method: :svg{ label =, path = }, the accuracies by position as a picture.
function M.probe(model, strings, options) return probe(model, strings, probe_options(options)) end

return M
