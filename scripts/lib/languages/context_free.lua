-- Languages with a grammar: eleven of the eighteen of the FLaRe benchmark (Butoi et al. 2025), whose others are in
-- computed.lua, and three context-free ones of the same form. Membership in some is decided faster than by the grammar.
local pd = require 'pushdown'

local bits, bits_and_mark, mark = { '0', '1' }, { '0', '1', '#' }, { ['#'] = true }
local brackets = { '(', ')', '[', ']' }

local function rules(text) return function() return pd.grammar.parse(text) end end
local function file(name, options) return function() return pd.grammar.load(name, options) end end

local function ones(symbols)
  local sum = 0
  for _, symbol in ipairs(symbols) do sum = sum + (symbol == '1' and 1 or 0) end
  return sum
end

-- The places of a cycle of five, and at last the place where one is.
local function cycle()
  local lines = {}
  for place = 0, 4 do
    lines[#lines + 1] = ("P%d -> 'left' P%d | 'stay' P%d | 'right' P%d | '%d'"):format(place, (place - 1) % 5, place,
      (place + 1) % 5, place)
  end
  return pd.grammar.parse(table.concat(lines, '\n'))
end

-- Digits below 5 with + - * between them, '=', and the value modulo 5. The benchmark's program computes from left to
-- right: no operator has precedence.
local function arithmetic()
  local function digits(value_of)
    local list = {}
    for digit = 0, 4 do list[digit + 1] = ("'%d' V%d"):format(digit, value_of(digit) % 5) end
    return table.concat(list, ' | ')
  end
  local lines = { 'S -> ' .. digits(function(digit) return digit end) }
  for value = 0, 4 do
    lines[#lines + 1] = ("V%d -> '+' A%d | '-' B%d | '*' C%d | '=' '%d'"):format(value, value, value, value, value)
    for i, operation in ipairs { function(digit) return value + digit end, function(digit) return value - digit end,
      function(digit) return value * digit end } do
      lines[#lines + 1] = ('%s%d -> %s'):format(('ABC'):sub(i, i), value, digits(operation))
    end
  end
  return pd.grammar.parse(table.concat(lines, '\n'))
end

return {
  { name = 'even_pairs', title = 'Even Pairs', level = 'regular', alphabet = bits, grammar = rules [[
      S -> '0' A | '1' B |
      A -> '0' A | '1' C |
      C -> '1' C | '0' A
      B -> '1' B | '0' D |
      D -> '0' D | '1' B]], contains = function(symbols) return symbols[1] == symbols[#symbols] end },
  { name = 'repeat_01', title = 'Repeat 01', level = 'regular', alphabet = bits, grammar = rules "S -> '0' '1' S |" },
  { name = 'parity', counted = true, title = 'Parity', level = 'regular', alphabet = bits, grammar = rules [[
      E -> '0' E | '1' O
      O -> '0' O | '1' E |]], contains = function(symbols) return ones(symbols) % 2 == 1 end },
  { name = 'cycle_navigation', counted = true, title = 'Cycle Navigation', level = 'regular', grammar = cycle,
    alphabet = { 'left', 'stay', 'right', '0', '1', '2', '3', '4' } },
  { name = 'modular_arithmetic', title = 'Modular Arithmetic', level = 'regular', grammar = arithmetic,
    alphabet = { '0', '1', '2', '3', '4', '+', '-', '*', '=' },
    marks = { ['='] = true }, kind = function(symbol) return symbol:find '%d' ~= nil end },
  -- Brackets of two types, at most three deep.
  { name = 'dyck_2_3', title = 'Dyck-(2, 3)', level = 'regular', alphabet = brackets, grammar = rules [[
      D3 -> '(' D2 ')' D3 | '[' D2 ']' D3 |
      D2 -> '(' D1 ')' D2 | '[' D1 ']' D2 |
      D1 -> '(' D0 ')' D1 | '[' D0 ']' D1 |
      D0 ->]] },
  { name = 'first', title = 'First', level = 'regular', alphabet = bits, grammar = rules [[
      S -> '1' A
      A -> '0' A | '1' A |]], contains = function(symbols) return symbols[1] == '1' end },
  -- As many ones as zeros; then a one, and what never falls below, once for every one that is left over.
  { name = 'majority', counted = true, title = 'Majority', level = 'context-free', alphabet = bits, grammar = rules [[
      M -> E '1' P | M '1' P
      E -> '1' P '0' E | '0' N '1' E |
      P -> '1' P '0' P |
      N -> '0' N '1' N |]], contains = function(symbols) return 2 * ones(symbols) > #symbols end },
  { name = 'marked_reversal', title = 'Marked Reversal', level = 'context-free', alphabet = bits_and_mark,
    marks = mark, grammar = file('marked_reversal', { mean_length = 2 }) },
  { name = 'unmarked_reversal', title = 'Unmarked Reversal', level = 'context-free', alphabet = bits,
    grammar = file('unmarked_reversal', { mean_length = 2 }) },
  -- A stack of bits, bottom first, what is pushed on it and popped from it, and '#' with what is left, top first. S has
  -- the bits that stay from the beginning, A those that are popped, D what is pushed and popped in between, and R the
  -- pushed bits that stay.
  { name = 'stack_manipulation', title = 'Stack Manipulation', level = 'context-free', grammar = rules [[
      S -> '0' S '0' | '1' S '1' | A R
      A -> '0' A 'POP' D | '1' A 'POP' D | D
      D -> 'PUSH' '0' D 'POP' D [0.2] | 'PUSH' '1' D 'POP' D [0.2] | [0.6]
      R -> '#' | 'PUSH' '0' D R '0' | 'PUSH' '1' D R '1']],
    alphabet = { '0', '1', 'PUSH', 'POP', '#' }, marks = mark,
    kind = function(symbol) return symbol:find '^[01]$' ~= nil and 'bit' or symbol end },

  { name = 'dyck_2', title = 'Dyck-2', level = 'context-free', alphabet = brackets,
    grammar = file('parenthesis', { p = 0.4 }) },
  -- Reversals with marks, one after the other; an empty one is its mark alone.
  { name = 'reversals', title = 'Reversals', level = 'context-free', alphabet = bits_and_mark, marks = mark,
    grammar = rules [[
      R -> W R [0.2] | [0.8]
      W -> '0' W '0' [0.45] | '1' W '1' [0.45] | '#' [0.1]
    ]] },
  -- A formula in brackets, '=' and its value. T has the value 1, F the value 0.
  { name = 'formulas', title = 'Formulas', level = 'context-free', alphabet = { '=', '1', '0', '(', 'and', ')', 'or' },
    marks = { ['='] = true }, exchanges = 40, kind = function(symbol)
      return symbol:find '^[01]$' and 'bit' or symbol:find '^%l' and 'sign' or symbol
    end, grammar = rules [[
      S -> T '=' '1' | F '=' '0'
      T -> '1' [0.6] | '(' T 'and' T ')' [0.1] | '(' T 'or' T ')' [0.1]
      T -> '(' T 'or' F ')' [0.1] | '(' F 'or' T ')' [0.1]
      F -> '0' [0.6] | '(' F 'or' F ')' [0.1] | '(' F 'and' F ')' [0.1]
      F -> '(' T 'and' F ')' [0.1] | '(' F 'and' T ')' [0.1]
    ]] },
}
