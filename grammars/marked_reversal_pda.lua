-- A deterministic automaton for the language of grammars/marked_reversal.lua.
name 'marked_reversal_pda'
doc 'w # reversed(w): pushes up to the mark, pops after it.'

local kinds = option('symbols', 2, 'number of content symbols 0, 1, ...', { integer = true, minimum = 1 })

start 'first'
bottom '⊥'
accepting { 'second' }
at_bottom()
local listed = {}
for i = 1, kinds do listed[i] = tostring(i - 1) end
local all = table.concat(listed, ' ')
listed[#listed + 1] = '#'
symbols(listed)
transition('first, x --a--> first, push a for all x for a in ' .. all)
transition('first, x --#--> second, replace x for all x')
transition('second, a --a--> second, pop for a in ' .. all)
