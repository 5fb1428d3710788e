-- The methods of `pushdown pipe`: what they take, check and return, see docs/reference/pipe.md.
local files = require 'pushdown.files'
local histories = require 'pushdown.runs.history'
local json = require 'pushdown.json'
local pd = require 'pushdown'
local runs = require 'pushdown.runs'

local M = {}

local declared = {}  -- by name: check(arguments, where), run(arguments) and what the elements of list arguments are
local objects, next_object = {}, 1  -- models and grammars, by the numbers that stand for them

local elements = { ['list of texts'] = 'a text', ['list of integers'] = 'an integer' }

-- Declares a method. Each row is an argument in the form of pd._options.declare.
local function method(name, rows, run)
  local made = { check = pd._options.declare('pipe.' .. name, rows), run = run, elements = {} }
  for _, row in ipairs(rows) do made.elements[row[1]] = elements[row.type] end
  declared[name] = made
end

-- The value without the null of tables. In a list, null is an error: Lua's lists would lose the values behind it. JSON
-- has no infinity, but 1e999 is read as one. place: of the value; expected: what the elements of a list are.
local function plain(value, where, place, expected)
  if type(value) == 'number' and value - value ~= 0 then
    error(('[%s] %s: expected a finite number, got %s'):format(where, place, value), 0)
  end
  if type(value) ~= 'table' then return value end
  for key, inner in pairs(value) do
    if type(inner) == 'table' or type(inner) == 'number' then
      local inside = type(key) == 'number' and ('%s[%d]'):format(place, key) or place .. '.' .. key
      if inner ~= json.null then
        plain(inner, where, inside)
      elseif type(key) == 'number' then
        error(('[%s] %s: expected %s, got null'):format(where, inside, expected or 'a value'), 0)
      else
        value[key] = nil
      end
    end
  end
  return value
end

-- methods.names() -> sorted list.
function M.names()
  local names = {}
  for name in pairs(declared) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- methods.call(name, arguments) -> the result in the form in which JSON has it.
function M.call(name, arguments)
  local found = declared[name]
  if not found then
    local near = pd._text.nearest(name, M.names())
    error(("[pipe] unknown method '%s'%s; the methods are %s"):format(name,
      near and (", did you mean '%s'?"):format(near) or '', table.concat(M.names(), ', ')), 0)
  end
  for argument, value in pairs(arguments) do
    if value == json.null then
      arguments[argument] = nil
    else
      arguments[argument] = plain(value, name, tostring(argument), found.elements[argument])
    end
  end
  return found.run(found.check(arguments, name))
end

-- JSON has no infinite numbers: they are texts.
local function number(value)
  if value ~= value then return 'nan' end
  if value == math.huge then return 'inf' end
  return value == -math.huge and '-inf' or value
end

local function list(values, f)
  local made = {}
  for i = 1, #values do made[i] = f(values[i]) end
  return json.list(made)
end

-- ---- Objects ----

local function object(kind, value)
  local this = next_object
  objects[this], next_object = { kind = kind, value = value }, this + 1
  return this
end

-- The object of this kind, 'model' or 'grammar', that the arguments of a method name.
local function find(kind, given)
  local index = given[kind]
  local found = objects[index]
  if not found then error(('[pipe] there is no object %d'):format(index), 0) end
  if found.kind ~= kind then
    error(('[pipe] object %d is a %s: expected a %s'):format(index, found.kind, kind), 0)
  end
  return found.value
end

local function handle(name, meaning)
  return { name, nil, 'number of the ' .. meaning, type = 'integer', required = true }
end

local function text(name, meaning) return { name, nil, meaning, type = 'text', required = true } end

local strings = { 'strings', nil, 'the strings, each a text with blanks between its symbols', type = 'list of texts',
  required = true }

method('release', { { 'objects', nil, 'numbers of objects that are not used any more', type = 'list of integers',
  required = true } }, function(given)
  for _, index in ipairs(given.objects) do objects[index] = nil end
end)

-- ---- Models ----

-- What a program wants to know of a new model.
local function model_facts(model)
  return { object = object('model', model), kind = pd.doc_name(model), description = tostring(model),
    symbols = json.list(model:alphabet():symbols()), options = model:options(), parameters = model:parameter_count() }
end

