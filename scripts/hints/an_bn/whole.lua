-- The language of grammars/an_bn.lua (Mali et al. 2019, section 5).
name 'an_bn_whole'
doc 'a^n b^n: the complete automaton.'

local minimum = option('minimum', 1, 'the smallest n', { integer = true, minimum = 0, maximum = 1 })

start 'rise'
bottom '⊥'
states { 'rise', 'fall' }
symbols { 'a', 'b' }
stack_symbols { '⊥', 'a' }
accepting(minimum == 0 and { 'rise', 'fall' } or { 'fall' })
at_bottom()

transition 'rise, TOP --a--> rise, push a for all TOP'
transition 'rise, a --b--> fall, pop'
transition 'fall, a --b--> fall, pop'
