-- Makes the LuaCATS stubs of the module for editors (lua-language-server): names, arguments, option tables, results and
-- documentation. The sources are the doc strings of the bindings and the comments of the modules in scripts/lib.
--
--   pushdown scripts/tools/make_stubs.lua FILE
local files = require 'pushdown.files'
local pd = require 'pushdown'

local out = {}
local function write(...) out[#out + 1] = (...):format(select(2, ...)) end

local lua_keywords = { ['end'] = true, ['in'] = true, ['repeat'] = true, ['function'] = true, ['not'] = true }

local forms = { text = 'string', boolean = 'boolean', integer = 'integer', number = 'number',
  ['function'] = 'function' }

-- 'Grammar or list of integers' -> 'Grammar|integer[]'.
local function lua_type(text)
  local types = {}
  for part in (text .. ' or '):gmatch '(.-) or ' do
    local element = part:match '^list of %d* ?(.*)s$'
    if element then
      types[#types + 1] = (forms[element] or element:find '^%u%a*$' and element or 'any') .. '[]'
    else
      types[#types + 1] = forms[part] or part:find '^%u%a*$' and part or part == 'table' and 'table' or 'any'
    end
  end
  return table.concat(types, '|')
end

-- The table type of the options of a function.
local function options_type(name)
  local fields, known = {}, {}
  for _, option in ipairs(pd.options(name) or {}) do
    local form = lua_type(option.type)
    if option.choices then
      local choices = {}
      for i, choice in ipairs(option.choices) do choices[i] = ('"%s"'):format(choice) end
      form = table.concat(choices, '|')
      if option.type:find '^list' then form = ('(%s)[]'):format(form) end
    elseif type(option.default) == 'table' and option.default.kind then
      form = 'table|string' -- a kind by its name alone
    end
    if not known[option.name] then
      fields[#fields + 1] = ('%s%s: %s'):format(option.name, option.required and '' or '?', form)
    end
    known[option.name] = true
  end
  return #fields > 0 and '{ ' .. table.concat(fields, ', ') .. ' }' or 'table'
end

-- The parts of "a, {b=, c=}, d=1" between commas outside brackets.
local function arguments_of(text)
  local parts, depth, part = {}, 0, ''
  for c in (text .. ','):gmatch '.' do
    if c == '{' or c == '(' then depth = depth + 1 elseif c == '}' or c == ')' then depth = depth - 1 end
    if c == ',' and depth == 0 then
      if part:find '%S' then parts[#parts + 1] = part:match '^%s*(.-)%s*$' end
      part = ''
    else
      part = part .. c
    end
  end
  return parts
end

local function result_type(text)
  if text == 'iterator' then return 'fun(): any' end
  return (text:gsub(' or ', '|'):gsub('^%.%.%.$', 'any'))
end

-- Writes a function or method of the bindings.
local function write_binding(name, doc)
  local usage, results, sentence = doc:match '^(.-)%s+%->%s*(.-)  +(.*)$'
  if not usage then usage, sentence = doc:match '^(.-)  +(.*)$' end
  local list, brace = (usage or ''):match '^[^({]*%((.*)%)$', (usage or ''):match '^[^({]*(%b{})$'
  local names, types = {}, {}
  for _, argument in ipairs(arguments_of(list or brace or '')) do
    local is_table = argument:match '^{' or argument:match '^[%a_]+{'
    if brace then break end
    local plain = is_table and 'options' or argument:match '^([%a_][%w_]*)' or argument:match '^%.%.%.' or 'value'
    if lua_keywords[plain] then plain = plain .. '_' end
    names[#names + 1], types[#types + 1] = plain, is_table and options_type(name)
      or argument:find ' or {' and 'string|' .. options_type(name) or 'any'
  end
  if brace then names, types = { 'options' }, { options_type(name) } end
  write('--- %s', (sentence or doc):gsub('%s*\n%s*', ' '))
  for i, argument in ipairs(names) do write('---@param %s %s', argument, types[i]) end
  for _, result in ipairs(arguments_of(results or '')) do write('---@return %s', result_type(result)) end
  write('function %s(%s) end\n', name, table.concat(names, ', '))
end

local operators = { __add = 'add', __sub = 'sub', __mul = 'mul', __div = 'div', __mod = 'mod', __pow = 'pow',
  __unm = 'unm', __concat = 'concat', __len = 'len' }

local function write_bindings(docs)
  local classes, modules, functions = {}, {}, {}
  for _, name in ipairs(pd.tables.keys(docs)) do
    if name:find '[.:]' then
      local owner = name:match '^(.*)[.:]'
      if not docs[owner] and not owner:find '^pd' then classes[owner] = '' end
    elseif name ~= 'pd' then
      classes[name] = docs[name]
    end
  end
  for _, name in ipairs(pd.tables.keys(docs)) do
    local is_module = name:match '^pd%.[%w_]+$' and type(pd[name:sub(4)]) == 'table'
    if is_module then modules[#modules + 1] = name
    elseif name:find '[.:]' and not name:find ':__' then functions[#functions + 1] = name end
  end
  for _, class in ipairs(pd.tables.keys(classes)) do
    if classes[class] ~= '' then write('--- %s', classes[class]) end
    write('---@class %s', class)
    for _, metamethod in ipairs(pd.tables.keys(operators)) do
      if docs[class .. ':' .. metamethod] then
        local unary = metamethod == '__unm' or metamethod == '__len'
        write('---@operator %s%s: %s', operators[metamethod], unary and '' or '(any)',
          metamethod == '__len' and 'integer' or class)
      end
    end
    write('local %s = {}\n', class)
  end
  for _, module in ipairs(modules) do
    write('--- %s\n%s = {}\n', docs[module]:match '  +(.*)$' or docs[module], module)
  end
  for _, name in ipairs(functions) do write_binding(name, docs[name]) end
end

-- Writes the comment that ends on the line before `at`.
local function write_comment_before(lines, at)
  local from = at
  while from > 1 and lines[from - 1]:match '^%-%-' do from = from - 1 end
  for i = from, at - 1 do write('---%s', lines[i]:gsub('^%-%-', '')) end
end

local function write_library(root)
  for _, path in ipairs(files.find(root .. '/scripts/lib', '^[%w_]+%.lua$')) do
    local lines = pd.tables.matches(files.read(root .. '/scripts/lib/' .. path) .. '\n', '(.-)\n')
    local first, name = 1, path:gsub('%.lua$', '')
    while lines[first] and lines[first]:match '^%-%-' do first = first + 1 end
    write_comment_before(lines, first)
    write(type(pd[name]) == 'function' and 'function pd.%s(...) end\n' or 'pd.%s = {}\n', name)
    for i, line in ipairs(lines) do
      local field, arguments = line:match '^function M%.([%a][%w_]*)(%b())'
      if not field then field = line:match '^M%.([%a][%w_]*) = [%w_.]+$' end
      if field then
        write_comment_before(lines, i)
        write('function pd.%s.%s%s end\n', name, field, arguments or '(...)')
      end
    end
  end
end

if not arg[1] then
  io.stderr:write('usage: pushdown scripts/tools/make_stubs.lua FILE\n')
  os.exit(2)
end
write('---@meta pushdown')
write('-- Stubs of Pushdown %s for editors; made by scripts/tools/make_stubs.lua.\n', pd.version)
write('---@class pushdown')
write('---@field version string\n---@field root string\n---@field scripts string')
write('pd = {}\n')
write('--- Prints help on a value or name.\n---@param what? any\nfunction help(what) end\n')
write_bindings(pd.docs())
write_library(pd.root)
write('return pd')
files.write(arg[1], table.concat(out, '\n') .. '\n')