local kinds = { 'language_model', 'recognizer', 'transducer' }
method('model.create', { { 'kind', nil, 'kind of model', type = 'text', choices = kinds, required = true },
  { 'options', {}, 'its options', type = 'table' } }, function(given)
  return model_facts(pd.model[given.kind](given.options))
end)

method('model.load', { text('path', 'run folder, exported folder, checkpoint or file of a model'),
  { 'which', 'best', 'the best parameters of a run, or the newest', choices = { 'best', 'last' } },
  { 'device', nil, "'cpu', 'cuda' or 'cuda:n'; if absent, that of the model", type = 'text' } }, function(given)
  return model_facts(pd.model.load(given.path, { which = given.which, device = given.device }))
end)

method('model.save', { handle('model', 'model'), text('path', 'the new file') }, function(given)
  find('model', given):save(given.path)
end)

local part = { 'part', '', "only the parameters below this name, and without it: 'controller'" }

-- The prefix of the names of a part of the model.
local function prefix_of(where, model, name)
  if name == '' then return '' end
  local known = {}
  for parameter in pairs(model:parameters()) do known[parameter:match '^[^.]+'] = true end
  if known[name] then return name .. '.' end
  local names = {}
  for one in pairs(known) do names[#names + 1] = one end
  table.sort(names)
  error(("[%s] the model has no part '%s'; its parts are %s"):format(where, name, table.concat(names, ', ')), 0)
end

method('model.save_parameters', { handle('model', 'model'), text('path', 'the new file: .safetensors or .npz'), part },
  function(given)
    local model, tensors = find('model', given), {}
    local prefix = prefix_of('model.save_parameters', model, given.part)
    for name, tensor in pairs(model:parameters()) do
      if name:sub(1, #prefix) == prefix then tensors[name:sub(#prefix + 1)] = tensor end
    end
    pd.tensor.save(given.path, tensors)
  end)

-- A model with the parameters of a file. Those of other parts are the same as before.
method('model.with_parameters', { handle('model', 'model'), text('path', 'a .safetensors or .npz file'), part },
  function(given)
    local folder = pd.file.temporary_folder()
    local ok, made = pcall(function()
      find('model', given):save(folder .. '/model.safetensors')
      return pd.model.load(folder .. '/model.safetensors')
    end)
    pd.file.remove_folder(folder)
    if not ok then error(made, 0) end
    local prefix = prefix_of('model.with_parameters', made, given.part)
    local tensors, renamed = pd.tensor.load(given.path), {}
    if type(tensors) ~= 'table' then error(("'%s' has one tensor without a name"):format(given.path), 0) end
    for name, tensor in pairs(tensors) do renamed[prefix .. name] = tensor end
    for name, tensor in pairs(made:parameters()) do
      if name:sub(1, #prefix) ~= prefix then renamed[name] = tensor end
    end
    made:load_parameters(renamed, { source = given.path })
    return model_facts(made)
  end)

method('model.log_probability', { handle('model', 'language model'), strings }, function(given)
  local model = find('model', given)
  return list(given.strings, function(string) return number(model:log_probability(string)) end)
end)

method('model.logits', { handle('model', 'language model'), text('string', 'the string') }, function(given)
  local scores = pd.tensor.no_grad(function() return find('model', given):logits(given.string) end)
  return { shape = json.list(scores:size()), values = list(scores:flatten():to_table(), number) }
end)

method('model.accepts', { handle('model', 'recognizer'), strings }, function(given)
  local model = find('model', given)
  return list(given.strings, function(string) return model:accepts(string) end)
end)

method('model.translate', { handle('model', 'transducer'), strings,
  { 'longest', nil, 'maximum length of a target', type = 'integer', minimum = 1 } }, function(given)
  if #given.strings == 0 then return json.list {} end
  return json.list(find('model', given):translate(given.strings, { longest = given.longest }))
end)

local prefix = { 'prefix', '', 'the first symbols' }
local temperature = { 'temperature', 1, 'above 0: below 1 probable symbols become more probable', type = 'number' }

method('model.sample', { handle('model', 'language model'),
  { 'count', 1, 'number of strings', minimum = 1 },
  { 'length', nil, 'number of symbols of each string; if absent, the model ends it', type = 'integer', minimum = 0 },
  { 'longest', 1000, 'number of symbols after which every string must have ended', minimum = 1 }, prefix, temperature,
  { 'seed', nil, 'random seed', type = 'integer' } }, function(given)
  local drawn = find('model', given):sample { count = given.count, length = given.length, longest = given.longest,
    prefix = given.prefix, temperature = given.temperature, seed = given.seed }
  local open = 0
  for _, string in ipairs(drawn) do
    -- A string that was cut has one more mark than symbols.
    if select(2, string:gsub('%S+', '')) > given.longest then open = open + 1 end
  end
  if not given.length and open > 0 then
    error(('[model.sample] %d of %d strings have not ended after %d symbols: give a larger `longest`, or a length')
      :format(open, #drawn, given.longest), 0)
  end
  return json.list(drawn)
end)

method('model.next', { handle('model', 'language model'), prefix, temperature }, function(given)
  return find('model', given):next(given.prefix, { temperature = given.temperature })
end)

method('model.surprisal', { handle('model', 'language model'), text('string', 'the string') }, function(given)
  return list(find('model', given):surprisal(given.string), function(row)
    return json.list { row.symbol, number(row.surprisal) }
  end)
end)

-- A tensor of one or two dimensions as nested lists; nil stays nil.
local function numbers(values)
  if type(values) == 'number' then return number(values) end
  return values and list(values, numbers)
end

method('model.trace', { handle('model', 'model'), text('string', 'the string, or the source of a transducer'),
  { 'target', nil, 'target of a transducer', type = 'text' },
  { 'layer', nil, 'layer of a transformer', type = 'integer', minimum = 1 },
  { 'memory', 1, 'one of several memories side by side', minimum = 1 } }, function(given)
  local model, options = find('model', given), { layer = given.layer, memory = given.memory }
  local reads_pairs = pd.doc_name(model) == 'Transducer'
  if reads_pairs ~= (given.target ~= nil) then
    error(('[model.trace] a %s reads %s target'):format(pd.doc_name(model), reads_pairs and 'a' or 'no'), 0)
  end
  local trace = reads_pairs and model:trace(given.string, given.target, options) or model:trace(given.string, options)
  local function of(tensor) return tensor and numbers(tensor:to_table()) end
  return { symbols = json.list(trace:symbols()), actions = json.list(trace:actions()), weights = of(trace:weights()),
    depth = of(trace:depth()), depths = of(trace:depths()), readings = of(trace:readings()) }
end)

-- ---- Grammars ----

local function grammar_facts(grammar)
  if pd.doc_name(grammar) ~= 'Grammar' then
    error('[pipe] expected a context-free grammar, got a synchronous one', 0)
  end
  return { object = object('grammar', grammar), name = grammar:name(), description = tostring(grammar),
    text = grammar:text(), symbols = json.list(grammar:alphabet():symbols()) }
end

method('grammar.parse', { text('text', 'the rules') }, function(given)
  return grammar_facts(pd.grammar.parse(given.text))
end)

method('grammar.load', { text('name', 'a grammar of the program, or the path of a file'),
  { 'options', {}, 'its options', type = 'table' } }, function(given)
  return grammar_facts(pd.grammar.load(given.name, given.options))
end)

method('grammar.log_probability', { handle('grammar', 'grammar'), strings }, function(given)
  return list(find('grammar', given):log_probabilities { strings = given.strings }, number)
end)

method('grammar.sample', { handle('grammar', 'grammar'), { 'count', 1, 'number of strings', minimum = 1 },
  { 'length', nil, 'length of each string; any length if absent', type = 'integer', minimum = 0 },
  { 'seed', nil, 'random seed', type = 'integer' } }, function(given)
  local grammar = find('grammar', given)
  return json.list(grammar:sample { count = given.count, length = given.length, seed = given.seed })
end)

-- ---- Runs ----

local folder = text('folder', 'the folder')

method('runs.find', { folder }, function(given)
  if not files.exists(given.folder) then error(("there is no folder '%s'"):format(given.folder), 0) end
  local rows, refused = runs.below(given.folder)
  return { runs = json.list(rows), refused = json.list(refused) }
end)

method('runs.history', { folder }, function(given)
  local history = histories.read(given.folder)
  if not history then return nil end
  local metrics = {}
  for key, column in pairs(history.columns) do metrics[key] = list(column, number) end
  return { epoch = list(history.epoch, number), update = list(history.update, number),
    elapsed = list(history.seconds, number), metrics = metrics,
    losses = history.batches and { update = list(history.batches.update, number),
      loss = list(history.batches.loss, number) } }
end)

return M
