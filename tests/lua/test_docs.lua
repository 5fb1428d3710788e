-- The generated pages are current, and the sessions in the README show what the shell prints.
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'

local shell = assert(os.getenv('PUSHDOWN_BINARY'), 'PUSHDOWN_BINARY names the shell')

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- Output and success of the shell with these arguments.
local function run(...)
  local words = { quoted(shell) }
  for _, word in ipairs { ... } do words[#words + 1] = quoted(word) end
  local pipe = assert(io.popen(table.concat(words, ' ') .. ' 2>&1; echo "exit $?"'))
  local output = pipe:read('*a')
  pipe:close()
  return output, output:match('exit 0\n$') ~= nil
end

for _, tool in ipairs { 'make_api', 'make_tutorial' } do
  test(tool .. ' has nothing new to write', function()
    local output, fine = run(pd.root .. '/scripts/tools/' .. tool .. '.lua', '--check')
    assert(fine, output)
  end)
end

test('the manual page has every option of the program', function()
  local page = files.read(pd.root .. '/docs/pushdown.1'):gsub('\\%-', '-')
  local count = 0
  for option in run('--help'):gmatch('%s(%-%-?[%a-]+)') do
    assert(page:find(option, 1, true), option .. ' is not in docs/pushdown.1')
    count = count + 1
  end
  assert(count > 8, 'the options are found')
end)

test('the stubs for editors are Lua and have every name', function()
  local path = os.tmpname()
  local output, fine = run(pd.root .. '/scripts/tools/make_stubs.lua', path)
  assert(fine, output)
  local text = files.read(path)
  os.remove(path)
  assert(loadstring(text))
  for name in pairs(pd.docs()) do
    local has = name == 'pd' or name:find ':__' or text:find(('function %s('):format(name), 1, true)
      or text:find(('\n%s = {}'):format(name), 1, true) or text:find(('---@class %s\n'):format(name), 1, true)
    assert(has, name)
  end
  assert(text:find('---@return Tensor\nfunction Tensor:sum(dims, keep) end', 1, true))
  assert(text:match '"none"|"soft"|"counter"', 'choices of options')
  assert(text:find('clip_norm?: number', 1, true), 'options that only a description lists')
end)

test('the session of the README runs as it stands', function()
  local session = files.read(pd.root .. '/README.md'):match('```lua\n(.-)```')
  local folder = os.tmpname()
  os.remove(folder)
  files.make_folder(folder)
  -- The same lines with less to do.
  local smaller = session:gsub('10000', '100'):gsub("'runs/", "'" .. folder .. '/')
  local output, fine = run('-e', smaller)
  assert(fine, output)
  for line in session:gmatch('[^\n]+') do assert(#line <= 100, line) end
  os.execute('rm -r ' .. quoted(folder))
end)

test('every documented name has a sentence', function()
  local count = 0
  for name, doc in pairs(pd.docs()) do
    count = count + 1
    assert(#doc >= 10 and doc:match('%.$'), name .. ': ' .. doc)
  end
  assert(count > 50, 'names are documented: ' .. count)
end)

test.finish()
