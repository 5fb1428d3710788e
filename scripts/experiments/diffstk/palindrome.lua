-- Palindromes beyond Table 4 of Mali et al. (2021), whose models tell at most 64.5 % of the test strings right in the
-- mean: an LSTM with a superposition stack that learns to predict the next symbol of valid strings, which in the second
-- half is known, and an automaton whose rules are written into the weights of an NSPDA, without any training.
--
--   pushdown scripts/experiments/diffstk/palindrome.lua
--
-- Differs from the protocol in what the defaults below say; hidden units, learning rate and epochs were chosen on
-- validation strings. Runs that are not finished are trained first; started again it goes on.
local cells = require 'pushdown.cells'
local pd = require 'pushdown'
local here = arg[0]:match('^(.*/)') or ''
local tables = dofile(here .. 'tables.lua')
local protocol = tables.protocol

local options, run = tables.start { name = 'diffstk/palindrome', task = 'palindrome',
  folder = 'runs/diffstk/palindrome_grid',
  doc = 'Palindromes by a superposition stack and by inserted rules, on the strings of Table 4 of Mali et al. (2021).',
  defaults = { hidden = 20, learning_rate = 5e-3, epochs = 60, window = 200, symbols_of = 'valid', decision = 'last' } }
local model = protocol.models.superposition_lstm
local kept, rows = tables.run(options, { { task = 'palindrome', row = model.label,
  point = { model = 'superposition_lstm' } } })

local task = { task = 'palindrome' }
for key, value in pairs(options) do task[key] = value end
local grammar = protocol.grammar(task)
local sets = protocol.sets(task, grammar)
local programmed
if options.centre == 'marked' then  -- no deterministic automaton knows the others
  programmed = pd.model.recognizer { alphabet = grammar:alphabet(), architecture = 'nspda', states = 8, seed = 1 }
  pd.model.insert_rules(programmed, 'palindrome/whole')
end

local lines = {}
for _, set in ipairs(protocol.set_names(options)) do
  local line = { set }
  local mean, deviation, least, greatest = cells.statistics(kept[1], set .. '_' .. options.decision)
  line[2], line[3], line[4], line[5], line[6] = mean, deviation, least, greatest, #kept[1].runs
  line[7] = programmed and 100 * pd.train.evaluate(programmed, sets[set]).accuracy or 'NA'
  lines[#lines + 1] = line
end
local columns = { 'strings' }
for _, title in ipairs { 'mean', 'deviation', 'worst', 'best' } do
  columns[#columns + 1] = { model.label .. ' ' .. title, format = '%.2f', align = 'right' }
end
columns[#columns + 1] = 'runs'
columns[#columns + 1] = { 'rules inserted', format = '%.2f', align = 'right' }
run:table('palindrome', { title = 'Palindromes: strings told right in percent', columns = columns, rows = lines,
  note = rows.note })
tables.curves(run, options, kept, 'palindrome')
cells.finish(run, rows, 'palindrome', tables.keys(options))
