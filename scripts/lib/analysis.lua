-- What a trained model has learned about a language: from files of sentences minimal pairs, of which the model should
-- prefer the grammatical one, and the surprisal of every word; and from the hidden vectors of strings, what a linear
-- probe finds in them.
--
--   print(pd.analysis.minimal_pairs(model, 'pairs.tsv'))   -- columns good and bad, and phenomenon if there is one
--   pd.analysis.surprisals(model, 'sentences.tsv'):save 'surprisals'
--   print(pd.analysis.probe(model, strings, { pda = pd.pda.load 'dyck_pda' }))
local data = require 'pushdown.data'
local pd = require 'pushdown'
local probe = require 'pushdown.analysis.probe'
local table_of = require 'pushdown.text.table'

local M = {}

local of_strings = {
  { 'unknown', nil, 'the word of the alphabet that stands for every word outside it; without it such a word is an '
    .. 'error', type = 'text' },
  { 'format', nil, 'see data.rows', type = 'text' },
}

-- The string with the words that the model knows.
local function reader(where, model, options)
  if type(model) ~= 'userdata' then
    error(('[analysis.%s] expected a language model, got %s'):format(where, tostring(model)), 0)
  end
  local known = {}
  for _, symbol in ipairs(model:alphabet():symbols()) do known[symbol] = true end
  if options.unknown and not known[options.unknown] then
    error(("[analysis.%s] unknown = '%s' is not in the alphabet of the model"):format(where, options.unknown), 0)
  end
  return function(place, text)
    local words = pd.tables.matches(text, '%S+')
    for i, word in ipairs(words) do
      if not known[word] then
        if not options.unknown then
          error(("[analysis.%s] %s: the word '%s' is not in the alphabet of the model; the option unknown names the "
            .. 'word that stands for it'):format(where, place, word), 0)
        end
        words[i] = options.unknown
      end
    end
    return table.concat(words, ' '), words
  end
end

local pairs_options = pd._options.declare('analysis.minimal_pairs', of_strings, {
  { 'good', 'good', 'column of the grammatical strings' },
  { 'bad', 'bad', 'column of the ungrammatical strings' },
  { 'phenomenon', 'phenomenon', 'column by which the pairs are grouped, if the file has it' },
})

-- analysis.minimal_pairs(model, path, {options}) -> the share of pairs in a file of which the model gives the
-- grammatical string the higher probability; equal ones count as wrong. A table with accuracy, pairs (their number),
-- phenomena, a list of {phenomenon =, pairs =, accuracy =} in the order of the file, and rows, a list of {place =,
-- phenomenon =, good =, bad =, difference =}, the difference of the log-probabilities in nats. It prints as a table.
-- BLiMP's files have the columns sentence_good, sentence_bad and UID (Warstadt et al. 2020).
function M.minimal_pairs(model, path, options)
  options = pairs_options(options)
  local read = reader('minimal_pairs', model, options)
  local found = { accuracy = 0, pairs = 0, phenomena = {}, rows = {} }
  local by_name = {}
  for i, row in ipairs(data.rows(path, { columns = { options.good, options.bad }, format = options.format })) do
    local good, bad = read(row.place, row[options.good]), read(row.place, row[options.bad])
    if good == bad then
      error(("[analysis.minimal_pairs] %s: both strings are '%s' for the model"):format(row.place, good), 0)
    end
    local difference = model:log_probability(good) - model:log_probability(bad)
    local name = row[options.phenomenon] and tostring(row[options.phenomenon]) or ''
    found.rows[i] = { place = row.place, phenomenon = name, good = good, bad = bad, difference = difference }
    if not by_name[name] then
      by_name[name] = { phenomenon = name, pairs = 0, right = 0 }
      table.insert(found.phenomena, by_name[name])
    end
    local right = difference > 0 and 1 or 0
    by_name[name].pairs, by_name[name].right = by_name[name].pairs + 1, by_name[name].right + right
    found.pairs, found.accuracy = found.pairs + 1, found.accuracy + right
  end
  if found.pairs == 0 then error(("[analysis.minimal_pairs] '%s': there are no pairs"):format(path), 0) end
  found.accuracy = found.accuracy / found.pairs
  local lines = {}
  for i, group in ipairs(found.phenomena) do
    group.accuracy, group.right = group.right / group.pairs, nil
    lines[i] = { group.phenomenon, group.pairs, group.accuracy }
  end
  lines[#lines + 1] = { 'all', found.pairs, found.accuracy }
  if #lines == 2 and lines[1][1] == '' then table.remove(lines, 1) end
  return setmetatable(found, { __tostring = function()
    local columns = { 'phenomenon', 'pairs', { 'accuracy', format = '%.4f' } }
    return (table_of.new({ columns = columns, rows = lines }):text():gsub('%s+$', ''))
  end })
end

local surprisal_options = pd._options.declare('analysis.surprisals', of_strings, {
  { 'text', 'text', 'column of the strings' },
})

-- analysis.surprisals(model, path, {options}) -> a table, as of report.table, of the surprisal of every word of the
-- strings of a file: the number of the string, the place of the word, the word as it is in the file, its surprisal
-- -ln p(word | the words before) in nats, and whether it was unknown. The end of a string has the word '' if the model
-- predicts it.
function M.surprisals(model, path, options)
  options = surprisal_options(options)
  local read, rows = reader('surprisals', model, options), {}
  for number, row in ipairs(data.rows(path, { columns = { options.text }, format = options.format })) do
    local text, words = read(row.place, row[options.text])
    local written = pd.tables.matches(row[options.text], '%S+')
    for place, symbol in ipairs(model:surprisal(text)) do
      rows[#rows + 1] = { number, place, written[place] or '', symbol.surprisal, written[place] ~= words[place] }
    end
  end
  if #rows == 0 then error(("[analysis.surprisals] '%s': there are no strings"):format(path), 0) end
  return table_of.new { columns = { 'string', 'place', 'word', { 'surprisal', format = '%.4f' }, 'unknown' },
    rows = rows }
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
