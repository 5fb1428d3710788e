-- Python can read the files of a run without our program: scripts/tools/read_run.py.
local pd = require 'pushdown'
local test = require 'pushdown.test'

local folder = os.tmpname()
os.remove(folder)

local function run(command)
  local pipe = assert(io.popen(command .. ' 2>&1; echo "exit $?"'))
  local output, status = pipe:read('*a'):match('^(.*)exit (%d+)\n$')
  pipe:close()
  return output, tonumber(status)
end

local _, without = run('python3 --version')
if without ~= 0 then
  print('skipped: there is no python3')
  os.exit(77)
end

test('configuration, metrics and parameters', function()
  local grammar = pd.grammar.load 'marked_reversal'
  local sampler = grammar:sampler { lengths = { 4, 8 } }
  local model = pd.model.language_model { alphabet = grammar:alphabet(), controller = { kind = 'lstm', hidden = 4 },
    stack = { kind = 'superposition', size = 3 }, dtype = 'float64', seed = 1 }
  local trainer = pd.train.trainer { model = model, train = sampler:dataset(30, { seed = 1 }),
    valid = sampler:dataset(10, { seed = 2 }), epochs = 2, run_folder = folder, progress = false }
  for _ in trainer:epochs() do end
  local output, status = run(('python3 %s/scripts/tools/read_run.py %s'):format(pd.root, folder))
  test.equal(status, 0, output)
  assert(output:find('config.json: ', 1, true), output)
  for _, epoch in ipairs(trainer:history()) do
    local written = output:match('epoch ' .. epoch.epoch .. ': cross%-entropy ([%d.e-]+)')
    test.near(tonumber(written), epoch.cross_entropy, 1e-12)
  end
  local count = 0
  for name, parameter in pairs(trainer:model():parameters()) do
    local line = 'last.safetensors: ' .. name:gsub('%p', '%%%0') .. ': [%d x]+, sum ([%d.e-]+)'
    local sum = output:match(line)
    assert(sum, name .. ' in\n' .. output)
    test.near(tonumber(sum), parameter:sum():item(), 1e-8)
    count = count + 1
  end
  assert(count > 5, count)
  assert(output:find('optimizer.steps: ', 1, true), output)
  output, status = run(('python3 %s/scripts/tools/read_run.py /nowhere'):format(pd.root))
  assert(status == 1 and output:find('usage:', 1, true), output)
end)

os.execute('rm -rf ' .. folder)
test.finish()
