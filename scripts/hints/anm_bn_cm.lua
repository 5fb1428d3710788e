-- The language of grammars/anm_bn_cm.lua (Mali et al. 2019, section 5).
name 'anm_bn_cm'
doc 'a^(n+m) b^n c^m'
parts()

local minimum = option('minimum', 1, 'the smallest n and m', { integer = true, minimum = 0, maximum = 1 })

start 'rise'
bottom '⊥'
states { 'rise', 'fall', 'fall_again', 'dead' }
symbols { 'a', 'b', 'c' }
stack_symbols { '⊥', 'a' }
accepting(minimum == 0 and { 'rise', 'fall', 'fall_again' } or { 'fall_again' })
at_bottom()
dead { 'dead' }

transition 'rise, TOP --a--> rise, push a for all TOP'
transition 'rise, a --b--> fall, pop'
transition 'fall, a --b--> fall, pop'
transition 'fall, a --c--> fall_again, pop'
if minimum == 0 then transition 'rise, a --c--> fall_again, pop' end
transition 'fall_again, a --c--> fall_again, pop'

transition 'rise, ⊥ --S--> dead, replace ⊥ for S in b c'
if minimum == 1 then transition 'rise, a --c--> dead, replace a' end
transition 'fall, TOP --a--> dead, replace TOP for all TOP'
transition 'fall, ⊥ --S--> dead, replace ⊥ for S in b c'
transition 'fall_again, TOP --S--> dead, replace TOP for all TOP for S in a b'
transition 'fall_again, ⊥ --c--> dead, replace ⊥'
