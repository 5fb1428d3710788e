-- description(value) -> the description of a function, module, object or name as text: see pushdown.help.
local library = require 'pushdown.prompt.library'
local options = require 'pushdown.prompt.options'
local pages = require 'pushdown.prompt.pages'
local pd = require 'pushdown'
local search = require 'pushdown.prompt.search'
local tables = require 'pushdown.tables'
local wrap = require 'pushdown.text.wrapped'

-- Columns of a line: those of the terminal, but at most as many as are easy to read.
local function columns() return math.max(40, math.min(98, pd.process.columns 'stdout' or 98)) end

local function usage_and_sentence(doc)
  local usage, sentence = doc:match('^(.-)  +(.*)$')
  if usage then return usage, sentence end
  return nil, doc
end

local function wrapped(text, indent, hanging) return wrap(text, columns(), indent, hanging) end

-- The lines of a description of a kind. Long ones continue below the beginning of their text.
local function wrapped_description(text)
  local lines = {}
  for line in text:gmatch '[^\n]+' do
    local name, rest = line:match '^(  [%a_][%w_]* +)(.*)$'
    local continued = wrapped(name and rest or line, (' '):rep(name and #name or 0), name and '' or '  ')
    lines[#lines + 1] = name and name .. continued:sub(#name + 1) or continued
  end
  return table.concat(lines, '\n')
end

-- A comment with its paragraphs and the items of its lists, which are indented by two blanks, wrapped.
local function wrapped_comment(text, indent)
  local blocks = {}
  for line in text:gmatch '[^\n]*' do
    local last = blocks[#blocks]
    if line:find '%S' then
      local continues = last and last:find '^  ' and line:find '^   ' or last and last ~= '' and not line:find '^ '
        and not last:find '^ '
      if continues then blocks[#blocks] = last .. ' ' .. line:match '%S.*' else blocks[#blocks + 1] = line end
    end
  end
  for i, block in ipairs(blocks) do
    local name, rest = block:match '^(  %S.-  +)(%S.*)$'
    if name then
      blocks[i] = indent .. name .. wrapped(rest, indent .. (' '):rep(#name)):sub(#indent + #name + 1)
    else
      blocks[i] = wrapped(block, indent .. block:match '^ *', block:find '^ ' and '  ' or '')
    end
  end
  return table.concat(blocks, '\n')
end

-- Adds the options of a function by its full name.
local function add_options(out, name)
  local parts, further = options.parts(name)
  for _, part in ipairs(parts) do
    out[#out + 1] = '\n  ' .. part.title
    for _, option in ipairs(part.options) do out[#out + 1] = wrapped(options.line(option), '    ', '  ') end
  end
  if further then out[#out + 1] = '\n  ' .. further end
end

-- The lines of help for a Lua function, read from the file that defines it.
local function describe_lua_function(f)
  local info = debug.getinfo(f, 'S')
  if info.what == 'C' then return 'A function without documentation.' end
  local comment, text, path, line = library.source(f)
  if not comment then return ('A function defined at %s:%d.'):format(info.short_src, info.linedefined) end
  local call, rest, result = library.call_and_text(comment)
  local title = call and call .. (result and ' -> ' .. result or '') or text:gsub('^function M%.', '')
  local out = { wrapped(title, '', '    ') }
  if comment ~= '' then out[2] = wrapped_comment(call and rest or comment, '  ') end
  add_options(out, 'pd.' .. (call or ''):match '^[%w_.]*')
  out[#out + 1] = ('(%s:%d)'):format(path, line)
  return table.concat(out, '\n')
end

-- The name under which a table of scripts/lib was loaded.
local function library_name(value)
  for name, loaded in pairs(package.loaded) do
    if loaded == value and name:match('^pushdown%.') then return name end
  end
end

local function describe_library(name, value)
  local out = { name, wrapped_comment(library.head(name) or '', '') }
  for _, key in ipairs(type(value) == 'table' and tables.keys(value, 'string') or {}) do
    if type(value[key]) == 'function' then
      local call, sentence = library.signature(key, value[key])
      if #out == 2 then out[#out + 1] = '' end
      out[#out + 1] = wrapped(call, '  ', '  ')
      if sentence ~= '' then out[#out + 1] = wrapped(sentence, '      ') end
    end
  end
  return table.concat(out, '\n')
end

-- Direct members of `owner`: "pd.stack" -> "pd.stack.kinds"; "Tensor" -> "Tensor:sum".
local function members(docs, owner)
  local found = {}
  for _, name in ipairs(tables.keys(docs, 'string')) do
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
  if usage and not usage:match '^%(' then title = wrapped(title, '', '    ') end
  local out = { title, wrapped(sentence, '  ') }
  local list = members(docs, name)
  if name == 'pd' then
    for _, key in ipairs(tables.keys(docs, 'string')) do
      if not key:find('[.:]') and key ~= 'pd' then list[#list + 1] = key end
    end
  end
  if #list > 0 then out[#out + 1] = '' end
  for _, member in ipairs(list) do
    local how, what = usage_and_sentence(docs[member])
    local label = how or member
    out[#out + 1] = wrapped(label, '  ', '  ')
    out[#out + 1] = wrapped(what, '      ')
  end
  if name == 'pd' then
    out[#out + 1] = '\n  Modules in Lua, loaded when they are used:'
    for _, module in ipairs(library.names) do
      out[#out + 1] = '  pd.' .. module
      out[#out + 1] = wrapped(library.first_sentence(library.head('pushdown.' .. module)), '      ')
    end
  end
  add_options(out, name)
  return table.concat(out, '\n')
end

-- The documented name that a topic means.
local function resolve(docs, topic)
  local colon = topic:gsub('%.([^.]+)$', ':%1')
  for _, name in ipairs { topic, 'pd.' .. topic, colon } do
    if docs[name] then return name end
  end
end

-- The functions that describe something by its name, see pd.texts().
local function kinds()
  local found = {}
  for _, entry in ipairs(pd.texts()) do
    if entry.of then found[#found + 1] = entry end
  end
  return found
end

-- The descriptions of all kinds with this name.
local function describe_kinds(topic)
  local found = {}
  for _, group in ipairs(kinds()) do
    for _, name in ipairs(group.texts()) do
      if name == topic then
        found[#found + 1] = wrapped_description(('%s: %s'):format(group.of, group.call(name)))
      end
    end
  end
  return #found > 0 and table.concat(found, '\n\n') or nil
end

local most_found = 12

local function found_text(title, entries)
  local out, page = { title }, nil
  for i, entry in ipairs(entries) do
    if i > most_found then
      out[#out + 1] = ('  and %d more'):format(#entries - most_found)
      break
    end
    out[#out + 1] = wrapped(entry[1], '  ', '  ')
    out[#out + 1] = wrapped(entry[2], '      ')
    page = page or entry[1]:find '%.md, "' and entry[1]
  end
  if page then out[#out + 1] = wrapped(('? %s shows this section.'):format(page), '', '  ') end
  return table.concat(out, '\n')
end

-- The field at a path such as 'runs.find'; nil if there is none.
local function field_at(value, path)
  for part in path:gmatch '[^.:]+' do
    local from = value
    local ok, field = pcall(function() return from[part] end)
    value = ok and field or nil
    if value == nil then break end
  end
  return value
end

-- The name or term of the glossary that was probably meant, or nil.
local function nearest_topic(docs, topic)
  local names, full = {}, {}
  local function add(short, name) names[#names + 1], full[short] = short, full[short] or name end
  for _, name in ipairs(tables.keys(docs, 'string')) do add((name:gsub('^pd%.', '')), name) end
  for _, name in ipairs(library.functions()) do add(name, 'pd.' .. name) end
  for _, term in ipairs(search.terms()) do add(term, term) end
  return full[pd._text.nearest((topic:gsub('^pd%.', '')), names) or '']
end

local function describe_topic(docs, topic)
  local name = resolve(docs, topic)
  if name then return describe_name(docs, name) end
  local text = describe_kinds(topic)
  if text then return text end
  local value = field_at(_G, topic) or field_at(pd, topic)
  if type(value) == 'function' then return describe_lua_function(value) end
  local module = type(value) == 'table' and library_name(value)
  if module then return describe_library(module, value) end
  local page = pages.page(topic, columns())
  if page then return page end
  local found, complete
  if topic:find '%S' then found, complete = search.find(topic) end
  if complete then return found_text(("'%s' is mentioned in"):format(topic), found) end
  local near = nearest_topic(docs, topic)
  local meant = near and (", did you mean '%s'?"):format(near) or ''
  if found and #found > 0 then
    return found_text(("No page has all words of '%s'%s; the nearest are"):format(topic, meant), found)
  end
  return ("There is no help on '%s'%s; help(pd) lists what there is."):format(topic, meant)
end

return function(value)
  local docs = pd.docs()
  if type(value) == 'string' then return describe_topic(docs, value) end
  local name = pd.doc_name(value)
  if name and docs[name] then return describe_name(docs, name) end
  if value == rawget(_G, 'help') then return 'help(x): describes x; help() shows an overview.' end
  if type(value) == 'function' then return describe_lua_function(value) end
  local module = type(value) == 'table' and library_name(value)
  if module then return describe_library(module, value) end
  return ('A %s: %s'):format(type(value), tostring(value))
end
