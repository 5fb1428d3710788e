-- The language of grammars/an_bn_c_bm_am.lua (Mali et al. 2019, section 5).
name 'an_bn_c_bm_am'
doc 'a^n b^n c b^m a^m'
parts()

local minimum = option('minimum', 1, 'the smallest n and m', { integer = true, minimum = 0, maximum = 1 })

start 'rise'
bottom '⊥'
states { 'rise', 'fall', 'rise_again', 'fall_again', 'dead' }
symbols { 'a', 'b', 'c' }
stack_symbols { '⊥', 'a', 'b' }
accepting(minimum == 0 and { 'rise_again', 'fall_again' } or { 'fall_again' })
at_bottom()
dead { 'dead' }

transition 'rise, TOP --a--> rise, push a for TOP in ⊥ a'
transition 'rise_again, TOP --b--> rise_again, push b for TOP in ⊥ b'
transition 'rise, a --b--> fall, pop'
transition 'fall, a --b--> fall, pop'
transition 'fall, ⊥ --c--> rise_again, replace ⊥'
if minimum == 0 then transition 'rise, ⊥ --c--> rise_again, replace ⊥' end
transition 'rise_again, b --a--> fall_again, pop'
transition 'fall_again, b --a--> fall_again, pop'

transition 'rise, ⊥ --b--> dead, replace ⊥'
transition 'rise, a --c--> dead, replace a'
if minimum == 1 then transition 'rise, ⊥ --c--> dead, replace ⊥' end
transition 'fall, TOP --a--> dead, replace TOP for TOP in ⊥ a'
transition 'fall, ⊥ --b--> dead, replace ⊥'
transition 'fall, a --c--> dead, replace a'
transition 'rise_again, ⊥ --a--> dead, replace ⊥'
transition 'rise_again, TOP --c--> dead, replace TOP for TOP in ⊥ b'
transition 'fall_again, TOP --S--> dead, replace TOP for TOP in ⊥ b for S in b c'
transition 'fall_again, ⊥ --a--> dead, replace ⊥'
