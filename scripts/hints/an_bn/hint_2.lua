-- The language of grammars/an_bn.lua (Mali et al. 2019, section 5).
name 'an_bn_hint_2'
doc 'a^n b^n: all transitions, but no behaviour at the end of the string.'

start 'rise'
bottom '⊥'
states { 'rise', 'fall' }
symbols { 'a', 'b' }
stack_symbols { '⊥', 'a' }

transition 'rise, TOP --a--> rise, push a for all TOP'
transition 'rise, a --b--> fall, pop'
transition 'fall, a --b--> fall, pop'
