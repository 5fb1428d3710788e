-- Makes the manual page of the program from docs/pushdown.1: the text of `--help` replaces the line .\" OPTIONS, and
-- the declarations of the commands the line .\" COMMANDS.
--
--   pushdown scripts/tools/make_manual.lua FILE
local files = require 'pushdown.files'
local pd = require 'pushdown'

local function escaped(text)
  return (text:gsub('\\', '\\e'):gsub('%-', '\\-'):gsub('\n', ' '))
end

local function options()
  local out = {}
  local help = io.popen(files.quoted(pd.process.executable()) .. ' --help')
  for line in help:lines() do
    local option, value, doc = line:match '^  (%-%S+) (%S*) +(.*)$'
    if option then
      if value ~= '' then option = ('%s " %s"'):format(option, value) end
      out[#out + 1] = ('.TP\n.BI %s\n%s.'):format(escaped(option), escaped(doc))
    end
  end
  help:close()
  return table.concat(out, '\n')
end

local function commands()
  local out = {}
  for _, path in ipairs(files.find(pd.scripts .. '/lib/commands', '^[^/]*%.lua$')) do
    local declaration = require('pushdown.commands.' .. path:gsub('%.lua$', '')).declaration
    out[#out + 1] = ('.TP\n.B %s\n%s'):format(escaped(declaration.name), escaped(declaration.doc))
  end
  return table.concat(out, '\n')
end

local parts = { COMMANDS = commands(), OPTIONS = options() }
files.write((...), (files.read(pd.root .. '/docs/pushdown.1'):gsub('%.\\" (%u+)', parts)))
