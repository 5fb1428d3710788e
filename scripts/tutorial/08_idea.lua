-- # An idea, from a sentence to a figure
--
-- The sentence: *a larger controller would learn to use its stack.* An LSTM of 20 units with a
-- superposition stack learns marked reversal slowly. Perhaps it is too small to find out what the
-- stack is for. This chapter turns the sentence into a comparison: what is varied, what is kept, which
-- number decides, a control, and a figure. It takes a minute.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local statistics = require 'pushdown.statistics'

local options, run = experiment.start {
  name = 'idea', doc = 'Does a larger controller learn to use its stack?',
  options = {
    { 'grammar', 'marked_reversal', 'name of a grammar or path of a grammar file' },
    { 'lengths', { 1, 40 }, 'shortest and longest string' },
    { 'longer', { 41, 80 }, 'the same of the longer test strings' },
    { 'strings', 5000, 'training strings; a tenth as many for validation and test', minimum = 10 },
    { 'epochs', 12, 'passes over the training strings', minimum = 1 },
    { 'sizes', { 20, 64 }, 'hidden units of the two controllers' },
    { 'seeds', 5, 'seeds, each with its own data and parameters', minimum = 1 },
    { 'learning_rate', 0.005, 'of Adam' },
  },
  smoke = { strings = 30, epochs = 2, lengths = { 1, 9 }, longer = { 11, 15 }, seeds = 2, sizes = { 3, 5 } },
}

-- ## What is varied, and what is kept
--
-- There are three arms. Two differ only in the number of hidden units. The third one is a control: the
-- large controller without a stack. Only if the second arm is better than the third, too, does the
-- gain come from the stack. Data, epochs and optimizer are the same, and a seed has the same strings
-- in every arm.
local grammar = pd.grammar.load(options.grammar)
local sampler = grammar:sampler { lengths = options.lengths }
local longer = grammar:sampler { lengths = options.longer }
local held_out = math.ceil(options.strings / 10)
local small, large = unpack(options.sizes)
local arms = {
  { name = small .. ' units', hidden = small, stack = { kind = 'superposition', size = 10 } },
  { name = large .. ' units', hidden = large, stack = { kind = 'superposition', size = 10 } },
  { name = large .. ' units, no stack', hidden = large, stack = { kind = 'none' } },
}

-- ## Training
--
-- One seed proves nothing. All seeds of all arms are trained side by side, and all of them count.
local trainers, names = {}, {}
for seed = 1, options.seeds do
  local train = sampler:dataset(options.strings, { seed = 10 * seed })
  local valid = sampler:dataset(held_out, { seed = 10 * seed + 1 })
  for k, arm in ipairs(arms) do
    names[#names + 1] = ('seed %d, %s'):format(seed, arm.name)
    trainers[#trainers + 1] = pd.train.trainer {
      model = pd.model.language_model {
        alphabet = grammar:alphabet(), controller = { kind = 'lstm', hidden = arm.hidden },
        stack = arm.stack, end_symbol = false, seed = seed },
      train = train, valid = valid, epochs = options.epochs, seed = seed, stop_patience = 0,
      optimizer = { kind = 'adam', learning_rate = options.learning_rate },
      run_folder = run:path(('seed-%d-arm-%d'):format(seed, k)),
    }
  end
end
pd.train.together(trainers, { names = names }):run()

-- ## The result
--
-- The number that decides was chosen before: the cross-entropy above the lower bound on test strings,
-- which nothing else has used, for the parameters of the best epoch on validation strings.
local differences = { {}, {}, {} }
local function measure(name, title, on)
  local rows = {}
  for seed = 1, options.seeds do
    local test = on:dataset(held_out, { seed = 10 * seed + 2 })
    rows[seed] = { 'seed ' .. seed }
    for k in ipairs(arms) do
      local model = pd.model.load(trainers[(seed - 1) * #arms + k]:run_folder())
      differences[k][seed] = pd.train.evaluate(model, test).cross_entropy_difference
      rows[seed][k + 1] = differences[k][seed]
    end
  end
  rows[#rows + 1] = { 'mean' }
  local columns = { '' }
  for k, arm in ipairs(arms) do
    columns[k + 1] = { arm.name, format = '%.4f' }
    rows[#rows][k + 1] = (statistics(differences[k]))
  end
  run:table(name, { title = 'nats per symbol above the lower bound, ' .. title, columns = columns, rows = rows })
end
measure('results', 'test strings', sampler)

-- Could that be chance? If both arms were equally good, each would be better for a seed with
-- probability one half.
local function compare(a, b)
  local better = 0
  for seed = 1, options.seeds do
    if differences[a][seed] < differences[b][seed] then better = better + 1 end
  end
  print(('%s better than %s: %d of %d seeds'):format(arms[a].name, arms[b].name, better, options.seeds))
end
print()
compare(2, 1)
compare(2, 3)
print(('all %d seeds by luck: probability %.2g'):format(options.seeds, 0.5 ^ options.seeds))

-- The larger controller is better for all five seeds: its mean difference is less than half of that
-- of the small one, and luck alone would do this once in 32 times. So size matters. But the control
-- is as good without a stack, so the idea is only half right: the gain does not come from the stack.
-- The large network remembers the first half in its own units. If that is so, it must fail on strings
-- that are longer than those that it was trained on, as the small one does:
measure('longer', 'longer test strings', longer)

-- It does. On longer strings no arm is better than another: none of the networks has learned the
-- rule. Without the control and the longer strings, the first two columns alone would have looked like
-- a success of the stack. [Chapter 1](01_first_run.md) shows a network that uses its stack, on strings
-- of 40 to 80 symbols, which are too long to be remembered.
--
-- ## The figure
--
-- Each arm is one line, the mean over the seeds, with a band from the best to the worst seed.
local series = {}
for k, arm in ipairs(arms) do
  local line = { name = arm.name, y = {}, low = {}, high = {} }
  for i = k, #trainers, #arms do
    for epoch, numbers in ipairs(trainers[i]:history()) do
      local value = numbers.cross_entropy_difference
      line.y[epoch] = (line.y[epoch] or 0) + value / options.seeds
      line.low[epoch] = math.min(line.low[epoch] or value, value)
      line.high[epoch] = math.max(line.high[epoch] or value, value)
    end
  end
  series[k] = line
end
run:lines('curves', { title = 'Marked reversal, validation strings', x_label = 'epoch', series = series,
  y_label = 'nats per symbol above the bound' })

-- ![Mean and range over the seeds of the three arms](pictures/08_curves.svg)
--
-- An idea about a stack is tested in the same way: [chapter 6](06_own_stack.md) writes the stack, and
-- the arms are its kind, the one that it changes, and no stack. `pd.stack.check` runs the contract
-- tests, and `pd.stack.program` shows the recorded program.
