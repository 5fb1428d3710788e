-- What the prompt offers beside Lua: a cheat sheet, scripts run in the session, and what a wrong name was meant to be.
local files = require 'pushdown.files'
local nearest = require 'pushdown.nearest'
local pd = require 'pushdown'

local M = {}

local sheet = [[
At the prompt
  expression          prints its value; a ';' at the end keeps it silent; _ is the last value
  ? x, help(x)        what x is                help 'word'     searches all that is documented
  :time statement     runs it and says how long it took
  :run script words   runs a script here; its globals stay
  TAB                 completes names, options inside { }, kinds, grammars and files inside quotes
  Ctrl-R, Up, Down    searches and recalls entries             Ctrl-C    stops what runs
  Ctrl-D              leaves                                   paste     a block is one entry

  g = pd.grammar.load 'dyck'                        pd.grammar.list()
  g:sample{ length = 20 }                           g:log_probability '( [ ] )'
  s = g:sampler{ lengths = { 40, 80 } }             d = s:dataset(1000, { seed = 1 })
  m = pd.model.language_model{ alphabet = g:alphabet(), controller = { kind = 'lstm', hidden = 20 },
                               stack = { kind = 'superposition', size = 10 } }
  t = pd.train.trainer{ model = m, train = d, valid = s:dataset(100, { seed = 2 }) }
  for epoch in t:epochs() do print(epoch.cross_entropy) end
  pd.stack.kinds()   pd.controller.kinds()          ? pd.stack.describe
  print(pd.plot.text{ series = { { y = { 3, 1, 2 } } } })
]]

-- cheat_sheet() -> the page that a lone '?' shows.
function M.cheat_sheet() return sheet end

-- The words of a command line, quoted as in a shell.
local function words_of(line)
  local words, at = {}, 1
  while true do
    at = line:find('%S', at)
    if not at then return words end
    local word = ''
    while at <= #line and not line:sub(at, at):find '%s' do
      local quote = line:match('^[\'"]', at)
      if quote then
        local stop = line:find(quote, at + 1, true)
        if not stop then error((':run: the quote %s is not closed'):format(quote), 0) end
        word, at = word .. line:sub(at + 1, stop - 1), stop + 1
      else
        local plain = line:match('^[^%s\'"]+', at)
        word, at = word .. plain, at + #plain
      end
    end
    words[#words + 1] = word
  end
end

-- scripts() -> the names that :run knows, besides paths: 'ns_rnn/train'.
function M.scripts()
  local names = {}
  for _, path in ipairs(files.find(pd.scripts .. '/experiments', '%.lua$')) do
    names[#names + 1] = path:gsub('%.lua$', '')
  end
  return names
end

local function script_of(name)
  for _, path in ipairs { name, name .. '.lua', ('%s/experiments/%s.lua'):format(pd.scripts, name) } do
    if files.exists(path) and path:find '%.lua$' then return path end
  end
  local near = nearest(name, M.scripts())
  error((":run: there is no script '%s'%s"):format(name, near and (", did you mean '%s'?"):format(near) or ''), 0)
end

-- run(line): runs a script, a path or a name of scripts(), with the words behind it as its arguments; os.exit ends the
-- script, not the session.
function M.run(line)
  local words = words_of(line)
  if #words == 0 then error(':run needs a script, as in :run ns_rnn/train --smoke', 0) end
  local path = script_of(table.remove(words, 1))
  local chunk, problem = loadfile(path)
  if not chunk then error(problem, 0) end
  local os_exit, kept, left = os.exit, rawget(_G, 'arg'), {}
  words[0], words[-1] = path, pd.process.executable()
  rawset(os, 'exit', function(status) left.status = status or 0; error(left, 0) end)
  rawset(_G, 'arg', words)
  local results = { xpcall(function() return chunk(unpack(words)) end, function(e)
    return (e == left or type(e) ~= 'string') and e or debug.traceback(e, 2)
  end) }
  rawset(os, 'exit', os_exit)
  rawset(_G, 'arg', kept)
  local status, said = results[1] and 0 or 1, results[2]
  if said == left then status = left.status == true and 0 or left.status or 1 end
  local runs = package.loaded['pushdown.runs']
  if runs then runs.close(status == 0 and 'done' or 'failed', status ~= 0 and tostring(said) or nil) end
  if not results[1] and said ~= left then error(said, 0) end
  if status ~= 0 then error((':run: %s ended with status %s'):format(path, tostring(status)), 0) end
end

local function sorted_names(...)
  local names = {}
  for _, t in ipairs { ... } do
    for name in pairs(t) do if type(name) == 'string' then names[#names + 1] = name end end
  end
  table.sort(names)
  return names
end

-- suggestion(message) -> "did you mean ...?" for an error about a name that is nothing, or nil.
function M.suggestion(message)
  local first = message:match '^[^\n]*'
  local kind, name = first:match "attempt to %a+ (%a+) '([^']+)' %(a nil value%)"
  if not kind then kind, name = 'global', first:match "undeclared global '([^']+)' is read" end
  if not name then return nil end
  if kind == 'global' then
    if rawget(pd, name) ~= nil then return ("did you mean 'pd.%s'?"):format(name) end
    local near = nearest(name, sorted_names(_G, { pd = true }))
    if near then return ("did you mean '%s'?"):format(near) end
    near = nearest(name, sorted_names(pd))
    return near and ("did you mean 'pd.%s'?"):format(near)
  end
  local names = {}
  for _, library in ipairs { string, table, math, os, io } do names[#names + 1] = library end
  local near = nearest(name, sorted_names(unpack(names)))
  -- Of the many names of the libraries some is always near: only those count that begin alike.
  return near and near:sub(1, 1) == name:sub(1, 1) and ("did you mean '%s'?"):format(near) or nil
end

return M
