-- The models that are compared on the tasks of the Chomsky hierarchy: label, and the options of a transducer, which may
-- be functions of the options of the run. Further models are further entries.
local suite = require 'pushdown.suite'

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
for i, row in ipairs(suite.transformers()) do table.insert(models, i + 2, row) end
return models
