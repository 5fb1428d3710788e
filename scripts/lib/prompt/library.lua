-- The Lua modules for scripts, which `pd.` offers before they are loaded, and the documentation in their comments.
local with_names = require 'pushdown.prompt.options'.with_names
local pd = require 'pushdown'

local M = {}

-- The modules for scripts: the files in scripts/lib itself, but for those that the prompt and notebooks call.
local of_the_program = { help = true, notebook = true }
M.names = {}

local known = {}
for _, file in ipairs(pd.file.list(pd.scripts .. '/lib')) do
  local name = file:match '^([%w_]+)%.lua$'
  if name and not of_the_program[name] then known[name], M.names[#M.names + 1] = true, name end
end
table.sort(M.names)

-- load(name) -> the module, or nil if no module for scripts has that name.
function M.load(name) return known[name] and pd[name] or nil end

-- starting_with(prefix) -> the names that begin with the prefix.
function M.starting_with(prefix)
  local found = {}
  for _, name in ipairs(M.names) do
    if name:sub(1, #prefix) == prefix then found[#found + 1] = name end
  end
  return found
end

-- lines_of(path) -> the lines of a file, or nil.
function M.lines_of(path)
  local file = io.open(path)
  if not file then return nil end
  local lines = {}
  for line in file:lines() do lines[#lines + 1] = line end
  file:close()
  return lines
end

-- comment_above(lines, last) -> the comment lines directly above line `last`, without their dashes.
function M.comment_above(lines, last)
  local first = last
  while first > 1 and lines[first - 1]:match '^%s*%-%-' do first = first - 1 end
  local found = {}
  for i = first, last - 1 do found[#found + 1] = (lines[i]:gsub('^%s*%-%-+ ?', '')) end
  return table.concat(found, '\n')
end

-- head(module) -> the comment at the head of the file of 'pushdown.NAME', or nil.
function M.head(module)
  local name = module:gsub('^pushdown%.', ''):gsub('%.', '/')
  local lines = M.lines_of(('%s/lib/%s.lua'):format(pd.scripts, name))
  if not lines then return nil end
  local last = 1
  while lines[last] and lines[last]:match '^%-%-' do last = last + 1 end
  return M.comment_above(lines, last)
end

-- first_sentence(text) -> the text up to its first full stop, in one line.
function M.first_sentence(text)
  local line = text:gsub('%s+', ' ')
  return line:match '^.-%.%f[%s%z]' or line
end

-- The path and line where a module for scripts sets a field to this function, which another function may have made.
local function place_in_module(f)
  for _, name in ipairs(M.names) do
    local module = package.loaded['pushdown.' .. name]
    for key, value in pairs(type(module) == 'table' and module or {}) do
      local path = value == f and ('%s/lib/%s.lua'):format(pd.scripts, name)
      for number, line in ipairs(path and M.lines_of(path) or {}) do
        if line:match '^M%.([%w_]+) = ' == key then return path, number end
      end
    end
  end
end

-- source(f) -> the comment above a Lua function, its first line, its path and line number; nil for a C function.
function M.source(f)
  local info = debug.getinfo(f, 'S')
  local path, line = place_in_module(f)
  if not path then path, line = info.source:match '^@(.*)$', info.linedefined end
  local lines = path and M.lines_of(path)
  if not lines or not lines[line] then return nil end
  return M.comment_above(lines, line), (lines[line]:gsub('^%s+', '')), path, line
end

-- call_and_text(comment) -> 'grid.run{name=, ...}', the text after it and 'rows', for a comment that begins with a call
-- and what it does, as in 'grid.run{options} -> rows: trains ...'. The last is nil if no result is named, all are nil
-- if there is no call.
function M.call_and_text(comment)
  local name, rest = with_names(comment):match '^([%a_][%w_.:]*)([({].*)$'
  local arguments = rest and (rest:match '^%b()' or rest:match '^%b{}')
  if not arguments then return nil end
  arguments = arguments .. (rest:match('^ or %b{}', #arguments + 1) or '')
  rest = rest:sub(#arguments + 1)
  local result, text = rest:match '^%s*%->%s*([%w%s,_^-]-):%s+(.*)$'
  if result and #result > 30 then result, text = nil, nil end
  text = text or rest:gsub('^%s*%->%s*', ''):gsub('^[.:]%s*', '')
  return ((name .. arguments):gsub('%s+', ' ')), text:sub(1, 1):upper() .. text:sub(2), result
end

-- signature(name, f) -> 'lines(options)' and the sentence after it, from the comment above the function.
function M.signature(name, f)
  local comment, definition = M.source(f)
  local plain = name .. (definition and definition:match '%b()' or '(...)')
  if not comment or comment == '' then return plain, '' end
  local call, text = M.call_and_text(comment)
  call = call and call:match('^[%w_.:]-%f[%w_](' .. name .. '[({].*)$')
  if not call then return plain, M.first_sentence(comment) end
  return call, M.first_sentence(text)
end

-- functions() -> the names of all functions of these modules: 'plot.lines', ...
function M.functions()
  local found = {}
  for _, name in ipairs(M.names) do
    local module = M.load(name)
    for key, f in pairs(type(module) == 'table' and module or {}) do
      if type(f) == 'function' then found[#found + 1] = ('%s.%s'):format(name, key) end
    end
  end
  return found
end

-- options(call, list) -> the options of a function of a module, 'pd.grid.run', in the form of pd.options; or those of
-- the tables in its option `list`.
function M.options(call, list)
  local declared = pd.options(call) or {}
  if not list then return declared end
  for _, option in ipairs(declared) do
    if option.name == list then return option.inside or {} end
  end
  return {}
end

return M
