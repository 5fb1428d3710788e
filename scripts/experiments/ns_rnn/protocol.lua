-- The protocol of DuSell and Chiang (2020), section 5, shared by the scripts of this folder: tasks,
-- models, their options, the data and one training.
--
-- Data: 10,000 training and 1,000 validation strings of 40 to 80 symbols, drawn separately for each run
-- from its seed in groups of 10 strings of one length; 100 test strings of each length from 40 to
-- 100, the same for all runs of a task. Training: an LSTM with 20 hidden units, Adam, gradients clipped
-- to norm 5, learning rate times 0.9 after 5 epochs without improvement, end of training after 10. The
-- limit of 200 epochs is that of the published code. As in the paper, the models do not predict the end of a
-- string, and the lower bound is nevertheless that of whole strings with their ends. A model can therefore be
-- below it, by up to 0.007 nats per symbol on the tasks of the paper.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local json = require 'pushdown.json'

local M = {}

-- The tasks of section 5.1 with the numbers of PDA states and stack symbols of section 5.5.
M.tasks = { 'marked_reversal', 'unmarked_reversal', 'padded_reversal', 'dyck', 'hardest_cfl' }
local automaton_sizes = { padded_reversal = { 3, 2 }, hardest_cfl = { 3, 3 } }

M.titles = { marked_reversal = 'Marked reversal', unmarked_reversal = 'Unmarked reversal',
  padded_reversal = 'Padded reversal', dyck = 'Dyck language', hardest_cfl = 'Hardest CFL' }

-- Name in the plots, and whether the search includes the size of the stack's vectors (section 5.5).
M.models = {
  lstm = { label = 'LSTM' },
  superposition = { label = 'JM (superposition)', sized = true },
  stratification = { label = 'Gref (stratification)', sized = true },
  ns = { label = 'NS' },
  rns = { label = 'RNS' },
  vrns = { label = 'VRNS' },
}
M.model_names = { 'lstm', 'superposition', 'stratification', 'ns', 'rns', 'vrns' }

-- The short name of a task for folders. A task is the name of a grammar or the path of a grammar file.
function M.short_name(task)
  return (task:gsub('^.*/', ''):gsub('%.%w+$', ''))
end

function M.title(task) return M.titles[task] or M.short_name(task):gsub('_', ' ') end

-- Options of every script in this folder, with the paper's values.
M.options = {
  { 'lengths', { 40, 80 }, 'shortest and longest string of training and validation' },
  { 'strings', 10000, 'training strings', minimum = 1 },
  { 'valid_strings', 1000, 'validation strings', minimum = 1 },
  { 'test_lengths', { 40, 100 }, 'shortest and longest test string' },
  { 'test_strings', 100, 'test strings of each length', minimum = 1 },
  { 'epochs', 200, 'largest number of passes over the training strings', minimum = 1, may_change = true },
  { 'hidden', 20, 'hidden units of the LSTM', minimum = 1 },
  { 'states', 0, 'PDA states of ns, rns and vrns; 0: those of the paper for its tasks, 2 for others', minimum = 0 },
  { 'symbols', 0, 'stack symbols of ns, rns and vrns; 0: those of the paper for its tasks, 2 for others', minimum = 0 },
  { 'stop_patience', 10, 'epochs without improvement after which training ends; 0: never', minimum = 0 },
  { 'initialization', 'xavier', 'initialization of the action layer of ns', choices = { 'xavier', 'uniform' } },
  { 'batch', 10, 'strings per update', minimum = 1 },
}
M.quick = { strings = 2000, valid_strings = 200, test_strings = 10, epochs = 10 }
M.smoke = { lengths = { 6, 12 }, strings = 60, valid_strings = 20, test_lengths = { 6, 16 },
  test_strings = 2, epochs = 2 }

-- The options of a script, followed by those of all scripts.
function M.with_options(own) return experiment.join_options(own, M.options) end

-- The stack of a model, as the options of train.lua describe it.
function M.stack(options)
  local sizes = automaton_sizes[M.short_name(options.task)] or { 2, 2 }
  local states = options.states > 0 and options.states or sizes[1]
  local symbols = options.symbols > 0 and options.symbols or sizes[2]
  local model = options.model
  if model == 'lstm' then return { kind = 'none' } end
  if model == 'superposition' or model == 'stratification' then
    return { kind = model, size = options.size }
  end
  if model == 'vrns' then
    return { kind = 'vector_nondeterministic', states = states, symbols = symbols,
      size = options.vector_size }
  end
  local stack = { kind = 'nondeterministic', states = states, symbols = symbols,
    initialization = options.initialization }
  if model == 'rns' then
    stack.reading, stack.normalized, stack.bottom = 'state_symbol', false, 'reexposed'
  end
  return stack
