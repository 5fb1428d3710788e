-- subcommand(name, f) -> the exit status of a command such as `pushdown runs`: 0 if f returns, 2 if it raises the
-- {usage = message} of a wrong command line, else 1; error messages go to stderr. What f writes by print and io.write
-- has no control characters, because names of runs, files and symbols can come from anywhere, and a pipe can lead to a
-- terminal. Data for other programs are written by visible.data.
local pd = require 'pushdown'
local visible = require 'pushdown.text.visible'
local wrapped = require 'pushdown.text.wrapped'

-- Wraps long lines of a message, such as lists of names; indented lines stay as they are.
local function wrapped_lines(text, width)
  return (text:gsub('[^\n]+', function(line) return line:find '^%s' and line or wrapped(line, width, '', '  ') end))
end

return function(name, f)
  local ok, problem = pcall(visible.only, f)
  if ok then return 0 end
  local usage = type(problem) == 'table' and problem.usage
  -- Without the place in this library, or in the chunk that calls the command.
  local said = tostring(problem):gsub('^[^\n]-%.lua:%d+: ', ''):gsub('^' .. name .. ':%d+: ', '')
  local text = ('pushdown %s: %s\n'):format(name, usage or said)
  local width = pd.process.columns 'stderr'
  text = visible(text)
  io.stderr:write(width and wrapped_lines(text, width) or text)
  return usage and 2 or 1
end
