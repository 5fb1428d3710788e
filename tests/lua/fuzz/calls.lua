-- Calls with random arguments: of all documented functions, and of the constructors with random options, whose objects
-- are then used.
local pd = require 'pushdown'
local values = dofile(pd.root .. '/tests/lua/fuzz/values.lua')

local M = {}

local random, one_of = math.random, values.one_of

-- The functions that are not called at random, and why.
local left_out = {
  ['ProcessPool:start'] = 'starts programs',
  ['Process:signal'] = 'stops programs',
  ['pd.tensor.op'] = 'is LibTorch itself: any operator with any arguments',
  ['pd.file.remove_folder'] = 'removes the folder that this works in',
  ['pd.stack.check'] = 'takes seconds', ['pd.controller.check'] = 'takes seconds',
  ['pd.train.check_objective'] = 'takes seconds',
}

-- New at the beginning of each block, so that a call depends on few earlier ones.
local limits = pd.grammar.limits {}
local function make_objects()
  pd.grammar.limits(limits)
  local grammar = pd.grammar.load 'marked_reversal'
  local dyck = pd.grammar.load 'dyck'
  local pda = pd.pda.parse '%bottom x\n%accepting r\nq, x --a--> q, push y\nq, y --b--> r, pop\nr, y --b--> r, pop'
  local synchronous = pd.grammar.synchronous "S -> A1 B2 | B2 A1\nA -> 'a' | 'x'\nB -> 'b' | 'y'"
  local sampler = grammar:sampler { lengths = { 3, 7 } }
  local data = sampler:dataset(6, { seed = 1 })
  local labelled = pd.task.labelled { grammar = grammar, lengths = { 1, 5 }, positives = 4, negatives = 4, seed = 1 }
  local text = pd.task.running_text { alphabet = { 'x', 'y', '<unk>' }, words = ('x y y '):rep(8) }
  local some_pairs = pd.task.pairs { { 'a b', 'b a' }, { 'a', 'b' } }
  local language = pd.model.language_model { alphabet = grammar:alphabet(), seed = 1,
    controller = { kind = 'lstm', hidden = 3 }, stack = { kind = 'nondeterministic' } }
  local recognizer = pd.model.recognizer { alphabet = labelled:alphabet(), seed = 1,
    controller = { kind = 'elman', hidden = 3 }, stack = { kind = 'superposition', size = 2 } }
  local transducer = pd.model.transducer { pairs = some_pairs, seed = 1, controller = { kind = 'lstm', hidden = 2 } }
  local trees = pd.tree.parse '(S (NP a) (VP (V b) (NP c)))\n(S (NP a) (VP b))'
  data:save 'data.txt'
  labelled:save 'labelled.txt'
  pd.file.write('words.txt', 'a b c\nb c a\n')
  pd.file.write('g.txt', grammar:text())
  pd.file.write('a.pda', pda:text())
  pd.file.write('broken', '{"a": [')
  local trace = pda:trace 'a b'
  values.objects = {
    Grammar = { grammar, dyck }, SynchronousGrammar = { synchronous }, Pda = { pda }, Sampler = { sampler },
    Dataset = { data }, LabelledDataset = { labelled }, RunningText = { text }, Pairs = { some_pairs },
    LanguageModel = { language }, Recognizer = { recognizer }, Transducer = { transducer }, Tree = trees,
    Alphabet = { grammar:alphabet() }, Trace = { trace }, Run = { pda:best_run 'a b' },
    Derivation = { grammar:parse '0 # 0' }, ModelState = { (language:begin(1, 4)) },
    TreeScore = { pd.tree.score(trees, trees) },
    Trainer = { pd.train.trainer { model = language, train = data, epochs = 2, progress = false },
      pd.train.trainer { model = recognizer, train = labelled, epochs = 2, progress = false } },
    Registry = { pd.registry.open 'registry.sqlite' },
    FileWriter = { pd.file.writer 'written' }, FolderLock = { (pd.process.lock 'locked') },
    Tensor = { pd.tensor.zeros { 2, 3 }, pd.tensor.randn({ 3 }, { requires_grad = true }), pd.tensor(2),
      pd.tensor.ones({ 2, 2 }, { dtype = 'float64' }), pd.tensor.arange(1, 4, { dtype = 'int64' }),
      pd.tensor.zeros { 0, 2 }, pd.tensor.randn { 2, 3, 4 } },
    NumberData = {},
  }
end

