-- Palindromes by two models that are not in Mali et al. (2021): an LSTM with a superposition stack that learns to
-- predict the next symbol of valid strings, which in the second half is determined, and an NSPDA into whose weights
-- the rules of an automaton are written, without any training. Models and training differ from Table 4.
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
  doc = 'Palindromes by a superposition stack and by inserted rules, on the strings of table4.lua.',
  defaults = { hidden = 20, learning_rate = 5e-3, epochs = 60, window = 200, decision = 'last',
    batch = 10 } }
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
run:table('palindrome', { title = 'Palindromes: correctly classified strings (%)', columns = columns, rows = lines,
  note = rows.note })
tables.curves(run, options, kept, 'palindrome')
cells.finish(run, rows, 'palindrome', tables.keys(options))
