-- subcommand(name, f) -> the exit status of a command such as `pushdown runs`: 0 if f returns, 2 if it raises the
-- {usage = message} of a wrong command line, else 1; error messages go to stderr. Removes control characters from the
-- terminal output of f, because names of runs, files and symbols can come from anywhere.
local pd = require 'pushdown'
local wrapped = require 'pushdown.wrapped'

local function visible(text)
  return (text:gsub('\194([\128-\159])', function(c) return ('\\%03d'):format(c:byte()) end)
    :gsub('[%z\1-\8\11-\31\127]', function(c) return ('\\%03d'):format(c:byte()) end))
end

-- Wraps long lines of a message, such as lists of names; indented lines stay as they are.
local function wrapped_lines(text, width)
  return (text:gsub('[^\n]+', function(line) return line:find '^%s' and line or wrapped(line, width, '', '  ') end))
end

local function on_terminal(f)
  if not pd.process.columns 'stdout' then return f() end
  local raw_write, raw_print = io.write, print
  local function write(...)
    local texts = { ... }
    for i, text in ipairs(texts) do texts[i] = visible(tostring(text)) end
    return raw_write(unpack(texts))
  end
  rawset(io, 'write', write)
  rawset(_G, 'print', function(...)
    local texts = {}
    for i = 1, select('#', ...) do texts[i] = tostring((select(i, ...))) end
    write(table.concat(texts, '\t'), '\n')
  end)
  local ok, problem = pcall(f)
  rawset(io, 'write', raw_write)
  rawset(_G, 'print', raw_print)
  if not ok then error(problem, 0) end
end

return function(name, f)
  local ok, problem = pcall(on_terminal, f)
  if ok then return 0 end
  local usage = type(problem) == 'table' and problem.usage
  local text = ('pushdown %s: %s\n'):format(name, usage or tostring(problem):gsub('^[^\n]-%.lua:%d+: ', ''))
  local width = pd.process.columns 'stderr'
  io.stderr:write(width and wrapped_lines(visible(text), width) or text)
  return usage and 2 or 1
end
