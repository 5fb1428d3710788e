-- Loads parameters of published programs under our names, using tables of names.
--
--   local m = pd.model.language_model{ alphabet = { 'a', 'b', 'c' }, controller = { kind = 'lstm', hidden = 20 },
--     stack = { kind = 'superposition', size = 3 }, end_symbol = false }
--   pd.published.load(m, 'checkpoint.safetensors', 'nondeterministic-stack-rnn')
--
-- A name in `names` is a Lua pattern for a tensor's whole name in the program, followed by our name for it, in which %1
-- stands for the pattern's first capture. The first pattern that matches counts; other names stay as they are. `derive`
-- does what names alone cannot express, on tensors under our names.
local pd = require 'pushdown'
local tables = require 'pushdown.tables'

local M = {}

-- PyTorch's recurrent modules already use our names, with any prefix.
local cell = { '^.-(%l+_[ih]h_l%d+)$', 'controller.%1' }

-- The names of the stack layers in both programs of DuSell and Chiang, then those of one of them.
local function dusell_names(own)
  local names = {
    cell,
    { '^.-action_layer%.linear%.(%l+)$', 'stack.action_%1' },
    { '^.-push_value_layer%.linear%.(%l+)$', 'stack.vector_%1' },
    { '^.-operation_layer%.(%l+)$', 'stack.action_%1' },
    { '^.-pushed_vector_layer%.0%.(%l+)$', 'stack.vector_%1' },
    { '^.-bottom_vector$', 'stack.bottom_vector' },
  }
  for _, name in ipairs(own) do names[#names + 1] = name end
  return names
end

-- The two rows of one layer, push and pop, are two layers in our models.
local function split_strengths(tensors, model)
  if not model:options().stack.kind:match '^stratification' then return end
  for _, part in ipairs { 'weight', 'bias' } do
    local both = tensors['stack.action_' .. part]
    if both then
      tensors['stack.action_' .. part] = nil
      tensors['stack.push_' .. part], tensors['stack.pop_' .. part] = both:slice(1, 1, 1), both:slice(1, 2, 2)
    end
  end
end

-- Adds zeros for a parameter that the program does not have.
local function absent_as_zeros(tensors, model, pattern)
  for name, parameter in pairs(model:parameters()) do
    if name:match(pattern) and not tensors[name] then
      tensors[name] = pd.tensor.zeros(parameter:size(), { dtype = model:options().dtype })
    end
  end
end

-- The options push and pop of a model of StackNN -> the layers of the program that compute the two strengths.
local stacknn_layers = {
  ['sigmoid expectation'] = { push = 'push', pop = 'pop' },
  ['fixed expectation'] = { pop = 'pop' },
  ['expectation fixed'] = { push = 'pop' },
  ['expectation sigmoid'] = { push = 'pop', pop = 'push' },
}

M.tables = {
  ['nondeterministic-stack-rnn'] = {
    source = 'github.com/bdusell/nondeterministic-stack-rnn, 2020 to 2023: LSTM, superposition, stratification, NS, '
      .. 'RNS, VRNS',
    names = dusell_names {
      { '^.-embedding_layer%.weight$', 'embedding.weight' },
      { '^layer%.linear%.(%l+)$', 'output.%1' },
    },
    derive = split_strengths,
  },
  rau = {
    source = 'github.com/bdusell/rau: RNN, LSTM, superposition, stratification, RNS, VRNS',
    names = dusell_names {
      { '^first%..-func%.embeddings$', 'embedding.weight' },
      { '^second%.func%.embeddings$', 'output.weight' },
      { '^.-initial_hidden_state_inputs$', 'initial' },
    },
    -- The initial state is the tanh of the learned numbers, one row for each layer; the cells of an LSTM start at 0.
    -- Embeddings can have additional rows after those of the symbols, for padding and the end.
    derive = function(tensors, model)
      split_strengths(tensors, model)
      absent_as_zeros(tensors, model, '^controller%.bias_hh_l%d+$')
      absent_as_zeros(tensors, model, '^output%.bias$')
      local own = model:parameters()
      for _, name in ipairs { 'embedding.weight', 'output.weight' } do
        local rows = own[name] and own[name]:size()[1]
        if rows and tensors[name] and tensors[name]:size()[1] > rows then
          tensors[name] = tensors[name]:slice(1, 1, rows)
        end
      end
      if not tensors.initial then return end
      local states = model:options().controller.kind == 'lstm' and 2 or 1
      for layer = 1, tensors.initial:size()[1] do
        tensors[('initial.%d'):format(states * (layer - 1))] = tensors.initial[layer]:tanh()
      end
      tensors.initial = nil
      absent_as_zeros(tensors, model, '^initial%.%d+$')
    end,
  },
  StackNN = {
    source = 'github.com/viking-sudo-rm/StackNN and industrial-stacknns, the control layer of Merrill et al. (2019), '
      .. 'with push_ones and swap_push_pop as the options push and pop of the model say',
    names = {
      { '^_embedder%.token_embedder_tokens%.weight$', 'embedding.weight' },
      { '^_rnn_cell%.(%l+_[ih]h)$', 'controller.%1_l0' },
      { '^_control_layer%._(%l+)_map%.(%l+)$', 'stack.%1_%2' },
      { '^_classifier%.(%l+)$', 'output.%1' },
    },
    -- push_ones fixes the strength of the push at 1, so its layer is unused. swap_push_pop then exchanges the two
    -- strengths. Checkpoints do not contain these settings, and all have the layers of both strengths.
    derive = function(tensors, model)
      local stack = model:options().stack
      local layers = stacknn_layers[('%s %s'):format(stack.push, stack.pop)]
      if not layers then
        error(("[published.parameters] StackNN has no stack with push = '%s' and pop = '%s': expected 'sigmoid' and "
          .. "'expectation' (push_ones = False), 'fixed' and 'expectation' (push_ones = True), 'expectation' and "
          .. "'fixed' (with swap_push_pop = True), or 'expectation' and 'sigmoid' (swap_push_pop = True alone)"):format(
          tostring(stack.push), tostring(stack.pop)), 0)
      end
      for _, part in ipairs { 'weight', 'bias' } do
        local given = {}
        for _, name in ipairs { 'push', 'pop' } do
          local key = ('stack.%s_%s'):format(name, part)
          given[name], tensors[key] = tensors[key], nil
        end
        for name, layer in pairs(layers) do tensors[('stack.%s_%s'):format(name, part)] = given[layer] end
      end
    end,
  },
  marnns = {
    source = 'github.com/suzgunmirac/marnns (Suzgun et al. 2019): stack-augmented RNN and LSTM, Baby-NTM',
    names = {
      cell,
      { '^W_a%.(%l+)$', 'stack.action_%1' },
      { '^W_n%.(%l+)$', 'stack.vector_%1' },
      { '^W_sh%.(%l+)$', 'coupling.%1' },
      { '^W_m%.(%l+)$', 'coupling.%1' },
      { '^W_y%.(%l+)$', 'output.%1' },
    },
    -- Their linear map of the reading has a bias, which passes through the recurrent weights: W_hh (h + P r + b).
    derive = function(tensors)
      local bias, weight = tensors['coupling.bias'], tensors['controller.weight_hh_l0']
      if not bias or not weight then return end
      tensors['coupling.bias'] = nil
      tensors['controller.bias_hh_l0'] = tensors['controller.bias_hh_l0'] + weight:matmul(bias)
    end,
  },
  torch = {
    source = 'torch.nn.LSTM, GRU and RNN (tanh) of any number of layers, one direction, with an Embedding and a Linear',
    names = {
      cell,
      { '^.-emb[%l_]*%.weight$', 'embedding.weight' },
      { '^.-(weight)$', 'output.%1' },
      { '^.-(bias)$', 'output.%1' },
    },
  },
}

-- published.names() -> list of the programs whose checkpoints can be read.
function M.names() return tables.keys(M.tables) end

local function found(where, name)
  if M.tables[name] then return M.tables[name] end
  local near = pd._text.nearest(tostring(name), tables.keys(M.tables))
  error(("[%s] unknown program '%s'%s; the programs are %s"):format(where, tostring(name),
    near and (", did you mean '%s'?"):format(near) or '', table.concat(tables.keys(M.tables), ', ')), 0)
end

-- published.describe(name) -> text: the location of the program, and its models that can be read.
function M.describe(name) return found('published.describe', name).source end

-- published.parameters(model, tensors, program) -> table: renames the tensors of a checkpoint of the program to the
-- names of the model's parameters.
function M.parameters(model, tensors, program)
  local rules, renamed, from = found('published.parameters', program), {}, {}
  for name, tensor in pairs(tensors) do
    local ours = name
    for _, rule in ipairs(rules.names) do
      -- No program has such long names, and the patterns take quadratic time.
      if #name < 1000 and name:match(rule[1]) then
        ours = (name:gsub(rule[1], rule[2]))
        break
      end
    end
    if renamed[ours] then
      local both = { name, from[ours] }
      table.sort(both)
      error(("[published.parameters] '%s' and '%s' would both become '%s'"):format(both[1], both[2], ours), 0)
    end
    renamed[ours], from[ours] = tensor, name
  end
  if rules.derive then rules.derive(renamed, model) end
  return renamed
end

-- published.load(model, file, program, { strict = true }) -> table: copies the parameters in a checkpoint of the
-- program, a safetensors or npz file, into the model. Returns the result of model:load_parameters. For PyTorch's own
-- files, run scripts/tools/from_pytorch.py first.
function M.load(model, file, program, options)
  local tensors = pd.tensor.load(file)
  if type(tensors) ~= 'table' then
    error(("[published.load] '%s' has one tensor without a name"):format(file), 0)
  end
  options = options or {}
  return model:load_parameters(M.parameters(model, tensors, program), { strict = options.strict, source = file })
end

return M
