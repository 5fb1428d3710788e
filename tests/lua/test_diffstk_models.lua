-- The models of scripts/experiments/diffstk: each can be built from its options and has its stated properties.
local pd = require 'pushdown'
local test = require 'pushdown.test'

local models = dofile(pd.root .. '/scripts/experiments/diffstk/models.lua')

-- Returns the entry as options of a model.
local function options(name)
  local chosen = { alphabet = { '(', ')', '[', ']' }, seed = 3 }
  for key, value in pairs(models[name]) do
    if key ~= 'row' and key ~= 'label' then chosen[key] = value end
  end
  return chosen
end

local function shapes(model)
  local found = {}
  for name, tensor in pairs(model:parameters()) do found[name] = table.concat(tensor:size(), 'x') end
  return found
end

test('twelve rows in the order of the table, and one of our own', function()
  local labels = {}
  for _, model in pairs(models) do
    test.equal(labels[model.row], nil)
    labels[model.row] = model.label
  end
  test.equal(table.concat(labels, ', '), 'RNN, LSTM, GRU, Δ-RNN, Stack RNN, Stack-RNN+Softmax, Baby-NTM+Softmax, '
    .. 'DiffStk-RNN, DiffStk-LSTM, DiffStk-MRNN, DiffStk-MLSTM, DiffStk-MIRNN, Superposition-LSTM')
end)

test('each makes a recognizer and a language model', function()
  for name in pairs(models) do
    local recognizer = pd.model.recognizer(options(name))
    test.equal(#recognizer:scores('( [ ] )'):to_table(), 6)  -- before the first symbol, and after the end symbol
    local p = pd.model.language_model(options(name)):log_probability('( [ ] )')
    assert(p < 0 and p > -20, name)
    test.equal(recognizer:options().controller.hidden, 8)
  end
end)

test('P belongs to the couplings through the state, and has its columns', function()
  local wanted = { stack_rnn_softmax = '8x5', baby_ntm_softmax = '8x5', diffstk_rnn = '8x3', diffstk_lstm = '8x3',
    diffstk_mrnn = '8x3', diffstk_mlstm = '8x3', diffstk_mirnn = '8x3' }
  for name in pairs(models) do
    test.equal(shapes(pd.model.recognizer(options(name)))['coupling.weight'], wanted[name])
  end
  -- After the four symbols and the end symbol, the reading of the original Stack RNN.
  test.equal(shapes(pd.model.recognizer(options 'stack_rnn'))['controller.weight_ih_l0'], '8x7')
  test.equal(shapes(pd.model.recognizer(options 'diffstk_rnn'))['controller.weight_ih_l0'], '8x5')
end)

test('the memories are three different ones', function()
  test.equal(shapes(pd.model.recognizer(options 'stack_rnn'))['stack.action_weight'], '3x8')
  test.equal(shapes(pd.model.recognizer(options 'stack_rnn'))['stack.action_bias'], nil)
  test.equal(shapes(pd.model.recognizer(options 'stack_rnn_softmax'))['stack.action_weight'], '2x8')
  test.equal(shapes(pd.model.recognizer(options 'baby_ntm_softmax'))['stack.action_weight'], '5x8')
  test.equal(shapes(pd.model.recognizer(options 'diffstk_rnn'))['stack.action_bias'], '3')
end)

test('every part can be left out', function()
  for _, part in ipairs { { 'noise', 0 }, { 'carry_forward', 'none' }, { 'carry_forward', 'soft' },
    { 'coupling', 'input' } } do
    local without = options 'diffstk_mrnn'
    without[part[1]] = part[2]
    test.equal(pd.model.recognizer(without):options()[part[1]], part[2])
  end
  local ok, message = pcall(function()
    local wrong = options 'lstm'
    wrong.carry_forward = 'soft'
    return pd.model.recognizer(wrong)
  end)
  assert(not ok and message:find('carry_forward needs a stack that has the action no_op, got none', 1, true), message)
end)

test.finish()
