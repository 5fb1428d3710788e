-- Least processor times of updates, of one thread: `build/release/bench NAME` runs a group, also for parts that are
-- written in Lua (definitions.lua).
--   defined   parts in Lua against built-in ones
--   cells     linear recurrences and exponential gates (peers.py has the same cells in PyTorch)
--   tape      tapes and several stacks of a transducer
--   pieces    running text in pieces with a carried stack
--   stacks    every kind of stack
--   trained   networks with peaked weights, like those of trained networks, against fresh ones
local pd = require 'pushdown'

dofile(pd.root .. '/tests/bench/definitions.lua')

-- The least milliseconds of calls of each function, of which function k is called times[k] times. The calls alternate,
-- so that other work of the machine affects all.
local function least(functions, times)
  local best, most = {}, math.max(unpack(times))
  for k in ipairs(functions) do best[k] = math.huge end
  for i = 1, most do
    for k, f in ipairs(functions) do
      if (i - 1) % math.ceil(most / times[k]) == 0 then
        local start = os.clock()
        f()
        best[k] = math.min(best[k], 1000 * (os.clock() - start))
      end
    end
  end
  return unpack(best)
end

-- One update of a trainer, whose first one is made at once.
local function update(options)
  local t = pd.train.trainer(pd.tables.merged({ epochs = 1e6, seed = 1, progress = false, batch = 10,
    optimizer = { kind = 'adam', learning_rate = 0.001 } }, options))
  t:step()
  return function() t:step() end, t
end

local function strings(name, length, count)
  return pd.grammar.load(name):sampler { lengths = { length, length } }:dataset(count, { seed = 1 })
end

-- A language model of these strings.
local function language_model(train, options)
  local own = { alphabet = train:alphabet(), seed = 3, dtype = 'float32' }
  return pd.model.language_model(pd.tables.merged(own, options))
end

local groups = {}

function groups.defined()
  local train = strings('unmarked_reversal', 80, 20)
  local function updates(controller, stack, kernels, memories)
    return (update { train = train, model = language_model(train, { kernels = kernels,
      controller = { kind = controller, hidden = 20 },
      stack = { kind = stack, size = stack ~= 'none' and 20 or nil, memories = memories } }) })
  end
  print('Written in Lua against built in: n = 80, batch 10, 20 hidden units, vectors of 20 numbers, float32')
  for _, case in ipairs {
    { 'superposition', { 'lstm', 'superposition' }, { 'lstm', 'bench_superposition' } },
    { 'superposition_whole', { 'lstm', 'superposition' }, { 'lstm', 'bench_whole' } },
    { 'queue', { 'lstm', 'stratification' }, { 'lstm', 'bench_queue' } },
    { 'two_stacks', { 'lstm', 'stratification', memories = 2 }, { 'lstm', 'bench_two_stacks' } },
    { 'mrnn', { 'mrnn', 'none' }, { 'bench_mrnn', 'none' } },
    { 'mrnn_superposition', { 'mrnn', 'superposition' }, { 'bench_mrnn', 'superposition' } },
  } do
    local name, built_in, own = unpack(case)
    local best, lua, operations = least({ updates(built_in[1], built_in[2], true, built_in.memories),
      updates(own[1], own[2], true), updates(own[1], own[2], false) }, { 40, 40, 3 })
    print(('defined case=%s built_in_ms=%.2f lua_ms=%.2f ratio=%.2f tensor_operations_ms=%.1f'):format(name, best, lua,
      lua / best, operations))
  end
  -- An objective: from whole epochs of a recognizer.
  local labelled = pd.task.labelled { grammar = pd.grammar.load 'unmarked_reversal', lengths = { 10, 20 },
    positives = 1000, negatives = 1000, seed = 1 }
  local function epoch_of(objective, kernels)
    local t = pd.train.trainer { train = labelled, epochs = 10000, seed = 1, progress = false, batch = 10,
      objective = objective, model = pd.model.recognizer { alphabet = labelled:alphabet(), seed = 3, dtype = 'float32',
        controller = { kind = 'elman', hidden = 8 }, stack = { kind = 'superposition', size = 8 }, kernels = kernels } }
    return t:epochs(), t:updates_per_epoch()
  end
  local built_in, count = epoch_of 'stepwise'
  local best, lua, operations = least({ built_in, (epoch_of 'bench_stepwise'), (epoch_of('bench_stepwise', false)) },
    { 6, 6, 1 })
  print(('defined case=objective built_in_ms=%.3f lua_ms=%.3f ratio=%.2f tensor_operations_ms=%.1f'):format(
    best / count, lua / count, lua / best, operations / count))
end

