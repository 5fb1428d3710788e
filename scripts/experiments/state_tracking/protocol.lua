-- State tracking as one place for the scripts of this folder: tasks, models, one training and its score.
-- docs/reference/experiments/state_tracking.md lists what comes from which paper and what was chosen.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local json = require 'pushdown.json'
local report = require 'pushdown.report'
local suite = require 'pushdown.suite'
local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''

local M = { tasks = {}, models = {}, model_names = {} }

-- Groups: the product of the elements so far is wanted after each of them. The others: one answer at the end.
local groups = { s3 = true, a4 = true, a5 = true, s5 = true, z60 = true }
local titles = { parity_check = 'Parity', modular_arithmetic = 'Modular arithmetic without brackets',
  modular_arithmetic_brackets = 'Modular arithmetic with brackets' }
M.tasks = { 'parity_check', 'modular_arithmetic', 'modular_arithmetic_brackets', 's3', 'z60', 'a4', 'a5', 's5' }
for i, model in ipairs(dofile(here .. 'models.lua')) do
  M.model_names[i], M.models[model.name] = model.name, model
end

-- What every script of this folder can change.
M.options = {
  { 'lengths', { 3, 40 }, 'shortest and longest source in training and validation' },
  { 'longest', 256, 'longest source of the score', minimum = 1 },
  { 'test_pairs', 128, 'pairs of the score: of every length or, of groups, in all', minimum = 1 },
  { 'valid_pairs', 512, 'pairs of the training lengths that choose a setting', minimum = 1 },
  { 'letters', 'all', 'elements of groups that occur in sources', choices = { 'all', 'generators' } },
  { 'steps', 20000, 'updates', minimum = 1, may_change = true },
  { 'steps_of_an_epoch', 500, 'updates over which training perplexity is averaged', minimum = 1 },
  { 'stop_perplexity', 0, 'training ends once that average is below this; 0: never', minimum = 0, type = 'number' },
  { 'clip', 1, 'longer gradients are scaled to this norm; 0: never', minimum = 0, type = 'number' },
  { 'hidden', 128, 'hidden units of a recurrent layer', minimum = 1 },
  { 'recurrent_layers', 2, 'layers of the recurrent models', minimum = 1 },
  { 'layers', 2, 'attention layers of the transformer', minimum = 1 },
  { 'width', 128, 'size of the vectors of the transformer', minimum = 1 },
  { 'heads', 4, 'heads of all models that have some', minimum = 1 },
}
M.quick = { steps = 2000, hidden = 32, lengths = { 3, 20 }, longest = 60, test_pairs = 32, valid_pairs = 128,
  recurrent_layers = 1, width = 32, steps_of_an_epoch = 100 }
M.smoke = { lengths = { 1, 4 }, longest = 6, test_pairs = 2, valid_pairs = 4, steps = 4, steps_of_an_epoch = 2,
  hidden = 4, recurrent_layers = 1, layers = 1, width = 8, heads = 2 }

function M.with_options(own) return experiment.join_options(own, M.options) end

function M.title(task) return titles[task] or task:upper() end

function M.pairs(options, lengths, one_length)
  if not groups[options.task] then
    return pd.task.chomsky(options.task, { lengths = lengths, one_length = one_length })
  end
  return pd.task.transduction { kind = 'word_problem', group = options.task, letters = options.letters,
    lengths = lengths, one_length = one_length }
end

function M.model(options, pairs)
  return pd.model.transducer(suite.network(M.models[options.model], options, { pairs = pairs, feedback = false,
    alignment = groups[options.task] and 'along' or 'after', output_embedding = 0, seed = options.seed,
    feedforward = 4 * options.width }))
end

-- (accuracy - chance) / (1 - chance), where chance guesses one of the symbols of the targets.
function M.scaled(accuracy, pairs)
  local chance = 1 / #pairs:target_alphabet():symbols()
  return (accuracy - chance) / (1 - chance)
end

