-- The commands of the prompt, but for `:time`, `:quit` and `:help`, which the shell itself carries out.
local pd = require 'pushdown'
local reload = require 'pushdown.prompt.reload'
local script = require 'pushdown.prompt.script'
local session = require 'pushdown.prompt.session'

local M = {}

-- `:runs`, or `:runs show 3` and so on, as on the command line.
local function runs(line)
  local command = require 'pushdown.commands.runs'
  local words = script.words(line)
  if #words == 0 or words[1]:find '^%-%-?%a' and words[1] ~= '--help' and words[1] ~= '-h' then
    table.insert(words, 1, 'list')
  end
  if command.run(words) ~= 0 then error((':runs %s failed'):format(line), 0) end
end

local commands = { run = script.run, edit = script.edit, history = session.history, save = session.save,
  reload = reload, runs = runs }
local of_the_shell = { 'help', 'quit', 'time' }

-- names() -> the names of all commands, sorted.
function M.names()
  local names = { unpack(of_the_shell) }
  for name in pairs(commands) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- call(name, line): carries out the command `:name line`.
function M.call(name, line)
  if commands[name] then return commands[name](line) end
  local names = M.names()
  local near = pd._text.nearest(name, names)
  error(('there is no command :%s%s; there are :%s and :%s, and ? shows more'):format(name,
    near and (", did you mean ':%s'?"):format(near) or '', table.concat(names, ', :', 1, #names - 1), names[#names]), 0)
end

-- shell(line): `!line` runs a command of the system's shell. Ctrl-C stops the command.
function M.shell(line)
  if line == '' then error('! needs a command, as in !ls runs', 0) end
  if line:find '^cd%f[%s%z][^;&|]*$' then
    error('!cd changes only the folder of its own shell, not that of the session', 0)
  end
  io.stdout:flush()
  local status = os.execute(line)
  if status == 0 then return end
  local signal, code = status % 128, math.floor(status / 256)
  if signal == 2 or code == 130 then error(('!%s: interrupted'):format(line), 0) end
  error(signal > 0 and ('!%s was ended by signal %d'):format(line, signal)
    or ('!%s ended with status %d'):format(line, code), 0)
end

return M
