-- The parentheses of Sun, Giles, Chen, Lee 1998 (one type) and Mali et al. 2019 (two types: Dyck(2)). All
-- strings of one length are equally probable.
name 'parenthesis'
doc 'Balanced brackets, also empty; all strings of one length are equally probable.'

local types = option('bracket_types', 2, 'number of bracket types', { integer = true, minimum = 1 })
local p = option('p', 0.4, 'probability of a bracket pair where the string could end', { minimum = 0, maximum = 1 })

unambiguous()
start 'S'
for i = 1, types do
  local open, close = bracket_pair(i)
  rule(("S -> '%s' S '%s' S"):format(open, close), p / types)
end
rule('S ->', 1 - p)
