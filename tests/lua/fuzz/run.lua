-- run.lua TARGET SEED FIRST LAST LOG: runs the inputs FIRST to LAST of a target in the current folder. LOG contains the
-- number and the description of the running input, so that the process that started this one can tell where it crashed
-- or hangs. Exits with status 1 and the reason if an input failed.
local pd = require 'pushdown'

local target, seed, first, last, log = arg[1], tonumber(arg[2]), tonumber(arg[3]), tonumber(arg[4]), arg[5]
local calls = dofile(pd.root .. '/tests/lua/fuzz/calls.lua')
local texts = dofile(pd.root .. '/tests/lua/fuzz/texts.lua')

-- Objects are made anew after this number of inputs.
local block = 500

-- Texts that no message may contain: names and words of the C++ library and of LibTorch's assertions.
local raw = { 'std::', 'bad_alloc', 'json%.exception', 'c10::', 'basic_string', 'vector::', '_M_', '%f[%w]map::',
  '%f[%w]sto[idlu]', 'bad_variant', 'bad_optional', 'bad optional', 'bad_function', 'bad_cast', 'INTERNAL ASSERT',
  'Exception raised from', 'filesystem error', 'terminate called', 'regex_error', 'unordered_map', '%.cpp:%d' }

-- Returns the error of a message, or nil.
local function complaint(message)
  if type(message) == 'table' and type(message.usage) == 'string' then message = message.usage end
  if type(message) ~= 'string' then return 'the error is a ' .. type(message) end
  for _, words in ipairs(raw) do
    if message:find(words) then return 'raw words: ' .. message end
  end
end

local file = assert(io.open(log, 'w'))
local next_input = calls[target] or texts.target(target)
for index = first, last do
  if calls[target] and (index == first or index % block == 0) then
    math.randomseed(seed)
    calls.begin()
    collectgarbage()
  end
  math.randomseed(seed * 1000003 + index)
  local words, action = next_input(index)
  file:seek 'set'
  file:write(('%d\n%d\n%s\n'):format(index, #words, words))
  file:flush()
  local ok, message = pcall(action)
  if not ok then
    -- An action itself may raise any error; readers of texts raise the errors that they found.
    local found = type(message) == 'table' and message.failure or complaint(message)
    if found and not (target == 'calls' and found:find '^the error is') then
      io.stdout:write('\nFAILED ', found, '\n')
      os.exit(1)
    end
  end
end
