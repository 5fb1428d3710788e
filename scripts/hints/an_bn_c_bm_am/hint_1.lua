-- The language of grammars/an_bn_c_bm_am.lua (Mali et al. 2019, section 5).
name 'an_bn_c_bm_am_hint_1'
doc 'a^n b^n c b^m a^m: only the transitions that push.'

start 'rise'
bottom '⊥'
states { 'rise', 'fall', 'rise_again', 'fall_again' }
symbols { 'a', 'b', 'c' }
stack_symbols { '⊥', 'a', 'b' }

transition 'rise, TOP --a--> rise, push a for TOP in ⊥ a'
transition 'rise_again, TOP --b--> rise_again, push b for TOP in ⊥ b'
