-- The language of grammars/an_bn.lua (Mali et al. 2019, section 5).
name 'an_bn'
doc 'a^n b^n'
parts()

local minimum = option('minimum', 1, 'the smallest n', { integer = true, minimum = 0, maximum = 1 })

start 'rise'
bottom '⊥'
states { 'rise', 'fall', 'dead' }
symbols { 'a', 'b' }
stack_symbols { '⊥', 'a' }
accepting(minimum == 0 and { 'rise', 'fall' } or { 'fall' })
at_bottom()
dead { 'dead' }

transition 'rise, TOP --a--> rise, push a for all TOP'
transition 'rise, a --b--> fall, pop'
transition 'fall, a --b--> fall, pop'

transition 'rise, ⊥ --b--> dead, replace ⊥'
transition 'fall, TOP --a--> dead, replace TOP for all TOP'
transition 'fall, ⊥ --b--> dead, replace ⊥'
