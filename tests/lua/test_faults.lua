-- Makes file calls fail, one after another: no failure may leave a training, a grid, an export, a report or a token
-- file in a state whose continuation gives other numbers. Without an argument the test tries a few calls, with a number
-- this many of each kind, spread over all, and with 'all' every one. A job and a kind of failure may follow.
-- tests/faults/inject.cpp makes the failures.
-- label: long
-- slow: all
local pd = require 'pushdown'
local files = require 'pushdown.files'
local test = require 'pushdown.test'
local run = test.command

local shell = test.program
local inject = assert(os.getenv('PUSHDOWN_BUILD_DIR'), 'PUSHDOWN_BUILD_DIR is the build folder') .. '/inject'
local all, so_many = arg[1] == 'all', tonumber(arg[1])
local only, only_kind = arg[2], arg[3]

local top = test.folder()
local quoted = files.quoted

files.make_folder(top .. '/probe')
local said, able = run(('%s --root %s/probe -- true'):format(quoted(inject), quoted(top)))
if able == 77 then test.skip(said) end

-- The C library reports missing memory if a pipe cannot start a process.
local reasons = { ENOSPC = { 'No space left on device' }, EIO = { 'Input/output error' },
  EMFILE = { 'Too many open files' }, EACCES = { 'Permission denied' },
  fork = { 'Resource temporarily unavailable', '] cannot [^\n]*: Cannot allocate memory',
    'no process can be started' } }
local of_sqlite = { 'disk I/O error', 'database or disk is full', 'unable to open database file',
  'attempt to write a readonly database' }

-- The jobs, as scripts. A script gets its folder, begins or resumes the job, and prints the results in lines that begin
-- with 'OUT'.
local scripts = {}

scripts.training = [[
local files = require 'pushdown.files'
local folder = arg[1] .. '/run'
local grammar = pd.grammar.load 'marked_reversal'
local sampler = grammar:sampler { lengths = { 3, 7 } }
local t
if files.exists(folder .. '/checkpoints/last.safetensors') then
  t = pd.train.resume(folder, { progress = false })
else
  local model = pd.model.language_model { alphabet = grammar:alphabet(), seed = 3,
    controller = { kind = 'lstm', hidden = 3 }, stack = { kind = 'superposition', size = 2 } }
  t = pd.train.trainer { model = model, train = sampler:dataset(16, { seed = 1 }),
    valid = sampler:dataset(8, { seed = 2 }), batch = 4, epochs = 2, seed = 1, run_folder = folder,
    checkpoint_every = 3, log_every = 1, progress = false }
end
for _ in t:epochs() do end
for _, which in ipairs { 'best', 'last' } do
  local names, parameters = {}, pd.model.load(folder, { which = which }):parameters()
  for name in pairs(parameters) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local text = {}
    for i, number in ipairs(parameters[name]:reshape { -1 }:to_table()) do text[i] = ('%.17g'):format(number) end
    print('OUT', which, name, table.concat(text, ' '))
  end
end
for line in files.read(folder .. '/metrics.jsonl'):gmatch '[^\n]+' do
  print('OUT', (line:gsub('"seconds":[^,}]*,', ''):gsub('"updates_per_second":[^,}]*,', '')))
end
for _, name in ipairs { 'train', 'valid' } do
  print('OUT', (files.read(('%s/data/%s.txt'):format(folder, name)):gsub('\n', ' ')))
end
]]

scripts.tokens = [[
local files = require 'pushdown.files'
files.write(arg[1] .. '/../text.txt', ('the cat sat\non the mat\nthe dog ran\n'):rep(40))
local parts = pd.task.sentences(arg[1] .. '/../text.txt', { folder = arg[1] .. '/parts', seed = 3 })
for _, name in ipairs { 'train', 'test' } do
  print('OUT', name, parts[name]:size())
  for i = 1, parts[name]:size() do print('OUT', parts[name]:sentence(i)) end
end
]]

scripts.grid = [[
local files = require 'pushdown.files'
local grid = require 'pushdown.grid'
files.write(arg[1] .. '/../toy.lua', [=[
local experiment = require 'pushdown.experiment'
local options, run = experiment.start { name = 'toy', doc = 'Trains nothing.', options = {
  { 'rate', 0.1, 'a number', type = 'number' }, { 'seed', 1, 'seed' }, { 'restart', 1, 'restart' } }, quick = {} }
run:finish { loss = options.rate, seed = options.seed, seconds = 0.25 }
]=])
local rows = grid.run { name = 'test/faults', script = arg[1] .. '/../toy.lua', folder = arg[1] .. '/runs',
  points = { { rate = 0.1 }, { rate = 0.2 } }, workers = 1 }
for _, row in ipairs(rows) do
  print('OUT', row.point, row.restart, row.seed, row.status, row.result and row.result.loss)
  if row.status ~= 'done' then io.stderr:write(row.message or '?', '\n') end
end
if rows.failed > 0 then os.exit(1) end
]]

-- Jobs with existing runs.
local made = dofile(pd.root .. '/tests/lua/recorded_runs.lua').new()
for restart = 1, 2 do
  made:add { name = 'g/rate=1/restart-' .. restart, grid = 'g', point = 'rate=1', restart = restart, seed = 7,
    options = { rate = 1 }, epochs = { { cross_entropy = 1.5 }, { cross_entropy = 1.25 } },
    result = { loss = restart } }
end

