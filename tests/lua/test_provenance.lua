-- Provenance: the inputs that run folders record, that a folder continues only with the options of its run, and
-- reproducing runs.
-- label: long
local pd = require 'pushdown'
local files = require 'pushdown.files'
local json = require 'pushdown.json'
local provenance = require 'pushdown.store.provenance'
local runs = require 'pushdown.runs'
local test = require 'pushdown.test'

local shell = test.program
local folder = test.folder()
folder = pd.file.real_path(folder)
local quoted = files.quoted

-- Returns output and status of the shell in the folder of the tests, with a registry there; `input` is typed at its
-- prompt.
local function run(line, input)
  return test.command(('cd %s && PUSHDOWN_REGISTRY= %s --threads 1 --log-level warn %s < %s'):format(quoted(folder),
    quoted(shell), line, input or '/dev/null'))
end

local has = test.has

local function decoded(path) return json.decode(files.read(folder .. '/' .. path)) end

local grammar = [[
doc 'Nested brackets.'
rule 'S -> "(" S ")" [0.4] | "(" ")" [0.6]'
]]

local script = [[
local experiment = require 'pushdown.experiment'
local size = require 'sizes'
local options, run = experiment.start { name = 'small', doc = 'One small training.', options = {
  { 'hidden', 4, 'units' }, { 'epochs', 2, 'passes', may_change = true } }, quick = { hidden = 2 } }
local grammar = pd.grammar.load 'nested.lua'
local words = pd.task.load_labelled 'words.txt'
local sampler = grammar:sampler { lengths = { 2, 10 } }
local trainer = pd.train.trainer {
  model = pd.model.language_model { alphabet = grammar:alphabet(),
    controller = { kind = 'elman', hidden = options.hidden }, stack = 'none' },
  train = sampler:dataset(size, {}), valid = sampler:dataset(10, {}), epochs = options.epochs,
  run_folder = run.folder, progress = false }
for _ in trainer:epochs() do end
local last = trainer:history()[#trainer:history()]
run:finish { cross_entropy = last.cross_entropy, words = words:size(), seconds = last.seconds }
]]

files.write(folder .. '/nested.lua', grammar)
files.write(folder .. '/small.lua', script)
files.write(folder .. '/sizes.lua', 'return 20\n')
pd.task.labelled_dataset({ alphabet = { '(', ')' }, strings = { '( )' }, labels = { true } })
  :save(folder .. '/words.txt')

test('a session records its inputs as they were read', function()
  local output = test.succeeds(run(('-e %s'):format(quoted [[
    local path = 'changing.lua'
    require 'pushdown.files'.write(path, [=[rule 'S -> "0"']=])
    pd.grammar.load(path)
    require 'pushdown.files'.write(path, [=[rule 'S -> "1"']=])
    for _, input in ipairs(pd.file.inputs()) do print(input.role, input.path, input.sha256, input.text) end]])))
  local digest = pd.file.sha256_of_text [[rule 'S -> "0"']]
  has(output, ('grammar\t%s/changing.lua\t%s\trule \'S -> "0"\'\n'):format(folder, digest))
  assert(not output:find('"1"', 1, true), output)
  test.equal(pd.file.sha256_of_text 'abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  -- A description is no input, whatever describes it.
  output = test.succeeds(run(('-e %s'):format(quoted [[
    for _, name in ipairs(pd.grammar.list()) do help(name) pd.grammar.describe(name) end
    help 'grammar' help 'automaton'
    for _, input in ipairs(pd.file.inputs()) do print('INPUT', input.role, input.path) end]])))
  assert(output:find 'INPUT' == nil or not output:find 'INPUT\t[ag]', output)
  -- A program that every system has gives the same result.
  local path = folder .. '/bytes'
  files.write(path, ('\0\255\n'):rep(1234567))
  local pipe = io.popen('sha256sum ' .. quoted(path))
  test.equal(pd.file.sha256(path), pipe:read '*l':match '^%x+')
  pipe:close()
  test.fails('cannot read', function() pd.file.sha256(folder) end)
end)

test('a run folder records program, machine, command line, seed and inputs', function()
  test.succeeds(run 'small.lua --run-folder runs/one')
  local start = decoded 'runs/one/provenance.json'.starts[1]
  local build = pd.build()
  for key, value in pairs(build) do test.equal(start.program[key], value) end
  assert(build.compiler:find '%d' and build.torch and build.blas and build.instruction_set and build.version)
  assert(start.machine.host and start.machine.processor and start.working_directory == folder)
  test.equal(table.concat(start.command_line, ' '),
    shell .. ' --threads 1 --log-level warn small.lua --run-folder runs/one')
  test.equal(start.seed % 1, 0)
  assert(start.started and start.finished)
  local roles = {}
  for _, input in ipairs(start.inputs) do
    local text = files.read(input.path)
    test.equal(input.sha256, pd.file.sha256_of_text(text))
    test.equal(files.read(folder .. '/runs/one/' .. input.copy), text)
    roles[#roles + 1] = input.role .. ' ' .. input.path:match '[^/]*$'
  end
  test.equal(table.concat(roles, ', '), 'script small.lua, script sizes.lua, grammar nested.lua, data words.txt')
end)

test('a folder continues only with the options of its run', function()
  local before = files.read(folder .. '/runs/one/experiment.json')
  test.ended(1, { 'runs/one holds a run with other options: hidden was 4 and is 5 now', '--overwrite' },
    run 'small.lua --run-folder runs/one --hidden 5')
  test.ended(1, { 'size was full and is quick now', 'hidden was 4 and is 2 now' },
    run 'small.lua --run-folder runs/one --quick')
  test.equal(files.read(folder .. '/runs/one/experiment.json'), before)
  test.equal(#decoded 'runs/one/provenance.json'.starts, 1)
  -- The other order: a first look is followed by the full run.
  assert(select(2, run 'small.lua --run-folder runs/look --quick') == 0)
  test.ended(1, 'size was quick and is full now', run 'small.lua --run-folder runs/look')
  test.equal(decoded 'runs/look/experiment.json'.size, 'quick')
  files.write(folder .. '/runs/look/left.csv', 'a\n1\n')
  files.write(folder .. '/runs/look/result.json.123.tmp', 'cut off')
  test.succeeds(run 'small.lua --run-folder runs/look --overwrite')
  local kept = decoded 'runs/look/experiment.json'
  test.equal(kept.size, 'full')
  test.equal(kept.options.hidden, 4)
  test.equal(kept.options.overwrite, nil)
  test.equal(#decoded 'runs/look/provenance.json'.starts, 1)
  -- A file that the run did not write belongs to somebody else.
  test.equal(files.read(folder .. '/runs/look/left.csv'), 'a\n1\n')
  assert(not files.exists(folder .. '/runs/look/result.json.123.tmp'))
  -- Options that may change do change, and the record shows what ran.
  local output, status = run 'small.lua --run-folder runs/look --epochs 3'
  assert(status ~= 0 or decoded 'runs/look/experiment.json'.options.epochs == 3, output)
  files.write(folder .. '/other.lua', (script:gsub("'small'", "'other'")))
  test.ended(1, "runs/one holds a run of 'small', this is 'other'", run 'other.lua --run-folder runs/one')
end)

test('a script that cannot resume refuses the folder of its run', function()
  files.write(folder .. '/once.lua', (script:gsub("name = 'small'", "name = 'once', resumes = false")))
  test.succeeds(run 'once.lua --run-folder runs/once')
  local before = files.read(folder .. '/runs/once/provenance.json')
  test.ended(1, { 'runs/once holds a run, and once cannot resume', '--overwrite' },
    run 'once.lua --run-folder runs/once')
  test.equal(files.read(folder .. '/runs/once/provenance.json'), before)
  test.succeeds(run 'once.lua --run-folder runs/once --overwrite')
end)

test('--overwrite removes what the run has written, and nothing else', function()
  files.make_folder(folder .. '/runs/look/grid/point/restart-1')
  files.write(folder .. '/runs/look/grid/point/restart-1/run.lock', '')
  files.write(folder .. '/runs/look/grid/point/restart-1/result.json', '{}')
  -- What the run itself has written goes: an own file in a folder of its own, not that beside it.
  files.write(folder .. '/writes.lua', (script:gsub("name = 'small'", "name = 'writes'")) .. [[
local files = require 'pushdown.files'
for _, part in ipairs { 'part', 'both', 'away' } do
  files.make_folder(run:path(part))
  files.write(run:path(part .. '/own.csv'), 'own')
end
for _, name in ipairs { 'counted', 'notes' } do
  local file = io.open(run:path(name), 'a')
  file:write('x')
  file:close()
end
]])
  local place = folder .. '/runs/writes'
  files.make_folder(place)
  files.write(place .. '/notes', 'mine')
  test.succeeds(run 'writes.lua --run-folder runs/writes')
  files.write(place .. '/both/notes.txt', 'mine')
  -- A folder that was replaced by a link leads to files of somebody else.
  os.rename(place .. '/away', folder .. '/elsewhere')
  assert(os.execute(("ln -s '%s/elsewhere' '%s/away'"):format(folder, place)) == 0)
  local list = files.read(place .. '/.written')
  files.write(place .. '/.written', list .. '"../../outside.txt"\n"/etc/hostname"\nno text\n')
  files.write(folder .. '/outside.txt', 'mine')
  files.write(folder .. '/runs/writes/none.lua', 'mine')
  test.succeeds(run 'small.lua --run-folder runs/writes --overwrite')
  assert(not pd.file.kind(place .. '/counted'))
  test.equal(files.read(place .. '/notes'), 'minex')
  assert(not pd.file.kind(place .. '/part'))
  assert(not pd.file.kind(place .. '/both/own.csv'))
  test.equal(files.read(place .. '/both/notes.txt'), 'mine')
  test.equal(files.read(folder .. '/elsewhere/own.csv'), 'own')
  test.equal(files.read(folder .. '/outside.txt'), 'mine')
  test.equal(files.read(place .. '/none.lua'), 'mine')
  test.succeeds(run 'small.lua --run-folder runs/look --hidden 3 --overwrite')
  assert(files.exists(folder .. '/runs/look/grid/point/restart-1/result.json'))
  -- A folder that belongs to no run is not emptied.
  files.make_folder(folder .. '/mine')
  files.write(folder .. '/mine/notes.txt', 'mine')
  run 'small.lua --run-folder mine --overwrite'
  test.equal(files.read(folder .. '/mine/notes.txt'), 'mine')
  -- Other programs also have a file experiment.json.
  files.make_folder(folder .. '/theirs')
  files.write(folder .. '/theirs/experiment.json', '{"name": "theirs"}')
  files.write(folder .. '/theirs/notes.txt', 'theirs')
  test.ended(1, 'theirs/experiment.json is not the configuration of a run',
    run 'small.lua --run-folder theirs --overwrite')
  test.equal(files.read(folder .. '/theirs/notes.txt'), 'theirs')
end)

test('a run is reproduced from its inputs as they were', function()
  test.ended(0, { 'The numbers are the same', 'runs/one-again-1' }, run 'runs reproduce --yes runs/one')
  -- The session drew the seed, so the same numbers cannot be a coincidence.
  local again = decoded 'runs/one-again-1/provenance.json'.starts[1]
  test.equal(again.seed, decoded 'runs/one/provenance.json'.starts[1].seed)
  assert(select(2, run 'small.lua --run-folder runs/else') == 0)
  assert(decoded 'runs/else/result.json'.cross_entropy ~= decoded 'runs/one/result.json'.cross_entropy)
  -- Script, module and grammar change.
  files.write(folder .. '/sizes.lua', 'return 30\n')
  files.write(folder .. '/nested.lua', (grammar:gsub('0.4', '0.3'):gsub('0.6', '0.7')))
  files.write(folder .. '/small.lua', (script:gsub("'hidden', 4", "'hidden', 3")))
  test.ended(0, { 'small.lua, which has changed', 'sizes.lua, which has changed', 'nested.lua, which has changed',
    'The numbers are the same' }, run 'runs reproduce runs/one --folder runs/again --yes')
  test.equal(files.read(folder .. '/sizes.lua'), 'return 30\n')
  -- Numbers that differ from those of the run are found.
  local result = decoded 'runs/one/result.json'
  result.cross_entropy = result.cross_entropy + 1e-12
  files.write(folder .. '/runs/one/result.json', json.encode(result))
  test.ended(1, { 'result.json, result.cross_entropy: was', ' differ' }, run 'runs reproduce --yes runs/one')
  os.remove(folder .. '/nested.lua')
  files.write(folder .. '/runs/one/provenance.json', (files.read(folder .. '/runs/one/provenance.json')
    :gsub('"copy": "inputs/[^"]*nested.lua"', '"copy": null')))
  test.ended(1, 'nested.lua is gone, and the run folder has no copy', run 'runs reproduce --yes runs/one')
  files.write(folder .. '/nested.lua', grammar)
  has(run 'runs reproduce runs/nothing', "there is no run folder 'runs/nothing'")
  has(run 'runs reproduce', 'which run?')
end)

test('a command of a run folder needs a confirmation', function()
  files.write(folder .. '/stranger.lua', script:gsub('run:finish', "io.open('ran', 'w'):close() run:finish"))
  assert(select(2, run 'stranger.lua --run-folder runs/stranger') == 0)
  os.remove(folder .. '/ran')
  test.ended(2, { 'The run is repeated with its own command, in ' .. folder, 'stranger.lua --run-folder',
    'give --yes' }, run 'runs reproduce runs/stranger')
  local function answered(answer)
    local line = ('PUSHDOWN_REGISTRY= %s --threads 1 runs reproduce runs/stranger'):format(quoted(shell))
    return test.command(("cd %s && printf '%s\\n' | script -qec %s /dev/null"):format(quoted(folder), answer,
      quoted(line)))
  end
  has(answered '', 'Run it? [y/N]', 'Nothing was run.')
  assert(not files.exists(folder .. '/ran') and not files.exists(folder .. '/runs/stranger-again-1'))
  has(answered 'y', 'The numbers are the same')
  assert(files.exists(folder .. '/ran'))
end)

test('a run folder cannot write outside of the copies', function()
  local path = folder .. '/runs/stranger/provenance.json'
  local kept = files.read(path)
  local elsewhere = os.tmpname()
  os.remove(elsewhere)
  local function refused(message, change)
    local record = json.decode(kept)
    local start = record.starts[1]
    change(start, start.inputs[1])
    files.write(path, json.encode(record))
    local output, status = run 'runs reproduce --yes runs/stranger'
    assert(status ~= 0, output)
    has(output, message)
    assert(not files.exists(elsewhere) and not files.exists(folder .. '/runs/stranger-again-2'), output)
  end
  local function gone(input, name) input.path, input.sha256 = name, ('0'):rep(64) end
  refused('is not absolute, or leaves the folder', function(_, input) gone(input, '/../../../..' .. elsewhere) end)
  refused('is not absolute, or leaves the folder', function(_, input) gone(input, folder .. '/./x') end)
  refused('is not absolute, or leaves the folder', function(_, input) gone(input, '/..') end)
  refused('is not absolute, or leaves the folder', function(_, input) gone(input, '../x') end)
  refused("is not in the folder 'inputs'", function(_, input)
    gone(input, elsewhere)
    input.copy = 'inputs/../provenance.json'
  end)
  refused('its SHA-256 differs', function(_, input) gone(input, elsewhere) end)
  refused('has no provenance.json that can be read', function(start) start.command_line = { 'a', {} } end)
  refused('has no provenance.json that can be read', function(start) start.inputs = { 5 } end)
  -- A copy behind a link is not read.
  files.write(path, kept)
  local copies = folder .. '/runs/stranger/inputs'
  os.execute(('mv %s %s.moved && ln -s %s.moved %s'):format(quoted(copies), quoted(copies), quoted(copies),
    quoted(copies)))
  refused('and the run folder has no copy', function(_, input) input.sha256 = ('0'):rep(64) end)
  local _, status = pcall(provenance.begin, folder .. '/runs/stranger', json.decode(kept).run)
  has(status, "inputs' is a link")
end)

test('changed inputs of a continued run are reported', function()
  files.write(folder .. '/small.lua', script)
  files.write(folder .. '/sizes.lua', 'return 20\n')
  assert(select(2, run 'small.lua --run-folder runs/on') == 0)
  os.remove(folder .. '/runs/on/result.json')
  files.write(folder .. '/small.lua', script .. '-- new\n')
  local output = run 'small.lua --run-folder runs/on'
  has(output, 'the run in runs/on began with other inputs', 'small.lua has changed')
  local starts = decoded 'runs/on/provenance.json'.starts
  test.equal(#starts, 2)
  assert(starts[1].inputs[1].sha256 ~= starts[2].inputs[1].sha256)
  assert(files.exists(folder .. '/runs/on/' .. starts[1].inputs[1].copy))
end)

test('runs made at the prompt are registered and reproduced', function()
  files.write(folder .. '/typed', [[
grammar = pd.grammar.load 'nested.lua'
sampler = grammar:sampler { lengths = { 2, 10 } }
model = pd.model.language_model { alphabet = grammar:alphabet(), controller = { kind = 'elman', hidden = 3 },
  stack = 'none' }
function trainer(folder, epochs)
  return pd.train.trainer { model = model, train = sampler:dataset(20), valid = sampler:dataset(10), epochs = epochs,
    run_folder = folder, progress = false }
end
for _ in trainer('runs/first', 2):epochs() do end
-- This run uses a model that was trained before.
for _ in trainer('runs/second', 3):epochs() do end
t = trainer('runs/third', 3)
]])
  test.succeeds(run('', 'typed'))
  local rows = runs.find({ experiment = 'prompt' }, folder .. '/runs/registry.sqlite')
  test.equal(#rows, 3)
  test.equal(rows[1].folder, folder .. '/runs/first')
  test.equal(rows[1].status, 'done')
  test.equal(rows[2].options['controller.hidden'], 3)
  test.equal(rows[2].result.epochs, 3)
  assert(rows[2].result.cross_entropy > 0 and rows[2].seed)
  test.equal(rows[3].status, 'interrupted')
  local start = decoded 'runs/second/provenance.json'.starts[1]
  local entries
  for _, input in ipairs(start.inputs) do
    if input.role == 'entries' then entries = files.read(folder .. '/runs/second/' .. input.copy) end
  end
  has(entries, "pd.grammar.load 'nested.lua'", "trainer('runs/second', 3)")
  assert(not entries:find('runs/third', 1, true), entries)
  -- Neither the grammar nor the entries are needed.
  test.ended(0, 'The numbers are the same', run('runs reproduce ' .. rows[2].id))
  os.remove(folder .. '/runs/first/checkpoints/initial.safetensors')
  has(run 'runs reproduce runs/first', 'has no checkpoints/initial.safetensors')
end)

-- Programs can be named by a file system monitor, and by a filter whose name looks like a setting.
test('runs in a repository of others run none of its programs', function()
  local made = os.execute(([[cd %s && mkdir repository && cd repository && exec > /dev/null 2>&1 && git init &&
    printf '#!/bin/sh\necho ran >> "%%s/log"\nexit 1\n' "$PWD" > program && chmod +x program && echo text > file &&
    git add file && git -c user.name=a -c user.email=b commit -m first && git config core.fsmonitor "$PWD/program" &&
    echo '* filter=a=b' > .git/info/attributes && git config filter.a=b.clean "$PWD/program" &&
    touch -d 2001-01-01 file && git describe --always --dirty && test -e log && rm log]]):format(quoted(folder)))
  if made ~= 0 then return print 'without git' end
  local repository = folder .. '/repository'
  test.succeeds(test.command(('cd %s && PUSHDOWN_REGISTRY=off %s -e %s'):format(quoted(repository),
    quoted(shell), quoted [[
local grammar = pd.grammar.load 'an_bn'
pd.train.trainer { model = pd.model.language_model { alphabet = grammar:alphabet(), stack = 'none', seed = 1 },
  train = grammar:sampler({ lengths = { 2, 4 } }):dataset(5, { seed = 1 }), epochs = 1, run_folder = 'run',
  progress = false }]])))
  local recorded = decoded 'repository/run/config.json'.git
  test.equal(#recorded.commit, 40)
  test.equal(recorded.dirty, false)
  test.equal(decoded 'repository/run/provenance.json'.starts[1].git, recorded.commit:sub(1, 12))
  files.write(repository .. '/script.lua', [[
local _, run = pd.experiment.start { name = 'script', doc = 'A script.', options = {} }
run:finish { done = true }]])
  test.succeeds(test.command(('cd %s && PUSHDOWN_REGISTRY=off %s script.lua --run-folder own'):format(
    quoted(repository), quoted(shell))))
  test.equal(decoded 'repository/own/experiment.json'.git, recorded.commit:sub(1, 12))
  test.equal(files.exists(repository .. '/log'), false)
end)

test('damaged and missing provenance is reported', function()
  test.equal(provenance.read(folder), nil)
  files.write(folder .. '/provenance.json', '{"starts": [')
  test.equal(provenance.read(folder), nil)
  has(run('runs reproduce ' .. quoted(folder)), 'has no provenance.json that can be read')
end)

test.finish()
