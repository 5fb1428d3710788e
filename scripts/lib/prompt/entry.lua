-- The prompt's additions to Lua: a cheat sheet, and suggestions for wrong names.
local pd = require 'pushdown'

local M = {}

local sheet = [[
At the prompt
  expression      prints its value unless it ends with ';'; _, _1 ... keep them
  ? x, help(x)    describes x              help 'words'  searches the docs
  ?? x            shows the source of x    !command      runs a shell command
  :time statement     runs it and prints the time; -n 20: 20 times, the median
  :run script words   runs a script here; _run has the locals of its main chunk
  :edit script words  opens a script in $EDITOR, then runs it
  :history words      lists entries        :save file  writes them as a script
  :reload library     loads it again       :runs       lists the runs here
  TAB             completes names, options in { }, kinds and files in quotes
  Up, Ctrl-R      recalls, searches        Ctrl-C        interrupts
  quit, Ctrl-D    leaves                   paste         a block is one entry

  g = pd.grammar.load 'marked_reversal'    pd.grammar.list()   pd.stack.kinds()
  g:sample{ length = 9 }                   g:log_probability '0 1 # 1 0'
  s = g:sampler{ lengths = { 9, 21 } }     d = s:dataset(1000, { seed = 1 })
  m = pd.model.language_model{ alphabet = g:alphabet(),
        controller = { kind = 'lstm', hidden = 20 },
        stack = { kind = 'superposition', size = 10 } }
  t = pd.train.trainer{ model = m, train = d, epochs = 5, run_folder = 'first',
        valid = s:dataset(100, { seed = 2 }) }
  t:run()                                  pd.train.evaluate(m, d)
  m = pd.model.load 'first'                pd.report.page{ runs = { 'first' } }
]]

-- cheat_sheet() -> the page that a single '?' shows.
function M.cheat_sheet() return sheet end

local function sorted_names(...)
  local names = {}
  for _, t in ipairs { ... } do
    for name in pairs(t) do if type(name) == 'string' then names[#names + 1] = name end end
  end
  table.sort(names)
  return names
end

-- suggestion(message) -> "did you mean ...?" for an error about an undefined name, or nil.
function M.suggestion(message)
  local first = message:match '^[^\n]*'
  local kind, name = first:match "attempt to %a+ (%a+) '([^']+)' %(a nil value%)"
  if not kind then kind, name = 'global', first:match "undeclared global '([^']+)' is read" end
  if not name then return nil end
  if kind == 'global' then
    if rawget(pd, name) ~= nil then return ("did you mean 'pd.%s'?"):format(name) end
    local near = pd._text.nearest(name, sorted_names(_G, { pd = true }))
    if near then return ("did you mean '%s'?"):format(near) end
    near = pd._text.nearest(name, sorted_names(pd))
    return near and ("did you mean 'pd.%s'?"):format(near)
  end
  local names = {}
  for _, library in ipairs { string, table, math, os, io } do names[#names + 1] = library end
  local near = pd._text.nearest(name, sorted_names(unpack(names)))
  -- The libraries have so many names that some name is always near; only names with the same first letter count.
  return near and near:sub(1, 1) == name:sub(1, 1) and ("did you mean '%s'?"):format(near) or nil
end

return M
