-- The protocol of Grefenstette et al. (2015), section 4, shared by the scripts of this folder: tasks, models, one
-- training and its measurements. docs/reference/experiments/transduction.md lists what comes from the paper and what
-- was chosen where the paper is silent.
local pd = require 'pushdown'
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local json = require 'pushdown.json'

local M = {}

M.tasks = { 'copy', 'reversal', 'bigram_flipping', 'svo_to_sov', 'gender_conjugation' }
M.titles = { copy = 'Sequence copying', reversal = 'Sequence reversal', bigram_flipping = 'Bigram flipping',
  svo_to_sov = 'SVO to SOV', gender_conjugation = 'Gender conjugation' }
M.grammars = { svo_to_sov = true, gender_conjugation = true }

M.model_names = { 'lstm_1', 'lstm_2', 'lstm_4', 'lstm_8', 'stack', 'queue', 'deque' }
M.labels = { lstm_1 = '1-layer LSTM', lstm_2 = '2-layer LSTM', lstm_4 = '4-layer LSTM', lstm_8 = '8-layer LSTM',
  stack = 'Stack-LSTM', queue = 'Queue-LSTM', deque = 'DeQue-LSTM' }
local memories = { stack = 'stratification', queue = 'stratification_queue', deque = 'stratification_deque' }

-- Options of every script in this folder.
M.options = {
  { 'hidden', 256, 'hidden units of each LSTM layer', minimum = 1 },
  { 'memory', 256, 'size of the vectors in the memory', minimum = 1 },
  { 'memories', 1, 'memories side by side', minimum = 1 },
  { 'embedding', 64, "size of a symbol's vector, read and written", minimum = 1 },
  { 'pop_bias', -1, 'initial pop bias of the memory', type = 'number' },
  { 'bottom_push_bias', 0, 'initial bias of the pushes at the bottom of a deque', type = 'number' },
  { 'initial_state', 'learned', "the controller's state before the first symbol", choices = { 'learned', 'zero' } },
  { 'symbols', 128, 'number of symbols in copy, reversal and bigram_flipping', minimum = 1 },
  { 'lengths', { 8, 64 }, 'shortest and longest source in training' },
  { 'test_lengths', { 65, 128 }, 'shortest and longest source of the test pairs' },
  { 'grammar_lengths', 'grammar', 'lengths of sources of grammars: distributed as in the grammar, without other '
    .. 'lengths, or uniform', choices = { 'grammar', 'uniform' } },
  { 'batch', 10, 'pairs per update', minimum = 1 },
  { 'clip', 1, 'norm to which longer gradients are scaled; 0: never', minimum = 0, type = 'number' },
  { 'batches', 50000, 'largest number of updates; the paper has no limit', minimum = 1,
    may_change = true },
  { 'patience', 100, 'training ends after this many hundred batches without a better average training perplexity; '
    .. '0: never', minimum = 0, may_change = true },
  { 'stop_perplexity', 1.0002, 'training ends if the average training perplexity of a hundred batches is below this; '
    .. '0: never', minimum = 0, type = 'number' },
  { 'accuracy_every', 1000, 'batches after which accuracies are measured; a multiple of the batches of an average',
    minimum = 1 },
  { 'average_over', 100, 'batches over which training perplexity is averaged', minimum = 1 },
  { 'pairs', 1000, 'pairs per test', minimum = 1 },
}
M.quick = { hidden = 64, memory = 32, embedding = 16, symbols = 16, batches = 3000, pairs = 200 }
M.smoke = { hidden = 6, memory = 4, embedding = 4, symbols = 4, lengths = { 4, 8 }, test_lengths = { 9, 12 },
  batches = 4, average_over = 2, accuracy_every = 2, pairs = 5, batch = 2 }

function M.with_options(own) return experiment.join_options(own, M.options) end

function M.pairs(options, lengths)
  if M.grammars[options.task] then
    return pd.task.transduction { kind = 'grammar', grammar = pd.grammar.load(options.task), lengths = lengths,
      mode = options.grammar_lengths }
  end
  return pd.task.transduction { kind = options.task, symbols = options.symbols, lengths = lengths }
