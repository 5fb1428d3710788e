-- # A first run
--
-- Can a network learn what a pushdown automaton knows? The language here is marked reversal: any
-- string of 0s and 1s, the mark #, and the same string backwards, `0 1 1 # 1 1 0`. After the mark
-- everything is determined, provided that one remembers the first half. An LSTM has to squeeze it
-- into a vector of fixed size; the NS-RNN is the same LSTM with a nondeterministic stack beside it.
--
-- Run it with `make run`, or `build/release/pushdown scripts/tutorial/01_first_run.lua`; `--help`
-- shows what can be changed, `--smoke` runs it in seconds.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local plot = require 'pushdown.plot'

local options, run = experiment.start {
  name = 'first_run',
  doc = 'Marked reversal: an LSTM and the same LSTM with a nondeterministic stack.',
  options = {
    { 'lengths', { 31, 51 }, 'shortest and longest string' },
    { 'strings', 10000, 'training strings; a tenth as many each for validation and test' },
    { 'epochs', 14, 'passes over the training strings', minimum = 1 },
    { 'restarts', 6, 'initial parameters to try for each model', minimum = 1 },
    { 'trial_epochs', 3, 'passes after which the best restart goes on alone', minimum = 1 },
    { 'hidden', 20, 'hidden units of the LSTM' },
    { 'learning_rate', 0.01, 'of Adam' },
    { 'batch', 10, 'strings in one update' },
    { 'seed', 1, 'decides the data and all parameters' },
  },
  smoke = { lengths = { 5, 9 }, strings = 100, epochs = 2, restarts = 2, trial_epochs = 1 },
}

-- ## The data
--
-- A grammar is a distribution over strings. The sampler draws a length, uniformly among those that
-- have strings at all, and then a string of exactly that length. It also knows the probability of
-- every string, and with that the cross-entropy that no model can beat: the lower bound.
local grammar = pd.grammar.load 'marked_reversal'
local sampler = grammar:sampler { lengths = options.lengths }
local held_out = math.max(1, math.floor(options.strings / 10))
local train = sampler:dataset(options.strings, { seed = 3 * options.seed })
local valid = sampler:dataset(held_out, { seed = 3 * options.seed + 1 })
local test = sampler:dataset(held_out, { seed = 3 * options.seed + 2 })
local bound = sampler:lower_bound(test)

print(('Marked reversal, lengths %d to %d: %d strings to train on, %d each to choose and to test.')
  :format(options.lengths[1], options.lengths[2], options.strings, held_out))
print(('Up to %d epochs; %d restarts each, of which the best on validation after %d goes on; seed %d.')
  :format(options.epochs, options.restarts, options.trial_epochs, options.seed))
print('For example: ' .. grammar:sample { length = options.lengths[1], seed = options.seed })

-- ## Training
--
-- Where training ends up depends on where it starts. So each model starts several times, for a few
-- epochs, and the start that does best on the validation strings goes on. The test strings have no
-- say in this. The trainer itself shows its progress and a line for every epoch.
local function learn(name, stack)
  local best
  local trial = math.min(options.trial_epochs, options.epochs)
  for restart = 1, options.restarts do
    local trainer = pd.train.trainer {
      model = pd.model.language_model {
        alphabet = grammar:alphabet(),
        controller = { kind = 'lstm', hidden = options.hidden },
        stack = stack,
        seed = 1000 * options.seed + restart,
      },
      train = train, valid = valid, batch = options.batch, epochs = options.epochs,
      optimizer = { kind = 'adam', learning_rate = options.learning_rate }, clip_norm = 5,
      decay_patience = 1, decay_factor = 0.5,
      seed = options.seed, run_folder = run:path(('%s/restart-%d'):format(name, restart)),
    }
    local reached
    for epoch in trainer:epochs() do
      reached = epoch.cross_entropy_difference
      if epoch.epoch >= trial then break end
    end
    print(('%s, restart %d: %.4f nats above the bound after %d epochs'):format(name, restart, reached, trial))
    if not best or reached < best.reached then
      best = { trainer = trainer, reached = reached, restart = restart }
    end
  end
  print(('%s: going on with restart %d'):format(name, best.restart))
  for _ in best.trainer:epochs() do end
  return best.trainer
end

local rows, histories = {}, {}
for _, model in ipairs {
  { name = 'LSTM', stack = { kind = 'none' } },
  { name = 'NS-RNN', stack = { kind = 'nondeterministic', states = 2, symbols = 2 } },
} do
  local trainer = learn(model.name, model.stack)
  -- The parameters of the best epoch, measured on the test strings.
  local learned = pd.model.load(trainer:run_folder())
  local result = pd.train.evaluate(learned, test)
  local history = trainer:history()
  local milliseconds = 0
  for _, epoch in ipairs(history) do
    milliseconds = milliseconds + 1000 / epoch.updates_per_second / #history
  end
  rows[#rows + 1] = { model.name, bound, result.cross_entropy, result.cross_entropy - bound,
    learned:parameter_count(), milliseconds }
  histories[#histories + 1] = { name = model.name, history = history }
end

-- ## The result
--
-- In nats per symbol, on strings that neither training nor choosing has seen. The difference is what
-- the model has not learned. Table, curves and configurations stay in the run folder.
run:lines('curves', plot.learning_curves(histories, 'Marked reversal, validation strings'))
run:table('results', {
  columns = { 'model', { 'lower bound', format = '%.4f' }, { 'cross-entropy', format = '%.4f' },
    { 'cross-entropy difference', format = '%.4f' }, 'parameters', { 'ms per update', format = '%.2f' } },
  rows = rows,
})
print('\nEntropies in nats per symbol. Table, curves and configurations: ' .. run.folder)
