-- Sun, Giles, Chen, Lee 1998; Joulin and Mikolov 2015; Mali et al. 2019.
name 'an_bn'
doc 'a^n b^n: one string of each even length.'

local minimum = option('minimum', 1, 'the smallest n', { integer = true, minimum = 0, maximum = 1 })
local mean = option('mean_length', 10, 'mean of n above the smallest', { minimum = 0 })

unambiguous()
start 'S'
rule("S -> 'a' S 'b'", mean / (mean + 1))
rule(minimum == 0 and 'S ->' or "S -> 'a' 'b'", 1 / (mean + 1))
