-- TAB completion inside calls, option tables and strings; the shell itself completes names and fields.
local commands = require 'pushdown.prompt.commands'
local described = require 'pushdown.prompt.described'
local files = require 'pushdown.files'
local library = require 'pushdown.prompt.library'
local options = require 'pushdown.prompt.options'
local pd = require 'pushdown'
local reading = require 'pushdown.prompt.reading'
local trim = require 'pushdown.text.trim'

-- What the core says of the names that arguments of functions can be: by the name of the function, and by the option
-- that has such kinds.
local function by(field)
  local found = {}
  for _, entry in ipairs(pd.texts()) do
    if entry[field] then found[entry[field]] = entry end
  end
  return found
end

local function documented()
  local names = {}
  for name in pairs(pd.docs()) do names[#names + 1] = (name:gsub('^pd%.', '')) end
  for _, entry in ipairs(pd.texts()) do
    for _, name in ipairs(entry.of and entry.texts() or {}) do names[#names + 1] = name end
  end
  return names
end
local function modules()
  local names = {}
  for _, path in ipairs(pd.files.find(pd.scripts .. '/lib', '^[^/]*%.lua$')) do
    names[#names + 1] = 'pushdown.' .. path:gsub('%.lua$', '')
  end
  return names
end

-- The names that a text argument of a call can have.
local function arguments(call)
  if call == 'help' then return documented() end
  if call == 'require' then return modules() end
  local entry = by('name')[call]
  return entry and entry.texts()
end

-- Adds the options that a description lists to `found`: name -> list of its permitted texts.
local function add_described(found, describe, ...)
  local ok, text = pcall(describe or error, ...)
  for _, option in ipairs(ok and described(text) or {}) do found[option.name] = option.choices end
end

local function add_options(found, list)
  for _, option in ipairs(list) do found[option.name] = option.choices or found[option.name] or {} end
end

-- The options in the table that is the value of an option of some function; empty if there are none.
local function inside(option)
  for _, name in ipairs(option and pd.options() or {}) do
    for _, one in ipairs(pd.options(name)) do
      if one.name == option and one.inside then return one.inside end
    end
  end
  return {}
end

-- The class of a global or of one of its fields, found without calling anything; nil if that is not possible.
local function class_of(path)
  local value = _G
  for name in path:gmatch '[^.]+' do
    if type(value) ~= 'table' then return nil end
    value = rawget(value, name)
  end
  return type(value) == 'userdata' and pd.doc_name(value) or nil
end

-- The full name of the called function: 'pd.stack.simulate', 'Grammar:sample', or '*:sample' for a method of an unknown
-- class.
local function full_name(callee)
  if callee == nil or callee == 'help' or callee == 'require' then return callee end
  local object, method = callee:match '^(.*):([^:]*)$'
  if method then
    local name = ('%s:%s'):format(class_of(object) or '*', method)
    return pd.docs()[name] and name or '*:' .. method
  end
  return pd.docs()['pd.' .. callee] and 'pd.' .. callee or callee
end

-- The call that has a frame's table or string as an argument: its name and its first text.
local function call_of(frame)
  if frame.callee then return full_name(frame.callee), frame.strings[1] end
  if frame.open == '{' and frame.parent and frame.parent.open == '(' then
    return full_name(frame.parent.callee), frame.parent.strings[1]
  end
end

-- The option whose value, or a part of whose value, is the table of a frame.
local function option_of(frame)
  if call_of(frame) then return nil end
  return frame.parent_key or frame.parent and frame.parent.parent_key
end

-- name -> choices of the options that the table of a frame can have.
local function options_of(frame)
  local found, call, text = {}, call_of(frame)
  if call then
    local of_any = call:sub(1, 1) == '*'
    for _, name in ipairs(of_any and pd.options() or { call }) do
      if not of_any or name:match ':[^:]*$' == call:sub(2) then
        add_options(found, options.of(name, frame.keys))
      end
    end
    -- The options of what a function loads by its name.
    local loaded = call:find '%.load$' and by('name')[call:gsub('load$', 'describe')]
    if loaded then add_described(found, loaded.call, text) end
    if not pd.docs()[call] then add_options(found, library.options(call)) end
  end
  -- A table that is an option, or in a list of tables, as in series = { { y = ...
  local holder = frame.parent_key and frame or frame.parent
  local of_holder = not call and holder and holder.parent_key and call_of(holder.parent)
  if of_holder then add_options(found, library.options(of_holder, holder.parent_key)) end
  local option = option_of(frame)
  local of_kind = by('option')[option]
  if of_kind then
    found.kind = of_kind.texts()
    if type(frame.keys.kind) == 'string' then add_described(found, of_kind.call, frame.keys.kind) end
  else
    add_options(found, inside(option))
  end
  return found
end

local function starting_with(prefix, names)
  local found, seen = {}, {}
  for _, name in ipairs(names) do
    if name:sub(1, #prefix) == prefix and not seen[name] then found[#found + 1], seen[name] = name, true end
  end
  table.sort(found)
  return found
end

-- The texts that can complete an open string, or nil if any text is possible; and whether no other text is permitted.
local function texts_of(context)
  local frame = context.frame
  if not context.called and frame.open == '{' then
    -- Inside a list of texts: the option whose value is the list.
    local owner, key = frame, frame.key
    if not key and not frame.callee and frame.parent_key then owner, key = frame.parent, frame.parent_key end
    if not key then return nil end
    local choices = options_of(owner)[key]
    if choices and #choices > 0 then return choices, true end
    local of_kind = by('option')[key]
    if of_kind then return of_kind.texts(), true end
    for _, option in ipairs(inside(key)) do
      if option.name == 'kind' then return option.choices, true end
    end
    return nil, true
  end
  return arguments(full_name(context.called or frame.callee))
end

-- The completions of the words after a command, whose line begins at a position of the text.
local function command_words(name, line, place)
  local last = trim.last_word(line)
  place = place + #line - #last
  local first = last == line
  local names = first and (name == 'run' or name == 'edit') and files.scripts()
    or first and name == 'reload' and library.names or {}
  local found = starting_with(last, names)
  if #found > 0 then return place, found, ' ' end
  if name == 'run' or name == 'edit' or name == 'save' then return place, 'files' end
  return place, {}, ''
end

-- completion(text) -> the position where the word at the end of the text begins, its possible completions, and what
-- follows a complete one; or that position and 'files'; or nothing if only a name of Lua can be completed.
return function(text)
  local command, asked, line = text:match '^%s*:(%a*)$', text:match '^%s*:(%a+)%s+(.*)$'
  if command then return #text - #command + 1, starting_with(command, commands.names()), ' ' end
  if asked and asked ~= 'time' and asked ~= 'help' then return command_words(asked, line, #text - #line + 1) end
  if text:find '^%s*!' then return #text - #trim.last_word(text) + 1, 'files' end
  local context = reading(text)
  if not context then return nil end
  if context.quoted then
    local prefix = text:sub(context.quoted)
    local texts, only = texts_of(context)
    local found = texts and starting_with(prefix, texts) or {}
    if #found > 0 or texts and only then return context.quoted, found, '' end
    return context.quoted, 'files'
  end
  if not context.fresh then return nil end
  local names = {}
  for name in pairs(options_of(context.frame)) do
    if not context.frame.keys[name] then names[#names + 1] = name end
  end
  local found = starting_with(context.word, names)
  if #found > 0 then return #text - #context.word + 1, found, ' = ' end
end
