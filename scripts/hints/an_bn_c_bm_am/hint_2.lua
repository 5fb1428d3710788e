-- The language of grammars/an_bn_c_bm_am.lua (Mali et al. 2019, section 5).
name 'an_bn_c_bm_am_hint_2'
doc 'a^n b^n c b^m a^m: all transitions, but no behaviour at the end of the string.'

local minimum = option('minimum', 1, 'the smallest n and m', { integer = true, minimum = 0, maximum = 1 })

start 'rise'
bottom '⊥'
states { 'rise', 'fall', 'rise_again', 'fall_again' }
symbols { 'a', 'b', 'c' }
stack_symbols { '⊥', 'a', 'b' }

transition 'rise, TOP --a--> rise, push a for TOP in ⊥ a'
transition 'rise_again, TOP --b--> rise_again, push b for TOP in ⊥ b'
transition 'rise, a --b--> fall, pop'
transition 'fall, a --b--> fall, pop'
transition 'fall, ⊥ --c--> rise_again, replace ⊥'
if minimum == 0 then transition 'rise, ⊥ --c--> rise_again, replace ⊥' end
transition 'rise_again, b --a--> fall_again, pop'
transition 'fall_again, b --a--> fall_again, pop'
