-- Context-free languages that the FLaRe benchmark does not have, in the form of languages.lua, all with hard negatives:
-- brackets of any depth, reversals in a row, and formulas with their values.
local pd = require 'pushdown'
local here = debug.getinfo(1, 'S').source:match('^@(.*/)') or ''
local brackets = dofile(here .. 'brackets.lua')

local function text(lines) return pd.grammar.parse(table.concat(lines, '\n')) end

-- Reversals with marks, one after the other; an empty one is its mark alone.
local function in_row(symbols)
  local open, popping = {}, false
  for _, symbol in ipairs(symbols) do
    if symbol == '#' then
      if popping then return false end
      popping = #open > 0
    elseif not popping then
      open[#open + 1] = symbol
    else
      if table.remove(open) ~= symbol then return false end
      popping = #open > 0
    end
  end
  return #open == 0
end

-- The value of a formula that begins at i, and the place after it; nil if there is none.
local function value(symbols, i)
  if symbols[i] == '0' or symbols[i] == '1' then return symbols[i] == '1', i + 1 end
  if symbols[i] ~= '(' then return nil end
  local left, at = value(symbols, i + 1)
  if left == nil then return nil end
  local sign, right = symbols[at]
  if sign ~= 'and' and sign ~= 'or' then return nil end
  right, at = value(symbols, at + 1)
  if right == nil or symbols[at] ~= ')' then return nil end
  if sign == 'and' then return left and right, at + 1 end
  return left or right, at + 1
end

-- A formula in brackets, '=' and its value.
local function in_formula(symbols)
  local found, at = value(symbols, 1)
  return found ~= nil and symbols[at] == '=' and symbols[at + 1] == (found and '1' or '0') and #symbols == at + 1
end

return {
  { name = 'dyck_2', title = 'Dyck-2', level = 'context-free', alphabet = { '(', ')', '[', ']' },
    contains = brackets(math.huge),
    grammar = function() return text { "S -> '(' S ')' S [0.2] | '[' S ']' S [0.2] | [0.6]" } end },
  { name = 'reversals', title = 'Reversals', level = 'context-free', alphabet = { '0', '1', '#' },
    marks = { ['#'] = true }, contains = in_row, grammar = function()
      return text { "R -> W R [0.2] | [0.8]", "W -> '0' W '0' [0.45] | '1' W '1' [0.45] | '#' [0.1]" }
    end },
  { name = 'formulas', title = 'Formulas', level = 'context-free', alphabet = { '=', '1', '0', '(', 'and', ')', 'or' },
    marks = { ['='] = true }, exchanges = 40, kind = function(symbol)
      return symbol:find '^[01]$' and 'bit' or symbol:find '^%l' and 'sign' or symbol
    end, contains = in_formula, grammar = function()
      -- T has the value 1, F the value 0.
      return text { "S -> T '=' '1' | F '=' '0'",
        "T -> '1' [0.6] | '(' T 'and' T ')' [0.1] | '(' T 'or' T ')' [0.1]",
        "T -> '(' T 'or' F ')' [0.1] | '(' F 'or' T ')' [0.1]",
        "F -> '0' [0.6] | '(' F 'or' F ')' [0.1] | '(' F 'and' F ')' [0.1]",
        "F -> '(' T 'and' F ')' [0.1] | '(' F 'and' T ')' [0.1]" }
    end },
}
