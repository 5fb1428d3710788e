-- What untrusted files can do: compute within limits, and nothing else. Files of grammars, automata and hints run in a
-- sandbox; run folders and checkpoints are only read.
-- label: long
local pd = require 'pushdown'
local files = require 'pushdown.files'
local grammar = require 'pushdown.grammar.words'
local test = require 'pushdown.test'

local shell = test.program
local folder = test.folder()
files.make_folder(folder .. '/grammars')

local quoted = files.quoted

local function write(name, text)
  files.write(folder .. '/' .. name, text)
  return folder .. '/' .. name
end

-- Runs the shell in the folder. Returns its output and its exit status.
local function run(words)
  return test.run(words, { folder = folder, environment = 'PUSHDOWN_REGISTRY=off timeout ' .. test.patience })
end

local original = { string = getmetatable('').__index, find = string.find, format = string.format, floor = math.floor,
  concat = table.concat }

-- No value of this state has changed.
local function check_outside()
  test.equal(getmetatable('').__index, original.string)
  test.equal(original.string, string)
  test.equal(string.find, original.find)
  test.equal(string.format, original.format)
  test.equal(math.floor, original.floor)
  test.equal(table.concat, original.concat)
  test.equal(debug.gethook(), nil)
end

-- Loads the text as a grammar. Returns the error message.
local function attack(text)
  local path = write('attack.lua', text)
  local ok, message = pcall(pd.grammar.load, path)
  check_outside()
  return not ok and tostring(message) or nil
end

local function refused(pattern, text)
  local message = attack(text)
  assert(message, 'this was accepted: ' .. text)
  assert(message:find(pattern), ('%s\nsays %s\nand should say %s'):format(text, message, pattern))
end

