-- Mali et al. 2019.
name 'anm_bn_cm'
doc 'a^(n+m) b^n c^m: one count, taken down by two different symbols.'

local minimum = option('minimum', 1, 'the smallest n and m', { integer = true, minimum = 0, maximum = 1 })
local mean = option('mean_length', 10, 'mean of n and of m above the smallest', { minimum = 0 })

unambiguous()
start 'S'
local go_on = mean / (mean + 1)
rule("S -> 'a' S 'c'", go_on)
rule(minimum == 0 and 'S -> N' or "S -> 'a' N 'c'", 1 - go_on)
rule("N -> 'a' N 'b'", go_on)
rule(minimum == 0 and 'N ->' or "N -> 'a' 'b'", 1 - go_on)
symbols { 'a', 'b', 'c' }
