-- The language of grammars/an_bn.lua (Mali et al. 2019, section 5).
name 'an_bn_dead_states'
doc 'a^n b^n: only the transitions into the dead state.'

start 'rise'
bottom '⊥'
states { 'rise', 'fall', 'dead' }
symbols { 'a', 'b' }
stack_symbols { '⊥', 'a' }
dead { 'dead' }

transition 'rise, ⊥ --b--> dead, replace ⊥'
transition 'fall, TOP --a--> dead, replace TOP for all TOP'
transition 'fall, ⊥ --b--> dead, replace ⊥'
