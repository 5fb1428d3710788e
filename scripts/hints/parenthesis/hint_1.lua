-- The language of grammars/parenthesis.lua (Mali et al. 2019, section 5).
name 'parenthesis_hint_1'
doc 'Balanced brackets: only the transitions that push.'

local types = option('bracket_types', 2, 'number of bracket types', { integer = true, minimum = 1 })
-- As in grammars/parenthesis.lua: the bracket pairs of the keyboard, then numbered ones.
local pairs_of_brackets = { { '(', ')' }, { '[', ']' }, { '{', '}' }, { '<', '>' } }
for i = 1, types do pairs_of_brackets[i] = pairs_of_brackets[i] or { '(' .. i, ')' .. i } end
local listed = {}
for i = 1, types do
  listed[#listed + 1] = pairs_of_brackets[i][1]
  listed[#listed + 1] = pairs_of_brackets[i][2]
end

start 'inside'
bottom '⊥'
states { 'inside' }
symbols(listed)
local opening = {}
for i = 1, types do opening[i] = pairs_of_brackets[i][1] end
stack_symbols { '⊥', unpack(opening) }

for i = 1, types do
  transition(('inside, TOP --%s--> inside, push %s for all TOP'):format(opening[i], opening[i]))
end
