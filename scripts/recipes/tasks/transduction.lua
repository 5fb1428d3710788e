-- Transductions of Grefenstette et al. (2015), section 4.1: a network reads a source of up to 64 of 128 symbols, and
-- then writes its target. Like the paper: RMSProp, batches of 10 new pairs, gradients clipped at 1. The L2 penalty is
-- not the paper's: without it networks that make no error on training lengths make more errors on longer sources.
--
--   local task = pd.recipe.task('transduction', { kind = 'copy' })    -- or reversal, bigram_flipping
--   return task:training(1, 1, { stack = { kind = 'stratification_queue', pop_bias = -3 } }, {
--     { 8, 32, epochs = 40, accuracy = 0.98 }, { 8, 64, epochs = 40, longer = true } })
local pd = require 'pushdown'

local titles = { copy = 'Copying', reversal = 'Reversal', bigram_flipping = 'Bigram flipping' }
local test_seed = 2115  -- training and validation have the seeds of their trainers, which draw from other streams

local Task = {}
Task.__index = Task

function Task:pairs(shortest, longest)
  if self.smoke then shortest, longest = 2, 4 end
  return pd.task.transduction { kind = self.kind, symbols = self.smoke and 4 or 128, lengths = { shortest, longest } }
end

-- A stage of the trainer with sources of these lengths. Accuracies are measured on other pairs of these lengths; with
-- options.longer, on pairs a little more than twice as long, beyond those of the tests.
function Task:stage(shortest, longest, options)
  local stage = { train = self:pairs(shortest, longest), test = self:pairs(shortest, longest) }
  if options.longer then stage.test = self:pairs(2 * longest + 1, 2 * longest + 16) end
  for _, key in ipairs { 'epochs', 'accuracy', 'learning_rate' } do stage[key] = options[key] end
  return stage
end

-- The paper's network, but with 64 units instead of 256, and vectors of 64 numbers. stack: the options of its memory.
function Task:model(stack, seed)
  local units, memory = self.smoke and 3 or 64, { size = stack.kind ~= 'none' and (self.smoke and 3 or 64) or nil }
  for key, value in pairs(stack) do memory[key] = value end
  return pd.model.transducer { pairs = self:pairs(8, 64), controller = { kind = 'lstm', hidden = units },
    stack = memory, embedding = units, output_embedding = units, initial_state = 'learned', seed = seed }
end

-- A training with these stages, each {shortest, longest, ...} as for task:stage.
function Task:training(seed, restart, model, list)
  local stages = {}
  for i, stage in ipairs(list) do stages[i] = self:stage(stage[1], stage[2], stage) end
  return { model = self:model(model.stack, 1000 * seed + restart), seed = seed, stages = stages, clip_norm = 1,
    optimizer = { kind = 'rmsprop', learning_rate = 0.003, weight_decay = 1e-4 },
    decay_patience = 0, stop_patience = 0, batch = 10, epoch_batches = self.smoke and 1 or 100, accuracy_every = 1,
    accuracy_pairs = self.smoke and 2 or 300 }
end

-- What a search compares: 0 if every validation pair is right, else the training cross-entropy.
function Task.metric(epoch) return epoch.coarse == 1 and 0 or epoch.best_cross_entropy end
Task.search = { solved = 0, metric = Task.metric, better = 'lower' }

-- Coarse accuracy is the share of targets without an error, fine accuracy that of the symbols before the first error.
function Task:accuracy(model, shortest, longest, kind, count)
  local found = pd.train.evaluate(model, self:pairs(shortest, longest), { pairs = self.smoke and 2 or count,
    seed = test_seed, batch = 50 })
  return found[kind]
end

-- What the memory does on a pair of eight symbols: strengths.svg, and strengths-2.svg of a second memory.
local function show(task, model, run)
  local stack = model:options().stack
  if stack.kind == 'none' then return end
  local pair = task:pairs(8, 8):draw(1, { seed = test_seed })[1]
  for memory = 1, stack.memories do
    local picture = { run = model:strengths(pair.source, pair.target), memory = memory,
      title = stack.memories > 1 and ('%s, memory %d'):format(task.title, memory) or task.title,
      path = run:path(memory == 1 and 'strengths.svg' or ('strengths-%d.svg'):format(memory)) }
    print('\n' .. pd.plot.strengths_text(picture))
    pd.plot.strengths(picture)
  end
end

return function(options)
  if not titles[options.kind] then
    error(("[recipe.task] transduction: kind must be copy, reversal or bigram_flipping, got '%s'"):format(
      tostring(options.kind)), 0)
  end
  local task = setmetatable({ kind = options.kind, smoke = options.smoke, title = titles[options.kind],
    group = 'Grefenstette et al. (2015)' }, Task)
  local function test(kind, above)
    return { name = 'lengths 65 to 128', quantity = kind .. ' accuracy', above = above,
      value = function(model) return task:accuracy(model, 65, 128, kind, 1000) end }
  end
  task.tests = { test('coarse', 0.9995), test('fine', 0.9995) }
  task.lengths = { trained = 64, values = { 32, 64, 96, 128, 160, 192, 224, 256 }, quantity = 'coarse accuracy',
    value = function(model, length) return task:accuracy(model, length, length, 'coarse', 100) end }
  task.show = function(model, run) show(task, model, run) end
  return task
end
