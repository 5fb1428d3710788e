-- A task of Delétang et al. (2023), with the training lengths of the paper, tested on longer sources: the mean accuracy
-- of a symbol over lengths of 41 to 500.
--   options: task, the name of the task; trained (40), the longest source in training; count (40), pairs of a length
local pd = require 'pushdown'
local plot = require 'pushdown.plot'
local paper = pd.paper.load 'chomsky'
local measures = paper.measures

return function(options)
  local name, trained, smoke = options.task, options.trained or 40, options.smoke
  local count = smoke and 2 or options.count or 40
  local function pairs_of(shortest, longest, one_length)
    return measures.pairs({ task = name }, { shortest, longest }, one_length)
  end
  local function accuracy(network, length)
    measures.take_end(network, name)
    return measures.accuracy(network, name, length, count, 2 ^ 41 + length)
  end
  -- The test has every tenth length.
  local first, last, step = trained + 1, 500, 10
  if smoke then first, last, step = 6, 8, 2 end

  local task = { title = paper.title(name), group = 'Delétang et al. (2023)' }

  -- A stage of a trainer with sources of these lengths; stage: its other keys. The pairs of an update have one length,
  -- as in the paper. With the key `accuracy` a stage ends when this share of new pairs is written without an error.
  function task.stage(_, shortest, longest, stage)
    if smoke then shortest, longest = 1, 4 end
    stage.train, stage.test = pairs_of(shortest, longest, true), pairs_of(shortest, longest, false)
    return stage
  end

  -- A transducer that does not read what it has written, as in the paper; given: options of the model.
  function task.model(_, given)
    given.pairs, given.feedback, given.output_embedding = pairs_of(1, trained, false), false, 0
    return pd.model.transducer(given)
  end

  -- The models of recipes, with stacks of vectors of this size.
  task.models = pd.recipe.vector_stacks

  -- A training. given: hidden, learning_rate, updates of an epoch, stages, each {shortest, longest, ...} as for
  -- task.stage; controller ('elman') of networks with a stack; noise (0.1) on the state.
  function task:training(seed, restart, model, given)
    local stages = {}
    for i, stage in ipairs(given.stages) do
      local one = pd.tables.merged(stage)
      one[1], one[2] = nil, nil
      stages[i] = self:stage(stage[1], stage[2], one)
    end
    return { seed = 1000 * seed + restart, batch = 32, epoch_batches = smoke and 2 or given.updates, stages = stages,
      accuracy_every = 1, accuracy_pairs = smoke and 4 or 1000, average = 'batches', stop_patience = 0,
      decay_patience = 0, clip_norm = 1, optimizer = { kind = 'adam', learning_rate = given.learning_rate },
      model = self:model { stack = model.stack, noise = given.noise or 0.1, seed = 1000 * seed + restart,
        controller = { kind = model.controller or given.controller or 'elman', hidden = given.hidden } } }
  end

  task.tests = { { name = ('lengths %d to %d'):format(first, last), quantity = 'accuracy of a symbol', above = 0.95,
    value = function(network)
      local sum, lengths = 0, 0
      for length = first, last, step do sum, lengths = sum + accuracy(network, length), lengths + 1 end
      return sum / lengths
    end } }
  task.lengths = { trained = trained, quantity = 'accuracy of a symbol', values = {}, value = accuracy }
  for i = 1, smoke and 1 or 8 do task.lengths.values[i] = smoke and 4 or trained / 2 * i end

  -- What the network writes, and how a stack of strengths is used for it.
  function task.show(network, run)
    local rows = {}
    for i, pair in ipairs(pairs_of(10, 16, false):draw(5, { seed = 2 ^ 40 })) do
      -- Dots follow what has no end, such as the targets of known length.
      local symbols = select(2, pair.target:gsub('%S+', ''))
      rows[i] = { pair.source, pair.target,
        (network:translate(pair.source, { longest = symbols }):gsub(' %.%.%.$', '')) }
      if i == 1 and network:options().stack.kind == 'stratification' then
        run:picture('strengths', plot.strengths { run = network:strengths(pair.source, pair.target),
          title = task.title .. ': the stack while the network reads and writes' })
      end
    end
    run:table('written', { columns = { 'source', 'target', 'written' }, rows = rows })
  end
  return task
end