local function script(name)
  local path = ('%s/%s.lua'):format(top, name)
  files.write(path, scripts[name])
  return function(folder)
    local registry = name == 'grid' and folder .. '/registry.sqlite' or 'off'
    return ('env PUSHDOWN_REGISTRY=%s %s --threads 1 %s %s'):format(quoted(registry), quoted(shell), quoted(path),
      quoted(folder))
  end
end

-- name, command line for a folder, and the file with the result if the job prints none.
local jobs = {
  { 'tokens', script 'tokens' },
  { 'export', function(folder)
    return ('%s runs export --registry %s --history -o %s'):format(quoted(shell), quoted(made.file),
      quoted(folder .. '/runs.json'))
  end, 'runs.json' },
  { 'report', function(folder)
    return ('%s report --registry %s --grid g -o %s'):format(quoted(shell), quoted(made.file),
      quoted(folder .. '/page.html'))
  end, 'page.html' },
  { 'training', script 'training' },
  { 'grid', script 'grid' },
}

-- The calls of the list that each kind of failure applies to: those that can fail in this way.
local places = { ENOSPC = 'open write pwrite writev fsync fdatasync rename mkdir ftruncate', kill = '',
  EIO = 'write pwrite writev fsync fdatasync mmap', short = 'write pwrite', EMFILE = 'open',
  EACCES = 'open rename unlink mkdir', fork = '' }

local made_folders = 0
local function new_folder()
  made_folders = made_folders + 1
  local folder = ('%s/%d/work'):format(top, made_folders)
  files.make_folder(folder)
  return folder
end
local function remove(folder) os.execute('rm -rf ' .. quoted((folder:gsub('/work$', '')))) end

-- The numbers of the calls to try: all, or a few from first to last.
local function chosen(calls, kind, few)
  if only_kind and only_kind ~= kind then return {} end
  local fitting, list = {}, {}
  for number, call in ipairs(calls) do
    for name in places[kind]:gmatch '%a+' do
      if call:find('^' .. name) then fitting[#fitting + 1] = number break end
    end
    if places[kind] == '' then fitting[#fitting + 1] = number end
  end
  if all then return fitting end
  few = math.min(so_many or few, #fitting)
  for i = 1, few do list[i] = fitting[math.ceil((i - 0.5) * #fitting / few)] end
  return list
end

local function is_said(answer, kind)
  if not reasons[kind] then return true end
  for _, list in ipairs { reasons[kind], of_sqlite } do
    for _, words in ipairs(list) do
      if answer:find(words) then return true end
    end
  end
  return false
end

local function try(name, command, file)
  local function outcome(folder)
    local output, status = run(command(folder))
    if status ~= 0 then error('going on ends with an error: ' .. output, 0) end
    if file then return (files.read(folder .. '/' .. file):gsub('%d%d:%d%d[:%d]*', '')) end
    local lines = {}
    for line in output:gmatch '[^\n]+' do
      if line:find '^OUT' then lines[#lines + 1] = line end
    end
    return table.concat(lines, '\n')
  end
  local function inject_into(folder, words)
    return run(('%s --root %s %s -- %s'):format(quoted(inject), quoted(folder), words, command(folder)))
  end
  local folder, log = new_folder(), top .. '/calls'
  local wanted = outcome(folder)
  assert(#wanted > 0, 'the job says nothing')
  remove(folder)
  folder = new_folder()
  local output, status = inject_into(folder, '--log ' .. quoted(log))
  test.equal(status .. (status == 0 and '' or output), '0')
  remove(folder)
  local function logged()
    return pd.tables.matches(files.read(log), '%d+\t(%l+[^\n]*)')
  end
  local calls = logged()
  assert(#calls > 2, 'the calls are not counted')
  folder = new_folder()
  inject_into(folder, '--kind fork --log ' .. quoted(log))
  remove(folder)
  local starts = logged()
  local tried, ended, failures = 0, 0, {}
  for _, kind in ipairs { 'ENOSPC', 'kill', 'EIO', 'short', 'EACCES', 'EMFILE', 'fork' } do
    local few = (kind == 'ENOSPC' or kind == 'kill') and 2 or (name == 'tokens' or kind == 'fork') and 1 or 0
    for _, at in ipairs(chosen(kind == 'fork' and starts or calls, kind, few)) do
      folder = new_folder()
      local answer, code = inject_into(folder, ('--kind %s --at %d --log %s'):format(kind, at, quoted(log)))
      local call = files.read(log):match('\n?' .. at .. '\t([^\n]*)') or '?'
      local function complain(what)
        failures[#failures + 1] = ('%s at call %d, %s: %s'):format(kind, at, call, what:sub(1, 600))
      end
      tried = tried + 1
      if code ~= 0 then ended = ended + 1 end
      if code ~= 0 and not is_said(answer, kind) then complain('the reason is not said: ' .. answer) end
      if answer:find 'terminate called' or code >= 128 and kind ~= 'kill' then complain('it died: ' .. answer) end
      local fine, got = pcall(outcome, folder)
      if not fine then
        complain(got)
      elseif got ~= wanted then
        files.write(top .. '-' .. name .. '-wanted', wanted)
        files.write(top .. '-' .. name .. '-got', got)
        complain(('another outcome, see %s-%s-*'):format(top, name))
      end
      remove(folder)
    end
  end
  print(('%s: %d calls, %d processes started, %d failures tried, %d of them ended it'):format(name, #calls, #starts,
    tried, ended))
  if #failures > 0 then error(('%d of %d\n  %s'):format(#failures, tried, table.concat(failures, '\n  ')), 0) end
end

for _, job in ipairs(jobs) do
  if not only or only == job[1] then
    test(job[1] .. ' is as before or as after', function() try(unpack(job)) end)
  end
end

test.finish()
