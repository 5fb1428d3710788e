-- The language of grammars/anm_bn_cm.lua (Mali et al. 2019, section 5).
name 'anm_bn_cm_hint_2'
doc 'a^(n+m) b^n c^m: all transitions, but no behaviour at the end of the string.'

local minimum = option('minimum', 1, 'the smallest n and m', { integer = true, minimum = 0, maximum = 1 })

start 'rise'
bottom '⊥'
states { 'rise', 'fall', 'fall_again' }
symbols { 'a', 'b', 'c' }
stack_symbols { '⊥', 'a' }

transition 'rise, TOP --a--> rise, push a for all TOP'
transition 'rise, a --b--> fall, pop'
transition 'fall, a --b--> fall, pop'
transition 'fall, a --c--> fall_again, pop'
if minimum == 0 then transition 'rise, a --c--> fall_again, pop' end
transition 'fall_again, a --c--> fall_again, pop'
