-- The Lua modules for scripts, which `pd.` offers before they are loaded, and the documentation in their comments.
local originals = require 'pushdown.originals'
local pd = require 'pushdown'

local M = {}

-- The modules for scripts. The others in scripts/lib are parts of them or of the program.
M.names = { 'csv', 'experiment', 'files', 'grid', 'json', 'plot', 'report', 'runs', 'statistics', 'test' }

local known = {}
for _, name in ipairs(M.names) do known[name] = true end

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

-- source(f) -> the comment above a Lua function, its first line, its path and line number; nil for a C function.
function M.source(f)
  f = originals[f] or f
  local info = debug.getinfo(f, 'S')
  local path = info.source:match '^@(.*)$'
  local lines = path and M.lines_of(path)
  if not lines or not lines[info.linedefined] then return nil end
  return M.comment_above(lines, info.linedefined), (lines[info.linedefined]:gsub('^%s+', '')), path, info.linedefined
end

-- signature(name, f) -> 'lines(options) -> SVG' and the sentence after it, from the comment above the function.
function M.signature(name, f)
  local comment, definition = M.source(f)
  local plain = name .. (definition and definition:match '%b()' or '(...)')
  if not comment or comment == '' then return plain, '' end
  local line = comment:gsub('%s+', ' ')
  local call, rest = line:match(('^[%%w_.]-%%f[%%w_]%s(%%b())%%s*(.*)$'):format(name))
  if not call then call, rest = line:match(('^[%%w_.]-%%f[%%w_]%s(%%b{})%%s*(.*)$'):format(name)) end
  if not call then return plain, M.first_sentence(line) end
  local sentence = M.first_sentence(rest:gsub('^%-> *', ''):gsub('^[.:] *', ''))
  return name .. call, sentence:sub(1, 1):upper() .. sentence:sub(2)
end

-- options(module, name) -> the options of a function of a module by name, each with the list of its permitted texts.
-- They come from the declarations of pushdown.plot, or from the comment above the function, as in 'run{name=,
-- script=}'.
function M.options(module, name)
  local found = {}
  if module == 'plot' then
    for option, form in pairs(require 'pushdown.plot.options'[name] or {}) do
      found[option] = type(form) == 'table' and not form.each and form or {}
    end
    return found
  end
  local loaded = M.load(module)
  local f = type(loaded) == 'table' and rawget(loaded, name)
  local comment = type(f) == 'function' and M.source(f)
  local braces = comment and comment:match(name .. '%(?(%b{})')
  for option in (braces or ''):gmatch '([%a_][%w_]*)%s*=' do found[option] = {} end
  return found
end

return M
