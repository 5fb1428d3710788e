-- A file system without locks: tests/faults/locks.cpp is preloaded and makes every lock fail. A training warns of it,
-- and the registry and the runs that need locks say so at once.
local files = require 'pushdown.files'
local pd = require 'pushdown'
local test = require 'pushdown.test'

local shell = test.program
local library = assert(os.getenv 'PUSHDOWN_BUILD_DIR', 'PUSHDOWN_BUILD_DIR is the build folder') .. '/libfail_locks.so'

if not files.exists(library) then test.skip('there is no ' .. library .. ', as in builds with sanitizers') end

local folder = test.folder()
local quoted = files.quoted

-- Returns output and status of the shell in the folder, with the registry there.
local function run(line)
  return test.command(('cd %s && LD_PRELOAD=%s PUSHDOWN_REGISTRY= %s --threads 1 %s < /dev/null'):format(quoted(folder),
    quoted(library), quoted(shell), line))
end

files.write(folder .. '/training.lua', [[
local s = pd.grammar.load 'marked_reversal':sampler { lengths = { 3, 5 } }
local t = pd.train.trainer { model = pd.model.language_model { alphabet = s:grammar():alphabet(), seed = 1,
  controller = { kind = 'elman', hidden = 2 } }, train = s:dataset(10, { seed = 1 }), epochs = 1, seed = 1,
  run_folder = 'run', progress = false }
for _ in t:epochs() do end
]])
files.write(folder .. '/experiment.lua', [[
local options, run = pd.experiment.start { name = 'one', options = {} }
run:finish { loss = 1 }
]])

test('a training warns, and the registry does not wait', function()
  local began = pd.process.clock()
  local output = test.ended(0, {
    "the file system of 'run' has no locks, so a second training in this folder would not be refused",
    "[registry] cannot use 'runs/registry.sqlite': its file system has no locks" }, run 'training.lua')
  -- It would wait for a minute for a lock.
  assert(pd.process.clock() - began < 55, output)
  assert(files.exists(folder .. '/run/checkpoints/best.safetensors'))
end)

test('an experiment needs locks', function()
  test.ended(1, "cannot lock 'one/run.lock': No locks available; its file system has no locks",
    run 'experiment.lua --run-folder one')
end)

test('whether a folder is in use is not known', function()
  files.make_folder(folder .. '/other')
  files.write(folder .. '/other/run.lock', '')
  test.equal(run(('-e %s'):format(quoted "print(pd.process.locked 'other', pd.process.locked 'none')")),
    'nil\tfalse\n')
end)

test.finish()
