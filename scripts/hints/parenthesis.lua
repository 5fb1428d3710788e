-- The language of grammars/parenthesis.lua (Mali et al. 2019, section 5).
name 'parenthesis'
doc 'Balanced brackets'
parts()

local types = option('bracket_types', 2, 'number of bracket types', { integer = true, minimum = 1 })
local listed, opening, closing = {}, {}, {}
for i = 1, types do
  opening[i], closing[i] = bracket_pair(i)
  listed[#listed + 1], listed[#listed + 2] = opening[i], closing[i]
end

start 'inside'
bottom '⊥'
states { 'inside', 'dead' }
symbols(listed)
stack_symbols { '⊥', unpack(opening) }
accepting { 'inside' }
at_bottom()
dead { 'dead' }

for i = 1, types do
  transition(('inside, TOP --%s--> inside, push %s for all TOP'):format(opening[i], opening[i]))
end
for i = 1, types do transition(('inside, %s --%s--> inside, pop'):format(opening[i], closing[i])) end

for i = 1, types do
  transition(('inside, ⊥ --%s--> dead, replace ⊥'):format(closing[i]))
  for j = 1, types do
    if j ~= i then
      transition(('inside, %s --%s--> dead, replace %s'):format(opening[j], closing[i], opening[j]))
    end
  end
end
