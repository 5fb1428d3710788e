-- The languages of Lan et al. (2022): the counting languages and the brackets, as processes with the probabilities that
-- the program of the paper has (taucompling/mdlrnn, corpora.py), and their tests. A language of pd.languages has here
--   name, title, alphabet, walk   as in pd.languages
--   language         itself
--   size(symbols)    what the strings of a test are ordered by
--   test(largest, options)  strings of the test, after training strings of at most this size; {strings =, weights =}
--   long             whether strings of the test have thousands of symbols
--   accuracy         'deterministic': of the steps at which one symbol alone can follow, the share at which the model
--                    finds it most probable; 'categorical': the share of the steps at which the symbols above a
--                    probability of epsilon are those that can follow
local pd = require 'pushdown'

local M = { list = {} }

local stop, nest, longest = 0.3, 0.3, 200

-- `count` numbers of first .. last, evenly spread, the last included; all of them if there are no more.
local function spread(first, last, count)
  local numbers, all = {}, last - first + 1
  if count >= all then count = all end
  for i = 1, count do numbers[i] = first - 1 + math.ceil(all * i / count) end
  return numbers
end
M.spread = spread

local function add(language, row)
  row.name, row.title, row.language, row.alphabet = language.name, language.title, language, language:alphabet()
  function row.walk() return language:walk() end
  M.list[#M.list + 1], M[row.name] = row, row
end

-- Letters that are repeated `drawn` numbers of times, and further ones a multiple of their sum.
local function counting(name, title, letters, drawn, multiples)
  local row = { accuracy = 'deterministic', long = drawn == 1 }

  local function string_of(counts)
    local parts, sum = {}, 0
    for _, count in ipairs(counts) do sum = sum + count end
    for i, letter in ipairs(letters) do parts[i] = letter:rep(counts[i] or multiples[i - drawn] * sum) end
    return pd.tables.matches(table.concat(parts), '.')
  end

  -- The largest of the drawn numbers.
  function row.size(symbols)
    local counts, largest = {}, 0
    for _, symbol in ipairs(symbols) do counts[symbol] = (counts[symbol] or 0) + 1 end
    for i = 1, drawn do largest = math.max(largest, counts[letters[i]] or 0) end
    return largest
  end

  -- n of the 1,000 numbers after the largest of the training; of two numbers, all pairs of the 49 numbers after it.
  function row.test(largest, options)
    local strings = {}
    if drawn == 1 then
      for i, n in ipairs(spread(largest + 1, largest + options.beyond, options.test_strings)) do
        strings[i] = string_of { n }
      end
      return { strings = strings }
    end
    local side = math.min(49, options.beyond)
    for i, pair in ipairs(spread(0, side * side - 1, options.test_strings)) do
      strings[i] = string_of { largest + 1 + math.floor(pair / side), largest + 1 + pair % side }
    end
    return { strings = strings }
  end
  add(pd.languages.counting { name = name, title = title, letters = letters, drawn = drawn, multiples = multiples,
    stop = stop }, row)
end

counting('an_bn', 'aⁿbⁿ', { 'a', 'b' }, 1, { 1 })
counting('an_bn_cn', 'aⁿbⁿcⁿ', { 'a', 'b', 'c' }, 1, { 1, 1 })
counting('an_bn_cn_dn', 'aⁿbⁿcⁿdⁿ', { 'a', 'b', 'c', 'd' }, 1, { 1, 1, 1 })
counting('an_b2n', 'aⁿb²ⁿ', { 'a', 'b' }, 1, { 2 })
counting('an_bm_cnm', 'aⁿbᵐcⁿ⁺ᵐ', { 'a', 'b', 'c' }, 2, { 1 })

-- Brackets: a new one opens with the probability `nest` at every step; else the last open one closes or, if there is
-- none, the string ends. One string of 10 million is longer than `longest`.
local function brackets(name, title, kinds)
  local language = pd.languages.nested { name = name, title = title, brackets = kinds, nest = nest, longest = longest }
  add(language, { accuracy = 'categorical', size = function(symbols) return #symbols end,
    -- Strings that are drawn as those of the training are, equal ones as one with their number as its weight.
    test = function(_, options)
      local strings, weights, place = {}, {}, {}
      for _, symbols in ipairs(language:draw(options.test_draws, { random = options.random })) do
        local text = table.concat(symbols)
        if not place[text] then
          place[text] = #strings + 1
          strings[#strings + 1], weights[#weights + 1] = symbols, 0
        end
        weights[place[text]] = weights[place[text]] + 1
      end
      return { strings = strings, weights = weights }
    end })
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

-- The share of the last outcome at the steps of strings that have several: the estimate of `stop`, or of 1 - `nest`.
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

M.generator = require('pushdown.languages.random').blocks

-- Draws `count` strings.
function M.strings(language, count, seed) return language.language:draw(count, { seed = seed }) end

return M
