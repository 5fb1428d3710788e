-- The entries of the session: `:history` and `:save`.
local files = require 'pushdown.files'
local pager = require 'pushdown.prompt.pager'
local pd = require 'pushdown'
local words_of = require 'pushdown.prompt.script'.words

local M = {}

-- The shell keeps them in the registry of Lua: a list of {text =, script =, failed =}.
local function entries() return debug.getregistry()['pushdown.entries'] or {} end

local function has_all(text, words)
  text = text:lower()
  for _, word in ipairs(words) do
    if not text:find(word:lower(), 1, true) then return false end
  end
  return true
end

-- history(line): lists the entries of this prompt, or those that have all words of the line.
function M.history(line)
  local words = {}
  for word in line:gmatch '%S+' do words[#words + 1] = word end
  local out = {}
  for i, entry in ipairs(entries()) do
    if has_all(entry.text, words) then
      local text = entry.text:gsub('\n', '\n      ')
      out[#out + 1] = ('%4d  %s%s'):format(i, text, entry.failed and '  -- failed' or '')
    end
  end
  if #out == 0 then
    return pager(#words == 0 and 'This is the first entry of the session.'
      or ("No entry of this prompt has '%s'; Ctrl-R also searches those of earlier ones."):format(line))
  end
  pager(table.concat(out, '\n'))
end

-- A name for the function that prints values, which no entry uses.
local function free_name(text)
  local name = 'show'
  while text:find('%f[%w_]' .. name .. '%f[^%w_]') do name = name .. '_value' end
  return name
end

-- script() -> the entries that succeeded as a script, and their number.
function M.script()
  local parts, codes = {}, {}
  for _, entry in ipairs(entries()) do
    if not entry.failed and entry.script:find '%S' then codes[#codes + 1] = entry.script end
  end
  local name = free_name(table.concat(codes, '\n'):gsub('%f[%w_]show%(', ''))
  parts[1] = ('-- The entries of a session with Pushdown %s on %s that succeeded.'):format(pd.version,
    os.date '%Y-%m-%d')
  parts[2] = ("local %s = require 'pushdown.show'  -- prints values as the prompt does"):format(name)
  parts[3] = ('pd.session{ seed = %.0f }'):format(pd.session().stream_seed)
  for _, code in ipairs(codes) do
    parts[#parts + 1] = name == 'show' and code or (code:gsub('%f[%w_]show%(', name .. '('))
  end
  return table.concat(parts, '\n') .. '\n', #codes
end

-- save(line): writes the entries that succeeded as a script. An existing file is replaced only with -f.
function M.save(line)
  local path, force
  for _, word in ipairs(words_of(line)) do
    if word == '-f' then force = true
    elseif path then error((":save: expected one file, got '%s' too"):format(word), 0)
    else path = word end
  end
  if not path then error(':save needs a file, as in :save session.lua', 0) end
  local text, count = M.script()
  if count == 0 then error(':save: no entry of this prompt has changed anything, so there is nothing to save', 0) end
  if not force and pd.file.kind(path) then
    error((":save: '%s' exists; :save -f %s replaces it"):format(path, line), 0)
  end
  local fine, problem = pcall(files.write, path, text)
  if not fine then
    error(':save: ' .. tostring(problem):gsub('^[^%s:]*:%d+: ', ''):gsub('^%[file%] ', ''), 0)
  end
  print(("%d %s in %s; 'pushdown %s' runs %s again."):format(count, count == 1 and 'entry' or 'entries', path, path,
    count == 1 and 'it' or 'them'))
  local _, wrong = loadstring(text, '@' .. path)
  if wrong then print('It is not a correct script as it stands: ' .. wrong) end
end

return M
