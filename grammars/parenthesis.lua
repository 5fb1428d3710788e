-- The parentheses of Sun, Giles, Chen, Lee 1998 (one type) and Mali et al. 2019 (two types: Dyck(2)). All
-- strings of one length are equally probable.
name 'parenthesis'
doc 'Balanced brackets, also empty; all strings of one length are equally probable.'

local types = option('bracket_types', 2, 'number of bracket types', { integer = true, minimum = 1 })
local p = option('p', 0.4, 'probability of a bracket pair where the string could end', { minimum = 0, maximum = 1 })

-- The four bracket pairs of the keyboard come first, then numbered ones: (5 )5, (6 )6, ...
local pairs_of_brackets = { { '(', ')' }, { '[', ']' }, { '{', '}' }, { '<', '>' } }

unambiguous()
start 'S'
for i = 1, types do
  local open, close = '(' .. i, ')' .. i
  if pairs_of_brackets[i] then open, close = unpack(pairs_of_brackets[i]) end
  rule(("S -> '%s' S '%s' S"):format(open, close), p / types)
end
rule('S ->', 1 - p)
