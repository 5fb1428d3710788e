-- Palindromes with two models that are not in Mali et al. (2021). An LSTM with a superposition stack learns to predict
-- the next symbol of valid strings, which is determined in the second half. An NSPDA gets the rules of an automaton
-- inserted into its weights, without training. Models and training differ from Table 4.
--
--   pushdown scripts/experiments/diffstk/palindrome.lua
--
-- The defaults below differ from the protocol; hidden units, learning rate and epochs were chosen on validation
-- strings. Trains unfinished runs first; if it is interrupted, start it again to continue.
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

local task = pd.tables.merged({ task = 'palindrome' }, options)
local grammar = protocol.grammar(task)
local sets = protocol.sets(task, grammar)
local programmed
if options.centre == 'marked' then  -- no deterministic automaton recognizes the others
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
