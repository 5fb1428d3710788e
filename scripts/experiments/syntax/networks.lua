-- The models of Merrill et al. (2019), and what both of their trainings share.
local pd = require 'pushdown'

local M = { model_of = {} }

-- push, pop, read: see docs/reference/stacks.md. distance: the operation whose strength is the syntactic distance, and
-- the neighbour of the word to which it applies.
M.models = {
  { name = 'stack_u1', label = 'Stack (u = 1)', push = 'expectation', pop = 'fixed', read = 'expectation',
    distance = { 'push', 'previous' } },
  { name = 'stack_d1', label = 'Stack (d = 1)', push = 'fixed', pop = 'expectation', read = 'expectation',
    distance = { 'pop', 'next' } },
  { name = 'stack_sigmoid', label = 'Stack (sigmoid d)', push = 'sigmoid', pop = 'expectation', read = 'expectation',
    distance = { 'push', 'previous' } },
  { name = 'stack_free', label = 'Stack (free)', push = 'expectation', pop = 'expectation', read = 'expectation',
    distance = { 'push', 'previous' } },
  { name = 'lstm', label = 'LSTM' },
}
for _, model in ipairs(M.models) do M.model_of[model.name] = model end

M.options = {
  { 'hidden', 100, 'units of the LSTM', minimum = 1 },
  { 'stack_size', 16, 'size of the vectors on the stack', minimum = 1 },
  { 'max_strength', 4, 'largest push, pop and read strength k', minimum = 1 },
  { 'embedding', 50, "size of a word's learned vector; 0: one-hot vectors", minimum = 0 },
  { 'vocabulary', 10000, 'vocabulary size, the most frequent words of the training part; 0: all', minimum = 0 },
  { 'lower', false, 'convert all words to lower case' },
  { 'learning_rate', 1e-3, 'learning rate of Adam', minimum = 0, type = 'number' },
  { 'batch', 20, 'sentences of equal length per update', minimum = 1 },
}
M.quick = { hidden = 50, stack_size = 8, embedding = 25, vocabulary = 2000, epochs = 2 }
M.smoke = { hidden = 4, stack_size = 2, max_strength = 2, embedding = 3, vocabulary = 50, batch = 4,
  epochs = 1 }

local function stack_of(options)
  local model = M.model_of[options.model]
  if not model.push then return { kind = 'none' } end
  return { kind = 'stratification', size = options.stack_size, push = model.push, pop = model.pop, read = model.read,
    max_strength = options.max_strength }
end

function M.network(options, alphabet)
  return { alphabet = alphabet, controller = { kind = 'lstm', hidden = options.hidden }, stack = stack_of(options),
    embedding = options.embedding, seed = options.seed }
end

-- networks.trainer(options, given) -> the options of a trainer: those given, and those that both trainings have.
function M.trainer(options, given)
  return pd.tables.merged({ batch = options.batch, average = 'batches', epochs = options.epochs, clip_norm = 0,
    optimizer = { kind = 'adam', learning_rate = options.learning_rate }, decay_patience = 0 }, given)
end

return M
