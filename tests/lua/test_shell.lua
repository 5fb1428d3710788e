-- The program `pushdown`: its command line, exit statuses, scripts, streams and signals.
-- label: long
local pd = require 'pushdown'
local files = require 'pushdown.files'
local program = dofile(pd.root .. '/tests/lua/shell_program.lua')
local test = require 'pushdown.test'

local shell, folder, quoted, run, write = test.program, program.folder, files.quoted, program.run, program.write

-- Fails unless the program prints this and no errors, and ends with status 0.
local function prints(expected, words, input)
  local out, err, status = run(words, input)
  test.equal(out, expected)
  test.equal(err, '')
  test.equal(status, 0)
end

-- Fails unless the program ends with status 1, with this text in its errors. Returns its output and its errors.
local function fails(text, words, input)
  local out, err, status = run(words, input)
  test.has(err, text)
  test.equal(status, 1)
  return out, err
end

-- Whether this program has the sanitizer lib`name`.
local function sanitized(name) return files.read '/proc/self/maps':find('lib' .. name, 1, true) ~= nil end

test('version and help', function()
  -- Then the CUDA support of the build, and the devices; also together with other options.
  local version = 'pushdown ' .. pd.version .. '\n' .. pd.device.text()
  prints(version, { '--version' })
  prints(version, { '--device', 'cuda:77', '--version', '-e', 'print(1)' })
  local out, err, status = run { '--help' }
  test.equal(status, 0)
  test.equal(err, '')
  for _, option in ipairs { '-e', '-l', '-i', '-j', '--device', '--threads', '--seed', '--log-level',
    '--exit-with-parent', 'pushdown runs COMMAND', 'pushdown pipe' } do
    assert(out:find(option, 1, true), option .. ' in\n' .. out)
  end
  test.equal(pd.version, '0.2.0')
end)

test('a file comes after texts', function()
  local path = os.tmpname()
  files.write(path, 'print(x + y, ...)')
  test.equal(run { '-e', 'x = 1', '-e', 'y = 2', path, 'a' }, '3\ta\n')
  os.remove(path)
end)

test('a value follows its option or is a part of the word, and -- ends the options', function()
  local path = write('options.lua', 'print(x, pd.session().threads, ...)')
  test.equal(run { '--threads=2', '-ex = 1', '--', path, '--threads', '3' }, '1\t2\t--threads\t3\n')
  test.equal(run { '-h' }, run { '--help' })
end)

test('wrong usage exits with 2 and a message', function()
  local function usage(...)
    local out, err, status = run { ... }
    test.equal(status, 2)
    test.equal(out, '')
    return err
  end
  assert(usage('--nonsense'):find('--nonsense', 1, true))
  assert(usage('-x'):find('-x', 1, true))
  assert(usage('--threads', 'many'):find('threads', 1, true))
  assert(usage('--threads', '0'):find('threads', 1, true))
  assert(usage('--seed', '1.5'):find('seed', 1, true))
  assert(usage('--seed', '-1'):find('seed', 1, true))
  -- Digits have been lost there.
  assert(usage('--seed', '2.0893350061361e+15'):find('with all its digits', 1, true))
  assert(usage('--seed', '9007199254740993'):find('2^53', 1, true))
  assert(usage('--device', 'gpu'):find("must be cpu, cuda or cuda:n, got 'gpu'", 1, true))
  assert(usage('--device', 'cuda:'):find('cuda:n', 1, true))
  assert(usage('--log-level', 'loud'):find('log-level', 1, true))
  assert(usage('-j', 'maybe'):find('on', 1, true))
  assert(usage('-e'):find('option -e needs a value, TEXT', 1, true))
  assert(usage('--version=3'):find("option --version takes no value, got '--version=3'", 1, true))
  assert(usage('--exit-with-parent', '1x'):find("must be the number of a process, got '1x'", 1, true))
  assert(usage('kernel', 'instal'):find("unknown command 'instal', did you mean 'install'?", 1, true))
  fails(("there is no script 'rnus' here and none in %s; did you mean the command 'runs'?"):format(pd.scripts),
    { 'rnus' })
end)

