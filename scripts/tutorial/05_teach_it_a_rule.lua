-- # Teach it a rule
--
-- A network that must learn from examples alone how to use a stack needs many examples and often
-- fails. You may already know part of the answer. This chapter writes such knowledge as a few lines
-- of a pushdown automaton, inserts them into the weights of a network, trains the network with and
-- without them, and extracts an automaton from the trained network.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'

local options, run = experiment.start {
  name = 'teach_it_a_rule', doc = 'A hint is written, put into a network, trained from, and read out again.',
  options = {
    { 'strings', 300, 'valid training strings, and as many invalid ones', minimum = 1 },
    { 'epochs', 80, 'passes over the training strings at most', minimum = 1 },
    { 'seeds', { 1, 2, 3 }, 'a training each: they decide parameters and order of the strings' },
    { 'states', 6, 'state neurons', minimum = 3 },
    { 'long_strings', 1000, 'valid long strings for the test, and as many invalid ones', minimum = 1 },
  },
  smoke = { strings = 20, epochs = 2, seeds = { 1 }, long_strings = 20 },
}

-- ## The language
--
-- The language is that of palindromes with a marked centre: a word of a and b, then c, then the
-- word reversed. `a b c b a` is a palindrome, `a b c a b` is not. The labelled strings come from
-- the grammar. Half of the invalid strings are random, and half are one edit away from a valid
-- string. The grammar checks all labels.
local grammar = pd.grammar.load 'palindrome'
local function strings(lengths, count, seed)
  return pd.task.labelled {
    grammar = grammar, lengths = lengths, positives = count, negatives = count, difficult = 0.5, swaps = { 1 },
    edits = { 'replace', 'insert', 'delete' }, distinct = 'none', seed = seed,
  }
end
local train, valid = strings({ 1, 21 }, options.strings, 1), strings({ 1, 21 }, options.strings, 2)
local long = strings({ 51, 61 }, options.long_strings, 3)
print('training', train)
print('validation', valid)
print('test', long)

-- ## The network
--
-- A *recognizer* reads a string and decides whether it is valid. This one is a neural state
-- pushdown automaton (`nspda`). Its state is a few neurons that are 0 or 1. At every symbol, the
-- state, the top of the stack and the symbol determine the next state and the action: push the
-- symbol, pop the top, or leave the stack unchanged. The weights encode these transitions.
-- `pd.model.describe_recognizer 'nspda'` lists the options. `discrete = 'never'` uses the trained
-- weights without rounding them.
local function network(seed)
  return pd.model.recognizer {
    alphabet = grammar:alphabet(), architecture = 'nspda', states = options.states, discrete = 'never', seed = seed,
  }
end
print()
print(network(1))

-- ## Without a hint
--
-- With the objective `stepwise`, the label of a string is the target after each of its symbols, and
-- with `average` long strings have the same weight as short ones. The curriculum `incremental`
-- begins with one pass over the shortest strings, then adds the next longer ones for one pass, and
-- so on; after that it takes all strings in random order. Training ends when every training string
-- is correctly classified, or after the last epoch.
local function trained(model, seed)
  local trainer = pd.train.trainer {
    model = model, train = train, valid = valid, epochs = options.epochs, seed = seed,
    objective = { kind = 'stepwise', average = true }, curriculum = 'incremental',
    optimizer = { kind = 'sgd', learning_rate = 0.1 }, clip_norm = 0, clip_value = 13,
    decay_patience = 0, stop_patience = 0, progress = false,
  }
  for _ in trainer:epochs() do end
  return trainer
end