test('the values that a file can reach are known', function()
  local reached, names = {}, {}
  local function walk(value, name)
    local kind = type(value)
    if kind ~= 'table' and kind ~= 'function' and kind ~= 'userdata' and kind ~= 'thread' then return end
    if reached[value] then return end
    reached[value] = name
    names[#names + 1] = name
    if kind == 'table' then
      for key, inner in pairs(value) do
        walk(key, name .. ' key')
        walk(inner, name .. '.' .. tostring(key))
      end
    end
    -- A file cannot access metatables. Its operations call their functions.
    if kind == 'table' and debug.getmetatable(value) then walk(debug.getmetatable(value), 'meta of ' .. name) end
  end
  grammar.collect('rule "S -> \'a\'"', 'x.lua', {}, function() return {} end, function(chunk, strings)
    walk(getfenv(chunk), 'env')
    walk(strings, 'methods')
    return true
  end, function() end)
  for _, value in ipairs { 0, true, function() end } do test.equal(debug.getmetatable(value), nil) end
  test.equal(debug.getmetatable(nil), nil)

  -- A file cannot reach any function or table of the outer state except these.
  local harmless = {}
  for _, f in ipairs { ipairs, pairs, tostring, tonumber, type, error, assert, select, unpack } do
    harmless[f] = true
  end
  for _, library in ipairs { math, string, table } do
    for _, value in pairs(library) do
      if type(value) == 'function' then harmless[value] = true end
    end
  end
  for _, f in ipairs { math.random, math.randomseed, string.dump, string.find, string.match, string.gmatch, string.gsub,
    string.rep, string.reverse, string.upper, string.lower, string.sub, string.format, table.sort, table.concat,
    tonumber, unpack } do
    harmless[f] = nil
  end
  local outside, seen = {}, {}
  local function collect(value, name)
    if type(value) ~= 'table' and type(value) ~= 'function' or seen[value] then return end
    seen[value] = true
    outside[value] = name
    if type(value) == 'table' then
      for key, inner in next, value do collect(inner, name .. '.' .. tostring(key)) end
      local meta = debug.getmetatable(value)
      if meta then collect(meta, name .. ' meta') end
    end
  end
  collect(_G, '_G')
  collect(package.loaded, 'loaded')
  collect(debug.getregistry(), 'registry')
  local shared = 0
  for value, name in pairs(reached) do
    if outside[value] then
      assert(harmless[value], ('%s is %s'):format(name, outside[value]))
      shared = shared + 1
    end
  end
  assert(shared > 30, 'the walk found only ' .. shared)
  -- The other accessible values: the words, the environment with its two metamethods, and the libraries' copies.
  for value, name in pairs(reached) do
    if type(value) == 'table' then
      assert(({ env = true, ['env.math'] = true, ['env.string'] = true, ['env.table'] = true,
        ['meta of env'] = true })[name] or name == 'methods', 'an unknown table: ' .. name)
    elseif not harmless[value] then
      assert(name:match '^env%.[%a_]+$' or name:match '^env%.string%.[gfmrlus]' or name == 'env.table.sort'
        or name == 'env.table.concat'
        or name == 'meta of env.__index',
        'an unknown function: ' .. name)
    end
  end
end)

test('names of the outside do not exist', function()
  for _, name in ipairs { '_G', 'os', 'io', 'debug', 'package', 'require', 'load', 'loadstring', 'loadfile', 'dofile',
    'getfenv', 'setfenv', 'getmetatable', 'setmetatable', 'rawget', 'rawset', 'rawequal', 'rawlen', 'newproxy',
    'collectgarbage', 'gcinfo', 'coroutine', 'pcall', 'xpcall', 'print', 'module', 'jit', 'ffi', 'bit', 'next', 'arg',
    'pd', 'help', '__index', '_VERSION', 'string2' } do
    refused("'" .. name .. "' is not a word", 'local x = ' .. name)
  end
  refused("attempt to call field 'dump'", 'string.dump(function() end)')
  refused("attempt to call", '(""):dump()')
  refused("attempt to call field 'random'", 'math.random()')
  refused('bracket_pair needs an integer from 1 on, got 0', 'bracket_pair(0)')
  refused('compiled Lua', string.dump(function() end))
  refused('compiled Lua', '\27LJ\2\2')
end)

test('changes of a file stay in the file', function()
  attack [[string.find, string.format, math.floor, table.concat = nil, nil, nil, nil
    string.rep, rule, name = error, error, error
    local s = ('x'):upper()
    math, table = nil, nil]]
  attack 'string = { find = 1 } pairs = nil error(string)'
  attack "error { message = ('x'):rep(10) }"
  attack 'error(nil)'
  attack 'error(rule)'
  test.equal(('abc'):find 'c', 3)
end)

test('loops end', function()
  refused('attack%.lua:1: the file takes more than 100000000 steps', 'while true do end')
  local before = pd.grammar.limits {}
  pd.grammar.limits { steps = 1e7 }
  for _, text in ipairs { 'while true do end', 'repeat until false', '::again:: goto again',
    'for i = 1, math.huge do end', 'local function f() return f() end f()',
    'local t = { 1, 2, 3 } table.sort(t, function() while true do end end)',
    "('x'):gsub('.', function() while true do end end)", "for c in ('x'):rep(1e6):gmatch '.' do while true do end end",
    'local i = 0 while true do i = i + 1 end', 'while true do local f = function() end end',
    "while true do local x = 'a' .. 'b' end", 'while true do local t = {} end' } do
    refused('attack%.lua:1: the file takes more than 10000000 steps', text)
  end
  pd.grammar.limits(before)
  refused('attack%.lua:3: the file takes', 'name "x"\n\nwhile true do end')
end)

test('searches that would not end are refused', function()
  local long = ("('a'):rep(3000)")
  for _, text in ipairs { long .. ":find(('a*'):rep(10) .. 'b')", long .. ":match('.-.-.-.-.-b')",
    long .. ":gsub(('a?'):rep(30) .. 'b', '')", "for x in " .. long .. ":gmatch('(.+)(.+)(.+)(.+)b') do end",
    'string.find(' .. long .. ", ('%a+'):rep(9) .. 'b')", "('a'):rep(1e6):find(('a'):rep(5e5) .. 'b', 1, true)",
    "('a'):find(('a'):rep(2000))", "('('):rep(5000):match(('%b()'):rep(9))" } do
    refused('steps', text)
  end
  test.equal(attack "local w = ('a b c'):match '^(%S+)%s+(%S+)' rule(\"S -> '\" .. w .. \"'\")", nil)
end)

test('work on long texts ends', function()
  for _, text in ipairs { "string.format('%s', a)", 'a:reverse()', 'a:upper()', 'a:lower()', 'a:sub(2)', "a:rep(2)",
    "a:gsub('^b', '')", 'tonumber(a)', 'table.concat { a, a }', "('x'):rep(1e5):gsub('x', ('a'):rep(100))" } do
    refused('attack%.lua:2: the file takes more than 100000000 steps',
      "local a = ('1'):rep(1e7)\nfor i = 1, 1e7 do local b = " .. text .. ' end')
  end
  refused('attack%.lua:1: the file takes more than 100000000 steps',
    "for i = 1, 1e7 do local n = select('#', unpack({}, 1, 7000)) end")
  test.equal(attack("assert(select('#', unpack({ 1, nil, 3 }, 1, 3)) == 3 and unpack({ 1, 2 }, 2) == 2) "
    .. "rule(\"S -> 'a'\")"), nil)
  -- A name of any length is one step, and its beginning is shown.
  test.linear(1e5, function(n)
    refused("'" .. ('n'):rep(100) .. '%.%.%.' .. "' is not a word", 'x = ' .. ('n'):rep(n))
  end)
  -- Operators are not functions. The time that they take counts.
  local before = pd.grammar.limits {}
  pd.grammar.limits { steps = 1e7 }
  for _, text in ipairs { "a .. ''", 'a < b' } do
    refused('attack%.lua:2: the file takes more than 10000000 steps',
      "local a = ('1'):rep(3e6) local b = a .. 'x' a = a .. 'w'\nfor i = 1, 1e7 do local c = " .. text .. ' end')
  end
  pd.grammar.limits(before)
  -- Misuse is reported at the line of the file.
  refused("attack.lua:2: bad argument #1 to 'concat' %(table expected, got no value%)", 'doc "x"\ntable.concat()')
  refused("attack.lua:2: bad argument #2 to 'rep'", 'doc "x"\nlocal s = ("x"):rep(nil)')
  refused("attack.lua:2: .*number expected, got string", 'doc "x"\nlocal s = ("%d"):format("x")')
end)

test('memory ends', function()
  for _, text in ipairs { "local s = ('x'):rep(1e9)", "local s = ('x'):rep(1e6):rep(1e3)",
    "local s = 'x' for i = 1, 40 do s = s .. s end", 'local t = {} for i = 1, 1e8 do t[i] = i end',
    'local t = {} while true do t = { t, t, t, t } end', "local t = {} for i = 1, 1e8 do t['k' .. i] = true end",
    "local t = {} for i = 1, 64 do t[i] = ('x'):rep(1e6) end local s = table.concat(t):rep(9)",
    "local s = ('x'):rep(3e7):gsub('x', 'yyyyyyyy')", "local s = ('\\0'):rep(3e7) s = ('%q'):format(s)",
    "for i = 1, 1e7 do rule('S -> \\'' .. ('a'):rep(100) .. i .. '\\'') end" } do
    refused('needs more than 64 MB', text)
  end
  refused('too many results', 'local t = { unpack({}, 1, 1e7) }')
  refused('steps', "while true do local s = ('x'):rep(1000) end")
end)

test('memory ends in a loop that would be compiled', function()
  local before = pd.grammar.limits {}
  -- Compiled code does not survive running out of memory, so it must not exist when memory may run out.
  jit.on()
  for megabytes = 0.5, 8, 0.25 do
    pd.grammar.limits { memory = megabytes * 2 ^ 20 }
    test.fails('needs more than', function() pd.pda.load('dyck_pda', { bracket_types = 65536 }) end)
  end
  test.equal(jit.status(), true)
  jit.off()
  refused('needs more than', 'for i = 1, 1e6 do rule("S -> \'" .. i .. "\'") end')
  test.equal(jit.status(), false)
  jit.on()
  pd.grammar.limits(before)
end)

test('depth ends', function()
  refused('stack overflow', 'local function f() return 1 + f() end f()')
  refused('stack overflow', "local function f(s) return (s:gsub('.', f)) end f 'x'")
  refused('stack overflow', 'local function f() table.sort({ 1, 2 }, f) end f()')
  refused('stack overflow', "local function f(s) table.sort({ 1, 2 }, function() ('x'):gsub('.', f) end) end f()")
  refused('chunk has too many syntax levels', 'local x = ' .. ('('):rep(1000) .. '1' .. (')'):rep(1000))
  refused('fewer than 64 nested tables', 'local t = 1 for i = 1, 100 do t = { t } end option("x", t, "doc")')
  refused('4 million values', 'local t = 1 for i = 1, 40 do t = { t, t } end option("x", t, "doc")')
  refused('attack%.lua:2: more than 1000 options', "doc 'x'\nfor i = 1, 1e5 do option('a' .. i, 1, 'd') end")
  refused('256 MB of text', "local s, t = ('x'):rep(1e6), {} for i = 1, 1e4 do t[i] = s end symbols(t)")
end)

test('the limits are those of the user', function()
  local before = pd.grammar.limits {}
  test.equal(before.steps, 1e8)
  test.equal(before.memory, 64 * 2 ^ 20)
  local loop = "for i = 1, 1e6 do end rule \"S -> 'a'\""
  test.equal(attack(loop), nil)
  pd.grammar.limits { steps = 1000 }
  refused('takes more than 1000 steps', loop)
  pd.grammar.limits { steps = 1e8, memory = 2 ^ 20 }
  refused('needs more than 1 MB', "local s = ('x'):rep(2e6)")
  pd.grammar.limits(before)
  test.fails('steps must be above 0', function() pd.grammar.limits { steps = 0 } end)
  test.fails("'step'", function() pd.grammar.limits { step = 1 } end)
  -- A file cannot reach them.
  refused("'pd' is not a word", 'pd.grammar.limits { steps = 1e15 }')
end)

test('only files are read', function()
  os.execute('mkfifo ' .. quoted(folder .. '/pipe.lua'))
  test.fails('is no file', function() pd.grammar.load(folder .. '/pipe.lua') end)
  os.execute('ln -s /dev/zero ' .. quoted(folder .. '/zero.txt'))
  test.fails('is no file', function() pd.grammar.load(folder .. '/zero.txt') end)
end)

test('listing runs nothing', function()
  local canary = folder .. '/canary'
  write('grammars/loop.lua', 'while true do end')
  write('grammars/machine.lua', 'transition "q, x --a--> r, pop"\nwhile true do end')
  write('grammars/pairs.lua', '-- transition "no"\nlocal s = [==[ transition ]==] .. "transition"\nsynchronous()')
  write('grammars/broken.lua', 'this is not Lua')
  local output = test.succeeds(run { '-e', [[
    print(table.concat(pd.grammar.list(), ' '))
    print(table.concat(pd.grammar.list 'synchronous', ' '))
    print(table.concat(pd.pda.list(), ' '))
    print(pcall(pd.grammar.load, 'dick'))]] })
  local lines = pd.tables.matches(output, '[^\n]+')
  assert(lines[1]:find 'broken' and lines[1]:find ' loop ' and not lines[1]:find 'machine', output)
  assert(lines[2]:find 'pairs' and not lines[2]:find 'loop', output)
  assert(lines[3]:find 'machine' and not lines[3]:find 'loop', output)
  assert(lines[4]:find "did you mean 'dyck'", output)
  test.equal(files.exists(canary), false)
  -- The kind that is found without running is correct: every file of the installation loads as its kind.
  for _, name in ipairs(pd.grammar.list()) do assert(tostring(pd.grammar.load(name)):find '^Grammar', name) end
  for _, name in ipairs(pd.grammar.list 'synchronous') do
    assert(tostring(pd.grammar.load(name)):find '^SynchronousGrammar', name)
  end
  for _, name in ipairs(pd.pda.list()) do assert(tostring(pd.pda.load(name)):find '^Pda', name) end
end)

test('hints run in the same sandbox', function()
  files.make_folder(folder .. '/hints/evil')
  write('hints/evil/loop.lua', 'bottom "x"\nwhile true do end')
  write('hints/evil/os.lua', 'os.exit(7)')
  test.ended(0, { 'loop.lua:2: the file takes more than', "'os' is not a word" }, run { '-e', [[
    for _, name in ipairs { 'loop', 'os' } do print(pcall(pd.pda.load, 'evil/' .. name)) end]] })
end)

local function trained(place)
  local g = pd.grammar.load 'dyck'
  local strings = g:sampler { lengths = { 4, 8 } }:dataset(20, { seed = 1 })
  local model = pd.model.language_model { alphabet = g:alphabet(), controller = { kind = 'elman', hidden = 4 },
    seed = 1 }
  local trainer = pd.train.trainer { model = model, train = strings, epochs = 2, run_folder = place, seed = 1,
    progress = false }
  for _ in trainer:epochs() do end
end

test('run folders are read, never run', function()
  local place = folder .. '/run'
  trained(place)
  local canary = folder .. '/canary'
  local evil = ("io.open(%q, 'w'):write 'ran' os.execute('touch %s')"):format(canary, canary)
  files.make_folder(place .. '/definitions')
  for _, name in ipairs { 'definitions/stack.evil.lua', 'definitions/controller.elman.lua', 'init.lua',
    'pushdown.lua', 'data/train.lua', 'checkpoints/last.lua', 'experiment.lua', 'definitions/objective.evil.lua',
    'ffi.lua', 'bit.lua' } do
    files.write(place .. '/' .. name, evil)
  end
  local config = files.read(place .. '/config.json')
  files.write(place .. '/config.json', (config:gsub('^{', '{"definitions": [{"registry": "stack", "name": "evil", '
    .. '"source": ' .. ('%q'):format(evil):gsub('\\\n', '\\n') .. '}],', 1)))
  local output = run { '-e', ([[
    for _, f in ipairs { function() return pd.train.resume('run', { epochs = 3, progress = false }) end,
      function() return pd.model.load 'run' end, function() return pd.model.load 'run/checkpoints/last.safetensors' end,
      function() return pd.task.load_dataset 'run/data/train.txt' end } do
      local ok, found = pcall(f)
      print(ok, found)
      if ok and tostring(found):find '^Trainer' then for _ in found:epochs() do end end
    end]]) }
  assert(output:find('true', 1, true), output)
  run { 'report', 'run', '-o', 'page.html' }
  os.execute(('cd %s && PUSHDOWN_REGISTRY=off timeout %d %s report . -o ../page.html > /dev/null 2>&1'):format(
    quoted(place), test.patience, quoted(shell)))
  test.equal(files.exists(canary), false)
end)

test('files without end in a run folder are refused', function()
  local plain, strange = folder .. '/plain', folder .. '/strange'
  trained(plain)
  local function page(place)
    return require 'pushdown.report'.page { runs = { place }, path = folder .. '/page.html' }
  end
  local function is_refused(action, name, make, words)
    os.execute(('rm -rf %s && cp -r %s %s && cd %s && rm -f %s && %s %s'):format(quoted(strange), quoted(plain),
      quoted(strange), quoted(strange), name, make, name))
    local _, said = pcall(action, strange)
    assert(tostring(said):find(words, 1, true), name .. ': ' .. tostring(said))
  end
  for name, action in pairs { ['config.json'] = pd.train.resume, ['data/train.txt'] = pd.train.resume,
    ['checkpoints/last.safetensors'] = pd.train.resume, ['checkpoints/best.safetensors'] = pd.model.load } do
    is_refused(action, name, 'mkfifo', 'it is a pipe or a device, not a regular file')
    is_refused(action, name, 'ln -s /dev/zero', 'it is a pipe or a device, not a regular file')
    is_refused(action, name, 'truncate -s 4T', 'TB of memory')
  end
  is_refused(page, 'metrics.jsonl', 'mkfifo', 'there is no run')
  is_refused(page, 'metrics.jsonl', 'truncate -s 4T', 'metrics.jsonl is longer than 16 MB')
  is_refused(page, 'provenance.json', 'mkfifo', 'page.html: 1 run')
  -- A page has a row for each epoch that exists, not for each number up to the last one.
  is_refused(page, 'metrics.jsonl', [[echo '{"event":"epoch","epoch":1e15,"loss":1}' >]], 'page.html: 1 run')
end)

test.finish()
