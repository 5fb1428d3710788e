-- description(value) -> what a function, module, object or name is, as text: see pushdown.help.
local pd = require 'pushdown'

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

-- What has kinds, by the module that lists and describes them.
local function kinds()
  return {
    { 'a stack', pd.stack.kinds, pd.stack.describe, "pd.stack.describe '%s'" },
    { 'a controller', pd.controller.kinds, pd.controller.describe, "pd.controller.describe '%s'" },
    { 'an architecture', pd.model.architectures, pd.model.describe, "pd.model.describe '%s'" },
    { 'a layer', pd.model.layers, pd.model.describe_layer, "pd.model.describe_layer '%s'" },
    { 'an optimizer', pd.train.optimizers, pd.train.describe_optimizer, "pd.train.describe_optimizer '%s'" },
    { 'an annealing', pd.train.annealings, pd.train.describe_annealing, "pd.train.describe_annealing '%s'" },
    { 'an objective', pd.train.objectives, pd.train.describe_objective, "pd.train.describe_objective '%s'" },
    { 'a learning algorithm', pd.train.learning_algorithms, pd.train.describe_learning,
      "pd.train.describe_learning '%s'" },
    { 'a kind of pairs', pd.task.transductions, pd.task.describe_transduction, "pd.task.describe_transduction '%s'" },
    { 'a grammar', pd.grammar.list, pd.grammar.describe, "pd.grammar.describe '%s'" },
  }
end

-- The descriptions of the kinds that are called this.
local function describe_kinds(topic)
  local found = {}
  for _, group in ipairs(kinds()) do
    for _, name in ipairs(group[2]()) do
      if name == topic then found[#found + 1] = ('%s: %s'):format(group[1], group[3](name)) end
    end
  end
  return #found > 0 and table.concat(found, '\n\n') or nil
end

local most_found = 20

-- All that is documented and has the text in its name or description: names first.
local function search(docs, text)
  local wanted = text:lower()
  local function has(other) return other:lower():find(wanted, 1, true) ~= nil end
  local names, others = {}, {}
  for _, name in ipairs(sorted_keys(docs)) do
    local usage, sentence = usage_and_sentence(docs[name])
    local entry = { usage and not usage:match '^%(' and (name:match '^(.*[.])' or '') .. usage or name, sentence }
    if has(name) then names[#names + 1] = entry
    elseif has(docs[name]) then others[#others + 1] = entry end
  end
  for _, group in ipairs(kinds()) do
    for _, name in ipairs(group[2]()) do
      local description = group[3](name)
      local entry = { group[4]:format(name), description:match '^[^\n]*' }
      if has(name) then names[#names + 1] = entry
      elseif has(description) then
        for line in description:gmatch '\n  ([^\n]*)' do
          if has(line) then entry[2] = line:gsub('%s+', ' ', 1) break end
        end
        others[#others + 1] = entry
      end
    end
  end
  for _, path in ipairs(pd.files.find(pd.scripts .. '/lib', '^[^/]*%.lua$')) do
    local lines = lines_of(pd.scripts .. '/lib/' .. path) or {}
    local last = 1
    while lines[last] and lines[last]:match '^%-%-' do last = last + 1 end
    local head, module = comment_above(lines, last), 'pushdown.' .. path:gsub('%.lua$', '')
    local entry = { ("require '%s'"):format(module), head:gsub('%s+', ' '):match '^.-%.%f[%s%z]' or head }
    if has(module) then names[#names + 1] = entry elseif has(head) then others[#others + 1] = entry end
  end
  for _, entry in ipairs(others) do names[#names + 1] = entry end
  return names
end

local function found_text(title, entries)
  local out = { title }
  for i, entry in ipairs(entries) do
    if i > most_found then
      out[#out + 1] = ('  and %d more'):format(#entries - most_found)
      break
    end
    out[#out + 1] = '  ' .. entry[1]
    out[#out + 1] = wrapped(entry[2], '      ', 96)
  end
  return table.concat(out, '\n')
end

local function describe_topic(docs, topic)
  local name = resolve(docs, topic)
  if name then return describe_name(docs, name) end
  local text = describe_kinds(topic)
  if text then return text end
  local value = _G
  for part in topic:gmatch('[^.:]+') do
    local ok, field = pcall(function() return value[part] end)
    value = ok and field or nil
    if value == nil then break end
  end
  if type(value) == 'function' then return describe_lua_function(value) end
  local found = topic:find '%S' and search(docs, topic) or {}
  if #found > 0 then return found_text(("'%s' is said of"):format(topic), found) end
  local near = require 'pushdown.nearest'(topic, sorted_keys(docs))
  return ("There is no help on '%s'%s; help(pd) lists what there is."):format(topic,
    near and (", did you mean '%s'?"):format(near) or '')
end

return function(value)
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