end

-- A number that depends only on the text, for the seed of a task's test strings.
local function number_of(text)
  local sum = 0
  for i = 1, #text do sum = (sum * 257 + text:byte(i)) % 2147483647 end
  return sum
end

-- The test strings of a task: `test_strings` of each length that has strings, with their
-- log-probabilities under the distribution from which they are drawn (length uniform, then the grammar).
function M.test_set(grammar, options)
  local whole = grammar:sampler { lengths = options.test_lengths }
  local strings, log_probabilities = {}, {}
  for length = options.test_lengths[1], options.test_lengths[2] do
    if grammar:log_length_probability(length) > -math.huge then
      local set = grammar:sampler { lengths = { length, length } }
        :dataset(options.test_strings, { seed = number_of(M.short_name(options.task)) + length })
      for _, text in ipairs(set:strings()) do
        strings[#strings + 1] = text
        log_probabilities[#log_probabilities + 1] = whole:log_probability(text)
      end
    end
  end
  return pd.task.dataset { alphabet = grammar:alphabet(), strings = strings,
    log_probabilities = log_probabilities }
end

-- Runs one training to its end in the folder of `run`, or resumes an earlier one in this folder. Writes
-- test.csv (a row for each length) and finally result.json. Returns the result.
function M.train(options, run)
  -- The user can give a run more epochs later.
  local before = run:earlier_result(function(result)
    return result.converged or result.epochs >= options.epochs
  end)
  if before then return before end
  local grammar = pd.grammar.load(options.task)
  local trainer = run:resumed { epochs = options.epochs }
  if not trainer then
    local sampler = grammar:sampler { lengths = options.lengths }
    trainer = pd.train.trainer {
      model = pd.model.language_model {
        alphabet = grammar:alphabet(),
        controller = { kind = 'lstm', hidden = options.hidden },
        stack = M.stack(options),
        end_symbol = false,
        seed = options.seed,
      },
      train = sampler:dataset(options.strings, { seed = options.seed, batch = options.batch }),
      valid = sampler:dataset(options.valid_strings, { seed = options.seed + 2 ^ 31, batch = options.batch }),
      batch = options.batch, average = 'batches', bound = 'string', epochs = options.epochs, seed = options.seed,
      optimizer = { kind = 'adam', learning_rate = options.learning_rate }, clip_norm = 5,
      decay_patience = 5, decay_factor = 0.9, stop_patience = options.stop_patience,
      run_folder = run.folder, overwrite = true,
    }
  end
  for _ in trainer:epochs() do end
  local model = pd.model.load(run.folder)
  local history = trainer:history()
  local test = pd.train.evaluate(model, M.test_set(grammar, options), { bin_width = 1 })
  local seconds, best = 0, nil
  for _, epoch in ipairs(history) do
    seconds = seconds + epoch.seconds
    if not best or epoch.cross_entropy < best.cross_entropy then best = epoch end
  end
  local rows = {}
  for _, bin in ipairs(test.bins) do
    rows[#rows + 1] = { bin.shortest, bin.strings, bin.symbols, bin.cross_entropy, bin.lower_bound,
      bin.cross_entropy_difference }
  end
  require 'pushdown.report'.table({
    columns = { 'length', 'strings', 'symbols', 'cross_entropy', 'lower_bound', 'cross_entropy_difference' },
    rows = rows }):save(run:path 'test')
  local result = json.ordered({
    task = options.task, model = options.model, learning_rate = options.learning_rate,
    seed = options.seed, restart = options.restart, parameters = model:parameter_count(),
    epochs = #history, best_epoch = best.epoch, seconds = seconds, stopped = trainer:finished(),
    converged = options.stop_patience > 0 and history[#history].epochs_since_improvement >= options.stop_patience,
    validation_cross_entropy = best.cross_entropy, validation_lower_bound = best.lower_bound,
    validation_difference = best.cross_entropy_difference,
    test_cross_entropy = test.cross_entropy, test_lower_bound = test.lower_bound,
    test_difference = test.cross_entropy_difference,
  }, { 'task', 'model', 'learning_rate', 'seed', 'restart', 'parameters', 'epochs', 'best_epoch', 'seconds',
    'stopped', 'converged', 'validation_cross_entropy', 'validation_lower_bound', 'validation_difference',
    'test_cross_entropy', 'test_lower_bound', 'test_difference' })
  run:finish(result)
  return result
end

return M
