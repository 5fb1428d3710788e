-- help(x): what a function, module, object or name is. Functions of the core are documented by their
-- doc strings, Lua functions by the comment above their definition, Lua modules by the comment at the
-- head of their file.
--
--   help()   help(pd.stack)   help(trainer)   help('stack.simulate')   help('Tensor:sum')
local pd = require 'pushdown'

local overview = [[
Pushdown %s: stack-augmented neural networks that learn context-free languages.

  help(pd)              the modules, classes and functions
  help(pd.stack)        a module         help('Tensor')        a class
  help(x), ? x          the object x     help('tensor.zeros')  a function
  TAB                   completes names  Ctrl-C                stops what runs
  expression            prints its value; a ';' at the end keeps it silent
]]

local function usage_and_sentence(doc)
  local usage, sentence = doc:match('^(.-)  +(.*)$')
  if usage then return usage, sentence end
  return nil, doc
end

local function wrapped(text, indent, width)
  local lines, line = {}, ''
  for word in text:gmatch('%S+') do
    if #line > 0 and #indent + #line + #word + 1 > width then
      lines[#lines + 1] = indent .. line
      line = word
    else
      line = #line > 0 and line .. ' ' .. word or word
    end
  end
  lines[#lines + 1] = indent .. line
  return table.concat(lines, '\n')
end

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do if type(key) == 'string' then keys[#keys + 1] = key end end
  table.sort(keys)
  return keys
end

-- Comment lines that end right above line `last` of a file, without their dashes.
local function comment_above(lines, last)
  local first = last
  while first > 1 and lines[first - 1]:match('^%s*%-%-') do first = first - 1 end
  local found = {}
  for i = first, last - 1 do found[#found + 1] = (lines[i]:gsub('^%s*%-%-+ ?', '')) end
  return table.concat(found, '\n')
end

local function lines_of(path)
  local file = io.open(path)
  if not file then return nil end
  local lines = {}
  for line in file:lines() do lines[#lines + 1] = line end
  file:close()
  return lines
end

-- The lines of help for a Lua function, found through where it was defined.
local function describe_lua_function(f)
  local info = debug.getinfo(f, 'S')
  if info.what == 'C' then return 'A function without documentation.' end
  local path = info.source:match('^@(.*)$')
  local lines = path and lines_of(path)
  if not lines or not lines[info.linedefined] then
    return ('A function defined at %s:%d.'):format(info.short_src, info.linedefined)
  end
  local comment = comment_above(lines, info.linedefined)
  local text = lines[info.linedefined]:gsub('^%s+', '')
  if #comment > 0 then text = text .. '\n' .. comment end
  return ('%s\n(%s:%d)'):format(text, path, info.linedefined)
end

-- The name under which a table of scripts/lib was loaded.
local function library_name(value)
  for name, loaded in pairs(package.loaded) do
    if loaded == value and name:match('^pushdown%.') then return name end
  end
end

local function describe_library(name, value)
  local path = ('%s/lib/%s.lua'):format(pd.scripts, (name:gsub('^pushdown%.', ''):gsub('%.', '/')))
  local lines = lines_of(path)
  local text = name .. '\n'
  if lines then
    local last = 1
    while lines[last] and lines[last]:match('^%-%-') do last = last + 1 end
    text = text .. comment_above(lines, last)
  end
  local functions = {}
  for _, key in ipairs(sorted_keys(value)) do
    if type(value[key]) == 'function' then functions[#functions + 1] = key end
  end
  if #functions > 0 then text = text .. '\nFunctions: ' .. table.concat(functions, ', ') end
  return text
end

-- Direct members of `owner`: "pd.stack" -> "pd.stack.kinds"; "Tensor" -> "Tensor:sum".
local function members(docs, owner)
  local found = {}
  for _, name in ipairs(sorted_keys(docs)) do
    local parent = name:match('^(.*)[.:][^.:]+$')
    if parent == owner then found[#found + 1] = name end
  end
  return found
end

local function describe_name(docs, name)
  local usage, sentence = usage_and_sentence(docs[name])
  local title = name
  if usage and usage:match('^%(') then title = name .. '   ' .. usage -- an operator
  elseif usage and usage:match('^[%w_]+:') then title = usage -- a method with its object
  elseif usage then title = (name:match('^(.*[.:])') or '') .. usage end
  local out = { title, wrapped(sentence, '  ', 96) }
  local list = members(docs, name)
  if name == 'pd' then
    for _, key in ipairs(sorted_keys(docs)) do
      if not key:find('[.:]') and key ~= 'pd' then list[#list + 1] = key end
    end
  end
  if #list > 0 then out[#out + 1] = '' end
  for _, member in ipairs(list) do
    local how, what = usage_and_sentence(docs[member])
    local label = how or member
    out[#out + 1] = '  ' .. label
    out[#out + 1] = wrapped(what, '      ', 96)
  end
  return table.concat(out, '\n')
end

-- The documented name that a topic stands for.
local function resolve(docs, topic)
  local colon = topic:gsub('%.([^.]+)$', ':%1')
  for _, name in ipairs { topic, 'pd.' .. topic, colon } do
    if docs[name] then return name end
  end
end

local function describe_topic(docs, topic)
  local name = resolve(docs, topic)
  if name then return describe_name(docs, name) end
  local value = _G
  for part in topic:gmatch('[^.:]+') do
    local ok, field = pcall(function() return value[part] end)
    value = ok and field or nil
    if value == nil then break end
  end
  if type(value) == 'function' then return describe_lua_function(value) end
  local near = {}
  for _, key in ipairs(sorted_keys(docs)) do
    if key:lower():find(topic:lower(), 1, true) then near[#near + 1] = key end
    if #near == 12 then break end
  end
  if #near == 0 then return ("There is no help on '%s'; help(pd) lists what there is."):format(topic) end
  return ("There is no help on '%s' itself; perhaps you want\n  %s"):format(topic, table.concat(near, '\n  '))
end

local function describe(value)
  local docs = pd.docs()
  if type(value) == 'string' then return describe_topic(docs, value) end
  local name = pd.doc_name(value)
  if name and docs[name] then return describe_name(docs, name) end
  if value == rawget(_G, 'help') then return 'help(x): prints what x is; help() says more.' end
  if type(value) == 'function' then return describe_lua_function(value) end
  local library = type(value) == 'table' and library_name(value)
  if library then return describe_library(library, value) end
  return ('A %s: %s'):format(type(value), tostring(value))
end

-- Prints help on the value or name; without an argument, where to begin.
local function help(...)
  if select('#', ...) == 0 then return io.write(overview:format(pd.version)) end
  local value = ...
  if value == nil then return print 'nil: there is nothing of that name.' end
  print(describe(value))
end

return help