local function trainer_of(options, run, pairs)
  local epochs = math.ceil(options.steps / options.steps_of_an_epoch)
  local resumed = run:resumed { epochs = epochs }
  if resumed then return resumed end
  return pd.train.trainer {
    model = M.model(options, pairs), train = M.pairs(options, options.lengths, true), batch = options.batch,
    epochs = epochs, epoch_batches = options.steps_of_an_epoch, accuracy_every = 0,
    stop_perplexity = options.stop_perplexity, stop_patience = 0, decay_patience = 0, clip_norm = options.clip,
    seed = options.seed, average = 'batches',
    optimizer = { kind = 'adam', learning_rate = options.learning_rate }, run_folder = run.folder, overwrite = true,
  }
end

-- The accuracy of the answer at every length, from 1 on. The transducer of a group answers at all places of one string.
function M.accuracies(model, options)
  local right, found = {}, {}
  if groups[options.task] then
    local drawn = M.pairs(options, { options.longest, options.longest }):draw(options.test_pairs, { seed = 1 })
    local sources, targets = {}, {}
    for i, pair in ipairs(drawn) do sources[i], targets[i] = pair.source, pair.target end
    for i, written in ipairs(model:translate(sources, { longest = options.longest })) do
      local next_symbol, t = targets[i]:gmatch '%S+', 0
      for symbol in written:gmatch '%S+' do
        t = t + 1
        right[t] = (right[t] or 0) + (symbol == next_symbol() and 1 or 0)
      end
    end
    for length = 1, options.longest do found[length] = right[length] / options.test_pairs end
    return found
  end
  for length = 1, options.longest do
    found[length] = pd.train.evaluate(model, M.pairs(options, { length, length }), { pairs = options.test_pairs,
      seed = length, batch = math.min(64, options.test_pairs) }).symbol_accuracy
  end
  return found
end

-- lengths.csv, and the scaled mean over the lengths of which the training has none.
local function score(model, options, run, pairs)
  local rows, sum = {}, 0
  for length, accuracy in ipairs(M.accuracies(model, options)) do
    rows[length] = { length, accuracy }
    if length > options.lengths[2] then sum = sum + accuracy end
  end
  report.table { columns = { 'length', 'accuracy' }, rows = rows }:save(run:path 'lengths')
  return M.scaled(sum / (options.longest - options.lengths[2]), pairs)
end

-- One training to its end, in the folder of `run`; goes on where an earlier one in this folder stopped. Writes
-- lengths.csv and, last, result.json. Returns the result.
function M.train(options, run)
  if options.longest <= options.lengths[2] then
    error(('--longest must be above the training lengths, %d, got %d'):format(options.lengths[2], options.longest), 0)
  end
  -- A run may be given more updates later.
  local before = run:earlier_result(function(result)
    return result.steps >= options.steps or not result.stopped:find('epochs are done', 1, true)
  end)
  if before then return before end
  local pairs_of_training = M.pairs(options, options.lengths)
  local trainer = trainer_of(options, run, pairs_of_training)
  for _ in trainer:epochs() do end
  local history, seconds = trainer:history(), 0
  for _, epoch in ipairs(history) do seconds = seconds + epoch.seconds end
  local model = pd.model.load(run.folder, { which = 'last' })
  -- Not the pairs of training, and the same for all runs of a task.
  local valid = pd.train.evaluate(model, pairs_of_training, { pairs = options.valid_pairs, seed = 2 ^ 31, batch = 64 })
  local result = json.ordered({ task = options.task, model = options.model, learning_rate = options.learning_rate,
    batch = options.batch, seed = options.seed, restart = options.restart, parameters = model:parameter_count(),
    steps = trainer:updates(), train_perplexity = history[#history].train_perplexity,
    valid_accuracy = valid.symbol_accuracy, valid_perplexity = valid.perplexity,
    score = score(model, options, run, pairs_of_training), seconds = seconds, stopped = trainer:finished(),
  }, { 'task', 'model', 'learning_rate', 'batch', 'seed', 'restart', 'parameters', 'steps',
    'train_perplexity', 'valid_accuracy', 'valid_perplexity', 'score', 'seconds', 'stopped' })
  run:finish(result)
  return result
end

return M
