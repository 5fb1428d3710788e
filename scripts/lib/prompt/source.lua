-- show(topic): `??topic` shows the source of a Lua function with its file and line, and of a part of the core its
-- definition: the description, the equations of the documentation, and the file in the source tree.
local library = require 'pushdown.prompt.library'
local pager = require 'pushdown.prompt.pager'
local pd = require 'pushdown'
local wrapped = require 'pushdown.text.wrapped'

local M = {}

-- A path below the folder of the program without this folder.
local function short(path)
  return path:sub(1, #pd.root + 1) == pd.root .. '/' and path:sub(#pd.root + 2) or path
end

-- The first file below some folders of the source tree that has one of the texts, the first text first, with the
-- number of the line; nil without a source tree.
local function find_in_tree(folders, texts)
  for _, text in ipairs(texts) do
    for _, folder in ipairs(folders) do
      local top = pd.root .. '/' .. folder
      for _, path in ipairs(pd.file.kind(top) and pd.files.find(top, '%.[ch]p?p?$') or {}) do
        local content = pd.files.read(top .. '/' .. path)
        local place = content:find(text, 1, true)
        if place then
          local _, before = content:sub(1, place):gsub('\n', '')
          return ('%s/%s:%d'):format(folder, path, before + 1)
        end
      end
    end
  end
end

local function place_text(place)
  if place then return ('(%s)'):format(place) end
  return '(a part of the core, which is written in C++; its source is not in this installation)'
end

-- The text of a function that was entered at the prompt, or nil.
local function at_prompt(info)
  local entries = debug.getregistry()['pushdown.entries'] or {}
  for i = #entries, 1, -1 do
    local lines = {}
    for line in (entries[i].text .. '\n'):gmatch '(.-)\n' do lines[#lines + 1] = line end
    local first, last = lines[info.linedefined], lines[info.lastlinedefined]
    if first and last and first:find 'function' and last:find 'end' then
      return table.concat(lines, '\n', info.linedefined, info.lastlinedefined), ('entry %d of the prompt'):format(i)
    end
  end
end

-- The lines of a Lua function in a file and of the comment above it; nil if the file is not there.
local function lines_of(info)
  local path = info.source:match '^@(.*)$'
  local lines = path and library.lines_of(path)
  if not lines or not lines[info.lastlinedefined] then return nil end
  local first = info.linedefined
  while first > 1 and lines[first - 1]:match '^%s*%-%-' do first = first - 1 end
  return ('-- %s:%d\n%s'):format(short(path), info.linedefined,
    table.concat(lines, '\n', first, info.lastlinedefined))
end

-- Adds the functions of other files that a function made by another one calls.
local function add_called(out, f, info)
  for i = 1, math.huge do
    local name, value = debug.getupvalue(f, i)
    if not name then return end
    local of = type(value) == 'function' and debug.getinfo(value, 'S')
    local text = of and of.what ~= 'C' and of.source ~= info.source and lines_of(of)
    if text then out[#out + 1] = ('\n-- its %s:\n%s'):format(name, text) end
  end
end

local function function_source(f)
  local info = debug.getinfo(f, 'S')
  local text = lines_of(info)
  if not text then
    local place
    text, place = at_prompt(info)
    if text then return ('-- %s\n%s'):format(place, text) end
    return ('The source of this function, which was defined at %s:%d, was not kept.'):format(info.short_src,
      info.linedefined)
  end
  local out, comment, line, path, number = { text }, library.source(f)
  if path and number ~= info.linedefined then
    local above = comment ~= '' and '-- ' .. comment:gsub('\n', '\n-- ') .. '\n' or ''
    out[1] = ('-- %s:%d\n%s%s\n\n-- made by:\n%s'):format(short(path), number, above, line, text)
    add_called(out, f, info)
  end
  return table.concat(out, '\n')
end

-- A module in Lua: its file, the comment at its head, and the lines of its functions.
local function module_source(name, module)
  local file = ('scripts/lib/%s.lua'):format((name:gsub('^pushdown%.', ''):gsub('%.', '/')))
  local out, functions = { ('-- %s'):format(file), library.head(name) or '' }, {}
  for key, f in pairs(module) do
    if type(f) == 'function' then
      local info = debug.getinfo(f, 'S')
      local path = info.source:match '^@(.*)$'
      functions[#functions + 1] = ('  %-20s %s'):format(key, path and ('%s:%d'):format(short(path), info.linedefined)
        or 'in the core')
    end
  end
  table.sort(functions)
  if #functions > 0 then out[#out + 1] = '\n' .. table.concat(functions, '\n') end
  return table.concat(out, '\n')
end

-- The definition of a documented name of the core.
local function core_source(name, doc)
  local texts = {}
  for _, length in ipairs { 40, 24, 14 } do texts[#texts + 1] = '"' .. doc:sub(1, length) end
  for _, form in ipairs { '"%s(', '"%s{', ':%s(', ':%s{', '"%s"' } do
    texts[#texts + 1] = form:format(name:match '[%w_]+$' or name)
  end
  local usage, sentence = doc:match '^(.-)  +(.*)$'
  local width = pd.process.columns 'stdout' or 98
  return ('%s\n%s\n%s'):format(name .. (usage and '   ' .. usage or ''), wrapped(sentence or doc, width, '  '),
    place_text(find_in_tree({ 'bindings' }, texts)))
end

-- The equations of a kind in the pages of the documentation: the section with its name up to the first table, or the
-- lines of a list of equations that begin with it; nil if there are none.
local function equations(kind)
  local folder = pd.root .. '/docs/reference'
  for _, page in ipairs(pd.file.kind(folder) and pd.files.find(folder, '^[^/]*%.md$') or {}) do
    local found, inside, title
    for _, line in ipairs(library.lines_of(folder .. '/' .. page)) do
      local heading = line:match '^#+ (.*)$'
      if heading then
        if found then break end
        title = heading
        inside = heading == kind
        if inside then found = {} end
      elseif inside then
        if line:find '^|' then break end
        found[#found + 1] = line
      elseif not found and line:find('^    ' .. kind .. '%s%s+') then
        found = { line }
      elseif found and line:find '^     +%S' then
        found[#found + 1] = line
      elseif found then
        break
      end
    end
    if found then
      local text = table.concat(found, '\n'):gsub('^\n+', ''):gsub('\n+$', ''):gsub('%[([^%]]*)%]%([^)]*%)', '%1')
      return text, ('docs/reference/%s, "%s"'):format(page, title)
    end
  end
end

local folders_of = { ['pd.stack.describe'] = 'src/stack', ['pd.controller.describe'] = 'src/controller',
  ['pd.model.describe'] = 'src/model', ['pd.model.describe_layer'] = 'src/model',
  ['pd.task.describe_transduction'] = 'src/task' }

local function kind_source(group, kind)
  local description = group.call(kind)
  local out = { ('%s: %s'):format(group.of, description:match '^[^\n]*') }
  local equation, page = equations(kind)
  if equation then out[2] = ('\n%s\n\n(%s)'):format(equation, page) end
  local place
  if group.name == 'pd.grammar.describe' then
    place = ('grammars/%s.lua'):format(kind)
    place = pd.file.kind(pd.root .. '/' .. place) and place
  else
    place = find_in_tree({ folders_of[group.name] or 'src/train' },
      { ('name = "%s"'):format(kind), ('{"%s",'):format(kind), ('"%s",'):format(kind), ('"%s"'):format(kind) })
  end
  out[#out + 1] = place_text(place)
  return table.concat(out, '\n')
end

local function kinds_source(topic)
  local found = {}
  for _, group in ipairs(pd.texts()) do
    for _, kind in ipairs(group.of and group.texts() or {}) do
      if kind == topic then found[#found + 1] = kind_source(group, kind) end
    end
  end
  return #found > 0 and table.concat(found, '\n\n') or nil
end

-- The value of the topic as an expression, or nil.
local function value_of(topic)
  local chunk = loadstring('return ' .. topic, '=prompt')
  local fine, value = pcall(chunk or error)
  return fine and value or nil
end

local function text_of(topic)
  local docs, value = pd.docs(), value_of(topic)
  if type(value) == 'string' then topic, value = value, nil end
  local name = value ~= nil and pd.doc_name(value) or nil
  if name and docs[name] then return core_source(name, docs[name]) end
  if type(value) == 'function' then
    if debug.getinfo(value, 'S').what ~= 'C' then return function_source(value) end
    return ("'%s' is a function of Lua itself or of the shell, which is written in C."):format(topic)
  end
  if type(value) == 'table' then
    for module, loaded in pairs(package.loaded) do
      if loaded == value and module:match '^pushdown%.' then return module_source(module, value) end
    end
  end
  local kind = kinds_source(topic)
  if kind then return kind end
  local object, method = topic:match '^(.+):([%a_][%w_]*)$'
  local class = object and value_of(object)
  if class ~= nil and pd.doc_name(class) then topic = ('%s:%s'):format(pd.doc_name(class), method) end
  for _, full in ipairs { topic, 'pd.' .. topic, (topic:gsub('%.([^.]+)$', ':%1')) } do
    if docs[full] then return core_source(full, docs[full]) end
  end
  local field = value_of('pd.' .. topic)
  if type(field) == 'function' then return function_source(field) end
  if value ~= nil then return ("'%s' is a %s, which has no source."):format(topic, type(value)) end
  return ("There is no '%s' with a source; ?? takes a function, a kind such as superposition, or a library.")
    :format(topic)
end

function M.show(topic)
  if topic == '' then error('?? needs a function, a kind or a library, as in ??pd.plot.lines', 0) end
  pager(text_of(topic))
end

return M
