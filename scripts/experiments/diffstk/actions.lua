-- What a trained network does with its stack while it reads a string, computed from its parameters by equations 2 to 9
-- of docs/reference/diffstk.md: for an `elman` controller with one layer, a `superposition` or `parallel_superposition`
-- stack, and the coupling `state`.
--
--   local actions, scores = dofile(pd.root .. '/scripts/experiments/diffstk/actions.lua')(model, 'a b c b a')
--
-- actions[t]: for each stack { push, pop, no_op }, the weights of step t. scores[t]: the rows of model:logits.
local activations = { tanh = math.tanh, scaled_tanh = function(x) return 1.7519 * math.tanh(2 * x / 3) end }

local function affine(weight, bias, x)
  local y = {}
  for i, row in ipairs(weight) do
    y[i] = bias and bias[i] or 0
    for k, w in ipairs(row) do y[i] = y[i] + w * x[k] end
  end
  return y
end

local function softmax(x, first, count)
  local sum, y = 0, {}
  for i = 1, count do
    y[i] = math.exp(x[first + i])
    sum = sum + y[i]
  end
  for i = 1, count do y[i] = y[i] / sum end
  return y
end

-- Cells of numbers, the top first; `empty` below them.
local function moved(cells, weights, pushed, empty)
  local function cell(d) return d == 0 and pushed or cells[d] or empty end
  local new = {}
  for d = 1, #cells + 1 do
    new[d] = weights[1] * cell(d - 1) + weights[2] * cell(d + 1) + (weights[3] or 0) * cell(d)
  end
  return new
end

return function(model, text)
  local options, p, number = model:options(), {}, {}
  for name, tensor in pairs(model:parameters()) do p[name] = tensor:to_table() end
  for i, symbol in ipairs(model:alphabet():symbols()) do number[symbol] = i end
  local f = assert(activations[options.controller.activation], 'the controller is not elman with tanh')
  local parallel = options.stack.kind == 'parallel_superposition'
  local stacks, sizes = parallel and options.stack.stacks or 1, parallel and 1 or options.stack.size
  local kinds, empty = options.stack.no_op and 3 or 2, parallel and options.stack.empty or 0
  local depth = parallel and options.stack.read_depth or 1
  local hidden, resting, cells = {}, 0, {}  -- cells[k]: of the numbers of stack k, or of component k of its vectors
  for i = 1, options.controller.hidden do hidden[i] = 0 end
  for k = 1, stacks * sizes do cells[k] = {} end
  local actions, scores = {}, { affine(p['output.weight'], p['output.bias'], hidden) }
  for symbol in text:gmatch '%S+' do
    local reading = {}
    for k = 1, #cells do
      for d = 1, depth do reading[#reading + 1] = cells[k][d] or empty end
    end
    local old, input = affine(p['coupling.weight'], hidden, reading), {}
    for i in ipairs(p['controller.weight_ih_l0'][1]) do input[i] = i == number[symbol] and 1 or 0 end
    local sum = affine(p['controller.weight_hh_l0'], affine(p['controller.weight_ih_l0'], p['controller.bias_ih_l0'],
      input), old)
    for i, s in ipairs(sum) do
      hidden[i] = (1 - resting) * f(s + p['controller.bias_hh_l0'][i]) + resting * old[i]
    end
    scores[#scores + 1] = affine(p['output.weight'], p['output.bias'], hidden)
    local acts = affine(p['stack.action_weight'], p['stack.action_bias'], hidden)
    local values = affine(p['stack.value_weight'] or p['stack.vector_weight'],
      p['stack.value_bias'] or p['stack.vector_bias'], hidden)
    local step = {}
    for k = 1, stacks do step[k] = softmax(acts, (k - 1) * kinds, kinds) end
    for k = 1, #cells do
      cells[k] = moved(cells[k], step[parallel and k or 1], 1 / (1 + math.exp(-values[k])), empty)
    end
    resting = options.carry_forward == 'soft' and 1 or 0
    for k = 1, stacks do resting = resting * (step[k][3] or 0) end
    actions[#actions + 1] = step
  end
  return actions, scores
end
