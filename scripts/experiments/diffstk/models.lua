-- The twelve models of Table 1 of Mali et al. (2021) and one of our own, as options of a recognizer or a language
-- model with 8 hidden units: name -> { row =, label =, and the options }. docs/reference/diffstk.md lists what the
-- paper prints, what it leaves open, and our choices.
local function controller(kind, more)
  return pd.tables.merged({ kind = kind, hidden = 8 }, more)
end

-- Equations 5 to 7: one stack of scalars with push, pop and no_op; equation 4: P has three columns.
local function scalar_stack()
  return { kind = 'parallel_superposition', stacks = 1, read_depth = 3, no_op = true, bias = true, empty = -1 }
end

-- A row of the table; options that are not given have the network's defaults.
local function plain(row, label, kind, stack, coupling, more)
  return { row = row, label = label, controller = controller(kind, more), stack = stack or { kind = 'none' },
    coupling = coupling or 'input', noise = 0, carry_forward = 'none' }
end

-- Applies equations 4 to 9 to a cell.
local function diffstk(row, label, kind, more)
  local model = plain(row, label, kind, scalar_stack(), 'state', more)
  model.noise, model.carry_forward = 0.01, 'soft'
  return model
end

local scaled = { activation = 'scaled_tanh' }

return {
  rnn = plain(1, 'RNN', 'elman', nil, nil, scaled),
  lstm = plain(2, 'LSTM', 'lstm'),
  gru = plain(3, 'GRU', 'gru'),
  delta_rnn = plain(4, 'Δ-RNN', 'delta_rnn'),
  stack_rnn = plain(5, 'Stack RNN', 'elman',
    { kind = 'parallel_superposition', stacks = 1, read_depth = 2, no_op = true, empty = -1 }, 'input',
    { activation = 'sigmoid' }),
  stack_rnn_softmax = plain(6, 'Stack-RNN+Softmax', 'elman',
    { kind = 'superposition', size = 5, no_op = false, depth = 104 }, 'state'),
  baby_ntm_softmax = plain(7, 'Baby-NTM+Softmax', 'elman', { kind = 'baby_ntm', size = 5, cells = 104 }, 'state'),
  diffstk_rnn = diffstk(8, 'DiffStk-RNN', 'elman', scaled),
  diffstk_lstm = diffstk(9, 'DiffStk-LSTM', 'lstm'),
  diffstk_mrnn = diffstk(10, 'DiffStk-MRNN', 'mrnn', scaled),
  diffstk_mlstm = diffstk(11, 'DiffStk-MLSTM', 'mlstm'),
  diffstk_mirnn = diffstk(12, 'DiffStk-MIRNN', 'mi_rnn', scaled),
  -- Not a model of the paper, and in none of its tables.
  superposition_lstm = plain(13, 'Superposition-LSTM', 'lstm', { kind = 'superposition', size = 10 }),
}