function groups.cells()
  local train = strings('marked_reversal', 63, 32)
  print 'One update of a language model: strings of 63 symbols, batch 16, float32, processor time'
  for _, hidden in ipairs { 32, 64 } do
    for _, controller in ipairs { { kind = 'lstm' }, { kind = 'deltanet' }, { kind = 'deltanet', heads = 4 },
      { kind = 'bench_deltanet' }, { kind = 'selective_ssm' }, { kind = 'scalar_lstm' },
      { kind = 'scalar_lstm', heads = 4 }, { kind = 'matrix_lstm' }, { kind = 'matrix_lstm', heads = 4 } } do
      controller.hidden = hidden
      local function updates(kernels)
        return (update { train = train, batch = 16,
          model = language_model(train, { controller = controller, kernels = kernels }) })
      end
      local own, operations = least({ updates(true), updates(false) }, { 20, 4 })
      print(('cell=%s hidden=%d heads=%s ms=%.2f tensor_operations_ms=%.1f ratio=%.1f'):format(controller.kind, hidden,
        controller.heads or 1, own, operations, operations / own))
    end
  end
end

-- With the sizes of Delétang et al. (2023) but fewer hidden units.
function groups.tape()
  local train = pd.task.chomsky('reverse_string', { lengths = { 40, 40 } })
  print 'One update of a transducer: 32 pairs of 40 symbols, 64 hidden units with ReLU, float32, processor time'
  for _, case in ipairs {
    { '1 tape, 104 cells', { kind = 'tape', cells = 104 } },
    { '4 tapes, 104 cells', { kind = 'tape', cells = 104, tapes = 4 } },
    { '1 tape, 1004 cells', { kind = 'tape', cells = 1004 } },
    { '1 stack', { kind = 'superposition', size = 8, vector = 'linear' } },
    { '4 stacks', { kind = 'superposition', size = 8, vector = 'linear', stacks = 4 } },
  } do
    local function updates(kernels)
      return (update { train = train, epoch_batches = 1, accuracy_every = 0, batch = 32,
        model = pd.model.transducer { pairs = train, feedback = false, output_embedding = 0, seed = 3,
          kernels = kernels, controller = { kind = 'elman', hidden = 64, activation = 'relu' }, stack = case[2] } })
    end
    local own, operations = least({ updates(true), updates(false) }, { 20, 4 })
    print(('stack="%s" ms=%.2f tensor_operations_ms=%.1f ratio=%.1f'):format(case[1], own, operations,
      operations / own))
  end
end

-- With stochastic gradient descent, by whole epochs.
function groups.pieces()
  local alphabet, words, state = {}, {}, 7
  for i = 1, 200 do alphabet[i] = 'w' .. i end
  for i = 1, 20 * 50 * 8 do
    state = (state * 1103515245 + 12345) % 2147483648
    words[i] = alphabet[math.floor(state / 65536) % 200 + 1]
  end
  local text = pd.task.running_text { alphabet = alphabet, words = words }
  local lstm = { kind = 'lstm', hidden = 100 }
  print('8,000 words in 20 streams, pieces of 50, 200 words to predict; seconds an epoch')
  print(('%-40s %10s %10s %8s'):format('stack', 'program', 'tensors', 'ratio'))
  for _, row in ipairs {
    { 'superposition, 20 numbers', { stack = { kind = 'superposition', size = 20 } } },
    { 'parallel superposition, 10 stacks', { controller = { kind = 'elman', hidden = 100 },
      stack = { kind = 'parallel_superposition', stacks = 10, no_op = true } } },
    { 'stratification, 20 numbers', { stack = { kind = 'stratification', size = 20 } } },
    { 'the same as a deque', { stack = { kind = 'stratification_deque', size = 20 } } },
    { 'nondeterministic 2x2, window 35', { stack = { kind = 'nondeterministic', window = 35 } } },
    { 'nondeterministic 3x3, window 35',
      { stack = { kind = 'nondeterministic', states = 3, symbols = 3, window = 35 } } },
    { 'vector nondeterministic 2x2, window 35',
      { stack = { kind = 'vector_nondeterministic', size = 3, window = 35 } } },
    { 'list, 10 lists', { stack = { kind = 'list', lists = 10 } } },
    { 'stack that wears away, carry-forward', { controller = { kind = 'mlstm', hidden = 100 }, coupling = 'state',
      carry_forward = 'counter',
      stack = { kind = 'parallel_superposition', stacks = 1, no_op = true, no_op_keeps = 'top' } } },
    { 'superposition in Lua, 50 cells of 20 numbers', { stack = { kind = 'bench_cells', size = 20 } } },
  } do
    local function epochs(kernels)
      return pd.train.trainer { train = text, batch = 20, chunk = 50, epochs = 5,
        model = pd.model.language_model(pd.tables.merged({ architecture = 'recurrent', alphabet = text:alphabet(),
          end_symbol = false, seed = 1, kernels = kernels, controller = lstm }, row[2])) }:epochs()
    end
    local fast, slow = least({ epochs(true), epochs(false) }, { 5, 5 })
    print(('%-40s %10.3f %10.3f %8.1f'):format(row[1], fast / 1000, slow / 1000, slow / fast))
  end