test('a missing device has its own message', function()
  local _, err = fails("'cuda:77' was requested", { '--device', 'cuda:77', '-e', 'print(1)' })
  -- Finds out which reason applies.
  local build = pd.device.status()
  if not build.torch_cuda then
    assert(err:find('LibTorch ' .. build.torch .. ' of this build has no CUDA', 1, true), err)
    test.equal(err:find('this build has no CUDA kernels', 1, true) == nil, build.cuda_kernels)
  elseif not build.cuda_tensors then
    assert(err:find('no CUDA driver or no device', 1, true), err)
  else
    assert(err:find(('%d CUDA device'):format(build.cuda_devices), 1, true), err)
  end
end)

test('-e runs text, several in order', function()
  prints('2\t0.2.0\n', { '-e', 'x = 1', '-e', 'print(x + 1, pd.version)' })
  local out, err = fails('broken', { '-e', 'print(1)', '-e', 'error("broken")', '-e', 'print(2)' })
  test.equal(out .. err, '1\nerror: -e:1: broken\n')
end)

test('the session has the options of the command line', function()
  local out = run { '--threads', '3', '--seed', '17', '--log-level', 'error', '--device', 'cpu', '-e',
    'local s = pd.session() print(s.threads, s.seed, s.log_level, s.device) pd.log.warn("hidden")' }
  test.equal(out, '3\t17\terror\tcpu\n')
  local draw = 'print(pd.tensor.randn(3):to_table()[1])'
  -- A seed that is printed is the seed.
  test.equal(run { '--seed', '2089335006136112', '-e',
    'print(pd.session().seed) print(-2 ^ 53, 1e14, 1e13, 2 ^ 60, 0.1)' },
    '2089335006136112\n-9007199254740992\t100000000000000\t10000000000000\t1.1529215046068e+18\t0.1\n')
  test.fails('value expected', tostring)
  for _ = 1, 5 do
    local drawn = run { '-e', 'io.write(pd.session().stream_seed)' }
    assert(drawn:find '^%d+$', drawn)
  end
  local first, second = run { '--seed', '5', '-e', draw }, run { '--seed', '5', '-e', draw }
  test.equal(first, second)
  assert(first ~= run { '--seed', '6', '-e', draw })
end)

