-- Languages as the random processes that make their strings symbol by symbol, so that the probability of every step is
-- known exactly: counting languages, and brackets.
local M = {}

-- drawn(walk, random) -> the string of a process as a list of symbols, and the logarithm of its probability.
function M.drawn(walk, random)
  local symbols, log_probability = {}, 0
  while true do
    local left, chosen = random(), nil
    for _, outcome in ipairs(walk.next()) do
      chosen, left = outcome, left - outcome[2]
      if left < 0 then break end
    end
    log_probability = log_probability + math.log(chosen[2])
    if chosen[1] == '' then return symbols, log_probability end
    symbols[#symbols + 1] = chosen[1]
    walk.read(chosen[1])
  end
end

function M.counting(options)
  local letters, drawn, multiples, stop = options.letters, options.drawn, options.multiples, options.stop
  local first, last, going, ended = { { letters[1], 1 } }, { { '', 1 } }, {}, {}
  for i = 1, drawn do going[i] = { { letters[i], 1 - stop }, { letters[i + 1], stop } } end
  for i = drawn + 1, #letters do ended[i] = { { letters[i], 1 } } end

  local function walk()
    local letter, sum, left = 0, 0, 0
    local process = {}
    function process.next()
      if letter == 0 then return first end
      if letter <= drawn then return going[letter] end
      return ended[letter] or last
    end
    function process.read(symbol)
      if letter == 0 then
        letter, sum = 1, 1
      elseif letter <= drawn then
        if symbol == letters[letter] then
          sum = sum + 1
          return
        end
        letter = letter + 1
        if letter <= drawn then sum = sum + 1 else left = multiples[1] * sum - 1 end
      else
        left = left - 1
      end
      while letter > drawn and left == 0 and letter <= #letters do
        letter = letter + 1
        left = letter <= #letters and multiples[letter - drawn] * sum or 0
      end
    end
    return process
  end
  return { name = options.name or 'counting', title = options.title or 'Counting', alphabet = letters, walk = walk }
end

function M.nested(options)
  local kinds, nest, alphabet, closing, of_last = options.brackets, options.nest, {}, {}, {}
  for _, kind in ipairs(kinds) do
    local open, close = kind:match '^(.)(.)$'
    alphabet[#alphabet + 1], alphabet[#alphabet + 2], closing[open] = open, close, close
  end
  local function with(last)
    local outcomes = {}
    for i, kind in ipairs(kinds) do outcomes[i] = { kind:sub(1, 1), nest / #kinds } end
    outcomes[#outcomes + 1] = { last, 1 - nest }
    return outcomes
  end
  local at_end = with ''
  for open, close in pairs(closing) do of_last[open] = with(close) end

  local function walk()
    -- The height is counted: LuaJIT has compiled #stack, after stack[#stack] = nil, to an old length.
    local stack, height = {}, 0
    local process = {}
    function process.next() return height == 0 and at_end or of_last[stack[height]] end
    function process.read(symbol)
      if closing[symbol] then
        height = height + 1
        stack[height] = symbol
      else
        height = height - 1
      end
    end
    return process
  end
  return { name = options.name or 'nested', title = options.title or 'Brackets', alphabet = alphabet, walk = walk,
    longest = options.longest }
end

return M
