-- Mali et al. 2019.
name 'an_bn_c_bm_am'
doc 'a^n b^n c b^m a^m: two independent counts, one after the other.'

local minimum = option('minimum', 1, 'the smallest n and m', { integer = true, minimum = 0, maximum = 1 })
local mean = option('mean_length', 10, 'mean of n and of m above the smallest', { minimum = 0 })

unambiguous()
start 'S'
local go_on = mean / (mean + 1)
rule "S -> N 'c' M"
rule("N -> 'a' N 'b'", go_on)
rule(minimum == 0 and 'N ->' or "N -> 'a' 'b'", 1 - go_on)
rule("M -> 'b' M 'a'", go_on)
rule(minimum == 0 and 'M ->' or "M -> 'b' 'a'", 1 - go_on)
symbols { 'a', 'b', 'c' }
