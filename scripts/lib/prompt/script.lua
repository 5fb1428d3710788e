-- Runs scripts in the session of the prompt: `:run` and `:edit`.
local files = require 'pushdown.files'
local pd = require 'pushdown'

local M = {}

-- words(line) -> the words of a command line, with the quoting rules of a shell.
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
        if not stop then error(('the quote %s is not closed'):format(quote), 0) end
        word, at = word .. line:sub(at + 1, stop - 1), stop + 1
      else
        local plain = line:match('^[^%s\'"]+', at)
        word, at = word .. plain, at + #plain
      end
    end
    words[#words + 1] = word
  end
end

M.words = words_of

-- Compiles the script to a function that calls keep(level) at its end; level is that of its own locals.
local function compiled(path)
  local text = files.read(path):gsub('^\239\187\191', ''):gsub('^#[^\n]*', '')
  local name = '@' .. path
  local plain, problem = loadstring(text, name)
  if not plain then error(problem, 0) end
  if text:sub(1, 1) == '\27' then error(path .. ': this is compiled Lua; only source text can be run', 0) end
  local at_end = loadstring(text .. '\ndo end pushdown_keep_locals()', name)
  if at_end then return at_end end
  -- The script ends in `return`.
  local last = text:match '^.*\n()return%f[^%w_]'
  return last and loadstring(text:sub(1, last - 1) .. 'pushdown_keep_locals() ' .. text:sub(last), name) or plain
end

-- The active locals at a level of the running calls, by name.
local function locals_at(level)
  local values = {}
  for i = 1, math.huge do
    local name, value = debug.getlocal(level + 1, i)
    if not name then return values end
    if not name:find '^%(' then values[name] = value end
  end
end

local function level_of(chunk)
  for level = 2, math.huge do
    local info = debug.getinfo(level, 'f')
    if not info then return nil end
    if info.func == chunk then return level - 1 end
  end
end

-- Runs a script with its own `arg` and os.exit. Returns the results of xpcall, the locals of the script, and the value
-- that os.exit throws.
local function run_chunk(chunk, words)
  local os_exit, kept, left, found = os.exit, rawget(_G, 'arg'), {}, {}
  rawset(os, 'exit', function(status) left.status = status or 0; error(left, 0) end)
  rawset(_G, 'arg', words)
  rawset(_G, 'pushdown_keep_locals', function() found = locals_at(2) end)
  local results = { xpcall(function() return chunk(unpack(words)) end, function(e)
    local level = level_of(chunk)
    if level then found = locals_at(level) end
    return (e == left or type(e) ~= 'string') and e or debug.traceback(e, 2)
  end) }
  rawset(os, 'exit', os_exit)
  rawset(_G, 'arg', kept)
  rawset(_G, 'pushdown_keep_locals', nil)
  return results, found, left
end

local function run_script(path, words)
  local chunk = compiled(path)
  words[0], words[-1] = path, pd.process.executable()
  local results, found, left = run_chunk(chunk, words)
  rawset(_G, '_run', found)
  local status, said = results[1] and 0 or 1, results[2]
  if said == left then status = left.status == true and 0 or left.status or 1 end
  local record = package.loaded['pushdown.store.record']
  if record then record.close(status == 0 and 'done' or 'failed', status ~= 0 and tostring(said) or nil) end
  if not results[1] and said ~= left then error(said, 0) end
  if status ~= 0 then error((':run: %s ended with status %s'):format(path, tostring(status)), 0) end
end

-- run(line): runs a script, given as for files.script; the words after it are its arguments. os.exit ends
-- the script, not the session. Afterwards the global _run has the locals of the script's main chunk at its end as
-- fields.
function M.run(line)
  local words = words_of(line)
  if #words == 0 then error(':run needs a script, as in :run ns_rnn --smoke', 0) end
  local path, problem = files.script(table.remove(words, 1))
  if not path then error(':run: ' .. problem, 0) end
  run_script(path, words)
end

-- edit(line): opens a script in the editor that VISUAL or EDITOR names, then runs it like run. If the path does not
-- exist, a new script is made.
function M.edit(line)
  local words = words_of(line)
  if #words == 0 then error(':edit needs a script, as in :edit mine.lua', 0) end
  if not pd.process.columns 'stdout' then error(':edit needs a terminal', 0) end
  local name = table.remove(words, 1)
  local path = files.script(name) or name:find '%.lua$' and name or name .. '.lua'
  local editor = os.getenv 'VISUAL' or os.getenv 'EDITOR' or 'vi'
  local status = os.execute(editor .. ' ' .. files.quoted(path))
  if status ~= 0 then error((":edit: '%s' failed, so nothing was run"):format(editor), 0) end
  if not files.exists(path) then error((":edit: '%s' was not written, so nothing was run"):format(path), 0) end
  run_script(path, words)
end

return M
