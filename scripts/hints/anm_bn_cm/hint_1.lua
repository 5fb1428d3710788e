-- The language of grammars/anm_bn_cm.lua (Mali et al. 2019, section 5).
name 'anm_bn_cm_hint_1'
doc 'a^(n+m) b^n c^m: only the transitions that push.'

start 'rise'
bottom '⊥'
states { 'rise', 'fall', 'fall_again' }
symbols { 'a', 'b', 'c' }
stack_symbols { '⊥', 'a' }

transition 'rise, TOP --a--> rise, push a for all TOP'
