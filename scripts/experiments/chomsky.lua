-- The tasks of Delétang et al. (2023): the mean accuracy over the lengths 41 to 500 of every model on every task, with
-- the three learning rates and ten seeds of the paper, or by random search over learning rate and batch.
-- docs/reference/experiments/chomsky.md lists what comes from the paper or its program and what was chosen.
--
--   pushdown chomsky --task reverse_string --model stack_rnn --learning-rate 1e-3
--   pushdown chomsky scores --tasks reverse_string,parity_check --models lstm,stack_rnn
--   pushdown chomsky scores --learning-rates 1e-4,1e-2 --samples 10 --restarts 1
local pd = require 'pushdown'
local tables = require 'pushdown.tables'

-- ---- Models: the options of a transducer, which may be functions of the options of the run ----

local function elman(options) return { kind = 'elman', hidden = options.hidden, activation = options.activation } end
local function lstm(options) return { kind = 'lstm', hidden = options.hidden } end

-- With several stacks, one softmax gives the weights of all their actions, as in the program of the paper.
local function superposition(options)
  return { kind = 'superposition', size = options.cell, stacks = options.stacks, joint_actions = options.stacks > 1,
    vector = options.vector }
end

local models = {
  { name = 'rnn', label = 'RNN', controller = elman },
  { name = 'lstm', label = 'LSTM', controller = lstm },
  { name = 'stack_rnn', label = 'Stack-RNN', controller = elman, stack = superposition },
  -- The weights do not depend on the number of cells, so that a longer tape can be scored: `scored` gives the options
  -- that differ then.
  { name = 'tape_rnn', label = 'Tape-RNN', controller = elman, stack = function(options)
    return { kind = 'tape', cells = options.cells, size = options.cell, tapes = options.tapes }
  end, scored = function(options) return { cells = options.test_cells } end },
  -- The NDStack-RNN of the paper has probabilities of actions, and some of its runs read the states, too. Here they are
  -- probabilities given state and top symbol (DuSell and Chiang 2020), there of all actions together.
  { name = 'ns_rnn', label = 'NS-RNN', controller = elman, stack = function(options)
    return { kind = 'nondeterministic', states = options.states, symbols = options.symbols }
  end },
  -- With weights of actions, of 2022.
  { name = 'ndstack_rnn', label = 'NDStack-RNN', controller = elman, stack = function(options)
    return { kind = 'nondeterministic', states = options.states, symbols = options.symbols, reading = 'state_symbol',
      normalized = false, bottom = 'reexposed' }
  end },
  { name = 'baby_ntm', label = 'Baby-NTM', controller = elman, stack = function(options)
    return { kind = 'baby_ntm', cells = options.cells, size = options.cell }
  end },
  { name = 'stack_lstm', label = 'Stack-LSTM', controller = lstm, stack = superposition },
  { name = 'stratification', label = 'Stratification-RNN', controller = elman, stack = function(options)
    return { kind = 'stratification', size = options.cell }
  end },
}
for i, row in ipairs(pd.paper.transformers()) do table.insert(models, i + 2, row) end

-- ---- Tasks ----

local names, levels = {}, {}
local ends = {}  -- tasks whose targets have no fixed length: their end counts as a symbol
for i, task in ipairs(pd.task.chomsky_tasks()) do
  names[i], levels[task.name], ends[task.name] = task.name, task.level, task.ends
end

local function pairs_of(options, lengths, one_length)
  return pd.task.chomsky(options.task, { lengths = lengths, one_length = one_length })
end

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

-- ---- The paper ----

local train, score = pd.paper.transducers {
  doc = 'Trains one model on one task of Delétang et al. (2023), and measures the accuracy of a symbol at every '
    .. 'length.',
  task = 'reverse_string', model = 'stack_rnn', models = models, batch = 128, pairs = pairs_of,
  model_options = function(options, model)
    return { rectified = options.rectified and model.architecture ~= 'transformer' }
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
  accuracies = function(model, options, make)
    local found, measured = {}, model
    for _, row in ipairs(models) do
      if row.name == options.model and row.scored then
        measured = make(tables.merged(options, row.scored(options)))
        measured:set_parameters(model:parameters())
      end
    end
    for length = 1, options.longest do
      found[length] = accuracy(measured, options.task, length, options.test_pairs)
    end
    return found
  end,
  score = function(first, last) return ('mean accuracy of a symbol over the lengths %d to %d'):format(first, last) end,
}

local drawn = { 1e-4, 1e-2 }
return (pd.paper.new {
  name = 'chomsky', models = models, train = train, tasks = names,
  title = function(task)
    local words = task:gsub('_', ' ')
    return words:sub(1, 1):upper() .. words:sub(2)
  end,
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
  lengths = { x_label = 'length of the source', y_label = 'accuracy of a symbol (%)' },
  -- What recipes measure in the same way.
  measures = { pairs = pairs_of, take_end = take_end, accuracy = accuracy },
  tables = { scores = pd.paper.scores {
    doc = 'Accuracies on long strings of models on the tasks of Delétang et al. (2023).', restarts = 10, score = score,
    choose = { 'valid_accuracy', 'valid_perplexity' },
    searched = pd.paper.rates_and_batches({ 1e-4, 3e-4, 5e-4 }, { 128, 128 }),
    quick = { samples = 3, learning_rates = drawn, batches = { 16, 64 } },
    smoke = { samples = 2, learning_rates = drawn, batches = { 1, 3 }, models = { 'lstm', 'transformer', 'baby_ntm' },
      tasks = { 'reverse_string', 'stack_manipulation' } },
    columns = { { name = 'level', of = function(task) return levels[task] end } } } },
})
