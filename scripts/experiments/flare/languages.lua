-- The eighteen languages of the FLaRe benchmark (Butoi et al. 2025): name, title, level, alphabet, whether a list of
-- symbols is in the language, and where its strings come from: a grammar, or a function of a random number generator
-- and a length, which returns nil where there is none of this length (computed.lua). For the hard negatives: marks, the
-- symbols that keep their places; kind(symbol), symbols of different kinds are not exchanged; exchanges (1), how many
-- are tried with one string; counted, whether the counts of the symbols, or the last one alone, decide.
local pd = require 'pushdown'
local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''
local brackets = dofile(here .. 'brackets.lua')

local function text(lines) return pd.grammar.parse(table.concat(lines, '\n')) end

-- The places of a cycle of five, and at last the place where one is.
local function cycle()
  local lines = {}
  for place = 0, 4 do
    lines[#lines + 1] = ("P%d -> 'left' P%d | 'stay' P%d | 'right' P%d | '%d'"):format(place, (place - 1) % 5, place,
      (place + 1) % 5, place)
  end
  return text(lines)
end

-- Digits below 5 with + - * between them, '=', and the value modulo 5. The benchmark's program computes from left to
-- right: no operator has precedence.
local operations = {
  ['+'] = function(a, b) return (a + b) % 5 end,
  ['-'] = function(a, b) return (a - b) % 5 end,
  ['*'] = function(a, b) return a * b % 5 end,
}

local function arithmetic()
  local function digits(value_of)
    local list = {}
    for digit = 0, 4 do list[digit + 1] = ("'%d' V%d"):format(digit, value_of(digit)) end
    return table.concat(list, ' | ')
  end
  local lines = { 'S -> ' .. digits(function(digit) return digit end) }
  for value = 0, 4 do
    lines[#lines + 1] = ("V%d -> '+' A%d | '-' B%d | '*' C%d | '=' '%d'"):format(value, value, value, value, value)
    for _, next_one in ipairs { { 'A', '+' }, { 'B', '-' }, { 'C', '*' } } do
      lines[#lines + 1] = ('%s%d -> %s'):format(next_one[1], value, digits(function(digit)
        return operations[next_one[2]](value, digit)
      end))
    end
  end
  return text(lines)
end

