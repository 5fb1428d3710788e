-- # Teach it a rule
--
-- A network that has to find out from examples alone what a stack is for needs many of them, and often
-- does not find out. You may know part of the answer already. This chapter writes such knowledge down as a
-- few lines of a pushdown automaton, puts them into the weights of a network, trains it with and without
-- them, and reads out of the trained network what it has become.
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
-- Palindromes with a marked centre: a word of a and b, then c, then the word backwards. `a b c b a` is one,
-- `a b c a b` is not. Strings with labels come from the grammar, invalid ones too: half of them random, half
-- one edit away from a valid string. Their labels are checked by the grammar.
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
-- A *recognizer* reads a string and says whether it is valid. This one is a neural state pushdown automaton
-- (`nspda`): a few neurons that are 0 or 1 are its state, and at every symbol they, the top of a stack and the
-- symbol decide the next state and whether the symbol is pushed, the top is popped, or the stack is left
-- alone. Those decisions are the weights. `pd.model.describe_recognizer 'nspda'` lists the options;
-- `discrete = 'never'` uses the weights as they are trained, without rounding them first.
local function network(seed)
  return pd.model.recognizer {
    alphabet = grammar:alphabet(), architecture = 'nspda', states = options.states, discrete = 'never', seed = seed,
  }
end
print()
print(network(1))

-- ## Without a hint
--
-- The label of a string is the target after each of its symbols (`stepwise`), and `average` makes long
-- strings count no more than short ones. `incremental` begins with one pass over the shortest strings,
-- then one over those and the next longer ones, and so on, before it takes all in random order. Training
-- ends when every training string is told right, or after the last epoch.
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
-- What do you know about this language? That the first half has to be remembered, and the second half compared
-- with it. In the notation of pushdown automata, `state, top --symbol--> next state, what to do`:
local text = [[
# Remember the first half, compare the second half with it.
%bottom ⊥
first,  x --s--> first,  push s     for all x for s in a b
first,  x --c--> second, replace x  for all x
second, s --s--> second, pop        for s in a b
]]
local path = run:path 'mine.pda'
files.write(path, text)

-- `⊥` is what lies at the bottom of the stack, `for all x` stands for every top there is, and replacing x by x
-- leaves the stack alone. Nothing is said about which strings are valid, nor about what happens when the
-- comparison fails: that is left to be learned. Write the file with any editor, or at the prompt with
-- `pd.files.write(path, text)`; `pd.pda.parse(text)` needs no file. This is what was understood:
print()
print(pd.pda.load(path):text())

-- ## Into the network
--
-- `pd.model.insert_rules` makes one neuron stand for each state and sets the weights that the transitions
-- need. All other weights stay random. The report tells for each transition between which neurons it goes
-- and its *margin*: how far the nearest sum is from the threshold that would change what happens, with the
-- other weights as they are and whatever was popped before. Above 0 it holds. The strength was chosen by this
-- margin, since none was given.
print()
print(pd.model.insert_rules(network(1), path))

-- ## With the hint
--
-- The same data, the same seeds, the same training. The inserted weights go on learning like all others;
-- `insert_rules(model, path, { frozen = true })` would hold them.
--
-- In the curves below a network with the hint stays near guessing for a while, and then has the language
-- within a few epochs. Try fewer strings (`--strings 100`), other seeds (`--seeds 4,5,6`) and a hint of
-- your own: a hint makes it likely that the language is found, not certain.
compare('mine.pda', function(model) pd.model.insert_rules(model, path) end)
print()
run:table('trainings', {
  columns = { 'hint', 'seed', 'epochs', { 'validation accuracy, best', format = '%.1f' },
    { 'test accuracy', format = '%.1f' }, 'ended because' },
  rows = rows,
})
print('\nIn percent of the strings; guessing gives 50. Test strings are longer than any trained on.')
run:lines('curves', { title = 'Validation strings told right', x_label = 'epoch', y_label = 'percent',
  series = curves })

-- ## A whole automaton, and no training
--
-- Two more lines say what is accepted: a string that ends in the state `second` with nothing left on the
-- stack. Then nothing remains to be learned, and the network is right on long strings from the start.
-- `scores` is what it says before any symbol and after each; the last one, after a mark that ends the string,
-- is the answer, and above 0 is valid.
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
-- What has the first network that was trained from the hint made of it? `extract_pda` follows its neurons
-- through everything they can do and writes it as an automaton, as small as possible, in the notation you
-- began with. It also runs both on strings and counts how often they agree. If every training string was told
-- right, chances are that this is the automaton you had in mind, with what you left out.
local automaton, found = pd.model.extract_pda(taught)
print()
print(found)
print(automaton:text())
automaton:svg(run:path 'trained.svg')
print('the same automaton as the whole one above, up to names of states: '
  .. tostring(automaton:isomorphic(whole:minimal())))

-- The drawing is in `trained.svg`: a circle is a state, two circles are one in which a string may end, and an
-- arrow says "symbol, top: what is done".
--
-- ![The automaton in the trained weights](pictures/05_trained.svg)

-- ## When something is wrong
--
-- Messages name the file, the line and what was expected. A model stays as it was when its hint is refused.
-- Here are a symbol that the language does not have, two transitions that contradict each other, a word and an
-- option that there are not:
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

-- A transition that this network cannot do is left out, and the report says why; it is an error if none can
-- be done. Only the symbol that is read can be pushed:
print()
print(pd.model.insert_rules(network(1), pd.pda.parse(text .. 'second, a --b--> first, push a\n')))
print('\nKept in ' .. run.folder)

-- [Hints](../reference/hints.md) has the rest: strengths, dead states, several hints at once, hints with
-- options as Lua files, what cannot be programmed. [Models](../reference/models.md#recognizers) and
-- [training](../reference/training.md#recognizers) describe recognizers, [nspda](../reference/nspda.md) the network.
