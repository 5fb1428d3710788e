-- The language of grammars/an_bn_c_bm_am.lua (Mali et al. 2019, section 5).
name 'an_bn_c_bm_am_whole'
doc 'a^n b^n c b^m a^m: the complete automaton.'

local minimum = option('minimum', 1, 'the smallest n and m', { integer = true, minimum = 0, maximum = 1 })

start 'rise'
bottom '⊥'
states { 'rise', 'fall', 'rise_again', 'fall_again' }
symbols { 'a', 'b', 'c' }
stack_symbols { '⊥', 'a', 'b' }
accepting(minimum == 0 and { 'rise_again', 'fall_again' } or { 'fall_again' })
at_bottom()

transition 'rise, TOP --a--> rise, push a for TOP in ⊥ a'
transition 'rise_again, TOP --b--> rise_again, push b for TOP in ⊥ b'
transition 'rise, a --b--> fall, pop'
transition 'fall, a --b--> fall, pop'
transition 'fall, ⊥ --c--> rise_again, replace ⊥'
if minimum == 0 then transition 'rise, ⊥ --c--> rise_again, replace ⊥' end
transition 'rise_again, b --a--> fall_again, pop'
transition 'fall_again, b --a--> fall_again, pop'
