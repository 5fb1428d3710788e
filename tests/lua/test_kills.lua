-- Kills (SIGKILL) a training of some kind, or a worker or the coordinator of a grid at random moments, and starts it
-- again until it ends. The results must equal those of a training without kills, bit for bit.
--   test_kills.lua [COUNT [SEED]]
-- label: long
-- slow: 200
local pd = require 'pushdown'
local files = require 'pushdown.files'
local test = require 'pushdown.test'

local count, seed = tonumber(arg[1] or 20), tonumber(arg[2] or 1)
local shell = test.program
local folder = test.folder()
math.randomseed(seed)
local quoted = files.quoted

local kinds = { 'language_model', 'bptt', 'uoro', 'transducer', 'running_text', 'transformer', 'together', 'grid' }
local pool = pd.process.pool()

local function start(kind, place)
  return pool:start { command = { shell, '--threads', '1', '--log-level', 'off', pd.root .. '/tests/lua/killed.lua',
    kind, place }, output = place .. '.log', environment = { PUSHDOWN_REGISTRY = 'off' } }
end

local function sleep(seconds) os.execute(('sleep %.3f'):format(seconds)) end

-- The processes that a coordinator has started.
local function children(pid)
  local pipe, list = io.popen('cat /proc/' .. pid .. '/task/*/children 2>/dev/null'), {}
  for number in pipe:read '*a':gmatch '%d+' do list[#list + 1] = tonumber(number) end
  pipe:close()
  return list
end

-- The fingerprint of each kind without a kill, and the run time of its process.
local expected, lives = {}, {}
for _, kind in ipairs(kinds) do
  local place, began = folder .. '/whole-' .. kind, pd.process.now()
  local process = start(kind, place)
  while not process:poll() do pool:wait(1) end
  if process:poll().code ~= 0 then error(kind .. ' failed: ' .. files.read(place .. '.log')) end
  lives[kind], expected[kind] = pd.process.now() - began, files.read(place .. '.fingerprint')
end

local kills, rounds = {}, 0
local total = 0
for _, kind in ipairs(kinds) do kills[kind] = 0 end

-- One training with at most `most` kills.
local function round(kind, most)
  rounds = rounds + 1
  local place = ('%s/%d-%s'):format(folder, rounds, kind)
  for attempt = 1, 100 do
    local process = start(kind, place)
    local began = pd.process.now()
    if kills[kind] < most then
      local moment = lives[kind] * math.random()
      while not process:poll() and pd.process.now() - began < moment do sleep(0.01) end
      if not process:poll() then
        local workers = kind == 'grid' and children(process:pid()) or {}
        if #workers > 0 and math.random() < 0.5 then
          os.execute('kill -9 ' .. workers[math.random(#workers)])
          while not process:poll() do pool:wait(1) end
        else
          process:signal 'kill'
        end
        kills[kind], total = kills[kind] + 1, total + 1
      end
    end
    while not process:poll() do pool:wait(1) end
    local ending = process:poll()
    if ending.signal == 0 and ending.code == 0 then
      local got = files.read(place .. '.fingerprint')
      if got ~= expected[kind] then
        error(('%s, killed %d times, is not what it should be; its folder is %s'):format(kind, attempt - 1, place), 0)
      end
      os.execute('rm -rf ' .. quoted(place) .. ' ' .. quoted(place .. '.fingerprint'))
      return
    end
    if ending.signal == 0 and ending.code ~= 3 then
      error(('%s failed behind a kill: %s'):format(kind, files.read(place .. '.log')), 0)
    end
  end
  error(kind .. ' does not end')
end

for i, kind in ipairs(kinds) do
  local most = math.floor(count * i / #kinds) - math.floor(count * (i - 1) / #kinds)
  test(kind .. ' after kills', function()
    while kills[kind] < most do round(kind, most) end
    test.equal(kills[kind], most)
  end)
end
test('all kills', function() test.equal(total, count) end)
local parts = {}
for i, kind in ipairs(kinds) do parts[i] = kind .. ' ' .. kills[kind] end
print(('%d kills of %d trainings, seed %d: %s'):format(total, rounds, seed, table.concat(parts, ', ')))

test.finish()
