-- The processor time of a training update with each kind of stack: an LSTM with 20 hidden units, 10 strings of 80
-- symbols of unmarked reversal, float32. The least of 100 updates.
--
--   chrt -f 1 build/release/pushdown --threads 1 tests/bench/stacks.lua
local pd = require 'pushdown'

local grammar = pd.grammar.load 'unmarked_reversal'
local data = grammar:sampler{ lengths = { 80, 80 } }:dataset(10, { seed = 1 })

local stacks = {
  { kind = 'none' },
  { kind = 'superposition' },
  { kind = 'parallel_superposition' },
  { kind = 'stratification' },
  { kind = 'stratification_queue' },
  { kind = 'stratification_deque' },
  { kind = 'list' },
  { kind = 'baby_ntm' },
  { kind = 'tape' },
  { kind = 'analog', size = 2 },
  { kind = 'nondeterministic', states = 2, symbols = 2 },
  { kind = 'nondeterministic', states = 3, symbols = 3 },
  { kind = 'vector_nondeterministic', states = 2, symbols = 2, size = 3 },
}

for _, stack in ipairs(stacks) do
  local model = pd.model.language_model{ alphabet = grammar:alphabet(), seed = 1,
    controller = { kind = 'lstm', hidden = 20 }, stack = stack }
  local trainer = pd.train.trainer{ model = model, train = data, seed = 1, progress = false }
  local least = math.huge
  for _ = 1, 100 do
    local start = os.clock()
    trainer:step()
    least = math.min(least, os.clock() - start)
  end
  local size = stack.states and (' %d x %d'):format(stack.states, stack.symbols) or ''
  print(('%-32s %8.2f ms'):format(stack.kind .. size, least * 1000))
end
