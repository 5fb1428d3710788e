-- Calls with random arguments: of all documented functions, and of the constructors with random options, whose objects
-- are then used.
local pd = require 'pushdown'
local objects = dofile(pd.root .. '/tests/lua/objects.lua')
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
  values.objects = objects '.'
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
