-- The protocol of Delétang et al. (2023) as one place for the scripts of this folder: tasks, models, one training and
-- its score. docs/reference/experiments/chomsky.md lists what comes from the paper or its program and what was chosen.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local json = require 'pushdown.json'
local report = require 'pushdown.report'
local suite = require 'pushdown.suite'
local tables = require 'pushdown.tables'
local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''

local M = { tasks = {}, levels = {}, models = {}, model_names = {} }

local ends = {}  -- tasks whose targets have no fixed length: their end counts as a symbol
for i, task in ipairs(pd.task.chomsky_tasks()) do
  M.tasks[i], M.levels[task.name], ends[task.name] = task.name, task.level, task.ends
end
for i, model in ipairs(dofile(here .. 'models.lua')) do
  M.model_names[i], M.models[model.name] = model.name, model
end

-- What every script of this folder can change.
M.options = {
  { 'lengths', { 1, 40 }, 'shortest and longest source in training and validation' },
  { 'longest', 500, 'longest source of the score', minimum = 1 },
  { 'test_pairs', 512, 'pairs of every length of the score', minimum = 1 },
  { 'valid_pairs', 1024, 'pairs of the training lengths that choose a setting', minimum = 1 },
  { 'steps', 1000000, 'updates', minimum = 1, may_change = true },
  { 'steps_of_an_epoch', 1000, 'updates over which training perplexity is averaged', minimum = 1 },
  { 'stop_perplexity', 0, 'training ends once that average is below this; 0: never', minimum = 0, type = 'number' },
  { 'one_length', true, 'whether the sources of an update have one length' },
  { 'loss_per', 'symbol', 'what the loss of an update is the mean over', choices = { 'symbol', 'pair' } },
  { 'clip', 1, 'longer gradients are scaled to this norm; 0: never', minimum = 0, type = 'number' },
  { 'hidden', 256, 'hidden units of the recurrent models', minimum = 1 },
  { 'activation', 'relu', 'of the simple recurrent controllers', choices = { 'relu', 'tanh' } },
  { 'rectified', true, 'whether the output layer reads the positive part of the hidden state of recurrent networks' },
  { 'padded', true, 'whether targets without a fixed length are padded with zeros, which count in training' },
  { 'cell', 8, 'size of a cell of stack and tape', minimum = 1 },
  { 'stacks', 1, 'superposition stacks of a network', minimum = 1 },
  { 'vector', 'linear', 'activation of the vector that a superposition stack pushes', choices = { 'linear',
    'sigmoid' } },
  { 'tapes', 1, 'tapes of the Tape-RNN', minimum = 1 },
  { 'cells', 104, 'cells of a tape in training', minimum = 1 },
  { 'test_cells', 1004, 'cells of the tapes of the Tape-RNN at the lengths of the score', minimum = 1 },
  { 'states', 2, 'states of the nondeterministic stack', minimum = 1 },
  { 'symbols', 4, 'symbols of the nondeterministic stack', minimum = 1 },
  { 'layers', 5, 'attention layers of the transformer', minimum = 1 },
  { 'width', 64, 'size of the vectors of the transformer', minimum = 1 },
  { 'heads', 8, 'heads of a layer', minimum = 1 },
}
M.quick = { steps = 2000, hidden = 32, longest = 100, test_cells = 204, test_pairs = 10, valid_pairs = 200,
  layers = 2, width = 32, heads = 4, steps_of_an_epoch = 100 }
M.smoke = { lengths = { 1, 4 }, longest = 6, test_pairs = 2, valid_pairs = 4, steps = 4, steps_of_an_epoch = 2,
  hidden = 4, cell = 2, cells = 5, test_cells = 7, layers = 1, width = 8, heads = 2 }

function M.with_options(own) return experiment.join_options(own, M.options) end

function M.title(task)
  local words = task:gsub('_', ' ')
  return words:sub(1, 1):upper() .. words:sub(2)
end

function M.pairs(options, lengths, one_length)
  return pd.task.chomsky(options.task, { lengths = lengths, one_length = one_length })
end

function M.model(options, pairs)
  local row = M.models[options.model]
  return pd.model.transducer(suite.network(row, options, { pairs = pairs, feedback = false, output_embedding = 0,
    rectified = options.rectified and row.architecture ~= 'transformer', seed = options.seed,
    feedforward = 4 * options.width }))
