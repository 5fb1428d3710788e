-- Sizes that no machine can hold, full disks, and programs started without their standard streams.
-- label: long
local pd = require 'pushdown'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local test = require 'pushdown.test'
local run = test.command

local shell = test.program
local top = test.folder()
local quoted = files.quoted

local grammar = pd.grammar.load 'marked_reversal'
local function model(controller, stack)
  return pd.model.language_model { alphabet = grammar:alphabet(), seed = 1, controller = controller, stack = stack }
end

test('too large objects are refused before they are allocated, with both numbers', function()
  local too_much = '%[[%w.]+%] [^\n]* needs [%d.]+ [GTPE]?B of memory, [%d.]+ [kMGT]?B are available'
  local large = model({ kind = 'elman', hidden = 4 }, { kind = 'nondeterministic', states = 3, symbols = 3 })
  for _, action in ipairs {
    function() model { kind = 'lstm', hidden = 2 ^ 20 } end,
    function() model({ kind = 'elman', hidden = 2 ^ 20 }, { kind = 'superposition', size = 2 ^ 16 }) end,
    function() pd.tensor.zeros { 1e6, 1e6 } end,
    function() large:log_probability(('0 '):rep(1e5)) end,
    function() grammar:log_probability(('0 '):rep(1e7)) end,
    function() grammar:sampler { lengths = { 2e9, 2e9 } } end,
    function() grammar:sampler { lengths = { 3, 5 } }:dataset(1e12, { seed = 1 }) end,
  } do
    test.fails(too_much, action)
  end
end)

