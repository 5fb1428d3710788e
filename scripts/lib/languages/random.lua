-- Generators of random numbers for languages: functions that return numbers in [0, 1), all from a seed.
local pd = require 'pushdown'

local M = {}

-- Numbers of double precision from the core, 1,000 at once.
function M.blocks(seed)
  local numbers, used, block = {}, 0, 0
  return function()
    if used == #numbers then
      numbers = pd.tensor.rand({ 1000 }, { seed = (seed + block * 2 ^ 40) % 2 ^ 53, dtype = 'float64' }):to_table()
      used, block = 0, block + 1
    end
    used = used + 1
    return numbers[used]
  end
end

-- The generator of Park and Miller.
function M.park_miller(seed)
  local state = seed % 2147483646 + 1
  return function()
    state = state * 16807 % 2147483647
    return (state - 1) / 2147483646
  end
end

return M