end

-- The trained model with the options of the score.
local function scored(model, options, pairs)
  local row = M.models[options.model]
  if not row.scored then return model end
  local other = M.model(tables.merged(options, row.scored(options)), pairs)
  other:set_parameters(model:parameters())
  return other
end

local function trainer_of(options, run, pairs)
  local epochs = math.ceil(options.steps / options.steps_of_an_epoch)
  local resumed = run:resumed { epochs = epochs }
  if resumed then return resumed end
  return pd.train.trainer {
    model = M.model(options, pairs), train = M.pairs(options, options.lengths, options.one_length),
    batch = options.batch, epochs = epochs, epoch_batches = options.steps_of_an_epoch, accuracy_every = 0,
    stop_perplexity = options.stop_perplexity,
    stop_patience = 0, decay_patience = 0, clip_norm = options.clip, seed = options.seed,
    average = options.loss_per == 'symbol' and 'batches' or 'strings',
    pad_targets = options.padded and ends[options.task] or false,
    optimizer = { kind = 'adam', learning_rate = options.learning_rate }, run_folder = run.folder, overwrite = true,
  }
end

-- Lengths of the score, of which the training has none: first, last.
function M.score_lengths(options) return options.lengths[2] + 1, options.longest end

-- Where the length of a target is known, the networks of the paper cannot write an end. Ours learn it; this takes it
-- away before the accuracies are measured. Returns whether the task is such a task.
function M.take_end(model, task)
  if ends[task] then return false end
  local bias = model:parameters()['output.bias']
  local values = bias:to_table()
  values[#values] = -1e9
  model:set_parameters { ['output.bias'] = values }
  return true
end

-- Accuracy of a symbol on pairs with sources of one length, after take_end.
function M.accuracy(model, task, length, count, seed)
  local found = pd.train.evaluate(model, M.pairs({ task = task }, { length, length }, false), { pairs = count,
    seed = seed or length, batch = math.min(64, count) })
  return found[ends[task] and 'prediction_accuracy' or 'symbol_accuracy']
end

-- The accuracies at every length from 1 on: lengths.csv, and the mean over the lengths of the score.
local function by_length(model, options, run)
  local first, rows, sum, count = M.score_lengths(options), {}, 0, 0
  for length = 1, options.longest do
    local accuracy = M.accuracy(model, options.task, length, options.test_pairs)
    rows[length] = { length, accuracy }
    if length >= first then sum, count = sum + accuracy, count + 1 end
  end
  report.table { columns = { 'length', 'accuracy' }, rows = rows }:save(run:path 'lengths')
  return sum / count
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
  local pairs_of_training = M.pairs(options, options.lengths, false)
  local trainer = trainer_of(options, run, pairs_of_training)
  for _ in trainer:epochs() do end
  local history, seconds = trainer:history(), 0
  for _, epoch in ipairs(history) do seconds = seconds + epoch.seconds end
  local model = pd.model.load(run.folder, { which = 'last' })
  -- Not the pairs of training, and the same for all runs of a task.
  local of_valid = { pairs = options.valid_pairs, seed = 2 ^ 31, batch = 64 }
  local valid = pd.train.evaluate(model, pairs_of_training, of_valid)
  local perplexity, accuracy = valid.perplexity, valid.prediction_accuracy
  if M.take_end(model, options.task) then
    accuracy = pd.train.evaluate(model, pairs_of_training, of_valid).symbol_accuracy
  end
  local result = json.ordered({ task = options.task, model = options.model, learning_rate = options.learning_rate,
    batch = options.batch, seed = options.seed, restart = options.restart, parameters = model:parameter_count(),
    steps = trainer:updates(), train_perplexity = history[#history].train_perplexity,
    valid_accuracy = accuracy, valid_perplexity = perplexity,
    score = by_length(scored(model, options, pairs_of_training), options, run), seconds = seconds,
    stopped = trainer:finished(),
  }, { 'task', 'model', 'learning_rate', 'batch', 'seed', 'restart', 'parameters', 'steps',
    'train_perplexity', 'valid_accuracy', 'valid_perplexity', 'score', 'seconds', 'stopped' })
  run:finish(result)
  return result
end

return M