test('scripts get their arguments, whatever these look like', function()
  local path = write('arguments.lua', [[
print(arg[0] == ..., select('#', ...))
print(#arg, arg[1], arg[2], arg[3], arg[-1] ~= nil)
print(select(2, ...))
]])
  prints('false\t3\n3\t--seed\t-x\ta b\ttrue\n-x\ta b\n', { '--seed', '1', path, '--seed', '-x', 'a b' })
end)

test('a script comes from standard input with -', function()
  prints('one\tone\t-\n', { '-', 'one' }, 'print(..., arg[1], arg[0])')
end)

test('os.exit sets the status and keeps the output', function()
  for text, expected in pairs { ['os.exit(7)'] = 7, ['os.exit(true)'] = 0, ['os.exit(false)'] = 1,
    ['os.exit()'] = 0 } do
    local out, _, status = run { '-e', 'io.write("kept") ' .. text }
    test.equal(out, 'kept')
    test.equal(status, expected)
  end
end)

test('-i gives the prompt after the file, with its globals', function()
  local path = write('made.lua', 'made = 41')
  prints('42\nnil\n', { '-i', path }, 'made + 1\nmade = nil\nmade\n')
  -- The prompt starts after the error, so that the user can inspect the state.
  local broken = write('broken.lua', 'before = 5\nerror("half way")')
  local out, err = run({ '-i', broken }, 'before\n')
  test.equal(out, '5\n')
  assert(err:find('broken.lua:2: half way', 1, true), err)
end)

test('-l requires a module and makes it a global', function()
  write('mymodule.lua', 'return { answer = 42 }')
  prints('42\n', { '-e', ('package.path = %q'):format(folder .. '/?.lua'), '-e', 'print(require("mymodule").answer)' })
  prints('table\n', { '-l', 'pushdown.json', '-e', 'print(type(json))' })
  test.equal(fails("module 'no.such.module' not found", { '-l', 'no.such.module', '-e', 'print(1)' }), '')
end)

test('errors name the file and line, with the calls that led there', function()
  local path = write('deep.lua', [[
local function inner() return pd.tensor.zeros('x') + 1 end
local function outer()
  local t = inner()
  return t
end
local r = outer()
]])
  local out, err = fails('deep.lua:1: [pd.tensor.zeros] argument 1 (shape): expected an integer or a list', { path })
  test.equal(out, '')
  test.has(err, 'usage: zeros(shape', 'deep.lua:3 in function', 'deep.lua:6 in the main chunk')
  test.lacks(err, '[C]', '\27')
end)

test('a call that the library refuses shows the lines of the user, not those of the library', function()
  local path = write('refused.lua', [[
local function draw()
  local picture = pd.plot.lines {}
  return picture
end
local picture = draw()
print(picture)
]])
  local _, err = fails("[plot.lines] option 'series' (the lines) is missing", { path })
  test.has(err, 'refused.lua:2 in function', 'refused.lua:5 in the main chunk')
  test.lacks(err, 'scripts/lib')
  _, err = run({}, ':run nothing/here\n')
  test.equal(err, ("error: :run: there is no script 'nothing/here' here and none in %s\n"):format(pd.scripts))
end)

test('a file that cannot be run is reported in one line', function()
  for text, path in pairs { ['syntax.lua:3: '] = write('syntax.lua', 'local x = \n\nfor for'),
    ["there is no script '" .. folder .. "/absent.lua'"] = folder .. '/absent.lua', ['Is a directory'] = folder,
    ['latin1.lua:2: the text is not UTF-8 (byte 0xe9 at position 6 of the line)'] =
      write('latin1.lua', '-- fine\nx = "\xe9t\xe9"'),
    ['compiled Lua'] = write('bytecode.lua', string.dump(function() end)),
    ['{reason = 3}'] = write('table.lua', 'error({ reason = 3 })') } do
    local out, err = fails(text, { path })
    test.equal(out, '')
    test.equal(select(2, err:gsub('\n', '')), 1)
  end
end)

test('a first line with #! and a byte order mark are skipped', function()
  fails('script:2: second', { write('script', '#!/usr/bin/env pushdown\nerror("second")') })
  prints('bom\n', { write('bom.lua', '\xEF\xBB\xBFprint("bom")') })
end)

test('undeclared globals are errors in files', function()
  fails("globals.lua:2: undeclared global 'undeclared_name' is read",
    { write('globals.lua', 'local a = 1\nprint(undeclared_name)') })
  fails("globals.lua:1: undeclared global 'sneaky' is assigned in a function",
    { write('globals.lua', 'local function f() sneaky = 1 end\nf()') })
  prints('', { write('globals.lua', [[
declared = nil
count = 0
local function f() count = count + 1 end
f()
assert(count == 1 and rawget(_G, 'absent') == nil)
]]) })
end)

-- The program is quick to start because it loads little.
test('the program loads the module when it is used, and no library that LibTorch does not call', function()
  local function loaded(text)
    local pipe = io.popen(quoted(shell) .. ' -e ' .. quoted(text .. [[ for line in io.lines '/proc/self/maps' do
      print(line:match '(/.*)$' or '')
    end]]))
    local output = pipe:read '*a'
    pipe:close()
    return output
  end
  local output = loaded ''
  assert(output:find('/pushdown\n', 1, true) and not output:find('libtorch', 1, true), output)
  output = loaded 'local _ = pd'
  assert(output:find('libtorch', 1, true), output)
  for path in output:gmatch '[^\n]*/libopencv[^\n]*' do assert(path:find('/torch-stubs/', 1, true), path) end
end)

test('the module loads in a plain LuaJIT', function()
  if sanitized 'asan' or sanitized 'tsan' then return end -- a sanitized module needs a sanitized program
  local build = shell:match('^(.*)/[^/]*$')
  local module = io.open(build .. '/pushdown.so') and build .. '/?.so' or build .. '/../lib/pushdown/?.so'
  local text = ("package.cpath = %q local pd = require 'pushdown' print(pd.version, require 'pushdown.json' ~= nil, "
    .. "pd.json == require 'pushdown.json', #pd.stack.kinds() > 0, "
    .. "(pd.tensor({ 1e-30 }, { dtype = 'float32' }) * 1e-10):to_table()[1] == 0, tonumber '1e-300' * 1e-15 > 0)")
    :format(module)
  local pipe = assert(io.popen('luajit -e ' .. quoted(text) .. ' 2>&1'))
  local out = pipe:read('*a')
  pipe:close()
  -- The last two: denormal numbers are zero inside the module, and numbers outside of it.
  test.equal(out, '0.2.0\ttrue\ttrue\ttrue\ttrue\ttrue\n')
end)

test('standard output that cannot be written is an error', function()
  local function status_of(redirection, text)
    local errors = folder .. '/stderr'
    local pipe = io.popen(('%s -e %s 2> %s %s; echo "exit $?"'):format(quoted(shell), quoted(text), quoted(errors),
      redirection))
    local status = pipe:read('*a'):match 'exit (%d+)'
    pipe:close()
    return tonumber(status), files.read(errors)
  end
  local status, err = status_of('> /dev/full', "print 'x'")
  test.equal(status, 1)
  assert(err:find('standard output could not be written: No space left on device', 1, true), err)
  status, err = status_of('>&-', "print 'x'")
  test.equal(status, 1)
  assert(err:find('standard output could not be written', 1, true), err)
  -- An opened file does not replace a closed stream.
  local path = folder .. '/first'
  status = status_of('<&- >&-', ("local f = io.open(%q, 'w') print 'printed' f:write 'written' f:close()"):format(path))
  test.equal(status, 1)
  test.equal(files.read(path), 'written')
  test.equal(status_of('>&-', 'local x = 1'), 0)
  test.equal(status_of('> /dev/full', "print 'x' os.exit(5)"), 5)
end)

test('a closed reader ends the program quietly', function()
  local errors = folder .. '/stderr'
  local pipe = io.popen(('( %s -e %s 2> %s; echo $? > %s/status ) | head -n 1'):format(quoted(shell),
    quoted 'for i = 1, 1e9 do print(i) end', quoted(errors), quoted(folder)))
  test.equal(pipe:read '*a', '1\n')
  pipe:close()
  test.equal(tonumber(files.read(folder .. '/status')), 128 + 13)
  test.equal(files.read(errors), '')
end)

test('SIGTERM and SIGHUP end a training with a checkpoint, like Ctrl-C', function()
  if sanitized 'tsan' then return end -- it delays signals in loops without calls of the C library
  local script = write('train.lua', [[
    local pd = require 'pushdown'
    local g = pd.grammar.load 'marked_reversal'
    local data = g:sampler { lengths = { 5, 9 } }:dataset(4000, { seed = 1 })
    local t = pd.train.trainer { train = data, epochs = 1000, seed = 1, run_folder = arg[1], progress = false,
      log_every = 1, checkpoint_seconds = 1e6, model = pd.model.language_model { alphabet = g:alphabet(), seed = 1 } }
    for _ in t:epochs() do end]])
  local pool = pd.process.pool()
  for name, wanted in pairs { TERM = 143, HUP = 129, INT = 130 } do
    local place = folder .. '/run-' .. name
    local process = pool:start { command = { shell, '--threads', '1', script, place }, output = place .. '.log',
      environment = { PUSHDOWN_REGISTRY = 'off' } }
    local last = place .. '/checkpoints/last.safetensors'
    while not files.exists(last) and not process:poll() do pool:wait(0.05) end
    local first, metrics = files.read(last), place .. '/metrics.jsonl'
    local function trains() return files.exists(metrics) and files.read(metrics) ~= '' end
    while not trains() and not process:poll() do pool:wait(0.05) end
    os.execute(('kill -%s %d'):format(name, process:pid()))
    while not process:poll() do pool:wait(1) end
    test.equal(process:poll().code, wanted)
    assert(files.read(last) ~= first, name .. ' wrote no checkpoint')
    assert(pd.train.resume(place, { progress = false }):updates() > 0)
  end
  -- Under nohup SIGHUP stays ignored.
  local ready = folder .. '/ready'
  local process = pool:start { command = { '/usr/bin/nohup', shell, '-j', 'off', '-e',
    ("io.open(%q, 'w'):close() while true do os.time() end"):format(ready) } }
  test.wait_until('it runs', function() return files.exists(ready) end)
  os.execute(('kill -HUP %d; sleep 0.5'):format(process:pid()))
  test.equal(process:poll(), nil)
  process:signal 'terminate'
  while not process:poll() do pool:wait(1) end
  test.equal(process:poll().code, 143)
end)

test.finish()
