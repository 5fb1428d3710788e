-- Table 5 of Mali et al. (2019): networks that are programmed instead of trained make no errors on
-- strings of up to 60, 480 and 960 symbols.
--
--   pushdown scripts/experiments/nspda/table5.lua
--
-- Palindromes have a marked centre, because no deterministic automaton recognizes unmarked ones.
local experiment = require 'pushdown.experiment'
local here = arg[0]:match('^(.*/)') or ''
local protocol = dofile(here .. 'protocol.lua')
local pd = require 'pushdown'

local options, run = experiment.start {
  name = 'nspda/table5',
  doc = 'Errors of programmed NSPDAs on long strings, as Table 5 of Mali et al. (2019).',
  options = {
    { 'tasks', protocol.tasks, 'languages', choices = protocol.tasks },
    { 'n', { 60, 480, 960 }, 'longest string' },
    { 'positives', 1000, 'valid strings in every length class', minimum = 1 },
    { 'negatives', 1000, 'invalid strings, all one to three edits away from valid ones', minimum = 1 },
    { 'seed', 1, 'random seed of strings and state neurons', minimum = 0 },
  },
  quick = { positives = 200, negatives = 200 },
  smoke = { n = { 12, 20 }, positives = 5, negatives = 5 },
}

local rows, wrong = {}, 0
local curves = {}
for _, task in ipairs(options.tasks) do
  local grammar = pd.grammar.load(task)
  for _, order in ipairs { 'second', 'third' } do
    local neurons = order == 'second' and 40 or 8
    local model = pd.model.recognizer { alphabet = grammar:alphabet(), architecture = 'nspda', order = order,
      states = neurons, seed = options.seed }
    local report = pd.model.insert_rules(model, task .. '/whole')
    local series = { name = protocol.titles[task] .. ' ' .. order, x = {}, y = {}, markers = true }
    for _, n in ipairs(options.n) do
      local shortest = math.max(n - 20, 1)
      local data = pd.task.labelled { grammar = grammar, lengths = { shortest, n }, positives = options.positives,
        negatives = options.negatives, distinct = 'none', difficult = 1, swaps = { 1, 2, 3 },
        edits = { 'replace', 'insert', 'delete', 'transpose' }, seed = options.seed + n }
      local told = pd.train.evaluate(model, data)
      wrong = wrong + told.missed + told.false_positives
      rows[#rows + 1] = { protocol.titles[task], order, n, told.positives, told.strings - told.positives,
        task == 'parenthesis' and 'NA' or '0.0', told.error, report.strength, report.margin }
      series.x[#series.x + 1], series.y[#series.y + 1] = n, told.error
    end
    curves[#curves + 1] = series
  end
end
run:table('table5', {
  title = 'Errors of programmed networks in percent, without training; hint whole.lua of each language.',
  columns = { 'language', 'order', 'n', 'valid', 'invalid', 'paper', { 'error %', format = '%.2f' },
    { 'strength', format = '%.4g' }, { 'margin', format = '%.3f' } },
  rows = rows })
run:lines('table5', { title = 'Programmed networks', x_label = 'longest string', y_label = 'error (%)',
  series = curves })
print(('\n%d of %d strings were misclassified.'):format(wrong, #rows * (options.positives + options.negatives)))
run:finish { wrong = wrong }