end

function M.model(options, pairs)
  local memory = memories[options.model]
  local layers = tonumber(options.model:match('^lstm_(%d)$')) or 1
  local stack = { kind = 'none' }
  if memory then
    stack = { kind = memory, size = options.memory, memories = options.memories, pop_bias = options.pop_bias }
    if options.model == 'deque' then stack.bottom_push_bias = options.bottom_push_bias end
  end
  return pd.model.transducer { pairs = pairs, controller = { kind = 'lstm', hidden = options.hidden, layers = layers },
    stack = stack, embedding = options.embedding, output_embedding = options.embedding,
    initial_state = options.initial_state, seed = options.seed }
end

local function trainer_of(options, run, pairs)
  local epochs = math.ceil(options.batches / options.average_over)
  local resumed = run:resumed { epochs = epochs, stop_patience = options.patience }
  if resumed then return resumed end
  if options.accuracy_every % options.average_over ~= 0 then
    error(('--accuracy-every must be a multiple of --average-over, %d, got %d'):format(options.average_over,
      options.accuracy_every), 0)
  end
  return pd.train.trainer {
    model = M.model(options, pairs), train = pairs, test = M.pairs(options, options.test_lengths),
    batch = options.batch, epochs = epochs, epoch_batches = options.average_over,
    accuracy_every = options.accuracy_every / options.average_over, accuracy_pairs = options.pairs,
    stop_perplexity = options.stop_perplexity, stop_patience = options.patience, decay_patience = 0,
    optimizer = { kind = 'rmsprop', learning_rate = options.learning_rate }, clip_norm = options.clip,
    seed = options.seed, run_folder = run.folder, overwrite = true,
  }
end

-- Writes the average training perplexity and the accuracies over the batches to training.csv.
local function keep_history(history, run)
  local lines = { 'batches,perplexity,train_coarse,train_fine,test_coarse,test_fine' }
  for _, epoch in ipairs(history) do
    local cells = { epoch.updates, ('%.6g'):format(epoch.train_perplexity) }
    for _, key in ipairs { 'train_coarse', 'train_fine', 'coarse', 'fine' } do cells[#cells + 1] = epoch[key] or '' end
    lines[#lines + 1] = table.concat(cells, ',')
  end
  files.write(run:path 'training.csv', table.concat(lines, '\n') .. '\n')
end

-- Runs one training to its end in the folder of `run`, or resumes an earlier one in this folder. Measures the
-- parameters with the best average training perplexity, writes result.json last, and returns the result.
function M.train(options, run)
  -- The user can give a run more batches later.
  local before = run:earlier_result(function(result)
    return result.batches >= options.batches or not result.stopped:find('epochs are done', 1, true)
  end)
  if before then return before end
  local training = M.pairs(options, options.lengths)
  local trainer = trainer_of(options, run, training)
  for _ in trainer:epochs() do end
  local history, seconds = trainer:history(), 0
  for _, epoch in ipairs(history) do seconds = seconds + epoch.seconds end
  keep_history(history, run)
  local best = history[history[#history].best_epoch]
  local result = { task = options.task, model = options.model, learning_rate = options.learning_rate,
    seed = options.seed, restart = options.restart, parameters = trainer:model():parameter_count(),
    batches = trainer:updates(), best_batches = best.updates, perplexity = best.train_perplexity, seconds = seconds,
    stopped = trainer:finished() }
  local model = pd.model.load(run.folder)
  for name, source in pairs { train = training, test = M.pairs(options, options.test_lengths) } do
    local found = pd.train.evaluate(model, source, { pairs = options.pairs, seed = options.seed, batch = 50 })
    result[name .. '_coarse'], result[name .. '_fine'] = found.coarse, found.fine
  end
  result = json.ordered(result, { 'task', 'model', 'learning_rate', 'seed', 'restart', 'parameters', 'batches',
    'best_batches', 'perplexity', 'seconds', 'stopped', 'train_coarse', 'train_fine', 'test_coarse', 'test_fine' })
  run:finish(result)
  return result
end

return M