local function remember(...)
  for i = 1, select('#', ...) do
    local value = select(i, ...)
    local class = type(value) == 'userdata' and getmetatable(value)
    if type(class) == 'string' then
      local list = values.objects[class] or {}
      values.objects[class] = list
      list[#list < 8 and #list + 1 or random(#list)] = value
    end
  end
end

-- The called functions and methods by full name, with their usage lines, sorted so that a seed always gives the same
-- calls.
local functions, methods = {}, {}
for name, doc in pairs(pd.docs()) do
  local usage = doc:match '^(.-)  '
  if usage and not left_out[name] then
    local list = name:find ':' and methods or name:find '^pd' and functions or nil
    if list then list[#list + 1] = { name = name, usage = usage } end
  end
end
for _, list in ipairs { functions, methods } do
  table.sort(list, function(a, b) return a.name < b.name end)
end

local operators = {
  __add = function(a, b) return a + b end, __sub = function(a, b) return a - b end,
  __mul = function(a, b) return a * b end, __div = function(a, b) return a / b end,
  __mod = function(a, b) return a % b end, __pow = function(a, b) return a ^ b end,
  __unm = function(a) return -a end, __len = function(a) return #a end, __eq = function(a, b) return a == b end,
  __lt = function(a, b) return a < b end, __le = function(a, b) return a <= b end,
  __index = function(a, b) return a[b] end, __newindex = function(a, b, c) a[b] = c end,
  __tostring = tostring, __show = tostring, __call = function(a, ...) return a(...) end,
}

local function field(name)
  local value = pd
  for part in name:gmatch '[^.]+' do
    if part ~= 'pd' then value = value[part] end
  end
  return value
end

-- Each returns the function, its arguments with their number, and a description of the call.
local function random_function()
  local chosen = one_of(functions)
  local arguments, n = values.arguments(chosen.name, chosen.usage)
  return field(chosen.name), arguments, n, chosen.name
end

local function random_method()
  local chosen = one_of(methods)
  local class, name = chosen.name:match '^(.-):(.*)$'
  local list = values.objects[class]
  local object = list and #list > 0 and random(40) > 1 and one_of(list) or values.any()
  local arguments, n
  if name:find '^__' then
    arguments, n = { values.any(), values.any() }, 2
    if random(2) == 1 then arguments[1] = one_of(values.objects.Tensor) end
  else
    arguments, n = values.arguments(chosen.name, chosen.usage)
  end
  table.insert(arguments, 1, object)
  if object == nil then arguments = { [2] = arguments[1], [3] = arguments[2] } end
  local call = operators[name] or function(it, ...) return it[name](it, ...) end
  return call, arguments, n + 1, chosen.name
end

-- Constructors with described options.
local constructors = {
  { 'pd.model.language_model', pd.model.describe, pd.model.architectures, 'architecture' },
  { 'pd.model.recognizer', pd.model.describe_recognizer, pd.model.architectures, 'architecture' },
  { 'pd.model.transducer', pd.model.describe_transducer, pd.model.architectures, 'architecture' },
  { 'pd.train.trainer', pd.train.describe,
    function() return { 'language_model', 'recognizer', 'transducer', 'text' } end },
  { 'pd.stack.simulate', pd.stack.describe, pd.stack.kinds, 'kind' },
  { 'pd.task.transduction', pd.task.describe_transduction, pd.task.transductions, 'kind' },
  { 'pd.grammar.load', pd.grammar.describe, function() return pd.grammar.list() end },
  { 'pd.pda.load', pd.pda.describe, function() return pd.pda.list() end },
}

-- Uses an object that was made with random options.
local uses = {
  LanguageModel = function(it) return it:log_probability '0 1 # 1 0', it:logits '0 1' end,
  Recognizer = function(it) return it:accepts '0 1 # 1 0' end,
  Transducer = function(it) return it:translate('a b', { limit = 4 }) end,
  Trainer = function(it) return it:step(), it:options() end,
  Pairs = function(it) return it:draw(2) end,
  Grammar = function(it) return it:sampler { lengths = { 1, 6 } }:sample(), it:text(), it:contains '0' end,
  Pda = function(it) return it:accepts 'a b', it:minimal(), it:text() end,
}

local function random_constructor()
  local chosen = one_of(constructors)
  local kind = one_of(chosen[3]())
  local options = values.fill({}, chosen[2](kind))
  if chosen[4] then options[chosen[4]] = kind end
  local arguments = chosen[1]:find 'load$' and { kind, options } or { options }
  local call = function(...)
    local made = field(chosen[1])(...)
    remember(made)
    local use = uses[type(made) == 'userdata' and getmetatable(made)]
    if use then use(made) end
  end
  return call, arguments, #arguments, chosen[1]
end

local function shown(value, depth)
  if type(value) == 'string' then
    return #value > 60 and ('%q .. %d'):format(value:sub(1, 40), #value) or ('%q'):format(value)
  end
  if type(value) == 'number' then return ('%.17g'):format(value) end
  if type(value) == 'userdata' then
    local class = getmetatable(value)
    return '<' .. (type(class) == 'string' and class or 'userdata') .. '>'
  end
  if type(value) ~= 'table' then return type(value) == 'function' and '<function>' or tostring(value) end
  if depth > 3 or getmetatable(value) then return '{...}' end
  local parts = {}
  for key, inner in pairs(value) do
    local name = type(key) == 'number' and '' or '[' .. shown(key, depth + 1) .. '] = '
    parts[#parts + 1] = name .. shown(inner, depth + 1)
  end
  return '{ ' .. table.concat(parts, ', ') .. ' }'
end

-- One call: its description, and the function that makes it.
local function prepared(make)
  local call, arguments, n, name = make()
  local words = {}
  for i = 1, n do words[i] = shown(arguments[i], 0) end
  return name .. '(' .. table.concat(words, ', ') .. ')', function()
    remember(call(unpack(arguments, 1, n)))
  end
end

M.begin = make_objects
M.calls = function() return prepared(random(3) == 1 and random_function or random_method) end
M.options = function() return prepared(random_constructor) end

return M
