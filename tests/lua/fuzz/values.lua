-- Random arguments for documented functions: values that fit the name of the argument, and values of any type.
local pd = require 'pushdown'

local M = {}

local random = math.random
local function one_of(list) return list[random(#list)] end

-- Names of files in the working folder, which is deleted later. None leads out of it.
local paths = { 'new', 'new.txt', 'sub/new', 'none/new', 'data.txt', 'labelled.txt', 'pairs.txt', 'words.txt', 'run',
  'model.safetensors', 'g.txt', 'g.lua', 'a.pda', '', 'x\0y', ('n'):rep(300), 'broken' }

local texts = { '', ' ', 'a', 'b', '0', '1', '( )', '0 1 0 # 0 1 0', 'a b', 'none', 'lstm', 'adam', 'nil', '\0',
  '\27[31m', '\255\254', 'é ü', '%s%d%n', "'", '"', 'S', 'S -> a', '[', '\n', 'marked_reversal', 'text', 'last',
  'float64', 'cpu', 'cuda', 'kind', '-', 'q, x --a--> r, push y', '1e400', ('x'):rep(5000), ('a '):rep(400), '<unk>',
  'NP', '\226\130' }

local numbers = { 0, 1, 2, 3, 4, 7, 10, -1, -2, 0.5, -0.5, 1e-9, 100, 1000, 65536, 65537, 2 ^ 20, 2 ^ 31 - 1, 2 ^ 31,
  2 ^ 32, 2 ^ 53, 2 ^ 63, -2 ^ 63, 1e18, 1e308, -1e308, 0 / 0, 1 / 0, -1 / 0, -0 }

local function small() return random(0, 4) end

-- The objects of the session by class, and functions that make them anew.
M.objects = {}
local function object(class)
  local list = M.objects[class]
  return list and #list > 0 and one_of(list) or nil
end
local function any_object()
  return object(one_of(pd.tables.keys(M.objects)))
end

-- Values that are shown in descriptions of calls.
local strange = { print, coroutine.create(function() end), io.stderr, function() error 'x' end,
  function(...) return ... end, function() return {} end, setmetatable({}, { __index = function() error 'index' end }),
  setmetatable({}, { __tostring = function() return 1 end }), newproxy(true) }

function M.any(depth)
  depth = depth or 0
  local kind = random(depth > 2 and 7 or 10)
  if kind == 1 then return nil end
  if kind == 2 then return random(2) == 1 end
  if kind <= 4 then return one_of(numbers) end
  if kind <= 6 then return one_of(texts) end
  if kind == 7 then return random(3) == 1 and one_of(strange) or any_object() end
  local list = {}
  for i = 1, random(0, 4) do
    local key = random(3) == 1 and one_of(texts) or i
    list[key] = M.any(depth + 1)
  end
  if random(30) == 1 then list.itself = list end
  return list
end

local function tokens()
  local words = {}
  for i = 1, random(0, 9) do words[i] = one_of { '0', '1', '#', '(', ')', 'a', 'b', 'x' } end
  if random(2) == 1 then return words end
  return table.concat(words, ' ')
end
local function list_of(make)
  return function()
    local list = {}
    for i = 1, random(0, 5) do list[i] = make() end
    return list
  end
end
local function boolean() return random(2) == 1 end
local function of(...)
  local classes = { ... }
  return function() return object(one_of(classes)) end
end
local function model() return object(one_of { 'LanguageModel', 'Recognizer', 'Transducer' }) end
local function data() return object(one_of { 'Dataset', 'LabelledDataset', 'RunningText', 'Pairs', 'Sentences' }) end
local function path() return one_of(paths) end
local function name_of(list) return function() return one_of(list()) end end
local function lengths() return { small(), random(0, 9) } end
local function shape() return list_of(small)() end
local function symbols() return list_of(function() return one_of { '0', '1', '#', 'a', 'b', 'x', '' } end)() end
local function alphabet() return random(2) == 1 and object 'Alphabet' or symbols() end
local function shares() return list_of(function() return random(0, 9) end)() end
local function pair() return { tokens(), tokens() } end
local function tree_text()
  return one_of { '(S (NP a) (VP b))', '((a b) c)', '(S', '', '(S (X))', '()', '(((((a)))))', '(S a b c d)' }
end

local function nested(kinds, describe)
  return function()
    local options = { kind = one_of(kinds()) }
    local ok, text = pcall(describe, options.kind)
    if ok then M.fill(options, text) end
    return options
  end
end

-- Values that fit an argument or an option of this name.
local fitting = {
  tokens = tokens, source = tokens, target = tokens, words = tokens, word = function() return one_of(texts) end,
  strings = list_of(tokens), sentences = list_of(tree_text), list = list_of(pair), path = path, folder = path,
  output = path, name_or_path = function() return one_of { 'marked_reversal', 'dyck', 'an_bn/whole', 'g.txt', 'x' } end,
  model = model, data = data, train = data, valid = data, test = data, dataset = of('Dataset', 'LabelledDataset'),
  grammar = of('Grammar', 'SynchronousGrammar'), pda = of 'Pda', alphabet = alphabet, source_alphabet = alphabet,
  target_alphabet = alphabet, vocabulary = alphabet, tensors = list_of(of 'Tensor'), tensor = of 'Tensor',
  other = of('Tensor', 'Pda'), gradient = of 'Tensor', values = of 'Tensor', mask = of 'Tensor', indices = of 'Tensor',
  state = of 'ModelState', pairs = of 'Pairs', examples = of 'NumberData', induced = list_of(of 'Tree'),
  gold = list_of(of 'Tree'), trees = list_of(of 'Tree'), seed = small, count = small, length = small, batch = small,
  dim = function() return random(-3, 3) end, dim1 = small, dim2 = small, shape = shape, sizes = shape,
  lengths = lengths, target_lengths = lengths, shares = shares, epochs = small, steps = small, limit = small,
  low = small, high = small, number = small, id = small, ids = list_of(small), lock = of 'FolderLock',
  symbols = function() return random(2) == 1 and symbols() or small() end, distances = list_of(small),
  dtype = function() return one_of { 'float32', 'float64', 'int64', 'bool' } end,
  device = function() return one_of { 'cpu', 'cuda', 'cuda:9' } end, run_folder = path,
  which = function() return one_of { 'best', 'last' } end, requires_grad = boolean, keep = boolean,
  rules = list_of(function()
    return { text = one_of { "S -> 'a'", "S -> S S", 'S ->', "T -> 'b' T" }, weight = small() }
  end),
  transitions = list_of(function()
    return one_of { 'q, x --a--> r, push y', 'r, y --b--> r, pop', 'q, x --> q, replace z' }
  end),
  text = tree_text, text_or_table = function() return "A -> S1 T2 | T2 S1\nS -> 'a' | 'a'\nT -> 'b' | 'b'" end,
  controller = nested(pd.controller.kinds, pd.controller.describe), stack = nested(pd.stack.kinds, pd.stack.describe),
  optimizer = nested(pd.train.optimizers, pd.train.describe_optimizer),
  annealing = nested(pd.train.annealings, pd.train.describe_annealing),
  objective = nested(pd.train.objectives, pd.train.describe_objective),
  learning = nested(pd.train.learning_algorithms, pd.train.describe_learning),
  layers = list_of(nested(pd.model.layers, pd.model.describe_layer)),
  noise = function() return M.fill({}, pd.train.describe_noise()) end,
  curriculum = function() return { kind = one_of { 'sequential', 'incremental', 'two_stage' }, step = small() } end,
  architecture = name_of(pd.model.architectures), kind = function()
    return one_of(one_of { pd.stack.kinds, pd.controller.kinds, pd.train.objectives, pd.task.transductions }())
  end,
  -- A machine can start only a limited number, which these tests do not cover.
  threads = function() return one_of { 1, 2, 0, -1, 0 / 0 } end,
}

-- A value that fits an argument of this name, or rarely any value.
function M.named(name)
  local make = fitting[name]
  if make and random(10) > 1 then return make() end
  return M.any()
end

-- Sets some of the options that a description lists (pd.stack.describe and its like), by their types.
function M.fill(options, text)
  for _, option in ipairs(require 'pushdown.prompt.described'(text)) do
    local name, form = option.name, option.form
    local line = '\n  ' .. name .. ' [^\n]*, '
    local required = not text:find(line .. 'default ') and not text:find(line .. 'optional')
    if required or random(4) == 1 then
      local value
      if random(8) == 1 and name ~= 'threads' then value = M.any()
      elseif #option.choices > 0 then value = one_of(option.choices)
      elseif fitting[name] then value = fitting[name]()
      elseif form:find '^integer' then value = random(6) == 1 and one_of(numbers) or small()
      elseif form:find '^number' then value = random(4) == 1 and one_of(numbers) or random()
      elseif form:find '^boolean' then value = boolean()
      elseif form:find '^text' then value = one_of(texts)
      else value = M.any() end
      options[name] = value
    end
  end
  if random(20) == 1 then options[one_of(texts)] = M.any() end
  return options
end

-- Some of the options of a function, by their types.
local function declared(name)
  local options = {}
  for _, option in ipairs(pd.options(name) or {}) do
    if option.required and random(12) > 1 or random(3) == 1 then
      local value
      if random(8) == 1 and option.name ~= 'threads' then value = M.any()
      elseif option.choices then
        value = one_of(option.choices)
        if option.type:find '^list' then value = { value, one_of(option.choices) } end
      elseif fitting[option.name] then value = fitting[option.name]()
      elseif M.objects[option.type] then value = object(option.type)
      elseif option.type == 'integer' then value = random(6) == 1 and one_of(numbers) or small()
      elseif option.type == 'number' then value = random(4) == 1 and one_of(numbers) or random()
      elseif option.type == 'boolean' then value = boolean()
      elseif option.type == 'text' then value = one_of(texts)
      else value = M.any() end
      options[option.name] = value
    end
  end
  if random(20) == 1 then options[one_of(texts)] = M.any() end
  return options
end

-- The arguments of a call of a function by its full name and its usage line, as a list with their number.
function M.arguments(name, usage)
  local inner = usage:match '^[%w_:.]+%((.*)%)%s*%->' or usage:match '^[%w_:.]+%((.*)%)$'
  local list, n = {}, 0
  if not inner then
    inner = usage:match '^[%w_:.]+(%b{})'
    if not inner then return list, random(0, 2) end
  end
  inner = inner:gsub('%b{}', function(part) return (part:gsub(',', ';')) end)
  for part in inner:gmatch '[^,]+' do
    part = part:gsub('^%s+', '')
    n = n + 1
    list[n] = part:find '^{' and declared(name) or M.named(part:match '^[%w_]+' or '')
  end
  if random(20) == 1 then n = n - 1 elseif random(20) == 1 then n = n + 1 list[n] = M.any() end
  return list, math.max(n, 0)
end

M.one_of, M.path = one_of, path

return M
