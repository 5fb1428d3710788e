-- A deterministic automaton for the language of grammars/dyck.lua.
name 'dyck_pda'
doc 'Balanced brackets of several types, not empty: pushes opening brackets, pops at closing ones.'

local types = option('bracket_types', 2, 'number of bracket types', { integer = true, minimum = 1 })

start 'empty'
bottom '⊥'
accepting { 'inside' }
at_bottom()
for i = 1, types do
  local open, close = bracket_pair(i)
  transition(('empty, ⊥ --%s--> inside, push %s'):format(open, open))
  transition(('inside, x --%s--> inside, push %s for all x'):format(open, open))
  transition(('inside, %s --%s--> inside, pop'):format(open, close))
end
