-- The language of grammars/an_bn.lua (Mali et al. 2019, section 5).
name 'an_bn_hint_1'
doc 'a^n b^n: only the transitions that push.'

start 'rise'
bottom '⊥'
states { 'rise', 'fall' }
symbols { 'a', 'b' }
stack_symbols { '⊥', 'a' }

transition 'rise, TOP --a--> rise, push a for all TOP'
