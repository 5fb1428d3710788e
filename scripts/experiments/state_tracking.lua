-- State tracking, as Grazzi et al. (2025) measure it: the scaled accuracy of models on strings longer than those of
-- training, by random search over the learning rate. docs/reference/experiments/state_tracking.md lists what comes from
-- which paper and what was chosen.
--
--   pushdown state_tracking --task s3 --model deltanet_negative --learning-rate 1e-3
--   pushdown state_tracking scores --tasks parity_check,s3 --models lstm,deltanet_negative
--   pushdown state_tracking scores --learning-rates 1e-4,3e-4,1e-3 --restarts 3
local pd = require 'pushdown'

-- ---- Models ----

local function cell(kind, own)
  return function(options)
    local controller = { kind = kind, hidden = options.hidden, layers = options.recurrent_layers }
    for name, value in pairs(own and own(options) or {}) do controller[name] = value end
    return controller
  end
end
local function heads(lowest)
  return function(options) return { heads = options.heads, lowest_eigenvalue = lowest } end
end

local models = {
  { name = 'rnn', label = 'RNN', controller = cell 'elman' },
  { name = 'lstm', label = 'LSTM', controller = cell 'lstm' },
  { name = 'transformer', label = 'Transformer', architecture = 'transformer' },
  { name = 'slstm', label = 'sLSTM', controller = cell('scalar_lstm', heads()) },
  { name = 'mlstm', label = 'mLSTM', controller = cell('matrix_lstm', heads()) },
  { name = 'selective', label = 'Selective [0,1]', controller = cell 'selective_ssm' },
  { name = 'selective_negative', label = 'Selective [-1,1]',
    controller = cell('selective_ssm', function() return { lowest_eigenvalue = -1 } end) },
  { name = 'deltanet', label = 'DeltaNet [0,1]', controller = cell('deltanet', heads(0)) },
  { name = 'deltanet_negative', label = 'DeltaNet [-1,1]', controller = cell('deltanet', heads(-1)) },
}

-- ---- Tasks ----

-- Groups: the product of the elements so far is wanted after each of them. The others: one answer at the end.
local groups = { s3 = true, a4 = true, a5 = true, s5 = true, z60 = true }
local titles = { parity_check = 'Parity', modular_arithmetic = 'Modular arithmetic without brackets',
  modular_arithmetic_brackets = 'Modular arithmetic with brackets' }

local function pairs_of(options, lengths, one_length)
  if not groups[options.task] then
    return pd.task.chomsky(options.task, { lengths = lengths, one_length = one_length })
  end
  return pd.task.transduction { kind = 'word_problem', group = options.task, letters = options.letters,
    lengths = lengths, one_length = one_length }
end

-- The accuracy of the answer at every length, from 1 on. The transducer of a group answers at all places of one string.
local function accuracies(model, options)
  local right, found = {}, {}
  if groups[options.task] then
    local drawn = pairs_of(options, { options.longest, options.longest }):draw(options.test_pairs, { seed = 1 })
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
    found[length] = pd.train.evaluate(model, pairs_of(options, { length, length }), { pairs = options.test_pairs,
      seed = length, batch = math.min(64, options.test_pairs) }).symbol_accuracy
  end
  return found
end

-- ---- The paper ----

local train = pd.paper.transducers {
  doc = 'Trains one model on one task of state tracking, and measures the accuracy of the answer at every length.',
  task = 's3', model = 'deltanet_negative', models = models, batch = 64, pairs = pairs_of,
  model_options = function(options) return { alignment = groups[options.task] and 'along' or 'after' } end,
  validate = function(model, _, pairs_of_training, options)
    local valid = pd.train.evaluate(model, pairs_of_training, options)
    return valid.symbol_accuracy, valid.perplexity
  end,
  accuracies = accuracies,
  -- (accuracy - chance) / (1 - chance), where chance guesses one of the symbols of the targets.
  scaled = function(accuracy, pairs_of_training)
    local chance = 1 / #pairs_of_training:target_alphabet():symbols()
    return (accuracy - chance) / (1 - chance)
  end,
  score = function(first, last)
    return ('scaled accuracy, 0 for guesses and 1 for no errors, over the lengths %d to %d'):format(first, last)
  end,
}

return (pd.paper.new {
  name = 'state_tracking', models = models, train = train,
  tasks = { 'parity_check', 'modular_arithmetic', 'modular_arithmetic_brackets', 's3', 'z60', 'a4', 'a5', 's5' },
  title = function(task) return titles[task] or task:upper() end,
  options = {
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
  },
  quick = { steps = 2000, hidden = 32, lengths = { 3, 20 }, longest = 60, test_pairs = 32, valid_pairs = 128,
    recurrent_layers = 1, width = 32, steps_of_an_epoch = 100 },
  smoke = { lengths = { 1, 4 }, longest = 6, test_pairs = 2, valid_pairs = 4, steps = 4, steps_of_an_epoch = 2,
    hidden = 4, recurrent_layers = 1, layers = 1, width = 8, heads = 2 },
  lengths = { x_label = 'length of the source', y_label = 'accuracy of the answer (%)' },
  tables = { scores = pd.paper.scores {
    doc = 'Scaled accuracies on long strings of models on tasks of state tracking.', restarts = 3,
    choose = { 'valid_accuracy', 'valid_perplexity' },
    searched = pd.paper.rates_and_batches({ 1e-4, 1e-2 }, { 64, 64 }),
    quick = { samples = 2 }, smoke = { samples = 1, batches = { 2, 2 }, tasks = { 'parity_check', 's3' } },
    score = function(options)
      return ('scaled accuracy (0: guesses, 100: no errors) over the lengths %d to %d'):format(options.lengths[2] + 1,
        options.longest)
    end } },
})