local rows, curves, taught = {}, {}, nil
local function compare(name, prepare)
  for _, seed in ipairs(options.seeds) do
    local model = network(seed)
    if prepare then prepare(model) end
    local trainer = trained(model, seed)
    local history = trainer:history()
    rows[#rows + 1] = { name, seed, #history, 100 * history[#history].best_accuracy,
      100 * pd.train.evaluate(model, long).accuracy, trainer:finished() }
    local curve = {}
    for i, epoch in ipairs(history) do curve[i] = 100 * epoch.accuracy end
    curves[#curves + 1] = { name = ('%s, seed %d'):format(name, seed), y = curve }
    if prepare and not taught then taught = model end
  end
end
compare('no hint')

-- ## Writing a hint
--
-- You know that a network for this language must remember the first half and compare the second
-- half with it. The notation of pushdown automata is `state, top --symbol--> next state, action`:
local text = [[
# Remember the first half, compare the second half with it.
%bottom ⊥
first,  x --s--> first,  push s     for all x for s in a b
first,  x --c--> second, replace x  for all x
second, s --s--> second, pop        for s in a b
]]
local path = run:path 'mine.pda'
files.write(path, text)

-- `⊥` is the bottom symbol, `for all x` stands for every possible top, and replacing x by x leaves
-- the stack unchanged. The hint does not state which strings are valid, nor what happens when the
-- comparison fails. The network must learn this. Write the file with any editor, or at the prompt
-- with `pd.files.write(path, text)`; `pd.pda.parse(text)` needs no file. The parsed automaton is:
print()
print(pd.pda.load(path):text())

-- ## Into the network
--
-- `pd.model.insert_rules` assigns one neuron to each state and sets the weights that the
-- transitions need. All other weights stay random. The report lists for each transition its neurons
-- and its *margin*: the distance of the nearest pre-activation from the threshold that would change
-- the result, given the other weights and any symbol popped before. A margin above 0 means that the
-- transition works. No strength was given, so `insert_rules` chose one by this margin.
print()
print(pd.model.insert_rules(network(1), path))

-- ## With the hint
--
-- Data, seeds and training are the same as before. Training also changes the inserted weights;
-- `insert_rules(model, path, { frozen = true })` freezes them.
--
-- In the curves below, a network with the hint stays near chance for a while and then learns the
-- language within a few epochs. Try fewer strings (`--strings 100`), other seeds (`--seeds 4,5,6`)
-- and a hint of your own. A hint makes it likely, not certain, that the network learns the
-- language.
compare('mine.pda', function(model) pd.model.insert_rules(model, path) end)
print()
run:table('trainings', {
  columns = { 'hint', 'seed', 'epochs', { 'validation accuracy, best', format = '%.1f' },
    { 'test accuracy', format = '%.1f' }, 'ended because' },
  rows = rows,
})
print('\nIn percent of the strings; guessing gives 50. Test strings are longer than any trained on.')
run:lines('curves', { title = 'Correctly classified validation strings', x_label = 'epoch', y_label = 'percent',
  series = curves })

-- ## A whole automaton, and no training
--
-- Two more lines define acceptance: a string that ends in the state `second` with an empty stack.
-- Then nothing remains to be learned, and the network classifies long strings correctly from the
-- start. `scores` returns the network's scores before the first symbol and after each symbol. The
-- last score, after the end symbol, is the answer: above 0 means valid.
local whole = pd.pda.parse(text .. '%accepting second\n%at_bottom\n')
local programmed = network(1)
print()
print(pd.model.insert_rules(programmed, whole))
local result = pd.train.evaluate(programmed, long)
print(('\nprogrammed, not trained: %d strings of %d to %d symbols, %d wrong'):format(result.strings, result.shortest,
  result.longest, result.missed + result.false_positives))
for _, w in ipairs { 'a b c b a', 'a b c a b' } do
  local scores = {}
  for t, score in ipairs(programmed:scores(w):to_table()) do scores[t] = ('%.2f'):format(score) end
  print(('%s: %s, scores %s'):format(w, programmed:accepts(w) and 'valid' or 'invalid', table.concat(scores, ' ')))
end

-- ## Out of the network
--
-- What has the first network with the hint learned? `extract_pda` explores all states that its
-- neurons can reach and writes them as a minimal automaton in the same notation. It also runs
-- network and automaton on strings and counts how often they agree. If every training string is
-- correctly classified, this is likely the automaton you had in mind, with the parts that you left
-- out.
local automaton, found = pd.model.extract_pda(taught)
print()
print(found)
print(automaton:text())
automaton:svg(run:path 'trained.svg')
print('the same automaton as the whole one above, up to names of states: '
  .. tostring(automaton:isomorphic(whole:minimal())))

-- `trained.svg` shows the automaton. A circle is a state, and a double circle is an accepting
-- state. The label of an arrow is "symbol, top: action".
--
-- ![The automaton in the trained weights](pictures/05_trained.svg)

-- ## When something is wrong
--
-- Messages name the file, the line and what was expected. A rejected hint leaves the model
-- unchanged. The examples are a symbol that is not in the alphabet, two transitions that contradict
-- each other, an unknown word and an unknown option:
local function refused(name, hint, change)
  files.write(run:path(name), hint)
  local good, message = pcall(pd.model.insert_rules, network(1), run:path(name), change)
  assert(not good, name .. ' was taken')
  -- Without the place in this script and without the folder.
  print('- ' .. message:gsub('^.-:%d+: ', '', 1):gsub(run.folder:gsub('%p', '%%%0') .. '/', ''))
end
print()
refused('symbol.pda', text .. 'second, x --d--> second, pop for all x\n')
refused('contradiction.pda', text .. 'first, a --b--> second, pop\n')
refused('word.pda', text .. 'second, a --b--> second, drop\n')
refused('option.pda', text, { strenght = 2 })

-- A transition that this network cannot perform is left out, and the report says why. It is an
-- error if no transition can be performed. This network can push only the symbol that it reads:
print()
print(pd.model.insert_rules(network(1), pd.pda.parse(text .. 'second, a --b--> first, push a\n')))
print('\nKept in ' .. run.folder)

-- [Hints](../reference/hints.md) describes the rest: strengths, dead states, several hints at once,
-- hints with options as Lua files, and what cannot be programmed.
-- [Models](../reference/models.md#recognizers) and [training](../reference/training.md#recognizers)
-- describe recognizers, [nspda](../reference/nspda.md) the network.
