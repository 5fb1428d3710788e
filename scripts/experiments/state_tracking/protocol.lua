-- State tracking as one place for the scripts of this folder: tasks, models, one training and its score.
-- docs/reference/experiments/state_tracking.md lists what comes from which paper and what was chosen.
local pd = require 'pushdown'
local protocol = require 'pushdown.protocol'
local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''

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

return protocol.transducers {
  folder = here,
  tasks = { 'parity_check', 'modular_arithmetic', 'modular_arithmetic_brackets', 's3', 'z60', 'a4', 'a5', 's5' },
  title = function(task) return titles[task] or task:upper() end,
  -- What every script of this folder can change.
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
  pairs = pairs_of,
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
}
