-- The protocol of Delétang et al. (2023) as one place for the scripts of this folder: tasks, models, one training and
-- its score. docs/reference/experiments/chomsky.md lists what comes from the paper or its program and what was chosen.
local pd = require 'pushdown'
local protocol = require 'pushdown.protocol'
local tables = require 'pushdown.tables'
local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''

local names, levels = {}, {}
local ends = {}  -- tasks whose targets have no fixed length: their end counts as a symbol
for i, task in ipairs(pd.task.chomsky_tasks()) do
  names[i], levels[task.name], ends[task.name] = task.name, task.level, task.ends
end

local function pairs_of(options, lengths, one_length)
  return pd.task.chomsky(options.task, { lengths = lengths, one_length = one_length })
end

local M

-- Where the length of a target is known, the networks of the paper cannot write an end. Ours learn it; this takes it
-- away before the accuracies are measured. Returns whether the task is such a task.
local function take_end(model, task)
  if ends[task] then return false end
  local bias = model:parameters()['output.bias']
  local values = bias:to_table()
  values[#values] = -1e9
  model:set_parameters { ['output.bias'] = values }
  return true
end

-- Accuracy of a symbol on pairs with sources of one length, after take_end.
local function accuracy(model, task, length, count, seed)
  local found = pd.train.evaluate(model, pairs_of({ task = task }, { length, length }, false), { pairs = count,
    seed = seed or length, batch = math.min(64, count) })
  return found[ends[task] and 'prediction_accuracy' or 'symbol_accuracy']
end

-- The trained model with the options of the score.
local function scored(model, options, pairs_of_training)
  local row = M.models[options.model]
  if not row.scored then return model end
  local other = M:model(tables.merged(options, row.scored(options)), pairs_of_training)
  other:set_parameters(model:parameters())
  return other
end

M = protocol.transducers {
  folder = here, tasks = names,
  title = function(task)
    local words = task:gsub('_', ' ')
    return words:sub(1, 1):upper() .. words:sub(2)
  end,
  -- What every script of this folder can change.
  options = {
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
  },
  quick = { steps = 2000, hidden = 32, longest = 100, test_cells = 204, test_pairs = 10, valid_pairs = 200,
    layers = 2, width = 32, heads = 4, steps_of_an_epoch = 100 },
  smoke = { lengths = { 1, 4 }, longest = 6, test_pairs = 2, valid_pairs = 4, steps = 4, steps_of_an_epoch = 2,
    hidden = 4, cell = 2, cells = 5, test_cells = 7, layers = 1, width = 8, heads = 2 },
  pairs = pairs_of,
  model_options = function(options)
    return { rectified = options.rectified and M.models[options.model].architecture ~= 'transformer' }
  end,
  training = function(options)
    return { train = pairs_of(options, options.lengths, options.one_length),
      average = options.loss_per == 'symbol' and 'batches' or 'strings',
      pad_targets = options.padded and ends[options.task] or false }
  end,
  validate = function(model, options, pairs_of_training, of_valid)
    local valid = pd.train.evaluate(model, pairs_of_training, of_valid)
    if not take_end(model, options.task) then return valid.prediction_accuracy, valid.perplexity end
    return pd.train.evaluate(model, pairs_of_training, of_valid).symbol_accuracy, valid.perplexity
  end,
  accuracies = function(model, options, pairs_of_training)
    local found, measured = {}, scored(model, options, pairs_of_training)
    for length = 1, options.longest do
      found[length] = accuracy(measured, options.task, length, options.test_pairs)
    end
    return found
  end,
}
M.levels, M.take_end, M.accuracy = levels, take_end, accuracy
return M
