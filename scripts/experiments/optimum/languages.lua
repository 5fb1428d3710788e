-- The languages of Lan et al. (2022), each as the random process that makes its strings symbol by symbol, so that the
-- probability of every step is known exactly: the counting languages and the brackets, with the probabilities that the
-- program of the paper has (taucompling/mdlrnn, corpora.py). A language has
--   name, title, alphabet
--   walk()           a process before its first symbol, with
--     next()         the distribution of what follows: {{ symbol, probability }, ..}, where '' is the end
--     read(symbol)   goes on
--   draw(random)     a string, a list of symbols; random() returns numbers in [0, 1)
--   size(symbols)    what the strings of a test are ordered by
--   test(largest, options)  strings of the test, after training strings of at most this size; {strings =, weights =}
--   long             whether strings of the test have thousands of symbols
--   accuracy         'deterministic': of the steps at which one symbol alone can follow, the share at which the model
--                    finds it most probable; 'categorical': the share of the steps at which the symbols above a
--                    probability of epsilon are those that can follow
local M = { list = {}, stop = 0.3, nest = 0.3, longest = 200 }

local function repeated(letter, count, into)
  for _ = 1, count do into[#into + 1] = letter end
end

-- `count` numbers of first .. last, evenly spread, the last included; all of them if there are no more.
local function spread(first, last, count)
  local numbers, all = {}, last - first + 1
  if count >= all then count = all end
  for i = 1, count do numbers[i] = first - 1 + math.ceil(all * i / count) end
  return numbers
end
M.spread = spread

local function draw(language, random)
  local walk, symbols = language.walk(), {}
  while true do
    local left, chosen = random(), nil
    for _, outcome in ipairs(walk.next()) do
      chosen, left = outcome[1], left - outcome[2]
      if left < 0 then break end
    end
    if chosen == '' then return symbols end
    symbols[#symbols + 1] = chosen
    walk.read(chosen)
  end
end

-- ---- Counting ----

-- The first `drawn` letters are repeated as often as geometric numbers say, from 1 on, P(n) = (1 - p)^(n-1) p. Every
-- later letter is repeated a multiple of their sum.
local function counting(name, title, letters, drawn, multiples)
  local language = { name = name, title = title, alphabet = letters, accuracy = 'deterministic', long = drawn == 1 }

  function language.string(counts)
    local symbols, sum = {}, 0
    for i, count in ipairs(counts) do
      repeated(letters[i], count, symbols)
      sum = sum + count
    end
    for i, multiple in ipairs(multiples) do repeated(letters[drawn + i], multiple * sum, symbols) end
    return symbols
  end

  local first, last, going, ended = { { letters[1], 1 } }, { { '', 1 } }, {}, {}
  for i = 1, drawn do going[i] = { { letters[i], 1 - M.stop }, { letters[i + 1], M.stop } } end
  for i = drawn + 1, #letters do ended[i] = { { letters[i], 1 } } end

  function language.walk()
    local letter, sum, left = 0, 0, 0
    local walk = {}
    function walk.next()
      if letter == 0 then return first end
      if letter <= drawn then return going[letter] end
      return ended[letter] or last
    end
    function walk.read(symbol)
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
    return walk
  end

  -- The largest of the drawn numbers.
  function language.size(symbols)
    local counts, largest = {}, 0
    for _, symbol in ipairs(symbols) do counts[symbol] = (counts[symbol] or 0) + 1 end
    for i = 1, drawn do largest = math.max(largest, counts[letters[i]] or 0) end
    return largest
  end

  -- n of the 1,000 numbers after the largest of the training; of two numbers, all pairs of the 49 numbers after it.
  function language.test(largest, options)
    local strings = {}
    if drawn == 1 then
      for i, n in ipairs(spread(largest + 1, largest + options.beyond, options.test_strings)) do
        strings[i] = language.string { n }
      end
      return { strings = strings }
    end
    local side = math.min(49, options.beyond)
    for i, pair in ipairs(spread(0, side * side - 1, options.test_strings)) do
      strings[i] = language.string { largest + 1 + math.floor(pair / side), largest + 1 + pair % side }
    end
    return { strings = strings }
  end

  function language.draw(random) return draw(language, random) end
  M.list[#M.list + 1] = language
end

counting('an_bn', 'aⁿbⁿ', { 'a', 'b' }, 1, { 1 })
counting('an_bn_cn', 'aⁿbⁿcⁿ', { 'a', 'b', 'c' }, 1, { 1, 1 })
counting('an_bn_cn_dn', 'aⁿbⁿcⁿdⁿ', { 'a', 'b', 'c', 'd' }, 1, { 1, 1, 1 })
counting('an_b2n', 'aⁿb²ⁿ', { 'a', 'b' }, 1, { 2 })
counting('an_bm_cnm', 'aⁿbᵐcⁿ⁺ᵐ', { 'a', 'b', 'c' }, 2, { 1 })

-- ---- Brackets ----

-- S -> open S close S with the probability M.nest, shared by the kinds of brackets, or nothing. So a new bracket opens
-- with this probability at every step; else the last open one closes or, if there is none, the string ends.
local function brackets(name, title, kinds)
  local language = { name = name, title = title, alphabet = {}, accuracy = 'categorical' }
  local closing, of_last = {}, {}
  for _, kind in ipairs(kinds) do
    local open, close = kind:match '^(.)(.)$'
    table.insert(language.alphabet, open)
    table.insert(language.alphabet, close)
    closing[open] = close
  end
  local function with(last)
    local outcomes = {}
    for i, kind in ipairs(kinds) do outcomes[i] = { kind:sub(1, 1), M.nest / #kinds } end
    outcomes[#outcomes + 1] = { last, 1 - M.nest }
    return outcomes
  end
  local at_end = with ''
  for open, close in pairs(closing) do of_last[open] = with(close) end

  function language.walk()
    -- The height is counted: LuaJIT has compiled #stack, after stack[#stack] = nil, to an old length.
    local stack, height = {}, 0
    local walk = {}
    function walk.next() return height == 0 and at_end or of_last[stack[height]] end
    function walk.read(symbol)
      if closing[symbol] then
        height = height + 1
        stack[height] = symbol
      else
        height = height - 1
      end
    end
    return walk
  end

  function language.size(symbols) return #symbols end

  -- Longer strings, one of 10 million, are drawn again.
  function language.draw(random)
    local symbols
    repeat symbols = draw(language, random) until #symbols <= M.longest
    return symbols
  end

  -- Strings that are drawn as those of the training are, equal ones as one with their number as its weight.
  function language.test(_, options)
    local strings, weights, place = {}, {}, {}
    for _ = 1, options.test_draws do
      local symbols = language.draw(options.random)
      local text = table.concat(symbols)
      if not place[text] then
        place[text] = #strings + 1
        strings[#strings + 1], weights[#weights + 1] = symbols, 0
      end
      weights[place[text]] = weights[place[text]] + 1
    end
    return { strings = strings, weights = weights }
  end

  M.list[#M.list + 1] = language
end

brackets('dyck_1', 'Dyck-1', { '[]' })
brackets('dyck_2', 'Dyck-2', { '[]', '()' })

-- ---- The optimum ----

-- What the process itself gives a string, in bits: the sum over its symbols and its end. last: the probability of the
-- last outcome of every step that has several, if another one than that of the process.
function M.bits(language, symbols, last)
  local walk, sum = language.walk(), 0
  for i = 1, #symbols + 1 do
    local wanted, probability = symbols[i] or '', 0
    local outcomes = walk.next()
    for k, outcome in ipairs(outcomes) do
      if outcome[1] == wanted then
        probability = outcome[2]
        if last and #outcomes > 1 then
          local usual = outcomes[#outcomes][2]
          probability = k == #outcomes and last or probability * (1 - last) / (1 - usual)
        end
      end
    end
    if probability == 0 then return math.huge end
    sum = sum - math.log(probability) / math.log(2)
    if symbols[i] then walk.read(wanted) end
  end
  return sum
end

-- The share of the last outcome at the steps of strings that have several: the estimate of M.stop, or of 1 - M.nest.
function M.estimate(language, strings)
  local chosen, all = 0, 0
  for _, symbols in ipairs(strings) do
    local walk = language.walk()
    for i = 1, #symbols + 1 do
      local outcomes, symbol = walk.next(), symbols[i] or ''
      if #outcomes > 1 then
        all = all + 1
        if symbol == outcomes[#outcomes][1] then chosen = chosen + 1 end
      end
      if symbols[i] then walk.read(symbol) end
    end
  end
  return chosen / all
end

-- The cross-entropy of the process on strings, in bits per symbol, where the end of a string is a symbol. last: see
-- M.bits.
function M.optimum(language, set, last)
  local bits, count = 0, 0
  for i, symbols in ipairs(set.strings) do
    local weight = set.weights and set.weights[i] or 1
    bits, count = bits + weight * M.bits(language, symbols, last), count + weight * (#symbols + 1)
  end
  return bits / count
end

-- generator(seed) -> function that returns numbers in [0, 1), all from the seed.
function M.generator(seed)
  local pd, numbers, used, block = require 'pushdown', {}, 0, 0
  return function()
    if used == #numbers then
      numbers = pd.tensor.rand({ 1000 }, { seed = seed + block * 2 ^ 40, dtype = 'float64' }):to_table()
      used, block = 0, block + 1
    end
    used = used + 1
    return numbers[used]
  end
end

-- Draws `count` strings.
function M.strings(language, count, seed)
  local random, strings = M.generator(seed), {}
  for i = 1, count do strings[i] = language.draw(random) end
  return strings
end

for _, language in ipairs(M.list) do M[language.name] = language end

return M