-- Brackets of two types, at most three deep.
local function dyck()
  local lines = {}
  for depth = 3, 1, -1 do
    lines[#lines + 1] = ("D%d -> '(' D%d ')' D%d | '[' D%d ']' D%d |"):format(depth, depth - 1, depth, depth - 1, depth)
  end
  lines[#lines + 1] = 'D0 ->'
  return text(lines)
end

local bits, mark = { '0', '1' }, { ['#'] = true }

local function count(symbols, wanted)
  local sum = 0
  for _, symbol in ipairs(symbols) do sum = sum + (symbol == wanted and 1 or 0) end
  return sum
end

local steps = { left = -1, stay = 0, right = 1 }

local function in_cycle(symbols)
  local place = 0
  for i = 1, #symbols - 1 do
    if not steps[symbols[i]] then return false end
    place = (place + steps[symbols[i]]) % 5
  end
  return symbols[#symbols] == tostring(place)
end

local function in_arithmetic(symbols)
  local value = tonumber(symbols[1])
  if #symbols < 3 or not value then return false end
  for i = 2, #symbols - 2, 2 do
    local operation, digit = operations[symbols[i]], tonumber(symbols[i + 1])
    if not operation or not digit then return false end
    value = operation(value, digit)
  end
  return #symbols % 2 == 1 and symbols[#symbols - 1] == '=' and symbols[#symbols] == tostring(value)
end

-- The second half is the first one reversed; a mark may be in the middle only.
local function mirrored(symbols)
  for i = 1, math.floor(#symbols / 2) do
    if symbols[i] ~= symbols[#symbols + 1 - i] or symbols[i] == '#' then return false end
  end
  return true
end

-- A stack of bits, bottom first, what is pushed on it and popped from it, and '#' with what is left, top first. S has
-- the bits that stay from the beginning, A those that are popped, D what is pushed and popped in between, and R the
-- pushed bits that stay.
local function manipulation()
  return text { "S -> '0' S '0' | '1' S '1' | A R", "A -> '0' A 'POP' D | '1' A 'POP' D | D",
    "D -> 'PUSH' '0' D 'POP' D [0.2] | 'PUSH' '1' D 'POP' D [0.2] | [0.6]",
    "R -> '#' | 'PUSH' '0' D R '0' | 'PUSH' '1' D R '1'" }
end

local function in_manipulation(symbols)
  local stack, i, started = {}, 1, false
  while symbols[i] ~= '#' do
    if symbols[i] == 'PUSH' then
      i, started = i + 1, true
      if symbols[i] ~= '0' and symbols[i] ~= '1' then return false end
      stack[#stack + 1] = symbols[i]
    elseif symbols[i] == 'POP' then
      started = true
      if not table.remove(stack) then return false end
    elseif started or not symbols[i] then
      return false
    else
      stack[#stack + 1] = symbols[i]
    end
    i = i + 1
  end
  for at = i + 1, #symbols do
    if table.remove(stack) ~= symbols[at] then return false end
  end
  return #stack == 0
end

local languages = {
  { name = 'even_pairs', title = 'Even Pairs', level = 'regular', alphabet = bits, grammar = function()
    return text { "S -> '0' A | '1' B |", "A -> '0' A | '1' C |", "C -> '1' C | '0' A", "B -> '1' B | '0' D |",
      "D -> '0' D | '1' B" }
  end, contains = function(symbols) return symbols[1] == symbols[#symbols] end },
  { name = 'repeat_01', title = 'Repeat 01', level = 'regular', alphabet = bits, grammar = function()
    return text { "S -> '0' '1' S |" }
  end, contains = function(symbols)
    for i, symbol in ipairs(symbols) do
      if symbol ~= bits[(i - 1) % 2 + 1] then return false end
    end
    return #symbols % 2 == 0
  end },
  { name = 'parity', counted = true, title = 'Parity', level = 'regular', alphabet = bits, grammar = function()
    return text { "E -> '0' E | '1' O", "O -> '0' O | '1' E |" }
  end, contains = function(symbols) return count(symbols, '1') % 2 == 1 end },
  { name = 'cycle_navigation', counted = true, title = 'Cycle Navigation', level = 'regular', grammar = cycle,
    contains = in_cycle, alphabet = { 'left', 'stay', 'right', '0', '1', '2', '3', '4' } },
  { name = 'modular_arithmetic', title = 'Modular Arithmetic', level = 'regular', grammar = arithmetic,
    contains = in_arithmetic, alphabet = { '0', '1', '2', '3', '4', '+', '-', '*', '=' },
    marks = { ['='] = true }, kind = function(symbol) return symbol:find '%d' ~= nil end },
  { name = 'dyck_2_3', title = 'Dyck-(2, 3)', level = 'regular', grammar = dyck, contains = brackets(3),
    alphabet = { '(', ')', '[', ']' } },
  { name = 'first', title = 'First', level = 'regular', alphabet = bits, grammar = function()
    return text { "S -> '1' A", "A -> '0' A | '1' A |" }
  end, contains = function(symbols) return symbols[1] == '1' end },
  { name = 'majority', counted = true, title = 'Majority', level = 'context-free', alphabet = bits, grammar = function()
    -- As many ones as zeros; then a one, and what never falls below, once for every one that is left over.
    return text { "M -> E '1' P | M '1' P", "E -> '1' P '0' E | '0' N '1' E |", "P -> '1' P '0' P |",
      "N -> '0' N '1' N |" }
  end, contains = function(symbols) return 2 * count(symbols, '1') > #symbols end },
  { name = 'marked_reversal', title = 'Marked Reversal', level = 'context-free', alphabet = { '0', '1', '#' },
    marks = mark, grammar = function()
      return text { "S -> '0' S '0' | '1' S '1' | '#'" }
    end, contains = function(symbols)
      return #symbols % 2 == 1 and symbols[(#symbols + 1) / 2] == '#' and mirrored(symbols)
    end },
  { name = 'unmarked_reversal', title = 'Unmarked Reversal', level = 'context-free', alphabet = bits,
    grammar = function() return text { "S -> '0' S '0' | '1' S '1' |" } end, contains = function(symbols)
      return #symbols % 2 == 0 and mirrored(symbols)
    end },
  { name = 'stack_manipulation', title = 'Stack Manipulation', level = 'context-free', grammar = manipulation,
    contains = in_manipulation, alphabet = { '0', '1', 'PUSH', 'POP', '#' }, marks = mark,
    kind = function(symbol) return symbol:find '^[01]$' ~= nil and 'bit' or symbol end },
}
for _, language in ipairs(dofile(here .. 'computed.lua')) do languages[#languages + 1] = language end
return languages