end

-- 10 strings of 80 symbols, an LSTM with 20 hidden units.
function groups.stacks()
  local train = strings('unmarked_reversal', 80, 10)
  for _, stack in ipairs { { kind = 'none' }, { kind = 'superposition' }, { kind = 'parallel_superposition' },
    { kind = 'stratification' }, { kind = 'stratification_queue' }, { kind = 'stratification_deque' },
    { kind = 'list' }, { kind = 'baby_ntm' }, { kind = 'tape' }, { kind = 'analog', size = 2 },
    { kind = 'nondeterministic', states = 2, symbols = 2 }, { kind = 'nondeterministic', states = 3, symbols = 3 },
    { kind = 'vector_nondeterministic', states = 2, symbols = 2, size = 3 } } do
    local ms = least({ (update { train = train, optimizer = { kind = 'adam' },
      model = language_model(train, { seed = 1, controller = { kind = 'lstm', hidden = 20 }, stack = stack }) }) },
      { 100 })
    local size = stack.states and (' %d x %d'):format(stack.states, stack.symbols) or ''
    print(('%-32s %8.2f ms'):format(stack.kind .. size, ms))
  end
end

-- A denormal number costs Intel's processors a hundred cycles (docs/adr/0021-denormals.md), so the ratio is at most the
-- bar there only if none reaches the arithmetic. AMD's processors hide them.
function groups.trained()
  local scale, bar, worst = 20, 1.1, 0
  local train = strings('unmarked_reversal', 80, 20)
  local labelled = pd.task.labelled { grammar = pd.grammar.load 'unmarked_reversal', lengths = { 40, 40 },
    positives = 100, negatives = 100, seed = 1 }
  local function compare(name, make)
    local fresh = make()
    local peaked, t = make()
    local scaled = {}
    for key, tensor in pairs(t:model():parameters()) do scaled[key] = tensor:detach() * scale end
    t:model():set_parameters(scaled)
    peaked()
    local before, after = least({ fresh, peaked }, { 25, 25 })
    local ratio = after / before
    worst = math.max(worst, ratio)
    print(('trained model="%s" fresh_ms=%.3f peaked_ms=%.3f ratio=%.2f%s'):format(name, before, after, ratio,
      ratio > bar and (' above the bar of %g'):format(bar) or ''))
  end
  -- The weights hardly move, so that they stay as peaked as they are.
  local function of_stack(name, stack, kernels)
    compare(name, function()
      return update { train = train, optimizer = { kind = 'adam', learning_rate = 1e-9 },
        model = language_model(train, { kernels = kernels, controller = { kind = 'lstm', hidden = 20 },
          stack = stack }) }
    end)
  end
  local function of_recognizer(name, options, training)
    compare(name, function()
      return update(pd.tables.merged({ train = labelled, optimizer = { kind = 'sgd', learning_rate = 1e-9 },
        model = pd.model.recognizer(pd.tables.merged({ alphabet = labelled:alphabet(), seed = 3 }, options)) },
        training))
    end)
  end
  print(('Weights multiplied by %d against fresh ones; language models: n = 80, batch 10, LSTM with 20 hidden units; '
    .. 'recognizers: n = 40, batch 10; float32'):format(scale))
  for _, kind in ipairs(pd.stack.kinds()) do
    if not kind:find '^bench_' then of_stack(kind, { kind = kind }) end
  end
  of_stack('nondeterministic, exponential', { kind = 'nondeterministic', normalized = false })
  of_stack('nondeterministic 3x3', { kind = 'nondeterministic', states = 3, symbols = 3 })
  of_stack('nondeterministic, window of 10', { kind = 'nondeterministic', window = 10 })
  of_stack('superposition, tensor operations', { kind = 'superposition' }, false)
  of_stack('superposition in Lua', { kind = 'bench_superposition' })
  of_stack('queue in Lua', { kind = 'bench_queue' })
  for _, controller in ipairs { 'elman', 'mlstm' } do
    of_recognizer('recognizer, ' .. controller .. ', parallel_superposition', { controller = { kind = controller,
      hidden = 8 }, stack = { kind = 'parallel_superposition', no_op = true } },
      { optimizer = { kind = 'adam', learning_rate = 1e-9 } })
  end
  for _, kind in ipairs { 'bptt', 'uoro' } do
    of_recognizer('nspda, ' .. kind, { architecture = 'nspda', states = 6 }, { learning = { kind = kind } })
  end
  of_recognizer('nnpda', { architecture = 'nnpda', states = 6 })
  print(('trained worst_ratio=%.2f bar=%g'):format(worst, bar))
end

for _, name in ipairs(arg) do
  local group = groups[name] or error(('there is no group %s: expected %s'):format(name,
    table.concat(pd.tables.keys(groups), ', ')), 0)
  group()
end