test('an automaton of too many transitions is refused before it is made', function()
  local lines = { '%bottom _', 'q, _ --a--> q, push _' }
  for i = 1, 5000 do lines[#lines + 1] = ('q, s%d --t%d--> q, pop'):format(i, i) end
  lines[#lines + 1] = 'q, x --y--> q, push z for all x, y, z'
  test.fails('an automaton of 125075020002 transitions needs [%d.]+ TB of memory, '
    .. '[%d.]+ [kMGT]?B are available', function()
    pd.pda.parse(table.concat(lines, '\n'))
  end)
end)

test('large grammars and automata are read and written in linear time', function()
  test.linear(10000, function(n)
    local rules = {}
    for i = 1, n do rules[i] = { text = ("S -> 'a%d'"):format(i), weight = 1 } end
    local large = pd.grammar.build { rules = rules }
    test.equal(pd.grammar.parse(large:text()):text(), large:text())
  end)
  test.equal(#pd.pda.load('dyck_pda', { bracket_types = 400 }):transitions(), 400 * 403)
end)

test('tables of many names are read in linear time', function()
  local path = top .. '/names.safetensors'
  test.linear(10000, function(n)
    local entries = {}
    for i = 1, n do entries[i] = ('"k%d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}'):format(i) end
    local header = '{' .. table.concat(entries, ',') .. '}'
    local bytes, length = {}, #header
    for i = 1, 8 do bytes[i], length = string.char(length % 256), math.floor(length / 256) end
    files.write(path, table.concat(bytes) .. header)
    test.equal(pd.tensor.load(path)['k' .. n]:numel(), 0)
  end)
  test.linear(10000, function(n)
    local given = { alphabet = { 'a' } }
    for i = 1, n do given['k' .. i] = i end
    test.fails("unknown option 'k1'", function() pd.model.language_model(given) end)
  end)
  test.linear(10000, function(n)
    local record, options = top .. '/many', {}
    for i = 1, n do options[i] = ('"k%d":%d'):format(i, i) end
    files.make_folder(record)
    files.write(record .. '/run.json', '{"options":{' .. table.concat(options, ',') .. '}}')
    test.equal(pd.registry.record(record).options['k' .. n], n)
  end)
end)

-- A sanitizer reserves more than any limit.
local sanitized = files.read '/proc/self/maps':find 'lib[at]san' ~= nil

test('a small stack is raised or refused', function()
  local code = quoted [[local g = pd.grammar.load 'dyck'
    print(g:log_probability '( )' < 0, pd.stack.simulate ~= nil) io.stdout:flush()]]
  test.ended(0, 'true\ttrue\n', run(('ulimit -S -s 64 && %s --threads 2 -e %s'):format(quoted(shell), code)))
  local output = test.ended(1, {}, run(('ulimit -s 64 && %s -e %s'):format(quoted(shell), code)))
  test.equal(output, "error: [stack] the limit of the stack is too small: expected at least 1024 kB, got 64 kB; start "
    .. "the program after 'ulimit -s 8192'\n")
end)

test('a memory into which the module does not fit is named', function()
  if sanitized then return end
  for megabytes = 100, 220, 60 do
    local output, status = run(('ulimit -v %d; %s --threads 1 -e "print(pd.version)" < /dev/null'):format(
      megabytes * 1000, quoted(shell)))
    assert(status == 1 and output:find '^error: ' and (output:find 'not enough memory' or output:find 'failed to map'),
      output)
  end
end)

test('threads that the system refuses are named before a library waits for them', function()
  if sanitized or not files.read '/proc/cpuinfo':find 'processor.*processor' then return end
  -- A thread gets a stack of this size, for which there is no room.
  for _, words in ipairs { '-e "print(pd.version)"', '-i -e "print(pd.version)"' } do
    local output = run(('ulimit -s 7000000 && ulimit -v 6000000 && timeout %d %s --threads 1 %s < /dev/null'):format(
      test.patience, quoted(shell), words))
    assert(output:find('[threads] cannot start ', 1, true) and output:find('(ulimit -u)', 1, true)
      and not output:find 'interrupted', output)
  end
end)

test('a path with a byte 0 is refused, not cut', function()
  files.write(top .. '/a', 'kept')
  local path = top .. '/a\0B'
  local s = grammar:sampler { lengths = { 3, 3 } }
  local data = s:dataset(1, { seed = 1 })
  local m = model({ kind = 'elman', hidden = 2 })
  local file = pd.file
  for _, action in ipairs { function(p) file.write(p, 'x') end, file.read, file.can_read, file.writer, file.kind,
    file.real_path, file.list, file.files, file.make_folder, file.contents, file.keep_written_list,
    file.note_written, file.written_list,
    file.remove_folder, file.sha256, file.repository, pd.process.lock, pd.process.locked, pd.registry.open,
    pd.registry.record, pd.tensor.load, pd.train.resume, pd.model.load, pd.task.corpus, pd.task.load_dataset,
    pd.task.load_sentences, pd.tree.read, pd.grammar.load, pd.grammar.describe, pd.pda.load, pd.pda.describe } do
    test.fails('expected a path, got a text with byte 0x00 at position', function() action(path) end)
  end
  for _, object in ipairs { m, data, grammar, pd.pda.load 'dyck_pda' } do
    test.fails('expected a path, got a text with byte 0x00', function() object:save(path) end)
  end
  test.fails("option 'run_folder' must be a path, got a text with byte 0x00",
    pd.train.trainer, { model = m, train = data, valid = data, epochs = 1, run_folder = path })
  test.fails("option 'output' must be a path", function()
    pd.process.pool():start { command = { 'true' }, output = path }
  end)
  test.fails("a word of the command must not contain the byte 0, got 'a' before it", function()
    pd.process.pool():start { command = { 'true', 'a\0b' } }
  end)
  test.equal(files.read(top .. '/a'), 'kept')
end)

test('paths that the system refuses are named', function()
  local long = ('n'):rep(300)
  for _, action in ipairs { pd.train.resume, pd.model.load, pd.process.lock, pd.task.corpus } do
    test.fails("%] cannot use '" .. long .. "': File name too long", function() action(long) end)
  end
end)

test('the sizes of stacks are bounded', function()
  for _, kind in ipairs { 'superposition', 'stratification', 'vector_nondeterministic' } do
    test.fails("option 'size' must be between 1 and 65536",
      model, { kind = 'elman', hidden = 4 }, { kind = kind, size = 2 ^ 31 })
  end
end)

-- Each of these files has at most 512 bytes, as on a full disk.
local function on_full_disk(text)
  return run(("ulimit -f 1; %s -e %s"):format(quoted(shell), quoted(text)))
end

test('a short file on a full disk is an error and leaves the one before', function()
  local path = top .. '/result.json'
  files.write(path, 'before')
  local write = ("require 'pushdown.files'.write('%s', ('x'):rep(%d))")
  test.ended(1, { ("cannot write '%s'"):format(path), 'File too large' }, on_full_disk(write:format(path, 1500)))
  test.equal(files.read(path), 'before')
  test.equal(#files.find(top, '%.tmp$'), 0)
  test.equal(select(2, on_full_disk(write:format(path, 100))), 0)
  test.equal(files.read(path), ('x'):rep(100))
end)

test('output without standard streams does not go into files', function()
  files.write(top .. '/train.lua', [[
    io.stdout:setvbuf 'no'
    local grammar = pd.grammar.load 'marked_reversal'
    local model = pd.model.language_model { alphabet = grammar:alphabet(), seed = 1,
      controller = { kind = 'elman', hidden = 2 } }
    local trainer = pd.train.trainer { model = model, epochs = 2, seed = 1, run_folder = arg[1], log_every = 1,
      train = grammar:sampler { lengths = { 3, 5 } }:dataset(20, { seed = 1 }) }
    for _ in trainer:epochs() do
      pcall(print, 'printed')
      io.stderr:write 'complained'
    end]])
  for i, closed in ipairs { '<&- >&- 2>&-', '>&- 2>&-', '>&-', '2>&-', '<&- 2>&-' } do
    local folder = ('%s/run-%d'):format(top, i)
    run(('%s %s %s %s'):format(quoted(shell), quoted(top .. '/train.lua'), quoted(folder), closed))
    local lines = 0
    for line in files.read(folder .. '/metrics.jsonl'):gmatch '[^\n]+' do
      json.decode(line)
      lines = lines + 1
    end
    assert(lines > 2, lines)
    for _, name in ipairs(files.find(folder, '')) do
      local text = files.read(folder .. '/' .. name)
      if name ~= 'log.txt' then assert(not text:find 'epoch 1:', name .. closed) end
      -- The copy of the script contains its output.
      assert(name:find '^inputs/' or not text:find('printed', 1, true) and not text:find('complained', 1, true),
        name .. closed)
    end
  end
end)

test.finish()
