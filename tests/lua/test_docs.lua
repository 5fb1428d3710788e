-- The generated pages are up to date, and the sessions in the README show the output of the shell.
-- label: long
local pd = require 'pushdown'
local test = require 'pushdown.test'
local files = require 'pushdown.files'
local sessions = dofile(pd.root .. '/scripts/tools/sessions.lua')

-- Returns the output of the shell with these arguments, and whether it succeeded.
local function run(...)
  local output, status = test.run { ... }
  return output, status == 0
end

for _, tool in ipairs { 'make_api', 'make_cookbook', 'make_tutorial' } do
  test(tool .. ' has nothing new to write', function()
    local output, fine = run(pd.root .. '/scripts/tools/' .. tool .. '.lua', '--check')
    assert(fine, output)
  end)
end

test('the manual page has every option and command of the program', function()
  local path = test.folder() .. '/pushdown.1'
  local output, fine = run(pd.root .. '/scripts/tools/make_manual.lua', path)
  assert(fine, output)
  local page = files.read(path):gsub('\\%-', '-')
  for _, text in ipairs { '.BI --exit-with-parent " PID"', '.BI -i\n', '.B pushdown report RUN...',
    '.B pushdown pipe' } do
    assert(page:find(text, 1, true), text .. ' is not in\n' .. page)
  end
  local help = run '--help'
  for word in help:gmatch '\n  (%-%-?[%a-]+)' do assert(page:find('.BI ' .. word, 1, true), word) end
  for name in help:gmatch '\n  (pushdown %l+) ' do assert(page:find('.B ' .. name, 1, true), name) end
end)

test('the stubs for editors are Lua and have every name', function()
  local path = test.folder() .. '/stubs.lua'
  local output, fine = run(pd.root .. '/scripts/tools/make_stubs.lua', path)
  assert(fine, output)
  local text = files.read(path)
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

test('the README shows what the shell prints', function()
  local text = {}
  for block in files.read(pd.root .. '/README.md'):gmatch '```\n(pd> .-)\n```' do text[#text + 1] = block end
  assert(#text == 2, 'the README has two sessions')
  local session = sessions.entries(table.concat(text, '\n'), 'pd> ')
  assert(#session > 5, 'the sessions have entries')
  local path = test.folder() .. '/entries'
  local entries, shown = {}, {}
  for _, one in ipairs(session) do
    entries[#entries + 1] = one.entry
    for _, line in ipairs(one.output) do shown[#shown + 1] = { line = line, entry = one.entry } end
    for line in one.entry:gmatch('[^\n]+') do assert(#line <= 100, line) end
  end
  files.write(path, table.concat(entries, '\n') .. '\n')
  local printed = pd.tables.matches((test.run({}, { input = path })), '([^\n]*)\n')
  test.equal(#printed, #shown)
  for i, one in ipairs(shown) do
    local trained = one.entry:find 't:epochs' or one.entry:find 'm:'
    test.equal(sessions.difference(printed[i], one.line, trained and 0.5 or 1e-9), nil)
  end
end)

test('the table of parameters has those of every stack', function()
  local section = files.read(pd.root .. '/docs/reference/models.md'):match '\n## Parameters\n(.-)\n## '
  local rows = {}
  for line in section:gmatch '[^\n]+' do
    for kind in (line:match '^| ([^|]+) |' or ''):gmatch '`([%w_]+)`' do rows[kind] = line end
  end
  local function check(kind, name)
    assert(rows[kind], kind .. ' has no row')
    -- A row may refer to the rows before it, those of a deque for both ends, and `pop_…` is every name that begins so.
    name = name:gsub('_top_', '_'):gsub('_bottom_', '_')
    local known = section:find(('`%s`'):format(name), 1, true)
    local begin = name
    while not known and begin:find '_' do
      begin = begin:match '^(.*)_[^_]*$'
      known = section:find(('`%s_…`'):format(begin), 1, true)
    end
    assert(known, ('%s: %s is not documented'):format(kind, name))
  end
  local function parameters(options)
    options.alphabet, options.seed = { 'a', 'b' }, 1
    return pd.model.language_model(options):parameters()
  end
  for _, kind in ipairs(pd.stack.kinds()) do
    local stack = { kind = kind }
    if kind:find '^stratification' then stack.pop = 'expectation' end
    for name in pairs(parameters { controller = { kind = 'elman', hidden = 2 }, stack = stack }) do
      local own = name:match '^stack%.(.*)$'
      if own then check(kind, own) end
    end
  end
end)

test('the options on the pages about experiments are those of their papers', function()
  local pages = files.find(pd.root .. '/docs/reference/experiments', '%.md$')
  for _, name in ipairs(pages) do
    local page = files.read(pd.root .. '/docs/reference/experiments/' .. name)
    local paper, commands, known, help = name:gsub('%.md$', ''), {}, {}, ''
    for command in page:gmatch 'pushdown ([%w_]+[%w_ ]*)' do
      command = command:gsub(' $', '')
      if command:find('^' .. paper) and not known[command] then
        known[command], commands[#commands + 1] = true, command
      end
    end
    assert(#commands > 0, paper)
    local function has(option)
      return help:find('--' .. option .. ' ', 1, true) or help:find('--' .. option:gsub('^no%-', '') .. ' ', 1, true)
    end
    for option in page:gmatch '%f[%w-]%-%-([%l][%w-]*)' do
      while not has(option) do
        local command = table.remove(commands, 1) or error(('%s: no command has --%s'):format(paper, option), 0)
        local words = pd.tables.matches(command, '%S+')
        words[#words + 1] = '--help'
        help = help .. run(unpack(words))
      end
    end
  end
  assert(#pages >= 9, #pages)
end)

test('the pictures of the concepts are those that their scripts draw', function()
  local scripts = files.find(pd.root .. '/scripts/tools/concepts', '%.lua$')
  assert(#scripts >= 3, 'the scripts are found')
  for _, script in ipairs(scripts) do
    local path = test.folder() .. '/picture.svg'
    dofile(pd.root .. '/scripts/tools/concepts/' .. script)(path)
    local picture = ('%s/docs/pictures/concepts/%s.svg'):format(pd.root, script:match '^(.*)%.lua$')
    test.equal(files.read(path), files.read(picture))
  end
end)

test('the API reference has the options of every kind', function()
  local page = files.read(pd.root .. '/docs/api.md'):match '\n## Kinds\n(.-)\n## '
  for heading, kinds in pairs { Stacks = pd.stack.kinds(), Controllers = pd.controller.kinds(),
    Optimizers = pd.train.optimizers() } do
    local section = (page .. '\n### '):match('\n### ' .. heading .. '\n(.-)\n### ')
    for _, kind in ipairs(kinds) do test.has(section, '\n#### ' .. kind .. '\n') end
  end
  test.has(page, '| `learning_rate` | number, default 0.005 |', '| `weights` | B x n x (Q*S) x (2*Q*S + Q) |')
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
