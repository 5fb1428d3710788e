-- DuSell and Chiang 2020, section 3.2 and Figure 2.
name 'unmarked_reversal_pda'
doc 'w reversed(w): every place may be the middle.'

local kinds = option('symbols', 2, 'number of content symbols 0, 1, ...', { integer = true, minimum = 1 })

start 'q1'
bottom '⊥'
at_bottom()
local listed = {}
for i = 1, kinds do listed[i] = tostring(i - 1) end
symbols(listed)
local all = table.concat(listed, ' ')
transition('q1, x --a--> q1, push a for all x for a in ' .. all)
transition('q1, a --a--> q2, pop for a in ' .. all)
transition('q2, a --a--> q2, pop for a in ' .. all)
