-- The commands of the program, `pushdown NAME words...`: each file of scripts/lib/commands returns one, made by
-- command.new. Help, the manual page and the program's own `--help` show its declaration.
local experiment = require 'pushdown.experiment'
local files = require 'pushdown.files'
local pd = require 'pushdown'
local tables = require 'pushdown.tables'
local visible = require 'pushdown.text.visible'
local wrapped = require 'pushdown.text.wrapped'

local load_command = rawget(_G, 'require')  -- the commands require this module

local M = {}

-- command.fail(...): raises an error about a wrong command line.
function M.fail(...) error({ usage = (...):format(select(2, ...)) }, 0) end

-- command.pick(commands, given) -> the entry with the name that the user gave, of a table by name.
function M.pick(commands, given)
  if commands[given] then return commands[given] end
  local names = tables.keys(commands, 'string')
  local near = pd._text.nearest(given, names)
  M.fail("unknown command '%s'%s; the commands are %s and %s", given,
    near and (", did you mean '%s'?"):format(near) or '', table.concat(names, ', ', 1, #names - 1), names[#names])
end

-- Wraps long lines of a message, such as lists of names; indented lines stay as they are.
local function wrapped_lines(text, width)
  return (text:gsub('[^\n]+', function(line) return line:find '^%s' and line or wrapped(line, width, '', '  ') end))
end

-- command.status(name, f) -> the exit status of a command: 0 if f returns, 2 if it raises the {usage = message} of a
-- wrong command line, else 1; error messages go to stderr. What f writes by print and io.write has no control
-- characters, because names of runs, files and symbols can come from anywhere, and a pipe can lead to a terminal. Data
-- for other programs are written by visible.data.
function M.status(name, f)
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

-- command.new(declaration, most, act) -> command, with its declaration, that of experiment.parse, and run(words), which
-- returns the exit status: reads at most this number of words besides options, and calls act(options, given).
function M.new(declaration, most, act)
  declaration.words, declaration.run_folder = true, false
  local name = declaration.name:match '^pushdown (%l+)'
  return { declaration = declaration, run = function(words)
    return M.status(name, function()
      local options, _, given = experiment.parse(declaration, words)
      if options.help then return io.write(experiment.help(declaration)) end
      if #options.words > most then M.fail("unexpected argument '%s'", options.words[most + 1]) end
      return act(options, given)
    end)
  end }
end

-- command.line(declaration, columns) -> its name and what it does, in lines of this width.
function M.line(declaration, columns)
  local sentence = (declaration.doc .. '\n'):gsub('\n', ' '):match '^(.-)[.:] '
  local margin = 36
  return ('  %-33s '):format(declaration.name) .. wrapped(sentence, columns, (' '):rep(margin)):sub(margin + 1)
end

-- command.overview() -> the part of `pushdown --help` about the commands.
function M.overview()
  local lines = { 'Commands (each lists its options with --help):' }
  for _, path in ipairs(files.find(pd.scripts .. '/lib/commands', '^[^/]*%.lua$')) do
    local command = load_command('pushdown.commands.' .. path:gsub('%.lua$', ''))
    lines[#lines + 1] = M.line(command.declaration, pd.process.columns 'stdout' or 100)
  end
  return table.concat(lines, '\n') .. '\n'
end

return M
