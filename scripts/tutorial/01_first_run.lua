-- # A first run
--
-- Can a network learn what a pushdown automaton can do? This chapter trains two networks on marked
-- reversal: a string of 0s and 1s, the mark #, and the same string reversed, as in `0 1 1 # 1 1 0`.
-- The first half determines the second, so a model must remember the first half. An LSTM has to
-- store it in a vector of fixed size. The second network is an NS-RNN (nondeterministic stack RNN):
-- the same LSTM with a [nondeterministic stack](../reference/stacks.md#nondeterministic).
--
-- Run the chapter with `make run`, or with
-- `build/release/pushdown scripts/tutorial/01_first_run.lua`. `--help` lists the options, and
-- `--smoke` runs a small version in seconds.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local plot = require 'pushdown.plot'

local options, run = experiment.start {
  name = 'first_run',
  doc = 'Marked reversal: an LSTM and the same LSTM with a nondeterministic stack.',
  options = {
    { 'lengths', { 40, 80 }, 'shortest and longest string' },
    { 'strings', 10000, 'training strings; a tenth as many each for validation and test' },
    { 'epochs', 20, 'passes over the training strings', minimum = 1 },
    { 'restarts', 8, 'initial parameters to try for each model', minimum = 1 },
    { 'rungs', { 4, 8, 12 }, 'passes after which the better half of the restarts goes on' },
    { 'hidden', 20, 'hidden units of the LSTM' },
    { 'learning_rate', 0.01, 'of Adam' },
    { 'batch', 10, 'strings in one update' },
    { 'seed', 1, 'decides the data and all parameters' },
  },
  smoke = { lengths = { 5, 9 }, strings = 100, epochs = 3, restarts = 2, rungs = { 1 } },
}

-- ## The data
--
-- A grammar is a distribution over strings. The sampler first draws a length, uniformly among the
-- lengths that have strings, and then a string of exactly that length. It computes the exact
-- probability of every string. The cross-entropy of this distribution on the test strings is the
-- lower bound: no model does better in the long run.
local grammar = pd.grammar.load 'marked_reversal'
local sampler = grammar:sampler { lengths = options.lengths }
local held_out = math.max(1, math.floor(options.strings / 10))
local train = sampler:dataset(options.strings, { seed = 3 * options.seed })
local valid = sampler:dataset(held_out, { seed = 3 * options.seed + 1 })
local test = sampler:dataset(held_out, { seed = 3 * options.seed + 2 })
local bound = sampler:lower_bound(test)

print(('Marked reversal, lengths %d to %d: %d strings to train on, %d each to choose and to test.')
  :format(options.lengths[1], options.lengths[2], options.strings, held_out))
print(('%d epochs; %d restarts each, of which the better half goes on after epochs %s; seed %d.')
  :format(options.epochs, options.restarts, table.concat(options.rungs, ', '), options.seed))
print('For example: ' .. train:strings()[1])

-- ## Training
--
-- Sizes, lengths, optimizer, clipping and learning rate schedule are those of DuSell and Chiang
-- (2020), section 5.5. As in the paper, the models do not predict where a string ends: the mark and
-- the symbols before it determine that.
--
-- The result of a training depends on the initial parameters, so each model starts from 8 random
-- initializations. `pd.search.run` trains these restarts side by side on the threads of the session.
-- After epochs 4, 8 and 12 only the better half continues: the restarts with the lower
-- cross-entropy on the validation strings. The last one trains to epoch 20. The test strings
-- influence neither training nor selection. If you stop the chapter with Ctrl-C, it tells how to
-- continue it.
local function learn(model)
  return pd.search.run {
    name = model.name, folder = run:path(model.name), restarts = options.restarts, rungs = options.rungs,
    make = function(restart, folder)
      return pd.train.trainer {
        model = pd.model.language_model {
          alphabet = grammar:alphabet(),
          controller = { kind = 'lstm', hidden = options.hidden },
          stack = model.stack,
          end_symbol = false,
          seed = 1000 * options.seed + restart,
        },
        train = train, valid = valid, batch = options.batch, epochs = options.epochs,
        optimizer = { kind = 'adam', learning_rate = options.learning_rate }, clip_norm = 5,
        decay_patience = 5, decay_factor = 0.9, stop_patience = 10,
        seed = options.seed, run_folder = folder,
      }
    end,
  }
end

local rows, histories = {}, {}
for _, model in ipairs {
  { name = 'LSTM', stack = { kind = 'none' } },
  { name = 'NS-RNN', stack = { kind = 'nondeterministic', states = 2, symbols = 2,
    initialization = 'xavier' } },
} do
  local found = learn(model)
  io.write('\n', found.table:text())
  -- The parameters of the best epoch, measured on the test strings.
  local learned = pd.model.load(found.folder)
  local result = pd.train.evaluate(learned, test)
  local history = found.trainer:history()
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
-- The printed table has one row for each model: the best epoch of its best restart, measured on the
-- test strings. All entropies are in nats per symbol. The difference between a model's
-- cross-entropy and the lower bound measures what the model has not learned. It is the result of
-- the best of eight restarts, not of a typical one. The tables of the searches above show how much
-- the restarts differ.
--
-- These are the differences of three repetitions, each with another random seed (`--seed`). On
-- another processor the numbers of a seed differ.
--
-- | seed | LSTM, difference | NS-RNN, difference |
-- |---|---|---|
-- | 1 | 0.14 | 0.0019 |
-- | 2 | 0.13 | 0.0017 |
-- | 3 | 0.08 | 0.0021 |
--
-- The curves show the same difference on the validation strings after each epoch, for the best
-- restart of each model with seed 1. The run folder keeps the table, the curves and the
-- configurations.
--
-- ![Learning curves, the best of eight restarts of each model](pictures/01_curves.svg)
run:lines('curves', plot.learning_curves(histories,
  ('Marked reversal, validation strings, best of %d restarts'):format(options.restarts)))
run:table('results', {
  columns = { 'model', { 'lower bound', format = '%.4f' }, { 'cross-entropy', format = '%.4f' },
    { 'cross-entropy difference', format = '%.4f' }, 'parameters', { 'ms per update', format = '%.2f' } },
  rows = rows,
})
print('\nEntropies in nats per symbol. Table, curves and configurations: ' .. run.folder)

-- ## At the prompt
--
-- `build/release/pushdown` without a script starts the prompt. `?` alone prints a cheat sheet of
-- the prompt. Tab completes names, also inside braces and quotes. You can load the model of a run
-- and query it. In the first line, replace the date with that of your run, and the number of the
-- restart with that of the best restart in your output:
--
-- ```
-- pd> m = pd.model.load('runs/first_run/20260101-120000/NS-RNN/restart-1')
-- pd> m
-- pd> g = pd.grammar.load 'marked_reversal'
-- pd> s = g:sampler{ lengths = { 40, 80 } }
-- pd> w = g:sample{ length = 61, seed = 1 }
-- pd> s:log_probability(w), m:log_probability(w)
-- pd> ? pd.train.evaluate
-- pd> help 'lower bound'
-- ```
--
-- The two log-probabilities of the string of 61 symbols differ by less than one nat. The model has
-- seen lengths from 40 to 80 only: the short string `0 1 1 # 1 1 0` is far less probable for it
-- than for the grammar.
