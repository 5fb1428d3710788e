-- Compares the tapes of the Tape-RNN, and several superposition stacks, with the same by tensor operations: the least
-- processor time of one update of a transducer on strings to be reversed, with the sizes of Delétang et al. (2023) but
-- fewer hidden units.
-- `build/release/pushdown --threads 1 tests/bench/tape.lua`
local pd = require 'pushdown'

local pairs_of = pd.task.chomsky('reverse_string', { lengths = { 40, 40 } })

local function trainer(stack, kernels)
  local t = pd.train.trainer { train = pairs_of, epochs = 10000, epoch_batches = 1, accuracy_every = 0, seed = 1,
    progress = false, batch = 32, optimizer = { kind = 'adam', learning_rate = 0.001 },
    model = pd.model.transducer { pairs = pairs_of, feedback = false, output_embedding = 0, seed = 3, kernels = kernels,
      controller = { kind = 'elman', hidden = 64, activation = 'relu' }, stack = stack } }
  t:step()
  return t
end
local function milliseconds(t, least)
  local start = os.clock()
  t:step()
  return math.min(least, 1000 * (os.clock() - start))
end

print 'One update of a transducer: 32 pairs of 40 symbols, 64 hidden units with ReLU, float32, processor time'
for _, case in ipairs {
  { '1 tape, 104 cells', { kind = 'tape', cells = 104 } },
  { '4 tapes, 104 cells', { kind = 'tape', cells = 104, tapes = 4 } },
  { '1 tape, 1004 cells', { kind = 'tape', cells = 1004 } },
  { '1 stack', { kind = 'superposition', size = 8, vector = 'linear' } },
  { '4 stacks', { kind = 'superposition', size = 8, vector = 'linear', stacks = 4 } },
} do
  local fast, plain = trainer(case[2], true), trainer(case[2], false)
  local own, operations = math.huge, math.huge
  -- The measurements alternate, so that other work of the machine affects both.
  for i = 1, 20 do
    own = milliseconds(fast, own)
    if i % 5 == 1 then operations = milliseconds(plain, operations) end
  end
  print(('stack="%s" ms=%.2f tensor_operations_ms=%.1f ratio=%.1f'):format(case[1], own, operations, operations / own))
end
