-- A deterministic automaton for the language of grammars/dyck.lua.
name 'dyck_pda'
doc 'Balanced brackets of several types, not empty: pushes opening brackets, pops at closing ones.'

local types = option('bracket_types', 2, 'number of bracket types', { integer = true, minimum = 1 })

-- The four bracket pairs of the keyboard come first, then numbered ones: (5 )5, (6 )6, ...
local pairs_of_brackets = { { '(', ')' }, { '[', ']' }, { '{', '}' }, { '<', '>' } }
local function brackets(i)
  if pairs_of_brackets[i] then return unpack(pairs_of_brackets[i]) end
  return '(' .. i, ')' .. i
end

start 'empty'
bottom '⊥'
accepting { 'inside' }
at_bottom()
for i = 1, types do
  local open, close = brackets(i)
  transition(('empty, ⊥ --%s--> inside, push %s'):format(open, open))
  transition(('inside, x --%s--> inside, push %s for all x'):format(open, open))
  transition(('inside, %s --%s--> inside, pop'):format(open, close))
end
